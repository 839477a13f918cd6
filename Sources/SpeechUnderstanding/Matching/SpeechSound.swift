/// A sound of speech, as far as it matters for taking one word for another.
public enum SpeechSound: UInt8, Hashable, Sendable, CaseIterable {
  // Vowels, each with a word that has it.
  case see, sit, say, set, cat, hot, go, too, put, cup, my, how, boy, bird
  // Consonants.
  case p, b, t, d, k, g, f, v, th, dh, s, z, sh, zh, ch, j, m, n, ng, l, r, w, y, h

  /// Whether the sound is a vowel.
  var isVowel: Bool { self.rawValue <= SpeechSound.bird.rawValue }
}

/// How unlike sounds are, in tenths of a wrong consonant.
struct SoundDistances: Sendable {
  static let standard = SoundDistances()

  /// A sound that has nothing to do with the other.
  static let unlike: UInt8 = 10

  private static let count = SpeechSound.allCases.count
  private let replacement: [UInt8]
  private let omission: [UInt8]

  private init() {
    let count = Self.count
    var replacement = [UInt8](repeating: Self.unlike, count: count * count)
    var omission = [UInt8](repeating: 9, count: count)
    func set(_ left: SpeechSound, _ right: SpeechSound, _ cost: UInt8) {
      replacement[Int(left.rawValue) * count + Int(right.rawValue)] = cost
      replacement[Int(right.rawValue) * count + Int(left.rawValue)] = cost
    }
    for left in SpeechSound.allCases where left.isVowel {
      omission[Int(left.rawValue)] = 6
      for right in SpeechSound.allCases where right.isVowel { set(left, right, 4) }
    }
    for (cost, pairs) in Self.pairs {
      for (left, right) in pairs { set(left, right, cost) }
    }
    for sound in SpeechSound.allCases { set(sound, sound, 0) }
    for (sound, cost) in Self.omissions { omission[Int(sound.rawValue)] = cost }
    self.replacement = replacement
    self.omission = omission
  }

  private static let omissions: [(SpeechSound, UInt8)] = [
    (.cup, 3), (.h, 4), (.r, 5), (.w, 5), (.y, 5), (.t, 6), (.d, 6),
  ]

  /// Sounds that people, and recognisers, take for each other: those that differ in voice, in the place of the tongue, or hardly.
  private static let pairs: [(UInt8, [(SpeechSound, SpeechSound)])] = [
    (
      2,
      [
        (.see, .sit), (.say, .set), (.set, .cat), (.set, .sit), (.hot, .cup), (.hot, .go), (.too, .put),
        (.cup, .sit),
        (.cup, .set), (.cup, .put), (.cup, .cat), (.bird, .cup), (.how, .hot), (.my, .hot),
      ]
    ),
    (
      3,
      [
        (.p, .b), (.t, .d), (.k, .g), (.f, .v), (.th, .dh), (.s, .z), (.sh, .zh), (.ch, .j), (.th, .f),
        (.n, .ng),
        (.r, .bird),
      ]
    ),
    (
      4,
      [(.m, .n), (.dh, .v), (.dh, .d), (.s, .sh), (.z, .zh), (.ch, .sh), (.j, .zh), (.too, .w), (.see, .y)]
    ),
    (5, [(.th, .s), (.th, .t), (.l, .r), (.w, .v), (.b, .v)]),
    (
      6,
      [
        (.ch, .t), (.j, .d), (.p, .t), (.t, .k), (.p, .k), (.b, .d), (.d, .g), (.b, .g), (.w, .r), (.l, .w),
        (.k, .ch),
        (.y, .j), (.p, .f), (.m, .ng), (.k, .h), (.f, .h),
      ]
    ),
  ]

  func replacing(_ left: UInt8, by right: UInt8) -> UInt8 {
    self.replacement[Int(left) * Self.count + Int(right)]
  }

  func omitting(_ sound: UInt8) -> UInt8 { self.omission[Int(sound)] }
}
