import CPocketSphinx
import CPocketSphinxShim
public import SpeechPipeline
public import VoiceCore

/// One PocketSphinx decoder.
///
/// The decoder's own front end is driven here and its frames are handed to the search, instead of giving samples
/// to the decoder: the same work with the same result, but it shows which frames of the audio were passed on. That
/// gives exact word times although the front end leaves out silence, and voice activity at no cost.
public final class PocketSphinxRecognizer: Recognizer {
  private enum State {
    case idle
    case listening
    case ended
    /// The library gave up; the decoder may not be touched any more.
    case broken
  }

  // The front end's own defaults, named because times and voice activity depend on them.
  private static let frameShift = 160
  static let framesBeforeSpeech = 20
  static let framesAfterSpeech = 50
  /// The most frames that the front end is asked for at a time: fewer than its detector needs to change its mind twice.
  private static let framesPerStep = 8
  private static let maximumWords = 2048

  private let decoder: OpaquePointer
  private let frontEnd: OpaquePointer
  private let normalization: UnsafeMutablePointer<cmn_t>
  private let usesBestPath: Bool
  private let initialState: ChannelState
  private let cepstra: UnsafeMutablePointer<UnsafeMutablePointer<mfcc_t>?>
  private let cepstraStorage: UnsafeMutablePointer<mfcc_t>
  private let cepstraCapacity: Int
  private let words: UnsafeMutablePointer<vps_word>

  private var state = State.idle
  private var times = FrameTimes()
  private var sampleCount = 0
  private var audioFrameCount = 0
  private var levels = SignalLevels.unknown
  private var meter = LevelMeter()
  private var highMeter = HighBandMeter()
  private var line = QuietLine()
  /// A run of samples in which the line rests.
  private var restingSamples: [Int16] = []
  private let frameLength: Int
  let grammars: GrammarSearches
  /// `nil` without a library for it.
  private let suppressed: SuppressedSpeech?
  /// The running utterance, if it follows a grammar.
  private var utterance: GrammarUtterance?
  /// What the last utterance taught, if it followed a grammar.
  private var learned: ChannelState?
  private var preference = VocabularyPreference(vocabulary: [], bias: 0)

  /// Loads a model; takes about 0.3 s and blocks.
  ///
  /// - Throws: ``VoiceFailure`` with code `speech.engine.model-missing` or `speech.engine.model-invalid`, whose
  ///   cause has the library's messages; with a noise library also `speech.engine.library-missing` or
  ///   `speech.engine.library-unsupported`.
  public convenience init(configuration: PocketSphinxEngine.Configuration) throws(VoiceFailure) {
    try self.init(configuration: configuration, plans: GrammarPlans())
  }

  init(configuration: PocketSphinxEngine.Configuration, plans: GrammarPlans) throws(VoiceFailure) {
    PocketSphinxLog.silence()
    let decoder = try Self.makeDecoder(configuration)
    guard let frontEnd = ps_get_fe(decoder), let features = ps_get_feat(decoder),
      let normalization = features.pointee.cmn_struct
    else {
      ps_free(decoder)
      throw VoiceFailure(.modelInvalid, message: "The PocketSphinx model has no front end.")
    }
    var shift: Int32 = 0
    var length: Int32 = 0
    fe_get_input_size(frontEnd, &shift, &length)
    guard shift == Self.frameShift, length >= shift else {
      ps_free(decoder)
      throw VoiceFailure(.modelInvalid, message: "The PocketSphinx model is not for audio of 16 kHz.")
    }
    let dimension = max(1, Int(fe_get_output_size(frontEnd)))
    do throws(VoiceFailure) {
      self.suppressed = try configuration.noiseLibrary.map { path throws(VoiceFailure) in
        try SuppressedSpeech(library: path, decoder: decoder, dimension: dimension)
      }
    } catch {
      ps_free(decoder)
      throw error
    }
    self.decoder = decoder
    self.frontEnd = frontEnd
    self.normalization = normalization
    self.frameLength = Int(length)
    self.usesBestPath = configuration.usesBestPath
    self.initialState = ChannelState(normalization, levels: .unknown)

    self.grammars = GrammarSearches(plans: plans, model: configuration.model, dimension: dimension)
    // Room for what one step can give: its own frames, and those that were held back before speech.
    let capacity = Self.framesPerStep + Self.framesBeforeSpeech + 4
    self.cepstraCapacity = capacity
    self.cepstraStorage = .allocate(capacity: capacity * dimension)
    self.cepstraStorage.initialize(repeating: 0, count: capacity * dimension)
    self.cepstra = .allocate(capacity: capacity)
    for index in 0..<capacity {
      (self.cepstra + index).initialize(to: self.cepstraStorage + index * dimension)
    }
    self.words = .allocate(capacity: Self.maximumWords)
    self.words.initialize(repeating: vps_word(), count: Self.maximumWords)
  }

  deinit {
    self.cepstra.deallocate()
    self.cepstraStorage.deallocate()
    self.words.deallocate()
    switch self.state {
    case .idle, .ended: ps_free(self.decoder)
    case .listening:
      if self.utterance != nil || vps_end(self.decoder) != VPS_FATAL { ps_free(self.decoder) }
    case .broken: break
    }
  }

  public var activityHangover: Duration { .milliseconds(10 * Self.framesAfterSpeech) }

  public var adaptation: RecognizerAdaptation? {
    switch self.state {
    case .idle, .ended:
      (self.learned ?? ChannelState(self.normalization, levels: self.levels)).adaptation
    case .listening, .broken: nil
    }
  }

  public func begin(_ task: RecognitionTask) throws(VoiceFailure) {
    switch self.state {
    case .idle, .ended: break
    case .listening: self.cancel()
    case .broken: throw self.outOfOrder
    }
    let channel =
      if let adaptation = task.adaptation {
        try ChannelState(adaptation, dimension: self.initialState.mean.count)
      } else {
        self.initialState
      }
    channel.restore(to: self.normalization)
    self.levels = channel.levels
    self.meter = LevelMeter()
    self.highMeter = HighBandMeter()
    self.line = QuietLine()
    self.times = FrameTimes()
    self.sampleCount = 0
    self.audioFrameCount = 0
    self.learned = nil
    self.preference = VocabularyPreference(vocabulary: task.vocabulary, bias: task.vocabularyBias)
    ps_start_stream(self.decoder)
    self.warmUp()
    if let grammar = task.grammar, let searches = try self.grammars.search(grammar) {
      self.suppressed?.begin()
      self.utterance = try GrammarUtterance(
        grammar, searches: searches, channel: channel, suppressed: self.suppressed)
      fe_start_utt(self.frontEnd)
    } else {
      try self.check(vps_begin(self.decoder))
    }
    self.state = .listening
  }

  public func process(_ samples: UnsafeBufferPointer<Int16>) throws(VoiceFailure) -> Bool? {
    guard case .listening = self.state else { throw self.outOfOrder }
    guard var next = samples.baseAddress else { return self.isInSpeech }
    var rest = samples.count
    while rest > 0 {
      let step = min(rest, Self.framesPerStep * Self.frameShift)
      self.meter.heard(UnsafeBufferPointer(start: next, count: step))
      if self.utterance != nil {
        self.highMeter.heard(UnsafeBufferPointer(start: next, count: step))
        self.suppressed?.heard(
          UnsafeBufferPointer(start: next, count: step), isBeforeSpeech: self.times.decoderFrameCount == 0)
      }
      try self.step(UnsafeBufferPointer(start: next, count: step))
      next += step
      rest -= step
    }
    return self.isInSpeech
  }

  public func hypothesis() -> [RecognizedWord] {
    guard case .listening = self.state else { return [] }
    if let utterance = self.utterance {
      // A grammar finds its words in any noise; what is so quiet is only heard if it fits well, which the end decides.
      guard !self.meter.levels.areHardlySpeech else { return [] }
      return utterance.hypothesis().map { self.placed($0) }
    }
    let count = vps_words(self.decoder, self.words, Int32(Self.maximumWords))
    guard count != VPS_FATAL else {
      self.state = .broken
      return []
    }
    return self.transcription(count: Int(count), hasConfidence: false)
  }

  public func finish(alternatives: Int) throws(VoiceFailure) -> RecognitionResult {
    guard case .listening = self.state else { throw self.outOfOrder }
    if let utterance = self.utterance { return try self.finish(utterance) }
    let wasInSpeech = self.isInSpeech
    let lastHypothesis = self.hypothesis()
    try self.check(vps_end(self.decoder))
    self.state = .ended
    // The front end passes on what it has of one more frame.
    if wasInSpeech { self.times.passed(1, from: self.audioFrameCount) }
    guard self.times.decoderFrameCount > 0 else { return RecognitionResult(words: []) }
    self.levels = self.meter.levels
    let count = vps_words(self.decoder, self.words, Int32(Self.maximumWords))
    try self.check(count)
    // When no path through the lattice reaches the end of the sentence, the library has no result at all, not even
    // a pause; what was heard is not to be lost for that.
    guard count > 0 else { return RecognitionResult(words: lastHypothesis) }
    var result = RecognitionResult(
      words: self.transcription(count: Int(count), hasConfidence: self.usesBestPath))
    let wanted = max(alternatives, self.preference.alternativeCount)
    guard wanted > 0, !result.words.isEmpty else { return result }
    var all = [result.words] + self.alternatives(to: result.words, atMost: wanted)
    result.words = all.remove(at: self.preference.preferred(among: all.map { $0.map(\.text) }))
    result.alternatives = Array(all.prefix(alternatives))
    return result
  }

  public func cancel() {
    guard case .listening = self.state else { return }
    if let utterance = self.utterance {
      utterance.cancel()
      self.endFrontEnd()
      self.utterance = nil
      self.state = .ended
      return
    }
    self.state = vps_end(self.decoder) == VPS_FATAL ? .broken : .ended
  }

  private var isInSpeech: Bool { fe_get_vad_state(self.frontEnd) != 0 }

  /// Teaches the front end the levels of the channel.
  ///
  /// Its detector forgets the noise between utterances, so that they depend on nothing else than their adaptation;
  /// without this it would take the noise for speech for seconds.
  private func warmUp() {
    var samples = self.levels.warmUp
    guard !samples.isEmpty else { return }
    // Or else its filter would still hold the last sample of the utterance before.
    fe_start_utt(self.frontEnd)
    samples.withUnsafeMutableBufferPointer { samples in
      var next = UnsafePointer(samples.baseAddress)
      var rest = samples.count
      while rest > 0 {
        let before = rest
        var ignored = Int32(self.cepstraCapacity)
        guard fe_process_frames(self.frontEnd, &next, &rest, self.cepstra, &ignored, nil) >= 0, rest < before
        else {
          return
        }
      }
    }
  }

  /// Gives a few frames' worth of samples to the front end, or the rest of a line on which nobody speaks.
  private func step(_ samples: UnsafeBufferPointer<Int16>) throws(VoiceFailure) {
    guard let start = samples.baseAddress else { return }
    guard !self.isInSpeech, let level = self.line.rest(in: samples) else {
      return try self.step(start, count: samples.count)
    }
    self.restingSamples.removeAll(keepingCapacity: true)
    self.restingSamples.append(contentsOf: repeatElement(level, count: samples.count))
    var failure: VoiceFailure?
    self.restingSamples.withUnsafeBufferPointer { resting in
      guard let start = resting.baseAddress else { return }
      do throws(VoiceFailure) { try self.step(start, count: resting.count) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  /// Gives a few frames' worth of samples to the front end, and what it passes on to the search.
  private func step(_ samples: UnsafePointer<Int16>, count: Int) throws(VoiceFailure) {
    let wasInSpeech = self.isInSpeech
    var next: UnsafePointer<Int16>? = samples
    var rest = count
    var passed: Int32 = 0
    var total = 0
    while rest > 0 {
      let before = rest
      passed = Int32(self.cepstraCapacity)
      guard fe_process_frames(self.frontEnd, &next, &rest, self.cepstra, &passed, nil) >= 0 else {
        throw self.failure("The front end failed.")
      }
      if passed > 0 { try self.hear(passed) }
      total += Int(passed)
      guard rest < before || passed > 0 else { throw self.failure("The front end takes no more samples.") }
    }
    self.sampleCount += count
    let firstFrame = self.audioFrameCount
    self.audioFrameCount =
      self.sampleCount < self.frameLength ? 0 : (self.sampleCount - self.frameLength) / Self.frameShift + 1
    // Frames held back while it was silent end with the newest; those before silence begin with the oldest.
    self.times.passed(total, from: wasInSpeech ? firstFrame : max(0, self.audioFrameCount - total))
  }

  /// Hands the frames that the front end passed on to the search.
  private func hear(_ count: Int32) throws(VoiceFailure) {
    guard self.utterance != nil else {
      return try self.check(vps_search(self.decoder, self.cepstra, count))
    }
    try self.utterance?.hear(
      UnsafeBufferPointer(start: self.cepstraStorage, count: Int(count) * self.initialState.mean.count),
      signal: self.signal)
  }

  // MARK: Grammars

  /// How loud the running utterance is, for its channel.
  private var signal: UtteranceSignal {
    UtteranceSignal(
      levels: self.meter.levels, high: self.highMeter.levels,
      isFaint: self.levels.makesFaint(self.meter.levels), times: self.times)
  }

  /// Ends the front end's utterance.
  ///
  /// - Returns: The number of frames that it still had, which are at the beginning of the storage.
  @discardableResult private func endFrontEnd() -> Int32 {
    var count: Int32 = 0
    guard fe_end_utt(self.frontEnd, self.cepstra[0], &count) >= 0 else { return 0 }
    return min(1, max(0, count))
  }

  private func finish(_ running: GrammarUtterance) throws(VoiceFailure) -> RecognitionResult {
    self.utterance = nil
    self.state = .ended
    var utterance = running
    let wasInSpeech = self.isInSpeech
    let last = self.endFrontEnd()
    if last > 0, wasInSpeech {
      self.times.passed(1, from: self.audioFrameCount)
      try utterance.hear(
        UnsafeBufferPointer(start: self.cepstraStorage, count: self.initialState.mean.count),
        signal: self.signal)
    }
    let before = self.levels
    let signal = self.signal
    let heard = signal.levels
    // Until it is known that somebody spoke, only the noise is news.
    self.levels = SignalLevels(speech: before.speech, noise: before.speech > 0 ? heard.noise : 0)
    defer { self.learned = utterance.channel(levels: self.levels) }
    guard self.times.decoderFrameCount > 0, !heard.areThoseOfAnIdleLine else {
      utterance.cancel()
      return RecognitionResult(words: [])
    }
    let result = try utterance.finish(
      phones: { () throws(VoiceFailure) in try self.grammars.phones() }, signal: signal)
    guard !result.isRejected else {
      // It is the room, beside somebody who spoke much louder or by its level, in which the language model would only imagine
      // words.
      if signal.isFaint, before.speech > 0 || heard.areHardlySpeech {
        return RecognitionResult(words: [])
      }
      return RecognitionResult(words: try self.freeText(utterance.frames), isRejected: true)
    }
    if !result.words.isEmpty { self.levels = heard }
    return RecognitionResult(
      words: zip(result.words, result.confidences).map { self.placed($0, confidence: $1) })
  }

  /// What the language model makes of the frames of an utterance.
  private func freeText(_ frames: [Float]) throws(VoiceFailure) -> [RecognizedWord] {
    var frames = frames
    let dimension = self.initialState.mean.count
    try self.check(vps_begin(self.decoder))
    var result: Int32 = 0
    frames.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress else { return }
      var rows: [UnsafeMutablePointer<mfcc_t>?] = (0..<buffer.count / dimension).map { base + $0 * dimension }
      result = vps_search_all(self.decoder, &rows, Int32(rows.count))
    }
    try self.check(result)
    try self.check(vps_end(self.decoder))
    let count = vps_words(self.decoder, self.words, Int32(Self.maximumWords))
    try self.check(count)
    return self.transcription(count: Int(count), hasConfidence: self.usesBestPath)
  }

  private func placed(_ word: CepstralDecoder.Word, confidence: Double? = nil) -> RecognizedWord {
    let first = self.times.audioFrame(of: word.frames.lowerBound)
    let last = max(first, self.times.audioFrame(of: word.frames.upperBound))
    return RecognizedWord(
      text: word.text, start: .milliseconds(10 * first), end: .milliseconds(10 * (last + 1)),
      confidence: confidence)
  }

  private func transcription(count: Int, hasConfidence: Bool) -> [RecognizedWord] {
    UnsafeBufferPointer(start: self.words, count: max(0, count)).compactMap { word in
      guard let text = Self.text(word.text) else { return nil }
      let first = self.times.audioFrame(of: Int(word.first_frame))
      let last = max(first, self.times.audioFrame(of: Int(word.last_frame)))
      return RecognizedWord(
        text: text, start: .milliseconds(10 * first), end: .milliseconds(10 * (last + 1)),
        confidence: hasConfidence ? min(1, max(0, word.posterior)) : nil)
    }
  }

  private func alternatives(to best: [RecognizedWord], atMost limit: Int) -> [[RecognizedWord]] {
    var seen: Set<[String]> = [best.map(\.text)]
    var found: [[RecognizedWord]] = []
    // Many paths through the lattice differ only in pauses and pronunciations, so more are looked at than are wanted.
    var tries = 20 * limit
    var list = vps_alternatives_begin(self.decoder)
    while let current = list {
      let count = vps_alternatives_words(current, self.decoder, self.words, Int32(Self.maximumWords))
      let words = self.transcription(count: Int(count), hasConfidence: false)
      if !words.isEmpty, seen.insert(words.map(\.text)).inserted { found.append(words) }
      tries -= 1
      guard found.count < limit, tries > 0 else {
        vps_alternatives_end(current)
        break
      }
      list = vps_alternatives_next(current)
    }
    return found
  }

  /// The word without the number of its pronunciation, or `nil` for pauses and noises.
  static func text(_ raw: UnsafePointer<CChar>?) -> String? {
    guard let raw, let first = raw.pointee as CChar?, first != 0 else { return nil }
    switch UInt8(bitPattern: first) {
    case UInt8(ascii: "<"), UInt8(ascii: "["): return nil
    case UInt8(ascii: "+") where UInt8(bitPattern: raw[1]) == UInt8(ascii: "+"): return nil
    default: break
    }
    let text = String(cString: raw)
    guard text.hasSuffix(")"), let open = text.lastIndex(of: "("), open != text.startIndex else {
      return text
    }
    return String(text[..<open])
  }

  private func check(_ result: Int32) throws(VoiceFailure) {
    guard result < 0 else { return }
    if result == VPS_FATAL { self.state = .broken }
    throw self.failure("The decoder failed.")
  }

  private var outOfOrder: VoiceFailure {
    switch self.state {
    case .broken: self.failure("The decoder has failed before.")
    case .idle, .listening, .ended: self.failure("No utterance was begun.")
    }
  }

  private func failure(_ message: String) -> VoiceFailure {
    VoiceFailure(.engineFailed, message: message, cause: PocketSphinxLog.takeMessages())
  }
}
