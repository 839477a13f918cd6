public import VoiceCore

/// Tells speech from silence in 16 kHz mono audio.
///
/// A detector is not `Sendable`: whoever made it keeps it on one thread at a time. The same samples in the same
/// blocks after ``reset()`` give the same answers.
public protocol VoiceActivityDetector {
  /// How much later than speech ends ``process(_:)`` turns false, in audio time.
  var hangover: Duration { get }

  /// Forgets what was heard: the next sample is the first of a new stretch of audio.
  mutating func reset()

  /// Hears the next samples.
  ///
  /// - Returns: Whether somebody is speaking at the end of the samples.
  /// - Throws: ``VoiceFailure`` with a `speech.engine.*` code if a detector outside the process's code failed.
  mutating func process(_ samples: UnsafeBufferPointer<Int16>) throws(VoiceFailure) -> Bool
}

/// Tells speech from silence by loudness over a floor that follows the noise.
///
/// Good in quiet rooms and steady noise; not where other people talk. Works on frames of 10 ms: speech begins after
/// ``Settings/onset`` of frames that are ``Settings/margin`` decibels above the floor, and ends ``hangover`` after
/// the last.
public struct EnergyActivityDetector: VoiceActivityDetector, Sendable {
  /// What counts as speech.
  public struct Settings: Hashable, Sendable {
    /// How far above the noise floor speech is, in decibels.
    public var margin: Double
    /// The level below which nothing is speech, in decibels relative to full scale.
    public var minimumLevel: Double
    /// How long a sound must last to be speech.
    public var onset: Duration
    /// How long speech goes on after the last loud frame.
    public var hangover: Duration

    /// Creates settings.
    public init(
      margin: Double = 9,
      minimumLevel: Double = -55,
      onset: Duration = .milliseconds(60),
      hangover: Duration = .milliseconds(300)
    ) {
      self.margin = margin
      self.minimumLevel = minimumLevel
      self.onset = onset
      self.hangover = hangover
    }
  }

  private static let frameLength = 160
  private static let frameDuration = Duration.milliseconds(10)

  private let settings: Settings
  private var floor: Double?
  private var frameEnergy = 0.0
  private var frameFill = 0
  private var isSpeaking = false
  private var loud = Duration.zero
  private var quiet = Duration.zero

  /// Creates a detector.
  public init(settings: Settings = Settings()) {
    self.settings = settings
  }

  public var hangover: Duration { self.settings.hangover }

  public mutating func reset() {
    self = EnergyActivityDetector(settings: self.settings)
  }

  public mutating func process(_ samples: UnsafeBufferPointer<Int16>) throws(VoiceFailure) -> Bool {
    for sample in samples {
      let value = Double(sample)
      self.frameEnergy += value * value
      self.frameFill += 1
      if self.frameFill == Self.frameLength {
        self.heardFrame(meanSquare: self.frameEnergy / Double(Self.frameLength))
        self.frameEnergy = 0
        self.frameFill = 0
      }
    }
    return self.isSpeaking
  }

  private mutating func heardFrame(meanSquare: Double) {
    let full = 32_768.0 * 32_768.0
    let level = 10 * Self.log10(max(meanSquare, 1e-3) / full)
    // The floor falls at once and rises 3 dB a second, so that it finds the gaps between words and no word lifts it.
    let floor = min(level, (self.floor ?? level) + 0.03)
    self.floor = floor
    if level > max(floor + self.settings.margin, self.settings.minimumLevel) {
      self.loud += Self.frameDuration
      self.quiet = .zero
      if self.loud >= self.settings.onset { self.isSpeaking = true }
    } else {
      self.loud = .zero
      self.quiet += Self.frameDuration
      if self.quiet >= self.settings.hangover { self.isSpeaking = false }
    }
  }

  /// The base-10 logarithm to about 1e-6, without the C library, so that the answer is the same on every platform.
  private static func log10(_ value: Double) -> Double {
    let exponent = Double(value.exponent)
    let ratio = (value.significand - 1) / (value.significand + 1)
    let square = ratio * ratio
    let natural = 2 * ratio * (1 + square * (1 / 3 + square * (1 / 5 + square * (1 / 7 + square / 9))))
    return (exponent * 0.693_147_180_559_945_3 + natural) * 0.434_294_481_903_251_8
  }
}
