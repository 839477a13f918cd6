import Foundation
import SpeechStreaming
import VoiceCore

/// Code as apps have it, and what is new beside it; compiled so that the documentation cannot drift.
final class ExistingApp: SpeechClientDelegate {
  func connect(appId: UUID) throws -> SpeechClient {
    try SpeechClient(
      appId: appId,
      language: .enUS,
      identityAddr: "grpc+tls://voice.example.com",
      sluAddr: "grpc+tls://voice.example.com")
  }

  func speechlyClientDidCatchError(
    _ speechlyClient: any SpeechClientProtocol, error: SpeechClientError
  ) {
    switch error {
    case .networkError(let message), .audioError(let message): print("cannot go on:", message)
    case .apiError(let message), .parseError(let message): print("something is missing:", message)
    }
  }

  func speechlyClientDidFail(_ speechlyClient: any SpeechClientProtocol, failure: VoiceFailure) {
    switch failure.recovery {
    case .automatic(let retry): print("trying again in", retry.delay)
    case .signIn: print("sign in again")
    case .grantPermission(let permission): print("allow the", permission)
    case .changeConfiguration(let what): print("correct", what)
    case .retry: print("try again")
    case .none: print(failure.message)
    }
  }
}

/// The names of generation 0.3.
final class NewerApp: SpeechlyDelegate {
  func run(appId: UUID) throws {
    let client = try Client(appId: appId)
    client.delegate = self
    client.startContext()
    client.stopContext()
  }

  func speechlyClientDidUpdateSegment(_ client: any SpeechlyProtocol, segment: Segment) {}
}
