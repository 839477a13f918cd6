import Foundation
import SpeechPipeline
import Testing
import VoiceCore
import VoiceTesting

@testable import SherpaOnnxRecognition

struct SherpaOnnxLibraryTests {
  private func failure(library: String) -> VoiceFailure? {
    SherpaOnnxRecognitionTests.failure {
      _ = try SherpaOnnxEngine(library: library, modelFolder: TinyModel.folder).makeRecognizer()
    }
  }

  @Test func aMissingLibraryIsNamed() {
    let failure = failure(library: "/none-such.so")
    #expect(failure?.code == .engineLibraryMissing)
    #expect(failure?.message.contains("/none-such.so") == true)
    #expect(failure?.message.contains("VOICE_SHERPA_ONNX") == true)
  }

  @Test func aFileThatIsNoLibraryIsRefused() {
    #expect(failure(library: TinyModel.folder + "/tokens.txt")?.code == .engineLibraryMissing)
    #expect(failure(library: "/tmp")?.code == .engineLibraryMissing)
  }

  @Test func anotherLibraryIsRefused() throws {
    let folder = URL(fileURLWithPath: try TinyModel.library()).deletingLastPathComponent()
    let failure = failure(library: folder.appending(path: "libonnxruntime.so").path)
    #expect(failure?.code == .engineLibraryMissing)
    #expect(failure?.message.contains("is not sherpa-onnx") == true)
    #expect(failure?.message.contains("libsherpa-onnx-c-api.so") == true)
  }

  @Test(arguments: ["2.0.2", "9.0.1", "1.0.0"])
  func aVersionThatIsNotKnownIsRefused(version: String) async throws {
    let library = URL(fileURLWithPath: try TinyModel.peerLibrary())
    try await withTemporaryFolder(named: "sherpa-version") { folder in
      var data = try Data(contentsOf: library)
      let old = Data("2.0.1\0".utf8)
      try #require(data.range(of: old) != nil, "the library of the tests is another version: adapt this test")
      while let place = data.range(of: old) { data.replaceSubrange(place, with: Data("\(version)\0".utf8)) }
      let copy = folder.appending(path: library.lastPathComponent)
      try data.write(to: copy)
      try FileManager.default.createSymbolicLink(
        at: folder.appending(path: "libonnxruntime.so"),
        withDestinationURL: library.deletingLastPathComponent().appending(path: "libonnxruntime.so"))
      let failure = failure(library: copy.path)
      #expect(failure?.code == .engineLibraryUnsupported)
      #expect(failure?.message.contains("sherpa-onnx \(version)") == true)
      #expect(failure?.message.contains("1.12.12 to 2.0.1") == true)
    }
  }

  @Test func knowsTheVersionsWhoseStructuresAreDeclared() {
    let known = ["1.12.12", "1.12.40", "1.13.0", "1.13.8", "2.0.0", "2.0.1"]
    let unknown = ["1.12.11", "1.12.9", "1.14.0", "2.0.2", "2.1.0", "3.0.0", "0.0.1", "2.0.-1"]
    #expect(known.allSatisfy { SherpaOnnxVersion($0)?.isSupported == true })
    #expect(unknown.allSatisfy { SherpaOnnxVersion($0)?.isSupported == false })
    #expect(["", "2", "2.0", "2.0.1.1", "2.0.x", "2..1"].allSatisfy { SherpaOnnxVersion($0) == nil })
    #expect(known.contains(SherpaOnnxVersion.newest))
  }

  @Test(.enabled(if: ProcessInfo.processInfo.environment[SherpaOnnxEngine.libraryVariable] == nil))
  func withoutAPathTheVariableIsNamed() {
    let failure = SherpaOnnxRecognitionTests.failure {
      _ = try SherpaOnnxEngine(modelFolder: TinyModel.folder)
    }
    #expect(failure?.code == .engineLibraryMissing)
    #expect(failure?.message.contains("VOICE_SHERPA_ONNX") == true)
  }

  @Test(.enabled(if: ProcessInfo.processInfo.environment[SherpaOnnxModel.folderVariable] == nil))
  func withoutAFolderTheVariableIsNamed() {
    let failure = SherpaOnnxRecognitionTests.failure { _ = try SherpaOnnxEngine(library: "/x") }
    #expect(failure?.code == .modelMissing)
    #expect(failure?.message.contains("VOICE_SHERPA_MODEL") == true)
  }
}
