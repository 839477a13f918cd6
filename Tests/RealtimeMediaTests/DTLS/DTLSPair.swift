import RealtimeMedia
import VoiceTesting

/// Two ends of a handshake in memory, and a network between them that loses, repeats and reorders by a seed.
struct DTLSPair {
  /// What one end told.
  struct End {
    var connection: DTLSConnection
    var keys: SRTPKeys?
    var error: DTLSError?
    var isClosed = false
    var hasEnded: Bool { self.keys != nil || self.error != nil || self.isClosed }
  }

  /// What the network does, each in percent.
  struct Faults {
    var loss = 0
    var duplication = 0
    var reordering = 0
  }

  var client: End
  var server: End
  var faults = Faults()
  /// What becomes of each datagram on its way; nothing if it is lost.
  var mutation: (_ datagram: [UInt8], _ isToClient: Bool) -> [UInt8]? = { datagram, _ in datagram }
  var random = SeededGenerator(seed: 1)
  private(set) var toServer: [[UInt8]] = []
  private(set) var toClient: [[UInt8]] = []
  private(set) var datagrams = 0

  /// OpenSSL takes what is due within 15 ms for due at once: with 16 ms a flight is repeated after one.
  static let quick: Duration = .milliseconds(16)

  init(
    clientCertificate: DTLSCertificate, serverCertificate: DTLSCertificate,
    clientExpects: [CertificateFingerprint]? = nil, serverExpects: [CertificateFingerprint]? = nil,
    clientProfiles: [SRTPProfile] = SRTPProfile.preferred,
    serverProfiles: [SRTPProfile] = SRTPProfile.preferred,
    timeout: Duration = .milliseconds(100)
  ) throws {
    self.client = End(
      connection: try DTLSConnection(
        certificate: clientCertificate, role: .client,
        remoteFingerprints: clientExpects ?? [serverCertificate.fingerprint], profiles: clientProfiles,
        firstTimeout: timeout, longestTimeout: timeout))
    self.server = End(
      connection: try DTLSConnection(
        certificate: serverCertificate, role: .server,
        remoteFingerprints: serverExpects ?? [clientCertificate.fingerprint], profiles: serverProfiles,
        firstTimeout: timeout, longestTimeout: timeout))
  }

  init(timeout: Duration = .milliseconds(100)) throws {
    try self.init(
      clientCertificate: try .make(), serverCertificate: try .make(), timeout: timeout)
  }

  /// Takes out what an end has to say; returns its datagrams.
  static func drain(_ end: inout End) -> [[UInt8]] {
    var datagrams: [[UInt8]] = []
    while let output = end.connection.poll() {
      switch output {
      case .send(let datagram): datagrams.append(datagram)
      case .established(let keys): end.keys = keys
      case .failed(let error): end.error = error
      case .closed: end.isClosed = true
      }
    }
    return datagrams
  }

  private mutating func chance(_ percent: Int) -> Bool {
    percent > 0 && Int.random(in: 0..<100, using: &self.random) < percent
  }

  private mutating func travel(_ sent: [[UInt8]], behind queue: [[UInt8]], isToClient: Bool) -> [[UInt8]] {
    var queue = queue
    self.datagrams += sent.count
    for datagram in sent where !self.chance(self.faults.loss) {
      guard let datagram = self.mutation(datagram, isToClient) else { continue }
      queue.append(datagram)
      if self.chance(self.faults.duplication) { queue.append(datagram) }
      if self.chance(self.faults.reordering) { queue.shuffle(using: &self.random) }
    }
    return queue
  }

  /// Moves one datagram in each direction; returns whether anything moved.
  mutating func step() -> Bool {
    let fromClient = Self.drain(&self.client)
    let fromServer = Self.drain(&self.server)
    self.toServer = self.travel(fromClient, behind: self.toServer, isToClient: false)
    self.toClient = self.travel(fromServer, behind: self.toClient, isToClient: true)
    let moves = !self.toServer.isEmpty || !self.toClient.isEmpty
    if !self.toServer.isEmpty { self.server.connection.received(self.toServer.removeFirst()[...]) }
    if !self.toClient.isEmpty { self.client.connection.received(self.toClient.removeFirst()[...]) }
    return moves || !fromClient.isEmpty || !fromServer.isEmpty
  }

  /// Runs until both ends have come to an end, or nothing can happen any more.
  mutating func run() {
    self.client.connection.start()
    self.server.connection.start()
    self.settle()
  }

  /// As long as anybody waits for a timeout, it comes.
  mutating func settle() {
    while true {
      while self.step() {}
      let isWaiting = self.client.connection.timeout != nil || self.server.connection.timeout != nil
      guard isWaiting, !(self.client.hasEnded && self.server.hasEnded) else { return }
      if self.client.connection.timeout == .zero { self.client.connection.handleTimeout() }
      if self.server.connection.timeout == .zero { self.server.connection.handleTimeout() }
    }
  }
}
