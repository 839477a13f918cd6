import Foundation
package import SpeechPipeline
package import SpeechProtocol
import VoiceAudio
import VoiceCore

/// Says in protocol messages what was recognised in one context.
///
/// Holds to the rules that published clients insist on (protocol document, section 2.5), whatever the events: final words
/// and entities are not repeated, no intent follows a final one, every segment end has a final intent and a word before it,
/// and nothing is said of a segment after its end.
package struct ContextOutput: Sendable {
  package typealias Response = Speechly_Slu_V1_SLUResponse

  private struct Segment {
    var finalWords: [String] = []
    var finalIndices: Set<Int32> = []
    var finalEntities: Set<Span> = []
    var isShown = false
    var hasFinalIntent = false
  }

  /// The words of an entity, as the protocol numbers them.
  private struct Span: Hashable {
    var start: Int32
    var end: Int32

    init?(_ words: Range<Int>) {
      self.start = Int32(clamping: words.lowerBound)
      self.end = Int32(clamping: words.upperBound)
      guard self.start >= 0, self.start < self.end else { return nil }
    }
  }

  package let contextID: String
  package let measuresRoundTrips: Bool
  /// What seals resume points, or `nil` if the client did not ask for them.
  private let resumeTokens: (any ResumePointSealing)?
  private let sampleRate: Int
  private var segments: [Int: Segment] = [:]
  private var endedSegments: Set<Int> = []

  package init(
    contextID: String, sampleRate: Int, measuresRoundTrips: Bool, resumeTokens: (any ResumePointSealing)?
  ) {
    self.contextID = contextID
    self.sampleRate = sampleRate
    self.measuresRoundTrips = measuresRoundTrips
    self.resumeTokens = resumeTokens
  }

  package func started() -> Response { self.response(0) { $0.started = .init() } }

  package func finished() -> Response { self.response(0) { $0.finished = .init() } }

  package func roundTripRequest(_ id: Int32) -> Response { self.response(0) { $0.rttRequest.id = id } }

  /// The messages for an event of the pipeline.
  package mutating func responses(to event: RecognitionEvent) -> [Response] {
    let id = event.segment
    guard !self.endedSegments.contains(id) else { return [] }
    var segment = self.segments[id] ?? Segment()
    switch event {
    case .hypothesis(_, let firstIndex, let words):
      let responses = self.hypothesis(words, from: firstIndex, of: id, &segment)
      self.segments[id] = segment
      return responses
    case .word(_, let index, let word):
      let responses = self.final(word, Int32(clamping: index), of: id, &segment)
      self.segments[id] = segment
      return responses
    case .tentativeEntities(_, let entities):
      return self.tentative(entities, of: id, segment)
    case .entity(_, let entity):
      let responses = self.final(entity, of: id, &segment)
      self.segments[id] = segment
      return responses
    case .intent(_, let intent, let isFinal):
      guard !segment.hasFinalIntent else { return [] }
      segment.hasFinalIntent = isFinal
      self.segments[id] = segment
      return [
        self.response(id) { response in
          if isFinal { response.intent.intent = intent } else { response.tentativeIntent.intent = intent }
        }
      ]
    case .segmentEnded(_, let summary):
      return self.end(id, segment, summary)
    }
  }

  private func final(
    _ word: RecognizedWord, _ index: Int32, of id: Int, _ segment: inout Segment
  ) -> [Response] {
    guard segment.finalIndices.insert(max(0, index)).inserted else { return [] }
    segment.isShown = true
    segment.finalWords.append(word.text)
    return [self.response(id) { $0.transcript = Self.transcript(word, index: index) }]
  }

  private func final(_ entity: RecognizedEntity, of id: Int, _ segment: inout Segment) -> [Response] {
    guard let span = Span(entity.words), entity.words.count <= segment.finalIndices.count,
      (span.start..<span.end).allSatisfy(segment.finalIndices.contains),
      segment.finalEntities.insert(span).inserted
    else { return [] }
    return [self.response(id) { $0.entity = Self.entity(entity, span) }]
  }

  private func hypothesis(
    _ words: [RecognizedWord], from firstIndex: Int, of id: Int, _ segment: inout Segment
  ) -> [Response] {
    // A segment that was never shown is not opened for nothing.
    guard !words.isEmpty || segment.isShown else { return [] }
    segment.isShown = true
    var index = max(0, Int32(clamping: firstIndex))
    var transcripts: [Speechly_Slu_V1_SLUTranscript] = []
    for word in words where index < .max {
      if !segment.finalIndices.contains(index) { transcripts.append(Self.transcript(word, index: index)) }
      index += 1
    }
    let text = (segment.finalWords + transcripts.map(\.word)).joined(separator: " ")
    return [
      self.response(id) { response in
        response.tentativeTranscript.tentativeTranscript = text
        response.tentativeTranscript.tentativeWords = transcripts
      }
    ]
  }

  private func tentative(_ entities: [RecognizedEntity], of id: Int, _ segment: Segment) -> [Response] {
    guard !entities.isEmpty || segment.isShown else { return [] }
    var spans = segment.finalEntities
    let fresh = entities.compactMap { entity -> Speechly_Slu_V1_SLUEntity? in
      guard let span = Span(entity.words), spans.insert(span).inserted else { return nil }
      return Self.entity(entity, span)
    }
    return [self.response(id) { $0.tentativeEntities.tentativeEntities = fresh }]
  }

  private mutating func end(_ id: Int, _ segment: Segment, _ summary: SegmentSummary) -> [Response] {
    // Clients take no segment without a final word.
    guard !segment.finalWords.isEmpty else { return [] }
    self.segments[id] = nil
    self.endedSegments.insert(id)
    var responses: [Response] = []
    if !segment.hasFinalIntent { responses.append(self.response(id) { $0.intent.intent = "" }) }
    responses.append(self.response(id) { $0.segmentEnd = self.segmentEnd(summary.resumePoint) })
    return responses
  }

  private func segmentEnd(_ point: ResumePoint) -> Speechly_Slu_V1_SLUSegmentEnd {
    var end = Speechly_Slu_V1_SLUSegmentEnd()
    guard let token = self.resumeTokens?.seal(point.adaptation) else { return end }
    end.resumeToken = .init(token)
    end.nextSample = Self.sample(point.sample, atRate: self.sampleRate)
    end.repeatedSegments = Int32(clamping: point.repeatedSegments)
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

  private static func transcript(_ word: RecognizedWord, index: Int32) -> Speechly_Slu_V1_SLUTranscript {
    var transcript = Speechly_Slu_V1_SLUTranscript()
    transcript.word = word.text
    transcript.index = max(0, index)
    transcript.startTime = max(0, milliseconds(word.start))
    transcript.endTime = max(transcript.startTime, milliseconds(word.end))
    return transcript
  }

  private static func entity(_ entity: RecognizedEntity, _ span: Span) -> Speechly_Slu_V1_SLUEntity {
    var message = Speechly_Slu_V1_SLUEntity()
    message.entity = entity.type
    message.value = entity.value
    message.startPosition = span.start
    message.endPosition = span.end
    return message
  }

  /// Whole milliseconds, limited to what the protocol's 32 bits hold.
  package static func milliseconds(_ duration: Duration) -> Int32 {
    let (seconds, attoseconds) = duration.components
    let (thousands, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    if overflow { return seconds < 0 ? .min : .max }
    let (sum, carry) = thousands.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
    if carry { return seconds < 0 ? .min : .max }
    return Int32(clamping: sum)
  }
}
