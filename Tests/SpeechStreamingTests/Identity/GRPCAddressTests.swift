import Testing
import VoiceCore

@testable import SpeechStreaming

@Suite struct GRPCAddressTests {
  /// Somebody may put a password where addresses of other protocols have one; it must reach no screen and no log.
  @Test(arguments: [
    ("grpc://ann:secret@host:1", "grpc://…@host:1"),
    ("grpc+tls://secret@host", "grpc+tls://…@host"),
    ("grpc://ann:sec@secret@host", "grpc://…@host"),
    ("grpc://ann:sec/secret@host/path", "grpc://…@host/path"),
    ("http://ann:secret@host", "http://…@host"),
    ("ann:secret@host:1", "…@host:1"),
    ("secret@", "…@"),
    ("sec://secret://secret@host", "sec://…@host"),
  ])
  func theFailureDoesNotShowWhoLogsIn(text: String, shown: String) throws {
    let failure = try #require(throws: VoiceFailure.self) { try GRPCAddress.parse(text) }
    #expect(failure.code == .addressInvalid)
    #expect(failure.message.contains("\"\(shown)\""))
    for description in [failure.message, "\(failure)", String(reflecting: failure)] {
      #expect(!description.contains("secret"))
    }
  }

  @Test(arguments: ["grpc://", "http://host:1", "grpc://host:x", ""])
  func anAddressWithoutSecretsIsShownAsItWasGiven(text: String) throws {
    let failure = try #require(throws: VoiceFailure.self) { try GRPCAddress.parse(text) }
    #expect(failure.message.contains("\"\(text)\""))
  }
}
