import RealtimeMedia
import Testing
import VoiceCore

/// Offers and answers (RFC 3264, RFC 8829); what is refused first.
@Suite struct AudioNegotiatorTests {
  static func transport(_ name: String, fingerprint: UInt8 = 1) -> AudioNegotiator.Transport {
    AudioNegotiator.Transport(
      iceUserFragment: name, icePassword: name + String(repeating: "p", count: 22),
      fingerprint: CertificateFingerprint(
        function: "sha-256", bytes: Array(repeating: fingerprint, count: 32)),
      candidates: [
        ICECandidate(
          foundation: "1", priority: ICECandidate.priority(.host), address: .ip(.v4(0x7f00_0001)), port: 5004,
          kind: .host)
      ], hasAllCandidates: true)
  }

  static func negotiator(_ options: AudioNegotiator.Options = .init(), id: UInt64 = 1) -> AudioNegotiator {
    AudioNegotiator(
      options: options, source: .init(ssrc: UInt32(id), cname: "c\(id)", track: "t\(id)"), sessionID: id)
  }

  /// What the other side reads is text.
  static func sent(_ description: SessionDescription) throws -> SessionDescription {
    let read = try SessionDescription(parsing: description.text)
    #expect(read == description)
    return read
  }

  /// Two peers that have agreed.
  static func pair() throws -> (AudioNegotiator, AudioNegotiator) {
    var (caller, callee) = (Self.negotiator(), Self.negotiator(id: 2))
    let offer = try Self.sent(caller.makeOffer(.sendAndReceive, transport: Self.transport("aaaa")))
    let answer = try Self.sent(
      callee.receivedOffer(offer, transport: Self.transport("bbbb", fingerprint: 2)).answer)
    _ = try caller.receivedAnswer(answer)
    return (caller, callee)
  }

  static func refusal(_ change: (String) -> String) -> NegotiationError? {
    do {
      let offer = try SessionDescription(parsing: change(Samples.chromium))
      var negotiator = Self.negotiator()
      do throws(NegotiationError) {
        _ = try negotiator.receivedOffer(offer, transport: Self.transport("bbbb"))
        return nil
      } catch {
        #expect(negotiator == Self.negotiator(), "a refused offer changes nothing")
        #expect(error.failure.code.rawValue == "call.media.unacceptable")
        return error
      }
    } catch {
      Issue.record("\(error)")
      return nil
    }
  }

  @Test func refusesOffersThatCannotBeAnswered() {
    #expect(Self.refusal { $0.replacing("m=audio 9", with: "m=audio 0") } == .noAudio)
    #expect(Self.refusal { $0.replacing("m=audio", with: "m=video") } == .noAudio)
    #expect(Self.refusal { $0.replacing("UDP/TLS/RTP/SAVPF", with: "udp") } == .transportNotSupported)
    #expect(Self.refusal { $0.replacing("UDP/TLS/RTP/SAVPF", with: "RTP/XAVP") } == .transportNotSupported)
    #expect(Self.refusal { $0.replacing("a=rtcp-mux\r\n", with: "") } == .noRTCPMux)
    #expect(Self.refusal { $0.replacing("a=ice-ufrag:CkzL\r\n", with: "") } == .noICECredentials)
    #expect(
      Self.refusal { $0.replacing("a=ice-pwd:gVPEbnQ0SnLHB9MSGHeyLTQd\r\n", with: "") } == .noICECredentials)
    #expect(
      Self.refusal { $0.replacing("a=fingerprint:sha-256", with: "a=fingerprint:sha-0") } == .noFingerprint)
    #expect(Self.refusal { $0.replacing("a=setup:actpass\r\n", with: "") } == .wrongSetup)
    #expect(Self.refusal { $0.replacing("a=setup:actpass", with: "a=setup:holdconn") } == .wrongSetup)
    #expect(
      Self.refusal { $0.replacing("111 63 9 0 8 13 110 126", with: "63 9 13 110 126") } == .noCommonCodec)
    #expect(Self.refusal { $0 } == nil)
  }

  @Test func refusesAnswersThatDoNotFitTheOffer() throws {
    let cases: [(String, String, NegotiationError)] = [
      ("m=audio 9", "m=audio 0", .audioRejected), ("m=audio", "m=video", .mediaDiffer),
      ("a=mid:0", "a=mid:1", .mediaDiffer), ("a=setup:active", "a=setup:actpass", .wrongSetup),
      ("a=rtcp-mux\r\n", "", .noRTCPMux), ("opus/48000/2", "opus/16000", .noCommonCodec),
      ("m=audio", "m=audio 0 RTP/AVP 0\r\nm=audio", .mediaDiffer),
      ("RTP/SAVPF", "RTP/AVP", .transportNotSupported),
    ]
    for (old, new, expected) in cases {
      var caller = Self.negotiator(.init(codecs: [.opus()]))
      var callee = Self.negotiator(id: 2)
      let offer = try caller.makeOffer(.sendAndReceive, transport: Self.transport("aaaa"))
      let good = try callee.receivedOffer(offer, transport: Self.transport("bbbb")).answer
      var text = good.text.replacing(old, with: new)
      if new.contains("mid:1") { text = text.replacing("BUNDLE 0", with: "BUNDLE 1") }
      let bad = try SessionDescription(parsing: text)
      #expect(throws: expected, "\(new)") { try caller.receivedAnswer(bad) }
      #expect(caller.awaitsAnswer)
      #expect(throws: Never.self) { try caller.receivedAnswer(good) }
    }
  }

  @Test func descriptionsInTheWrongOrderAreRefused() throws {
    var (caller, callee) = try Self.pair()
    let answer = try #require(try? SessionDescription(parsing: Samples.chromium))
    #expect(throws: NegotiationError.noOffer) { try caller.receivedAnswer(answer) }
    let offer = try callee.makeOffer(.sendAndReceive, transport: Self.transport("bbbb", fingerprint: 2))
    _ = try caller.makeOffer(.sendOnly, transport: Self.transport("aaaa"))
    #expect(throws: NegotiationError.glare) {
      try caller.receivedOffer(offer, transport: Self.transport("aaaa"))
    }
    #expect(throws: NegotiationError.glare) {
      try caller.makeOffer(.sendOnly, transport: Self.transport("aaaa"))
    }
    caller.rolledBack()
    #expect(caller.agreed?.direction == .sendAndReceive)
    #expect(throws: Never.self) { try caller.receivedOffer(offer, transport: Self.transport("aaaa")) }
  }

  @Test func answersABrowserWithThePayloadTypesOfItsOffer() throws {
    var negotiator = Self.negotiator()
    let offer = try SessionDescription(parsing: Samples.chromium)
    let (answer, audio) = try negotiator.receivedOffer(offer, transport: Self.transport("bbbb"))
    #expect(answer.media.first?.formats == ["111", "0", "8", "110", "126"])
    #expect(answer.media.first?.setup == .active)
    #expect(answer.media.first?.mid == "0")
    #expect(answer.bundle == ["0"])
    #expect(answer.media.first?.has("extmap") == false)
    #expect(audio.codecs.map(\.sends) == [111, 0, 8])
    #expect(audio.codecs.first?.remoteParameters["useinbandfec"] == "1")
    #expect(audio.dtlsRole == .client)
    #expect(audio.telephoneEvent(for: audio.codecs[0])?.sends == 110)
    #expect(audio.telephoneEvent(for: audio.codecs[1])?.sends == 126)
    #expect(audio.remote.candidates.count == 2 && !audio.remote.hasAllCandidates)
  }

  /// RFC 8829 section 5.1.2.
  static let profiles = [
    "RTP/AVP", "RTP/AVPF", "RTP/SAVP", "RTP/SAVPF", "TCP/DTLS/RTP/SAVP", "TCP/DTLS/RTP/SAVPF",
    "UDP/TLS/RTP/SAVP", "UDP/TLS/RTP/SAVPF",
  ]

  @Test(arguments: Self.profiles)
  func neverAgreesWithoutAFingerprint(profile: String) {
    let refusal = Self.refusal {
      $0.replacing("UDP/TLS/RTP/SAVPF", with: profile).replacing("a=fingerprint:", with: "a=nothing:")
    }
    #expect(refusal == .noFingerprint)
  }

  @Test(arguments: Self.profiles)
  func answersEachProfileWithTheSame(profile: String) throws {
    var negotiator = Self.negotiator()
    let offer = try SessionDescription(
      parsing: Samples.chromium.replacing("UDP/TLS/RTP/SAVPF", with: profile))
    let answer = try Self.sent(negotiator.receivedOffer(offer, transport: Self.transport("bbbb")).answer)
    #expect(answer.media.map(\.transport) == [profile])
    #expect(answer.media.first?.fingerprints == [Self.transport("bbbb").fingerprint])
    let own = try negotiator.makeOffer(.sendAndReceive, transport: Self.transport("bbbb"))
    #expect(own.media.map(\.transport) == ["UDP/TLS/RTP/SAVPF"], "own offers name the right one")
  }

  @Test func ofSeveralMediaTakesTheOneThatIsEncrypted() throws {
    let text = Samples.chromium.replacing(
      "m=audio", with: "m=audio 9 RTP/AVP 0\r\nc=IN IP4 0.0.0.0\r\na=mid:1\r\nm=audio")
    var negotiator = Self.negotiator()
    let answer = try negotiator.receivedOffer(
      SessionDescription(parsing: text), transport: Self.transport("bbbb")
    ).answer
    #expect(answer.media.map(\.port) == [0, 9])
  }

  @Test func anOfferThatLeavesItsProfileIsRefused() throws {
    var (caller, callee) = try Self.pair()
    let offer = try caller.makeOffer(.sendAndReceive, transport: Self.transport("aaaa"))
    let other = try SessionDescription(parsing: offer.text.replacing("UDP/TLS/RTP/SAVPF", with: "udp"))
    #expect(throws: NegotiationError.transportNotSupported) {
      try callee.receivedOffer(other, transport: Self.transport("bbbb", fingerprint: 2))
    }
  }

  /// `ice2`: candidates are nominated one by one (RFC 8445 section 10).
  @Test func namesItsOptionsOfICE() throws {
    var (caller, callee) = (Self.negotiator(), Self.negotiator(id: 2))
    let offer = try Self.sent(caller.makeOffer(.sendAndReceive, transport: Self.transport("aaaa")))
    #expect(offer.media.first?.iceOptions == ["trickle", "ice2"])
    let (answer, audio) = try callee.receivedOffer(offer, transport: Self.transport("bbbb"))
    #expect(answer.media.first?.iceOptions == ["trickle", "ice2"])
    #expect(audio.remote.iceOptions == ["trickle", "ice2"])
  }

  /// RFC 8829 section 5.3.1: an answer names what the offer names.
  @Test func withoutAMidItIsAnsweredWithoutBundle() throws {
    let text = Samples.chromium.replacing("a=group:BUNDLE 0\r\n", with: "")
    var negotiator = Self.negotiator()
    let named = try negotiator.receivedOffer(
      SessionDescription(parsing: text), transport: Self.transport("bbbb"))
    #expect(named.answer.bundle == nil && named.answer.media.first?.mid == "0")

    negotiator = Self.negotiator()
    let offer = try SessionDescription(parsing: text.replacing("a=mid:0\r\n", with: ""))
    let (answer, audio) = try negotiator.receivedOffer(offer, transport: Self.transport("bbbb"))
    #expect(try Self.sent(answer).media.map(\.port) == [9])
    #expect(!answer.text.contains("BUNDLE") && !answer.text.contains("a=mid"))
    #expect(audio.mid == nil && audio.direction == .sendAndReceive)

    let own = try Self.sent(negotiator.makeOffer(.sendOnly, transport: Self.transport("bbbb")))
    #expect(!own.text.contains("BUNDLE") && !own.text.contains("a=mid"))
    var other = Self.negotiator(id: 2)
    let theirs = try other.receivedOffer(own, transport: Self.transport("cccc", fingerprint: 2)).answer
    #expect(theirs.media.map(\.mid) == [nil])
    #expect(try negotiator.receivedAnswer(theirs).mid == nil)
  }

  @Test func bothSidesAgree() throws {
    let (caller, callee) = try Self.pair()
    #expect(caller.agreed?.codecs.map(\.key.encoding) == ["opus", "pcmu", "pcma"])
    #expect(caller.agreed?.dtlsRole == .server && callee.agreed?.dtlsRole == .client)
    #expect(caller.agreed?.isNewDTLSAssociation == true)
    #expect(callee.agreed?.remote.ssrcs == [1])
    #expect(caller.agreed?.remote.hasAllCandidates == true)
  }

  @Test func theAnswererPrefersItsOwnOrderAndTypesMayDiffer() throws {
    var caller = Self.negotiator()
    let offer = try caller.makeOffer(.sendAndReceive, transport: Self.transport("aaaa"))
    var callee = Self.negotiator(.init(codecs: [.pcma, .opus()], telephoneEvents: false), id: 2)
    var answer = try callee.receivedOffer(offer, transport: Self.transport("bbbb")).answer
    #expect(answer.media.first?.formats == ["8", "111"])
    answer = try SessionDescription(
      parsing: answer.text.replacing("AVPF 8 111", with: "AVPF 100 8").replacing(":111 ", with: ":100 "))
    let audio = try caller.receivedAnswer(answer)
    #expect(audio.codecs.first?.sends == 100 && audio.codecs.first?.receives == 111)
    #expect(audio.telephoneEvents.isEmpty, "key presses are not sent to who did not ask for them")
  }

  @Test func rejectsAllOtherMedia() throws {
    let extra =
      "m=video 9 UDP/TLS/RTP/SAVPF 96\r\nc=IN IP4 0.0.0.0\r\na=mid:1\r\n"
      + "m=audio 9 UDP/TLS/RTP/SAVPF 0\r\nc=IN IP4 0.0.0.0\r\na=mid:2\r\n"
      + "m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\nc=IN IP4 0.0.0.0\r\na=mid:3\r\n"
    let offer = try SessionDescription(
      parsing: Samples.chromium.replacing("BUNDLE 0", with: "BUNDLE 0 1 2 3") + extra)
    var negotiator = Self.negotiator()
    let answer = try Self.sent(negotiator.receivedOffer(offer, transport: Self.transport("bbbb")).answer)
    #expect(answer.media.map(\.port) == [9, 0, 0, 0])
    #expect(answer.media.map(\.kind) == ["audio", "video", "audio", "application"])
    #expect(answer.bundle == ["0"])
    let own = try negotiator.makeOffer(.sendAndReceive, transport: Self.transport("bbbb"))
    #expect(own.media.map(\.isRejected) == [false, true, true, true], "places never change")
  }

  @Test func takesTheTransportFromTheMediumThatCarriesTheBundle() throws {
    let text =
      Samples.chromium.replacing("m=audio", with: "m=video").replacing("BUNDLE 0", with: "BUNDLE 0 1")
      + "m=audio 0 UDP/TLS/RTP/SAVPF 0\r\na=mid:1\r\na=bundle-only\r\na=rtcp-mux\r\na=setup:actpass\r\n"
    var negotiator = Self.negotiator()
    let (answer, audio) = try negotiator.receivedOffer(
      SessionDescription(parsing: text), transport: Self.transport("bbbb"))
    #expect(audio.remote.iceUserFragment == "CkzL")
    #expect(answer.bundle == ["1"])
    #expect(answer.media.map(\.port) == [0, 9])
  }

  @Test func holdsAndResumesFromBothSides() throws {
    var (caller, callee) = try Self.pair()
    func renegotiate(
      _ offerer: inout AudioNegotiator, _ answerer: inout AudioNegotiator, _ names: (String, String),
      _ prints: (UInt8, UInt8), _ direction: MediaDirection
    ) throws -> (MediaDirection?, MediaDirection?) {
      let offer = try Self.sent(
        offerer.makeOffer(direction, transport: Self.transport(names.0, fingerprint: prints.0)))
      let (answer, there) = try answerer.receivedOffer(
        offer, transport: Self.transport(names.1, fingerprint: prints.1))
      let here = try offerer.receivedAnswer(Self.sent(answer))
      #expect(!here.isICERestart && !there.isICERestart)
      #expect(!here.isNewDTLSAssociation && !there.isNewDTLSAssociation)
      return (here.direction, there.direction)
    }
    for (direction, other) in [
      (MediaDirection.sendOnly, MediaDirection.receiveOnly), (.inactive, .inactive),
      (.sendAndReceive, .sendAndReceive),
    ] {
      var result = try renegotiate(&caller, &callee, ("aaaa", "bbbb"), (1, 2), direction)
      #expect(result == (direction, other))
      #expect(caller.agreed?.dtlsRole == .server, "the roles stay")
      result = try renegotiate(&callee, &caller, ("bbbb", "aaaa"), (2, 1), direction)
      #expect(result == (direction, other))
      #expect(caller.agreed?.dtlsRole == .server, "the roles stay, whoever offers")
    }
  }

  @Test func theVersionGrowsOnlyWithAChange() throws {
    var caller = Self.negotiator()
    func version(_ direction: MediaDirection) throws -> UInt64 {
      let offer = try caller.makeOffer(direction, transport: Self.transport("aaaa"))
      caller.rolledBack()
      return offer.origin.version
    }
    #expect(
      try [version(.sendAndReceive), version(.sendAndReceive), version(.sendOnly), version(.sendAndReceive)]
        == [1, 1, 2, 3])
  }

  @Test func noticesAnICERestart() throws {
    var (caller, callee) = try Self.pair()
    let same = try caller.makeOffer(.sendAndReceive, transport: Self.transport("aaaa"))
    #expect(try !callee.restartsICE(same))
    caller.rolledBack()
    let offer = try Self.sent(caller.makeOffer(.sendAndReceive, transport: Self.transport("cccc")))
    #expect(try callee.restartsICE(offer))
    #expect(throws: NegotiationError.ownCredentialsKept) {
      try callee.receivedOffer(offer, transport: Self.transport("bbbb", fingerprint: 2))
    }
    let (answer, there) = try callee.receivedOffer(offer, transport: Self.transport("dddd", fingerprint: 2))
    let here = try caller.receivedAnswer(Self.sent(answer))
    #expect(here.isICERestart && there.isICERestart)
    #expect(!here.isNewDTLSAssociation, "the certificates are the same")
    _ = try caller.makeOffer(.sendAndReceive, transport: Self.transport("gggg"))
    #expect(throws: NegotiationError.remoteCredentialsKept) { try caller.receivedAnswer(answer) }
    let half = try SessionDescription(parsing: offer.text.replacing("ufrag:cccc", with: "ufrag:eeee"))
    #expect(throws: NegotiationError.halfICERestart) { try callee.restartsICE(half) }
  }

  @Test func aNewCertificateBeginsANewAssociation() throws {
    var (caller, callee) = try Self.pair()
    let offer = try callee.makeOffer(.sendAndReceive, transport: Self.transport("eeee", fingerprint: 9))
    let (answer, audio) = try caller.receivedOffer(offer, transport: Self.transport("ffff"))
    #expect(audio.isNewDTLSAssociation && audio.dtlsRole == .client)
    #expect(try callee.receivedAnswer(answer).isNewDTLSAssociation)
  }

  @Test func ownOffersKeepThePayloadTypesOfTheOtherSide() throws {
    let text = Samples.chromium.replacing("111", with: "100").replacing("110", with: "111")
    var negotiator = Self.negotiator()
    _ = try negotiator.receivedOffer(SessionDescription(parsing: text), transport: Self.transport("bbbb"))
    let offer = try Self.sent(negotiator.makeOffer(.sendOnly, transport: Self.transport("bbbb")))
    #expect(offer.media.first?.formats == ["100", "0", "8", "111", "126"])
  }
}
