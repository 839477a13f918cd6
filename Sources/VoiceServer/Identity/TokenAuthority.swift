import Foundation
import JWTKit
import VoiceCore

/// Issues and checks access tokens (JSON web tokens, HS256).
///
/// The form of a token follows what all published clients accept (`speechly.identity`, "the token"): no claim that
/// was not asked for, identifiers exactly as they were sent, whole seconds, no text that a decoder without the
/// URL-safe alphabet or with wrong padding stumbles over.
struct TokenAuthority: Sendable {
  /// What the holder of a token may use.
  enum Scope: Hashable, Sendable {
    case application(String)
    case project(String)
  }

  /// A new token.
  struct Issued: Hashable, Sendable {
    var text: String
    /// Seconds since 1970-01-01T00:00:00 UTC.
    var expiresAt: Int64
    /// Seconds from now.
    var validFor: Int64
  }

  /// How wrong the clocks of two servers with one key may be.
  static let clockSkew: Int64 = 30

  private let keys: JWTKeyCollection
  private let lifetime: Int64
  private let now: @Sendable () -> Int64

  /// Creates the authority.
  ///
  /// - Parameters:
  ///   - key: The server's secret.
  ///   - lifetime: How long tokens are valid; whole seconds count.
  ///   - now: The time in seconds since 1970-01-01T00:00:00 UTC.
  init(key: SigningKey, lifetime: Duration, now: @escaping @Sendable () -> Int64) async {
    self.keys = await JWTKeyCollection().add(
      hmac: HMACKey(from: key.bytes), digestAlgorithm: .sha256)
    self.lifetime = lifetime.components.seconds
    self.now = now
  }

  /// Issues a token for a device.
  ///
  /// - Parameters:
  ///   - scope: The app or project, as the client wrote it.
  ///   - deviceID: The device, as the client wrote it.
  ///   - configID: The configuration that was asked for, or `nil`.
  func issue(
    _ scope: Scope, deviceID: String, configID: String? = nil
  ) async throws(VoiceFailure) -> Issued {
    let expiry = self.now() + self.lifetime
    var claims = AccessClaims(
      scope: "slu wlu", deviceId: deviceID, configId: configID, exp: expiry, iss: AccessClaims.issuer,
      aud: AccessClaims.issuer)
    switch scope {
    case .application(let id): claims.appId = id
    case .project(let id): claims.projectId = id
    }
    do {
      // One published decoder pads wrongly unless the length is 0 or 2 modulo 4; one or two filler
      // characters always reach that.
      for filler in [nil, "x", "xx", "xxx"] {
        claims.filler = filler
        let text = try await self.keys.sign(claims)
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[1].utf8.count % 4 != 3 else { continue }
        return Issued(text: text, expiresAt: expiry, validFor: self.lifetime)
      }
    } catch {
      throw VoiceFailure(.unexpected, message: "The access token could not be made.", cause: error)
    }
    throw VoiceFailure(.unexpected, message: "The access token could not be made.")
  }

  /// The claims of a token that this authority issued and that is still valid.
  ///
  /// - Throws: ``VoiceFailure`` with `speech.identity.token-expired` or `speech.identity.credentials-rejected`.
  func verify(_ token: String) async throws(VoiceFailure) -> AccessClaims {
    let rejected = VoiceFailure(
      .credentialsRejected,
      message: "The access token is not one of this server. Log in again to get a new one.")
    let claims: AccessClaims
    do {
      // What a token says of its own algorithm decides nothing: only the server's one is accepted.
      let header = try DefaultJWTParser().parse(Array(token.utf8), as: AccessClaims.self).header
      guard header.alg == "HS256" else { throw rejected }
      claims = try await self.keys.verify(token, as: AccessClaims.self)
    } catch {
      throw rejected
    }
    guard (claims.appId == nil) != (claims.projectId == nil) else { throw rejected }
    guard claims.exp > self.now() - Self.clockSkew else {
      throw VoiceFailure(
        .tokenExpired,
        message:
          "The access token has expired. Log in again to get a new one; if it is new, check the clocks.")
    }
    return claims
  }
}

extension TokenAuthority {
  /// Whom a token for calls lets in.
  struct CallToken: Hashable, Sendable {
    var user: String
    /// How often tokens of the user had been revoked when it was issued.
    var generation: Int
  }

  /// Issues a token that lets a user of the gateway for calls in (`login_token`, telnyx.md section 2.2).
  func issueCallToken(for user: String, generation: Int = 0) async throws(VoiceFailure) -> Issued {
    let expiry = self.now() + self.lifetime
    do {
      let claims = CallClaims(
        sub: user, exp: expiry, iss: AccessClaims.issuer, aud: CallClaims.audience, gen: generation)
      return Issued(text: try await self.keys.sign(claims), expiresAt: expiry, validFor: self.lifetime)
    } catch {
      throw VoiceFailure(.unexpected, message: "The token could not be made.", cause: error)
    }
  }

  /// The user of a token that this authority issued for calls and that is still valid.
  ///
  /// - Throws: ``VoiceFailure`` with `speech.identity.token-expired` or `speech.identity.credentials-rejected`.
  func verifyCallToken(_ token: String) async throws(VoiceFailure) -> CallToken {
    let rejected = VoiceFailure(
      .credentialsRejected, message: "The token is not one of this server for calls.")
    let claims: CallClaims
    do {
      // What a token says of its own algorithm decides nothing: only the server's one is accepted.
      let header = try DefaultJWTParser().parse(Array(token.utf8), as: CallClaims.self).header
      guard header.alg == "HS256" else { throw rejected }
      claims = try await self.keys.verify(token, as: CallClaims.self)
    } catch {
      throw rejected
    }
    guard claims.aud == CallClaims.audience, CallUser.isName(claims.sub) else { throw rejected }
    guard claims.exp > self.now() - Self.clockSkew else {
      throw VoiceFailure(.tokenExpired, message: "The token has expired. Get a new one.")
    }
    return CallToken(user: claims.sub, generation: claims.gen ?? 0)
  }
}

/// The claims of a token for calls; another audience than an access token's, so that neither passes for the other.
struct CallClaims: JWTPayload, Hashable {
  static let audience = "swift-voice-calls"

  var sub: String
  var exp: Int64
  var iss: String
  var aud: String
  /// The generation; not every version of the server wrote it.
  var gen: Int?

  // The time is checked by the authority, with its own clock.
  func verify(using key: some JWTAlgorithm) throws {}
}

/// The claims of an access token; the names are those that published clients read.
struct AccessClaims: JWTPayload, Hashable {
  static let issuer = "swift-voice"

  var appId: String?
  var projectId: String?
  /// What the token is good for, separated by spaces.
  var scope: String
  var deviceId: String
  var configId: String?
  var exp: Int64
  var iss: String
  var aud: String
  var filler: String?

  init(
    scope: String, deviceId: String, configId: String?, exp: Int64, iss: String, aud: String
  ) {
    self.scope = scope
    self.deviceId = deviceId
    self.configId = configId
    self.exp = exp
    self.iss = iss
    self.aud = aud
  }

  // The time is checked by the authority, with its own clock.
  func verify(using key: some JWTAlgorithm) throws {}
}
