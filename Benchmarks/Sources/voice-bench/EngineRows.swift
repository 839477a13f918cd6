import Foundation
import PocketSphinxRecognition

/// The recognition pipeline against the C library.
struct EngineRows {
  let suite: Suite
  let recordings: Recordings

  private var options: [String] {
    get throws { EngineSubject.options(try PocketSphinxEngine().configuration) }
  }

  private var ours: String { "\(Suite.programs)/voice-bench" }
  private var loop: String { "\(self.suite.peers)/engine_loop" }

  /// (a) CPU time of whole processes on the same audio, less that of the same processes on a tenth of a second of silence.
  func overhead() throws -> Measured {
    let options = try self.options
    let environment = ["ENGINE_OPTIONS": options.joined(separator: " ")]
    let programs: [(name: String, run: (String) throws -> Double)] = [
      (
        "continuous",
        { try Child.run("pocketsphinx_continuous", ["-infile", $0, "-logfn", "/dev/null"] + options).cpu }
      ),
      ("ours", { try Child.run(self.ours, ["recognize", $0]).cpu }),
      ("loop", { try Child.run(self.loop, ["cpu", $0], environment: environment).cpu }),
    ]
    var rounds: [[String: Double]] = []
    // The goal is closer to one than the noise of a shared machine: more rounds than elsewhere.
    for round in 0..<(self.suite.rounds + 2) {
      if round >= self.suite.rounds, self.suite.elapsed > .seconds(120) { break }
      var figures: [String: Double] = [:]
      // Who goes first changes, so that a drift of the machine favours nobody.
      for index in programs.indices {
        let program = programs[(index + round) % programs.count]
        figures[program.name + "Load"] = try program.run(self.recordings.empty)
        figures[program.name] = try program.run(self.recordings.all)
      }
      rounds.append(figures)
    }
    func spent(_ name: String, _ figures: [String: Double]) -> Double {
      (figures[name] ?? .nan) - Figures.median(rounds.compactMap { $0[name + "Load"] })
    }
    let overContinuous = rounds.map { spent("ours", $0) / spent("continuous", $0) }
    let overLoop = rounds.map { spent("ours", $0) / spent("loop", $0) }
    func least(_ name: String) -> Double { rounds.map { spent(name, $0) }.min() ?? .nan }
    return Measured(
      rows: [
        Row(
          "(a) CPU of recognition / pocketsphinx_continuous -infile", atMost: 1.03, overContinuous,
          notes: [
            "the least CPU of ours over the least of the peer, which other work on the machine disturbs least: "
              + "\(Row.text(least("ours") / least("continuous")))x",
            "\(Row.text(self.recordings.allSeconds)) s of speech, process CPU less that of a run on 0.1 s; nearly all of it is the search of the C library",
            "that program splits the audio into other blocks; against a C loop with our blocks and a hypothesis per block: "
              + "\(Row.text(Figures.median(overLoop)))x (\(Row.text(overLoop.min() ?? .nan))–\(Row.text(overLoop.max() ?? .nan)))",
          ])
      ], raw: ["a": rounds])
  }

  /// (b) From `finish()` to the last events, against `ps_end_utt` and `ps_get_hyp`.
  func finals() throws -> Measured {
    let environment = ["ENGINE_OPTIONS": try self.options.joined(separator: " ")]
    let files = self.recordings.cut
    let repetitions = 2
    var rounds: [[String: Double]] = []
    var ratios: [Double] = []
    for round in 0..<self.suite.rounds {
      func ours() throws -> [Double] {
        try Child.run(self.ours, ["final", "\(repetitions)"] + files).decoded(FinalTimes.self).files.map(
          Figures.median)
      }
      func peer() throws -> [Double] {
        try Child.run(self.loop, ["final", "\(repetitions)"] + files, environment: environment).decoded(
          FinalTimes.self
        ).files
          .map(Figures.median)
      }
      let mine: [Double]
      let theirs: [Double]
      if round.isMultiple(of: 2) {
        mine = try ours()
        theirs = try peer()
      } else {
        theirs = try peer()
        mine = try ours()
      }
      // Long ends count as much as they take: all files together.
      ratios.append(mine.reduce(0, +) / theirs.reduce(0, +))
      rounds.append([
        "oursMedian": Figures.median(mine), "peerMedian": Figures.median(theirs),
        "oursSum": mine.reduce(0, +),
        "peerSum": theirs.reduce(0, +), "medianRatio": Figures.median(zip(mine, theirs).map { $0 / $1 }),
        "oursP95": Figures.percentile(mine, 0.95), "peerP95": Figures.percentile(theirs, 0.95),
      ])
    }
    let perFile = rounds.compactMap { $0["medianRatio"] }
    return Measured(
      rows: [
        Row(
          "(b) end of utterance to final / ps_end_utt + ps_get_hyp", atMost: 1.2, ratios,
          notes: [
            "\(files.count) recordings cut while speech goes on, sum of the ends; median ratio of single files \(Row.text(Figures.median(perFile)))x",
            "ours also gives word times and confidences, and crosses to the recogniser's queue and back",
          ])
      ], raw: ["b": rounds])
  }

  /// (e) Streams in real time on one core.
  func density() throws -> Measured {
    let core = Machine.idlestCore()
    let result = try Child.run(
      "taskset", ["-c", "\(core)", self.ours, "density", "1,2,3,4,5,6,8", "6", self.recordings.all],
      seconds: 150
    )
    let levels = try result.decoded([DensityLevel].self)
    let carried = Double(levels.last { $0.p95 <= DensitySubject.bound }?.streams ?? 0)
    let estimate = 1 / Figures.median(levels.map(\.cpuPerAudioSecond))
    let seen = levels.map { "\($0.streams): \(Row.text($0.p95))" }.joined(separator: ", ")
    return Measured(
      rows: [
        Row(
          "(e) real-time streams on one core, language model", goal: ">= 4", [carried], unit: " streams",
          verdict: carried >= 4 ? .met : .missed,
          notes: [
            "p95 of partial results within \(Int(DensitySubject.bound)) ms, without a network; streams: p95 in ms: \(seen)",
            "from CPU per second of audio: \(Row.text(estimate)) streams per core; other work on the core counts against the measured number only",
          ])
      ],
      raw: [
        "e": levels.map {
          [
            "streams": Double($0.streams), "p50": $0.p50, "p95": $0.p95,
            "cpuPerAudioSecond": $0.cpuPerAudioSecond,
          ]
        }
      ])
  }
}
