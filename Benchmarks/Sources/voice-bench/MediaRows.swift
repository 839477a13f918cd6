import Foundation

/// The audio of calls against aiortc: the same calls within one process.
struct MediaRows {
  let suite: Suite
  private static let calls = 50
  private static let seconds = 10

  private typealias Reading = [String: Double]

  func measure() throws -> Measured {
    let python = ProcessInfo.processInfo.environment["VOICE_PEERS_PYTHON"] ?? ".peers/bin/python"
    func run(_ program: String, _ script: [String], _ calls: Int, _ seconds: Int) throws -> Reading {
      try Child.run(program, script + ["load", "\(calls)", "\(seconds)"], seconds: 180).decoded(Reading.self)
    }
    var own: [(one: Reading, many: Reading)] = []
    var peer: [(one: Reading, many: Reading)] = []
    for _ in 0..<self.suite.rounds {
      let media = "\(Suite.programs)/bench-media"
      own.append((try run(media, [], 5, 2), try run(media, [], Self.calls, Self.seconds)))
      let script = ["Benchmarks/Peers/call_media.py"]
      peer.append((try run(python, script, 5, 2), try run(python, script, Self.calls, Self.seconds)))
    }
    func values(_ readings: [Reading], _ key: String) -> [Double] { readings.compactMap { $0[key] } }
    func ratios(_ ours: [Reading], _ theirs: [Reading], _ key: String) -> [Double] {
      zip(values(ours, key), values(theirs, key)).map { $0 / $1 }
    }
    func text(_ readings: [Reading], _ key: String, _ factor: Double = 1) -> String {
      Row.text(Figures.median(values(readings, key)) * factor)
    }
    let (few, many) = (own.map(\.one), own.map(\.many))
    let (fewPeers, manyPeers) = (peer.map(\.one), peer.map(\.many))
    return Measured(
      rows: [
        Row(
          "(j) from the call to the first sound, against aiortc", atMost: 0.5,
          ratios(few, fewPeers, "firstAudio"),
          notes: [
            "ours \(text(few, "firstAudio")) ms, aiortc \(text(fewPeers, "firstAudio")) ms; median of 5 calls, one after the other"
          ]),
        Row(
          "(j) CPU per call end at \(Self.calls) calls, against aiortc", atMost: 0.5,
          ratios(many, manyPeers, "cpuPerEnd"),
          notes: [
            "ours \(text(many, "cpuPerEnd", 100)) % of a core, aiortc \(text(manyPeers, "cpuPerEnd", 100)) %; Opus, both ends in one process"
          ]),
        Row(
          "(j) memory per call end at \(Self.calls) calls, against aiortc", goal: "-",
          ratios(many, manyPeers, "megabytesPerEnd"), unit: "x", verdict: .information,
          notes: [
            "ours \(text(many, "megabytesPerEnd")) MB, aiortc \(text(manyPeers, "megabytesPerEnd")) MB; threads \(text(many, "threads")) and \(text(manyPeers, "threads"))"
          ]),
      ],
      raw: [
        "media.voice.few": few, "media.voice.many": many, "media.aiortc.few": fewPeers,
        "media.aiortc.many": manyPeers,
      ])
  }
}
