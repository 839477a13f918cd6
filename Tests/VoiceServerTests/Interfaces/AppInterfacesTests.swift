import Foundation
import Logging
import SpeechUnderstanding
import Testing
import VoiceCore

@testable import VoiceServer

@Suite struct AppInterfacesTests {
  private let folder: Fixture.Folder
  private let app: ServerConfiguration.App

  init() throws {
    self.folder = try Fixture.Folder()
    self.app = ServerConfiguration.App(id: UUID(), name: "test", project: UUID())
  }

  private func interfaces(log: CapturingLog = CapturingLog()) -> AppInterfaces {
    AppInterfaces(
      dataFolder: self.folder.path, clock: MonotonicClock(), now: { 1_700_000_000 }, logger: log.logger)
  }

  private static func yaml(_ templates: String) -> InterfaceSource {
    let lines = templates.split(separator: "\n").map { "  \($0)\n" }.joined()
    return InterfaceSource(form: .yaml, bytes: Array("templates: |\n\(lines)".utf8))
  }

  private func deploy(_ source: InterfaceSource, to interfaces: AppInterfaces) async throws {
    try interfaces.begin(self.app.id)
    _ = try await interfaces.deploy(source, to: self.app)
  }

  private func intent(_ interfaces: AppInterfaces, _ text: String) -> String? {
    interfaces.current(of: self.app.id)?.understanding.understand(text, in: .current)?.annotated.segments
      .first?
      .intent
  }

  // MARK: Bad input

  @Test func keepsWhatServesWhenTheNextConfigurationIsBad() async throws {
    let interfaces = self.interfaces()
    try await self.deploy(Self.yaml("*greet hello"), to: interfaces)
    let before = interfaces.current(of: self.app.id)?.recognitionGrammar
    try interfaces.begin(self.app.id)
    let problem = await #expect(throws: InterfaceProblem.self) {
      _ = try await interfaces.deploy(Self.yaml("*greet $missing\n*bye [a"), to: self.app)
    }
    #expect(problem?.failure.code == .interfaceInvalid)
    #expect(problem?.failure.message.contains("app.yaml:2:10: ") == true, "\(problem?.failure.message ?? "")")
    #expect(problem?.diagnostics.count { $0.severity == .error } == 2)
    #expect(self.intent(interfaces, "hello") == "greet")
    #expect(interfaces.current(of: self.app.id)?.recognitionGrammar === before)
    #expect(interfaces.status(of: self.app.id) == problem.map { .refused($0.failure) })
    #expect(self.intent(try await self.restarted(), "hello") == "greet")
  }

  private func restarted() async throws -> AppInterfaces {
    let interfaces = self.interfaces()
    try await interfaces.load([self.app])
    return interfaces
  }

  @Test func refusesASecondDeploymentOfTheSameAppAtTheSameTime() throws {
    let interfaces = self.interfaces()
    try interfaces.begin(self.app.id)
    let failure = #expect(throws: VoiceFailure.self) { try interfaces.begin(self.app.id) }
    #expect(failure?.code == .deploymentBusy)
    interfaces.abandon(self.app.id)
    try interfaces.begin(self.app.id)
  }

  @Test func refusesAConfigurationInAnotherLanguageThanTheApp() async throws {
    let interfaces = self.interfaces()
    try interfaces.begin(self.app.id)
    let source = InterfaceSource(form: .yaml, bytes: Array("lang: fi-FI\ntemplates: \"*greet moi\"\n".utf8))
    let problem = await #expect(throws: InterfaceProblem.self) {
      _ = try await interfaces.deploy(source, to: self.app)
    }
    #expect(problem?.failure.message.contains("lang: en-US") == true)
  }

  @Test func doesNotStartWithTemplatesThatAreBad() async throws {
    var templated = self.app
    templated.templates = self.folder.path + "/home.sal"
    let app = templated
    try Data("*on turn $rom\n".utf8).write(to: URL(fileURLWithPath: self.folder.path + "/home.sal"))
    let log = CapturingLog()
    let interfaces = self.interfaces(log: log)
    let failure = await #expect(throws: VoiceFailure.self) { try await interfaces.load([app]) }
    #expect(failure?.code == .interfaceInvalid)
    #expect(failure?.message.contains("home.sal:1:10: ") == true, "\(failure?.message ?? "")")
    #expect(log.text.contains("home.sal:1:10: "))
  }

  @Test func doesNotStartWithADamagedRecord() async throws {
    try await self.deploy(Self.yaml("*greet hello"), to: self.interfaces())
    let file = "\(self.folder.path)/interfaces/\(self.app.id.uuidString.lowercased())/current.json"
    try Data().write(to: URL(fileURLWithPath: file))
    let failure = await #expect(throws: VoiceFailure.self) { _ = try await self.restarted() }
    #expect(failure?.code == .keptStateInvalid)
    #expect(failure?.message.contains(file) == true)
  }

  @Test func doesNotStartWithoutAConfigurationThatWasDeployed() async throws {
    try await self.deploy(Self.yaml("*greet hello"), to: self.interfaces())
    let folder = "\(self.folder.path)/interfaces/\(self.app.id.uuidString.lowercased())"
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasSuffix(".yaml") {
      try FileManager.default.removeItem(atPath: folder + "/" + name)
    }
    let failure = await #expect(throws: VoiceFailure.self) { _ = try await self.restarted() }
    #expect(failure?.code == .keptStateInvalid)
  }

  @Test func refusesADeploymentThatCannotBeKept() async throws {
    try Data().write(to: URL(fileURLWithPath: self.folder.path + "/interfaces"))
    let interfaces = self.interfaces()
    try interfaces.begin(self.app.id)
    let problem = await #expect(throws: InterfaceProblem.self) {
      _ = try await interfaces.deploy(Self.yaml("*greet hello"), to: self.app)
    }
    #expect(problem?.failure.code == .dataFolderNotWritable)
    #expect(interfaces.current(of: self.app.id) == nil)
  }

  @Test func hasNoSourceOfAnAppWithoutConfiguration() async throws {
    let interfaces = self.interfaces()
    let failure = await #expect(throws: VoiceFailure.self) { _ = try await interfaces.source(of: self.app) }
    #expect(failure?.code == .interfaceMissing)
  }

  // MARK: Deployment

  @Test func replacesAConfigurationInOneStepAndLeavesTheOldOneToThoseWhoTookIt() async throws {
    let interfaces = self.interfaces()
    #expect(interfaces.status(of: self.app.id) == .new)
    try await self.deploy(Self.yaml("*greet hello"), to: interfaces)
    let old = try #require(interfaces.current(of: self.app.id))
    #expect(interfaces.status(of: self.app.id) == .deployed)
    try await self.deploy(Self.yaml("*bye goodbye"), to: interfaces)
    #expect(self.intent(interfaces, "goodbye") == "bye")
    #expect(self.intent(interfaces, "hello") == nil)
    #expect(old.understanding.understand("hello", in: .current) != nil)
    #expect(interfaces.current(of: self.app.id)?.recognitionGrammar !== old.recognitionGrammar)
  }

  @Test func keepsWhatWasDeployedOverARestart() async throws {
    try await self.deploy(Self.yaml("*greet hello"), to: self.interfaces())
    let interfaces = try await self.restarted()
    #expect(self.intent(interfaces, "hello") == "greet")
    #expect(interfaces.current(of: self.app.id)?.deployedAt == 1_700_000_000)
    #expect(try await interfaces.source(of: self.app) == Self.yaml("*greet hello"))
  }

  @Test func keepsTheConfigurationBeforeTheCurrentOne() async throws {
    let interfaces = self.interfaces()
    var ids: [UUID] = []
    for word in ["one", "two", "three"] {
      try await self.deploy(Self.yaml("*say \(word)"), to: interfaces)
      ids.append(try #require(interfaces.current(of: self.app.id)).configID)
    }
    #expect(try await interfaces.source(of: self.app, configID: ids[1]) == Self.yaml("*say two"))
    let first = ids[0]
    await #expect(throws: VoiceFailure.self) {
      _ = try await interfaces.source(of: self.app, configID: first)
    }
  }

  @Test func prefersWhatWasDeployedToTheFileOfTheServersConfiguration() async throws {
    var app = self.app
    app.templates = self.folder.path + "/home.sal"
    try Data("*fromFile hello\n".utf8).write(to: URL(fileURLWithPath: self.folder.path + "/home.sal"))
    let first = self.interfaces()
    try await first.load([app])
    #expect(self.intent(first, "hello") == "fromFile")
    try await self.deploy(Self.yaml("*deployed hello"), to: first)
    let second = self.interfaces()
    try await second.load([app])
    #expect(self.intent(second, "hello") == "deployed")
  }

  @Test func givesTheDemoAppItsBuiltInConfiguration() async throws {
    let interfaces = self.interfaces()
    try await interfaces.load([.demo, self.app])
    let demo = try #require(interfaces.current(of: ServerConfiguration.App.demo.id))
    #expect(demo.understanding.interface.intents.count >= 10)
    let utterance = demo.understanding.understand("turn on the lights in the kitchen", in: .current)
    #expect(utterance?.annotated.text == "*turn_on turn on the [lights](device) in the [kitchen](room)")
    #expect(interfaces.current(of: self.app.id) == nil)
  }

  @Test func theDemoConfigurationHasNothingToComplainAbout() {
    let loaded = VoiceInterface.load(files: DemoInterface.files, packs: [EnglishPack()])
    #expect(loaded.diagnostics.isEmpty, "\(loaded.rendered())")
  }
}
