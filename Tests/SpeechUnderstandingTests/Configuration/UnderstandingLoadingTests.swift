import Foundation
import Testing
import VoiceCore

@testable import SpeechUnderstanding

@Suite struct UnderstandingLoadingTests {
  @Test func templatesInTheAppsTextAreCompiled() throws {
    let understanding = try Understanding(templates: "*turn_on turn on the [lights | radio](device)")
    #expect(
      understanding.understand("turn on the radio", in: .current)?.annotated.text
        == "*turn_on turn on the [radio](device)")
  }

  @Test func anErrorSaysWhereItIs() throws {
    let failure = #expect(throws: VoiceFailure.self) { try Understanding(templates: "*a b\n*turn_on [on") }
    #expect(failure?.code == .configurationInvalid)
    #expect(failure?.message.contains("templates.sal:2:") == true, "\(failure?.message ?? "")")
  }

  @Test func aConfigurationThatIsNotThereIsNamed() {
    let failure = #expect(throws: VoiceFailure.self) { try Understanding(contentsOf: "/none-such/home.yaml") }
    #expect(failure?.code == .configurationNotFound)
    #expect(failure?.message.contains("/none-such/home.yaml") == true)
  }

  @Test func aLanguageThatIsNotUnderstoodIsNamed() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("app.yaml")
    try "lang: fi-FI\ntemplates: |\n  *a hei\n".write(to: file, atomically: true, encoding: .utf8)
    let failure = #expect(throws: VoiceFailure.self) { try Understanding(contentsOf: file.path) }
    #expect(failure?.code == .configurationInvalid)
    #expect(failure?.message.contains("fi-FI") == true)
  }
}
