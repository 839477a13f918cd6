import Foundation
import GRPCCore
import JWTKit
import VoiceCore

/// Finds out whom a request belongs to, from its metadata `authorization: Bearer …`.
///
/// Accepted are access tokens of this server and the API keys of projects. Without either the request is
/// UNAUTHENTICATED; an expired or otherwise invalid token is PERMISSION_DENIED, as the protocol documents it.
struct Authenticator: Sendable {
  private let apps: AppRegistry
  private let tokens: TokenAuthority
  private let metadataLimit: Int
  private let apiKeys: [(code: [UInt8], project: UUID)]
  private let comparisonKey: any JWTAlgorithm

  init(
    configuration: ServerConfiguration, apps: AppRegistry, tokens: TokenAuthority, key: SigningKey
  ) async throws {
    let comparisonKey = try await JWTKeyCollection()
      .add(hmac: HMACKey(from: key.bytes), digestAlgorithm: .sha256).getKey()
    self.apps = apps
    self.tokens = tokens
    self.metadataLimit = configuration.limits.metadataBytes
    self.comparisonKey = comparisonKey
    self.apiKeys = try configuration.projects.flatMap { project in
      try project.apiKeys.map {
        (code: try comparisonKey.sign(Array($0.utf8)), project: project.id)
      }
    }
  }

  /// What a token may be used for.
  enum Scope: String, Sendable {
    /// Streams of speech.
    case speech = "slu"
    /// Written text.
    case text = "wlu"
  }

  /// Whom the request belongs to.
  func principal(of metadata: Metadata, for scope: Scope = .speech) async throws(Refusal) -> Principal {
    let token = try self.token(of: metadata)
    if let project = self.project(ofKey: token) { return .project(project) }
    do throws(VoiceFailure) {
      let claims = try await self.tokens.verify(token)
      guard claims.scope.split(separator: " ").contains(where: { $0 == scope.rawValue }) else {
        throw VoiceFailure(
          .credentialsRejected,
          message: "The access token is not good for \(scope.purpose). Log in to get one that is.")
      }
      if let id = claims.projectId { return .project(try self.apps.directory.project(id)) }
      return .application(try self.apps.directory.app(claims.appId ?? ""))
    } catch {
      throw Refusal(error)
    }
  }

  /// The project whose API key the request has; the tokens of logins, which anybody can get, are refused.
  func projectOfKey(in metadata: Metadata) throws(Refusal) -> UUID {
    guard let project = self.project(ofKey: try self.token(of: metadata)) else {
      throw Refusal(
        .credentialsRejected,
        "This needs the API key of a project. Send one of the server's configuration as "
          + "\"authorization: Bearer <key>\".")
    }
    return project
  }

  private func token(of metadata: Metadata) throws(Refusal) -> String {
    try self.checkSize(of: metadata)
    guard let header = metadata[stringValues: "authorization"].first(where: { _ in true }) else {
      throw Refusal(
        .credentialsRejected,
        "There is no access token. Log in and send it as metadata \"authorization: Bearer <token>\".",
        status: .unauthenticated)
    }
    let parts = header.split(separator: " ", omittingEmptySubsequences: true)
    guard parts.count == 2, parts[0].lowercased() == "bearer" else {
      throw Refusal(
        .credentialsRejected,
        "The metadata \"authorization\" cannot be read. Send it as \"authorization: Bearer <token>\".",
        status: .unauthenticated)
    }
    return String(parts[1])
  }

  // The codes are compared, not the keys, so that the time it takes tells nothing about a key.
  private func project(ofKey text: String) -> UUID? {
    guard !self.apiKeys.isEmpty, let code = try? self.comparisonKey.sign(Array(text.utf8)) else {
      return nil
    }
    return self.apiKeys.first { $0.code == code }?.project
  }

  private func checkSize(of metadata: Metadata) throws(Refusal) {
    var size = 0
    for (key, value) in metadata {
      size += key.utf8.count
      switch value {
      case .string(let text): size += text.utf8.count
      case .binary(let bytes): size += bytes.count
      }
    }
    guard size <= self.metadataLimit else {
      throw Refusal(
        .requestInvalid,
        "The metadata has \(size) bytes. Send at most \(self.metadataLimit) bytes.",
        status: .resourceExhausted)
    }
  }
}

extension Authenticator.Scope {
  fileprivate var purpose: String {
    switch self {
    case .speech: "speech recognition"
    case .text: "the understanding of text"
    }
  }
}
