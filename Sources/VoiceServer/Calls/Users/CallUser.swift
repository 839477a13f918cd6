import CallSignaling
import VoiceCore

/// A user of the gateway with what proves that somebody is that user.
struct CallUser: Hashable, Sendable {
  enum Password: Hashable, Sendable {
    /// As a configuration file has it; whoever reads the file knows it anyway.
    case plain(Secret)
    case hashed(PasswordHash)
    /// Only tokens let this user in.
    case none
  }

  var name: String
  var password: Password

  /// What a name may be: it stands in messages, files and commands.
  static func isName(_ name: String) -> Bool {
    (1...64).contains(name.utf8.count) && !DialPlan.isReserved(name) && !name.hasPrefix("anonymous-")
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"),
          UInt8(ascii: "+"):
          true
        default: false
        }
      }
  }
}

/// Where users are looked up.
protocol CallUserDirectory: Sendable {
  /// A user, or `nil` if there is none of this name.
  func user(named name: String) async throws(VoiceFailure) -> CallUser?

  /// The names of all users.
  func names() async throws(VoiceFailure) -> Set<String>

  /// How often the tokens of a name were revoked; tokens of earlier generations let nobody in.
  func tokenGeneration(of name: String) async throws(VoiceFailure) -> Int
}

/// The users of a configuration first, then those of another directory.
struct ConfiguredUsers: CallUserDirectory {
  let users: [String: CallUser]
  let next: (any CallUserDirectory)?

  init(_ users: [CallUser], next: (any CallUserDirectory)? = nil) {
    self.users = Dictionary(users.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    self.next = next
  }

  func user(named name: String) async throws(VoiceFailure) -> CallUser? {
    if let user = self.users[name] { return user }
    return try await self.next?.user(named: name)
  }

  func names() async throws(VoiceFailure) -> Set<String> {
    let others = try await self.next?.names() ?? []
    return others.union(self.users.keys)
  }

  func tokenGeneration(of name: String) async throws(VoiceFailure) -> Int {
    try await self.next?.tokenGeneration(of: name) ?? 0
  }
}
