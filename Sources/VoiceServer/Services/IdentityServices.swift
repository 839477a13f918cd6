import Foundation
import GRPCCore
import SpeechProtocol
import SwiftProtobuf
import VoiceCore

/// `speechly.identity.v1.Identity`: the login of the first client generation.
struct IdentityServiceV1: Speechly_Identity_V1_Identity.SimpleServiceProtocol {
  let desk: LoginDesk

  func login(
    request: Speechly_Identity_V1_LoginRequest, context: ServerContext
  ) async throws -> Speechly_Identity_V1_LoginResponse {
    do throws(Refusal) {
      let issued = try await self.desk.login(
        .application(
          request.appID, language: request.languageCode, configID: request.configID),
        deviceID: request.deviceID, from: Peer.host(of: context.remotePeer))
      return .with { $0.token = issued.text }
    } catch {
      throw RPCError(error)
    }
  }
}

/// `speechly.identity.v2.IdentityAPI`: the login for an app or for all apps of a project.
struct IdentityServiceV2: Speechly_Identity_V2_IdentityAPI.SimpleServiceProtocol {
  let desk: LoginDesk

  func login(
    request: Speechly_Identity_V2_LoginRequest, context: ServerContext
  ) async throws -> Speechly_Identity_V2_LoginResponse {
    let target: LoginDesk.Target =
      switch request.scope {
      case .application(let scope):
        .application(scope.appID, language: "", configID: scope.configID)
      case .project(let scope): .project(scope.projectID)
      case nil: .nothing
      }
    do throws(Refusal) {
      let issued = try await self.desk.login(
        target, deviceID: request.deviceID, from: Peer.host(of: context.remotePeer))
      return .with {
        $0.token = issued.text
        $0.validForS = UInt32(clamping: issued.validFor)
        $0.expiresAtEpoch = UInt64(clamping: issued.expiresAt)
        $0.expiresAt = Self.date(ofEpoch: issued.expiresAt)
      }
    } catch {
      throw RPCError(error)
    }
  }

  /// A date and time in UTC as ISO 8601, with the offset in figures: Python before 3.11 does not read a `Z`.
  static func date(ofEpoch seconds: Int64) -> String {
    let date = Date(timeIntervalSince1970: TimeInterval(seconds))
    let text = date.formatted(.iso8601)
    return text.hasSuffix("Z") ? text.dropLast() + "+00:00" : text
  }
}

/// Reads the descriptions of peers that gRPC gives.
enum Peer {
  /// The address without the port: `ipv4:127.0.0.1:4711` gives `127.0.0.1`.
  static func host(of peer: String) -> String {
    guard let kind = peer.firstIndex(of: ":"), let port = peer.lastIndex(of: ":"), kind < port else {
      return peer
    }
    return String(peer[peer.index(after: kind)..<port])
  }
}
