/// In which circumstances recordings are heard; made from the recordings while they are evaluated.
enum EvaluationCondition: Hashable, Sendable {
  /// As they are.
  case clean
  /// With a recorded noise, by the ratio of the loudest frames in dB.
  case noise(decibels: Int)
  /// With pink noise, by the ratio of the mean powers.
  case pink(decibels: Int)
  /// Through a telephone: 300 to 3,400 Hz, 8,000 samples a second, µ-law of ITU-T G.711.
  case telephone

  /// Reads `clean`, `snr24`, `pink10` or `telephone`.
  init?(_ text: String) {
    if text == "clean" {
      self = .clean
    } else if text == "telephone" {
      self = .telephone
    } else if text.hasPrefix("snr"), let decibels = Int(text.dropFirst(3)), Self.ratios.contains(decibels) {
      self = .noise(decibels: decibels)
    } else if text.hasPrefix("pink"), let decibels = Int(text.dropFirst(4)), Self.ratios.contains(decibels) {
      self = .pink(decibels: decibels)
    } else {
      return nil
    }
  }

  private static let ratios = -20...100

  var name: String {
    switch self {
    case .clean: "clean"
    case .noise(let decibels): "snr\(decibels)"
    case .pink(let decibels): "pink\(decibels)"
    case .telephone: "telephone"
    }
  }

  /// Whether a recorded noise is needed.
  var needsNoise: Bool {
    if case .noise = self { true } else { false }
  }
}

/// A recording as it is heard in a condition.
struct EvaluationAudio: Hashable, Sendable {
  /// The file of the recording, as the label names it.
  var file = ""
  /// The condition's name.
  var condition = EvaluationCondition.clean.name
  /// Mono samples.
  var samples: [Int16]
  /// Samples a second, as a client would declare them.
  var sampleRate = 16_000

  /// A name that no other recording has in another condition: a path without steps upwards.
  var path: String {
    let parts = self.file.split(separator: "/").filter { $0 != ".." && $0 != "." }
    return "\(self.condition)/\(parts.joined(separator: "/"))"
  }
}
