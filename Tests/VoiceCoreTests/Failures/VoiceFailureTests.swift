import Testing
import VoiceCore

@Suite struct VoiceFailureTests {
  struct SecretError: Error, CustomStringConvertible {
    var description: String { "token eyJhbGciOi" }
  }

  @Test func theDescriptionHasNoCause() {
    let failure = VoiceFailure(.serverUnreachable, cause: SecretError())
    #expect(!failure.description.contains("eyJ"))
    #expect(!"\(failure)".contains("eyJ"))
    #expect(!"\(failure as any Error)".contains("eyJ"))
    #expect(failure.description == "The server cannot be reached. [network.server.unreachable]")
  }

  @Test func theDebugDescriptionHasTheCause() {
    let failure = VoiceFailure(.serverUnreachable, cause: SecretError())
    #expect(failure.debugDescription.contains("eyJhbGciOi"))
    #expect(String(reflecting: failure).contains("eyJhbGciOi"))
    #expect(failure.debugDescription.contains("network.server.unreachable"))
    #expect(failure.debugDescription.contains("scope: client"))
  }

  @Test func theDebugDescriptionShowsNestedCauses() {
    let inner = VoiceFailure(.connectionLost, cause: SecretError())
    let outer = VoiceFailure(.retriesExhausted, cause: inner)
    #expect(outer.debugDescription.contains("network.connection.lost"))
    #expect(outer.debugDescription.contains("eyJhbGciOi"))
  }

  @Test func whatIsNotGivenComesFromTheCatalogue() throws {
    for definition in FailureCatalogue.areas.flatMap(\.definitions) {
      let failure = VoiceFailure(definition.code)
      #expect(failure.message == definition.happens)
      #expect(failure.recovery == definition.recovery)
      #expect(failure.scope == definition.scope)
      #expect(failure.cause == nil)
    }
  }

  @Test func whatIsGivenIsKept() {
    let failure = VoiceFailure(
      .noInputDevice, message: "m", recovery: .retry, scope: .process, cause: SecretError())
    #expect(failure.message == "m")
    #expect(failure.recovery == .retry)
    #expect(failure.scope == .process)
    #expect(failure.cause is SecretError)
  }

  @Test(arguments: ["", "x", "speech.new.code"]) func anUnknownCodeIsAFailureWithoutAdvice(raw: String) {
    let failure = VoiceFailure(VoiceFailure.Code(raw))
    #expect(failure.code.rawValue == raw)
    #expect(failure.message == raw)
    #expect(failure.recovery == .none)
    #expect(failure.scope == .client)
  }

  @Test func otherAdviceLeavesTheRestAsItIs() {
    let failure = VoiceFailure(.connectionLost, message: "m", cause: SecretError())
    let state = RetryState(attempt: 2, delay: .seconds(1))
    let changed = failure.with(recovery: .automatic(state))
    #expect(changed.recovery == .automatic(state))
    #expect(changed.message == "m")
    #expect(changed.scope == failure.scope)
    #expect(changed.cause is SecretError)
  }

  @Test func equalityIsWhatAnAppCanTell() {
    let failure = VoiceFailure(.connectionLost)
    #expect(failure == VoiceFailure(.connectionLost, cause: SecretError()))
    #expect(failure != VoiceFailure(.serverUnreachable))
    #expect(failure != VoiceFailure(.connectionLost, message: "other"))
    #expect(failure != VoiceFailure(.connectionLost, recovery: .signIn))
    #expect(failure != VoiceFailure(.connectionLost, scope: .process))
  }

  @Test(arguments: [
    (Recovery.retry, "retry"), (.signIn, "sign-in"), (.none, "none"),
    (.grantPermission(.speechRecognition), "grant-permission: speech-recognition"),
    (.changeConfiguration("the port"), "change-configuration: the port"),
    (
      .automatic(RetryState(attempt: 3, limit: 5, delay: .milliseconds(1500))),
      "automatic: try 3 in 1.5 seconds"
    ),
  ])
  func theRecoveryReadsAsAStableWord(recovery: Recovery, text: String) {
    #expect(recovery.description == text)
  }
}
