import Foundation

/// The server against a C++ server and against grpc-swift-2 alone, driven by one C++ client.
struct ServerRows {
  let suite: Suite

  private enum Subject: String, CaseIterable {
    case cpp, stock, voice
  }

  private typealias Reading = [String: Double]

  private struct Load {
    var name: String
    var streams: Int
    var messages: Int
    var warmup: Int
    var interval: Int
  }

  private static let loads = [
    Load(name: "one", streams: 1, messages: 3000, warmup: 500, interval: 0),
    Load(name: "hundred", streams: 100, messages: 200, warmup: 30, interval: 0),
    Load(name: "paced", streams: 100, messages: 40, warmup: 5, interval: 100),
  ]
  private static let idleStreams = 1000

  func measure() throws -> Measured {
    var rounds: [[Subject: [String: Reading]]] = []
    for round in 0..<self.suite.rounds {
      var figures: [Subject: [String: Reading]] = [:]
      for index in Subject.allCases.indices {
        let subject = Subject.allCases[(index + round) % Subject.allCases.count]
        figures[subject] = try self.measure(subject)
      }
      rounds.append(figures)
    }
    var rows: [Row] = []
    if self.suite.parts.contains("c") { rows += self.messageRows(rounds) }
    if self.suite.parts.contains("d") { rows += self.idleRows(rounds) }
    var raw: [String: [[String: Double]]] = [:]
    for subject in Subject.allCases {
      for load in Self.loads.map(\.name) + ["idle"] {
        raw["\(subject.rawValue).\(load)"] = rounds.compactMap { $0[subject]?[load] }
      }
    }
    return Measured(rows: rows, raw: raw)
  }

  private func measure(_ subject: Subject) throws -> [String: Reading] {
    let client = "\(self.suite.peers)/stream_client"
    let server =
      switch subject {
      case .cpp: try ServerChild("\(self.suite.peers)/echo_server", [])
      case .stock, .voice: try ServerChild("\(Suite.programs)/bench-server", [subject.rawValue])
      }
    defer { server.stop() }
    var figures: [String: Reading] = [:]
    if self.suite.parts.contains("c") {
      for load in Self.loads {
        figures[load.name] = try Child.run(
          client,
          ["echo", "\(server.port)", "\(server.pid)"]
            + [load.streams, load.messages, load.warmup, load.interval].map(String.init)
        ).decoded(Reading.self)
      }
    }
    if self.suite.parts.contains("d") {
      figures["idle"] = try Child.run(
        client, ["idle", "\(server.port)", "\(server.pid)", "\(Self.idleStreams)"]
      ).decoded(Reading.self)
    }
    return figures
  }

  private func messageRows(_ rounds: [[Subject: [String: Reading]]]) -> [Row] {
    func ratios(_ load: String, _ key: String, _ subject: Subject, to peer: Subject) -> [Double] {
      rounds.compactMap { round in
        guard let mine = round[subject]?[load]?[key], let other = round[peer]?[load]?[key] else { return nil }
        return mine / other
      }
    }
    func split(_ load: String, _ key: String) -> String {
      let stock = ratios(load, key, .stock, to: .cpp)
      let own = ratios(load, key, .voice, to: .stock)
      return
        "grpc-swift-2 alone is \(Self.median(stock))x C++; ours is \(Self.median(own))x grpc-swift-2 alone"
    }
    return [
      Row(
        "(c) server CPU per message, 1 stream / C++", atMost: 2,
        ratios("one", "cpuPerMessage", .voice, to: .cpp),
        notes: [split("one", "cpuPerMessage")]),
      Row(
        "(c) server CPU per message, 100 streams / C++", atMost: 2,
        ratios("hundred", "cpuPerMessage", .voice, to: .cpp),
        notes: [split("hundred", "cpuPerMessage")]),
      Row(
        "(c) round trip p50, 1 stream / C++", atMost: 1.7, ratios("one", "p50", .voice, to: .cpp),
        notes: [split("one", "p50")]),
      Row(
        "(c) server CPU per message, 100 streams in real time / C++", goal: "none",
        ratios("paced", "cpuPerMessage", .voice, to: .cpp),
        unit: "x", verdict: .information, notes: [split("paced", "cpuPerMessage")]),
      Row(
        "(c) round trip p50, 100 streams in real time / C++", goal: "none",
        ratios("paced", "p50", .voice, to: .cpp), unit: "x",
        verdict: .information, notes: [split("paced", "p50")]),
    ]
  }

  private func idleRows(_ rounds: [[Subject: [String: Reading]]]) -> [Row] {
    func ratios(_ subject: Subject, to peer: Subject) -> [Double] {
      rounds.compactMap { round in
        guard let mine = round[subject]?["idle"]?["kilobytesPerStream"],
          let other = round[peer]?["idle"]?["kilobytesPerStream"]
        else { return nil }
        return mine / other
      }
    }
    return [
      Row(
        "(d) memory per idle connection and stream / C++", atMost: 1, ratios(.voice, to: .cpp),
        notes: [
          "\(Self.idleStreams) connections, each with one stream that carried one context; resident memory",
          "grpc-swift-2 alone is \(Self.median(ratios(.stock, to: .cpp)))x C++; ours is \(Self.median(ratios(.voice, to: .stock)))x grpc-swift-2 alone",
        ])
    ]
  }

  private static func median(_ values: [Double]) -> String { Row.text(Figures.median(values)) }
}
