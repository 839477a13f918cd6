/// A part of a segment that names something: a place, a date, a product.
///
/// For `book a burger restaurant for tomorrow`, where `burger restaurant` is a `restaurant_type`, ``startIndex`` is 2 and
/// ``endIndex`` is 4. (Source: protocol §1.5; the end is exclusive.)
public struct SpeechEntity: Hashable, Identifiable, Comparable, Sendable {
  /// The words that the entity covers.
  public struct ID: Hashable, Comparable, Sendable {
    /// The index of the first word.
    public let start: Int
    /// The index after the last word.
    public let end: Int

    /// Creates an identifier.
    public init(start: Int, end: Int) {
      self.start = start
      self.end = end
    }

    public static func < (left: ID, right: ID) -> Bool {
      (left.start, left.end) < (right.start, right.end)
    }
  }

  /// The words that the entity covers: entities of one segment are told apart by them.
  public let id: ID
  /// The value, in normal form if the entity's type has one.
  public let value: String
  /// The name of the entity.
  public let type: String
  /// The index of the first word.
  public let startIndex: Int
  /// The index after the last word.
  public let endIndex: Int
  /// Whether the entity can no longer change.
  public let isFinal: Bool

  /// Creates an entity; the end is exclusive.
  public init(value: String, type: String, startIndex: Int, endIndex: Int, isFinal: Bool) {
    self.id = ID(start: startIndex, end: endIndex)
    self.value = value
    self.type = type
    self.startIndex = startIndex
    self.endIndex = endIndex
    self.isFinal = isFinal
  }

  public static func < (left: SpeechEntity, right: SpeechEntity) -> Bool {
    left.id < right.id
  }
}
