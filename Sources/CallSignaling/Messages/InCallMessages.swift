/// `info` in either direction: tones (DTMF) or a line of chat (telnyx.md section 2.2).
public struct InfoMessage: Hashable, Sendable {
  /// A line of chat: `msg {from, to, body}`.
  public struct Chat: Hashable, Sendable {
    /// Who wrote it.
    public var from: String?
    /// For whom it is.
    public var to: String?
    /// What it says.
    public var body: String
    /// Everything else.
    public var extra: JSONObject

    /// Creates a line.
    public init(from: String? = nil, to: String? = nil, body: String) {
      self.from = from
      self.to = to
      self.body = body
      self.extra = JSONObject()
    }
  }

  /// The call; chat outside of a call has none.
  public var callID: CallID?
  /// The session; only clients send it.
  public var sessionID: String?
  /// One or more of `0`–`9`, `*`, `#`, `A`–`D`.
  public var dtmf: String?
  /// A line of chat.
  public var chat: Chat?
  /// What `dialogParams` holds besides the id.
  public var dialogExtra: JSONObject
  /// Everything else.
  public var extra: JSONObject

  /// Creates a message with tones.
  public init(callID: CallID, dtmf: String, sessionID: String? = nil) {
    self.callID = callID
    self.sessionID = sessionID
    self.dtmf = dtmf
    self.dialogExtra = JSONObject()
    self.extra = JSONObject()
  }

  /// Creates a message with a line of chat.
  public init(chat: Chat, callID: CallID? = nil, sessionID: String? = nil) {
    self.callID = callID
    self.sessionID = sessionID
    self.chat = chat
    self.dialogExtra = JSONObject()
    self.extra = JSONObject()
  }

  init(reading reader: inout FieldReader) throws(FrameError) {
    self.sessionID = try reader.sessionID()
    let top = try reader.callID()
    var dialog = try reader.reader("dialogParams")
    let nested = try dialog?.callID()
    self.callID = top ?? nested
    self.dialogExtra = dialog?.rest ?? JSONObject()
    self.dtmf = try reader.string("dtmf")
    if var chat = try reader.reader("msg") {
      var line = Chat(
        from: try chat.string("from"), to: try chat.string("to"), body: try chat.requiredString("body"))
      line.extra = chat.rest
      self.chat = line
    }
    guard self.callID != nil || self.chat != nil else { throw reader.missing("callID") }
    self.extra = reader.rest
  }

  func params(by writer: Writer) -> JSONObject {
    var object = JSONObject()
    var tail = JSONObject()
    if let callID = self.callID {
      (object, tail) = JSONObject.addressing(
        callID, session: self.sessionID, dialog: self.dialogExtra, by: writer)
    } else {
      object.put("sessid", self.sessionID)
      tail.putUnlessEmpty("dialogParams", self.dialogExtra)
    }
    object.put("dtmf", self.dtmf)
    if let chat = self.chat {
      var line = JSONObject()
      line.put("from", chat.from)
      line.put("to", chat.to)
      line.put("body", chat.body)
      line.add(chat.extra)
      object["msg"] = .object(line)
    }
    object.add(tail)
    object.add(self.extra)
    return object
  }
}

/// What a `modify` changes (telnyx.md section 2.2); the set is open.
public enum ModifyAction: Hashable, Sendable {
  case hold, unhold, toggleHold
  /// New descriptions for the same call, such as an ICE restart.
  case updateMedia
  /// FreeSWITCH: hand the call to a destination.
  case transfer
  /// FreeSWITCH: put this call in the place of another.
  case replace
  /// An action that this version does not know, as it came.
  case unknown(String)

  /// All actions with a name of their own.
  public static let known: [ModifyAction] = [.hold, .unhold, .toggleHold, .updateMedia, .transfer, .replace]

  /// Reads an action.
  public init(_ text: String) {
    self = Self.known.first { $0.text == text } ?? .unknown(text)
  }

  /// The action as it is written.
  public var text: String {
    switch self {
    case .hold: "hold"
    case .unhold: "unhold"
    case .toggleHold: "toggleHold"
    case .updateMedia: "updateMedia"
    case .transfer: "transfer"
    case .replace: "replace"
    case .unknown(let text): text
    }
  }
}

/// `modify` (telnyx.md section 2.2).
public struct ModifyRequest: Hashable, Sendable {
  /// The call.
  public var callID: CallID
  /// The session.
  public var sessionID: String?
  /// What is to change.
  public var action: ModifyAction
  /// The new offer, for `updateMedia`.
  public var sdp: SDP?
  /// Whether candidates follow one by one.
  public var isTrickled: Bool
  /// Where to, for `transfer`.
  public var destination: String?
  /// Which call, for `replace`.
  public var replaceCallID: String?
  /// What `dialogParams` holds besides the id.
  public var dialogExtra: JSONObject
  /// Everything else.
  public var extra: JSONObject

  /// Creates a request.
  public init(
    callID: CallID, action: ModifyAction, sdp: SDP? = nil, isTrickled: Bool = false, sessionID: String? = nil
  ) {
    self.callID = callID
    self.sessionID = sessionID
    self.action = action
    self.sdp = sdp
    self.isTrickled = isTrickled
    self.dialogExtra = JSONObject()
    self.extra = JSONObject()
  }

  init(reading reader: inout FieldReader) throws(FrameError) {
    let address = try CallAddress(reading: &reader)
    self.callID = address.callID
    self.sessionID = address.sessionID
    self.dialogExtra = address.dialog
    self.action = ModifyAction(try reader.requiredString("action"))
    self.sdp = try reader.sdp()
    if self.action == .updateMedia, self.sdp == nil { throw reader.missing("sdp") }
    self.isTrickled = try reader.bool("trickle") ?? false
    self.destination = try reader.string("destination")
    self.replaceCallID = try reader.string("replaceCallID")
    self.extra = reader.rest
  }

  func params(by writer: Writer) -> JSONObject {
    var (object, tail) = JSONObject.addressing(
      self.callID, session: self.sessionID, dialog: self.dialogExtra, by: writer)
    object.put("action", self.action.text)
    // Published clients send the id twice with a new description (telnyx.md section 0.4).
    if self.action == .updateMedia { object.put("callID", self.callID) }
    object.put("sdp", self.sdp)
    if self.isTrickled { object.put("trickle", true) }
    object.put("destination", self.destination)
    object.put("replaceCallID", self.replaceCallID)
    object.add(tail)
    object.add(self.extra)
    return object
  }
}

/// `candidate` in either direction (telnyx.md section 2.2).
public struct CandidateMessage: Hashable, Sendable {
  /// The call.
  public var callID: CallID
  /// The session; not every client sends it.
  public var sessionID: String?
  /// The longest line that is taken, in bytes: those of browsers have about 200, and servers keep them for clients.
  public static let longestCandidate = 1024

  /// The line, from `candidate:` (RFC 8839 section 5.1); empty from some clients at the end of candidates.
  public var candidate: String
  /// The media section, by name.
  public var sdpMid: String?
  /// The media section, by number from 0.
  public var sdpMLineIndex: Int?
  /// What `dialogParams` holds besides the id.
  public var dialogExtra: JSONObject
  /// Everything else.
  public var extra: JSONObject

  /// Creates a message.
  public init(
    callID: CallID, candidate: String, sdpMid: String? = "0", sdpMLineIndex: Int? = 0,
    sessionID: String? = nil
  ) {
    self.callID = callID
    self.sessionID = sessionID
    self.candidate = candidate
    self.sdpMid = sdpMid
    self.sdpMLineIndex = sdpMLineIndex
    self.dialogExtra = JSONObject()
    self.extra = JSONObject()
  }

  init(reading reader: inout FieldReader) throws(FrameError) {
    let address = try CallAddress(reading: &reader)
    self.callID = address.callID
    self.sessionID = address.sessionID
    self.dialogExtra = address.dialog
    guard let candidate = try reader.string("candidate", atMost: Self.longestCandidate) else {
      throw reader.missing("candidate")
    }
    self.candidate = candidate
    self.sdpMid = try reader.string("sdpMid", atMost: 256)
    self.sdpMLineIndex = try reader.integer("sdpMLineIndex")
    self.extra = reader.rest
  }

  func params(by writer: Writer) -> JSONObject {
    var (object, tail) = JSONObject.addressing(
      self.callID, session: self.sessionID, dialog: self.dialogExtra, by: writer)
    object.put("candidate", self.candidate)
    object.put("sdpMid", self.sdpMid)
    object.put("sdpMLineIndex", self.sdpMLineIndex)
    object.add(tail)
    object.add(self.extra)
    return object
  }
}

/// A message that names a call and little else: `endOfCandidates` in either direction, `ringing_ack` of a client.
public struct CallReference: Hashable, Sendable {
  /// The call.
  public var callID: CallID
  /// The session; not every client sends it.
  public var sessionID: String?
  /// What `dialogParams` holds besides the id.
  public var dialogExtra: JSONObject
  /// Everything else.
  public var extra: JSONObject

  /// Creates a message.
  public init(callID: CallID, sessionID: String? = nil) {
    self.callID = callID
    self.sessionID = sessionID
    self.dialogExtra = JSONObject()
    self.extra = JSONObject()
  }

  init(reading reader: inout FieldReader) throws(FrameError) {
    let address = try CallAddress(reading: &reader)
    self.callID = address.callID
    self.sessionID = address.sessionID
    self.dialogExtra = address.dialog
    _ = try reader.bool("endOfCandidates")
    self.extra = reader.rest
  }

  func endOfCandidatesParams(by writer: Writer) -> JSONObject {
    var (object, tail) = JSONObject.addressing(
      self.callID, session: self.sessionID, dialog: self.dialogExtra, by: writer)
    object.put("endOfCandidates", true)
    object.add(tail)
    object.add(self.extra)
    return object
  }

  /// `ringing_ack` is the one request of a client whose id is not in `dialogParams` (telnyx.md section 0.4).
  var ringingAckParams: JSONObject {
    var object = JSONObject()
    object.put("callID", self.callID)
    object.put("sessid", self.sessionID)
    object.putUnlessEmpty("dialogParams", self.dialogExtra)
    object.add(self.extra)
    return object
  }
}
