import RealtimeMedia
import Testing
import VoiceCore

/// Handshakes that the other side begins before this side can take part.
@Suite struct EarlyHandshakeTests {
  /// OpenSSL, which repeats nothing for a minute of real time, so that each datagram counts.
  static func withoutRepetition(
    _ certificate: DTLSCertificate, _ role: NegotiatedAudio.DTLSRole, _ expected: [CertificateFingerprint]
  ) throws(DTLSError) -> any DTLSHandshaking {
    try DTLSConnection(
      certificate: certificate, role: role, remoteFingerprints: expected, firstTimeout: .seconds(60),
      longestTimeout: .seconds(60))
  }

  /// The answerer finds a way, since the offerer answers checks, and begins; the offerer has no answer yet.
  @Test func theFirstFlightThatComesBeforeTheAnswerIsKept() throws {
    let world = try AudioConnectionWorld(seed: 1, makeHandshake: Self.withoutRepetition)
    var flights = 0
    world.onDatagram = { [unowned world] side, bytes in
      if side === world.one, bytes.first == 22 { flights += 1 }
    }
    try world.agree(answerAfter: .milliseconds(400)) {
      #expect(flights == 1)
      #expect(world.one.connection.state == .new)
    }
    #expect(world.run(for: .milliseconds(500)) { world.one.isHearing && world.other.isHearing } != nil)
  }

  /// Both have what they need, and the checks of one side are answered first.
  @Test(arguments: [1, 2]) func theFirstFlightThatComesBeforeTheWayIsKept(_ silent: UInt8) throws {
    let world = try AudioConnectionWorld(seed: 2, makeHandshake: Self.withoutRepetition)
    world.dropsChecks = { [unowned world] in
      $0.number == silent && world.now < .init(offset: .milliseconds(400))
    }
    try world.agree()
    let time = world.run(for: .seconds(3)) { world.one.isHearing && world.other.isHearing }
    #expect(time != nil)
  }
}
