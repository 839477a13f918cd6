import SpeechPipeline
import SpeechProtocol
import VoiceAudio
import VoiceCore

/// Says in protocol messages what was recognised in one context.
///
/// Holds to the rules that published clients insist on (`speechly.slu`, semantics): final words are not repeated as
/// tentative ones, and every segment end has a final intent before it.
struct ContextOutput: Sendable {
  typealias Response = Speechly_Slu_V1_SLUResponse

  private struct Segment {
    var finalWords: [String] = []
    var isShown = false
    var hasFinalIntent = false
  }

  let contextID: String
  let measuresRoundTrips: Bool
  /// What seals resume points, or `nil` if the client did not ask for them.
  private let resumeTokens: ResumeTokens?
  private let sampleRate: Int
  private var segments: [Int: Segment] = [:]

  init(
    contextID: String, sampleRate: Int, measuresRoundTrips: Bool, resumeTokens: ResumeTokens?
  ) {
    self.contextID = contextID
    self.sampleRate = sampleRate
    self.measuresRoundTrips = measuresRoundTrips
    self.resumeTokens = resumeTokens
  }

  func started() -> Response { self.response(0) { $0.started = .init() } }

  func finished() -> Response { self.response(0) { $0.finished = .init() } }

  func roundTripRequest(_ id: Int32) -> Response { self.response(0) { $0.rttRequest.id = id } }

  /// The messages for an event of the pipeline.
  mutating func responses(to event: RecognitionEvent) -> [Response] {
    switch event {
    case .hypothesis(let id, let firstIndex, let words):
      var segment = self.segments[id] ?? Segment()
      // A segment that was never shown is not opened for nothing.
      guard !words.isEmpty || segment.isShown else { return [] }
      segment.isShown = true
      self.segments[id] = segment
      let text = (segment.finalWords + words.map(\.text)).joined(separator: " ")
      return [
        self.response(id) { response in
          response.tentativeTranscript.tentativeTranscript = text
          response.tentativeTranscript.tentativeWords = words.enumerated().map { offset, word in
            Self.transcript(word, index: firstIndex + offset)
          }
        }
      ]
    case .word(let id, let index, let word):
      self.segments[id, default: Segment()].isShown = true
      self.segments[id, default: Segment()].finalWords.append(word.text)
      return [self.response(id) { $0.transcript = Self.transcript(word, index: index) }]
    case .intent(let id, let intent, let isFinal):
      guard isFinal else {
        return [self.response(id) { $0.tentativeIntent.intent = intent }]
      }
      self.segments[id, default: Segment()].hasFinalIntent = true
      return [self.response(id) { $0.intent.intent = intent }]
    case .segmentEnded(let id, let summary):
      let segment = self.segments.removeValue(forKey: id)
      var responses: [Response] = []
      if segment?.hasFinalIntent != true {
        responses.append(self.response(id) { $0.intent.intent = "" })
      }
      responses.append(self.response(id) { $0.segmentEnd = self.segmentEnd(summary.resumePoint) })
      return responses
    }
  }

  private func segmentEnd(_ point: ResumePoint) -> Speechly_Slu_V1_SLUSegmentEnd {
    var end = Speechly_Slu_V1_SLUSegmentEnd()
    guard let token = self.resumeTokens?.seal(point.adaptation) else { return end }
    end.resumeToken = .init(token)
    end.nextSample = Self.sample(point.sample, atRate: self.sampleRate)
    return end
  }

  /// The place of a sample of the recogniser in the audio that the client sent.
  private static func sample(_ sample: Int64, atRate rate: Int) -> Int64 {
    let engineRate = Int64(AudioFormat.recognition.sampleRate)
    let (seconds, rest) = max(0, sample).quotientAndRemainder(dividingBy: engineRate)
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: Int64(rate))
    return overflow ? .max : whole + rest * Int64(rate) / engineRate
  }

  private func response(_ segment: Int, _ fill: (inout Response) -> Void) -> Response {
    var response = Response()
    response.audioContext = self.contextID
    response.segmentID = Int32(clamping: segment)
    fill(&response)
    return response
  }

  private static func transcript(
    _ word: RecognizedWord, index: Int
  ) -> Speechly_Slu_V1_SLUTranscript {
    var transcript = Speechly_Slu_V1_SLUTranscript()
    transcript.word = word.text
    transcript.index = Int32(clamping: index)
    transcript.startTime = milliseconds(word.start)
    transcript.endTime = milliseconds(word.end)
    return transcript
  }

  /// Whole milliseconds, limited to what the protocol's 32 bits hold.
  static func milliseconds(_ duration: Duration) -> Int32 {
    let (seconds, attoseconds) = duration.components
    let (thousands, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    if overflow { return seconds < 0 ? .min : .max }
    let (sum, carry) = thousands.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
    if carry { return seconds < 0 ? .min : .max }
    return Int32(clamping: sum)
  }
}
