/// One frame that came: a request, a response, or one of the two messages that are neither.
public struct Frame<Request: SignalingRequest>: Hashable, Sendable {
  /// What the frame is.
  public enum Content: Hashable, Sendable {
    /// A request, or with `nil` for its id a notification, which nobody answers.
    case request(Request, id: RPCID?)
    /// A successful response; the request table knows the request (``ServerResult/read(_:of:)``).
    case result(JSON, id: RPCID)
    /// A response that is an error.
    case error(RPCError, id: RPCID)
    /// Statistics of a client.
    case debugReport(DebugReport, id: RPCID?)
    /// An answer of a speed test.
    case speedTest(SpeedTest)
  }

  /// What the frame is.
  public let content: Content
  /// The dialect of its method, if that has a prefix.
  public let dialect: Dialect?
  /// Where the connection was routed, to be sent again on the next connection (telnyx.md section 2.1).
  public let voiceSDKID: String?
  /// Members of the frame that the protocol does not know.
  public let extra: JSONObject
}

/// Reads and writes the frames of one connection: tolerant when reading, always the same when writing.
///
/// Members are written in the order of telnyx.md section 2.2, so that two equal messages are equal bytes.
///
/// ```swift
/// let codec = SignalingCodec(dialect: .telnyx)
/// let bytes = codec.encode(ClientRequest.ping(), id: .string(id), voiceSDKID: sticky)
/// let frame = try codec.decode(ServerRequest.self, from: received)
/// ```
public struct SignalingCodec: Hashable, Sendable {
  /// The dialect in which requests are written; frames are read in either.
  public var dialect: Dialect
  /// How much one frame may hold.
  public var limits: JSON.Limits

  /// Creates a codec.
  public init(dialect: Dialect = .telnyx, limits: JSON.Limits = JSON.Limits()) {
    self.dialect = dialect
    self.limits = limits
  }

  /// Reads a text frame of the other end.
  ///
  /// - Parameters:
  ///   - type: What the other end sends: `ServerRequest.self` in a client, `ClientRequest.self` in a server.
  ///   - bytes: The whole frame.
  /// - Throws: ``FrameError``, which says where, and for a request its id and what to answer.
  public func decode<Request: SignalingRequest>(
    _ type: Request.Type, from bytes: [UInt8]
  ) throws(FrameError) -> Frame<Request> {
    if bytes.first == UInt8(ascii: "#"), bytes.count <= 256,
      let text = String(validating: bytes, as: UTF8.self), let test = SpeedTest(text)
    {
      return Frame(content: .speedTest(test), dialect: nil, voiceSDKID: nil, extra: JSONObject())
    }
    let json: JSON
    do {
      json = try JSON.read(bytes, limits: self.limits)
    } catch {
      throw FrameError(.json(error), path: error.path)
    }
    return try self.decode(type, from: json)
  }

  private func decode<Request: SignalingRequest>(
    _ type: Request.Type, from json: JSON
  ) throws(FrameError) -> Frame<Request> {
    if case .array = json { throw FrameError(.batch) }
    guard case .object(let object) = json else { throw FrameError(.notAMessage) }
    var reader = try FieldReader(json, path: JSONPath())
    // `null` is an id, unlike an absent one.
    let id = try object["id"].map { json throws(FrameError) in try RPCID(reading: json) }
    _ = reader.value("jsonrpc")
    _ = reader.value("id")
    let content: Frame<Request>.Content
    var dialect: Dialect?
    do throws(FrameError) {
      let voiceSDKID = try reader.string("voice_sdk_id")
      if let error = reader.value("error") {
        // Some gateways write a `result` beside the error.
        content = .error(try RPCError(reading: error, at: JSONPath([.name("error")])), id: id ?? .null)
      } else if object["result"] != nil {
        let result = reader.value("result") ?? .null
        content = .result(result, id: id ?? .null)
      } else if object["method"] != nil {
        let name = try reader.requiredString("method")
        let (method, found) = SignalingMethod.read(name)
        dialect = found
        let params = reader.value("params") ?? .object(JSONObject())
        content = .request(try Request.read(method, params: params), id: id)
      } else if let kind = object["type"]?.stringValue.flatMap({ DebugReport.Kind(rawValue: $0) }) {
        _ = reader.value("type")
        let reportID = try reader.requiredString("debug_report_id")
        content = .debugReport(DebugReport(kind, reportID: reportID, body: reader.rest), id: id)
        return Frame(content: content, dialect: nil, voiceSDKID: voiceSDKID, extra: JSONObject())
      } else {
        throw FrameError(.notAMessage)
      }
      return Frame(content: content, dialect: dialect, voiceSDKID: voiceSDKID, extra: reader.rest)
    } catch {
      var error = error
      error.id = id
      error.method = object["method"]?.stringValue
      throw error
    }
  }

  /// Writes a request; without id it is a notification.
  public func encode(
    _ request: some SignalingRequest, id: RPCID?, voiceSDKID: String? = nil
  ) -> [UInt8] {
    var object: JSONObject = ["jsonrpc": "2.0"]
    if let id { object["id"] = id.json }
    object["method"] = .string(request.method.name(in: self.dialect))
    object["params"] = request.params
    object.put("voice_sdk_id", voiceSDKID)
    return JSON.object(object).bytes
  }

  /// Writes the successful response to a request.
  public func encode(_ result: ServerResult, id: RPCID, voiceSDKID: String? = nil) -> [UInt8] {
    var object: JSONObject = ["jsonrpc": "2.0", "id": id.json, "result": result.json]
    object.put("voice_sdk_id", voiceSDKID)
    return JSON.object(object).bytes
  }

  /// Writes the response to a request that fails.
  public func encode(_ error: RPCError, id: RPCID, voiceSDKID: String? = nil) -> [UInt8] {
    var object: JSONObject = ["jsonrpc": "2.0", "id": id.json, "error": error.json]
    object.put("voice_sdk_id", voiceSDKID)
    return JSON.object(object).bytes
  }

  /// Writes a client's confirmation of a server's request: `{"result":{"method":"…"}}` (telnyx.md section 0.2).
  public func acknowledge(_ method: SignalingMethod, id: RPCID) -> [UInt8] {
    self.encode(.other(["method": .string(method.name(in: self.dialect))]), id: id)
  }

  /// Writes a part of a report.
  public func encode(_ report: DebugReport, id: RPCID) -> [UInt8] {
    var object: JSONObject = [
      "jsonrpc": "2.0", "id": id.json, "type": .string(report.kind.rawValue),
      "debug_report_id": .string(report.reportID),
    ]
    object.add(report.body)
    return JSON.object(object).bytes
  }

  /// Writes an answer of a speed test.
  public func encode(_ test: SpeedTest) -> [UInt8] { Array(test.text.utf8) }
}
