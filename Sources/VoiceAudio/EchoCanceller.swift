import CSpeexDSP
public import VoiceCore

/// Takes what a loudspeaker plays out of what a microphone hears.
///
/// It learns how the room answers to the loudspeaker, for as long as the two are given to it side by side; what it cannot
/// foresee is attenuated, less so while somebody speaks in the room. The answer comes ``latency`` samples later. Not `Sendable`:
/// one microphone, one thread at a time.
///
/// ```swift
/// let canceller = try EchoCanceller(sampleRate: 16_000)
/// canceller.process(microphone: heard, played: reference, into: &output)
/// ```
public final class EchoCanceller {
  /// How the echo is taken away.
  public struct Settings: Hashable, Sendable {
    /// How long after a sound was played its echo may still be heard, the delay of the devices included; clamped to
    /// 50 … 500 ms. A longer one learns more slowly.
    public var tail: Duration
    /// How much is left of what could not be foreseen, in decibels; clamped to -60 … 0.
    public var suppression: Int
    /// The same while somebody speaks in the room.
    public var suppressionInSpeech: Int

    /// Creates settings.
    public init(
      tail: Duration = .milliseconds(200), suppression: Int = -40, suppressionInSpeech: Int = -9
    ) {
      self.tail = tail
      self.suppression = suppression
      self.suppressionInSpeech = suppressionInSpeech
    }
  }

  /// The rate of all samples in Hz.
  public let sampleRate: Int

  /// How many samples are given at a time: 20 ms.
  public let frameLength: Int

  // Owned by this object, freed in `deinit`.
  private let echo: OpaquePointer
  private let preprocessor: OpaquePointer
  private var filtered: [Int16]

  /// Creates a canceller.
  ///
  /// - Parameter sampleRate: The rate of all samples, 8,000 to 48,000 Hz.
  /// - Throws: ``VoiceFailure`` with the code `audio.format.not-supported`.
  public init(sampleRate: Int = AudioFormat.recognition.sampleRate, settings: Settings = Settings())
    throws(VoiceFailure)
  {
    guard (8_000...48_000).contains(sampleRate) else { throw Self.notSupported(sampleRate) }
    let frameLength = sampleRate / 50
    let tail = min(max(settings.tail, .milliseconds(50)), .milliseconds(500))
    let length = Int32(AudioChunk.sample(at: tail, sampleRate: sampleRate))
    guard let echo = speex_echo_state_init(Int32(frameLength), length) else {
      throw Self.notSupported(sampleRate)
    }
    guard let preprocessor = speex_preprocess_state_init(Int32(frameLength), Int32(sampleRate)) else {
      speex_echo_state_destroy(echo)
      throw Self.notSupported(sampleRate)
    }
    self.sampleRate = sampleRate
    self.frameLength = frameLength
    self.echo = echo
    self.preprocessor = preprocessor
    self.filtered = [Int16](repeating: 0, count: frameLength)
    var rate = Int32(sampleRate)
    speex_echo_ctl(echo, SPEEX_ECHO_SET_SAMPLING_RATE, &rate)
    speex_preprocess_ctl(preprocessor, SPEEX_PREPROCESS_SET_ECHO_STATE, UnsafeMutableRawPointer(echo))
    // Noise stays: recognisers know noise better than what is left of it. Without the noise stage, though, the echo stage does
    // nothing either.
    self.set(SPEEX_PREPROCESS_SET_NOISE_SUPPRESS, 0)
    self.set(SPEEX_PREPROCESS_SET_ECHO_SUPPRESS, min(max(settings.suppression, -60), 0))
    self.set(SPEEX_PREPROCESS_SET_ECHO_SUPPRESS_ACTIVE, min(max(settings.suppressionInSpeech, -60), 0))
  }

  deinit {
    speex_preprocess_state_destroy(self.preprocessor)
    speex_echo_state_destroy(self.echo)
  }

  /// How many samples later than the microphone the output is.
  public var latency: Int { self.frameLength }

  /// Takes a frame of the microphone and what was heard from the loudspeaker meanwhile, and appends as many samples without
  /// the echo.
  ///
  /// The second should be the same time as the first or a little later, never earlier: an echo cannot come before its sound.
  /// Frames of another length than ``frameLength`` are ended by silence, or cut.
  public func process(
    microphone: ArraySlice<Int16>, played: ArraySlice<Int16>, into output: inout [Int16]
  ) {
    let heard = self.frame(microphone)
    let played = self.frame(played)
    heard.withUnsafeBufferPointer { heard in
      played.withUnsafeBufferPointer { played in
        self.filtered.withUnsafeMutableBufferPointer { filtered in
          speex_echo_cancellation(self.echo, heard.baseAddress, played.baseAddress, filtered.baseAddress)
          speex_preprocess_run(self.preprocessor, filtered.baseAddress)
        }
      }
    }
    output.append(contentsOf: self.filtered)
  }

  /// Forgets the room, as after a change of the devices.
  public func reset() {
    speex_echo_state_reset(self.echo)
  }

  private func frame(_ samples: ArraySlice<Int16>) -> [Int16] {
    Array(samples.prefix(self.frameLength))
      + [Int16](repeating: 0, count: max(0, self.frameLength - samples.count))
  }

  private func set(_ request: Int32, _ value: Int) {
    var value = Int32(clamping: value)
    speex_preprocess_ctl(self.preprocessor, request, &value)
  }

  private static func notSupported(_ sampleRate: Int) -> VoiceFailure {
    VoiceFailure(
      .formatNotSupported,
      message: "Echo cannot be cancelled at \(sampleRate) Hz, only at 8,000 to 48,000 Hz.")
  }
}
