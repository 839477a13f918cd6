import Foundation
import Synchronization
import Testing
import VoiceAudio
import VoiceCore
import VoiceTesting

@testable import VoiceCommands

/// `voice call` with a gateway of its own: real sockets, real client, real gateway, real audio.
@Suite(.timeLimit(.minutes(2))) struct CallCommandTests {
  private static func objects(_ output: String) throws -> [[String: Any]] {
    try output.split(separator: "\n").map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
  }

  private func states(_ output: String) throws -> [[String: Any]] {
    try Self.objects(output).filter { $0["event"] as? String == "call" }
  }

  /// Runs a call until it shows something, then does something.
  private static func call(
    _ arguments: [String], until text: String, keys: [Character] = [], then next: (text: String, key: Character)
  ) async -> (status: CommandStatus, console: RecordedConsole) {
    let console = RecordedConsole()
    let (stream, typed) = AsyncStream.makeStream(of: Character.self)
    let context = CommandContext(console: console.console, inputIsTerminal: true, keys: { stream })
    async let status = VoiceCommand.run(["call"] + arguments, in: context)
    await console.shows(text)
    for key in keys { typed.yield(key) }
    await console.shows(next.text)
    typed.yield(next.key)
    return (await status, console)
  }

  // MARK: Signalling

  @Test func aCallThatIsRefusedEndsWithItsCauseAndStatusSix() async throws {
    let (status, console) = await voice("call", "fail-486", "--local", "--json")
    #expect(status == .call)
    let last = try #require(try self.states(console.output).last)
    #expect(last["state"] as? String == "DONE")
    #expect(last["cause"] as? String == "USER_BUSY")
    #expect(last["causeCode"] as? Int == 17)
    #expect(last["sipCode"] as? Int == 486)
    #expect(last["sipReason"] as? String == "Busy Here")
    #expect(console.output.ranges(of: "call.ended.busy").count == 1)
  }

  @Test func aNumberThatNobodyHasIsNotFound() async throws {
    let (status, console) = await voice("call", "nobody", "--local", "--json")
    #expect(status == .call)
    #expect(try self.states(console.output).last?["sipCode"] as? Int == 404)
  }

  @Test(arguments: [["--server", "ws://h"], ["--user", "a"], ["--token", "t"]])
  func aGatewayOfOnesOwnHasUsersOfItsOwn(_ option: [String]) async {
    let (status, console) = await voice("call", "echo", "--local", option[0], option[1])
    #expect(status == .usage)
    #expect(console.error.contains("--local brings its own gateway"))
  }

  // MARK: Audio

  /// The contract of the design: what is said to `echo` comes back into the recording.
  @Test func whatIsPlayedToEchoIsRecordedAndUnderstood() async throws {
    try await withTemporaryFolder { folder in
      let said = folder.appendingPathComponent("said.wav").path
      let heard = folder.appendingPathComponent("heard.wav").path
      try await CallSounds.command(to: said)
      let (status, console) = await voice(
        "call", "--local", "echo", "--play", said, "--record", heard, "--transcribe", "--stay", "1", "--json")
      #expect(status == .done)
      #expect(console.error.isEmpty)
      #expect(try await AudioFileSource(path: heard).information().sampleRate == 48_000)
      let likeness = CallSounds.likeness(
        of: try await CallSounds.envelope(of: said), in: try await CallSounds.envelope(of: heard))
      #expect(likeness > 0.9)

      let objects = try Self.objects(console.output)
      let segments = objects.filter { $0["event"] as? String == "segment" && $0["final"] as? Bool == true }
      #expect(segments.compactMap { $0["text"] as? String }.joined(separator: " ").contains("forward ten"))
      let states = objects.filter { $0["event"] as? String == "call" }.compactMap { $0["state"] as? String }
      #expect(states.contains("ACTIVE") && states.last == "DONE")
      let quality = try #require(objects.first { $0["event"] as? String == "quality" })
      #expect(quality["codec"] as? String == "opus")
      let report = try #require(objects.last)
      #expect(report["event"] as? String == "report")
      #expect(try #require(report["duration"] as? Double) > 3)
      #expect(report["outages"] as? Int == 0)
    }
  }

  @Test func aCallWithoutAnyWayForAudioEndsAtOnceWithItsCode() async throws {
    let (status, console) = await voice("call", "--local", "echo", "--relay-only", "--json")
    #expect(status == .call)
    let last = try #require(try Self.objects(console.output).last)
    #expect(last["event"] as? String == "failure")
    #expect(last["code"] as? String == "call.media.unreachable")
  }

  @Test func aRelayThatDoesNotAnswerIsAWarning() async throws {
    let warning = #""event":"warning","code":"call.media.relay-failed""#
    let (status, console) = await Self.call(
      ["--local", "echo", "--ice-server", "turn:127.0.0.1:9", "--no-devices", "--json"],
      until: "ACTIVE", then: (warning, "q"))
    #expect(status == .done)
    #expect(console.output.contains(warning))
  }

  @Test func aMicrophoneThatIsMissingIsAWarningAndTheCallGoesOn() async throws {
    let warning = #""event":"warning","code":"audio.input.no-device""#
    let (status, console) = await Self.call(
      ["--local", "echo", "--device", "no-such-device", "--json"], until: "ACTIVE", then: (warning, "q"))
    #expect(status == .done)
    #expect(try self.states(console.output).last?["cause"] as? String == "NORMAL_CLEARING")
  }

  @Test func keysAreSentAsTonesAndOthersAreNot() async throws {
    let (status, console) = await Self.call(
      ["--local", "echo", "--no-devices", "--json"], until: "ACTIVE", keys: ["x", "5", "m"],
      then: (#""key":"5","direction":"sent""#, "q"))
    #expect(status == .done)
    #expect(console.output.ranges(of: #""event":"key""#).count == 1)
    #expect(console.output.contains(#""event":"muted","muted":true"#))
  }

  // MARK: What is wrong is said before anybody's telephone rings

  @Test(arguments: [
    (["--play", "/none.wav"], CommandStatus.input, "audio.file.not-found"),
    (["--record", "/none/out.wav"], .input, "audio.file.not-writable"),
    (["--ice-server", "http://example.org"], .usage, "network.address.invalid"),
    (["--transcribe", "--config", "/none.yaml"], .input, "none.yaml"),
  ])
  func whatCannotBeUsedEndsTheCommand(
    _ options: [String], _ expected: CommandStatus, _ text: String
  ) async throws {
    let console = RecordedConsole()
    let status = await VoiceCommand.run(
      ["call", "--local", "echo", "--json"] + options, in: CommandContext(console: console.console))
    #expect(status == expected)
    #expect(console.output.contains(text))
    #expect(!console.output.contains(#""event":"call""#))
  }

  @Test(arguments: [
    ["--stay", "1"], ["--play", "a.wav", "--stay", "-1"], ["--play", "a.wav", "--device", "mic"],
    ["--config", "home.yaml"], ["--engine", "sherpa"], ["--ice-user", "me"],
  ])
  func optionsThatDoNothingAreRefused(_ options: [String]) async {
    let console = RecordedConsole()
    let status = await VoiceCommand.run(
      ["call", "--local", "echo"] + options, in: CommandContext(console: console.console))
    #expect(status == .usage)
    #expect(!console.error.isEmpty)
  }
}

/// Sounds of calls, and how alike they are.
enum CallSounds {
  /// Writes the recording of a short command, which has no header, as a WAV file.
  static func command(to path: String) async throws {
    let recording = DemoRecording.command
    let sink = WAVFileSink(path: path)
    let source = PipeSource(path: recording.path, rawFormat: recording.raw)
    for try await event in try await source.capture() {
      if case .chunk(let chunk) = event { try await sink.write(chunk) }
    }
    try await sink.finish()
  }

  /// The loudness of a file in steps of 10 ms.
  static func envelope(of path: String) async throws -> [Double] {
    var samples: [Int16] = []
    for try await event in try await AudioFileSource(path: path).capture() {
      if case .chunk(let chunk) = event { samples += chunk.samples }
    }
    return stride(from: 0, to: samples.count - 160, by: 160).map { start in
      let sum = samples[start..<start + 160].reduce(0.0) { $0 + Double($1) * Double($1) }
      return (sum / 160).squareRoot()
    }
  }

  /// The highest correlation of a sound with any part of another one, from -1 to 1.
  static func likeness(of sound: [Double], in other: [Double]) -> Double {
    guard !sound.isEmpty, other.count >= sound.count else { return 0 }
    return (0...other.count - sound.count).map { offset in
      Self.correlation(sound, Array(other[offset..<offset + sound.count]))
    }.max() ?? 0
  }

  private static func correlation(_ left: [Double], _ right: [Double]) -> Double {
    let (a, b) = (left.reduce(0, +) / Double(left.count), right.reduce(0, +) / Double(right.count))
    var (both, first, second) = (0.0, 0.0, 0.0)
    for (x, y) in zip(left, right) {
      both += (x - a) * (y - b)
      first += (x - a) * (x - a)
      second += (y - b) * (y - b)
    }
    return first > 0 && second > 0 ? both / (first * second).squareRoot() : 0
  }
}
