public import Foundation

/// An access token: a JSON web token with what it says of itself. (Source: protocol §1.7, §2.3.)
///
/// The signature is not verified: only the server that issued the token can do that.
public struct ApiAccessToken: Hashable, Sendable {
  /// What a token allows.
  public enum AuthScope: Hashable, Sendable, CaseIterable {
    /// Streaming speech.
    case SLU
    /// Written text.
    case WLU
  }

  /// The app; for a token of a whole project, the project.
  public let appId: UUID
  /// The project, for a token of all apps of a project.
  public let projectId: UUID?
  /// The device that the token was issued to.
  public let deviceId: UUID
  /// When the token ends.
  public let expiresAt: Date
  /// When the token was issued, if it says so.
  public let issuedAt: Date?
  /// What the token allows.
  public let scopes: Set<AuthScope>
  /// The token as it is sent.
  public let tokenString: String

  /// Reads a token; `nil` if it is not a JSON web token with the claims that are needed.
  ///
  /// Base64url with and without padding is read, numbers may be integers or not, and unknown claims and scopes are skipped.
  public init?(tokenString: String) {
    let parts = tokenString.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let payload = Self.decodeBase64URL(parts[1]),
      let claims = try? JSONDecoder().decode(Claims.self, from: payload),
      let deviceId = UUID(uuidString: claims.deviceId),
      claims.exp.isFinite, claims.exp > 0, claims.exp < 1e12
    else { return nil }
    let appId = claims.appId.flatMap { UUID(uuidString: $0) }
    let projectId = claims.projectId.flatMap { UUID(uuidString: $0) }
    guard let key = appId ?? projectId else { return nil }
    self.appId = key
    self.projectId = projectId
    self.deviceId = deviceId
    self.expiresAt = Date(timeIntervalSince1970: claims.exp)
    self.issuedAt = claims.iat.flatMap { $0.isFinite ? Date(timeIntervalSince1970: $0) : nil }
    self.scopes = Set(
      claims.scope.split(separator: " ").compactMap { word in
        switch word {
        case "slu": .SLU
        case "wlu": .WLU
        default: nil
        }
      })
    self.tokenString = tokenString
  }

  /// Creates a token of one app from its parts.
  public init(appId: UUID, deviceId: UUID, expiresAt: Date, scopes: Set<AuthScope>, tokenString: String) {
    self.appId = appId
    self.projectId = nil
    self.deviceId = deviceId
    self.expiresAt = expiresAt
    self.issuedAt = nil
    self.scopes = scopes
    self.tokenString = tokenString
  }

  /// Whether the token is for this app and device and stays valid for the given number of seconds.
  public func validate(appId: UUID, deviceId: UUID, expiresIn: TimeInterval) -> Bool {
    self.appId == appId && self.deviceId == deviceId && self.validateExpiry(expiresIn: expiresIn)
  }

  /// Whether the token is for this app or project and device and stays valid for the given number of seconds.
  public func validate(key: UUID, deviceId: UUID, expiresIn: TimeInterval) -> Bool {
    self.key() == key && self.deviceId == deviceId && self.validateExpiry(expiresIn: expiresIn)
  }

  /// Whether the token stays valid for the given number of seconds.
  public func validateExpiry(expiresIn: TimeInterval) -> Bool {
    self.expiresAt.timeIntervalSinceNow > expiresIn
  }

  /// The app or project that the token is for.
  public func key() -> UUID {
    self.appId
  }

  private struct Claims: Decodable {
    var appId: String?
    var projectId: String?
    var deviceId: String
    var scope: String
    var exp: Double
    var iat: Double?
  }

  private static func decodeBase64URL(_ text: Substring) -> Data? {
    var base64 = String(text).replacing("-", with: "+").replacing("_", with: "/")
    while base64.hasSuffix("=") { base64.removeLast() }
    base64 += String(repeating: "=", count: (4 - base64.count % 4) % 4)
    return Data(base64Encoded: base64)
  }
}

/// A token never appears in a log by being printed.
extension ApiAccessToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String {
    "ApiAccessToken(key: \(self.key()), deviceId: \(self.deviceId), expiresAt: \(self.expiresAt))"
  }
  public var debugDescription: String { self.description }
  public var customMirror: Mirror { Mirror(self, children: ["description": self.description]) }
}
