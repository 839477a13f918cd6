/// Why a frame is not a message of the protocol, and where.
///
/// Neither ``description`` nor ``failure`` holds anything the frame said, except names of members.
public struct FrameError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong.
  public enum Reason: Hashable, Sendable {
    /// The text is not JSON, or more than the limits allow.
    case json(JSONError)
    /// A JSON text that is neither a request, a response nor a report.
    case notAMessage
    /// An array of messages; the protocol sends one at a time (telnyx.md section 7).
    case batch
    /// A binary frame; the protocol uses text frames alone (telnyx.md section 2.1).
    case binary
    /// A member that the message cannot do without.
    case missing
    /// A value of a kind that cannot be read as what it stands for.
    case wrongType(expected: String, found: JSON.Kind)
    /// A value of the right kind that means nothing.
    case invalidValue(expected: String)
  }

  /// What is wrong.
  public let reason: Reason
  /// Where it is wrong.
  public let path: JSONPath
  /// The method of the request, as it came; `nil` if it was not read yet or the frame is a response.
  public internal(set) var method: String?
  /// The id of the frame, to answer it; `nil` if it has none or it cannot be read.
  public internal(set) var id: RPCID?

  init(_ reason: Reason, path: JSONPath = JSONPath(), method: String? = nil, id: RPCID? = nil) {
    self.reason = reason
    self.path = path
    self.method = method
    self.id = id
  }

  /// A binary frame came.
  public static var binaryFrame: FrameError { FrameError(.binary) }

  public var description: String {
    switch self.reason {
    case .json(let error): "The frame is not valid JSON: \(error)."
    case .notAMessage: "The frame is neither a request nor a response."
    case .batch: "The frame is a batch; one message is sent at a time."
    case .binary: "The frame is binary; only text frames are used."
    case .missing: "\(self.path) is missing."
    case .wrongType(let expected, let found): "\(self.path) is of kind \(found.rawValue), not \(expected)."
    case .invalidValue(let expected): "\(self.path) is not \(expected)."
    }
  }

  /// What a gateway answers to the frame (JSON-RPC 2.0 section 5.1; texts of FreeSWITCH, telnyx.md section 7).
  public var response: RPCError {
    switch self.reason {
    case .json: return RPCError(code: .parseError, message: "Parse error")
    case .batch: return RPCError(code: .invalidRequest, message: "Batches are not supported")
    case .notAMessage, .binary: return RPCError(code: .invalidRequest, message: "Invalid Request")
    case .wrongType where self.path.steps.last == .name("sdp"):
      return RPCError(code: .invalidParams, message: self.description)
    case .missing, .wrongType, .invalidValue:
      let text: String
      switch self.path.steps.last {
      case .name("callID"): text = "CallID missing"
      case .name("dialogParams"): text = "Dialog data missing"
      case .name("sdp"): text = "SDP missing"
      case .name("id"), .name("method"): return RPCError(code: .invalidRequest, message: "Invalid Request")
      case .name, .index, nil: return RPCError(code: .invalidParams, message: self.description)
      }
      return RPCError(code: .sessionError, message: text)
    }
  }
}
