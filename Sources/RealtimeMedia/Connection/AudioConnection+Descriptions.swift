public import VoiceCore

extension AudioConnection {
  /// Makes an offer: the first one, one that changes the direction, or one with new credentials (ICE restart).
  ///
  /// It holds the candidates found so far; later ones are told as ``Event/candidateFound(_:)``. An own offer that was never
  /// answered is taken back.
  ///
  /// - Parameters:
  ///   - direction: Who sends from now on, seen from this side; `nil` leaves it as it is.
  ///   - restartingICE: Whether a new way is looked for; the old one is used until there is one.
  /// - Returns: The text of the description.
  /// - Throws: ``VoiceFailure`` `call.media.unacceptable`.
  public func makeOffer(
    _ direction: MediaDirection? = nil, restartingICE: Bool = false, at now: VoiceInstant
  ) throws(VoiceFailure) -> String {
    try self.checkOpen()
    // All of it on copies, which count when nothing can be wrong any more.
    var (negotiator, ice) = (self.negotiator, self.ice)
    negotiator.rolledBack()
    ice.rollBack()
    var certificate = self.certificate
    if restartingICE, negotiator.agreed != nil {
      certificate = try self.certificateForRestart()
      ice.restart(as: .controlling, at: now)
    }
    let direction = direction ?? self.direction
    let offer: SessionDescription
    do {
      offer = try negotiator.makeOffer(direction, transport: Self.transport(ice, certificate))
    } catch { throw error.failure }
    (self.negotiator, self.ice, self.negotiatorBeforeAnswer) = (negotiator, ice, nil)
    self.direction = direction
    self.offeredCertificate = certificate
    self.drain()
    return offer.text
  }

  /// Describes the open offer again, with the candidates that were found since it was made.
  ///
  /// It takes the place of the one before, which must not have been sent. A restart of ICE that it began goes on.
  ///
  /// - Throws: ``VoiceFailure`` `call.media.unacceptable`.
  public func repeatOffer() throws(VoiceFailure) -> String {
    try self.checkOpen()
    var negotiator = self.negotiator
    negotiator.rolledBack()
    let offer: SessionDescription
    do {
      offer = try negotiator.makeOffer(
        self.direction, transport: Self.transport(self.ice, self.offeredCertificate ?? self.certificate))
    } catch { throw error.failure }
    self.negotiator = negotiator
    return offer.text
  }

  /// Takes the other side's offer and makes the answer.
  ///
  /// If an own offer is open, the other side's wins.
  ///
  /// An offer that restarts ICE is answered with new credentials (RFC 8839 section 4.4.1.1.1). What the other side gave as an answer
  /// is another matter: a gateway hands on the descriptions of clients that are back as offers, which does not open again who begins
  /// the DTLS handshake. Then this side keeps credentials that the other side was never seen to use, or both would answer each
  /// other's new credentials with new ones for ever.
  ///
  /// - Parameter isReattach: Whether this takes up a call after an outage, with what the other side said last. A connection that
  ///   failed begins anew with it, although nothing in it is new.
  /// - Throws: ``VoiceFailure`` `call.media.unacceptable`, with the place in the text if it is malformed; nothing has changed then.
  public func receivedOffer(
    _ text: String, isReattach: Bool = false, at now: VoiceInstant
  ) throws(VoiceFailure) -> String {
    try self.checkOpen()
    let offer = try Self.parse(text)
    var (negotiator, ice) = (self.negotiator, self.ice)
    negotiator.rolledBack()
    ice.rollBack()
    var certificate = self.certificate
    let isFirst = negotiator.agreed == nil
    let isRestart: Bool
    do { isRestart = try negotiator.restartsICE(offer) } catch { throw error.failure }
    let keepsCredentials =
      isRestart && !negotiator.opensHandshake(offer) && !self.areKeysOver && ice.hasFreshCredentials
    // A gateway that hands on what the other side answered asks for an attempt too, also with what is known here.
    let isAttempt = isReattach || !negotiator.opensHandshake(offer)
    let isAnew = !isFirst && !isRestart && isAttempt && self.state == .failed
    if isFirst {
      ice.setRole(.controlled)
    } else if isRestart && !keepsCredentials || isAnew {
      certificate = try self.certificateForRestart()
      // Who begins the restart controls it (RFC 8445 section 6.1.1 read with browsers' behaviour).
      ice.restart(as: .controlled, at: now)
    }
    do {
      let (answer, audio) = try negotiator.receivedOffer(
        offer, direction: self.direction, transport: Self.transport(ice, certificate),
        keepsCredentials: keepsCredentials)
      (self.negotiator, self.ice, self.negotiatorBeforeAnswer) = (negotiator, ice, nil)
      self.certificate = certificate
      self.offeredCertificate = nil
      self.apply(audio, isAnew: isAnew, keepsCredentials: keepsCredentials, at: now)
      self.drain()
      return answer.text
    } catch { throw error.failure }
  }

  /// Takes the other side's answer.
  ///
  /// - Parameter isFinal: Whether no other answer to the same offer can come; one that is not final is early media.
  /// - Throws: ``VoiceFailure`` `call.media.unacceptable`; the offer still waits for another answer then.
  public func receivedAnswer(
    _ text: String, isFinal: Bool = true, at now: VoiceInstant
  ) throws(VoiceFailure) {
    try self.checkOpen()
    let answer = try Self.parse(text)
    var negotiator = self.negotiatorBeforeAnswer ?? self.negotiator
    do {
      let audio = try negotiator.receivedAnswer(answer)
      self.negotiatorBeforeAnswer = isFinal ? nil : self.negotiatorBeforeAnswer ?? self.negotiator
      self.negotiator = negotiator
      self.certificate = self.offeredCertificate ?? self.certificate
      self.apply(audio, at: now)
    } catch {
      // Gateways repeat the answer: with early media, and when the call is taken.
      if error == .noOffer, self.isKnown(answer) { return }
      throw error.failure
    }
  }

  /// Takes a candidate of the other side, from `candidate:`; `nil` or an empty line says that there are no more.
  ///
  /// One that cannot be read, or of a kind that is not supported, is left out: others may do.
  public func addRemoteCandidate(_ line: String?, at now: VoiceInstant) {
    guard !self.isClosed else { return }
    guard let line, !line.isEmpty else { return self.ice.remoteCandidatesEnded(at: now) }
    guard let candidate = try? ICECandidate(parsing: line) else { return }
    self.ice.addRemote(candidate, at: now)
    self.tellState()
  }

  private func checkOpen() throws(VoiceFailure) {
    guard !self.isClosed else {
      throw VoiceFailure(.callNotFound, message: "The media of the call has ended.")
    }
  }

  private static func parse(_ text: String) throws(VoiceFailure) -> SessionDescription {
    do { return try SessionDescription(parsing: text) } catch { throw error.failure }
  }

  private func isKnown(_ answer: SessionDescription) -> Bool {
    guard let agreed = self.negotiator.agreed,
      let index = try? self.negotiator.audioIndex(in: answer),
      let remote = try? AudioNegotiator.remote(of: answer, at: index)
    else { return false }
    return remote.iceUserFragment == agreed.remote.iceUserFragment
      && remote.icePassword == agreed.remote.icePassword
  }

  private static func transport(
    _ ice: ICEAgent, _ certificate: DTLSCertificate
  ) -> AudioNegotiator.Transport {
    .init(
      iceUserFragment: ice.localCredentials.userFragment, icePassword: ice.localCredentials.password,
      fingerprint: certificate.fingerprint, candidates: ice.signalledCandidates,
      hasAllCandidates: ice.gatheringHasEnded)
  }

  /// With the old one the other side would keep its association, and never take part in a new handshake (RFC 8842 section 4).
  private func certificateForRestart() throws(VoiceFailure) -> DTLSCertificate {
    guard self.areKeysOver else { return self.certificate }
    do { return try DTLSCertificate.make() } catch {
      throw VoiceFailure(.callMediaFailed, message: "A certificate could not be made.", cause: error)
    }
  }

  private var areKeysOver: Bool {
    switch self.keys {
    case .waiting, .ready, .handshaking, .paused, .secured: false
    case .failed, .closed: true
    }
  }

  /// Sets up the transport and the audio for an agreement.
  ///
  /// - Parameters:
  ///   - isAnew: Whether this side alone has new credentials.
  ///   - keepsCredentials: Whether the other side alone has.
  private func apply(
    _ audio: NegotiatedAudio, isAnew: Bool = false, keepsCredentials: Bool = false, at now: VoiceInstant
  ) {
    let new = Applied(
      userFragment: audio.remote.iceUserFragment, password: audio.remote.icePassword,
      fingerprints: Set(audio.remote.fingerprints), role: audio.dtlsRole, own: self.certificate.fingerprint)
    let old = self.applied
    self.applied = new
    let isRestart = isAnew || old?.userFragment != new.userFragment || old?.password != new.password
    let areKeysNew =
      old?.fingerprints != new.fingerprints || old?.role != new.role || old?.own != new.own
    if isRestart {
      if !self.areKeysOver { self.failure = nil }
      self.ice.setRemote(
        userFragment: new.userFragment, password: new.password, isLite: audio.remote.isICELite,
        keepsOwn: keepsCredentials, at: now)
      self.connectDeadline = now.advanced(by: self.configuration.connectTimeout)
      self.awaitsNewWay = old != nil
    }
    for candidate in audio.remote.candidates { self.ice.addRemote(candidate, at: now) }
    if audio.remote.hasAllCandidates { self.ice.remoteCandidatesEnded(at: now) }
    if areKeysNew || isRestart && self.areKeysOver {
      self.beginHandshake(new, audio, at: now)
    }
    self.setUpAudio(audio)
    // Who may not send any more is silent for a good reason.
    self.silence.reset()
    self.tellState()
  }

  private func setUpAudio(_ audio: NegotiatedAudio) {
    self.receiver.change(codecs: audio.codecs, telephoneEvents: audio.telephoneEvents)
    guard let codec = audio.codecs.first else { return }
    let event = audio.telephoneEvent(for: codec)
    let packetTime = audio.remote.packetTime.map { Duration.milliseconds($0) }
    let maximum = audio.remote.maximumPacketTime.map { Duration.milliseconds($0) }
    do {
      if let sender = self.sender {
        try sender.change(
          codec: codec, telephoneEvent: event, packetTime: packetTime, maximumPacketTime: maximum)
        self.reports?.change(clockRate: codec.key.clockRate)
      } else {
        self.sender = try AudioSender(
          ssrc: self.ssrc, codec: codec, telephoneEvent: event, packetTime: packetTime,
          maximumPacketTime: maximum, options: self.configuration.sending, random: &self.random)
      }
    } catch {
      self.fail(VoiceFailure(.callMediaFailed, message: "\(error)", cause: error))
    }
  }
}
