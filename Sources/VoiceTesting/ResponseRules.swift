import Foundation
public import SpeechProtocol

/// Checks that the responses of an `SLU/Stream` call keep the rules that published clients insist on.
///
/// Feed it every response in order, then call ``finish()``. The rules are those of the protocol's table "rules a
/// server must follow": each broken one is reported with what broke it. Contexts may overlap, since responses are
/// matched by their context.
public struct ResponseRules: Sendable {
  /// A broken rule.
  public enum Violation: Hashable, Sendable {
    case contextIsNotUUID(String)
    case startedTwice(context: String)
    case notStarted(context: String)
    case afterFinished(context: String)
    case segmentInStartedOrFinished(Int32)
    case afterSegmentEnd(segment: Int32)
    case tentativeRepeatsFinalWord(segment: Int32, index: Int32)
    case finalWordTwice(segment: Int32, index: Int32)
    case tentativeWordsOutOfOrder(segment: Int32)
    case entityRepeatsFinalOne(segment: Int32, start: Int32, end: Int32)
    case entityWithoutWords(segment: Int32)
    case tentativeEntityTwice(segment: Int32, start: Int32, end: Int32)
    /// At the end of its segment: the words of the final entity are not all there.
    case entityBeyondWords(segment: Int32, start: Int32, end: Int32)
    case intentAfterFinalOne(segment: Int32)
    case segmentEndWithoutIntent(segment: Int32)
    case segmentEndWithoutWord(segment: Int32)
    case negativeNumber(segment: Int32)
    case wordEndsBeforeItStarts(segment: Int32, index: Int32)
    case roundTripNotAskedFor
    case finishedWithError
    case emptyResponse
    /// At the end of the call: the context has no `finished`.
    case unfinishedContext(String)
    /// At the end of the call: the segment has final words but no end.
    case unfinishedSegment(context: String, segment: Int32)
  }

  private struct Segment {
    var words: Set<Int32> = []
    var entities: Set<[Int32]> = []
    var hasFinalIntent = false
    var isEnded = false
  }

  private struct Context {
    var segments: [Int32: Segment] = [:]
    var isFinished = false
  }

  private let allowsRoundTrips: Bool
  private var contexts: [String: Context] = [:]

  /// What was broken so far.
  public private(set) var violations: [Violation] = []

  /// The ids of the contexts so far, in the order in which they started.
  public private(set) var contextIDs: [String] = []

  /// Creates a checker.
  ///
  /// - Parameter allowsRoundTrips: Whether the client asked for round trip measurements.
  public init(allowsRoundTrips: Bool = false) {
    self.allowsRoundTrips = allowsRoundTrips
  }

  /// Takes the next response.
  public mutating func check(_ response: Speechly_Slu_V1_SLUResponse) {
    let id = response.audioContext
    if UUID(uuidString: id) == nil { self.violations.append(.contextIsNotUUID(id)) }
    if case .started = response.streamingResponse {
      if response.segmentID != 0 {
        self.violations.append(.segmentInStartedOrFinished(response.segmentID))
      }
      guard self.contexts[id] == nil else {
        self.violations.append(.startedTwice(context: id))
        return
      }
      self.contexts[id] = Context()
      self.contextIDs.append(id)
      return
    }
    guard var context = self.contexts[id] else {
      self.violations.append(.notStarted(context: id))
      return
    }
    if context.isFinished { self.violations.append(.afterFinished(context: id)) }
    if case .finished(let finished) = response.streamingResponse {
      if response.segmentID != 0 {
        self.violations.append(.segmentInStartedOrFinished(response.segmentID))
      }
      if finished.hasError { self.violations.append(.finishedWithError) }
      context.isFinished = true
    } else {
      self.check(response, in: &context)
    }
    self.contexts[id] = context
  }

  /// The call has ended well: reports what was left open.
  public mutating func finish() {
    for id in self.contextIDs {
      guard let context = self.contexts[id] else { continue }
      if !context.isFinished { self.violations.append(.unfinishedContext(id)) }
      for (segment, state) in context.segments.sorted(by: { $0.key < $1.key })
      where !state.isEnded && !state.words.isEmpty {
        self.violations.append(.unfinishedSegment(context: id, segment: segment))
      }
    }
  }

  private mutating func check(_ response: Speechly_Slu_V1_SLUResponse, in context: inout Context) {
    if case .rttRequest = response.streamingResponse {
      if !self.allowsRoundTrips { self.violations.append(.roundTripNotAskedFor) }
      return
    }
    let id = response.segmentID
    if id < 0 { self.violations.append(.negativeNumber(segment: id)) }
    var segment = context.segments[id] ?? Segment()
    if segment.isEnded { self.violations.append(.afterSegmentEnd(segment: id)) }
    switch response.streamingResponse {
    case .transcript(let word):
      self.check(word, segment: id)
      if !segment.words.insert(word.index).inserted {
        self.violations.append(.finalWordTwice(segment: id, index: word.index))
      }
    case .tentativeTranscript(let transcript):
      for word in transcript.tentativeWords {
        self.check(word, segment: id)
        if segment.words.contains(word.index) {
          self.violations.append(.tentativeRepeatsFinalWord(segment: id, index: word.index))
        }
      }
      let indices = transcript.tentativeWords.map(\.index)
      if indices != indices.sorted() || Set(indices).count != indices.count {
        self.violations.append(.tentativeWordsOutOfOrder(segment: id))
      }
    case .entity(let entity): self.check(entity, isFinal: true, &segment, id)
    case .tentativeEntities(let entities):
      var spans: Set<[Int32]> = []
      for entity in entities.tentativeEntities {
        self.check(entity, isFinal: false, &segment, id)
        if !spans.insert([entity.startPosition, entity.endPosition]).inserted {
          self.violations.append(
            .tentativeEntityTwice(segment: id, start: entity.startPosition, end: entity.endPosition))
        }
      }
    case .intent:
      if segment.hasFinalIntent { self.violations.append(.intentAfterFinalOne(segment: id)) }
      segment.hasFinalIntent = true
    case .tentativeIntent:
      if segment.hasFinalIntent { self.violations.append(.intentAfterFinalOne(segment: id)) }
    case .segmentEnd:
      if !segment.hasFinalIntent { self.violations.append(.segmentEndWithoutIntent(segment: id)) }
      if segment.words.isEmpty { self.violations.append(.segmentEndWithoutWord(segment: id)) }
      for span in segment.entities where !(span[0]..<max(span[0], span[1])).allSatisfy(segment.words.contains)
      {
        self.violations.append(.entityBeyondWords(segment: id, start: span[0], end: span[1]))
      }
      segment.isEnded = true
    case .started, .finished, .rttRequest: break
    case nil: self.violations.append(.emptyResponse)
    }
    context.segments[id] = segment
  }

  private mutating func check(_ word: Speechly_Slu_V1_SLUTranscript, segment: Int32) {
    if word.index < 0 || word.startTime < 0 {
      self.violations.append(.negativeNumber(segment: segment))
    }
    if word.endTime < word.startTime {
      self.violations.append(.wordEndsBeforeItStarts(segment: segment, index: word.index))
    }
  }

  private mutating func check(
    _ entity: Speechly_Slu_V1_SLUEntity, isFinal: Bool, _ segment: inout Segment, _ id: Int32
  ) {
    let span = [entity.startPosition, entity.endPosition]
    if entity.startPosition < 0 || entity.endPosition <= entity.startPosition {
      self.violations.append(.entityWithoutWords(segment: id))
    }
    if segment.entities.contains(span) {
      self.violations.append(
        .entityRepeatsFinalOne(segment: id, start: entity.startPosition, end: entity.endPosition))
    }
    if isFinal { segment.entities.insert(span) }
  }
}
