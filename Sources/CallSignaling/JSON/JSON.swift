/// A JSON value (RFC 8259) whose numbers keep their digits and whose objects keep their order.
///
/// The wire of calls needs what Foundation's reader does not give: it writes the identifier `1.0e2` back as `100`,
/// takes the last of two members with one name in silence, refuses a whole frame for half of an emoji, and names no
/// place. Values are compared as they would be written: the order of members and the digits of numbers count.
///
/// Frames hold passwords, tokens and session descriptions, so ``description`` tells only the shape; ``text`` is the
/// value.
public enum JSON: Hashable, Sendable {
  case null
  case bool(Bool)
  case number(JSONNumber)
  case string(String)
  case array([JSON])
  case object(JSONObject)

  /// A number without fraction.
  public static func integer(_ value: Int) -> JSON { .number(JSONNumber(value)) }

  /// The text, if this is a string.
  public var stringValue: String? {
    if case .string(let value) = self { value } else { nil }
  }

  /// The members, if this is an object.
  public var objectValue: JSONObject? {
    if case .object(let value) = self { value } else { nil }
  }

  /// The elements, if this is an array.
  public var arrayValue: [JSON]? {
    if case .array(let value) = self { value } else { nil }
  }

  /// The number as an `Int`, if this is a number that is one.
  public var integerValue: Int? {
    if case .number(let value) = self { value.integer } else { nil }
  }

  /// The truth value, if this is one.
  public var boolValue: Bool? {
    if case .bool(let value) = self { value } else { nil }
  }

  /// The member of an object, or `nil` if there is none or this is not an object.
  public subscript(name: String) -> JSON? { self.objectValue?[name] }

  /// What kind of value it is, for messages: `string`, `object`, ….
  public var kind: Kind {
    switch self {
    case .null: .null
    case .bool: .bool
    case .number: .number
    case .string: .string
    case .array: .array
    case .object: .object
    }
  }

  /// A kind of JSON value.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    case null, bool, number, string, array, object
  }
}

extension JSON: CustomStringConvertible {
  /// The shape without content, safe to log: `object(3)`.
  public var description: String {
    switch self {
    case .null, .bool, .number, .string: self.kind.rawValue
    case .array(let values): "array(\(values.count))"
    case .object(let object): "object(\(object.members.count))"
    }
  }
}

/// A JSON number with the digits it was written with.
///
/// A `Double` would turn 9007199254740993 into another identifier.
public struct JSONNumber: Hashable, Sendable, CustomStringConvertible {
  /// The number as it is written.
  public let text: String

  /// Creates a number without fraction.
  public init(_ value: Int) {
    self.text = String(value)
  }

  /// Creates a number, or `nil` for what JSON cannot write: infinities and what is not a number.
  public init?(_ value: Double) {
    guard value.isFinite else { return nil }
    if value == value.rounded(), abs(value) < 9e15 {
      self.text = String(Int(value))
    } else {
      // Swift prints "1e-05" and "5e+20", both of which RFC 8259 section 6 allows.
      self.text = "\(value)"
    }
  }

  /// Only for text that has been checked against the grammar of RFC 8259 section 6.
  init(checked text: String) {
    self.text = text
  }

  /// The value, if it is a whole number that fits, also when written as `16.0` or `1.6e1`.
  public var integer: Int? {
    if let value = Int(self.text) { return value }
    guard let value = self.double else { return nil }
    // Beyond 2^53 a Double no longer tells neighbours apart.
    guard value == value.rounded(), abs(value) <= 9_007_199_254_740_992 else { return nil }
    return Int(value)
  }

  /// The nearest `Double`, or `nil` if the number is beyond its range.
  public var double: Double? {
    guard let value = Double(self.text), value.isFinite else { return nil }
    return value
  }

  public var description: String { self.text }
}

/// The members of a JSON object, in order; no name occurs twice.
public struct JSONObject: Hashable, Sendable {
  /// One name with its value.
  public struct Member: Hashable, Sendable {
    /// The name.
    public let name: String
    /// The value.
    public var value: JSON
  }

  /// All members, in the order in which they are written.
  public private(set) var members: [Member] = []

  /// Creates an object without members.
  public init() {}

  /// Only for members whose names are known to differ.
  init(distinct members: [Member]) {
    self.members = members
  }

  /// Whether there are no members.
  public var isEmpty: Bool { self.members.isEmpty }

  /// The value of a member; setting adds a member at the end, replaces its value in place, or with `nil` removes it.
  public subscript(name: String) -> JSON? {
    get { self.members.first { $0.name == name }?.value }
    set {
      let index = self.members.firstIndex { $0.name == name }
      switch (index, newValue) {
      case (let index?, let value?): self.members[index].value = value
      case (let index?, nil): self.members.remove(at: index)
      case (nil, let value?): self.members.append(Member(name: name, value: value))
      case (nil, nil): break
      }
    }
  }

  /// Adds the members of another object; a name that exists keeps its value.
  mutating func add(_ other: JSONObject) {
    for member in other.members where self[member.name] == nil {
      self.members.append(member)
    }
  }
}

extension JSONObject: ExpressibleByDictionaryLiteral, CustomStringConvertible {
  /// Of a name that is written twice, the last value counts.
  public init(dictionaryLiteral elements: (String, JSON)...) {
    for (name, value) in elements { self[name] = value }
  }

  public var description: String { "object(\(self.members.count))" }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int) { self = .integer(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(arrayLiteral elements: JSON...) { self = .array(elements) }
  public init(dictionaryLiteral elements: (String, JSON)...) {
    var object = JSONObject()
    for (name, value) in elements { object[name] = value }
    self = .object(object)
  }
}
