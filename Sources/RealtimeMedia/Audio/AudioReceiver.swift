import VoiceCore

/// Makes an even stream of mono audio at 48 kHz of the packets of one remote party.
///
/// Packets go in when they come, in any order; whoever plays reads as many samples as it needs whenever it needs them.
/// Between the two are a ``JitterBuffer``, a decoder for each codec that was agreed on, concealment, and a
/// ``TimeStretcher`` by which the delay follows the network and the drift of both clocks is absorbed. Nothing of it waits
/// or reads a clock, and nothing is allocated per packet once a stream is under way, apart from what the packets bring.
///
/// ```swift
/// receiver.received(packet, at: now)
/// let info = receiver.read(480, into: &samples, at: now)
/// while let event = receiver.poll() { … }
/// ```
///
/// Not `Sendable`: one receiver, one thread at a time.
public final class AudioReceiver {
  /// How to receive.
  public struct Options: Hashable, Sendable {
    /// The least delay to aim for.
    public var minimumDelay: Duration
    /// The largest delay to aim for.
    public var maximumDelay: Duration
    /// Whether silence that is not sent is filled with quiet noise like that between the words.
    public var playsComfortNoise: Bool

    /// Creates options.
    public init(
      minimumDelay: Duration = .milliseconds(20), maximumDelay: Duration = .milliseconds(500),
      playsComfortNoise: Bool = true
    ) {
      self.minimumDelay = minimumDelay
      self.maximumDelay = maximumDelay
      self.playsComfortNoise = playsComfortNoise
    }
  }

  /// What the other side did.
  public enum Event: Hashable, Sendable {
    case keyPressed(TelephoneEvent.Key)
    case keyReleased(TelephoneEvent.Key, after: Duration)
    /// The first packet of a source came; there may have been another one before.
    case sourceChanged(ssrc: UInt32)
    /// The audio that is played is in this codec from now on.
    case codecChanged(AudioCodec.Key)
    /// No decoder could be made; its packets are concealed.
    case codecFailed(AudioCodec.Key)
  }

  /// How the samples that were read came about.
  public struct ReadInfo: Hashable, Sendable {
    /// How many samples there are.
    public var count = 0
    /// Where audio was made up because it was lost or late, by the index of the sample, in rising order.
    public var concealed: [Range<Int>] = []
    /// How many samples were made up.
    public var concealedCount = 0
    /// How many samples were recovered from redundancy (Opus in-band FEC), with little loss of quality.
    public var recoveredCount = 0
    /// How many samples are silence or noise of comfort, because nothing was to be played.
    public var restingCount = 0

    /// Creates a report on no samples.
    public init() {}

    mutating func add(_ run: SampleQueue.Run) {
      switch run.origin {
      case .received: break
      case .recovered: self.recoveredCount += run.count
      case .resting: self.restingCount += run.count
      case .concealed:
        self.concealedCount += run.count
        self.concealed.append(self.count..<self.count + run.count)
      }
      self.count += run.count
    }
  }

  /// What happened so far; lengths in samples at 48 kHz.
  public struct Statistics: Hashable, Sendable {
    /// The source, once a packet came.
    public var ssrc: UInt32?
    /// The codec that was played last.
    public var codec: AudioCodec.Key?
    /// Packets of audio and of keys that came.
    public var packetsReceived = 0
    /// Bytes of payload that came.
    public var bytesReceived = 0
    /// Packets that were ignored: of a payload type that was not agreed on, malformed, or of a source that was left.
    public var packetsIgnored = 0
    /// Packets that could not be decoded.
    public var packetsUndecodable = 0
    /// Packets that came after their time.
    public var packetsLate = 0
    /// Packets that came twice.
    public var packetsDuplicate = 0
    /// Packets that were dropped because too many waited.
    public var packetsDiscarded = 0
    /// Samples that were read.
    public var played: Int64 = 0
    /// Samples that were made up because they were lost or late.
    public var concealed: Int64 = 0
    /// How often something was made up, in a row once.
    public var concealments = 0
    /// Samples that were recovered from redundancy.
    public var recovered: Int64 = 0
    /// Samples of silence or noise of comfort, because nothing was to be played.
    public var resting: Int64 = 0
    /// Samples that were taken out to shrink the delay.
    public var removed: Int64 = 0
    /// Samples that were put in to let the delay grow.
    public var inserted: Int64 = 0
    /// The delay that is aimed for.
    public var targetDelay = Duration.zero
    /// The delay between arrival and reading now, smoothed.
    public var delay = Duration.zero
    /// How loud the other side is, from 0 to 1.
    public var level = 0.0

    /// Creates statistics that are empty.
    public init() {}
  }

  /// A codec that may come.
  struct Track {
    var key: AudioCodec.Key
    var payloadType: UInt8
    var decoder: (any AudioDecoding)?
    var hasFailed = false
  }

  /// The keys of one clock.
  struct KeyTrack {
    var payloadType: UInt8
    var clockRate: Int
    var receiver: TelephoneEventReceiver
  }

  /// The time of the last key, during which nothing is heard.
  struct Mute {
    var start: Int64
    var end: Int64
  }

  let options: Options
  /// Makes a decoder; tests let it fail.
  var makeDecoder: (AudioCodec.Key) -> (any AudioDecoding)? = AudioDecoders.make
  var counters = Statistics()
  var tracks: [Track] = []
  var keyTracks: [KeyTrack] = []
  var buffer: JitterBuffer
  var timeline = RTPTimeline()
  var source: (ssrc: UInt32, lastPacket: VoiceInstant)?
  /// The source that was left for this one; its packets are late, not a change back.
  var leftSource: UInt32?
  var mute: Mute?
  var events: [Event] = []
  var eventsTaken = 0

  var queue = SampleQueue()
  var stretcher = TimeStretcher(sampleRate: RTPTimeline.rate)
  var noise = ComfortNoise()
  var meter = AudioLevelMeter()
  var block: [Int16] = []
  var tail: [Int16] = []
  var lastOrigin = SampleOrigin.resting
  var isMuted = false
  /// The track that was decoded last, and where its audio ended.
  var playing: (track: Int, end: Int64)?
  var decodersAreOfLeftSource = false
  /// Samples without a packet to play.
  var starved = 0

  /// Creates a receiver.
  ///
  /// - Parameters:
  ///   - codecs: What may come, as it was agreed on: Opus, PCMU and PCMA are known, others are ignored.
  ///   - telephoneEvents: The formats of keys that may come.
  ///   - options: How to receive.
  public init(
    codecs: [NegotiatedAudio.Codec], telephoneEvents: [NegotiatedAudio.Codec] = [], options: Options = .init()
  ) {
    self.options = options
    self.buffer = JitterBuffer(
      options: .init(
        clockRate: RTPTimeline.rate, minimumDelay: options.minimumDelay, maximumDelay: options.maximumDelay,
        hasRedundancy: true))
    self.block.reserveCapacity(8192)
    self.tail.reserveCapacity(512)
    self.change(codecs: codecs, telephoneEvents: telephoneEvents)
  }

  /// Takes what was agreed on anew; audio that is under way goes on.
  public func change(codecs: [NegotiatedAudio.Codec], telephoneEvents: [NegotiatedAudio.Codec]) {
    // Places stay, because the codec that is played is remembered by its place; codecs that are gone match nothing.
    for index in self.tracks.indices { self.tracks[index].payloadType = .max }
    for codec in codecs where AudioDecoders.knows(codec.key) {
      if let index = self.tracks.firstIndex(where: { $0.key == codec.key }) {
        // The first one of a codec is the wanted one.
        guard self.tracks[index].payloadType == .max else { continue }
        self.tracks[index].payloadType = codec.receives
      } else {
        self.tracks.append(Track(key: codec.key, payloadType: codec.receives))
      }
    }
    let before = self.keyTracks
    self.keyTracks = telephoneEvents.map { format in
      KeyTrack(
        payloadType: format.receives, clockRate: format.key.clockRate,
        receiver: before.first { $0.clockRate == format.key.clockRate }?.receiver
          ?? TelephoneEventReceiver(clockRate: format.key.clockRate))
    }
  }

  /// What happened, in order; `nil` if nothing did.
  public func poll() -> Event? {
    guard self.eventsTaken < self.events.count else {
      self.events.removeAll(keepingCapacity: true)
      self.eventsTaken = 0
      return nil
    }
    defer { self.eventsTaken += 1 }
    return self.events[self.eventsTaken]
  }

  /// What happened so far.
  public var statistics: Statistics {
    var statistics = self.counters
    statistics.ssrc = self.source?.ssrc
    statistics.packetsLate = self.buffer.statistics.late
    statistics.packetsDuplicate = self.buffer.statistics.duplicates
    statistics.packetsDiscarded = self.buffer.statistics.discarded
    statistics.targetDelay = self.buffer.statistics.targetDelay
    statistics.delay = self.buffer.statistics.delay
    statistics.level = self.meter.level
    return statistics
  }

  /// Keeps an event; without anybody who polls, the oldest ones are dropped.
  func add(_ event: Event) {
    if self.events.count >= 256 {
      self.events.removeFirst(128)
      self.eventsTaken = max(0, self.eventsTaken - 128)
    }
    self.events.append(event)
  }
}

/// The decoders that there are.
enum AudioDecoders {
  static func knows(_ key: AudioCodec.Key) -> Bool {
    switch (key.encoding, key.clockRate, key.channels) {
    case ("pcmu", 8000, 1), ("pcma", 8000, 1), ("opus", 48000, 2): true
    default: false
    }
  }

  static func make(_ key: AudioCodec.Key) -> (any AudioDecoding)? {
    switch (key.encoding, key.clockRate, key.channels) {
    case ("pcmu", 8000, 1): G711Decoder(isALaw: false)
    case ("pcma", 8000, 1): G711Decoder(isALaw: true)
    case ("opus", 48000, 2): OpusDecoding()
    default: nil
    }
  }

  /// How long the audio in a payload is, in samples at 48 kHz; `nil` if it cannot be.
  static func duration(of payload: ArraySlice<UInt8>, _ key: AudioCodec.Key) -> Int? {
    if key.encoding == "opus" { return OpusPacket.duration(of: payload) }
    // More than 200 ms in a packet is nothing that anybody sends.
    guard (1...1600).contains(payload.count) else { return nil }
    return payload.count * TelephoneBandFilter.factor
  }
}
