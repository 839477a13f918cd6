import Foundation
import JWTKit
import SpeechMessages
import SpeechPipeline
import VoiceCore

/// Seals what a recogniser learned of a channel, so that a client can hand it back but not make it up.
///
/// A token is a version byte, 32 bytes HMAC-SHA256 of the rest, and the adaptation. Its key is derived from the
/// signing key.
struct ResumeTokens: ResumePointSealing {
  private static let version: UInt8 = 1
  private static let codeLength = 32

  private let key: any JWTAlgorithm

  init(key: SigningKey) async throws {
    let parent = try await Self.code(key.bytes)
    let derived = try parent.sign(Array("swift-voice resume token v1".utf8))
    self.key = try await Self.code(derived)
  }

  private static func code(_ bytes: [UInt8]) async throws -> any JWTAlgorithm {
    try await JWTKeyCollection().add(hmac: HMACKey(from: bytes), digestAlgorithm: .sha256).getKey()
  }

  /// The token of an adaptation, or `nil` if it is too large to be one.
  ///
  /// Where nothing was learned the token is valid and empty.
  func seal(_ adaptation: RecognizerAdaptation?) -> [UInt8]? {
    let bytes = adaptation?.bytes ?? []
    guard bytes.count <= RecognizerAdaptation.maximumByteCount,
      let code = try? self.key.sign([Self.version] + bytes)
    else { return nil }
    return [Self.version] + code + bytes
  }

  /// What a token holds, or `nil` if it was not sealed with this key.
  func open(_ token: [UInt8]) -> RecognizerAdaptation? {
    guard token.first == Self.version, token.count >= 1 + Self.codeLength,
      token.count <= 1 + Self.codeLength + RecognizerAdaptation.maximumByteCount
    else { return nil }
    let code = token[1...Self.codeLength]
    let bytes = Array(token.dropFirst(1 + Self.codeLength))
    guard (try? self.key.verify(code, signs: [Self.version] + bytes)) == true else { return nil }
    return RecognizerAdaptation(bytes: bytes)
  }

  /// What the text form (base64) of a token holds, or `nil` if it is not one of this server.
  func open(text: String) -> RecognizerAdaptation? {
    // Four characters for three bytes: anything longer cannot be a token and need not be decoded.
    guard text.utf8.count <= (1 + Self.codeLength + RecognizerAdaptation.maximumByteCount + 2) / 3 * 4,
      let data = Data(base64Encoded: text)
    else { return nil }
    return self.open(Array(data))
  }
}
