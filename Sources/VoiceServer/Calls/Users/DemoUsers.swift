import CallSignaling
import Foundation
import VoiceCore
import VoicePlatform

/// The two users of a server without configured users: `alice` and `bob`.
///
/// Their passwords are random, made once and kept in the data folder, readable by the server's user alone. A password that stands
/// in a document would let everybody in as soon as somebody opens the port to a network.
public struct DemoUser: Hashable, Sendable {
  /// The name.
  public let name: String
  /// The password.
  public let password: String

  /// Creates a value.
  public init(name: String, password: String) {
    self.name = name
    self.password = password
  }

  static let fileName = "demo-users"
  private static let names = ["alice", "bob"]

  /// The demo users of a data folder; makes them if there are none.
  ///
  /// - Throws: ``VoiceFailure`` with `server.data-folder.not-writable`, `server.data-folder.full` or
  ///   `server.data-folder.invalid`.
  static func load(
    dataFolder: String, using generator: inout some RandomNumberGenerator
  ) throws(VoiceFailure) -> [DemoUser] {
    let folder = StateDirectory(path: dataFolder, codes: .server)
    if try folder.read(Self.fileName) == nil {
      let alphabet = Array("abcdefghjkmnpqrstuvwxyz23456789")
      var text = ""
      for name in Self.names {
        let password = String((0..<16).compactMap { _ in alphabet.randomElement(using: &generator) })
        text += "\(name) \(password)\n"
      }
      try folder.write(Array(text.utf8), to: Self.fileName)
    }
    // Another server may have been faster; what is in the folder now are the users of both.
    let lines = String(decoding: try folder.read(Self.fileName) ?? [], as: UTF8.self)
      .split(whereSeparator: \.isNewline)
    let users = lines.compactMap { line -> DemoUser? in
      let parts = line.split(separator: " ")
      guard parts.count == 2, CallUser.isName(String(parts[0])), parts[1].utf8.count >= 8 else { return nil }
      return DemoUser(name: String(parts[0]), password: String(parts[1]))
    }
    guard !users.isEmpty, users.count == lines.count else {
      throw VoiceFailure(
        .keptStateInvalid,
        message: "The file \(folder.path)/\(Self.fileName) does not hold users. "
          + "Restore it, or remove it to get new passwords.")
    }
    return users
  }
}
