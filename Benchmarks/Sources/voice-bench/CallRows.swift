import Foundation

/// The gateway for calls against one written with Python's websockets, driven by one C++ client.
struct CallRows {
  let suite: Suite
  private static let pairs = 16
  private static let calls = 400
  private static let idleSockets = 5000

  private typealias Reading = [String: Double]

  func measure() throws -> Measured {
    let python = ProcessInfo.processInfo.environment["VOICE_PEERS_PYTHON"] ?? ".peers/bin/python"
    var own: [(calls: Reading, idle: Reading)] = []
    var peer: [(calls: Reading, idle: Reading)] = []
    for _ in 0..<self.suite.rounds {
      own.append(try self.measure { try ServerChild("\(Suite.programs)/bench-server", ["calls"]) })
      peer.append(try self.measure { try ServerChild(python, ["Benchmarks/Peers/call_gateway.py"]) })
    }
    func values(_ readings: [Reading], _ key: String) -> [Double] { readings.compactMap { $0[key] } }
    func text(_ values: [Double]) -> String { Row.text(Figures.median(values)) }
    let ours = own.map(\.calls)
    let theirs = peer.map(\.calls)
    let ratios = zip(values(ours, "callsPerCoreSecond"), values(theirs, "callsPerCoreSecond")).map { $0 / $1 }
    return Measured(
      rows: [
        Row(
          "(i) complete two-leg calls per second and core", atLeast: 1000, values(ours, "callsPerCoreSecond"),
          unit: "/s",
          notes: [
            "\(Self.pairs) pairs of clients, server CPU time; Python: \(text(values(theirs, "callsPerCoreSecond")))/s, ours is \(text(ratios))x that",
            "complete call p50 \(text(values(ours, "p50"))) ms, p99 \(text(values(ours, "p99"))) ms; Python: p50 \(text(values(theirs, "p50"))) ms, p99 \(text(values(theirs, "p99"))) ms",
          ]),
        Row(
          "(i) memory per idle socket", atMost: 10, values(own.map(\.idle), "kilobytesPerSocket"),
          unit: " KB",
          notes: [
            "\(Self.idleSockets) sockets that are logged in; resident memory; Python: \(text(values(peer.map(\.idle), "kilobytesPerSocket"))) KB"
          ]),
      ],
      raw: [
        "calls.voice": ours, "calls.python": theirs, "idle.voice": own.map(\.idle),
        "idle.python": peer.map(\.idle),
      ])
  }

  private func measure(_ start: () throws -> ServerChild) throws -> (calls: Reading, idle: Reading) {
    let client = "\(self.suite.peers)/call_client"
    func run(_ mode: String, _ arguments: [Int]) throws -> Reading {
      let server = try start()
      defer { server.stop() }
      return try Child.run(
        client, [mode, "\(server.port)", "\(server.pid)"] + arguments.map(String.init)
      ).decoded(Reading.self)
    }
    return (
      try run("calls", [Self.pairs, Self.calls, 40]), try run("idle", [Self.idleSockets])
    )
  }
}
