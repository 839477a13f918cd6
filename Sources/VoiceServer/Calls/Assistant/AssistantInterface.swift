import Foundation
import SpeechPipeline
import SpeechUnderstanding
import Synchronization
import VoiceCore

/// What callers of the assistant may say: an app's interface as it is deployed now, and goodbye.
final class AssistantInterface: Sendable {
  /// The intent that ends a call; an app that has one of this name ends it too.
  static let goodbyeIntent = "goodbye"
  /// How callers take their leave.
  static let farewells: Set<String> = ["goodbye", "good bye", "bye", "bye bye", "hang up", "please hang up"]

  private struct Compiled: Sendable {
    var configID: UUID
    var understanding: Understanding
    /// The same object for all calls: recognisers keep what they make from it.
    var grammar: RecognitionGrammar
  }

  private let current: @Sendable () -> DeployedInterface?
  private let values: @Sendable () -> ValueContext
  private let compiled = Mutex<Compiled?>(nil)
  private let queue = DispatchQueue(label: "swift-voice.server.assistant.compiler")

  /// - Parameters:
  ///   - current: What the app serves now; `nil` for an app without a configuration, which recognises free text.
  ///   - values: What "tomorrow" is relative to.
  init(
    current: @escaping @Sendable () -> DeployedInterface?, values: @escaping @Sendable () -> ValueContext
  ) {
    self.current = current
    self.values = values
  }

  /// How a call that begins now understands; `nil` for free text.
  ///
  /// The first call after a deployment waits until the templates are compiled with those of goodbye.
  ///
  /// - Throws: ``VoiceFailure`` with `server.configuration.invalid` if they cannot be.
  func understanding() async throws(VoiceFailure) -> ContextUnderstanding? {
    guard let deployed = self.current() else { return nil }
    let compiled = try await self.compiled(deployed)
    return ContextUnderstanding(compiled.understanding, values: self.values(), grammar: compiled.grammar)
  }

  private func compiled(_ deployed: DeployedInterface) async throws(VoiceFailure) -> Compiled {
    // One after the other: calls that come together wait for the first to have compiled.
    let result = await withCheckedContinuation { continuation in
      self.queue.async { continuation.resume(returning: self.compile(deployed)) }
    }
    return try result.get()
  }

  private func compile(_ deployed: DeployedInterface) -> Result<Compiled, VoiceFailure> {
    if let known = self.compiled.withLock({ $0 }), known.configID == deployed.configID {
      return .success(known)
    }
    do throws(VoiceFailure) {
      let understanding = try Self.addingGoodbye(to: deployed.understanding.interface)
      let compiled = Compiled(
        configID: deployed.configID, understanding: understanding,
        grammar: RecognitionGrammar(understanding))
      self.compiled.withLock { $0 = compiled }
      return .success(compiled)
    } catch {
      return .failure(error)
    }
  }

  /// Compiles an interface together with the ways to say goodbye.
  static func addingGoodbye(to interface: VoiceInterface) throws(VoiceFailure) -> Understanding {
    let packs: [any LanguagePack] = InterfaceCompiler.packs
    guard let pack = interface.languagePack(among: packs) else {
      throw VoiceFailure(
        .configurationInvalid, message: "The language \(interface.language) cannot be understood here.")
    }
    var interface = interface
    let own = try Understanding(
      templates: self.farewells.sorted().map { "*\(self.goodbyeIntent) \($0)" }.joined(separator: "\n"),
      packs: [pack])
    interface.program.templates += own.interface.program.templates
    if !interface.intents.contains(self.goodbyeIntent) { interface.intents.append(self.goodbyeIntent) }
    return try Understanding(interface, language: pack)
  }
}
