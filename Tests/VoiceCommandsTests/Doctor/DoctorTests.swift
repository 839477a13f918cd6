import Foundation
import Testing

@testable import VoiceCommands

struct DoctorTests {
  private func withFolder(mode: Int, _ body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "voice-doctor-\(UUID().uuidString)"
    ).path
    try FileManager.default.createDirectory(
      atPath: folder + "/swift-voice", withIntermediateDirectories: true,
      attributes: [.posixPermissions: mode])
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try body(folder)
  }

  @Test func aModelThatIsMissingIsBrokenAndSaysHowToInstallIt() async {
    let checks = DoctorChecks(environment: ["VOICE_POCKETSPHINX_MODEL": "/none-such"])
    let found = await checks.recogniser()
    #expect(found.map(\.verdict) == [.broken])
    #expect(found[0].fix?.contains("apt-get install pocketsphinx-en-us") == true)
  }

  @Test func theInstalledModelIsLoaded() async {
    let found = await DoctorChecks(environment: [:]).recogniser()
    #expect(found.map(\.verdict) == [.good, .good])
    #expect(found[0].detail.contains("en-US"))
    #expect(found[1].detail.contains("K AA T L IH N"))
  }

  @Test func readsEveryFormatThatTheDocumentationNames() {
    let found = DoctorChecks(environment: [:]).formats()
    #expect(found.map(\.verdict) == [.good])
    #expect(found[0].detail.hasSuffix("reads wav, flac, ogg, opus, mp3"))
  }

  @Test func aPrivateFolderIsGoodAndAnOpenOneIsRemarkedOn() throws {
    try self.withFolder(mode: 0o700) { folder in
      #expect(DoctorChecks(environment: ["XDG_STATE_HOME": folder]).folders().map(\.verdict) == [.good])
    }
    try self.withFolder(mode: 0o755) { folder in
      let found = DoctorChecks(environment: ["XDG_STATE_HOME": folder]).folders()
      #expect(found.map(\.verdict) == [.warning])
      #expect(found[0].fix == "`chmod 700 \(folder)/swift-voice`")
    }
  }

  @Test func aFolderThatCannotBeMadeIsBroken() {
    let found = DoctorChecks(environment: ["XDG_STATE_HOME": "/proc/none-such"]).folders()
    #expect(found.map(\.verdict) == [.broken])
    #expect(found[0].fix != nil)
  }

  @Test(arguments: ["http://x", "grpc://", "grpc://127.0.0.1:1", "127.0.0.1:1"])
  func aServerThatIsNamedMustAnswer(address: String) async {
    let found = await DoctorChecks(environment: ["VOICE_SERVER": address]).server()
    #expect(found.map(\.verdict) == [.broken])
    #expect(found[0].fix != nil)
  }

  @Test func aPasswordInTheServersAddressIsNotShown() async {
    let found = await DoctorChecks(environment: ["VOICE_SERVER": "grpc://ann:secret@host"]).server()
    #expect(found.map(\.verdict) == [.broken])
    #expect(found[0].detail.contains("…@host"))
    #expect(!found[0].detail.contains("secret"))
  }

  @Test func whatIsWrongComesWithItsRemedyOnALineOfItsOwn() {
    let lines = Diagnosis.broken("Thing", "does not work", fix: "Run `repair`.").lines(
      nameWidth: 8, symbols: .ascii)
    #expect(lines.map(\.plain) == ["x Thing     does not work", "            -> Run repair."])
  }

  @Test func printsAnObjectForEachCheckAndFailsIfSomethingIsBroken() async throws {
    let (status, console) = await voice(
      "doctor", "--json", environment: ["VOICE_SERVER": "grpc://127.0.0.1:1", "XDG_STATE_HOME": "/proc/x"])
    #expect(status == .input)
    let objects = try console.outputLines.map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
    #expect(objects.allSatisfy { $0["event"] as? String == "check" })
    #expect(
      objects.compactMap { $0["name"] as? String } == [
        "Recogniser", "New words", "Noise", "sherpa-onnx", "Audio files", "Microphone", "Loudspeaker",
        "Server", "HTTP port", "State", "Demo",
      ])
    #expect(objects.count { $0["status"] as? String == "broken" } == 2)
  }

  @Test func aLibraryAgainstNoiseThatCannotBeUsedIsBroken() {
    #expect(DoctorChecks(environment: [:]).noise().verdict == .good)
    #expect(DoctorChecks(environment: ["VOICE_RNNOISE": ""]).noise().verdict == .good)
    let missing = DoctorChecks(environment: ["VOICE_RNNOISE": "/none-such.so"]).noise()
    #expect(missing.verdict == .broken)
    #expect(missing.detail.contains("/none-such.so"))
    #expect(missing.fix?.contains("make setup-noise") == true)
  }
}
