import Foundation
import GRPCCore
import SpeechProtocol
import SwiftProtobuf
import Testing
import VoiceCore

@testable import VoiceServer

@Suite struct IdentityServicesTests {
  static func error(_ body: () async throws -> Void) async -> RPCError? {
    do {
      try await body()
      return nil
    } catch {
      return error as? RPCError
    }
  }

  @Test func version1RefusesWhatItDoesNotKnow() async throws {
    let cases: [(Speechly_Identity_V1_LoginRequest, RPCError.Code, String)] = [
      (.init(), .invalidArgument, "speech.identity.login-invalid"),
      (
        .with {
          $0.deviceID = "x"; $0.appID = Fixture.appID
        }, .invalidArgument, "speech.identity.login-invalid"
      ),
      (
        .with {
          $0.deviceID = Fixture.deviceID; $0.appID = "x"
        }, .invalidArgument, "speech.identity.login-invalid"
      ),
      (
        .with {
          $0.deviceID = Fixture.deviceID; $0.appID = "00000000-0000-4000-8000-00000000dead"
        }, .notFound,
        "speech.identity.unknown-app"
      ),
      (
        .with {
          $0.deviceID = Fixture.deviceID; $0.appID = Fixture.appID; $0.languageCode = "fi-FI"
        },
        .invalidArgument, "speech.identity.language-not-offered"
      ),
      (
        .with {
          $0.deviceID = Fixture.deviceID; $0.appID = Fixture.appID
          $0.configID = String(repeating: "x", count: 129)
        },
        .invalidArgument, "speech.identity.login-invalid"
      ),
      (
        .with {
          $0.deviceID = Fixture.deviceID + String(repeating: "x", count: 9000); $0.appID = Fixture.appID
        },
        .invalidArgument, "speech.identity.login-invalid"
      ),
    ]
    try await withServer { running in
      try await running.withClient { client in
        let identity = Speechly_Identity_V1_Identity.Client(wrapping: client.client)
        for (request, status, code) in cases {
          let error = await Self.error { _ = try await identity.login(request) }
          #expect(error?.code == status)
          #expect(error?.failureCode == code)
        }
      }
    }
  }

  @Test func version2RefusesWhatItDoesNotKnow() async throws {
    let cases: [(Speechly_Identity_V2_LoginRequest, RPCError.Code, String)] = [
      (.with { $0.deviceID = Fixture.deviceID }, .invalidArgument, "speech.identity.login-invalid"),
      (
        .with {
          $0.deviceID = Fixture.deviceID; $0.application.appID = Fixture.projectID
        }, .notFound,
        "speech.identity.unknown-app"
      ),
      (
        .with {
          $0.deviceID = Fixture.deviceID; $0.project.projectID = Fixture.appID
        }, .notFound,
        "speech.identity.unknown-app"
      ),
      (
        .with {
          $0.deviceID = ""; $0.project.projectID = Fixture.projectID
        }, .invalidArgument,
        "speech.identity.login-invalid"
      ),
      (
        .with {
          $0.deviceID = Fixture.deviceID; $0.application.appID = Fixture.appID
          $0.application.configID = String(repeating: "é", count: 65)
        }, .invalidArgument,
        "speech.identity.login-invalid"
      ),
    ]
    try await withServer { running in
      try await running.withClient { client in
        let identity = Speechly_Identity_V2_IdentityAPI.Client(wrapping: client.client)
        for (request, status, code) in cases {
          let error = await Self.error { _ = try await identity.login(request) }
          #expect(error?.code == status)
          #expect(error?.failureCode == code)
        }
      }
    }
  }

  @Test func theTokenOfTheLongestConfigIDIsGoodForCalls() async throws {
    try await withServer { running in
      try await running.withClient { client in
        let token = try await Speechly_Identity_V1_Identity.Client(wrapping: client.client).login(
          .with {
            $0.deviceID = Fixture.deviceID
            $0.appID = Fixture.appID
            $0.configID = String(repeating: "x", count: 128)
          }
        ).token
        let (_, error) = try await client.stream(token: token) { try await $0.send(Request.config()) }
        #expect(error == nil)
      }
    }
  }

  @Test func version2SaysWhenTheTokenExpires() async throws {
    try await withServer(now: { 1_700_000_000 }) { running in
      try await running.withClient { client in
        let response = try await Speechly_Identity_V2_IdentityAPI.Client(wrapping: client.client).login(
          .with {
            $0.deviceID = Fixture.deviceID
            $0.application.appID = Fixture.appID
          })
        #expect(response.validForS == 86_400)
        #expect(response.expiresAtEpoch == 1_700_086_400)
        #expect(response.expiresAt == "2023-11-15T22:13:20+00:00")
        let claims = try TokenAuthorityTests.claims(response.token)
        #expect((claims["exp"] as? NSNumber)?.int64Value == 1_700_086_400)
      }
    }
  }

  @Test func tooManyLoginsAreRefusedForNow() async throws {
    var configuration = Fixture.configuration()
    configuration.limits.loginsPerSecond = 1
    try await withServer(configuration) { running in
      try await running.withClient { client in
        var error: RPCError?
        for _ in 0..<40 where error == nil {
          error = await Self.error { _ = try await client.logIn() }
        }
        #expect(error?.code == .resourceExhausted)
        #expect(error?.failureCode == "speech.stream.server-overloaded")
        #expect(error?.metadata[stringValues: "grpc-retry-pushback-ms"].first { _ in true } != nil)
      }
    }
  }

  @Test(arguments: [
    ("ipv4:127.0.0.1:4711", "127.0.0.1"), ("ipv6:[::1]:443", "[::1]"),
    ("in-process:27182", "in-process:27182"),
    ("", ""), (":", ":"),
  ])
  func readsTheAddressOfAPeer(_ peer: String, _ host: String) {
    #expect(Peer.host(of: peer) == host)
  }
}
