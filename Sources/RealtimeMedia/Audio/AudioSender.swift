import VoiceCore

/// Why audio cannot be sent.
public enum AudioSenderError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The codec is not one of Opus, PCMU and PCMA.
  case codecNotSupported(AudioCodec.Key)
  /// The codec could not be set up, or does not take what it was given; the text comes from its library.
  case encoderFailed(String)

  public var description: String {
    switch self {
    case .codecNotSupported(let key): "There is no encoder for \(key.encoding)/\(key.clockRate)."
    case .encoderFailed(let reason): "The audio cannot be encoded: \(reason)."
    }
  }
}

/// Makes packets of RTP of mono audio at 48 kHz.
///
/// One frame goes in, and one packet comes out at most. A packet holds at least the time of packets that was agreed on,
/// and all that is there: whoever wants packets of 10 ms gives frames of 10 ms. Only if the other side takes no packets of that
/// length (`maxptime`) several come out; ``sendRest(into:)`` makes the others. Keys take the place of audio (RFC 4733).
/// While the microphone is muted silence is sent, not nothing: addresses of NATs stay in use, and the other side
/// neither takes the call for broken nor counts losses. Opus then leaves out most packets (DTX), but sends one at least
/// every 400 ms; while nobody is muted it does so only if the other side asks for it (`usedtx=1`) or with
/// ``Options/allowsDTX``.
///
/// A change of the codec keeps source, numbers and time, and so does a pause in which nothing is given.
///
/// ```swift
/// if sender.send(frame[...], at: now, into: &packet) { try srtp.protect(&packet) }
/// ```
///
/// Not `Sendable`: one sender, one thread at a time.
public final class AudioSender {
  /// How to encode.
  public struct Options: Hashable, Sendable {
    /// Bits per second of Opus, at most what the other side allows (`maxaveragebitrate`).
    public var bitrate: Int
    /// How hard Opus tries, from 0 to 10.
    public var complexity: Int
    /// Whether Opus may leave out silence even if the other side does not ask for it.
    public var allowsDTX: Bool

    /// Creates options.
    public init(bitrate: Int = 48000, complexity: Int = 5, allowsDTX: Bool = false) {
      self.bitrate = max(6000, min(510_000, bitrate))
      self.complexity = max(0, min(10, complexity))
      self.allowsDTX = allowsDTX
    }
  }

  /// What happened so far.
  public struct Statistics: Hashable, Sendable {
    /// Packets of audio and of keys that were made.
    public var packets = 0
    /// Bytes of payload in them.
    public var payloadBytes = 0
    /// Packets that were left out because of silence.
    public var packetsLeftOut = 0
    /// Packets that could not be encoded; nothing was sent in their place.
    public var packetsFailed = 0
    /// Samples at 48 kHz that were given, with silence.
    public var samples: Int64 = 0
    /// How loud this side is, from 0 to 1.
    public var level = 0.0

    /// Creates statistics that are empty.
    public init() {}
  }

  struct Press {
    var key: TelephoneEvent.Key
    var duration: Duration
    var pause: Duration
  }

  /// Units of this side's audio per second.
  static let rate = 48000
  /// 10 ms, the unit of all packets.
  static let unit = 480
  /// 60 ms.
  static let longestPacket = 2880

  /// The source that stands in the packets.
  public let ssrc: UInt32
  /// The codec to send.
  public private(set) var codec: NegotiatedAudio.Codec
  /// The least time in a packet, from 10 to 60 ms.
  public private(set) var packetTime: Duration
  /// The timestamp of the next packet.
  public internal(set) var timestamp: UInt32
  /// The number of the next packet.
  public internal(set) var sequenceNumber: UInt16

  let options: Options
  var counters = Statistics()
  var meter = AudioLevelMeter()
  var encoder: any AudioEncoding
  /// What was agreed on but waits for a key to end.
  private var nextAgreement: Agreement?
  var telephoneEvent: NegotiatedAudio.Codec?
  var keys: TelephoneEventSender
  var presses: [Press] = []
  /// Samples that wait for a whole packet.
  var pending: [Int16] = []
  var packetLength: Int
  /// The most that the other side takes in one packet.
  var packetLimit = AudioSender.longestPacket
  /// Whether the next packet of audio begins something (RFC 3551 section 4.1).
  var isMarked = true
  var lastSample: Int16 = 0
  var isMuted = false
  var lastCall: VoiceInstant?
  /// How long the last frame was, which is also the length of a frame without samples.
  var lastFrame = 960
  private var loss = 0.0

  private struct Agreement {
    var codec: NegotiatedAudio.Codec
    var telephoneEvent: NegotiatedAudio.Codec?
    var packetTime: Duration?
    var maximumPacketTime: Duration?
    var encoder: any AudioEncoding
  }

  /// Creates a sender.
  ///
  /// - Parameters:
  ///   - ssrc: The source.
  ///   - codec: The codec to send, as it was agreed on.
  ///   - telephoneEvent: The format of keys with the same clock, if there is one.
  ///   - packetTime: How much audio a packet has, 20 ms by default; rounded to what the codec can, from 10 to 60 ms.
  ///   - maximumPacketTime: How much it may have; what is too short for the codec counts as the least that the codec can.
  ///   - random: Gives the first number and the first timestamp.
  /// - Throws: ``AudioSenderError``.
  public init(
    ssrc: UInt32, codec: NegotiatedAudio.Codec, telephoneEvent: NegotiatedAudio.Codec? = nil,
    packetTime: Duration? = nil, maximumPacketTime: Duration? = nil, options: Options = .init(),
    random: inout some RandomNumberGenerator
  ) throws(AudioSenderError) {
    self.ssrc = ssrc
    self.codec = codec
    self.options = options
    self.packetTime = .milliseconds(20)
    self.packetLength = 960
    self.encoder = try AudioEncoders.make(codec, options: options)
    self.telephoneEvent = telephoneEvent
    self.keys = TelephoneEventSender(clockRate: codec.key.clockRate)
    self.timestamp = random.next()
    // The upper half is left out, so that a lost first packet is not a wrap as well (RFC 3711 section 3.3.1).
    self.sequenceNumber = UInt16.random(in: 0..<32768, using: &random)
    self.pending.reserveCapacity(8192)
    self.setPacketTime(packetTime, atMost: maximumPacketTime)
  }

  /// The share of packets that are expected to be lost, from 0 to 1; it says how much redundancy is sent.
  public var expectedLoss: Double {
    get { self.loss }
    set {
      self.loss = newValue.isFinite ? max(0, min(1, newValue)) : 0
      self.encoder.expectedLoss = self.loss
    }
  }

  /// Takes what was agreed on anew; source, numbers and time go on.
  ///
  /// A key that is being sent ends first.
  ///
  /// - Throws: ``AudioSenderError``; what was agreed on before stays.
  public func change(
    codec: NegotiatedAudio.Codec, telephoneEvent: NegotiatedAudio.Codec? = nil, packetTime: Duration? = nil,
    maximumPacketTime: Duration? = nil
  ) throws(AudioSenderError) {
    let isSame =
      codec.key == self.codec.key && codec.remoteParameters == self.codec.remoteParameters
      && self.nextAgreement == nil
    let encoder = isSame ? self.encoder : try AudioEncoders.make(codec, options: self.options)
    encoder.expectedLoss = self.loss
    self.nextAgreement = Agreement(
      codec: codec, telephoneEvent: telephoneEvent, packetTime: packetTime,
      maximumPacketTime: maximumPacketTime, encoder: encoder)
    self.followAgreement()
  }

  /// Takes over what was agreed on, once no key is being sent.
  func followAgreement() {
    guard let agreement = self.nextAgreement, !self.keys.isBusy else { return }
    self.nextAgreement = nil
    self.codec = agreement.codec
    self.encoder = agreement.encoder
    self.telephoneEvent = agreement.telephoneEvent
    if agreement.telephoneEvent == nil { self.presses = [] }
    self.keys = TelephoneEventSender(clockRate: agreement.codec.key.clockRate)
    self.setPacketTime(agreement.packetTime, atMost: agreement.maximumPacketTime)
  }

  private func setPacketTime(_ time: Duration?, atMost maximum: Duration?) {
    self.packetLimit = self.allowedUnits(in: maximum ?? .milliseconds(60)) * Self.unit
    self.packetLength = min(self.packetLimit, self.allowedUnits(in: time ?? .milliseconds(20)) * Self.unit)
    self.packetTime = .units(Int64(self.packetLength), of: Self.rate)
  }

  private func allowedUnits(in time: Duration) -> Int {
    let time = max(.milliseconds(10), min(.milliseconds(60), time))
    return self.allowedUnits(atMost: max(1, Int(time.units(of: Self.rate)) / Self.unit))
  }

  /// The largest packet of this codec with at most so many units of 10 ms.
  func allowedUnits(atMost units: Int) -> Int {
    guard self.codec.key.encoding == "opus" else { return min(6, units) }
    return switch units {
    case 6...: 6
    case 4...: 4
    case 2...: 2
    default: units
    }
  }

  /// Sends keys one after the other.
  ///
  /// - Parameters:
  ///   - duration: From 40 ms to what 16 bits of the clock can say.
  ///   - pause: The silence after each, at least 30 ms.
  /// - Returns: False, with nothing sent, if the other side does not know keys or too many wait.
  public func press(
    _ keys: [TelephoneEvent.Key], duration: Duration = .milliseconds(100), pause: Duration = .milliseconds(70)
  ) -> Bool {
    let isKnown = self.nextAgreement.map { $0.telephoneEvent != nil } ?? (self.telephoneEvent != nil)
    guard isKnown, self.presses.count + keys.count <= TelephoneEventSender.capacity else { return false }
    self.presses += keys.map { Press(key: $0, duration: duration, pause: pause) }
    return true
  }

  /// Whether keys are being sent or wait.
  public var isSendingKeys: Bool { self.keys.isBusy || !self.presses.isEmpty }

  /// What happened so far.
  public var statistics: Statistics {
    var statistics = self.counters
    statistics.level = self.meter.level
    return statistics
  }
}

/// The encoders that there are.
enum AudioEncoders {
  static func make(
    _ codec: NegotiatedAudio.Codec, options: AudioSender.Options
  ) throws(AudioSenderError) -> any AudioEncoding {
    switch (codec.key.encoding, codec.key.clockRate, codec.key.channels) {
    case ("pcmu", 8000, 1): G711Encoder(isALaw: false)
    case ("pcma", 8000, 1): G711Encoder(isALaw: true)
    case ("opus", 48000, 2): try OpusEncoding(codec, options: options)
    default: throw .codecNotSupported(codec.key)
    }
  }
}
