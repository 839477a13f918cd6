import RealtimeMedia
import Testing
import VoiceTesting

/// RFC 6347, RFC 5763, RFC 5764, RFC 8122; bad input first.
@Suite struct DTLSConnectionTests {
  let one: DTLSCertificate
  let other: DTLSCertificate

  init() throws {
    self.one = try .make()
    self.other = try .make()
  }

  func pair(
    clientExpects: [CertificateFingerprint]? = nil, serverExpects: [CertificateFingerprint]? = nil,
    clientProfiles: [SRTPProfile] = SRTPProfile.preferred,
    serverProfiles: [SRTPProfile] = SRTPProfile.preferred, timeout: Duration = .milliseconds(100)
  ) throws -> DTLSPair {
    try DTLSPair(
      clientCertificate: self.one, serverCertificate: self.other, clientExpects: clientExpects,
      serverExpects: serverExpects, clientProfiles: clientProfiles, serverProfiles: serverProfiles,
      timeout: timeout)
  }

  static func expectSameKeys(_ pair: DTLSPair) throws {
    let client = try #require(pair.client.keys)
    let server = try #require(pair.server.keys)
    #expect(client.profile == server.profile)
    let sender = try SRTPContext(keys: client)
    let receiver = try SRTPContext(keys: server)
    let plain: [UInt8] = [0x80, 111, 0, 1, 0, 0, 0, 9, 0, 0, 0, 7, 1, 2, 3, 4]
    var packet = plain
    try sender.protect(&packet)
    #expect(packet.count == plain.count + client.profile.tagCount && packet != plain)
    try receiver.unprotect(&packet)
    #expect(packet == plain)
    try receiver.protect(&packet)
    try sender.unprotect(&packet)
    #expect(packet == plain)
  }

  // MARK: Who the other side is

  @Test func nothingIsMadeWithoutAFingerprintThatCounts() {
    let weak = [
      CertificateFingerprint(function: "sha-1", bytes: Array(repeating: 1, count: 20)),
      CertificateFingerprint(function: "md5", bytes: Array(repeating: 1, count: 16)),
      CertificateFingerprint(function: "sha-256", bytes: [1, 2, 3]),
    ]
    for fingerprints in [[], weak] {
      #expect(throws: DTLSError.noFingerprint) {
        try DTLSConnection(certificate: self.one, role: .client, remoteFingerprints: fingerprints)
      }
    }
  }

  @Test func aClientGivesNoKeysForAWrongCertificate() throws {
    var pair = try self.pair(clientExpects: [self.one.fingerprint])
    pair.run()
    #expect(pair.client.error == .wrongFingerprint && pair.client.keys == nil)
    #expect(pair.server.error == .alert(.badCertificate) && pair.server.keys == nil)
  }

  @Test func aServerGivesNoKeysForAWrongCertificate() throws {
    var pair = try self.pair(serverExpects: [self.other.fingerprint])
    pair.run()
    #expect(pair.server.error == .wrongFingerprint && pair.server.keys == nil)
    #expect(pair.client.error == .alert(.badCertificate) && pair.client.keys == nil)
  }

  @Test func handshakeGivesBothEndsTheSameKeys() throws {
    var pair = try self.pair()
    pair.run()
    #expect(pair.client.error == nil && pair.server.error == nil)
    try Self.expectSameKeys(pair)
    #expect(pair.client.connection.timeout == nil && pair.server.connection.timeout == nil)
  }
}
