import CPocketSphinx
import CPocketSphinxShim
import Foundation
import SpeechUnderstanding
import VoiceCore

/// A decoder that takes cepstra which are normalised already: for a grammar, or for phones in any order.
///
/// Not `Sendable`: it belongs to a recogniser, on its thread.
final class CepstralDecoder {
  /// What is searched.
  enum Search {
    /// What a grammar allows, while somebody speaks.
    case live(GrammarPlan)
    /// What a grammar allows, in whole utterances.
    case whole(GrammarPlan, WholePass)
    /// Phones after a phone language model.
    case phones(languageModel: String)
  }

  /// A word with its frames, counted from the first frame of the utterance.
  struct Word: Hashable {
    var text: String
    var frames: ClosedRange<Int>
  }

  /// What was found in a whole utterance.
  struct Outcome {
    var words: [Word] = []
    /// The acoustic score of each frame of speech, in steps of 1024 of the decoder's logarithms.
    var scores: [Score] = []
  }

  /// The score of a stretch of frames.
  struct Score {
    var frames: ClosedRange<Int>
    var acoustic: Float
    var isSilence: Bool
  }

  private let decoder: OpaquePointer
  private let dimension: Int
  private let plan: GrammarPlan?
  private let words: UnsafeMutablePointer<vps_word>
  private var isBroken = false
  private var isListening = false

  private static let maximumWords = 4096

  /// Loads the acoustic model, and what is to be searched.
  ///
  /// - Throws: ``VoiceFailure`` with code `speech.engine.model-missing`, `speech.engine.model-invalid` or
  ///   `speech.engine.failed`.
  init(_ search: Search, model: PocketSphinxModel, dimension: Int) throws(VoiceFailure) {
    PocketSphinxLog.silence()
    _ = PocketSphinxLog.takeMessages()
    let files = try DecoderFiles(search, model: model)
    defer { files.remove() }
    var pointers = files.arguments.map { strdup($0) }
    defer { pointers.forEach { free($0) } }
    guard let decoder = vps_create(Int32(pointers.count), &pointers) else {
      throw VoiceFailure(
        .modelInvalid, message: "The PocketSphinx model in \(model.acousticModel) cannot be used.",
        cause: PocketSphinxLog.takeMessages())
    }
    self.decoder = decoder
    self.dimension = dimension
    self.words = .allocate(capacity: Self.maximumWords)
    self.words.initialize(repeating: vps_word(), count: Self.maximumWords)
    switch search {
    case .live(let plan), .whole(let plan, _):
      self.plan = plan
      // The language model was among the options.
      guard case .network(let network) = plan.space else { break }
      try self.check(Self.set(network, in: decoder), "The grammar cannot be searched.")
    case .phones(let languageModel):
      self.plan = nil
      try self.check(vps_set_phone_loop(decoder, languageModel), "The phone model cannot be searched.")
    }
  }

  deinit {
    self.words.deallocate()
    self.cancel()
    if !self.isBroken { ps_free(self.decoder) }
  }

  /// Begins an utterance of which the frames come bit by bit.
  func begin() throws(VoiceFailure) {
    self.cancel()
    try self.check(vps_begin(self.decoder), "The decoder failed.")
    self.isListening = true
  }

  /// Hears frames, one after the other in `frames`.
  func hear(_ frames: UnsafeMutableBufferPointer<Float>) throws(VoiceFailure) {
    guard self.isListening, let base = frames.baseAddress, self.dimension > 0 else { return }
    let count = frames.count / self.dimension
    var rows: [UnsafeMutablePointer<mfcc_t>?] = (0..<count).map { base + $0 * self.dimension }
    try self.check(vps_search(self.decoder, &rows, Int32(count)), "The decoder failed.")
  }

  /// What has been found so far.
  func hypothesis() -> [Word] {
    guard self.isListening else { return [] }
    return self.outcome().words
  }

  /// Ends the utterance.
  func finish() throws(VoiceFailure) -> [Word] {
    guard self.isListening else { return [] }
    self.isListening = false
    try self.check(vps_end(self.decoder), "The decoder failed.")
    return self.outcome().words
  }

  /// Drops the utterance.
  func cancel() {
    guard self.isListening else { return }
    self.isListening = false
    if vps_end(self.decoder) == VPS_FATAL { self.isBroken = true }
  }

  /// Searches a whole utterance, whose frames are one after the other in `frames`.
  func decode(_ frames: inout [Float]) throws(VoiceFailure) -> Outcome {
    guard self.dimension > 0, frames.count >= self.dimension else { return Outcome() }
    try self.begin()
    var failure: VoiceFailure?
    frames.withUnsafeMutableBufferPointer { buffer in
      do throws(VoiceFailure) { try self.hear(buffer) } catch { failure = error }
    }
    if let failure { throw failure }
    self.isListening = false
    try self.check(vps_end(self.decoder), "The decoder failed.")
    return self.outcome()
  }

  private func outcome() -> Outcome {
    let count = vps_words(self.decoder, self.words, Int32(Self.maximumWords))
    if count == VPS_FATAL { self.isBroken = true }
    var outcome = Outcome()
    for word in UnsafeBufferPointer(start: self.words, count: max(0, Int(count))) {
      let frames = Int(word.first_frame)...max(Int(word.first_frame), Int(word.last_frame))
      let text = PocketSphinxRecognizer.text(word.text)
      let isNull = word.text.map { String(cString: $0) == "(NULL)" } ?? true
      guard !isNull else { continue }
      outcome.scores.append(
        Score(
          frames: frames, acoustic: Float(word.acoustic_score),
          isSilence: text == nil || text == "SIL"))
      guard let text else { continue }
      outcome.words.append(Word(text: self.plan?.words[text] ?? text, frames: frames))
    }
    return outcome
  }

  private func check(_ result: Int32, _ message: String) throws(VoiceFailure) {
    guard result < 0 else { return }
    if result == VPS_FATAL { self.isBroken = true }
    throw VoiceFailure(.engineFailed, message: message, cause: PocketSphinxLog.takeMessages())
  }

  private static func set(_ network: WordNetwork, in decoder: OpaquePointer) -> Int32 {
    let arcs =
      network.arcs.map { vps_arc(from: $0.from, to: $0.to, word: $0.word, cost: $0.cost) }
      + [
        vps_arc(from: network.end, to: network.start, word: -1, cost: GrammarPlan.sentenceCost),
        // An utterance may be nothing but noise, for which the model has words of its own.
        vps_arc(from: network.start, to: network.end, word: -1, cost: GrammarPlan.silenceCost),
      ]
    let keys = network.words.map { UnsafePointer(strdup($0)) }
    defer { keys.forEach { free(UnsafeMutablePointer(mutating: $0)) } }
    return keys.withUnsafeBufferPointer { keys in
      vps_set_network(
        decoder, keys.baseAddress, Int32(keys.count), arcs, Int32(arcs.count), Int32(network.stateCount),
        network.start, network.end)
    }
  }
}

/// The files and options that a ``CepstralDecoder`` is made from; the files are needed only while it is made.
private struct DecoderFiles {
  let arguments: [String]
  private let folder: URL

  init(_ search: CepstralDecoder.Search, model: PocketSphinxModel) throws(VoiceFailure) {
    let files = FileManager.default
    self.folder = files.temporaryDirectory.appending(
      path: "swift-voice-\(UUID().uuidString.lowercased())", directoryHint: .isDirectory)
    let features = self.folder.appending(path: "feat.params").path
    let dictionary = self.folder.appending(path: "words.dict").path
    var options = [
      "swift-voice", "-hmm", model.acousticModel, "-dict", dictionary, "-featparams", features,
      "-samprate", "16000", "-dither", "no", "-bestpath", "no",
    ]
    let lines: String
    var languageModel: String?
    let modelFile = self.folder.appending(path: "words.lm").path
    switch search {
    case .live(let plan):
      lines = plan.dictionary
      // Hypotheses may still change: every third frame is good enough for them, with half of the densities.
      options += ["-ds", "3", "-topn", "2"]
      if case .languageModel(let model) = plan.space {
        languageModel = model.text
        options += ["-lm", modelFile, "-fwdflat", "no", "-maxhmmpf", "2000"]
      }
    case .whole(let plan, let pass):
      lines = plan.dictionary
      if pass == .quick { options += ["-ds", "2", "-topn", "2"] }
      switch plan.space {
      case .languageModel(let model):
        languageModel = model.text
        options += ["-lm", modelFile, "-fwdflat", "yes", "-maxhmmpf", "10000"]
      case .network:
        guard pass == .full else { break }
        options += [
          "-beam", "1e-64", "-pbeam", "1e-64", "-wbeam", "1e-48", "-lpbeam", "1e-56", "-lponlybeam", "1e-48",
        ]
      }
    case .phones:
      lines = "\n"
      options += ["-allphone_ci", "yes", "-beam", "1e-20", "-pbeam", "1e-20", "-lw", "2.0"]
    }
    self.arguments = options
    do {
      // The model's options win over those of the command line, so its file is replaced: frames come normalised.
      let own = (try? String(contentsOfFile: "\(model.acousticModel)/feat.params", encoding: .utf8)) ?? ""
      try files.createDirectory(
        at: self.folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      try Self.withoutNormalization(own).write(toFile: features, atomically: false, encoding: .utf8)
      try languageModel?.write(toFile: modelFile, atomically: false, encoding: .utf8)
      try lines.write(toFile: dictionary, atomically: false, encoding: .utf8)
    } catch {
      try? files.removeItem(at: self.folder)
      throw VoiceFailure(
        .engineFailed,
        message: "The grammar cannot be given to the recogniser: no temporary file can be written.",
        cause: error)
    }
  }

  func remove() {
    try? FileManager.default.removeItem(at: self.folder)
  }

  private static func withoutNormalization(_ parameters: String) -> String {
    var kept: [Substring] = []
    var words = parameters.split(whereSeparator: \.isWhitespace)[...]
    while let name = words.popFirst() {
      let value = words.popFirst() ?? ""
      switch name {
      case "-cmn", "-varnorm", "-agc", "-cmninit": continue
      default: kept += [name, value]
      }
    }
    return (kept + ["-cmn", "none", "-varnorm", "no", "-agc", "none"]).joined(separator: " ") + "\n"
  }
}
