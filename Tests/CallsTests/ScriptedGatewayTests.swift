import CallSignaling
import Calls
import Synchronization
import Testing
import VoiceCore
import VoiceTesting

/// Each way in which the gateway that apps test against can answer, without a client in between.
@Suite(.timeLimit(.minutes(4))) struct ScriptedGatewayTests {
  /// A connection in memory, which tells what comes in short.
  private final class Line: Sendable {
    private let seen = Mutex<[String]>([])
    private let connection = Mutex<(any SignalingConnection)?>(nil)
    /// The same, to wait for.
    let arrivals: AsyncStream<String>
    private let arrived: AsyncStream<String>.Continuation

    init(_ gateway: ScriptedGateway) {
      (self.arrivals, self.arrived) = AsyncStream.makeStream()
      let connection = gateway.transport.open("ws://gateway.test/") { [weak self] event in self?.note(event) }
      self.connection.withLock { $0 = connection }
    }

    private func note(_ event: SignalingTransportEvent) {
      let text =
        switch event {
        case .opened: "opened"
        case .pong: "pong"
        case .closed(let code): "closed \(code ?? 0)"
        case .failed(let failure): "failed \(failure.code)"
        case .received(let bytes): Self.text(bytes)
        }
      self.seen.withLock { $0.append(text) }
      self.arrived.yield(text)
    }

    private static func text(_ bytes: [UInt8]) -> String {
      guard let json = try? JSON.read(bytes) else { return "text \(String(decoding: bytes, as: UTF8.self))" }
      if let method = json["method"]?.stringValue { return method }
      let id = json["id"]?.text ?? "none"
      return json["error"].map { "error \($0["code"]?.text ?? "") for \(id)" } ?? "result for \(id)"
    }

    func send(_ frame: String) { self.connection.withLock { $0 }?.send(Array(frame.utf8)) }

    func ping() { self.connection.withLock { $0 }?.ping() }

    /// What came since the last call.
    func take() -> [String] {
      self.seen.withLock { seen in
        defer { seen = [] }
        return seen
      }
    }
  }

  private static let login =
    #"{"jsonrpc":"2.0","id":"1","method":"login","params":{"login":"alice","passwd":"secret","sessid":"s"}}"#
  private static let ready = "telnyx_rtc.clientReady"

  @Test(arguments: [
    (ScriptedGateway.Reply.standard, [#"result for "1""#, ready]),
    (.drop, []),
    (.error(RPCError(code: .authenticationFailed, message: "no")), [#"error -32001 for "1""#]),
    (.wrongID, ["result for 999999999", ready]),
    (.twice, [#"result for "1""#, ready, #"result for "1""#, ready]),
    (.reversed, [ready, #"result for "1""#]),
    (.raw("<html>"), ["text <html>"]),
    (.cut, ["failed call.connection.lost"]),
    (.cutAfterwards, [#"result for "1""#, ready, "failed call.connection.lost"]),
    (.close(1012), ["closed 1012"]),
    (.silence, []),
  ])
  func answersAsTheScriptSays(_ reply: ScriptedGateway.Reply, _ seen: [String]) throws {
    var script = ScriptedGateway.Script()
    script.replies[.login] = [reply]
    let gateway = ScriptedGateway(script)
    let line = Line(gateway)
    #expect(line.take() == ["opened"])
    line.send(Self.login)
    #expect(line.take() == seen)
    #expect(gateway.requests.count == 1)
  }

  @Test func aDelayedAnswerComesAfterItsTime() async throws {
    let clock = TestClock()
    var script = ScriptedGateway.Script()
    script.replies[.login] = [.delayed(.seconds(3))]
    let line = Line(ScriptedGateway(script, clock: clock))
    line.send(Self.login)
    let due = await clock.nextTimer()
    #expect(line.take() == ["opened"])
    #expect(due == clock.now.advanced(by: .seconds(3)))
    clock.advance(to: due)
    for await text in line.arrivals where text == Self.ready { break }
    #expect(line.take() == [#"result for "1""#, Self.ready])
  }

  /// A link that is open for the one and dead for the other.
  @Test func aSilentLinkAnswersNothingAnyMore() {
    let gateway = ScriptedGateway()
    let line = Line(gateway)
    line.ping()
    #expect(line.take() == ["opened", "pong"])
    gateway.goSilent()
    line.ping()
    line.send(Self.login)
    #expect(line.take() == [])
    #expect(gateway.connections == 1)
  }

  @Test(arguments: [
    (ScriptedGateway.Refusal.unreachable, ["failed network.server.unreachable"]), (.silent, []),
  ])
  func refusesAConnectionAsTheScriptSays(_ refusal: ScriptedGateway.Refusal, _ seen: [String]) {
    var script = ScriptedGateway.Script()
    script.refusals = [refusal]
    let gateway = ScriptedGateway(script)
    #expect(Line(gateway).take() == seen)
    // The next one is taken.
    #expect(Line(gateway).take() == ["opened"])
  }
}
