import VoiceCore

/// Turns the bytes of a pipe into audio events: recognises a WAVE header, or takes the bytes as what was declared.
///
/// A value without input or output of its own: bytes go in, events come out.
struct StreamDecoder {
  private enum State {
    /// The first bytes, which may be a header.
    case sniffing([UInt8])
    /// Samples; `remaining` bytes of them are still to come if a header said how many.
    case decoding(PCMConverter, remaining: Int64?)
  }

  private let name: String
  private let rawFormat: RawAudioFormat?
  private let chunkDuration: Duration
  private var state = State.sniffing([])
  private var reportedNotFinite = 0

  /// Creates a decoder.
  ///
  /// - Parameters:
  ///   - name: What is read, for messages.
  ///   - rawFormat: What bytes without a header are, or `nil` if there must be a header.
  init(name: String, rawFormat: RawAudioFormat?, chunkDuration: Duration) {
    self.name = name
    self.rawFormat = rawFormat
    self.chunkDuration = chunkDuration
  }

  /// Whether all samples that the header declared have come.
  var isComplete: Bool {
    switch self.state {
    case .sniffing: false
    case .decoding(_, let remaining): remaining == 0
    }
  }

  /// Whether a part of a chunk is waiting; see ``flush()``.
  var hasPendingSamples: Bool {
    switch self.state {
    case .sniffing: false
    case .decoding(let converter, _): converter.hasPendingSamples
    }
  }

  /// Takes bytes.
  ///
  /// - Throws: ``VoiceFailure`` if they are not audio in a format that can be converted.
  mutating func append(_ bytes: UnsafeRawBufferPointer) throws(VoiceFailure) -> [AudioEvent] {
    switch self.state {
    case .sniffing(var head):
      head.append(contentsOf: bytes)
      return try self.sniff(head, isAtEnd: false)
    case .decoding(let converter, let remaining):
      return self.decode(bytes, with: converter, remaining: remaining)
    }
  }

  /// Delivers what waits for the rest of its chunk, because the writer has paused.
  mutating func flush() -> [AudioEvent] {
    switch self.state {
    case .sniffing: return []
    case .decoding(let converter, _): return converter.flush().map { .chunk($0) }
    }
  }

  /// Ends the stream.
  ///
  /// - Parameter isStopped: Whether we ended it, so that nothing is missing.
  /// - Throws: ``VoiceFailure`` if there was no audio.
  mutating func finish(isStopped: Bool) throws(VoiceFailure) -> [AudioEvent] {
    var events: [AudioEvent] = []
    if case .sniffing(let head) = self.state {
      guard !head.isEmpty else {
        if isStopped { return [] }
        throw AudioEnding.empty(name: self.name)
      }
      events += try self.sniff(head, isAtEnd: true)
    }
    guard case .decoding(let converter, let remaining) = self.state else { return events }
    let incomplete = converter.incompleteByteCount
    let frameSize = converter.format.bytesPerFrame
    events += converter.finish().map { .chunk($0) }
    if isStopped { return events + self.notFiniteNotice(converter) }
    guard converter.frameCount > 0 else { throw AudioEnding.empty(name: self.name) }

    events += self.notFiniteNotice(converter)
    if let remaining, remaining + Int64(incomplete) >= frameSize {
      let frames = (remaining + Int64(incomplete)) / Int64(frameSize)
      let missing = AudioChunk.time(ofSample: frames, sampleRate: converter.format.sampleRate)
      events.append(.notice(AudioEnding.truncated(name: self.name, missing: missing)))
    } else if incomplete > 0 {
      events.append(
        .notice(
          VoiceFailure(
            .fileTruncated,
            message:
              "\(self.name) ends in the middle of a sample; its last \(incomplete) bytes were left out.")))
    }
    return events
  }

  private mutating func sniff(_ head: [UInt8], isAtEnd: Bool) throws(VoiceFailure) -> [AudioEvent] {
    switch WAVHeader.sniff(head) {
    case .incomplete where !isAtEnd:
      self.state = .sniffing(head)
      return []
    case .header(let header):
      guard let format = header.format else {
        throw VoiceFailure(
          .formatNotSupported,
          message:
            "\(self.name) is WAV with the encoding \(header.formatTag), which cannot be read from a pipe; "
            + "use PCM, float or µ-law samples, or a file.")
      }
      return try self.begin(format, with: head.dropFirst(header.dataOffset), remaining: header.dataLength)
    case .damaged(let reason):
      throw VoiceFailure(.fileNotAudio, message: "\(self.name) has a damaged WAV header: \(reason).")
    case .other, .incomplete:
      guard let rawFormat = self.rawFormat else {
        throw VoiceFailure(
          .fileNotAudio,
          message: "\(self.name) is not WAV; a pipe carries WAV, or samples whose format is declared.")
      }
      return try self.begin(rawFormat, with: head[...], remaining: nil)
    }
  }

  private mutating func begin(
    _ format: RawAudioFormat, with bytes: ArraySlice<UInt8>, remaining: Int64?
  ) throws(VoiceFailure) -> [AudioEvent] {
    let converter = try PCMConverter(format: format, chunkDuration: self.chunkDuration)
    // A rest smaller than a frame is no samples at all.
    let whole = remaining.map { $0 / Int64(format.bytesPerFrame) * Int64(format.bytesPerFrame) }
    self.state = .decoding(converter, remaining: whole)
    return bytes.withUnsafeBytes { self.decode($0, with: converter, remaining: whole) }
  }

  private mutating func decode(
    _ bytes: UnsafeRawBufferPointer, with converter: PCMConverter, remaining: Int64?
  ) -> [AudioEvent] {
    let wanted = remaining.map { Int(min($0, Int64(bytes.count))) } ?? bytes.count
    if let remaining { self.state = .decoding(converter, remaining: remaining - Int64(wanted)) }
    var events = converter.append(UnsafeRawBufferPointer(rebasing: bytes.prefix(wanted)))
      .map { AudioEvent.chunk($0) }
    // A pipe may live for days: the first bad samples are told at once, the total at the end.
    if self.reportedNotFinite == 0 { events += self.notFiniteNotice(converter) }
    return events
  }

  private mutating func notFiniteNotice(_ converter: PCMConverter) -> [AudioEvent] {
    guard converter.notFiniteCount > self.reportedNotFinite else { return [] }
    self.reportedNotFinite = converter.notFiniteCount
    return [.notice(AudioEnding.notFinite(converter.notFiniteCount, name: self.name))]
  }
}

/// The failures with which audio data ends, with their messages.
enum AudioEnding {
  static func empty(name: String, cause: (any Error)? = nil) -> VoiceFailure {
    VoiceFailure(.audioEmpty, message: "There is no audio in \(name).", cause: cause)
  }

  static func truncated(name: String, missing: Duration, cause: (any Error)? = nil) -> VoiceFailure {
    VoiceFailure(
      .fileTruncated,
      message: "\(name) ends before the length that it declares; \(missing.inSeconds) are missing.",
      cause: cause)
  }

  static func notFinite(_ count: Int, name: String) -> VoiceFailure {
    VoiceFailure(
      .samplesNotFinite,
      message: count == 1
        ? "1 sample of \(name) is not a number and was replaced by silence."
        : "\(count) samples of \(name) are not numbers and were replaced by silence.")
  }
}

extension Duration {
  /// The duration for a message, such as `1.250 s`.
  package var inSeconds: String {
    let (seconds, attoseconds) = self.components
    let milliseconds = abs(attoseconds) / 1_000_000_000_000_000
    let digits = String(1_000 + milliseconds).dropFirst()
    return "\(self < .zero && seconds == 0 ? "-" : "")\(seconds).\(digits) s"
  }
}
