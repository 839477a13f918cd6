import Yams

/// Puts the files of a configuration together.
struct ConfigurationLoader {
  /// Gives the content of a file beside the configuration; `nil` if there is none, a reason if it cannot be read.
  typealias Reader = (_ name: String) -> Result<[UInt8], UnreadableFile>?

  /// Why a file cannot be read.
  struct UnreadableFile: Error {
    var reason: String
  }

  /// A declared import, whose file is read at the end.
  struct Import {
    var name: String
    var source: String
    var field: Int
    var range: SALRange
    var sourceRange: SALRange
  }

  /// A declared lookup, which needs imports.
  struct Lookup {
    var entity: String
    var input: (name: String, range: SALRange)
    var output: (name: String, range: SALRange)
  }

  let read: Reader
  let packs: [any LanguagePack]
  var interface: VoiceInterface
  var diagnostics: [SALDiagnostic] = []
  var sources: [SALSource] = []
  var documents: [SALDocument] = []
  var imports: [Import] = []
  var lookups: [Lookup] = []
  var entityRanges: [(name: String, range: SALRange)] = []
  var intentRanges: [(name: String, range: SALRange)] = []
  /// The places of keys that a configuration may have once in all files.
  private var seen: [String: SALRange] = [:]

  init(packs: [any LanguagePack], defaultLanguage: String, read: @escaping Reader) {
    self.packs = packs
    self.read = read
    self.interface = VoiceInterface(language: defaultLanguage)
  }

  mutating func report(
    _ severity: SALDiagnostic.Severity, _ code: String, _ message: String, suggestion: String? = nil,
    at range: SALRange? = nil
  ) {
    guard self.diagnostics.count < SALParser.diagnosticLimit else { return }
    self.diagnostics.append(SALDiagnostic(severity, code, message, suggestion: suggestion, at: range))
  }

  static func start(of file: String) -> SALRange {
    SALRange(file: file, line: 1, column: 1, endLine: 1, endColumn: 1)
  }

  // MARK: Files

  /// Reads one file of templates or of configuration.
  mutating func add(_ file: ConfigurationFile) {
    guard let text = self.text(of: file) else { return }
    self.sources.append(SALSource(name: file.name, text: text))
    if file.kind == "sal" {
      self.parse(text, at: SALPositions(SALSource(name: file.name, text: "")))
    } else {
      var document = ConfigurationDocument(text, file: file.name)
      self.addEntries(of: &document)
      self.diagnostics += document.diagnostics
    }
  }

  private mutating func text(of file: ConfigurationFile) -> String? {
    var bytes = file.bytes[...]
    if bytes.starts(with: [0xef, 0xbb, 0xbf]) { bytes = bytes.dropFirst(3) }
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    let isUTF16 = bytes.starts(with: [0xff, 0xfe]) || bytes.starts(with: [0xfe, 0xff])
    let repaired = String(decoding: bytes, as: UTF8.self)
    let lines = repaired.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    let line = lines.firstIndex { $0.contains("\u{fffd}") } ?? 0
    let column = lines[line].prefix { $0 != "\u{fffd}" }.count + 1
    self.report(
      .error, "configuration.file.encoding", "This file is \(isUTF16 ? "in UTF-16" : "not in UTF-8").",
      suggestion: "save it in UTF-8",
      at: SALRange(file: file.name, line: line + 1, column: column, endLine: line + 1, endColumn: column + 1))
    return nil
  }

  private mutating func parse(_ text: String, at positions: SALPositions) {
    let (document, diagnostics) = SALParser.parse(text, at: positions)
    self.documents.append(document)
    self.diagnostics += diagnostics
  }

  // MARK: Keys

  private mutating func addEntries(of document: inout ConfigurationDocument) {
    for (key, keyNode, value) in document.entries {
      switch key {
      case "templates": self.addTemplates(value, keyNode, in: &document)
      case "entities": self.addEntities(value, in: &document)
      case "intents": self.addIntents(value, in: &document)
      case "imports": self.addImports(value, in: &document)
      default:
        guard ConfigurationDocument.keys.contains(key), self.isFirst(key, keyNode, in: document) else {
          continue
        }
        self.addOption(key, value, in: &document)
      }
    }
  }

  /// Settings can stand in one file only, or it would depend on the order of the files what holds.
  private mutating func isFirst(_ key: String, _ node: Node, in document: ConfigurationDocument) -> Bool {
    let range = document.range(of: node)
    guard let first = self.seen[key] else {
      self.seen[key] = range
      return true
    }
    self.report(
      .error, "configuration.key.repeated", "The key \(key) is already in \(first.file).",
      suggestion: "remove one of the two", at: range)
    return false
  }

  private mutating func addTemplates(_ value: Node, _ key: Node, in document: inout ConfigurationDocument) {
    if value.isNothing { return }
    guard case .scalar(let scalar) = value else {
      document.wrongType(
        "a text in SAL", "templates", at: value, suggestion: "templates: | with one template a line below it")
      return
    }
    let positions = YAMLPositions.positions(
      of: scalar, file: document.file, lines: document.lines, keyColumn: key.mark?.column ?? 1)
    self.parse(scalar.string, at: positions)
  }

  private mutating func addOption(_ key: String, _ value: Node, in document: inout ConfigurationDocument) {
    switch key {
    case "lang":
      guard let tag = document.text(value, key: key, example: "en-US") else { return }
      guard Self.isLanguageTag(tag) else {
        document.wrongType("a language tag", key, at: value, suggestion: "lang: en-US")
        return
      }
      self.interface.language = tag
    case "silence_triggered_segmentation":
      guard let value = self.silence(value, in: &document) else { return }
      self.interface.options.silenceTriggeredSegmentation = .milliseconds(value)
    case "fast_intent_detector":
      self.interface.options.fastIntentDetector = document.boolean(value, key: key) ?? false
    case "enable_strict_nlu":
      self.interface.options.enableStrictNLU = document.boolean(value, key: key) ?? false
    case "disable_mel_caching":
      self.interface.options.disableMelCaching = document.boolean(value, key: key) ?? false
    case "asr_biasing":
      self.interface.options.asrBiasing = document.text(value, key: key, example: "moderate")
    case "rejection_threshold":
      guard let text = document.text(value, key: key, example: "0.5") else { return }
      guard let threshold = Double(text), (0...1).contains(threshold) else {
        document.wrongType("a number from 0 to 1", key, at: value, suggestion: "\(key): 0.5")
        return
      }
      self.interface.options.rejectionThreshold = threshold
    case "model":
      self.interface.options.model = document.text(value, key: key, example: "large-highaccuracy")
    default:
      guard let text = document.text(value, key: key, example: "15F425DD-7A95-4D4B-A4A6-0DF059715A9C") else {
        return
      }
      guard let id = Self.identifier(text) else {
        document.wrongType(
          "a UUID", key, at: value, suggestion: "\(key): 15F425DD-7A95-4D4B-A4A6-0DF059715A9C")
        return
      }
      self.interface.options.adaptationAudioPackage = id
    }
  }

  private func silence(_ value: Node, in document: inout ConfigurationDocument) -> Int? {
    let key = "silence_triggered_segmentation"
    guard let milliseconds = document.integer(value, key: key, in: 0...600_000, example: "720") else {
      return nil
    }
    if milliseconds % 60 != 0 {
      document.report(
        .warning, "configuration.silence.multiple", "Multiples of 60 ms work best.",
        suggestion: "\(key): \(max(60, (milliseconds + 30) / 60 * 60))", at: value)
    }
    return milliseconds
  }

  static func isLanguageTag(_ tag: String) -> Bool {
    let parts = tag.split(separator: "-", omittingEmptySubsequences: false)
    guard let first = parts.first, (2...8).contains(first.utf8.count) else { return false }
    return first.utf8.allSatisfy { $0 | 0x20 >= UInt8(ascii: "a") && $0 | 0x20 <= UInt8(ascii: "z") }
      && parts.allSatisfy {
        (1...8).contains($0.utf8.count) && $0.unicodeScalars.allSatisfy(SALCharacters.isASCIILetterOrDigit)
      }
  }

  /// A UUID in upper case.
  private static func identifier(_ text: String) -> String? {
    let parts = text.uppercased().split(separator: "-", omittingEmptySubsequences: false)
    guard parts.map(\.utf8.count) == [8, 4, 4, 4, 12],
      parts.joined().unicodeScalars.allSatisfy({ ("0"..."9").contains($0) || ("A"..."F").contains($0) })
    else { return nil }
    return parts.joined(separator: "-")
  }
}
