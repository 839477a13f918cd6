import Foundation
import Testing
import VoiceAudio
import VoiceCore

struct EchoCancellerTests {
  @Test(arguments: [0, -1, 7_999, 48_001, Int.max])
  func aRateThatCannotBeCancelledIsRefused(sampleRate: Int) {
    #expect(throws: VoiceFailure.self) { try EchoCanceller(sampleRate: sampleRate) }
  }

  @Test func framesOfAnotherLengthAreTakenAllTheSame() throws {
    let canceller = try EchoCanceller()
    var output: [Int16] = []
    canceller.process(microphone: [], played: [], into: &output)
    canceller.process(
      microphone: [1, 2, 3], played: ArraySlice([Int16](repeating: 5, count: 9_999)), into: &output)
    #expect(output.count == 2 * canceller.frameLength)
  }

  @Test(arguments: [16_000, 48_000])
  func whatIsPlayedIsTakenAway(sampleRate: Int) throws {
    let far = Speech.babble(seconds: 4, sampleRate: sampleRate, seed: 1)
    let echo = Room(sampleRate: sampleRate).answer(to: far)
    let output = try Self.cancel(echo, played: far, sampleRate: sampleRate)
    let start = sampleRate * 2
    let loss = Speech.level(of: echo[start...]) - Speech.level(of: output[start...])
    print("Echo return loss enhancement at \(sampleRate) Hz, speech, after 2 s: \(loss.rounded()) dB")
    #expect(loss >= 15)
  }

  @Test func noiseThatIsPlayedIsTakenAway() throws {
    let far = Speech.noise(seconds: 4, sampleRate: 16_000, seed: 2)
    let echo = Room(sampleRate: 16_000).answer(to: far)
    let output = try Self.cancel(echo, played: far, sampleRate: 16_000)
    let loss = Speech.level(of: echo[32_000...]) - Speech.level(of: output[32_000...])
    print("Echo return loss enhancement at 16000 Hz, noise, after 2 s: \(loss.rounded()) dB")
    #expect(loss >= 15)
  }

  @Test func whoSpeaksInTheRoomIsKeptWhileTheOtherSpeaks() throws {
    let rate = 16_000
    let far = Speech.babble(seconds: 6, sampleRate: rate, seed: 3)
    let echo = Room(sampleRate: rate).answer(to: far)
    // The room is known after three seconds; then both speak.
    let near = Speech.babble(seconds: 6, sampleRate: rate, seed: 4).enumerated().map {
      $0.offset < rate * 3 ? 0 : $0.element
    }
    let microphone = zip(echo, near).map { Int16(clamping: Int($0) + Int($1)) }
    let output = try Self.cancel(microphone, played: far, sampleRate: rate)
    let speech = (rate * 3)..<(rate * 6 - rate / 10)
    let change = Speech.level(of: output[speech]) - Speech.level(of: near[speech])
    let residue = zip(output[speech], near[speech]).map { Int16(clamping: Int($0) - Int($1)) }
    let distance = Speech.level(of: near[speech]) - Speech.level(of: residue[...])
    print("Speech in the room while the other speaks: \(change) dB of change, residue \(distance) dB below")
    #expect(abs(change) < 3)
    #expect(Speech.correlation(output[speech], near[speech]) > 0.9)
  }

  @Test func withoutAnythingPlayedTheRoomIsLeftAlone() throws {
    let near = Speech.babble(seconds: 3, sampleRate: 16_000, seed: 5)
    let silence = [Int16](repeating: 0, count: near.count)
    let output = try Self.cancel(near, played: silence, sampleRate: 16_000)
    let range = 16_000..<47_000
    #expect(abs(Speech.level(of: output[range]) - Speech.level(of: near[range])) < 1)
    #expect(Speech.correlation(output[range], near[range]) > 0.98)
  }

  /// The output at the time of the microphone.
  private static func cancel(
    _ microphone: [Int16], played: [Int16], sampleRate: Int
  ) throws -> [Int16] {
    let canceller = try EchoCanceller(sampleRate: sampleRate)
    let length = canceller.frameLength
    var output: [Int16] = []
    for start in stride(from: 0, to: microphone.count + canceller.latency, by: length) {
      let end = min(start + length, microphone.count)
      let range = min(start, end)..<end
      canceller.process(microphone: microphone[range], played: played[range], into: &output)
    }
    return Array(output.dropFirst(canceller.latency).prefix(microphone.count))
  }
}

/// A room with a loudspeaker: the sound comes after 40 ms at a fifth of its strength, then fades within 60 ms.
struct Room {
  private let response: [(delay: Int, gain: Double)]

  init(sampleRate: Int) {
    var generator = Speech.Generator(seed: 77)
    let direct = sampleRate * 40 / 1_000
    self.response =
      [(direct, 0.2)]
      + (1..<40).map { index in
        let delay = direct + index * sampleRate * 60 / 1_000 / 40
        return (delay, 0.06 * generator.next() * exp(-Double(index) / 10))
      }
  }

  func answer(to samples: [Int16]) -> [Int16] {
    samples.indices.map { index in
      var sum = 0.0
      for tap in self.response where tap.delay <= index {
        sum += tap.gain * Double(samples[index - tap.delay])
      }
      return Int16(max(-32_768, min(32_767, sum)))
    }
  }
}

/// Sounds that are like speech: voiced syllables of changing pitch and colour, with pauses.
enum Speech {
  /// Numbers between -1 and 1.
  struct Generator {
    private var state: UInt64

    init(seed: UInt64) { self.state = seed &* 0x9e37_79b9_7f4a_7c15 | 1 }

    mutating func next() -> Double {
      self.state = self.state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Double(Int64(bitPattern: self.state) >> 11) / Double(1 << 52)
    }
  }

  static func noise(seconds: Int, sampleRate: Int, seed: UInt64) -> [Int16] {
    var generator = Generator(seed: seed)
    return (0..<seconds * sampleRate).map { _ in Int16(5_000 * generator.next()) }
  }

  static func babble(seconds: Int, sampleRate: Int, seed: UInt64) -> [Int16] {
    var generator = Generator(seed: seed)
    var samples: [Int16] = []
    var phase = 0.0
    while samples.count < seconds * sampleRate {
      let length = Int(Double(sampleRate) * (0.18 + 0.06 * generator.next()))
      let pause = Int(Double(sampleRate) * (0.06 + 0.05 * generator.next()))
      let pitch = 140 + 50 * generator.next()
      let formants = [
        500 + 250 * generator.next(), 1_500 + 500 * generator.next(), 2_600 + 300 * generator.next(),
      ]
      let weights = (1...24).map { harmonic in
        formants.map { exp(-pow((pitch * Double(harmonic) - $0) / 200, 2)) }.reduce(0.02, +)
      }
      for index in 0..<length {
        let position = Double(index) / Double(length)
        phase += (pitch * (1.1 - 0.2 * position)) / Double(sampleRate)
        var value = 0.1 * generator.next()
        for (index, weight) in weights.enumerated() {
          value += weight * sin(2 * .pi * phase * Double(index + 1))
        }
        samples.append(Int16(max(-32_000, min(32_000, 5_000 * value * sin(.pi * position)))))
      }
      samples += (0..<pause).map { _ in Int16(20 * generator.next()) }
    }
    return Array(samples.prefix(seconds * sampleRate))
  }

  /// The level in decibels; the reference is one step of 16 bits.
  static func level(of samples: ArraySlice<Int16>) -> Double {
    let sum = samples.reduce(0.0) { $0 + Double($1) * Double($1) }
    return 10 * log10(max(sum, 1e-9) / Double(max(1, samples.count)))
  }

  static func correlation(_ left: ArraySlice<Int16>, _ right: ArraySlice<Int16>) -> Double {
    var (product, first, second) = (0.0, 1e-9, 1e-9)
    for (a, b) in zip(left, right) {
      product += Double(a) * Double(b)
      first += Double(a) * Double(a)
      second += Double(b) * Double(b)
    }
    return product / (first * second).squareRoot()
  }
}
