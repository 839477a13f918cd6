import Foundation
import Testing
import VoiceTesting

@testable import VoiceCommands

struct EngineOptionsTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
  private static let model = root.appending(path: "Support/sherpa-tiny-model/model").path

  /// The library of the Python environment of the test peers.
  private static func library() throws -> String {
    let versions = root.appending(path: ".peers/lib")
    let names = (try? FileManager.default.contentsOfDirectory(atPath: versions.path)) ?? []
    let python = try #require(
      names.first { $0.hasPrefix("python3") }, "There is no .peers: run make setup-peers.")
    let path = versions.appending(path: "\(python)/site-packages/sherpa_onnx/lib/libsherpa-onnx-c-api.so")
      .path
    try #require(
      FileManager.default.fileExists(atPath: path),
      "There is no sherpa-onnx at \(path): run make setup-peers.")
    return path
  }

  @Test func recognisesWithAModelThatTheUserBrings() async throws {
    let library = try Self.library()
    try await withTemporaryFolder { folder in
      // Two words of the tiny model, 500 Hz and 800 Hz, with silence around them.
      let samples: [Int16] = [0, 500, 0, 800, 0].flatMap { frequency in
        (0..<4000).map { Int16(9830 * sin(2 * Double.pi * Double(frequency * $0) / 16_000)) }
      }
      let file = folder.appending(path: "tones.raw")
      try samples.withUnsafeBytes { Data($0) }.write(to: file)
      let (status, console) = await voice(
        "recognize", "--local", "--engine", "sherpa", "--engine-library", library, "--model", Self.model,
        "--raw",
        file.path)
      #expect(status == .done)
      #expect(console.output.contains("one two"))
      let (again, other) = await voice(
        "recognize", "--local", "--engine", "sherpa", "--raw", file.path,
        environment: ["VOICE_SHERPA_ONNX": library, "VOICE_SHERPA_MODEL": Self.model])
      #expect(again == .done)
      #expect(other.output == console.output)
    }
  }

  @Test func aLibraryThatIsMissingEndsTheCommand() async {
    let (status, console) = await voice(
      "recognize", "--local", "--engine", "sherpa", "--engine-library", "/none-such.so", "--model",
      Self.model, "a.wav")
    #expect(status == .input)
    #expect(console.error.contains("speech.engine.library-missing"))
  }

  @Test(arguments: [
    ["--engine", "sherpa"], ["--local", "--engine", "other"], ["--local", "--engine-library", "/x.so"],
    ["--local", "--engine", "pocketsphinx", "--engine-library", "/x.so"],
  ])
  func optionsThatDoNotFitAreRefused(options: [String]) async {
    let console = RecordedConsole()
    let context = CommandContext(console: console.console)
    #expect(await VoiceCommand.run(["recognize", "a.wav"] + options, in: context) == .usage)
    #expect(console.error.contains("--engine"))
  }

  @Test func theDoctorTriesTheEngine() async throws {
    func check(_ environment: [String: String]) async -> Diagnosis {
      await DoctorChecks(environment: environment).sherpa()
    }
    #expect(await check([:]).verdict == .good)
    #expect(await check([:]).detail.contains("VOICE_SHERPA_ONNX"))
    let library = try Self.library()
    #expect(await check(["VOICE_SHERPA_ONNX": library, "VOICE_SHERPA_MODEL": Self.model]).verdict == .good)
    for environment in [
      ["VOICE_SHERPA_ONNX": library], ["VOICE_SHERPA_MODEL": Self.model],
      ["VOICE_SHERPA_ONNX": "/none-such", "VOICE_SHERPA_MODEL": Self.model],
      ["VOICE_SHERPA_ONNX": library, "VOICE_SHERPA_MODEL": "/none-such"],
    ] {
      #expect(await check(environment).verdict == .broken)
      #expect(await check(environment).fix != nil)
    }
  }
}
