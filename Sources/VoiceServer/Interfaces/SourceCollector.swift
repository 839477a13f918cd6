import Foundation
import Synchronization
import VoiceCore

/// Puts a configuration together that comes in pieces.
final class SourceCollector: Sendable {
  /// The largest configuration that is taken, in bytes.
  static let sizeLimit = 64 * 1024 * 1024

  private let collected = Mutex<(bytes: [UInt8], form: InterfaceSource.Form?)>(([], nil))

  /// Takes a piece.
  ///
  /// - Parameter form: What the first piece says of the form, if it says anything.
  /// - Throws: ``Refusal`` with `server.interface.too-large`.
  func append(_ piece: Data, form: InterfaceSource.Form?) throws(Refusal) {
    try self.collected.withLock { state throws(Refusal) in
      guard piece.count <= Self.sizeLimit - state.bytes.count else {
        throw Refusal(
          .interfaceTooLarge,
          "The configuration has more than \(Self.sizeLimit / 1024 / 1024) MB. Leave out files that it does not need."
        )
      }
      state.form = state.form ?? form
      state.bytes += piece
    }
  }

  /// What came; without a word about its form it is what it looks like.
  ///
  /// - Throws: ``Refusal`` with `server.interface.archive-invalid` if nothing came.
  func source() throws(Refusal) -> InterfaceSource {
    let (bytes, form) = self.collected.withLock { $0 }
    guard !bytes.isEmpty else {
      throw Refusal(.archiveInvalid, "There is no configuration in the request. Send it in data_chunk.")
    }
    let looksLikeTar = bytes.dropFirst(257).prefix(5).elementsEqual("ustar".utf8)
    return InterfaceSource(form: form ?? (looksLikeTar ? .tar : .yaml), bytes: bytes)
  }
}
