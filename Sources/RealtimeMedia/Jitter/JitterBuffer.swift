import VoiceCore

/// Makes an even stream of audio of packets that come late, twice, in the wrong order or not at all.
///
/// States: *buffering*, from the start of a stream until there is enough; *playing*. Packets go in when they come; who
/// plays asks for what to do next whenever it has less than one step of audio left. The buffer neither decodes nor
/// stretches: it says which payload to decode, and by how much to stretch or shorten it.
///
/// ```swift
/// buffer.received(packet, length: 960, at: now)
/// switch buffer.next(at: now, unplayed: ring.count) {
/// case .play(let frame, .normal): ring.append(decoder.decode(frame.payload))
/// case .conceal(let samples): ring.append(decoder.conceal(samples))
/// …
/// }
/// ```
///
/// The delay follows how late packets are (see ``Statistics/targetDelay``). It grows when packets are missing, by
/// concealing, and by stretching; it shrinks by shortening, so that the drift of two clocks is absorbed forever.
/// All lengths are in units of the clock of the stream.
public struct JitterBuffer: Hashable, Sendable {
  /// How much delay there may be.
  public struct Options: Hashable, Sendable {
    /// Units of the timestamp per second.
    public var clockRate: Int
    /// The least delay to aim for.
    public var minimumDelay: Duration
    /// The largest delay to aim for; twice as much is kept at most.
    public var maximumDelay: Duration
    /// How much audio is asked for at once while nothing is there.
    public var step: Duration
    /// Whether packets of Opus may hold data to recover the one before (`useinbandfec=1`).
    public var hasRedundancy: Bool

    /// Creates options.
    public init(
      clockRate: Int, minimumDelay: Duration = .milliseconds(20), maximumDelay: Duration = .milliseconds(500),
      step: Duration = .milliseconds(20), hasRedundancy: Bool = false
    ) {
      self.clockRate = max(8000, min(192_000, clockRate))
      self.minimumDelay = max(.zero, min(.seconds(2), minimumDelay))
      self.maximumDelay = max(self.minimumDelay, min(.seconds(4), maximumDelay))
      self.step = max(.milliseconds(5), min(.milliseconds(60), step))
      self.hasRedundancy = hasRedundancy
    }
  }

  /// A packet in the buffer.
  public struct Frame: Hashable, Sendable {
    /// The payload.
    public var payload: ArraySlice<UInt8>
    /// What it is.
    public var payloadType: UInt8
    /// How long it is.
    public var length: Int
    /// The time of its first sample, counted on across wraps.
    public var timestamp: Int64
    var sequence: Int64
  }

  /// How to play a frame.
  public enum Pace: Hashable, Sendable {
    case normal
    /// Take out up to so many samples, where it is not heard.
    case shortened(Int)
    /// Put in up to so many samples, where it is not heard.
    case stretched(Int)
  }

  /// What to do next.
  public enum Action: Hashable, Sendable {
    case play(Frame, Pace)
    /// Make so many samples out of the redundancy in this frame, which is played next (Opus in-band FEC).
    case recover(from: Frame, Int)
    /// Make up so many samples: they were lost, or are late.
    case conceal(Int)
    /// Play nothing, or noise of comfort, for so many samples: nothing has come yet, or the sender is silent.
    case rest(Int)
  }

  /// What became of a packet.
  public enum Reception: Hashable, Sendable {
    case stored
    case duplicate
    /// Its time has been played.
    case late
    /// A new source, or a jump in time: the stream begins anew with it.
    case restarted
    /// Its time or length cannot be; the next one may show that the stream has jumped.
    case ignored
  }

  /// What happened so far; lengths in units of the clock.
  public struct Statistics: Hashable, Sendable {
    /// Packets that came.
    public var received = 0
    /// Packets that came after their time.
    public var late = 0
    /// Packets that came twice.
    public var duplicates = 0
    /// Packets that were dropped because too many waited.
    public var discarded = 0
    /// Times at which the stream began anew.
    public var restarts = 0
    /// What was played in all.
    public var played: Int64 = 0
    /// What was made up.
    public var concealed: Int64 = 0
    /// How often something had to be made up, in a row once.
    public var concealments = 0
    /// What was recovered from redundancy.
    public var recovered: Int64 = 0
    /// What was asked to be taken out to shrink the delay.
    public var removed: Int64 = 0
    /// What was asked to be put in to let the delay grow.
    public var inserted: Int64 = 0
    /// The delay that is aimed for.
    public var targetDelay = Duration.zero
    /// The delay now, smoothed.
    public var delay = Duration.zero

    /// Creates statistics that are empty.
    public init() {}
  }

  enum State: Hashable, Sendable {
    case buffering
    /// The next sample to be played, and how much was made up since because nothing was there.
    case playing(next: Int64, owed: Int64)
  }

  /// A packet from far away: another one behind it shows that the stream has jumped (RFC 3550 section A.1).
  struct Suspect: Hashable, Sendable {
    var sequence: UInt16
    var timestamp: UInt32
  }

  /// The options.
  public let options: Options
  /// What happened so far.
  public internal(set) var statistics = Statistics()
  var state = State.buffering
  var frames: [Frame] = []
  var ssrc: UInt32?
  var sequences = SequenceUnwrapper()
  var timestamps = TimestampUnwrapper()
  var newest: (sequence: Int64, end: Int64) { (self.newestSequence, self.newestEnd) }
  var newestSequence: Int64 = 0
  var newestEnd: Int64 = 0
  var suspect: Suspect?
  var lastPlayedSequence: Int64?
  var firstArrival: VoiceInstant?
  var estimator = DelayEstimator()
  /// The delay in units, smoothed.
  var smoothed: Double?
  /// Played since the pace was changed last.
  var sincePaceChange: Int64 = 0
  var isConcealing = false

  /// Creates an empty buffer.
  public init(options: Options) {
    self.options = options
  }

  /// The number of packets in it.
  public var count: Int { self.frames.count }

  var step: Int { Int(self.options.step.units(of: self.options.clockRate)) }

  /// The delay to aim for, in units.
  var target: Int64 {
    let delay = max(self.options.minimumDelay, min(self.options.maximumDelay, self.estimator.target))
    return delay.units(of: self.options.clockRate)
  }
}
