/// Reads the members of one object and remembers which ones nobody asked for, so that none is lost.
///
/// Reading is tolerant as telnyx.md section 0 demands: text may stand for a number or a truth value and the other way
/// round, `null` is the same as absent. What cannot be read at all is an error that names its place.
struct FieldReader {
  let path: JSONPath
  private(set) var rest: JSONObject

  init(_ json: JSON, path: JSONPath) throws(FrameError) {
    guard case .object(let object) = json else {
      throw FrameError(.wrongType(expected: "an object", found: json.kind), path: path)
    }
    self.path = path
    self.rest = object
  }

  /// The first of the members that is there and not `null`; all of them count as read.
  mutating func value(_ names: String...) -> JSON? {
    self.field(names)?.value
  }

  private mutating func field(_ names: [String]) -> (value: JSON, path: JSONPath)? {
    var found: (JSON, JSONPath)?
    for name in names {
      guard let value = self.rest[name] else { continue }
      self.rest[name] = nil
      if found == nil, value != .null { found = (value, self.path.appending(name)) }
    }
    return found
  }

  mutating func string(_ names: String...) throws(FrameError) -> String? {
    guard let field = self.field(names) else { return nil }
    switch field.value {
    case .string(let text): return text
    case .number(let number): return number.text
    case .null, .bool, .array, .object:
      throw FrameError(.wrongType(expected: "a string", found: field.value.kind), path: field.path)
    }
  }

  mutating func requiredString(_ name: String) throws(FrameError) -> String {
    guard let text = try self.string(name) else { throw self.missing(name) }
    return text
  }

  /// Text that is kept for a while, so that its length counts.
  mutating func string(_ name: String, atMost limit: Int) throws(FrameError) -> String? {
    let text = try self.string(name)
    guard text?.utf8.count ?? 0 <= limit else {
      throw FrameError(
        .invalidValue(expected: "at most \(limit) bytes long"), path: self.path.appending(name))
    }
    return text
  }

  mutating func integer(_ names: String...) throws(FrameError) -> Int? {
    guard let field = self.field(names) else { return nil }
    switch field.value {
    case .number(let number):
      if let value = number.integer { return value }
    case .string(let text):
      if text.isEmpty { return nil }
      if let value = Int(text) { return value }
    case .null, .bool, .array, .object:
      throw FrameError(.wrongType(expected: "an integer", found: field.value.kind), path: field.path)
    }
    throw FrameError(.invalidValue(expected: "an integer"), path: field.path)
  }

  mutating func bool(_ names: String...) throws(FrameError) -> Bool? {
    guard let field = self.field(names) else { return nil }
    switch field.value {
    case .bool(let value): return value
    case .string(let text):
      switch text.lowercased() {
      case "true", "1": return true
      case "false", "0", "": return false
      default: throw FrameError(.invalidValue(expected: "true or false"), path: field.path)
      }
    case .number(let number):
      switch number.integer {
      case 0: return false
      case 1: return true
      default: throw FrameError(.invalidValue(expected: "true or false"), path: field.path)
      }
    case .null, .array, .object:
      throw FrameError(.wrongType(expected: "true or false", found: field.value.kind), path: field.path)
    }
  }

  mutating func object(_ names: String...) throws(FrameError) -> JSONObject? {
    guard let field = self.field(names) else { return nil }
    guard case .object(let object) = field.value else {
      throw FrameError(.wrongType(expected: "an object", found: field.value.kind), path: field.path)
    }
    return object
  }

  mutating func array(_ name: String) throws(FrameError) -> [JSON]? {
    guard let field = self.field([name]) else { return nil }
    guard case .array(let values) = field.value else {
      throw FrameError(.wrongType(expected: "an array", found: field.value.kind), path: field.path)
    }
    return values
  }

  /// A reader for an object in a member, or `nil` if it is absent.
  mutating func reader(_ name: String) throws(FrameError) -> FieldReader? {
    guard let field = self.field([name]) else { return nil }
    return try FieldReader(field.value, path: field.path)
  }

  /// A description is text: a number in its place is no other spelling of one.
  mutating func sdp() throws(FrameError) -> SDP? {
    guard let field = self.field(["sdp"]) else { return nil }
    guard case .string(let text) = field.value else {
      throw FrameError(.wrongType(expected: "a string", found: field.value.kind), path: field.path)
    }
    return text.isEmpty ? nil : SDP(text)
  }

  /// The session id in any of its three spellings (telnyx.md section 0.3).
  mutating func sessionID() throws(FrameError) -> String? {
    try self.string("sessid", "sessId", "sessionId")
  }

  mutating func callID() throws(FrameError) -> CallID? {
    let path = self.path.appending("callID")
    guard let text = try self.string("callID") else { return nil }
    guard !text.isEmpty, text.utf8.count <= 256 else {
      throw FrameError(.invalidValue(expected: "1 to 256 bytes long"), path: path)
    }
    return CallID(text)
  }

  mutating func headers() throws(FrameError) -> [CustomHeader] {
    let path = self.path.appending("custom_headers")
    guard let values = try self.array("custom_headers") else { return [] }
    var headers: [CustomHeader] = []
    for (index, value) in values.enumerated() {
      var reader = try FieldReader(value, path: path.appending(index))
      headers.append(
        CustomHeader(name: try reader.requiredString("name"), value: try reader.string("value") ?? ""))
    }
    return headers
  }

  func missing(_ name: String) -> FrameError {
    FrameError(.missing, path: self.path.appending(name))
  }
}

/// What can be written as JSON.
protocol JSONWritable {
  var json: JSON { get }
}

extension JSON: JSONWritable {
  var json: JSON { self }
}

extension JSONObject: JSONWritable {
  var json: JSON { .object(self) }
}

extension String: JSONWritable {
  var json: JSON { .string(self) }
}

extension Int: JSONWritable {
  var json: JSON { .integer(self) }
}

extension Bool: JSONWritable {
  var json: JSON { .bool(self) }
}

extension Secret: JSONWritable {
  var json: JSON { .string(self.value) }
}

extension SDP: JSONWritable {
  var json: JSON { .string(self.text) }
}

extension CallID: JSONWritable {
  var json: JSON { .string(self.text) }
}

extension CustomHeader: JSONWritable {
  var json: JSON { ["name": .string(self.name), "value": .string(self.value)] }
}

extension CodecPreference: JSONWritable {
  var json: JSON {
    var object: JSONObject = ["mimeType": .string(self.mimeType), "clockRate": .integer(self.clockRate)]
    object.put("channels", self.channels)
    object.put("sdpFmtpLine", self.sdpFmtpLine)
    return .object(object)
  }
}

extension Array: JSONWritable where Element: JSONWritable {
  var json: JSON { .array(self.map(\.json)) }
}

extension JSONObject {
  /// Writes a member if there is something to write.
  mutating func put(_ name: String, _ value: (some JSONWritable)?) {
    if let value { self[name] = value.json }
  }

  /// Writes an object or an array only if it is not empty.
  mutating func putUnlessEmpty(_ name: String, _ value: JSONObject) {
    if !value.isEmpty { self[name] = .object(value) }
  }
}
