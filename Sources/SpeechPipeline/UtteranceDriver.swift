import VoiceAudio
import VoiceCore

/// Feeds one context's samples to a recogniser in fixed blocks and gathers the events.
///
/// Confined to the recogniser's queue. Blocks count from the start of each utterance and every utterance begins
/// from its adaptation alone, so the events depend on the samples, not on how they arrive.
final class UtteranceDriver {
  private let recognizer: any Recognizer
  private var detector: (any VoiceActivityDetector)?
  private let alternatives: Int
  private let settings: PipelineSettings
  private let sampleRate: Int
  private let hangover: Int64

  private let options: ContextOptions
  private var segments: SegmentMachine
  private var understanding: UnderstandingMachine?
  private var endpoints: EndpointMachine
  /// Samples of the running utterance that do not fill a block yet.
  private var pending: [Int16] = []
  /// The newest samples of the running utterance that were heard, at most the overlap.
  private var recent: [Int16] = []
  private var utteranceStart: Int64 = 0
  private var utteranceLength: Int64 = 0
  private var isListening = false
  private(set) var adaptation: RecognizerAdaptation?

  init(
    recognizer: any Recognizer, detector: (any VoiceActivityDetector)?, options: ContextOptions,
    capabilities: RecognitionCapabilities, settings: PipelineSettings
  ) {
    self.recognizer = recognizer
    self.detector = detector
    self.settings = settings
    self.sampleRate = capabilities.sampleRate
    self.alternatives = max(0, min(options.alternatives, capabilities.maximumAlternatives - 1))
    self.adaptation = options.adaptation
    let hangover = detector?.hangover ?? recognizer.activityHangover
    self.hangover = AudioChunk.sample(at: max(.zero, hangover), sampleRate: capabilities.sampleRate)
    self.options = options
    var settings = settings
    // With a grammar the end of an utterance may change all of its words.
    if capabilities.followsGrammars, options.understanding?.grammar != nil { settings.stableFor = nil }
    self.segments = SegmentMachine(alternatives: options.alternatives, settings: settings)
    self.understanding = options.understanding.map {
      UnderstandingMachine($0, start: ResumePoint(sample: 0, adaptation: options.adaptation))
    }
    self.endpoints = EndpointMachine(
      silenceLimit: options.silence.map {
        AudioChunk.sample(at: max(.zero, $0), sampleRate: capabilities.sampleRate)
      },
      hangover: self.hangover,
      splitAfter: AudioChunk.sample(at: settings.splitAfter, sampleRate: capabilities.sampleRate),
      splitLimit: AudioChunk.sample(at: settings.splitLimit, sampleRate: capabilities.sampleRate))
    self.pending.reserveCapacity(settings.blockLength)
    self.recent.reserveCapacity(settings.overlapLength + settings.blockLength)
  }

  /// Begins the first utterance.
  func begin() throws(VoiceFailure) {
    try self.recognizer.begin(self.options.task(adaptation: self.adaptation))
    self.detector?.reset()
    self.isListening = true
  }

  /// Hears samples, and adds what they tell to `events`, even if it throws.
  func append(_ samples: [Int16], into events: inout [RecognitionEvent]) throws(VoiceFailure) {
    var rest = samples[...]
    while !rest.isEmpty {
      let block = self.settings.blockLength
      if self.pending.isEmpty, rest.count >= block {
        let head = rest.prefix(block)
        rest = rest.dropFirst(block)
        try self.hear(head, into: &events)
      } else {
        let missing = min(block - self.pending.count, rest.count)
        self.pending.append(contentsOf: rest.prefix(missing))
        rest = rest.dropFirst(missing)
        if self.pending.count == block { try self.hearPending(into: &events) }
      }
      // After the end of an utterance the overlap is pending and may hold whole blocks.
      while self.pending.count >= block { try self.hearPending(into: &events) }
    }
  }

  /// Ends the context.
  func finish(into events: inout [RecognitionEvent]) throws(VoiceFailure) {
    while !self.pending.isEmpty { try self.hearPending(into: &events) }
    if self.isListening { try self.endUtterance(into: &events, restart: false) }
    self.endSegment(into: &events)
  }

  /// Ends the context after the recogniser has failed, with what was recognised until then.
  func abandon(into events: inout [RecognitionEvent]) {
    let told = self.segments.abandonedUtterance(base: self.time(self.utteranceStart))
    let end = AudioChunk.sample(at: self.segments.lastWordEnd, sampleRate: self.sampleRate)
    let point = ResumePoint(sample: end, adaptation: self.adaptation)
    events +=
      self.understanding?.endedUtterance(told.finalWords, isRejected: false, next: point) ?? told
    self.endSegment(at: point, into: &events)
  }

  /// Drops what is being heard.
  func cancel() {
    if self.isListening { self.recognizer.cancel() }
    self.isListening = false
  }

  private func hearPending(into events: inout [RecognitionEvent]) throws(VoiceFailure) {
    var block: [Int16] = []
    swap(&block, &self.pending)
    if block.count > self.settings.blockLength {
      self.pending.append(contentsOf: block[self.settings.blockLength...])
    }
    try self.hear(block.prefix(self.settings.blockLength), into: &events)
    // The storage serves the next block too.
    guard self.pending.isEmpty else { return }
    block.removeAll(keepingCapacity: true)
    swap(&block, &self.pending)
  }

  /// Hears one block.
  private func hear(_ block: ArraySlice<Int16>, into events: inout [RecognitionEvent]) throws(VoiceFailure) {
    let speech = try self.process(block)
    self.utteranceLength += Int64(block.count)
    self.remember(block)
    // Without any detector everything is speech.
    let action = self.endpoints.heard(
      count: Int64(block.count), energy: Self.energy(of: block), speech: speech ?? true)
    switch action {
    case .wait:
      break
    case .listen:
      self.hypothesise(into: &events)
    case .endUtterance:
      try self.endUtterance(into: &events, restart: true)
    case .splitUtterance:
      try self.endUtterance(into: &events, restart: true, isSplit: true)
    case .endSegment:
      self.endSegment(into: &events)
    }
  }

  private func process(_ block: ArraySlice<Int16>) throws(VoiceFailure) -> Bool? {
    var outcome: Result<Bool?, VoiceFailure> = .success(nil)
    block.withUnsafeBufferPointer { samples in
      do throws(VoiceFailure) {
        let own = try self.recognizer.process(samples)
        outcome = .success(try self.detector?.process(samples) ?? own)
      } catch {
        outcome = .failure(error)
      }
    }
    return try outcome.get()
  }

  private func hypothesise(into events: inout [RecognitionEvent]) {
    let words = self.recognizer.hypothesis()
    let base = self.time(self.utteranceStart)
    let told = self.segments.hypothesised(words, head: self.time(self.utteranceLength), base: base)
    guard !told.isEmpty, self.understanding != nil else {
      events += told
      return
    }
    events += self.understanding?.heard(told.finalWords, tail: self.segments.tail(base: base)) ?? []
  }

  private func endUtterance(
    into events: inout [RecognitionEvent], restart: Bool, isSplit: Bool = false
  ) throws(VoiceFailure) {
    self.isListening = false
    let result = try self.recognizer.finish(alternatives: self.alternatives)
    self.adaptation = self.recognizer.adaptation
    let told = self.segments.endedUtterance(result, base: self.time(self.utteranceStart))
    // Only silence may be heard twice, and each utterance must get further than the one before.
    let overlap =
      restart && !isSplit
      ? max(
        0,
        min(Int64(self.recent.count), self.hangover, self.utteranceLength - Int64(self.settings.blockLength)))
      : 0
    self.utteranceStart += self.utteranceLength - overlap
    self.utteranceLength = 0
    events +=
      self.understanding?.endedUtterance(
        told.finalWords, isRejected: result.isRejected,
        next: ResumePoint(sample: self.utteranceStart, adaptation: self.adaptation)) ?? told
    let isOver = self.endpoints.endedUtterance(
      newWords: self.segments.lastUtteranceHadWords, wasSplit: isSplit, overlap: overlap)
    if isOver { self.endSegment(into: &events) }
    guard restart else { return }
    self.pending.insert(contentsOf: self.recent.suffix(Int(overlap)), at: 0)
    self.recent.removeAll(keepingCapacity: true)
    try self.begin()
  }

  private func endSegment(into events: inout [RecognitionEvent]) {
    self.endSegment(
      at: ResumePoint(sample: self.utteranceStart, adaptation: self.adaptation), into: &events)
    self.endpoints.endedSegment()
  }

  private func endSegment(at point: ResumePoint, into events: inout [RecognitionEvent]) {
    let told = self.segments.endedSegment(resumePoint: point)
    guard self.understanding != nil else {
      events += told
      return
    }
    guard case .segmentEnded(_, let summary)? = told.last else { return }
    events += self.understanding?.endedPassage(summary) ?? []
  }

  private static func energy(of block: ArraySlice<Int16>) -> Double {
    let sum = block.reduce(into: Int64(0)) { $0 &+= Int64($1) &* Int64($1) }
    return Double(sum) / Double(max(1, block.count))
  }

  private func remember(_ block: ArraySlice<Int16>) {
    self.recent.append(contentsOf: block)
    let excess = self.recent.count - self.settings.overlapLength
    if excess > 0 { self.recent.removeFirst(excess) }
  }

  private func time(_ sample: Int64) -> Duration {
    AudioChunk.time(ofSample: sample, sampleRate: self.sampleRate)
  }
}

extension [RecognitionEvent] {
  /// The words that became final.
  fileprivate var finalWords: [RecognizedWord] {
    self.compactMap { if case .word(_, _, let word) = $0 { word } else { nil } }
  }
}
