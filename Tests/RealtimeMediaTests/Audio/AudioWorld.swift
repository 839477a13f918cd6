import RealtimeMedia
import Testing
import VoiceCore
import VoiceTesting

/// A sender, a network and a receiver in virtual time; the same seed gives the same course.
struct AudioWorld {
  struct Network {
    var loss = 0.0
    var duplication = 0.0
    /// The delay of each packet is 30 ms and up to this, so that packets overtake each other.
    var jitter: (_ second: Double) -> Int = { _ in 0 }
    /// How much faster the sender's clock is, in millionths.
    var drift = 0.0
  }

  struct Course {
    var samples: [Int16] = []
    var concealed: [Range<Int>] = []
    var info = AudioReceiver.ReadInfo()
    var events: [AudioReceiver.Event] = []
    var statistics = AudioReceiver.Statistics()
    var packets = 0
    var bytes = 0
    var lost = 0
    /// The delay of the receiver, each second.
    var delays: [Duration] = []

    /// Milliseconds of the course.
    func milliseconds(_ range: Range<Int>) -> ArraySlice<Int16> {
      self.samples[range.lowerBound * 48..<min(self.samples.count, range.upperBound * 48)]
    }

    /// The samples were not concealed, and neither were those around.
    func isWhole(_ range: Range<Int>) -> Bool {
      let range = range.lowerBound - 4800..<range.upperBound
      return !self.concealed.contains { $0.overlaps(range) }
    }
  }

  static let opus = codec(AudioCodec.opus().key, 111, ["useinbandfec": "1"])
  static let pcmu = codec(AudioCodec.pcmu.key, 0)
  static let pcma = codec(AudioCodec.pcma.key, 8)
  static let keys48 = codec(AudioCodec.telephoneEvent(clockRate: 48000).key, 110)
  static let keys8 = codec(AudioCodec.telephoneEvent(clockRate: 8000).key, 126)

  static func codec(_ key: AudioCodec.Key, _ payloadType: UInt8, _ parameters: [String: String] = [:])
    -> NegotiatedAudio.Codec
  {
    NegotiatedAudio.Codec(key: key, sends: payloadType, receives: payloadType, remoteParameters: parameters)
  }

  static func sender(
    _ codec: NegotiatedAudio.Codec = pcmu, packetTime: Int = 20, options: AudioSender.Options = .init(),
    ssrc: UInt32 = 7, seed: UInt64 = 1
  ) throws -> AudioSender {
    var random = SeededGenerator(seed: seed)
    return try AudioSender(
      ssrc: ssrc, codec: codec, telephoneEvent: codec.key.clockRate == 8000 ? Self.keys8 : Self.keys48,
      packetTime: .milliseconds(packetTime), options: options, random: &random)
  }

  static func receiver(_ codecs: [NegotiatedAudio.Codec] = [opus, pcmu, pcma]) -> AudioReceiver {
    AudioReceiver(codecs: codecs, telephoneEvents: [Self.keys48, Self.keys8])
  }

  var network = Network()
  var random: SeededGenerator
  private var flying: [(at: Int, packet: RTPPacket)] = []
  private var made = 0
  private var now = 0
  private(set) var course = Course()

  init(seed: UInt64, _ network: Network = Network()) {
    self.network = network
    self.random = SeededGenerator(seed: seed)
  }

  /// Goes on for a time; the receiver is asked for 10 ms every 10 ms.
  ///
  /// - Parameters:
  ///   - sound: Gives the samples from a place on; `nil` for a muted microphone.
  ///   - keep: Whether to keep the samples.
  mutating func run(
    _ milliseconds: Int, from sender: AudioSender, to receiver: AudioReceiver, keep: Bool = true,
    _ sound: (_ start: Int, _ count: Int) -> [Int16]?
  ) throws {
    let end = self.now + milliseconds * 1000
    var packet: [UInt8] = []
    var samples: [Int16] = []
    while self.now < end {
      while Double(self.made) * 20_000 / (1 + self.network.drift / 1e6) <= Double(self.now) {
        let sent = Int(Double(self.made) * 20_000 / (1 + self.network.drift / 1e6))
        let frame = sound(self.made * 960, 960)
        self.made += 1
        guard
          sender.send(frame?[...], at: VoiceInstant(offset: .microseconds(sent)), into: &packet)
        else { continue }
        self.course.packets += 1
        self.course.bytes += packet.count
        try self.fly(RTPPacket(parsing: packet[...]), sent: sent)
      }
      self.flying.sort { $0.at < $1.at }
      while let first = self.flying.first, first.at <= self.now {
        receiver.received(first.packet, at: VoiceInstant(offset: .microseconds(first.at)))
        self.flying.removeFirst()
      }
      self.read(receiver, into: &samples, keep: keep)
      self.now += 10_000
      if self.now % 1_000_000 == 0 { self.course.delays.append(receiver.statistics.delay) }
    }
    self.course.statistics = receiver.statistics
  }

  private mutating func fly(_ packet: RTPPacket, sent: Int) {
    let jitter = self.network.jitter(Double(sent) / 1e6) * 1000
    for _ in 0..<(Double.random(in: 0..<1, using: &self.random) < self.network.duplication ? 2 : 1) {
      guard Double.random(in: 0..<1, using: &self.random) >= self.network.loss else {
        self.course.lost += 1
        continue
      }
      self.flying.append((sent + 30_000 + Int.random(in: 0...max(1, jitter), using: &self.random), packet))
    }
  }

  private mutating func read(_ receiver: AudioReceiver, into samples: inout [Int16], keep: Bool) {
    let info = receiver.read(480, into: &samples, at: VoiceInstant(offset: .microseconds(self.now)))
    #expect(samples.count == 480 && info.count == 480)
    if keep {
      let start = self.course.samples.count
      self.course.samples += samples
      for range in info.concealed {
        self.course.concealed.append(start + range.lowerBound..<start + range.upperBound)
      }
    }
    self.course.info.concealedCount += info.concealedCount
    self.course.info.recoveredCount += info.recoveredCount
    self.course.info.restingCount += info.restingCount
    self.course.info.count += info.count
    while let event = receiver.poll() { self.course.events.append(event) }
  }
}
