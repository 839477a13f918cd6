/// A codec that a peer can send and receive, as it is offered.
public struct AudioCodec: Hashable, Sendable {
  /// What tells codecs apart: the name in lower case, the rate of the clock and the channels.
  public struct Key: Hashable, Sendable {
    /// The name in lower case, such as `opus`.
    public let encoding: String
    /// Units of the timestamp per second.
    public let clockRate: Int
    /// The channels.
    public let channels: Int

    /// Creates a key.
    public init(_ encoding: String, clockRate: Int, channels: Int = 1) {
      self.encoding = encoding.lowercased()
      self.clockRate = clockRate
      self.channels = channels
    }

    init(_ map: RTPMap) {
      self.init(map.encoding, clockRate: map.clockRate, channels: map.channels ?? 1)
    }
  }

  /// The name as it is written.
  public var encoding: String
  /// Units of the timestamp per second.
  public var clockRate: Int
  /// The channels as they are written.
  public var channels: Int
  /// The payload type that is offered, if another use of it does not forbid that.
  public var payloadType: UInt8
  /// The parameters (`a=fmtp`) of what this peer wants to receive.
  public var parameters: String?

  /// Creates a codec.
  public init(
    _ encoding: String, clockRate: Int, channels: Int = 1, payloadType: UInt8, parameters: String? = nil
  ) {
    self.encoding = encoding
    self.clockRate = clockRate
    self.channels = channels
    self.payloadType = payloadType & 0x7f
    self.parameters = parameters
  }

  /// What tells it from others.
  public var key: Key { Key(self.encoding, clockRate: self.clockRate, channels: self.channels) }

  /// Opus (RFC 7587 section 7): always at 48 kHz with two channels, whatever is encoded.
  ///
  /// - Parameters:
  ///   - inbandFEC: Whether the other side should add data from which a lost packet can be recovered.
  ///   - dtx: Whether the other side should send little or nothing while there is silence.
  ///   - maximumBitrate: Bits per second, from 6,000 to 510,000.
  public static func opus(inbandFEC: Bool = true, dtx: Bool = false, maximumBitrate: Int? = nil) -> AudioCodec
  {
    var parameters = "minptime=10"
    if inbandFEC { parameters += ";useinbandfec=1" }
    if dtx { parameters += ";usedtx=1" }
    if let maximumBitrate { parameters += ";maxaveragebitrate=\(max(6000, min(510_000, maximumBitrate)))" }
    return AudioCodec("opus", clockRate: 48000, channels: 2, payloadType: 111, parameters: parameters)
  }

  /// G.711 µ-law (RFC 3551 section 4.5.14).
  public static let pcmu = AudioCodec("PCMU", clockRate: 8000, payloadType: 0)
  /// G.711 A-law (RFC 3551 section 4.5.14).
  public static let pcma = AudioCodec("PCMA", clockRate: 8000, payloadType: 8)

  /// Key presses (RFC 4733 section 2.4.1), with the clock of the audio that they stand beside.
  public static func telephoneEvent(clockRate: Int) -> AudioCodec {
    AudioCodec(
      "telephone-event", clockRate: clockRate, payloadType: clockRate == 8000 ? 126 : 110, parameters: "0-15")
  }
}

extension MediaDescription {
  /// What a payload type is: as mapped, or as RFC 3551 section 6 assigns it.
  public func rtpmap(of payloadType: UInt8) -> RTPMap? {
    if let map = self.rtpmaps.first(where: { $0.payloadType == payloadType }) { return map }
    switch payloadType {
    case 0: return RTPMap(0, "PCMU", clockRate: 8000)
    case 8: return RTPMap(8, "PCMA", clockRate: 8000)
    case 9: return RTPMap(9, "G722", clockRate: 8000)
    case 13: return RTPMap(13, "CN", clockRate: 8000)
    default: return nil
    }
  }

  /// The payload type of a codec: the first format that is this codec.
  func payloadType(of key: AudioCodec.Key) -> UInt8? {
    self.payloadTypes.first { type in self.rtpmap(of: type).map { AudioCodec.Key($0) == key } ?? false }
  }
}
