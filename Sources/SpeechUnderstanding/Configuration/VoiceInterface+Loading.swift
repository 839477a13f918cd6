import Foundation

extension VoiceInterface {
  /// The largest file that is read, in bytes.
  public static let fileSizeLimit = 256 * 1024 * 1024

  /// Loads a configuration that is in memory.
  ///
  /// Read are `.yaml` and `.sal` files, in the given order, and those `.csv` files that they import. Files named `.yml`
  /// are left out with a warning, as the hosted service did; others are left out with a note.
  ///
  /// - Parameters:
  ///   - files: The files, without folders in their names.
  ///   - packs: The natural languages; one is chosen by the configuration's `lang`.
  ///   - defaultLanguage: The language of a configuration that names none.
  public static func load(
    files: [ConfigurationFile], packs: [any LanguagePack] = [], defaultLanguage: String = "en-US"
  ) -> LoadResult {
    var contents: [String: [UInt8]] = [:]
    for file in files where contents[file.name] == nil { contents[file.name] = file.bytes }
    var loader = ConfigurationLoader(packs: packs, defaultLanguage: defaultLanguage) { name in
      contents[name].map { .success($0) }
    }
    var found = 0
    for file in files {
      switch file.kind {
      case "yaml", "sal":
        found += 1
        loader.add(file)
      case "csv": break
      case "yml": loader.reportIgnored(file.name)
      default:
        loader.report(
          .note, "configuration.file.ignored", "The file \(file.name) is neither .yaml, .sal nor .csv.")
      }
    }
    if found == 0 { loader.reportNothingFound("There is no .yaml and no .sal file.") }
    return loader.finish()
  }

  /// Loads a configuration from a folder, or from one `.yaml`, `.yml` or `.sal` file with the lists beside it.
  ///
  /// Of a folder, all `.yaml` and `.sal` files at its top are read, in the order of their names.
  public static func load(
    path: String, packs: [any LanguagePack] = [], defaultLanguage: String = "en-US"
  ) -> LoadResult {
    let url = URL(fileURLWithPath: path).resolvingSymlinksInPath()
    var isFolder: ObjCBool = false
    let exists = FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
    let folder = isFolder.boolValue ? url : URL(fileURLWithPath: path).deletingLastPathComponent()
    var loader = ConfigurationLoader(packs: packs, defaultLanguage: defaultLanguage) { name in
      Self.contents(of: folder.appendingPathComponent(name))
    }
    guard exists else {
      loader.report(
        .error, "configuration.file.missing", "There is no file or folder \(path).",
        suggestion: "correct the path")
      return loader.finish()
    }
    guard isFolder.boolValue else {
      loader.add(contentsOf: URL(fileURLWithPath: path))
      return loader.finish()
    }
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
    } catch {
      loader.report(
        .error, "configuration.file.unreadable",
        "The folder \(path) cannot be read: \(ConfigurationLoader.reason(of: error)).")
      return loader.finish()
    }
    var found = 0
    for name in names where !name.hasPrefix(".") {
      switch ConfigurationFile(name: name, bytes: []).kind {
      case "yaml", "sal":
        found += 1
        loader.add(contentsOf: url.appendingPathComponent(name))
      case "yml": loader.reportIgnored(name)
      default: break
      }
    }
    if found == 0 { loader.reportNothingFound("There is no .yaml and no .sal file in \(path).") }
    return loader.finish()
  }

  /// The content of a file, if it is one: reading from a pipe or a device might never end.
  fileprivate static func contents(of url: URL) -> Result<[UInt8], ConfigurationLoader.UnreadableFile>? {
    let resolved = url.resolvingSymlinksInPath()
    guard let attributes = try? FileManager.default.attributesOfItem(atPath: resolved.path) else {
      return nil
    }
    guard attributes[.type] as? FileAttributeType == .typeRegular else {
      return .failure(.init(reason: "it is no regular file"))
    }
    guard let size = attributes[.size] as? NSNumber, size.intValue <= Self.fileSizeLimit else {
      return .failure(.init(reason: "it is larger than \(Self.fileSizeLimit / 1024 / 1024) MB"))
    }
    do {
      return .success(Array(try Data(contentsOf: resolved)))
    } catch {
      return .failure(.init(reason: ConfigurationLoader.reason(of: error)))
    }
  }
}

extension ConfigurationLoader {
  fileprivate mutating func add(contentsOf url: URL) {
    let name = url.lastPathComponent
    switch VoiceInterface.contents(of: url) {
    case .success(let bytes)?:
      self.add(ConfigurationFile(name: name, bytes: bytes))
    case .failure(let failure)?:
      self.report(
        .error, "configuration.file.unreadable", "The file cannot be read: \(failure.reason).",
        at: Self.start(of: name))
    case nil:
      self.report(.error, "configuration.file.missing", "The file is not there.", at: Self.start(of: name))
    }
  }

  fileprivate static func reason(of error: any Error) -> String {
    let text = (error as NSError).localizedDescription
    return text.hasSuffix(".") ? String(text.dropLast()) : text
  }

  fileprivate mutating func reportIgnored(_ name: String) {
    self.report(
      .warning, "configuration.file.yml",
      "Files named .yml are not part of a configuration; this one is left out.",
      suggestion: "name it \(name.dropLast(3))yaml", at: Self.start(of: name))
  }

  fileprivate mutating func reportNothingFound(_ message: String) {
    self.report(
      .error, "configuration.file.none", message,
      suggestion: "add app.yaml with templates: | and one template a line")
  }

  /// Checks all that was read.
  fileprivate mutating func finish() -> VoiceInterface.LoadResult {
    let imports = self.readImports()
    self.fillLookups(from: imports)
    let pack = self.interface.languagePack(among: self.packs)
    if pack == nil, !self.packs.isEmpty {
      let known = self.packs.map(\.language).joined(separator: ", ")
      self.report(
        .warning, "configuration.language.unknown",
        "Numbers, dates and standard variables are not available in the language \(self.interface.language).",
        suggestion: "one of \(known)")
    }
    var checker = SALChecker(
      documents: self.documents, imports: imports, pack: pack,
      intents: self.intentRanges.map { .init(name: $0.name, range: $0.range) },
      entities: self.entityRanges.map { .init(name: $0.name, range: $0.range) }, problems: self.diagnostics,
      usedElsewhere: Set(self.lookups.flatMap { [$0.input.name, $0.output.name] }))
    let (program, diagnostics) = checker.check()
    guard let program else {
      return VoiceInterface.LoadResult(interface: nil, diagnostics: diagnostics, sources: self.sources)
    }
    self.interface.program = program
    self.addUndeclared()
    return VoiceInterface.LoadResult(
      interface: self.interface, diagnostics: diagnostics, sources: self.sources)
  }

  /// Intents and entities that only templates name.
  private mutating func addUndeclared() {
    var intents = Set(self.interface.intents)
    var newIntents: [String] = []
    var entities: Set<String> = []
    for document in self.documents {
      for statement in document.statements {
        let expression =
          switch statement {
          case .definition(let definition): definition.expression
          case .template(let template): template.expression
          }
        expression.forEachItem { item in
          switch item.kind {
          case .intent(let name) where name != SALNames.filler:
            if intents.insert(name).inserted { newIntents.append(name) }
          case .entity(_, let name): entities.insert(name)
          case .word, .intent, .list, .permutation, .optional, .numbers, .variable: break
          }
        }
      }
    }
    self.interface.intents += newIntents
    for name in entities where self.interface.entities[name] == nil {
      self.interface.entities[name] = EntityDeclaration(name: name)
    }
  }
}
