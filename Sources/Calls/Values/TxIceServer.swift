/// A STUN or TURN server that media may use.
public struct TxIceServer: Hashable, Sendable, CustomStringConvertible {
  /// Addresses such as `turn:turn.example.org:3478?transport=tcp`.
  public var urls: [String]
  /// The user, for TURN.
  public var username: String?
  /// The password, for TURN; never printed.
  public var credential: String?

  /// Creates a value.
  public init(urls: [String], username: String? = nil, credential: String? = nil) {
    self.urls = urls
    self.username = username
    self.credential = credential
  }

  public var description: String { self.urls.joined(separator: ", ") }
}
