/// The way from the top of a JSON text to a value, such as `$.params.dialogParams.custom_headers[2].name`.
public struct JSONPath: Hashable, Sendable, CustomStringConvertible {
  /// One step of the way.
  public enum Step: Hashable, Sendable {
    case name(String)
    case index(Int)
  }

  /// The steps from the top.
  public var steps: [Step]

  /// Creates a path; without steps it is the top.
  public init(_ steps: [Step] = []) {
    self.steps = steps
  }

  /// The path to a member of the value at this path.
  public func appending(_ name: String) -> JSONPath { JSONPath(self.steps + [.name(name)]) }

  /// The path to an element of the value at this path.
  public func appending(_ index: Int) -> JSONPath { JSONPath(self.steps + [.index(index)]) }

  /// The path as text: names from outside are cut after 40 characters, and the middle of a long path is left out.
  public var description: String {
    let texts = self.steps.map { step in
      switch step {
      case .name(let name): "." + (name.count > 40 ? name.prefix(40) + "…" : name)
      case .index(let index): "[\(index)]"
      }
    }
    guard texts.count > 16 else { return "$" + texts.joined() }
    return "$" + texts.prefix(8).joined() + "…" + texts.suffix(4).joined()
  }
}

/// Why a text is not JSON that this reader takes, and where.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong.
  public enum Reason: Hashable, Sendable {
    /// The text has more bytes than ``JSON/Limits/bytes``.
    case tooLarge(bytes: Int)
    /// Arrays and objects are nested deeper than ``JSON/Limits/depth``.
    case tooDeep
    /// There are more values than ``JSON/Limits/values``.
    case tooManyValues
    /// The text ends inside a value.
    case unexpectedEnd
    /// A byte that cannot stand here.
    case unexpectedByte(UInt8)
    /// A string holds bytes that are not UTF-8.
    case invalidUTF8
    /// A string holds a control character that has to be escaped (RFC 8259 section 7).
    case controlCharacter(UInt8)
    /// A backslash is followed by something that is no escape.
    case invalidEscape
    /// A number is not written as RFC 8259 section 6 demands.
    case invalidNumber
    /// An object has a name twice; readers disagree on which one counts, so neither does.
    case duplicateName
    /// Something follows after the value.
    case trailingBytes
  }

  /// What is wrong.
  public let reason: Reason
  /// The byte at which it is wrong, from 0.
  public let offset: Int
  /// The value in which it is wrong.
  public internal(set) var path: JSONPath

  init(_ reason: Reason, offset: Int, path: JSONPath = JSONPath()) {
    self.reason = reason
    self.offset = offset
    self.path = path
  }

  public var description: String { "\(self.reason) at byte \(self.offset), \(self.path)" }
}
