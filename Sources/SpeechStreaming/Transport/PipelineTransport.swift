import Foundation
import SpeechMessages
import SpeechPipeline
import SpeechProtocol
import VoiceAudio
import VoiceCore

/// The far end of a stream in this process: takes the requests of a session and answers as a server would.
struct PipelineTransport: Sendable {
  /// How much audio is decoded before the results are told.
  private static let pieceLength = 16_000
  private static let resumePoints = OpenResumePoints()

  let recognition: OnDeviceRecognition

  /// Runs one stream; see ``SpeechTransport/runStream(token:requests:receive:)``.
  func run(
    requests: SpeechRequests, receive: @escaping @Sendable (Speechly_Slu_V1_SLUResponse) -> Void
  ) async -> SpeechStreamEnd {
    do throws(VoiceFailure) {
      try await self.answer(requests, receive)
      return SpeechStreamEnd()
    } catch {
      return SpeechStreamEnd(failure: error)
    }
  }

  private func answer(
    _ requests: SpeechRequests, _ receive: @Sendable (Speechly_Slu_V1_SLUResponse) -> Void
  ) async throws(VoiceFailure) {
    var configured: [Speechly_Slu_V1_SLUConfig.Option] = []
    var running: Run?
    defer { running?.context.cancel() }
    for await request in requests {
      switch request.streamingRequest {
      case .config(let config):
        configured = config.options
      case .start(let start):
        var options = StreamOptions()
        try options.apply(configured)
        try options.apply(start.options)
        running?.context.cancel()
        let run = try await self.begin(options)
        running = run
        receive(run.output.started())
      case .audio(let bytes):
        guard var run = running else { break }
        for piece in Self.samples(of: bytes) {
          run.tell(try await run.context.append(piece), receive)
          if let failure = run.context.failure { throw failure }
        }
        running = run
      case .stop:
        guard var run = running else { break }
        run.tell(try await run.context.finish(), receive)
        if let failure = run.context.failure { throw failure }
        receive(run.output.finished())
        running = nil
      case .rttResponse, .event, nil:
        break
      }
    }
  }

  private func begin(_ options: StreamOptions) async throws(VoiceFailure) -> Run {
    let context = try await self.recognition.pool.beginContext(
      self.recognition.contextOptions(options, sealing: Self.resumePoints),
      patience: OnDeviceRecognition.patience)
    return Run(
      context: context,
      output: ContextOutput(
        contextID: UUID().uuidString.lowercased(), sampleRate: AudioFormat.recognition.sampleRate,
        measuresRoundTrips: false, resumeTokens: options.wantsResumeTokens ? Self.resumePoints : nil))
  }

  private static func samples(of bytes: Data) -> [[Int16]] {
    bytes.withUnsafeBytes { raw in
      stride(from: 0, to: raw.count / 2, by: Self.pieceLength).map { start in
        (start..<min(start + Self.pieceLength, raw.count / 2)).map {
          Int16(littleEndian: raw.loadUnaligned(fromByteOffset: 2 * $0, as: Int16.self))
        }
      }
    }
  }

  /// A context at work.
  private struct Run {
    let context: RecognitionContext
    var output: ContextOutput

    mutating func tell(
      _ events: [RecognitionEvent], _ receive: @Sendable (Speechly_Slu_V1_SLUResponse) -> Void
    ) {
      for event in events {
        for response in self.output.responses(to: event) { receive(response) }
      }
    }
  }
}
