import ArgumentParser
import Foundation
import SpeechStreaming
import Testing
import VoiceCore
import VoiceServer

@testable import VoiceCommands

struct ServeCommandTests {
  private func configuration(_ arguments: [String], environment: [String: String] = [:]) throws
    -> ServerConfiguration
  {
    let command = try #require(try VoiceCommand.parseAsRoot(["serve"] + arguments) as? ServeCommand)
    return try command.serverConfiguration(
      in: CommandContext(console: RecordedConsole().console, environment: environment))
  }

  @Test func withoutOptionsItListensOnThisMachineOnly() throws {
    let configuration = try self.configuration([], environment: ["XDG_STATE_HOME": "/state"])
    #expect(configuration.host == "127.0.0.1")
    #expect(configuration.grpcPort == 50051)
    #expect(configuration.httpPort == 8080)
    #expect(configuration.dataFolder == "/state/swift-voice/server")
    #expect(configuration.apps == [.demo])
  }

  @Test func optionsTakePrecedence() throws {
    let configuration = try self.configuration([
      "--host", "::1", "--port", "0", "--http-port", "0", "--data", "/data", "--decoders", "5",
    ])
    #expect(configuration.host == "::1")
    #expect(configuration.grpcPort == 0)
    #expect(configuration.httpPort == 0)
    #expect(configuration.dataFolder == "/data")
    #expect(configuration.limits.decoders == 5)
  }

  @Test func aRelativeDataFolderCountsFromHere() throws {
    #expect(
      try self.configuration(["--data", "x"]).dataFolder == FileManager.default.currentDirectoryPath + "/x")
  }

  @Test func aMissingConfigurationIsAnInputFailure() async {
    let (status, console) = await voice("serve", "--config", "/none-such.yaml")
    #expect(status == .input)
    #expect(console.error.contains("server.configuration.not-found"))
  }

  @Test func portsThatCollideAreRefused() async {
    let (status, console) = await voice("serve", "--http-port", "50051", "--json")
    #expect(status == .input)
    #expect(console.output.contains("server.configuration.invalid"))
  }
}

/// The whole command: a real server on free ports, stopped by signals.
@Suite(.timeLimit(.minutes(2)))
struct ServeRunTests {
  private func withFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "voice-serve-\(UUID().uuidString)"
    ).path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try await body(folder)
  }

  /// Tells when a line with some text was written to standard output.
  private final class Watch: Sendable {
    let lines: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation
    init() { (self.lines, self.continuation) = AsyncStream.makeStream() }
    func console() -> Console {
      Console(
        output: .init(isTerminal: false, write: { self.continuation.yield($0) }),
        error: .init(isTerminal: false, write: { _ in }))
    }
    func first(containing text: String) async -> String? {
      for await line in self.lines where line.contains(text) { return line }
      return nil
    }
  }

  @Test func tellsItsPortsAndStopsWhenAsked() async throws {
    try await self.withFolder { folder in
      let watch = Watch()
      let (signals, signal) = AsyncStream.makeStream(of: StopSignal.self)
      let context = CommandContext(console: watch.console(), stopSignals: { signals })
      async let status = VoiceCommand.run(
        ["serve", "--json", "--port", "0", "--http-port", "0", "--data", folder, "--decoders", "1"],
        in: context)
      let ready = try #require(await watch.first(containing: #""event":"ready""#))
      let object = try #require(try JSONSerialization.jsonObject(with: Data(ready.utf8)) as? [String: Any])
      let port = try #require((object["grpc"] as? String)?.split(separator: ":").last.flatMap { Int($0) })
      #expect(
        await ServerProbe(
          address: .init(host: "127.0.0.1", port: port, secure: false), patience: .seconds(60)
        ).ask() == .ready)
      signal.yield(.terminate)
      #expect(await watch.first(containing: #""event":"stopping""#) != nil)
      #expect(await watch.first(containing: #""event":"stopped""#) != nil)
      #expect(await status == .done)
    }
  }

  @Test func aPortThatIsTakenIsANetworkFailure() async throws {
    try await self.withFolder { folder in
      let watch = Watch()
      let (signals, signal) = AsyncStream.makeStream(of: StopSignal.self)
      let context = CommandContext(console: watch.console(), stopSignals: { signals })
      let arguments = ["serve", "--json", "--http-port", "0", "--decoders", "1", "--data"]
      async let first = VoiceCommand.run(arguments + [folder, "--port", "0"], in: context)
      let ready = try #require(await watch.first(containing: #""event":"ready""#))
      let object = try #require(try JSONSerialization.jsonObject(with: Data(ready.utf8)) as? [String: Any])
      let port = try #require((object["grpc"] as? String)?.split(separator: ":").last)
      let console = RecordedConsole()
      let second = await VoiceCommand.run(
        arguments + [folder + "-2", "--port", String(port)], in: CommandContext(console: console.console))
      try? FileManager.default.removeItem(atPath: folder + "-2")
      #expect(second == .network)
      #expect(console.output.contains("server.port.in-use"))
      signal.yield(.interrupt)
      #expect(await first == .done)
    }
  }
}
