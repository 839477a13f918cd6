public import VoiceCore

/// Takes what was played out of the chunks of a microphone, and keeps their positions.
///
/// Not `Sendable`: one stream, one thread at a time.
public final class EchoCancelledStream {
  // How much later than the microphone's samples the played ones are taken: an echo is never before its sound, also if the
  // devices tell their delay some milliseconds wrongly, and before a drift is followed.
  private static let lead = Duration.milliseconds(20)

  private let played: PlayedAudio
  private let canceller: EchoCanceller
  private var alignment: EchoAlignment
  private var arrivals: ArrivalClock
  private var pending: [Int16] = []
  private var reference: [Int16] = []
  private var output: [Int16] = []
  /// The position after the pending samples.
  private var position: Int64 = 0
  /// The position of the next sample of the output.
  private var outputPosition: Int64 = 0
  /// How many samples of the output were made of nothing, since the canceller is late.
  private var latencyToDrop = 0

  /// Creates the stream of a microphone at the rate of what was played.
  ///
  /// - Throws: ``VoiceFailure`` with the code `audio.format.not-supported`.
  public init(played: PlayedAudio, settings: EchoCanceller.Settings = EchoCanceller.Settings())
    throws(VoiceFailure)
  {
    self.played = played
    self.canceller = try EchoCanceller(sampleRate: played.sampleRate, settings: settings)
    self.alignment = EchoAlignment(sampleRate: played.sampleRate)
    self.arrivals = ArrivalClock(sampleRate: played.sampleRate)
    self.latencyToDrop = self.canceller.latency
  }

  /// How often both streams had to be aligned anew, after a jump or since clocks drift; each costs a second or two of echo.
  public var realignmentCount: Int { self.alignment.jumpCount }

  /// Takes a chunk that arrived just now; a gap before it stays a gap.
  public func heard(_ chunk: AudioChunk, at now: VoiceInstant) -> [AudioChunk] {
    var chunks: [AudioChunk] = []
    if chunk.position != self.position {
      chunks += self.finish()
      let isLater = chunk.position > self.position
      if isLater { self.alignment.skipped(chunk.position - self.position) }
      self.position = chunk.position
      self.outputPosition = chunk.position
    }
    self.pending += chunk.samples
    self.position = chunk.endPosition
    self.arrivals.arrived(until: self.position, at: now)
    let length = self.canceller.frameLength
    var taken = 0
    while self.pending.count - taken >= length {
      self.process(
        self.pending[taken..<taken + length], at: self.position - Int64(self.pending.count - taken))
      taken += length
    }
    self.pending.removeFirst(taken)
    return chunks + self.takeOutput()
  }

  /// Gives what was kept back; afterwards a new stretch of audio may come.
  public func finish() -> [AudioChunk] {
    guard self.outputPosition < self.position else { return [] }
    let length = self.canceller.frameLength
    let end = self.position
    let missing = Int(clamping: end - self.outputPosition)
    var frame = self.pending
    var position = end - Int64(frame.count)
    self.pending = []
    // The pending samples, then silence, until all that was heard has come out.
    for _ in 0..<4 where self.output.count < missing {
      self.process(frame[...], at: position)
      position += Int64(length)
      frame = []
    }
    // The silence took no time of the microphone.
    self.alignment.skipped(end - position)
    self.output.removeLast(max(0, self.output.count - missing))
    let chunks = self.takeOutput()
    self.latencyToDrop = self.canceller.latency
    return chunks
  }

  private func process(_ frame: ArraySlice<Int16>, at position: Int64) {
    let length = self.canceller.frameLength
    let played = self.arrivals.time(of: position)
      .flatMap { self.played.position(at: $0.advanced(by: Self.lead)) }
    if let start = self.alignment.heard(played, count: length) {
      self.played.read(from: start, count: length, into: &self.reference)
    } else {
      self.reference.removeAll(keepingCapacity: true)
    }
    self.canceller.process(microphone: frame, played: self.reference[...], into: &self.output)
    let dropped = min(self.latencyToDrop, self.output.count)
    self.output.removeFirst(dropped)
    self.latencyToDrop -= dropped
  }

  private func takeOutput() -> [AudioChunk] {
    guard !self.output.isEmpty else { return [] }
    let chunk = AudioChunk(
      position: self.outputPosition, samples: self.output, sampleRate: self.played.sampleRate)
    self.outputPosition = chunk.endPosition
    self.output = []
    return [chunk]
  }
}
