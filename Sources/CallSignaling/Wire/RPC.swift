/// The id of a JSON-RPC request, echoed in its response exactly as it came.
///
/// Clients use UUID strings, servers integers (telnyx.md section 0.1).
public enum RPCID: Hashable, Sendable, CustomStringConvertible {
  case string(String)
  case number(JSONNumber)
  case null

  /// The id of a server's request.
  public static func integer(_ value: Int) -> RPCID { .number(JSONNumber(value)) }

  /// The id as JSON.
  public var json: JSON {
    switch self {
    case .string(let text): .string(text)
    case .number(let number): .number(number)
    case .null: .null
    }
  }

  init(reading json: JSON) throws(FrameError) {
    switch json {
    case .string(let text): self = .string(text)
    case .number(let number): self = .number(number)
    case .null: self = .null
    case .bool, .array, .object:
      throw FrameError(
        .wrongType(expected: "a string or a number", found: json.kind), path: JSONPath([.name("id")]))
    }
  }

  public var description: String { self.json.text }
}

/// The code of a JSON-RPC error: an integer, or text from gateways that quote it (telnyx.md section 2.1).
public struct RPCErrorCode: Hashable, Sendable, CustomStringConvertible {
  /// The code as it was sent.
  public let json: JSON

  /// Creates a code.
  public init(_ value: Int) {
    self.json = .integer(value)
  }

  init(reading json: JSON) {
    self.json = json
  }

  /// The code as a number, also if it was sent as text; `nil` for text that is no number.
  public var value: Int? {
    switch self.json {
    case .number(let number): number.integer
    case .string(let text): Int(text)
    case .null, .bool, .array, .object: nil
    }
  }

  public var description: String { self.json.stringValue ?? self.json.text }

  /// −32700: the frame is not JSON (JSON-RPC 2.0 section 5.1).
  public static let parseError = RPCErrorCode(-32700)
  /// −32600: the frame is no request (JSON-RPC 2.0 section 5.1).
  public static let invalidRequest = RPCErrorCode(-32600)
  /// −32601: there is no such method (JSON-RPC 2.0 section 5.1); in FreeSWITCH also "permission denied".
  public static let methodNotFound = RPCErrorCode(-32601)
  /// −32602: the parameters cannot be read (JSON-RPC 2.0 section 5.1).
  public static let invalidParams = RPCErrorCode(-32602)
  /// −32000: log in first (FreeSWITCH); in the documentation "token registration error" (telnyx.md section 1.2).
  public static let authenticationRequired = RPCErrorCode(-32000)
  /// −32001: credentials refused.
  public static let authenticationFailed = RPCErrorCode(-32001)
  /// −32002: no such call, or no call can be made of it (FreeSWITCH); in the documentation "codec error".
  public static let sessionError = RPCErrorCode(-32002)
  /// −32003: in the documentation "gateway registration timeout".
  public static let registrationTimedOut = RPCErrorCode(-32003)
  /// −32004: in the documentation "gateway registration failed".
  public static let registrationFailed = RPCErrorCode(-32004)
}

extension RPCErrorCode {
  /// Two codes are the same if their numbers are, however they were sent.
  public static func == (left: RPCErrorCode, right: RPCErrorCode) -> Bool {
    switch (left.value, right.value) {
    case (let left?, let right?): left == right
    case (nil, nil): left.json == right.json
    case (.some, nil), (nil, .some): false
    }
  }

  public func hash(into hasher: inout Hasher) {
    if let value = self.value { hasher.combine(value) } else { hasher.combine(self.json) }
  }
}

/// The error of a JSON-RPC response: `{"code":-32001,"message":"…"[,"callID":"…"]}` (telnyx.md section 2.1).
public struct RPCError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The number that programs read.
  public var code: RPCErrorCode
  /// The text for people.
  public var message: String
  /// The call it is about, if the server says.
  public var callID: CallID?
  /// Everything else in the error.
  public var extra: JSONObject

  /// Creates an error.
  public init(code: RPCErrorCode, message: String, callID: CallID? = nil, extra: JSONObject = JSONObject()) {
    self.code = code
    self.message = message
    self.callID = callID
    self.extra = extra
  }

  /// "CALL DOES NOT EXIST", as FreeSWITCH says (telnyx.md section 2.2).
  public static func callDoesNotExist(_ callID: CallID? = nil) -> RPCError {
    RPCError(code: .sessionError, message: "CALL DOES NOT EXIST", callID: callID)
  }

  init(reading json: JSON, at path: JSONPath) throws(FrameError) {
    // Some gateways send the text alone.
    if case .string(let text) = json {
      self.init(code: RPCErrorCode(0), message: text)
      return
    }
    var reader = try FieldReader(json, path: path)
    let code = RPCErrorCode(reading: reader.value("code") ?? 0)
    let message = try reader.string("message") ?? ""
    let callID = try reader.callID()
    self.init(code: code, message: message, callID: callID, extra: reader.rest)
  }

  var json: JSON {
    var object: JSONObject = ["code": self.code.json, "message": .string(self.message)]
    object.put("callID", self.callID)
    object.add(self.extra)
    return .object(object)
  }

  public var description: String { "\(self.message) (\(self.code))" }
}
