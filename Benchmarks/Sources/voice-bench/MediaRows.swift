import Foundation

/// The audio of calls against aiortc: the same calls within one process, with a tone for the first sound, then with speech.
///
/// With many calls a program that cannot keep up leaves audio out and so takes less of the machine: what counts is how much
/// CPU a second takes that somebody has heard.
struct MediaRows {
  let suite: Suite
  private static let calls = 50
  private static let seconds = 10

  private typealias Reading = [String: Double]

  func measure() throws -> Measured {
    let python = ProcessInfo.processInfo.environment["VOICE_PEERS_PYTHON"] ?? ".peers/bin/python"
    let speech = try CallSpeech()
    defer { speech.remove() }
    func few(_ program: String, _ script: [String]) throws -> Reading {
      try Child.run(program, script + ["load", "5", "2"], seconds: 180).decoded(Reading.self)
    }
    func many(_ program: String, _ script: [String], threads: [String]) throws -> Reading {
      let arguments = ["load", "\(Self.calls)", "\(Self.seconds)"] + threads + [speech.sentence]
      var reading = try Child.run(program, script + arguments, seconds: 180).decoded(Reading.self)
      reading["cpuPerHeardSecond"] = (reading["cpuPerEnd"] ?? .nan) / (reading["heard"] ?? .nan)
      return reading
    }
    func allocations(_ program: String) throws -> Reading {
      let counter = URL(filePath: "\(self.suite.peers)/libcount_malloc.so").path
      return try Child.run(
        program, ["allocations", "5", "10"],
        environment: ["LD_PRELOAD": counter, "COUNTED_THREADS": "NIO-ELT"]
      ).decoded(Reading.self)
    }
    let threads = ["\(ProcessInfo.processInfo.activeProcessorCount)"]
    var own: [(one: Reading, many: Reading)] = []
    var peer: [(one: Reading, many: Reading)] = []
    var memory: [Reading] = []
    for _ in 0..<self.suite.rounds {
      let media = "\(Suite.programs)/bench-media"
      own.append((try few(media, []), try many(media, [], threads: threads)))
      memory.append(try allocations(media))
      let script = ["Benchmarks/Peers/call_media.py"]
      peer.append((try few(python, script), try many(python, script, threads: [])))
    }
    func values(_ readings: [Reading], _ key: String) -> [Double] { readings.compactMap { $0[key] } }
    func ratios(_ ours: [Reading], _ theirs: [Reading], _ key: String) -> [Double] {
      zip(values(ours, key), values(theirs, key)).map { $0 / $1 }
    }
    func text(_ readings: [Reading], _ key: String, _ factor: Double = 1) -> String {
      Row.text(Figures.median(values(readings, key)) * factor)
    }
    let (fewOwn, manyOwn) = (own.map(\.one), own.map(\.many))
    let (fewPeers, manyPeers) = (peer.map(\.one), peer.map(\.many))
    return Measured(
      rows: [
        Row(
          "(j) from the call to the first sound, against aiortc", atMost: 0.5,
          ratios(fewOwn, fewPeers, "firstAudio"),
          notes: [
            "ours \(text(fewOwn, "firstAudio")) ms, aiortc \(text(fewPeers, "firstAudio")) ms; median of 5 calls, one after the other"
          ]),
        Row(
          "(j) CPU per end and second that is heard at \(Self.calls) calls, against aiortc", atMost: 0.5,
          ratios(manyOwn, manyPeers, "cpuPerHeardSecond"),
          notes: [
            "ours \(text(manyOwn, "cpuPerHeardSecond", 100)) % of a core, aiortc \(text(manyPeers, "cpuPerHeardSecond", 100)) %; Opus, both ends in one process",
            "heard of what was said: ours \(text(manyOwn, "heard", 100)) %, aiortc \(text(manyPeers, "heard", 100)) %; CPU per end as it was: \(text(manyOwn, "cpuPerEnd", 100)) % and \(text(manyPeers, "cpuPerEnd", 100)) %",
          ]),
        Row(
          "(j) memory per call end at \(Self.calls) calls, against aiortc", goal: "-",
          ratios(manyOwn, manyPeers, "megabytesPerEnd"), unit: "x", verdict: .information,
          notes: [
            "ours \(text(manyOwn, "megabytesPerEnd")) MB, aiortc \(text(manyPeers, "megabytesPerEnd")) MB; threads \(text(manyOwn, "threads")) and \(text(manyPeers, "threads"))"
          ]),
        Row(
          "(j) allocations per packet sent or received", goal: "-", values(memory, "allocationsPerPacket"),
          unit: "", verdict: .information,
          notes: ["by the thread that carries 5 calls; most are made in libsrtp2, see docs/benchmarks.md"]),
      ],
      raw: [
        "media.voice.few": fewOwn, "media.voice.many": manyOwn, "media.aiortc.few": fewPeers,
        "media.aiortc.many": manyPeers, "media.voice.allocations": memory,
      ])
  }
}
