/// Names in SAL: what they may hold, and which one was probably meant.
enum SALNames {
  /// The prefix of variables that the language brings (protocol document, section 4.3).
  static let reservedPrefix = "SPEECHLY."
  /// What stands for the values of an import that could not be read, so that one error does not cause others.
  static let unknownValue = "?"
  /// The intent that means none, for glue words between others.
  static let filler = "_"

  /// A name that is allowed for a variable and close to the given one.
  static func variable(from name: String) -> String {
    self.cleaned(name, fallback: "name") { SALCharacters.isNameCharacter($0) }
  }

  /// A name that is allowed for an intent or an entity and close to the given one.
  static func identifier(from name: String) -> String {
    self.cleaned(name, fallback: "name") { SALCharacters.isIdentifierCharacter($0) }
  }

  private static func cleaned(_ name: String, fallback: String, allowed: (Unicode.Scalar) -> Bool) -> String {
    var result = ""
    for scalar in name.unicodeScalars {
      if allowed(scalar) {
        result.unicodeScalars.append(scalar)
      } else if !result.isEmpty, result.unicodeScalars.last != "_" {
        result += "_"
      }
    }
    while result.hasSuffix("_"), result.count > 1 { result.removeLast() }
    return result.isEmpty ? fallback : result
  }

  static func quoted(_ scalar: Unicode.Scalar) -> String {
    if scalar == " " { return "a blank" }
    if SALCharacters.isInvisible(scalar) || scalar.properties.isWhitespace || scalar.value < 0x20 {
      return self.code(of: scalar)
    }
    return "\"\(scalar)\""
  }

  static func code(of scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16, uppercase: true)
    return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }

  /// The candidate that differs least from a name, if it differs by little.
  static func closest(to name: String, among candidates: some Sequence<String>) -> String? {
    let characters = Array(name.lowercased())
    guard characters.count <= 64 else { return nil }
    var best: (name: String, distance: Int)?
    for candidate in candidates where candidate != name {
      let limit = max(1, min(characters.count, 12) / 3)
      let other = Array(candidate.lowercased())
      guard abs(other.count - characters.count) <= limit else { continue }
      let distance = self.distance(characters, other)
      guard distance <= limit, distance < max(characters.count, other.count) else { continue }
      let isBetter =
        best.map { distance < $0.distance || distance == $0.distance && candidate < $0.name } ?? true
      if isBetter { best = (candidate, distance) }
    }
    return best?.name
  }

  /// How many letters must be changed, added, removed or swapped with their neighbour.
  private static func distance(_ left: [Character], _ right: [Character]) -> Int {
    var beforeLast = [Int](repeating: 0, count: right.count + 1)
    var last = Array(0...right.count)
    for (row, character) in left.enumerated() {
      var current = [row + 1]
      current.reserveCapacity(right.count + 1)
      for (column, other) in right.enumerated() {
        var best = min(last[column + 1] + 1, current[column] + 1, last[column] + (character == other ? 0 : 1))
        if row > 0, column > 0, character == right[column - 1], left[row - 1] == other {
          best = min(best, beforeLast[column - 1] + 1)
        }
        current.append(best)
      }
      beforeLast = last
      last = current
    }
    return last[right.count]
  }
}
