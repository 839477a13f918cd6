import SpeechUnderstanding

/// Finds intents and entities in the words of a context, and cuts passages of speech into segments with one intent each.
///
/// A *passage* is what silence separates. Its words come as final words and hypotheses; out go the events of segments. The
/// open segment's states:
///
/// - *following*: its words are matched as they come.
/// - *doubtful*: it holds words that the recogniser found not covered by the grammar. They mean something only if the words
///   of several utterances together fit exactly, as when somebody pauses within a sentence.
/// - *lost*: it has gone on for so long without a meaning that none is looked for.
///
/// Events: words were heard, an utterance ended, the passage ended. Actions are the ``RecognitionEvent``s to tell. What was
/// told as final is kept to, whatever words come later. A final word of a new sentence ends the segment before it.
struct UnderstandingMachine: Sendable {
  private enum State: Hashable, Sendable {
    case following
    case doubtful
    case lost
  }

  /// What the reader of the events shows as not final.
  private struct Shown: Hashable, Sendable {
    var words: [String] = []
    var intent = ""
    var entities: [RecognizedEntity] = []
  }

  /// The segment that gets the next final word.
  private struct Open: Sendable {
    var state = State.following
    var words: [RecognizedWord] = []
    var follower: SentenceFollower
    /// How many utterances have words in it.
    var utterances = 0
    /// The words before which utterances began, and where they began.
    var starts: [(position: Int, point: ResumePoint)] = []
    var intent: String?
    var entities: [RecognizedEntity] = []
  }

  private let context: ContextUnderstanding
  private var number = 0
  private var open: Open
  /// For the open segment and those behind it.
  private var shown: [Shown] = []
  /// The latest place to go on from at which a segment begins, and how many segments have ended since.
  private var anchor: ResumePoint
  /// How many segments of the passage have ended.
  private var endedInPassage = 0

  /// So many words without a meaning are no command any more.
  private static let longestSearch = 100

  init(_ context: ContextUnderstanding, start: ResumePoint) {
    self.context = context
    self.anchor = start
    self.open = Open(follower: SentenceFollower(context.understanding))
    self.open.starts = [(0, start)]
  }

  // MARK: Events

  /// Takes words that became final, and those behind them that may still change; times are those of the context.
  mutating func heard(_ final: [RecognizedWord], tail: [RecognizedWord]) -> [RecognitionEvent] {
    var events: [RecognitionEvent] = []
    self.follow(final, tail: tail, isComplete: false, into: &events)
    return events
  }

  /// Takes the rest of an utterance.
  ///
  /// - Parameters:
  ///   - final: The words that became final.
  ///   - isRejected: Whether the recogniser found that the grammar does not cover them.
  ///   - next: Where the next utterance begins.
  mutating func endedUtterance(
    _ final: [RecognizedWord], isRejected: Bool, next: ResumePoint
  ) -> [RecognitionEvent] {
    var events: [RecognitionEvent] = []
    if !final.isEmpty {
      if self.isNewSentence(final, isRejected: isRejected) {
        self.end(self.meaningOfAll(), into: &events)
      }
      if isRejected, self.open.state == .following { self.open.state = .doubtful }
      self.open.utterances += 1
    }
    self.follow(final, tail: [], isComplete: true, into: &events)
    self.open.starts.removeAll { $0.position == self.open.words.count }
    self.open.starts.append((self.open.words.count, next))
    return events
  }

  /// Takes that the passage is over.
  mutating func endedPassage(_ summary: SegmentSummary) -> [RecognitionEvent] {
    var events: [RecognitionEvent] = []
    self.anchor = summary.resumePoint
    if !self.open.words.isEmpty {
      let alternatives = self.endedInPassage == 0 ? summary.alternatives : []
      self.end(self.meaningOfAll(), alternatives: alternatives, isPassage: true, into: &events)
    }
    self.show([], into: &events)
    self.open = Open(follower: SentenceFollower(self.context.understanding))
    self.open.starts = [(0, summary.resumePoint)]
    self.endedInPassage = 0
    return events
  }

  // MARK: Words

  private mutating func follow(
    _ final: [RecognizedWord], tail: [RecognizedWord], isComplete: Bool, into events: inout [RecognitionEvent]
  ) {
    var rest = final[...]
    var reading = self.reading(rest, tail, isComplete: isComplete)
    // A word that a new sentence begins with ends the segment before it.
    while let boundary = reading.boundary(from: max(1, self.open.words.count)),
      boundary < self.open.words.count + rest.count
    {
      let count = boundary - self.open.words.count
      self.tell(rest.prefix(count), into: &events)
      rest = rest.dropFirst(count)
      self.end(reading.meaning(upTo: boundary), into: &events)
      reading = self.reading(rest, tail, isComplete: isComplete)
    }
    self.tell(rest, into: &events)
    if !rest.isEmpty || isComplete { self.tellCertain(into: &events) }
    if self.open.words.count > Self.longestSearch, reading.segments.isEmpty { self.open.state = .lost }
    self.show(self.parts(of: reading, tail: tail), into: &events)
  }

  private mutating func tell(_ words: ArraySlice<RecognizedWord>, into events: inout [RecognitionEvent]) {
    for word in words {
      events.append(.word(segment: self.number, index: self.open.words.count, word))
      self.open.words.append(word)
      if self.open.state != .lost { self.open.follower.settle(word.text) }
      // The reader replaces what it shows at this index by the final word.
      if self.shown.first?.words.isEmpty == false { self.shown[0].words.removeFirst() }
    }
  }

  private mutating func reading(
    _ final: ArraySlice<RecognizedWord>, _ tail: [RecognizedWord], isComplete: Bool
  ) -> Reading {
    guard self.open.state == .following else { return Reading() }
    return self.open.follower.reading(final.map(\.text) + tail.map(\.text), isComplete: isComplete)
  }

  /// Whether the words of an utterance do not go on with the open segment, as far as rejection tells.
  private func isNewSentence(_ words: [RecognizedWord], isRejected: Bool) -> Bool {
    guard !self.open.words.isEmpty, isRejected || self.open.state != .following else { return false }
    // Somebody who pauses within a sentence says halves that the grammar alone does not cover.
    guard self.open.follower.following(words).exactMeaning == nil else { return false }
    switch self.open.state {
    case .following:
      return self.open.follower.isComplete
    case .doubtful, .lost:
      return !isRejected && SentenceFollower(self.context.understanding).following(words).isComplete
    }
  }

  // MARK: Meaning

  /// What all words of the open segment mean, now that none follows.
  private func meaningOfAll() -> Meaning {
    switch self.open.state {
    case .lost: return .rejected
    case .doubtful:
      guard self.open.utterances > 1, let found = self.open.follower.exactMeaning else { return .rejected }
      return Meaning(intent: found.intent, entities: found.entities)
    case .following:
      let all = self.open.follower.readings(atMost: 8).map(\.segments)
      let fitting = all.first { segments in
        segments.count == 1 && (self.open.intent ?? segments[0].intent) == segments[0].intent
      }
      // The words are told already: a further sentence among them can have no segment of its own any more.
      guard let segment = (fitting ?? all.first)?.first else { return .rejected }
      return Meaning(intent: segment.intent, entities: segment.entities)
    }
  }

  /// Tells what no continuation can change.
  private mutating func tellCertain(into events: inout [RecognitionEvent]) {
    guard self.open.state == .following else { return }
    let outlook = self.open.follower.outlook
    // Half a sentence may yet turn out to be none.
    guard outlook.isComplete, outlook.certain.count == 1, let sentence = outlook.certain.first,
      let intent = sentence.intent, !intent.isEmpty, intent == self.open.intent ?? intent
    else { return }
    self.tell(sentence.entities, into: &events)
    self.tell(intent: intent, into: &events)
  }

  private mutating func tell(_ entities: [Interpretation.Entity], into events: inout [RecognitionEvent]) {
    for entity in entities.map({ self.context.recognized($0, offset: 0) }) {
      guard entity.words.upperBound <= self.open.words.count, self.isFree(entity) else { continue }
      self.open.entities.append(entity)
      events.append(.entity(segment: self.number, entity))
      if !self.shown.isEmpty { self.shown[0].entities.removeAll { $0.words == entity.words } }
    }
  }

  private mutating func tell(intent: String, into events: inout [RecognitionEvent]) {
    guard self.open.intent == nil else { return }
    self.open.intent = intent
    events.append(.intent(segment: self.number, intent, isFinal: true))
    if !self.shown.isEmpty { self.shown[0].intent = "" }
  }

  private func isFree(_ entity: RecognizedEntity) -> Bool {
    !self.open.entities.contains { $0.words.overlaps(entity.words) }
  }

  // MARK: Segments

  /// Ends the open segment behind its last word.
  private mutating func end(
    _ meaning: Meaning, alternatives: [[RecognizedWord]] = [], isPassage: Bool = false,
    into events: inout [RecognitionEvent]
  ) {
    let agrees = self.open.intent == nil || self.open.intent == meaning.intent
    if agrees { self.tell(meaning.entities, into: &events) }
    self.tell(intent: meaning.intent, into: &events)
    let position = self.open.words.count
    let start = self.open.starts.last { $0.position == position }
    if isPassage {
      // The place is the one that the passage's end names.
    } else if let start {
      self.anchor = start.point
    } else {
      self.anchor.repeatedSegments += 1
    }
    let summary = SegmentSummary(
      alternatives: alternatives, resumePoint: self.anchor,
      isRejected: meaning.isRejected && self.open.intent?.isEmpty != false, endsPassage: isPassage)
    events.append(.segmentEnded(segment: self.number, summary))
    self.number += 1
    self.endedInPassage += 1
    if !self.shown.isEmpty { self.shown.removeFirst() }
    self.open = Open(follower: SentenceFollower(self.context.understanding))
    self.open.starts = [start].compactMap { $0 }.map { (0, $0.point) }
  }

  // MARK: What may still change

  /// What the segments from the open one on should show as not final.
  private func parts(of reading: Reading, tail: [RecognizedWord]) -> [(
    firstIndex: Int, words: [RecognizedWord], Shown
  )] {
    let told = self.open.words.count
    let all = self.open.words + tail
    var parts: [(firstIndex: Int, words: [RecognizedWord], Shown)] = []
    var start = 0
    while start < all.count || parts.isEmpty {
      let end = reading.boundary(from: max(1, start + 1, told)) ?? all.count
      let first = parts.isEmpty ? told : start
      let words = Array(all[min(first, end)..<end])
      let segments = reading.segments.filter { $0.words.lowerBound >= start && $0.words.lowerBound < end }
      var shown = Shown(words: words.map(\.text))
      shown.intent = segments.first?.intent ?? ""
      shown.entities = segments.flatMap(\.entities).filter { $0.words.upperBound <= end }.map {
        self.context.recognized($0, offset: start)
      }
      if parts.isEmpty {
        if self.open.intent != nil { shown.intent = "" }
        shown.entities.removeAll { !self.isFree($0) }
      }
      parts.append((parts.isEmpty ? told : 0, words, shown))
      start = max(end, start + 1)
    }
    return parts
  }

  private mutating func show(
    _ parts: [(firstIndex: Int, words: [RecognizedWord], Shown)], into events: inout [RecognitionEvent]
  ) {
    let count = max(parts.count, self.shown.count)
    for index in 0..<count {
      let old = index < self.shown.count ? self.shown[index] : Shown()
      let (firstIndex, words, new) =
        index < parts.count ? parts[index] : (index == 0 ? self.open.words.count : 0, [], Shown())
      let segment = self.number + index
      // The times of the newest words move with every block: that alone is no news.
      if new.words != old.words {
        events.append(.hypothesis(segment: segment, firstIndex: firstIndex, words: words))
      }
      if new.entities != old.entities { events.append(.tentativeEntities(segment: segment, new.entities)) }
      if new.intent != old.intent { events.append(.intent(segment: segment, new.intent, isFinal: false)) }
    }
    self.shown = parts.map(\.2)
  }
}
