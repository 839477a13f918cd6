import Foundation

/// What the audio of calls is like: from mouth to ear, and speech whose packets are lost on the way.
struct SpeechRows {
  let suite: Suite
  private static let losses = [0, 5, 10]
  /// Frames with sound of which the delay is measured.
  private static let sounds = 40

  private typealias Reading = [String: Double]

  /// Who sends and hears the recordings.
  private enum Party: String, CaseIterable {
    case voice, aiortc, chromium

    /// The program with the beginning of its arguments.
    var command: [String] {
      let python = ProcessInfo.processInfo.environment["VOICE_PEERS_PYTHON"] ?? ".peers/bin/python"
      return switch self {
      case .voice: ["\(Suite.programs)/bench-media"]
      case .aiortc: [python, "Benchmarks/Peers/call_media.py"]
      case .chromium: [python, "Benchmarks/Peers/browser_media.py"]
      }
    }

    func run(_ arguments: [String], environment: [String: String] = [:]) throws -> Data {
      let command = self.command + arguments
      return try Child.run(command[0], Array(command[1...]), environment: environment, seconds: 120).output
    }
  }

  func measure() throws -> Measured {
    let speech = try CallSpeech()
    defer { speech.remove() }
    let folder = speech.folder
    var delays: [Party: [Double]] = [:]
    var likeness: [Int: [Party: [Double]]] = [:]
    for round in 1...self.suite.rounds {
      for party in [Party.voice, .aiortc] {
        let reading = try JSONDecoder().decode(
          Reading.self, from: try party.run(["delay", "\(Self.sounds)"]))
        delays[party, default: []].append(reading["p50"] ?? .nan)
      }
      for loss in Self.losses {
        for party in Party.allCases {
          likeness[loss, default: [:]][party, default: []].append(
            try self.cross(folder, by: party, loss: loss, seed: round))
        }
      }
    }
    return Measured(rows: Self.rows(delays, likeness), raw: Self.raw(delays, likeness))
  }

  /// Returns how like the original the speech is that was heard, by PESQ from 1 to 4.6.
  private func cross(_ folder: URL, by party: Party, loss: Int, seed: Int) throws -> Double {
    let environment = [
      "LD_PRELOAD": URL(filePath: "\(self.suite.peers)/liblossy_udp.so").path, "LOSS_PERCENT": "\(loss)",
      "LOSS_SEED": "\(seed)",
    ]
    _ = try party.run(["speech", folder.path], environment: environment)
    let python = Party.aiortc.command[0]
    let meter = try Child.run(python, ["Benchmarks/Peers/speech_quality.py", folder.path])
    return try meter.decoded(Reading.self)["mean"] ?? .nan
  }

  private static func rows(
    _ delays: [Party: [Double]], _ likeness: [Int: [Party: [Double]]]
  ) -> [Row] {
    func ratios(_ values: [Party: [Double]]) -> [Double] {
      zip(values[.voice] ?? [], values[.aiortc] ?? []).map { $0 / $1 }
    }
    func text(_ values: [Party: [Double]], _ party: Party) -> String {
      Row.text(Figures.median(values[party] ?? []))
    }
    let delay = Row(
      "(k) from mouth to ear, against aiortc", atMost: 1, ratios(delays),
      notes: [
        "ours \(text(delays, .voice)) ms, aiortc \(text(delays, .aiortc)) ms; median of \(Self.sounds) sounds"
      ])
    return [delay]
      + Self.losses.map { loss in
        let values = likeness[loss] ?? [:]
        return Row(
          "(k) speech at \(loss) % loss (PESQ), against aiortc", atLeast: loss == 0 ? 1 : 1.2, ratios(values),
          unit: "x",
          notes: [
            "ours \(text(values, .voice)), aiortc \(text(values, .aiortc)), Chromium \(text(values, .chromium))"
          ])
      }
  }

  private static func raw(
    _ delays: [Party: [Double]], _ likeness: [Int: [Party: [Double]]]
  ) -> [String: [Reading]] {
    var raw: [String: [Reading]] = [:]
    for (party, values) in delays { raw["delay.\(party)"] = values.map { ["p50": $0] } }
    for (loss, parties) in likeness {
      for (party, values) in parties { raw["speech.\(party).\(loss)"] = values.map { ["pesq": $0] } }
    }
    return raw
  }
}
