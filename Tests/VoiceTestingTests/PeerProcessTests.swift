import Foundation
import Testing
import VoiceCore

@testable import VoiceTesting

@Suite(.timeLimit(.minutes(2))) struct PeerProcessTests {
  /// Runs a few lines of Python as a peer of a package that consists of them.
  static func withScript<Result>(
    _ python: String, arguments: [String] = [], _ body: (PeerProcess) async throws -> Result
  ) async throws -> Result {
    try await withTemporaryFolder { folder in
      try Data("".utf8).write(to: folder.appending(path: "Package.swift"))
      try Data(python.utf8).write(to: folder.appending(path: "peer.py"))
      let interpreter = try PeerInstallation.find(sourceFile: #filePath).python
      let bin = folder.appending(path: ".peers/bin", directoryHint: .isDirectory)
      try FileManager.default.createDirectory(at: bin, withIntermediateDirectories: true)
      // Not a script that is written here: another test that forks while it is open for writing would make it busy.
      try FileManager.default.createSymbolicLink(
        at: bin.appending(path: "python"), withDestinationURL: interpreter)
      return try await withPeerProcess(
        "peer.py", arguments: arguments, sourceFile: folder.appending(path: "Test.swift").path, body)
    }
  }

  @Test func aMissingInterpreterSaysWhatToRun() {
    #expect {
      _ = try PeerInstallation.find(sourceFile: #filePath, environment: ["VOICE_PEERS_PYTHON": "/none-such"])
    } throws: { error in
      guard let failure = error as? VoiceFailure else { return false }
      return failure.code == .usage && failure.message.contains("make setup-peers")
        && failure.message.contains("/none-such")
    }
  }

  @Test func theInterpreterOfTheEnvironmentIsUsed() throws {
    let installation = try PeerInstallation.find(
      sourceFile: #filePath, environment: ["VOICE_PEERS_PYTHON": "/bin/sh"])
    #expect(installation.python.path == "/bin/sh")
    #expect(FileManager.default.fileExists(atPath: installation.packageRoot.appending(path: "proto").path))
  }

  @Test func aFileOutsideAnyPackageSaysSo() {
    #expect(throws: VoiceFailure.self) {
      try PeerInstallation.find(sourceFile: "/none/such/Test.swift", environment: [:])
    }
  }

  @Test func aMissingScriptSaysSo() async {
    await #expect(throws: VoiceFailure.self) {
      try await withPeerProcess("Tests/Peers/none_such.py") { _ in }
    }
  }

  @Test func readsEventsFromTheFirstOneOn() async throws {
    let script = """
      import json, sys
      for n in range(3): print(json.dumps({"event": "count", "n": n, "list": [1, "two", None, True, 2.5]}))
      print("no json")
      print('["no object"]')
      sys.stdout.write(json.dumps({"event": "last", "deep": {"er": "ä"}}))
      """
    try await Self.withScript(script) { peer in
      let last = try await peer.event("last")
      #expect(last["deep"]?["er"]?.string == "ä")
      for _ in 0..<2 {
        var names: [String] = []
        for await event in peer.events { names.append(event.name) }
        #expect(names == ["count", "count", "count", "text", "text", "last"])
      }
      let second = try await peer.event("count") { $0["n"]?.int == 1 }
      #expect(second["list"]?.array == [.number(1), .string("two"), .null, .bool(true), .number(2.5)])
      #expect(second["none"] == nil)
      #expect(peer.exitStatus == 0)
    }
  }

  @Test func linesAreReadHoweverTheyAreCut() {
    var splitter = LineSplitter()
    #expect(splitter.add(Data("ab".utf8)) == [])
    #expect(splitter.add(Data("c\n\nd".utf8)) == ["abc", ""])
    #expect(splitter.add(Data("e\nf\n".utf8)) == ["de", "f"])
    #expect(splitter.add(Data("ä".utf8.prefix(1))) == [])
    #expect(splitter.add(Data("ä".utf8.suffix(1))) == [])
    #expect(splitter.finish() == ["ä"])
    #expect(splitter.finish() == [])
  }

  @Test func aPeerThatEndsWithoutTheEventShowsItsErrors() async throws {
    let script = "import sys; sys.stderr.write('what went wrong'); sys.exit(3)"
    try await Self.withScript(script) { peer in
      do {
        _ = try await peer.event("listening")
        Issue.record("there is no such event")
      } catch let failure as VoiceFailure {
        #expect(failure.message.contains("status 3"))
        #expect(failure.debugDescription.contains("what went wrong"))
      }
    }
  }

  @Test func linesSentAreReadByThePeer() async throws {
    let script = """
      import json, sys
      for line in sys.stdin: print(json.dumps({"event": "echo", "line": line.rstrip("\\n")}), flush=True)
      print(json.dumps({"event": "end"}))
      """
    try await Self.withScript(script) { peer in
      peer.send("one")
      peer.send("two")
      let second = try await peer.event("echo") { $0["line"]?.string == "two" }
      #expect(second.name == "echo")
      peer.closeInput()
      _ = try await peer.event("end")
      peer.send("after the end")
    }
  }

  @Test func argumentsReachThePeer() async throws {
    let script = "import json, sys; print(json.dumps({'event': 'arguments', 'all': sys.argv[1:]}))"
    try await Self.withScript(script, arguments: ["a b", "{\"c\": 1}", ""]) { peer in
      let event = try await peer.event("arguments")
      #expect(event["all"]?.array?.map(\.string) == ["a b", "{\"c\": 1}", ""])
    }
  }

  /// Ignores the signals that a program can ignore, and its input.
  static let stubborn = """
    import json, os, signal
    for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(s, signal.SIG_IGN)
    print(json.dumps({"event": "running", "pid": os.getpid()}), flush=True)
    while True: signal.pause()
    """

  @Test func thePeerIsGoneAfterTheBody() async throws {
    let peers = Recorder<PeerProcess>()
    let pid = try await Self.withScript(Self.stubborn) { peer in
      peers.append(peer)
      return try await peer.event("running")["pid"]?.int ?? 0
    }
    #expect(pid > 0)
    #expect(kill(pid_t(pid), 0) != 0)
    #expect(peers.values.first?.exitStatus == 137)
  }

  @Test func thePeerIsGoneAfterAnError() async throws {
    struct Stop: Error {}
    let pids = Recorder<Int>()
    await #expect(throws: Stop.self) {
      try await Self.withScript(Self.stubborn) { peer in
        pids.append(try await peer.event("running")["pid"]?.int ?? 0)
        throw Stop()
      }
    }
    #expect(kill(pid_t(try #require(pids.values.first)), 0) != 0)
  }

  @Test func thePeerIsGoneAfterCancellation() async throws {
    let pids = Recorder<Int>()
    let (started, start) = AsyncStream.makeStream(of: Void.self)
    let task = Task {
      try await Self.withScript(Self.stubborn) { peer in
        pids.append(try await peer.event("running")["pid"]?.int ?? 0)
        start.finish()
        _ = try await peer.event("never")
      }
    }
    for await _ in started {}
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(kill(pid_t(try #require(pids.values.first)), 0) != 0)
  }

  /// The scripted server itself is tested by its own client; here it only has to start and to answer commands.
  @Test func theScriptedServerStartsAndEndsWithItsInput() async throws {
    try await withPeerProcess("Tests/Peers/scripted_slu_server.py", arguments: ["--script", "{}"]) { peer in
      let port = try await peer.event("listening")["port"]?.int
      #expect(port ?? 0 > 0)
      peer.send("{\"do\": \"nonsense\"}")
      _ = try await peer.event("bad-command")
      peer.closeInput()
      for await _ in peer.events {}
      #expect(peer.exitStatus == 0)
    }
  }

  @Test func theScriptedServerKeepsItsPromises() async throws {
    try await withPeerProcess("Tests/Peers/scripted_slu_server.py", arguments: ["--self-test"]) { peer in
      for await _ in peer.events {}
      let report = peer.errorOutput
      #expect(peer.exitStatus == 0, "\(report)")
      #expect(report.contains("0 failed"))
    }
  }

  @Test func theModulesAreGeneratedOncePerProcess() async throws {
    let installation = try PeerInstallation.find(sourceFile: #filePath)
    async let first = PeerStubs.shared.folder(for: installation)
    async let second = PeerStubs.shared.folder(for: installation)
    let folder = try await first
    #expect(try await second == folder)
    let module = try #require(folder).appending(path: "speechly/slu/v1/slu_pb2_grpc.py")
    #expect(FileManager.default.fileExists(atPath: module.path))
  }
}
