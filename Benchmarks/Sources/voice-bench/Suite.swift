import Foundation

/// One run of all measurements.
struct Suite {
  var peers = ""
  var results = ""
  /// The configuration that is spoken in grammar mode.
  var interface = ""
  var rounds = 3
  var parts: Set<String> = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"]
  private let started = ContinuousClock.now

  init(arguments: ArraySlice<String>) throws {
    var rest = arguments
    while let name = rest.popFirst() {
      guard let value = rest.popFirst() else { throw Child.Failure(description: "\(name) needs a value") }
      switch name {
      case "--peers": self.peers = value
      case "--results": self.results = value
      case "--interface": self.interface = value
      case "--rounds": self.rounds = max(1, Int(value) ?? 3)
      case "--only": self.parts = Set(value.split(separator: ",").map(String.init))
      default: throw Child.Failure(description: "unknown option \(name)")
      }
    }
  }

  /// The folder of this program and of `bench-server`.
  static let programs = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    .path

  /// How long the run has taken so far.
  var elapsed: Duration { ContinuousClock.now - self.started }

  func run() async throws {
    let machine = Machine()
    print(machine.description)
    print(
      """
      Ratios against peers that run in turn with ours (\(self.rounds) rounds): median (least–most). Times and CPU differ with the
      machine and its load; the ratios are the result. ✔ all rounds meet the goal, ✖ none does, ? some do.

      """)
    var rows: [Row] = []
    var raw: [String: [[String: Double]]] = [:]
    let recordings = try Recordings()
    defer { recordings.remove() }
    func add(_ part: String, _ measure: () throws -> Measured) {
      guard self.parts.contains(part) else { return }
      do {
        let measured = try measure()
        for row in measured.rows { print(row.line) }
        rows += measured.rows
        raw.merge(measured.raw) { $1 }
      } catch {
        print("✖ (\(part)) could not be measured: \(error)")
        rows.append(Row("(\(part))", goal: "measured", [], unit: "", verdict: .missed, notes: ["\(error)"]))
      }
    }
    add("a") { try EngineRows(suite: self, recordings: recordings).overhead() }
    add("b") { try EngineRows(suite: self, recordings: recordings).finals() }
    if !self.parts.isDisjoint(with: ["c", "d"]) {
      add(self.parts.contains("c") ? "c" : "d") { try ServerRows(suite: self).measure() }
    }
    add("e") { try EngineRows(suite: self, recordings: recordings).density() }
    add("f") { try UnderstandingRows(suite: self).matching() }
    add("g") { try UnderstandingRows(suite: self).compilation() }
    add("h") { try UnderstandingRows(suite: self).grammar() }
    add("i") { try CallRows(suite: self).measure() }
    add("j") { try MediaRows(suite: self).measure() }
    add("k") { try SpeechRows(suite: self).measure() }
    let after = Machine.load
    let met = rows.count { $0.verdict == .met }
    let missed = rows.count { $0.verdict == .missed }
    let undecided = rows.count { $0.verdict == .undecided }
    print("\nGoals met: \(met), missed: \(missed), undecided: \(undecided). Load at the end: \(after)")
    try self.keep(Record(machine: machine, loadAfter: after, rounds: self.rounds, rows: rows, raw: raw))
  }

  private func keep(_ record: Record) throws {
    guard !self.results.isEmpty else { return }
    try FileManager.default.createDirectory(atPath: self.results, withIntermediateDirectories: true)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    let name = Date().formatted(.iso8601).replacing(":", with: "")
    let path = "\(self.results)/\(name).json"
    try encoder.encode(record).write(to: URL(filePath: path))
    print("Raw figures: \(path)")
  }
}

/// What a part of the run gives.
struct Measured {
  var rows: [Row]
  var raw: [String: [[String: Double]]]
}

/// What is kept of a run.
struct Record: Codable {
  var machine: Machine
  var loadAfter: String
  var rounds: Int
  var rows: [Row]
  var raw: [String: [[String: Double]]]
}
