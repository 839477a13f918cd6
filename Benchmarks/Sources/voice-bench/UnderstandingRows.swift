import Foundation

/// Understanding of texts and of speech with a grammar. There is no peer; the goals are numbers.
struct UnderstandingRows {
  let suite: Suite

  private var ours: String { "\(Suite.programs)/voice-bench" }

  /// (f) Texts per second and core.
  func matching() throws -> Measured {
    let rounds = try (0..<self.suite.rounds).map { _ in
      try Child.run(self.ours, ["match", "20000"]).decoded(MatchFigures.self)
    }
    let utterances = rounds.first?.utterances ?? .nan
    let tolerant = rounds.map(\.tolerantPerSecond)
    return Measured(
      rows: [
        Row(
          "(f) texts understood per second and core", atLeast: 50_000, rounds.map(\.exactPerSecond),
          unit: "/s",
          notes: [
            "a grammar of \(String(format: "%.2g", utterances)) utterances, \(Self.percent(rounds.map(\.exactShare))) of its samples understood, values in their normal form",
            "with a word too many in each: \(Row.text(Figures.median(tolerant)))/s, \(Self.percent(rounds.map(\.tolerantShare))) understood",
          ])
      ],
      raw: [
        "f": rounds.map {
          [
            "exactPerSecond": $0.exactPerSecond, "tolerantPerSecond": $0.tolerantPerSecond,
            "exactShare": $0.exactShare, "tolerantShare": $0.tolerantShare, "utterances": $0.utterances,
          ]
        }
      ])
  }

  /// (g) From the text of a large configuration to its grammar.
  func compilation() throws -> Measured {
    let rounds = try (0..<self.suite.rounds).map { _ in
      try Child.run(self.ours, ["compile"]).decoded(CompileFigures.self)
    }
    let first = rounds.first
    return Measured(
      rows: [
        Row(
          "(g) compilation of a large configuration", goal: "none", rounds.map { $0.checking + $0.compiling },
          unit: " ms", verdict: .information,
          notes: [
            "a list of 10,000 values and a permutation of seven items with standard variables: \(first?.states ?? 0) states, "
              + "\(first?.arcs ?? 0) arcs, \(String(format: "%.2g", first?.utterances ?? .nan)) utterances",
            "reading and checking \(Row.text(Figures.median(rounds.map(\.checking)))) ms, compiling \(Row.text(Figures.median(rounds.map(\.compiling)))) ms of CPU time, nothing cached",
          ])
      ],
      raw: ["g": rounds.map { ["checking": $0.checking, "compiling": $0.compiling] }])
  }

  /// (h) Streams on a core, and the time to the final result.
  func grammar() throws -> Measured {
    let spoken = try SpokenCommands(interface: self.suite.interface)
    defer { spoken.remove() }
    let rounds = try (0..<self.suite.rounds).map { _ in
      try Child.run(self.ours, ["grammar", self.suite.interface] + spoken.files).decoded(GrammarFigures.self)
    }
    let understood = rounds.map { "\($0.understood)" }.joined(separator: ", ")
    return Measured(
      rows: [
        Row(
          "(h) real-time streams per core, grammar", atLeast: 40, rounds.map { 1 / $0.cpuPerAudioSecond },
          unit: " streams",
          notes: [
            "from CPU per second of audio up to the meaning, the second pass included; \(spoken.files.count) spoken commands, understood in each round: \(understood)"
          ]),
        Row(
          "(h) end of audio to final p95, grammar", atMost: 10,
          rounds.map { Figures.percentile($0.finals, 0.95) },
          unit: " ms",
          notes: [
            "p50 \(Row.text(Figures.median(rounds.flatMap(\.finals)))) ms; 0.3 s of silence are heard before the end, as from a button that is released"
          ]),
      ],
      raw: [
        "h": rounds.map {
          [
            "cpuPerAudioSecond": $0.cpuPerAudioSecond, "p50": Figures.median($0.finals),
            "p95": Figures.percentile($0.finals, 0.95), "understood": Double($0.understood),
          ]
        }
      ])
  }

  private static func percent(_ shares: [Double]) -> String {
    "\(Row.text(Figures.median(shares) * 100)) %"
  }
}

/// Commands of a configuration, spoken by a voice of flite, as raw files in a temporary folder.
struct SpokenCommands {
  let folder: URL
  let files: [String]

  /// Speaks the sentences that lie beside the configuration.
  init(interface: String) throws {
    let list = URL(filePath: interface).deletingLastPathComponent().appending(path: "sentences.txt")
    let texts = try String(contentsOf: list, encoding: .utf8).split(whereSeparator: \.isNewline)
      .map { $0.replacing(#/^\*\S+ /#, with: "").replacing(#/\[([^\]|]*)[^\]]*\]\([^)]*\)/#) { $0.1 } }
    self.folder = FileManager.default.temporaryDirectory.appending(path: "voice-bench-commands-\(getpid())")
    try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
    var files: [String] = []
    for (index, text) in texts.enumerated() {
      let wave = self.folder.appending(path: "\(index).wav").path
      _ = try Child.run("flite", ["-voice", "rms", "-t", String(text), "-o", wave])
      let samples = try Data(contentsOf: URL(filePath: wave)).dropFirst(44)
      let raw = self.folder.appending(path: "\(index).raw").path
      try (samples + Data(count: 2 * 4_800)).write(to: URL(filePath: raw))
      files.append(raw)
    }
    self.files = files
  }

  func remove() {
    try? FileManager.default.removeItem(at: self.folder)
  }
}
