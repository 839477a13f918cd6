import RealtimeMedia
import VoiceCore
import VoiceTesting

/// A sender, a network and a player in virtual time; the same seed gives the same course.
struct JitterWorld {
  struct Network {
    var loss = 0.0
    var duplication = 0.0
    /// The delay of each packet is the base and up to this.
    var jitter = 0
    /// Milliseconds without any arrival, after which all comes at once.
    var outages: [Range<Int>] = []
    /// How much faster the sender's clock is, in millionths.
    var drift = 0.0
    /// No packets are made in these packets' places, but time passes.
    var silence: (Int) -> Bool = { _ in false }
  }

  struct Course {
    var statistics = JitterBuffer.Statistics()
    /// Timestamps of what was played, in their order.
    var played: [Int64] = []
    var rested = 0
    var recovered = 0
    /// The largest and the last delay.
    var largestDelay = Duration.zero
    var unplayed = 0
    var mostFrames = 0
  }

  static let rate = 48000
  static let frame = 960

  /// Runs for a time; the buffer is asked every 10 ms of the player's clock, as an audio device does.
  static func run(
    seconds: Int, seed: UInt64, firstSequence: UInt16 = 65000, firstTimestamp: UInt32 = .max - 100_000,
    options: JitterBuffer.Options = .init(clockRate: rate), _ network: Network
  ) -> Course {
    var random = SeededGenerator(seed: seed)
    var buffer = JitterBuffer(options: options)
    var course = Course()
    var flying: [(at: Int, packet: RTPPacket)] = []
    var made = 0
    var sequence = firstSequence
    // Time in microseconds.
    for now in stride(from: 0, to: seconds * 1_000_000, by: 10_000) {
      while Double(made) * 20_000 / (1 + network.drift / 1e6) <= Double(now) {
        let sent = Int(Double(made) * 20_000 / (1 + network.drift / 1e6))
        let timestamp = firstTimestamp &+ UInt32(truncatingIfNeeded: made * Self.frame)
        let isSilent = network.silence(made)
        made += 1
        if isSilent { continue }
        let packet = RTPPacket(
          payloadType: 111, sequenceNumber: sequence, timestamp: timestamp, ssrc: 1, payload: [0x78, 1, 2, 3])
        sequence &+= 1
        for _ in 0..<(Double.random(in: 0..<1, using: &random) < network.duplication ? 2 : 1)
        where Double.random(in: 0..<1, using: &random) >= network.loss {
          var arrival = sent + 30_000 + Int.random(in: 0...max(1, network.jitter * 1000), using: &random)
          if let outage = network.outages.first(where: { $0.contains(arrival / 1000) }) {
            arrival = outage.upperBound * 1000
          }
          flying.append((arrival, packet))
        }
      }
      for item in flying.filter({ $0.at <= now }).sorted(by: { $0.at < $1.at }) {
        _ = buffer.received(item.packet, length: Self.frame, at: VoiceInstant(offset: .microseconds(item.at)))
      }
      flying.removeAll { $0.at <= now }
      course.mostFrames = max(course.mostFrames, buffer.count)
      while course.unplayed < Self.rate / 100 {
        switch buffer.next(at: VoiceInstant(offset: .microseconds(now)), unplayed: course.unplayed) {
        case .play(let frame, let pace):
          course.played.append(frame.timestamp)
          switch pace {
          case .normal: course.unplayed += frame.length
          case .shortened(let samples): course.unplayed += frame.length - samples
          case .stretched(let samples): course.unplayed += frame.length + samples
          }
        case .recover(_, let samples):
          course.recovered += 1
          course.unplayed += samples
        case .conceal(let samples): course.unplayed += samples
        case .rest(let samples):
          course.rested += samples
          course.unplayed += samples
        }
      }
      course.unplayed -= Self.rate / 100
      if now > 5_000_000 { course.largestDelay = max(course.largestDelay, buffer.statistics.delay) }
    }
    course.statistics = buffer.statistics
    return course
  }
}
