import Foundation
package import SpeechPipeline

/// Makes the token with which a client goes on from a resume point, and takes it back.
package protocol ResumePointSealing: Sendable {
  /// The token of what a recogniser learned, or `nil` if it cannot be one; empty knowledge has a token too.
  func seal(_ adaptation: RecognizerAdaptation?) -> [UInt8]?

  /// What the text form (base64) of a token holds, or `nil` if it is not one of ours.
  func open(text: String) -> RecognizerAdaptation?
}

/// Tokens that say what they hold, for a recogniser in the client's own process; its first byte tells them from those
/// of a server.
package struct OpenResumePoints: ResumePointSealing {
  private static let mark: UInt8 = 0xfe

  package init() {}

  package func seal(_ adaptation: RecognizerAdaptation?) -> [UInt8]? {
    let bytes = adaptation?.bytes ?? []
    return bytes.count <= RecognizerAdaptation.maximumByteCount ? [Self.mark] + bytes : nil
  }

  package func open(text: String) -> RecognizerAdaptation? {
    guard let token = Data(base64Encoded: text), token.first == Self.mark,
      token.count <= 1 + RecognizerAdaptation.maximumByteCount
    else { return nil }
    return RecognizerAdaptation(bytes: Array(token.dropFirst()))
  }
}
