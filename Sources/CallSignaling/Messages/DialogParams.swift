/// What a client says about a call with its invite, answer and attach: `dialogParams` (telnyx.md sections 1.5 and 2.2).
public struct DialogParams: Hashable, Sendable {
  /// The id of the call.
  public var callID: CallID
  /// Whom the caller wants: a user, a number, or a name of the dial plan.
  public var destinationNumber: String?
  /// The other side's name.
  public var remoteCallerIDName: String?
  /// The other side's number.
  public var remoteCallerIDNumber: String?
  /// The client's own name.
  public var callerIDName: String?
  /// The client's own number.
  public var callerIDNumber: String?
  /// Whether there is audio.
  public var audio: Bool?
  /// Whether there is video.
  public var video: Bool?
  /// Whether stereo is wanted.
  public var useStereo: Bool?
  /// Whether this takes up a call of an earlier connection.
  public var attach: Bool?
  /// Whether the screen is shared.
  public var screenShare: Bool?
  /// Whether candidates follow one by one.
  public var trickleICE: Bool?
  /// State of the app, in base64, that the server gives back.
  public var clientState: String?
  /// Headers of the app.
  public var customHeaders: [CustomHeader]
  /// Codecs that the client would like best.
  public var preferredCodecs: [CodecPreference]
  /// Variables of the app.
  public var userVariables: JSONObject
  /// Everything else, such as `mediaSettings` and `iceServers`.
  public var extra: JSONObject

  /// Creates parameters with an id alone.
  public init(callID: CallID) {
    self.callID = callID
    self.customHeaders = []
    self.preferredCodecs = []
    self.userVariables = JSONObject()
    self.extra = JSONObject()
  }

  init(reading reader: inout FieldReader) throws(FrameError) {
    guard let callID = try reader.callID() else { throw reader.missing("callID") }
    self.callID = callID
    self.destinationNumber = try reader.string("destination_number")
    self.remoteCallerIDName = try reader.string("remote_caller_id_name")
    self.remoteCallerIDNumber = try reader.string("remote_caller_id_number")
    self.callerIDName = try reader.string("caller_id_name")
    self.callerIDNumber = try reader.string("caller_id_number")
    self.audio = try reader.bool("audio")
    self.video = try reader.bool("video")
    self.useStereo = try reader.bool("useStereo")
    self.attach = try reader.bool("attach")
    self.screenShare = try reader.bool("screenShare")
    self.trickleICE = try reader.bool("trickleIce")
    self.clientState = try reader.string("clientState", "client_state")
    self.customHeaders = try reader.headers()
    self.preferredCodecs = try Self.codecs(&reader)
    self.userVariables = try reader.object("userVariables") ?? JSONObject()
    self.extra = reader.rest
  }

  private static func codecs(_ reader: inout FieldReader) throws(FrameError) -> [CodecPreference] {
    let path = reader.path.appending("preferred_codecs")
    var codecs: [CodecPreference] = []
    for (index, value) in (try reader.array("preferred_codecs") ?? []).enumerated() {
      var codec = try FieldReader(value, path: path.appending(index))
      let mimeType = try codec.requiredString("mimeType")
      guard let clockRate = try codec.integer("clockRate") else { throw codec.missing("clockRate") }
      codecs.append(
        CodecPreference(
          mimeType: mimeType, clockRate: clockRate, channels: try codec.integer("channels"),
          sdpFmtpLine: try codec.string("sdpFmtpLine")))
    }
    return codecs
  }

  var object: JSONObject {
    var object = JSONObject()
    object.put("callID", self.callID)
    object.put("destination_number", self.destinationNumber)
    object.put("remote_caller_id_name", self.remoteCallerIDName)
    object.put("remote_caller_id_number", self.remoteCallerIDNumber)
    object.put("caller_id_name", self.callerIDName)
    object.put("caller_id_number", self.callerIDNumber)
    object.put("audio", self.audio)
    object.put("video", self.video)
    object.put("useStereo", self.useStereo)
    object.put("attach", self.attach)
    object.put("screenShare", self.screenShare)
    object.put("trickleIce", self.trickleICE)
    object.put("clientState", self.clientState)
    if !self.customHeaders.isEmpty { object.put("custom_headers", self.customHeaders) }
    if !self.preferredCodecs.isEmpty { object.put("preferred_codecs", self.preferredCodecs) }
    object.putUnlessEmpty("userVariables", self.userVariables)
    object.add(self.extra)
    return object
  }
}

/// Which call a message in either direction is about.
///
/// A server writes `params.callID`, a client `params.dialogParams.callID` (telnyx.md section 0.4); either is read
/// from both.
struct CallAddress: Hashable, Sendable {
  let callID: CallID
  let sessionID: String?
  /// What `dialogParams` holds besides the id.
  let dialog: JSONObject

  init(reading reader: inout FieldReader) throws(FrameError) {
    self.sessionID = try reader.sessionID()
    let top = try reader.callID()
    var dialog = try reader.reader("dialogParams")
    let nested = try dialog?.callID()
    self.dialog = dialog?.rest ?? JSONObject()
    guard let callID = top ?? nested else { throw reader.missing("callID") }
    self.callID = callID
  }
}

/// Which end writes a message.
enum Writer {
  case client, server
}

extension JSONObject {
  /// Begins the parameters of a message about a call as the writer's end has to.
  static func addressing(
    _ callID: CallID, session: String?, dialog: JSONObject, by writer: Writer
  ) -> (head: JSONObject, tail: JSONObject) {
    var head = JSONObject()
    var tail = JSONObject()
    switch writer {
    case .client:
      head.put("sessid", session)
      var params: JSONObject = ["callID": callID.json]
      params.add(dialog)
      tail["dialogParams"] = .object(params)
    case .server:
      head.put("callID", callID)
      head.put("sessid", session)
      tail.putUnlessEmpty("dialogParams", dialog)
    }
    return (head, tail)
  }
}
