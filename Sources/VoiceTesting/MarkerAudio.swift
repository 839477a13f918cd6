public import SpeechPipeline
import VoiceAudio

/// Synthetic speech for ``MarkerEngine``: each word is a run of equal samples, each pause a run of zeros.
///
/// What is heard tells exactly which samples arrived: the text of a word holds its number, its length and its
/// place in samples (`7x1600@48000`). One lost, doubled or moved sample changes the text of a word.
///
/// ```swift
/// var audio = MarkerAudio()
/// audio.pause(length: 800)
/// audio.say(7, length: 1600)
/// audio.pause(length: 16_000)
/// // audio.words[0].text == "7x1600@800"
/// ```
public struct MarkerAudio: Hashable, Sendable {
  /// The samples, 16 kHz mono.
  public private(set) var samples: [Int16] = []
  /// What an engine that hears everything recognises.
  public private(set) var words: [RecognizedWord] = []

  /// The numbers that a word can have.
  public static let numbers = 1...30_000

  /// Creates empty audio.
  public init() {}

  /// Creates sentences that are the same for the same seed.
  ///
  /// - Parameters:
  ///   - sentences: How many sentences there are; a pause of 0.8 s follows each.
  ///   - wordsPerSentence: How many words each has.
  ///   - seed: Chooses numbers and lengths.
  public init(sentences: Int, wordsPerSentence: Int = 4, seed: UInt64 = 1) {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    func random(_ range: ClosedRange<Int>) -> Int {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return range.lowerBound + Int(state % UInt64(range.count))
    }
    for _ in 0..<max(0, sentences) {
      self.pause(length: random(1000...4000))
      for _ in 0..<max(0, wordsPerSentence) {
        self.say(random(1...999), length: random(1500...6000))
        self.pause(length: random(40...900))
      }
      self.pause(length: 12_800)
    }
  }

  /// How long the audio is.
  public var duration: Duration { Self.time(self.samples.count) }

  /// Appends a word; a word right behind one with the same number lengthens it.
  ///
  /// - Parameters:
  ///   - number: The word; clamped to ``numbers``.
  ///   - length: Its length in samples.
  public mutating func say(_ number: Int, length: Int) {
    guard length > 0 else { return }
    let value = Int16(min(max(number, Self.numbers.lowerBound), Self.numbers.upperBound))
    var start = self.samples.count
    if self.samples.last == value {
      self.words.removeLast()
      start = self.samples.lastIndex { $0 != value }.map { $0 + 1 } ?? 0
    }
    self.samples.append(contentsOf: repeatElement(value, count: length))
    let run = self.samples.count - start
    self.words.append(
      RecognizedWord(
        text: Self.text(value, length: run, place: Int64(start)), start: Self.time(start),
        end: Self.time(self.samples.count), confidence: 1))
  }

  /// Appends silence of `length` samples.
  public mutating func pause(length: Int) {
    self.samples.append(contentsOf: repeatElement(0, count: max(0, length)))
  }

  static func text(_ value: Int16, length: Int, place: Int64) -> String {
    "\(value)x\(length)@\(place)"
  }

  private static func time(_ sample: Int) -> Duration {
    AudioChunk.time(ofSample: Int64(sample), sampleRate: AudioFormat.recognition.sampleRate)
  }
}
