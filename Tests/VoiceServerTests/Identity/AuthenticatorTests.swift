import GRPCCore
import Testing
import VoiceCore

@testable import VoiceServer

@Suite struct AuthenticatorTests {
  static func authenticator(now: Int64 = 1_700_000_000) async throws -> Authenticator {
    let configuration = Fixture.configuration()
    return try await Authenticator(
      configuration: configuration, apps: try AppRegistry(configuration),
      tokens: await Fixture.authority(now: now),
      key: Fixture.key())
  }

  static func refusal(_ metadata: Metadata, now: Int64 = 1_700_000_000) async throws -> Refusal? {
    let authenticator = try await Self.authenticator(now: now)
    do throws(Refusal) {
      _ = try await authenticator.principal(of: metadata)
      return nil
    } catch {
      return error
    }
  }

  @Test func withoutATokenARequestIsUnauthenticated() async throws {
    let refusal = try await Self.refusal([:])
    #expect(refusal?.status == .unauthenticated)
    #expect(refusal?.failure.code == .credentialsRejected)
    #expect(refusal?.failure.message.contains("authorization: Bearer") == true)
  }

  @Test(arguments: ["", "Bearer", "Basic abc", "Bearer a b", "token"])
  func anUnreadableHeaderIsUnauthenticated(_ value: String) async throws {
    #expect(try await Self.refusal(["authorization": .string(value)])?.status == .unauthenticated)
  }

  @Test func aGarbledTokenIsDenied() async throws {
    let refusal = try await Self.refusal(["authorization": "Bearer nonsense"])
    #expect(refusal?.status == .permissionDenied)
    #expect(refusal?.failure.code == .credentialsRejected)
  }

  @Test func anExpiredTokenIsDeniedByName() async throws {
    let token = try await Fixture.authority().issue(.application(Fixture.appID), deviceID: Fixture.deviceID)
    let refusal = try await Self.refusal(
      ["authorization": "Bearer \(token.text)"], now: 1_700_000_000 + 90_000)
    #expect(refusal?.status == .permissionDenied)
    #expect(refusal?.failure.code == .tokenExpired)
  }

  @Test func theTokenOfAnAppThatIsGoneIsNotFound() async throws {
    let token = try await Fixture.authority().issue(
      .application("00000000-0000-4000-8000-00000000dead"), deviceID: Fixture.deviceID)
    let refusal = try await Self.refusal(["authorization": "Bearer \(token.text)"])
    #expect(refusal?.status == .notFound)
    #expect(refusal?.failure.code == .unknownApp)
  }

  @Test func tooMuchMetadataIsRefused() async throws {
    let refusal = try await Self.refusal(["x": .string(String(repeating: "x", count: 9000))])
    #expect(refusal?.status == .resourceExhausted)
    #expect(refusal?.failure.message.contains("8192") == true)
  }

  @Test(arguments: ["Bearer", "bearer", "BEARER"])
  func oddMetadataIsTolerated(_ scheme: String) async throws {
    let token = try await Fixture.authority().issue(.application(Fixture.appID), deviceID: Fixture.deviceID)
    let principal = try await Self.authenticator().principal(of: [
      "authorization": .string("\(scheme) \(token.text)"), "6f9619ff-8b86-d011-b42d-00cf4fc964ff": "",
      "x-bin": .binary([0, 1, 2]),
    ])
    #expect(principal == .application(.demo))
  }

  @Test func aProjectsTokenAndKeyNameTheProject() async throws {
    let token = try await Fixture.authority().issue(.project(Fixture.projectID), deviceID: Fixture.deviceID)
    let authenticator = try await Self.authenticator()
    for text in [token.text, Fixture.apiKey] {
      let principal = try await authenticator.principal(of: ["authorization": .string("Bearer \(text)")])
      #expect(principal == .project(ServerConfiguration.App.demo.project))
    }
    let wrong = Fixture.apiKey.dropLast() + "x"
    #expect(
      try await Self.refusal(["authorization": .string("Bearer \(wrong)")])?.status == .permissionDenied)
  }
}
