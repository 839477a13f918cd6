import RealtimeMedia

/// What peers and servers answer to requests of STUN and TURN: what is right, and what the script makes of it.
enum STUNAnswers {
  static let username = "user"
  static let password = "password of the relay"
  static let realm = "realm0"

  /// The password of each peer follows from its user fragment, so that an answer can be signed.
  static func password(of fragment: some StringProtocol) -> String { "\(fragment)-and-22-characters-more" }

  /// An answer to a request; `nil` if it is none.
  ///
  /// - Parameter passwordOf: Gives the password for the fragment of who was asked.
  static func answer(
    to request: [UInt8], from asker: TransportAddress, _ script: inout Script,
    passwordOf: (String) -> String = { STUNAnswers.password(of: $0) }
  ) -> [UInt8]? {
    guard let received = try? ReceivedSTUNMessage(parsing: request), received.message.kind == .request else {
      return nil
    }
    let message = received.message
    let fragment = message.attributes.lazy.compactMap { attribute -> String? in
      guard case .username(let name) = attribute else { return nil }
      return name.split(separator: ":", omittingEmptySubsequences: false).first.map(String.init)
    }.first
    let isCheck = message.method == .binding && fragment != nil
    let key =
      isCheck
      ? STUNMessage.shortTermKey(password: passwordOf(fragment ?? ""))
      : STUNMessage.longTermKey(username: Self.username, realm: Self.realm, password: Self.password)
    let kind = script.choice(10)
    var attributes = Self.attributes(kind, message, received, isCheck: isCheck, asker)
    if kind == 9 { attributes.append(.errorCode(300 + Int(script.uint16() % 400), reason: "")) }
    if script.flag() { attributes = script.attributes() + attributes }
    let isError = attributes.contains { if case .errorCode = $0 { true } else { false } }
    let answer = message.answer(isError ? .error : .success, attributes: attributes)
    let isSigned = isCheck || received.hasIntegrity
    return answer.encoded(integrity: isSigned ? .sha1(key) : nil, fingerprint: isCheck)
  }

  private static func attributes(
    _ kind: Int, _ message: STUNMessage, _ received: ReceivedSTUNMessage, isCheck: Bool,
    _ asker: TransportAddress
  ) -> [STUNAttribute] {
    switch kind {
    case 0...3:
      switch message.method {
      case .binding: return [.xorMappedAddress(asker)]
      case .allocate where !received.hasIntegrity:
        return [.errorCode(401, reason: ""), .realm(Self.realm), .nonce("nonce")]
      case .allocate:
        return [
          .xorRelayedAddress(TransportAddress(Script.serverIP, port: 50_000)), .xorMappedAddress(asker),
          .lifetime(.seconds(600)),
        ]
      default: return [.lifetime(.seconds(600))]
      }
    case 4: return []
    case 5: return [.errorCode(isCheck ? 487 : 438, reason: ""), .realm(Self.realm), .nonce("another")]
    case 6: return [.errorCode(401, reason: ""), .realm("realm1"), .nonce("nonce")]
    case 7:
      return [
        .errorCode(300, reason: ""), .alternateServer(TransportAddress(Script.serverIP, port: 3479)),
      ]
    case 8: return [.lifetime(.zero), .xorRelayedAddress(asker)]
    default: return []
    }
  }
}
