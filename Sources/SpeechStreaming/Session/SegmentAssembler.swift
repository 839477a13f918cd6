import Foundation
import SpeechProtocol

/// Builds the segments of one context from the messages of one or more server contexts ("legs").
///
/// Final items stay whatever comes later. Tentative lists replace the former ones. After a reconnect the server tells the open
/// segment again: repeats of what is final are dropped, in silence if they agree.
struct SegmentAssembler: Sendable {
  /// What a message changed.
  struct Update: Sendable {
    /// Items to report one by one, before the segment.
    var items: [Item] = []
    /// The segment, if it changed.
    var segment: SpeechSegment?
    /// What the server did wrong, if anything.
    var violation: Violation?
  }

  /// An item of a segment.
  enum Item: Hashable, Sendable {
    case transcript(SpeechTranscript)
    case entity(SpeechEntity)
    case intent(SpeechIntent)
  }

  /// A rule of the protocol that the server broke (protocol §2.5), in words for a message.
  enum Violation: Hashable, Sendable {
    /// The message was of no use; what it carried was dropped.
    case ignored(String)
    /// After a reconnect the server told something else than before.
    case diverged(String)
  }

  private(set) var segments: [Int: SpeechSegment] = [:]
  private(set) var contextId: String
  private var abandoned: Set<Int> = []

  init(contextId: String = "") {
    self.contextId = contextId
  }

  /// Names the context; segments made before keep their content.
  mutating func name(_ contextId: String) {
    guard self.contextId.isEmpty else { return }
    self.contextId = contextId
    self.segments = self.segments.mapValues { old in
      SpeechSegment(
        segmentId: old.segmentId, contextId: contextId, isFinal: old.isFinal, intent: old.intent,
        entities: old.entities, transcripts: old.transcripts)
    }
  }

  /// All segments, in order.
  var ordered: [SpeechSegment] { self.segments.values.sorted() }

  /// The number that the first segment of a new leg gets: the first open segment's, else the next free one.
  var nextSegmentId: Int {
    let open = self.unfinished.map(\.segmentId).min()
    return open ?? (self.lastSegmentId + 1)
  }

  /// The highest number that was used, or -1.
  var lastSegmentId: Int { self.segments.keys.max() ?? -1 }

  /// Whether every segment before the given one is finished.
  func allFinished(before segmentId: Int) -> Bool {
    !self.unfinished.contains { $0.segmentId < segmentId }
  }

  /// The segments that have not ended.
  var unfinished: [SpeechSegment] {
    self.ordered.filter { !$0.isFinal && !self.abandoned.contains($0.segmentId) }
  }

  /// Leaves the open segments as they are: nothing more is expected for them.
  mutating func abandonUnfinished() {
    self.abandoned.formUnion(self.unfinished.map(\.segmentId))
  }

  /// Takes back what is not final of the open segments, because somebody else will tell them.
  ///
  /// - Returns: The segments that changed.
  mutating func takeBackGuesses() -> [SpeechSegment] {
    self.unfinished.compactMap { old in
      var segment = old
      segment.transcripts.removeAll { !$0.isFinal }
      segment.entities.removeAll { !$0.isFinal }
      if !segment.intent.isFinal { segment.intent = .Empty }
      guard segment != old else { return nil }
      self.segments[segment.segmentId] = segment
      return segment
    }
  }

  // MARK: Messages

  mutating func receivedWord(
    _ word: SpeechTranscript, segmentId: Int, isReplay: Bool
  ) -> Update {
    self.changeOpenSegment(segmentId, isReplay: isReplay) { segment in
      guard word.index >= 0 else { return Update(violation: .ignored("a word has a negative index")) }
      if let old = segment.transcripts.first(where: { $0.index == word.index && $0.isFinal }) {
        return Self.repeated(old.value == word.value, "a word that was final", isReplay: isReplay)
      }
      segment.transcripts.removeAll { $0.index == word.index }
      segment.transcripts.append(word)
      segment.transcripts.sort()
      return Update(items: [.transcript(word)])
    }
  }

  mutating func receivedTentativeWords(
    _ words: [SpeechTranscript], segmentId: Int, isReplay: Bool
  ) -> Update {
    self.changeOpenSegment(segmentId, isReplay: isReplay) { segment in
      let finals = segment.transcripts.filter(\.isFinal)
      let finalIndices = Set(finals.map(\.index))
      var fresh: [Int: SpeechTranscript] = [:]
      for word in words where word.index >= 0 && !finalIndices.contains(word.index) {
        fresh[word.index] = word
      }
      let tentative = fresh.values.sorted()
      segment.transcripts = (finals + tentative).sorted()
      var update = Update(items: tentative.map { .transcript($0) })
      let repeats = words.count { finalIndices.contains($0.index) }
      if repeats > 0, !isReplay {
        update.violation = .ignored("tentative words repeat a final one")
      }
      return update
    }
  }

  mutating func receivedEntity(_ entity: SpeechEntity, segmentId: Int, isReplay: Bool) -> Update {
    self.changeOpenSegment(segmentId, isReplay: isReplay) { segment in
      guard Self.isPossible(entity) else { return Update(violation: .ignored("an entity covers no words")) }
      if let old = segment.entities.first(where: { $0.id == entity.id && $0.isFinal }) {
        return Self.repeated(
          old.value == entity.value && old.type == entity.type, "an entity that was final", isReplay: isReplay
        )
      }
      segment.entities.removeAll { $0.id == entity.id }
      segment.entities.append(entity)
      segment.entities.sort()
      return Update(items: [.entity(entity)])
    }
  }

  mutating func receivedTentativeEntities(
    _ entities: [SpeechEntity], segmentId: Int, isReplay: Bool
  ) -> Update {
    self.changeOpenSegment(segmentId, isReplay: isReplay) { segment in
      let finals = segment.entities.filter(\.isFinal)
      let finalIDs = Set(finals.map(\.id))
      var fresh: [SpeechEntity.ID: SpeechEntity] = [:]
      for entity in entities where !finalIDs.contains(entity.id) && Self.isPossible(entity) {
        fresh[entity.id] = entity
      }
      let tentative = fresh.values.sorted()
      segment.entities = (finals + tentative).sorted()
      var update = Update(items: tentative.map { .entity($0) })
      if entities.contains(where: { finalIDs.contains($0.id) }), !isReplay {
        update.violation = .ignored("tentative entities repeat a final one")
      }
      return update
    }
  }

  mutating func receivedIntent(_ intent: SpeechIntent, segmentId: Int, isReplay: Bool) -> Update {
    self.changeOpenSegment(segmentId, isReplay: isReplay) { segment in
      if segment.intent.isFinal {
        return Self.repeated(
          !intent.isFinal || segment.intent.value == intent.value, "an intent after the final one",
          isReplay: isReplay)
      }
      segment.intent = intent
      return Update(items: [.intent(intent)])
    }
  }

  mutating func receivedSegmentEnd(segmentId: Int, isReplay: Bool) -> Update {
    if self.segments[segmentId] == nil {
      return Update(violation: .ignored("a segment ended that had no content"))
    }
    return self.changeOpenSegment(segmentId, isReplay: isReplay) { segment in
      segment.transcripts.removeAll { !$0.isFinal }
      segment.entities.removeAll { !$0.isFinal }
      var update = Update()
      if segment.transcripts.isEmpty {
        update.violation = .ignored("a segment ended without a final word")
      } else if !segment.intent.isFinal {
        update.violation = .ignored("a segment ended without a final intent")
      }
      segment.intent = SpeechIntent(value: segment.intent.isFinal ? segment.intent.value : "", isFinal: true)
      segment.isFinal = true
      return update
    }
  }

  // MARK: Helpers

  private mutating func changeOpenSegment(
    _ segmentId: Int, isReplay: Bool, _ change: (inout SpeechSegment) -> Update
  ) -> Update {
    guard segmentId >= 0 else { return Update(violation: .ignored("a segment has a negative number")) }
    var segment =
      self.segments[segmentId] ?? SpeechSegment(segmentId: segmentId, contextId: self.contextId)
    guard !segment.isFinal, !self.abandoned.contains(segmentId) else {
      return isReplay ? Update() : Update(violation: .ignored("something came for a segment that had ended"))
    }
    let before = segment
    var update = change(&segment)
    if segment != before {
      self.segments[segmentId] = segment
      update.segment = segment
    }
    return update
  }

  private static func isPossible(_ entity: SpeechEntity) -> Bool {
    entity.startIndex >= 0 && entity.endIndex > entity.startIndex
  }

  private static func repeated(_ agrees: Bool, _ what: String, isReplay: Bool) -> Update {
    if isReplay {
      return agrees ? Update() : Update(violation: .diverged("\(what) was told differently"))
    }
    return Update(violation: .ignored("the server repeated \(what)"))
  }
}
