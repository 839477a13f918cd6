import Foundation

/// One JSON line that a test peer printed.
public struct PeerEvent: Hashable, Sendable {
  /// A value of JSON.
  public enum Value: Hashable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([Value])
    case object([String: Value])
  }

  /// The kind of the event: its field `event`, or `text` for a line that is no JSON object.
  public let name: String

  /// All fields.
  public let fields: [String: Value]

  /// The line as it was printed.
  public let line: String

  init(line: String) {
    self.line = line
    let value = try? JSONDecoder().decode(Value.self, from: Data(line.utf8))
    if case .object(let fields)? = value, case .string(let name)? = fields["event"] {
      self.name = name
      self.fields = fields
    } else {
      self.name = "text"
      self.fields = ["text": .string(line)]
    }
  }

  /// The value of a field, or `nil` if there is none.
  public subscript(_ field: String) -> Value? { self.fields[field] }
}

extension PeerEvent.Value {
  /// The number if it is one without a fraction.
  public var int: Int? {
    guard case .number(let number) = self else { return nil }
    return Int(exactly: number)
  }

  /// The number if it is one.
  public var double: Double? {
    guard case .number(let number) = self else { return nil }
    return number
  }

  /// The text if it is one.
  public var string: String? {
    guard case .string(let string) = self else { return nil }
    return string
  }

  /// The truth value if it is one.
  public var bool: Bool? {
    guard case .bool(let bool) = self else { return nil }
    return bool
  }

  /// The elements if it is an array.
  public var array: [PeerEvent.Value]? {
    guard case .array(let array) = self else { return nil }
    return array
  }

  /// A field if it is an object that has it.
  public subscript(_ field: String) -> PeerEvent.Value? {
    guard case .object(let fields) = self else { return nil }
    return fields[field]
  }
}

extension PeerEvent.Value: Decodable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let bool = try? container.decode(Bool.self) {
      self = .bool(bool)
    } else if let number = try? container.decode(Double.self) {
      self = .number(number)
    } else if let string = try? container.decode(String.self) {
      self = .string(string)
    } else if let array = try? container.decode([PeerEvent.Value].self) {
      self = .array(array)
    } else {
      self = .object(try container.decode([String: PeerEvent.Value].self))
    }
  }
}
