import Foundation
import SpeechUnderstanding
import Testing
import VoiceTesting

/// Configurations with the constructs that published ones have.
struct VoiceInterfaceTests {
  private static let shop = """
    lang: en-GB
    fast_intent_detector: true
    asr_biasing: moderate
    adaptation_audio_package: 'e47069ae-2b1c-4f5b-9ee8-4946a110a296'
    silence_triggered_segmentation: 360
    imports:
      - name: brand_alias
        source: brand.csv
        field: 1
      - name: brand_key
        source: brand.csv
        field: 2
      - {name: fruit, source: fruit.csv}
    entities:
      - name: brand
        type: lookup
        input_items: $brand_alias
        output_items: $brand_key
      - name: amount
        type: number
      - fruit
    intents:
      - name: filter
      - reset
    templates: |-
      brand = $brand_alias(brand)\u{20}
      phrases = {0.1: now} [show me|select {for}| i want to [see|buy] |find {me}| ]
      parts = ![{0.33: $brand {[2: shoes | 1: boots]}} | {0.2: on sale}]

      clear_phrases = [
        clear {all}
        start over
        ![{please} | reset [my|the] search]
      ]
    \u{20}\u{20}
      all = [
        5: *filter {$phrases} $brand {$parts} *reset {0.1: now} $clear_phrases
        *filter {$phrases {[a | some |new]}} [1..12](amount) $fruit(fruit)
        1: *reset $clear_phrases
      ]
      \u{20}
      $all {and $all}
    """

  private static let files = [
    ConfigurationFile(name: "app.yaml", text: shop),
    ConfigurationFile(name: "brand.csv", text: "Adidas,1289\r\nX  Tango,1289\r\n\"Levi's\",77\r\n"),
    ConfigurationFile(name: "fruit.csv", text: "apple\nblood orange\n"),
  ]

  @Test func loadsEverythingThatAConfigurationHas() throws {
    let result = VoiceInterface.load(files: Self.files, packs: [TinyPack()])
    #expect(result.rendered() == "")
    let interface = try #require(result.interface)
    #expect(interface.language == "en-GB")
    #expect(interface.intents == ["filter", "reset"])
    #expect(interface.entities.keys.sorted() == ["amount", "brand", "fruit"])
    #expect(interface.entities["amount"]?.type == .number)
    #expect(interface.entities["brand"]?.type == .lookup)
    #expect(interface.entities["brand"]?.table == ["adidas": "1289", "x tango": "1289", "levi's": "77"])
    #expect(
      interface.program.variables.keys.sorted() == [
        "all", "brand", "brand_alias", "clear_phrases", "fruit", "parts", "phrases",
      ])
    var options = VoiceInterfaceOptions()
    options.fastIntentDetector = true
    options.asrBiasing = "moderate"
    options.adaptationAudioPackage = "E47069AE-2B1C-4F5B-9EE8-4946A110A296"
    options.silenceTriggeredSegmentation = .milliseconds(360)
    #expect(interface.options == options)
    #expect(interface.program.templates.map(\.range.line) == [42])
    #expect(interface.program.templates.map(\.range.column) == [3])
  }

  @Test func loadsTextInSAL() throws {
    let text = "languages = [\n    Go\n    Swift\n]\n*filter show {me} $languages(language)\n"
    let interface = try #require(
      VoiceInterface.load(files: [ConfigurationFile(name: "a.sal", text: text)]).interface)
    #expect(interface.intents == ["filter"])
    #expect(interface.entities["language"] == EntityDeclaration(name: "language"))
    #expect(interface.language == "en-US")
  }

  @Test func loadsAConfigurationWithoutTemplates() throws {
    let result = VoiceInterface.load(files: [
      ConfigurationFile(
        name: "a.yaml", text: "model: large-highaccuracy\nsilence_triggered_segmentation: 720\n")
    ])
    #expect(result.diagnostics == [])
    #expect(result.interface?.options.model == "large-highaccuracy")
    #expect(result.interface?.options.silenceTriggeredSegmentation == .milliseconds(720))
  }

  @Test func loadsTheThresholdOfRejection() {
    func load(_ value: String) -> VoiceInterface.LoadResult {
      VoiceInterface.load(files: [
        ConfigurationFile(name: "a.yaml", text: "rejection_threshold: \(value)\n")
      ])
    }
    #expect(load("0.8").interface?.options.rejectionThreshold == 0.8)
    #expect(load("0.8").diagnostics == [])
    for value in ["2", "-0.1", "nan", "much", "[1]"] {
      #expect(load(value).interface?.options.rejectionThreshold == nil)
      #expect(load(value).diagnostics.map(\.severity) == [.error], "\(value)")
    }
  }

  @Test func findsLinesOfFoldedTemplates() throws {
    let text = """
      templates: >
        rooms = [kitchen|hall|living
        room](room)

        things = [
            lamp
            radio
        ]

        *on turn on $things in
        the $rooms


        *off turn off $thing in the
        $rooms
      """
    let result = VoiceInterface.load(files: [ConfigurationFile(name: "a.yaml", text: text)])
    #expect(
      problems(in: result.diagnostics) == [
        "14:17-23 error sal.variable.undefined There is no variable thing. [did you mean $things?]"
      ])
    let corrected = VoiceInterface.load(files: [
      ConfigurationFile(name: "a.yaml", text: text.replacing("$thing ", with: "$things "))
    ])
    let program = try #require(corrected.interface?.program)
    #expect(
      SALPrinter.text(of: program)
        == "rooms = [kitchen | hall | living room](room)\nthings = [lamp | radio]\n"
        + "*on turn on $things in the $rooms\n*off turn off $things in the $rooms\n")
    #expect(program.templates.last?.range.endLine == 15)
  }

  @Test(arguments: [
    ("templates: |2\n    *i $x\n", "2:8-10"), ("templates: |\n\n     *i $x\n", "3:9-11"),
    ("templates: | # text\n  *i\t$x\n", "2:6-8"), ("templates: '*i it''s $x'\n", "1:22-24"),
    ("templates: \"*i \\\"$x\"\n", "1:18-20"), ("{templates: '*i a\n\n\n *j $x'}\n", "4:5-7"),
    ("templates: |+\n  *i $x\n\n", "2:6-8"), ("\u{feff}templates: >-\n  *i é\n  👩‍👩‍👧 $x", "3:5-7"),
  ])
  func findsPlacesInAllKindsOfText(text: String, place: String) {
    let result = VoiceInterface.load(files: [ConfigurationFile(name: "a.yaml", text: text)])
    let undefined = result.diagnostics.filter { $0.code == "sal.variable.undefined" }
    #expect(problems(in: undefined).map { $0.split(separator: " ")[0] } == [Substring(place)])
  }

  @Test func usesDefinitionsOfOtherFilesAndKeepsTheirOrder() throws {
    let first = ConfigurationFile(name: "a.yaml", text: "templates: |\n  x = [a|b]\nentities:\n- e")
    let second = ConfigurationFile(name: "b.yaml", text: "templates: |\n  *i $x(e)\nlang: en-US")
    #expect(VoiceInterface.load(files: [first, second]).interface != nil)
    #expect(VoiceInterface.load(files: [second, first]).interface == nil)
  }

  // MARK: Folders

  @Test func loadsFoldersAndFiles() async throws {
    try await withTemporaryFolder { folder in
      for file in Self.files { try Data(file.bytes).write(to: folder.appending(path: file.name)) }
      try Data("hello".utf8).write(to: folder.appending(path: "README.md"))
      try Data(".hidden: 1".utf8).write(to: folder.appending(path: ".hidden.yaml"))
      let expected = VoiceInterface.load(files: Self.files, packs: [TinyPack()]).interface
      #expect(VoiceInterface.load(path: folder.path, packs: [TinyPack()]).interface == expected)
      let file = VoiceInterface.load(path: folder.appending(path: "app.yaml").path, packs: [TinyPack()])
      #expect(file.interface == expected)
      #expect(file.diagnostics == [])
    }
  }

  @Test func leavesOutFilesThatTheServiceLeftOut() async throws {
    try await withTemporaryFolder { folder in
      let path = folder.appending(path: "app.yml")
      try Data("templates: |\n  *i x\n".utf8).write(to: path)
      let result = VoiceInterface.load(path: folder.path)
      #expect(
        problems(in: result.diagnostics) == [
          "error configuration.file.none There is no .yaml and no .sal file in \(folder.path). [add app.yaml with templates: | and one template a line]",
          "1:1-1 warning configuration.file.yml Files named .yml are not part of a configuration; this one is left out. [name it app.yaml]",
        ])
      #expect(VoiceInterface.load(path: path.path).interface?.intents == ["i"])
    }
  }

  @Test func saysWhichFileCannotBeRead() async throws {
    try await withTemporaryFolder { folder in
      let missing = folder.appending(path: "no.yaml").path
      #expect(
        problems(in: VoiceInterface.load(path: missing).diagnostics) == [
          "error configuration.file.missing There is no file or folder \(missing). [correct the path]"
        ])
      try FileManager.default.createDirectory(
        at: folder.appending(path: "list.csv"), withIntermediateDirectories: false)
      let app =
        "imports: [{name: x, source: list.csv}, {name: y, source: ../list.csv}, {name: z, source: no.csv}]\ntemplates: '*i $x $y $z'"
      try Data(app.utf8).write(to: folder.appending(path: "app.yaml"))
      let result = VoiceInterface.load(path: folder.path)
      #expect(result.interface == nil)
      #expect(
        problems(in: result.diagnostics) == [
          "1:29-37 error configuration.file.unreadable The file list.csv cannot be read: it is no regular file.",
          "1:58-69 error configuration.import.path The file of an import is in the folder of the configuration. [source: list.csv]",
          "1:90-96 error configuration.import.file-missing There is no file no.csv beside the configuration. [put it there, or correct the name]",
        ])
    }
  }
}
