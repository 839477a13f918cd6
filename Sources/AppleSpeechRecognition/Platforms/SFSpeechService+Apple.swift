#if canImport(Speech) && !os(tvOS)
  import AVFoundation
  import Foundation
  import Speech
  import VoiceAudio
  import VoiceCore

  /// Tasks of `SFSpeechRecognizer`.
  final class SFSpeechService: SpeechService {
    private let recognizer: SFSpeechRecognizer
    private let requiresOnDeviceRecognition: Bool
    private let format: AVAudioFormat
    private var request: SFSpeechAudioBufferRecognitionRequest?
    private var task: SFSpeechRecognitionTask?

    init(_ recognizer: SFSpeechRecognizer, requiresOnDeviceRecognition: Bool) throws(VoiceFailure) {
      guard
        let format = AVAudioFormat(
          commonFormat: .pcmFormatInt16, sampleRate: Double(AudioFormat.recognition.sampleRate), channels: 1,
          interleaved: false)
      else { throw VoiceFailure(.formatNotSupported) }
      self.recognizer = recognizer
      self.requiresOnDeviceRecognition = requiresOnDeviceRecognition
      self.format = format
      // Not the main queue, on which results come otherwise: it may be waiting for them.
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      recognizer.queue = queue
    }

    func start(
      _ request: SpeechServiceRequest, tell: @escaping @Sendable (SpeechRequestMachine.TaskEvent) -> Void
    ) throws(VoiceFailure) {
      let audio = SFSpeechAudioBufferRecognitionRequest()
      audio.shouldReportPartialResults = true
      audio.requiresOnDeviceRecognition = self.requiresOnDeviceRecognition
      audio.contextualStrings = request.contextualStrings
      audio.taskHint = .dictation
      audio.addsPunctuation = false
      self.request = audio
      self.task = self.recognizer.recognitionTask(with: audio) { result, error in
        if let result {
          let transcriptions = result.transcriptions.map { HeardTranscription($0) }
          tell(result.isFinal ? .final(transcriptions) : .hypothesis(transcriptions))
        }
        if let error {
          let number = error as NSError
          tell(.ended(SpeechServiceError(domain: number.domain, code: number.code).meaning(cause: error)))
        }
      }
    }

    func append(_ samples: UnsafeBufferPointer<Int16>) {
      guard let buffer = AVAudioPCMBuffer(copying: samples, format: self.format) else { return }
      self.request?.append(buffer)
    }

    func endAudio() {
      self.request?.endAudio()
    }

    func cancel() {
      self.task?.cancel()
      self.task = nil
      self.request = nil
    }
  }

  extension HeardTranscription {
    fileprivate init(_ transcription: SFTranscription) {
      self.init(
        segments: transcription.segments.map {
          Segment(
            text: $0.substring, start: $0.timestamp, duration: $0.duration, confidence: Double($0.confidence))
        })
    }
  }
#endif
