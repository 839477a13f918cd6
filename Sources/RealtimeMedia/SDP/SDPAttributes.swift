/// What has attributes: a session and a medium. The first one of a kind counts.
public protocol SDPAttributes {
  /// The attributes in their order.
  var attributes: [SDPAttribute] { get set }
}

extension SDPAttributes {
  private func first<Value>(_ pick: (SDPAttribute) -> Value?) -> Value? {
    self.attributes.firstValue(pick)
  }

  /// The name of the medium.
  public var mid: String? { self.first { if case .mid(let mid) = $0 { mid } else { nil } } }
  /// Who sends, if it is written.
  public var direction: MediaDirection? {
    self.first { if case .direction(let direction) = $0 { direction } else { nil } }
  }
  /// Who begins the DTLS handshake.
  public var setup: DTLSSetup? { self.first { if case .setup(let setup) = $0 { setup } else { nil } } }
  /// The user fragment of ICE.
  public var iceUserFragment: String? {
    self.first { if case .iceUserFragment(let fragment) = $0 { fragment } else { nil } }
  }
  /// The password of ICE.
  public var icePassword: String? {
    self.first { if case .icePassword(let password) = $0 { password } else { nil } }
  }
  /// The options of ICE.
  public var iceOptions: [String] {
    self.first { if case .iceOptions(let options) = $0 { options } else { nil } } ?? []
  }
  /// The candidates.
  public var candidates: [ICECandidate] {
    self.attributes.compactMap { if case .candidate(let candidate) = $0 { candidate } else { nil } }
  }
  /// The fingerprints; a peer may send one for each of several hash functions.
  public var fingerprints: [CertificateFingerprint] {
    self.attributes.compactMap { if case .fingerprint(let print) = $0 { print } else { nil } }
  }
  /// The maps of payload types.
  public var rtpmaps: [RTPMap] {
    self.attributes.compactMap { if case .rtpmap(let map) = $0 { map } else { nil } }
  }
  /// The length of a packet in milliseconds.
  public var ptime: Int? { self.first { if case .ptime(let time) = $0 { time } else { nil } } }
  /// The largest length of a packet in milliseconds.
  public var maxptime: Int? { self.first { if case .maxptime(let time) = $0 { time } else { nil } } }
  /// The sources that are announced, each once, in their order.
  public var ssrcs: [UInt32] {
    var known: Set<UInt32> = []
    return self.attributes.compactMap {
      if case .ssrc(let ssrc, _, _) = $0, known.insert(ssrc).inserted { ssrc } else { nil }
    }
  }
  /// The media of the first BUNDLE group.
  public var bundle: [String]? {
    self.first { if case .group("BUNDLE", let mids) = $0 { mids } else { nil } }
  }

  /// The parameters of a format by lower-case name.
  public func parameters(of format: String) -> [String: String] {
    self.first { if case .fmtp(let fmtp) = $0, fmtp.format == format { fmtp.values } else { nil } } ?? [:]
  }

  /// Whether a flag or any other attribute with this name is there.
  public func has(_ name: String) -> Bool { self.attributes.contains { $0.name == name } }
}
