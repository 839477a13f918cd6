import RealtimeMedia
import Testing
import VoiceCore
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

  @Test func oneOfSeveralFingerprintsIsEnough() throws {
    let wrong = CertificateFingerprint(function: "sha-256", bytes: Array(repeating: 7, count: 32))
    let right = try DTLSHash.allCases.map { try self.other.fingerprint($0) }
    for expected in [[wrong, self.other.fingerprint], [self.other.fingerprint, wrong], right]
      + right.map({ [$0] })
    {
      var pair = try self.pair(clientExpects: expected)
      pair.run()
      #expect(pair.client.keys != nil && pair.server.keys != nil, "\(expected.map(\.function))")
    }
  }

  @Test func aWrongStrongFingerprintIsNotMadeGoodByARightWeakOne() throws {
    let wrong = CertificateFingerprint(function: "sha-512", bytes: Array(repeating: 7, count: 64))
    var pair = try self.pair(serverExpects: [self.one.fingerprint, wrong])
    pair.run()
    #expect(pair.server.error == .wrongFingerprint && pair.server.keys == nil && pair.client.keys == nil)
  }

  // MARK: Bad input

  /// Bytes of every kind, among them records that are well formed and belong nowhere.
  static func garbage(_ random: inout SeededGenerator) -> [UInt8] {
    var bytes = (0..<Int.random(in: 0..<200, using: &random)).map { _ in
      UInt8.random(in: .min ... .max, using: &random)
    }
    switch Int.random(in: 0..<4, using: &random) {
    case 0: break
    case 1:
      if !bytes.isEmpty { bytes[0] = UInt8.random(in: 20...63, using: &random) }
    case 2:
      bytes = [UInt8.random(in: 20...26, using: &random), 0xfe, 0xfd] + bytes
    default:
      // A whole record of a later epoch.
      bytes =
        [
          UInt8.random(in: 20...23, using: &random), 0xfe, 0xfd, 0, 2, 0, 0, 0, 0, 0, 1, 0,
          UInt8(bytes.count),
        ] + bytes
    }
    return bytes
  }

  @Test func garbageChangesNothing() throws {
    var random = SeededGenerator(seed: 6347)
    var pair = try self.pair()
    pair.client.connection.start()
    pair.server.connection.start()
    for _ in 0..<40 {
      for _ in 0..<25 {
        pair.client.connection.received(Self.garbage(&random)[...])
        pair.server.connection.received(Self.garbage(&random)[...])
      }
      _ = pair.step()
    }
    pair.settle()
    try Self.expectSameKeys(pair)
    let datagrams = pair.datagrams
    for _ in 0..<2000 {
      pair.client.connection.received(Self.garbage(&random)[...])
      pair.server.connection.received(Self.garbage(&random)[...])
    }
    let moves = pair.step()
    #expect(!moves && pair.datagrams == datagrams, "nobody answers")
    #expect(
      pair.client.error == nil && pair.server.error == nil && !pair.client.isClosed && !pair.server.isClosed)
  }

  /// What an attacker on the path may do before there are keys ends in the same keys or in a named failure.
  @Test func changedHandshakesEndInKeysOrInAFailure() throws {
    var failures = 0
    for seed in 0..<150 as Range<UInt64> {
      var random = SeededGenerator(seed: seed)
      var pair = try self.pair(timeout: DTLSPair.quick)
      pair.mutation = { datagram, _ in
        guard Int.random(in: 0..<4, using: &random) == 0, !datagram.isEmpty else { return datagram }
        var changed = datagram
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          let index = Int.random(in: 0..<changed.count, using: &random)
          changed[index] = UInt8.random(in: .min ... .max, using: &random)
        }
        return Bool.random(using: &random)
          ? changed : Array(changed.prefix(Int.random(in: 0...changed.count, using: &random)))
      }
      pair.run()
      #expect(pair.client.hasEnded && pair.server.hasEnded, "seed \(seed)")
      if pair.client.keys != nil && pair.server.keys != nil {
        try Self.expectSameKeys(pair)
      } else {
        failures += 1
      }
    }
    #expect(failures > 0, "some changes matter")
  }

  @Test func anEstablishedConnectionIgnoresWhatIsOldOrForged() throws {
    var random = SeededGenerator(seed: 4)
    var pair = try self.pair()
    var heard: [[UInt8]] = []
    pair.mutation = { datagram, _ in
      heard.append(datagram)
      return datagram
    }
    pair.run()
    // An alert before encryption, as anybody can make it.
    heard.append([21, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 99, 0, 2, 2, 40])
    for _ in 0..<500 {
      var datagram = heard.randomElement(using: &random) ?? []
      if Bool.random(using: &random), let index = datagram.indices.randomElement(using: &random) {
        datagram[index] ^= UInt8.random(in: 1...255, using: &random)
      }
      pair.client.connection.received(datagram[...])
      pair.server.connection.received(datagram[...])
    }
    pair.settle()
    #expect(
      pair.client.error == nil && pair.server.error == nil && !pair.client.isClosed && !pair.server.isClosed)
    pair.client.connection.close()
    pair.settle()
    #expect(pair.server.isClosed, "the connection still works")
  }

  @Test func aFatalAlertOfTheOtherSideIsNamed() throws {
    for (number, alert) in [
      (40, DTLSAlert.handshakeFailure), (80, .internalError), (199, DTLSAlert(rawValue: 199)),
    ] {
      var pair = try self.pair()
      pair.client.connection.start()
      pair.client.connection.received([21, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 90])
      #expect(pair.client.connection.timeout != nil, "a warning is none")
      pair.client.connection.received([21, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 2, UInt8(number)])
      _ = DTLSPair.drain(&pair.client)
      #expect(pair.client.error == .alert(alert))
      #expect(pair.client.connection.timeout == nil)
    }
    #expect(
      "\(DTLSAlert.badCertificate)" == "bad_certificate" && "\(DTLSAlert(rawValue: 199))" == "alert 199")
  }

  @Test func aPeerThatNeverAnswersEndsTheHandshake() throws {
    var pair = try self.pair(timeout: DTLSPair.quick)
    pair.faults.loss = 100
    pair.run()
    #expect(pair.client.error == .timedOut)
    #expect(pair.datagrams == 13, "the flight and 12 repetitions")
    #expect(pair.client.connection.timeout == nil && pair.client.connection.poll() == nil)
  }

  @Test func aServerThatIsLeftInTheMiddleEndsTheHandshake() throws {
    var pair = try self.pair(timeout: DTLSPair.quick)
    pair.client.connection.start()
    pair.server.connection.start()
    #expect(pair.server.connection.timeout == nil, "a server waits for as long as it takes")
    _ = pair.step()
    pair.faults.loss = 100
    pair.settle()
    #expect(pair.server.error == .timedOut && pair.client.error == .timedOut)
  }

  // MARK: What goes well

  @Test func handshakeGivesBothEndsTheSameKeys() throws {
    var pair = try self.pair()
    pair.run()
    #expect(pair.client.error == nil && pair.server.error == nil)
    try Self.expectSameKeys(pair)
    #expect(pair.client.connection.timeout == nil && pair.server.connection.timeout == nil)
  }

  @Test(arguments: SRTPProfile.allCases) func eachProfileCanBeAgreedOn(profile: SRTPProfile) throws {
    var pair = try self.pair(clientProfiles: [profile])
    pair.run()
    #expect(pair.client.keys?.profile == profile)
    try Self.expectSameKeys(pair)
    pair = try self.pair(serverProfiles: [profile])
    pair.run()
    #expect(pair.server.keys?.profile == profile)
    try Self.expectSameKeys(pair)
  }

  @Test func withoutACommonProfileThereAreNoKeys() throws {
    var pair = try self.pair(clientProfiles: [.aeadAES128GCM], serverProfiles: [.aes128CMSHA1_80])
    pair.run()
    #expect(pair.client.error == .noCommonProfile && pair.client.keys == nil)
    #expect(pair.server.error == .noCommonProfile && pair.server.keys == nil)
    #expect(throws: DTLSError.noCommonProfile) { try self.pair(clientProfiles: []) }
  }

  @Test func datagramsFitAnyPath() throws {
    var pair = try self.pair(timeout: .seconds(60))
    var longest = 0
    pair.mutation = { datagram, _ in
      longest = max(longest, datagram.count)
      return datagram
    }
    pair.run()
    #expect((500...1200).contains(longest))
    #expect(pair.datagrams <= 6, "a clean handshake repeats nothing")
  }

  @Test func lossRepetitionAndReorderingAreOvercome() throws {
    for seed in 0..<200 as Range<UInt64> {
      var pair = try self.pair(timeout: DTLSPair.quick)
      pair.random = SeededGenerator(seed: seed)
      pair.faults = .init(loss: 20, duplication: 20, reordering: 30)
      pair.run()
      #expect(pair.client.error == nil && pair.server.error == nil, "seed \(seed)")
      try Self.expectSameKeys(pair)
    }
  }

  @Test func aLostLastFlightIsRepeated() throws {
    var pair = try self.pair(timeout: DTLSPair.quick)
    var lost = 0
    pair.mutation = { datagram, isToClient in
      // The server's last flight begins with ChangeCipherSpec.
      guard isToClient, datagram.first == 20, lost < 2 else { return datagram }
      lost += 1
      return nil
    }
    pair.run()
    #expect(lost == 2)
    try Self.expectSameKeys(pair)
  }

  @Test func whatComesBeforeTheStartIsLeftOutAndMayBeGivenAgain() throws {
    var pair = try self.pair(timeout: .seconds(60))
    pair.client.connection.start()
    var hello: [UInt8] = []
    pair.mutation = { datagram, isToClient in
      if !isToClient, hello.isEmpty { hello = datagram }
      return datagram
    }
    _ = pair.step()
    pair.server.connection.start()
    let moves = pair.step()
    #expect(!moves && !hello.isEmpty)
    pair.server.connection.received(hello[...])
    while pair.step() {}
    try Self.expectSameKeys(pair)
  }

  // MARK: The end

  @Test(arguments: [true, false]) func closingIsToldToTheOtherSideAndConfirmed(byClient: Bool) throws {
    var pair = try self.pair()
    pair.run()
    let datagrams = pair.datagrams
    if byClient { pair.client.connection.close() } else { pair.server.connection.close() }
    pair.settle()
    #expect(pair.server.isClosed == byClient && pair.client.isClosed == !byClient)
    #expect(pair.datagrams == datagrams + 2, "close_notify and its answer")
    #expect(pair.client.error == nil && pair.server.error == nil)
    pair.client.connection.close()
    pair.server.connection.close()
    pair.client.connection.start()
    let moves = pair.step()
    #expect(!moves, "it is over")
  }

  @Test func closingBeforeTheHandshakeSaysNothing() throws {
    var pair = try self.pair()
    pair.client.connection.close()
    pair.client.connection.start()
    #expect(pair.client.connection.poll() == nil && pair.client.connection.timeout == nil)
    pair.server.connection.start()
    pair.server.connection.close()
    #expect(pair.server.connection.poll() == nil)
    let moves = pair.step()
    #expect(!moves)
  }

  @Test func closeThatComesWithTheLastFlightIsToldAfterTheKeys() throws {
    var pair = try self.pair(timeout: .seconds(60))
    var last: [UInt8] = []
    pair.mutation = { datagram, isToClient in
      guard isToClient, datagram.first == 20 else { return datagram }
      last = datagram
      return nil
    }
    pair.client.connection.start()
    pair.server.connection.start()
    while pair.server.keys == nil { _ = pair.step() }
    pair.server.connection.close()
    #expect(pair.client.keys == nil && !last.isEmpty)
    let both = last + DTLSPair.drain(&pair.server).flatMap { $0 }
    pair.client.connection.received(both[...])
    var told: [String] = []
    while let output = pair.client.connection.poll() {
      switch output {
      case .send: told.append("send")
      case .established: told.append("established")
      case .failed: told.append("failed")
      case .closed: told.append("closed")
      }
    }
    #expect(told == ["send", "established", "closed"], "the answer to close_notify, and both events")
  }

  @Test func nobodyTakesOutWhatIsSent() throws {
    let flood = try self.pair()
    flood.client.connection.start()
    flood.server.connection.start()
    guard case .send(let hello) = flood.client.connection.poll() else {
      Issue.record("the client says nothing")
      return
    }
    // Each differs by its record number, so that it is no repetition.
    for number in 0..<2000 {
      var datagram = hello
      datagram[9] = UInt8(number >> 8)
      datagram[10] = UInt8(number & 0xff)
      flood.server.connection.received(datagram[...])
    }
    var waiting = 0
    while flood.server.connection.poll() != nil { waiting += 1 }
    #expect((1...40).contains(waiting), "what waits is limited")
  }

  @Test func secretsAreNotDescribed() throws {
    var pair = try self.pair()
    pair.run()
    let keys = try #require(pair.client.keys)
    var dumped = ""
    dump(keys, to: &dumped)
    dump(self.one, to: &dumped)
    #expect("\(keys)" == "keys for aeadAES128GCM" && "\(keys.local)" == "a master key of 28 bytes")
    #expect(!dumped.contains("Storage") && !dumped.contains("0x"), "\(dumped)")
    #expect(DTLSError.alert(.badCertificate).failure.code == .callMediaInsecure)
  }

  @Test func oneCertificateServesManyThreads() async throws {
    let (one, other) = (self.one, self.other)
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<5 {
            var pair = try DTLSPair(clientCertificate: one, serverCertificate: other)
            pair.run()
            try Self.expectSameKeys(pair)
          }
          return true
        }
      }
      for try await isDone in group { #expect(isDone) }
    }
  }
}
