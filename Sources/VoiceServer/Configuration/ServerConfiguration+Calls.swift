import CallMedia
import VoiceCore

extension ServerConfiguration {
  /// What the gateway for calls needs to know.
  public struct Calls: Hashable, Sendable {
    /// Users with what lets them in. Without any, the server makes two demo users with passwords of its own.
    public var users: [User]
    /// Other names for users and services, such as telephone numbers.
    public var dialPlan: [Number]
    /// Whether clients may log in without a name (`anonymous_login`); they reach services, not users. By default only a server
    /// without configured users lets them.
    public var allowsGuests: Bool?
    /// The name of this server in identifiers that clients send back; letters and digits.
    public var node: String
    /// The app whose voice interface the service `assistant` understands, by its name or its id; `nil` for the demo app, or
    /// the first one if there is none.
    public var assistant: String?
    /// STUN and TURN servers of the calls that the server itself answers; needed only behind a NAT.
    public var iceServers: [IceServer]
    /// What the gateway allows.
    public var limits: Limits

    /// Creates a configuration.
    public init(
      users: [User] = [], dialPlan: [Number] = [], allowsGuests: Bool? = nil, node: String = "n1",
      assistant: String? = nil, iceServers: [IceServer] = [], limits: Limits = Limits()
    ) {
      self.users = users
      self.dialPlan = dialPlan
      self.allowsGuests = allowsGuests
      self.node = node
      self.assistant = assistant
      self.iceServers = iceServers
      self.limits = limits
    }

    /// Somebody who calls and is called.
    public struct User: Hashable, Sendable {
      /// The name that the user logs in with and is called by.
      public var name: String
      /// The password as it is, for those who may read the file anyway.
      public var password: String?
      /// The password as `voice users hash` prints it.
      public var passwordHash: String?
      /// Long-lived tokens that let the user in, at least 16 characters each.
      public var tokens: [String]

      /// Creates a user.
      public init(name: String, password: String? = nil, passwordHash: String? = nil, tokens: [String] = []) {
        self.name = name
        self.password = password
        self.passwordHash = passwordHash
        self.tokens = tokens
      }
    }

    /// A STUN or TURN server.
    public struct IceServer: Hashable, Sendable {
      /// Its address, such as `stun:stun.example.org` or `turn:turn.example.org:3478?transport=tcp` (RFC 7064, RFC 7065).
      public var url: String
      /// The user, for TURN.
      public var username: String?
      /// The password, for TURN; never printed.
      public var password: String?

      /// Creates a server.
      public init(url: String, username: String? = nil, password: String? = nil) {
        self.url = url
        self.username = username
        self.password = password
      }
    }

    /// Another name for a user or a service.
    public struct Number: Hashable, Sendable {
      /// What callers dial.
      public var number: String
      /// Who answers: a user, or `echo`, `silence`, `assistant`, `fail-<SIP status>`.
      public var destination: String

      /// Creates an entry.
      public init(number: String, destination: String) {
        self.number = number
        self.destination = destination
      }
    }

    /// What the gateway allows, so that one client cannot take it all.
    public struct Limits: Hashable, Sendable {
      /// How many sockets may be open at once.
      public var connections = 10_000
      /// How many sockets one address may have open at once.
      public var connectionsPerAddress = 512
      /// How many calls there may be at once.
      public var calls = 10_000
      /// How many calls a user may have at once, on all clients together.
      public var callsPerUser = 10
      /// How many clients a user may be logged in with at once.
      public var registrationsPerUser = 10
      /// The longest frame that a client may send, in bytes.
      public var frameBytes = 262_144
      /// How many frames a client may send per second in the long run; ten times as many at once.
      public var framesPerSecond = 100
      /// How many bytes may wait for a client that does not read, before its socket is cut.
      public var outgoingBytes = 1_048_576
      /// How many logins one address may try per second in the long run; ten times as many at once.
      public var loginsPerSecond = 5
      /// How long a call may ring.
      public var ringTime: Duration = .seconds(60)
      /// How long the calls of a lost socket are kept.
      public var detachTime: Duration = .seconds(120)
      /// How long a client may take over its request for the upgrade.
      public var handshakeTime: Duration = .seconds(10)
      /// How long a socket may be open before somebody has logged in.
      public var loginTime: Duration = .seconds(20)
      /// How long a call with the assistant may be.
      public var assistantTime: Duration = .seconds(600)
      /// How long a caller of the assistant may be silent before it asks, and again before it ends the call.
      public var assistantSilence: Duration = .seconds(15)

      /// Creates the default limits.
      public init() {}
    }
  }
}

/// A configuration is printed without the secrets in it.
extension ServerConfiguration.Calls.User: CustomStringConvertible, CustomDebugStringConvertible {
  public var description: String { "user \(self.name)" }
  public var debugDescription: String { self.description }
}

extension ServerConfiguration.Calls.IceServer: CustomStringConvertible, CustomDebugStringConvertible {
  public var description: String { self.url }
  public var debugDescription: String { self.description }
}

extension ServerConfiguration.Calls {
  enum Rules {
    static let connections = 1...1_000_000
    static let calls = 1...1_000_000
    static let perUser = 1...10_000
    static let frameBytes = 16_384...16_777_216
    static let framesPerSecond = 1...1_000_000
    static let outgoingBytes = 65_536...67_108_864
    static let loginsPerSecond = 1...1_000_000
    static let ringSeconds = 1...600
    static let detachSeconds = 1...3600
    static let handshakeSeconds = 1...60
    static let loginSeconds = 1...300
    static let assistantSeconds = 10...3600
    static let assistantSilenceSeconds = 2...300
    static let passwordLength = 8
    static let tokenLength = 16
  }

  init(_ node: ConfigurationNode) throws(VoiceFailure) {
    self.init()
    let keys = try node.mapping([
      "users", "dial_plan", "guests", "node", "assistant", "ice_servers", "limits",
    ])
    for item in try keys["users"]?.list() ?? [] { self.users.append(try User(item)) }
    for item in try keys["dial_plan"]?.list() ?? [] {
      let entry = try item.mapping(["number", "to"])
      guard let number = entry["number"], let to = entry["to"] else {
        throw item.failure("expected both number and to, found only one")
      }
      self.dialPlan.append(Number(number: try number.text("a number"), destination: try to.text("a user")))
    }
    if let node = keys["guests"] { self.allowsGuests = try node.truth() }
    if let node = keys["node"] { self.node = try node.text("a name of letters and digits") }
    if let node = keys["assistant"] { self.assistant = try node.text("the name of an app") }
    for item in try keys["ice_servers"]?.list() ?? [] { self.iceServers.append(try IceServer(item)) }
    if let node = keys["limits"] { try self.limits.read(node) }
  }

  /// Checks that the values make sense, also together.
  func validate() throws(VoiceFailure) {
    func check(_ holds: Bool, _ key: String, _ expected: String) throws(VoiceFailure) {
      guard !holds else { return }
      throw ConfigurationError.failure(file: nil, line: nil, key: "calls.\(key)", expected: expected)
    }
    var names: Set<String> = []
    var tokens: Set<String> = []
    for (index, user) in self.users.enumerated() {
      let path = "users[\(index)]"
      try check(
        CallUser.isName(user.name), "\(path).name",
        "expected up to 64 letters, digits, . _ + - and no name of a service, found \"\(user.name.prefix(60))\""
      )
      try check(
        names.insert(user.name).inserted, "\(path).name", "expected a name of its own, found it twice")
      try check(
        user.password == nil || user.passwordHash == nil, path,
        "expected either password or password_hash, found both")
      try check(
        user.password != nil || user.passwordHash != nil || !user.tokens.isEmpty, path,
        "expected a password, a password_hash or tokens, found none")
      try check(
        (user.password?.utf8.count ?? .max) >= Rules.passwordLength, "\(path).password",
        "expected at least \(Rules.passwordLength) characters")
      try check(
        user.passwordHash.map { PasswordHash($0) != nil } ?? true, "\(path).password_hash",
        "expected a hash as `voice users hash` prints it")
      for (number, token) in user.tokens.enumerated() {
        try check(
          token.utf8.count >= Rules.tokenLength && token.utf8.allSatisfy { (33...126).contains($0) },
          "\(path).tokens[\(number)]",
          "expected at least \(Rules.tokenLength) printable characters without spaces")
        try check(
          tokens.insert(token).inserted, "\(path).tokens[\(number)]",
          "expected a token of its own, found it a second time")
      }
    }
    var numbers: Set<String> = []
    for (index, entry) in self.dialPlan.enumerated() {
      let path = "dial_plan[\(index)]"
      let name = DialPlan.name(in: entry.number)
      try check(
        !name.isEmpty && !DialPlan.isReserved(name), "\(path).number",
        "expected a number that is no name of a service, found \"\(entry.number.prefix(60))\"")
      try check(
        numbers.insert(name).inserted, "\(path).number", "expected each number once, found it twice")
      try check(!entry.destination.isEmpty, "\(path).to", "expected a user or a service, found nothing")
    }
    try check(
      (1...16).contains(self.node.utf8.count)
        && self.node.utf8.allSatisfy { byte in
          (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
        }, "node", "expected 1 to 16 letters and digits, found \"\(self.node.prefix(60))\"")
    for (index, server) in self.iceServers.enumerated() {
      let path = "ice_servers[\(index)]"
      // The value is not shown: people put passwords into addresses.
      guard let address = try? IceServerAddress(server.url) else {
        return try check(
          false, "\(path).url",
          "expected an address such as stun:stun.example.org or turn:turn.example.org:3478?transport=tcp")
      }
      try check(
        !address.isRelay || server.username?.isEmpty == false && server.password?.isEmpty == false, path,
        "expected username and password, which a relay asks for")
    }
    try self.limits.validate(check)
  }
}

extension ServerConfiguration.Calls.User {
  fileprivate init(_ node: ConfigurationNode) throws(VoiceFailure) {
    let keys = try node.mapping(["name", "password", "password_hash", "tokens"])
    guard let name = keys["name"] else { throw node.failure("expected a name, found none") }
    self.init(name: try name.text("a name"))
    if let node = keys["password"] { self.password = try node.text("a password", isSecret: true) }
    if let node = keys["password_hash"] { self.passwordHash = try node.text("a hash", isSecret: true) }
    for token in try keys["tokens"]?.list() ?? [] {
      self.tokens.append(try token.text("a token", isSecret: true))
    }
  }
}

extension ServerConfiguration.Calls.IceServer {
  fileprivate init(_ node: ConfigurationNode) throws(VoiceFailure) {
    let keys = try node.mapping(["url", "username", "password"])
    guard let url = keys["url"] else { throw node.failure("expected a url, found none") }
    self.init(
      url: try url.text("an address of a server", isSecret: true),
      username: try keys["username"]?.text("a user"),
      password: try keys["password"]?.text("a password", isSecret: true))
  }
}

extension ServerConfiguration.Calls.Limits {
  private typealias Rules = ServerConfiguration.Calls.Rules

  fileprivate mutating func read(_ node: ConfigurationNode) throws(VoiceFailure) {
    let keys = try node.mapping([
      "connections", "connections_per_address", "calls", "calls_per_user", "registrations_per_user",
      "frame_bytes", "frames_per_second", "outgoing_bytes", "logins_per_second", "ring_seconds",
      "detach_seconds", "handshake_seconds", "login_seconds", "assistant_seconds",
      "assistant_silence_seconds",
    ])
    func integer(_ key: String, _ range: ClosedRange<Int>, _ value: inout Int) throws(VoiceFailure) {
      if let node = keys[key] { value = try node.integer(in: range) }
    }
    func seconds(_ key: String, _ range: ClosedRange<Int>, _ value: inout Duration) throws(VoiceFailure) {
      if let node = keys[key] { value = try node.seconds(in: range) }
    }
    try integer("connections", Rules.connections, &self.connections)
    try integer("connections_per_address", Rules.connections, &self.connectionsPerAddress)
    try integer("calls", Rules.calls, &self.calls)
    try integer("calls_per_user", Rules.perUser, &self.callsPerUser)
    try integer("registrations_per_user", Rules.perUser, &self.registrationsPerUser)
    try integer("frame_bytes", Rules.frameBytes, &self.frameBytes)
    try integer("frames_per_second", Rules.framesPerSecond, &self.framesPerSecond)
    try integer("outgoing_bytes", Rules.outgoingBytes, &self.outgoingBytes)
    try integer("logins_per_second", Rules.loginsPerSecond, &self.loginsPerSecond)
    try seconds("ring_seconds", Rules.ringSeconds, &self.ringTime)
    try seconds("detach_seconds", Rules.detachSeconds, &self.detachTime)
    try seconds("handshake_seconds", Rules.handshakeSeconds, &self.handshakeTime)
    try seconds("login_seconds", Rules.loginSeconds, &self.loginTime)
    try seconds("assistant_seconds", Rules.assistantSeconds, &self.assistantTime)
    try seconds("assistant_silence_seconds", Rules.assistantSilenceSeconds, &self.assistantSilence)
  }

  fileprivate func validate(
    _ check: (_ holds: Bool, _ key: String, _ expected: String) throws(VoiceFailure) -> Void
  ) throws(VoiceFailure) {
    let numbers: [(Int, ClosedRange<Int>, String)] = [
      (self.connections, Rules.connections, "connections"),
      (self.connectionsPerAddress, Rules.connections, "connections_per_address"),
      (self.calls, Rules.calls, "calls"), (self.callsPerUser, Rules.perUser, "calls_per_user"),
      (self.registrationsPerUser, Rules.perUser, "registrations_per_user"),
      (self.frameBytes, Rules.frameBytes, "frame_bytes"),
      (self.framesPerSecond, Rules.framesPerSecond, "frames_per_second"),
      (self.outgoingBytes, Rules.outgoingBytes, "outgoing_bytes"),
      (self.loginsPerSecond, Rules.loginsPerSecond, "logins_per_second"),
    ]
    for (value, range, key) in numbers {
      try check(
        range.contains(value), "limits.\(key)",
        "expected a whole number from \(range.lowerBound) to \(range.upperBound), found \(value)")
    }
    let times: [(Duration, ClosedRange<Int>, String)] = [
      (self.ringTime, Rules.ringSeconds, "ring_seconds"),
      (self.detachTime, Rules.detachSeconds, "detach_seconds"),
      (self.handshakeTime, Rules.handshakeSeconds, "handshake_seconds"),
      (self.loginTime, Rules.loginSeconds, "login_seconds"),
      (self.assistantTime, Rules.assistantSeconds, "assistant_seconds"),
      (self.assistantSilence, Rules.assistantSilenceSeconds, "assistant_silence_seconds"),
    ]
    for (value, range, key) in times {
      try check(
        value >= .seconds(range.lowerBound) && value <= .seconds(range.upperBound), "limits.\(key)",
        "expected \(range.lowerBound) to \(range.upperBound) seconds, found \(value)")
    }
  }
}
