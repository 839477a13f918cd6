/// A request that one end of the protocol sends: ``ClientRequest`` or ``ServerRequest``.
public protocol SignalingRequest: Hashable, Sendable, CustomStringConvertible {
  /// The name of the request.
  var method: SignalingMethod { get }

  /// The call that it is about, if it is about one.
  var callID: CallID? { get }

  /// Reads the parameters of a request.
  ///
  /// - Throws: ``FrameError`` with the place; a method that is not known does not throw but gives `.unknown`.
  static func read(_ method: SignalingMethod, params: JSON) throws(FrameError) -> Self

  /// The parameters as they are written.
  var params: JSON { get }
}

extension SignalingRequest {
  /// The method and the call, safe to log.
  public var description: String {
    let name = self.method.name(in: .telnyx)
    return self.callID.map { "\(name) of \($0)" } ?? name
  }

  static func reader(_ params: JSON) throws(FrameError) -> FieldReader {
    try FieldReader(params, path: JSONPath([.name("params")]))
  }
}

/// What a client asks of a server (telnyx.md section 2.2, C→S).
public enum ClientRequest: SignalingRequest {
  case login(LoginRequest)
  case anonymousLogin(AnonymousLoginRequest)
  case gatewayState(JSONObject = JSONObject())
  case ping(JSONObject = JSONObject())
  case invite(ClientDescription)
  case answer(ClientDescription)
  case attach(ClientDescription)
  case ringingAck(CallReference)
  case bye(ByeMessage)
  case info(InfoMessage)
  case modify(ModifyRequest)
  case candidate(CandidateMessage)
  case endOfCandidates(CallReference)
  case attachCalls(AttachCallsRequest)
  case disablePush(DisablePushRequest)
  case aiConversation(AIConversation)
  /// Echoes its parameters.
  case echo(JSONObject)
  case subscribe(JSONObject)
  case unsubscribe(JSONObject)
  case broadcast(JSONObject)
  /// A method that is not a client's, or not known.
  case unknown(SignalingMethod, params: JSON)

  public var method: SignalingMethod {
    switch self {
    case .login: .login
    case .anonymousLogin: .anonymousLogin
    case .gatewayState: .gatewayState
    case .ping: .ping
    case .invite: .invite
    case .answer: .answer
    case .attach: .attach
    case .ringingAck: .ringingAck
    case .bye: .bye
    case .info: .info
    case .modify: .modify
    case .candidate: .candidate
    case .endOfCandidates: .endOfCandidates
    case .attachCalls: .attachCalls
    case .disablePush: .disablePushNotification
    case .aiConversation: .aiConversation
    case .echo: .echo
    case .subscribe: .subscribe
    case .unsubscribe: .unsubscribe
    case .broadcast: .broadcast
    case .unknown(let method, _): method
    }
  }

  public var callID: CallID? {
    switch self {
    case .invite(let message), .answer(let message), .attach(let message): message.dialog.callID
    case .ringingAck(let message), .endOfCandidates(let message): message.callID
    case .bye(let message): message.callID
    case .info(let message): message.callID
    case .modify(let message): message.callID
    case .candidate(let message): message.callID
    case .login, .anonymousLogin, .gatewayState, .ping, .attachCalls, .disablePush, .aiConversation, .echo,
      .subscribe, .unsubscribe, .broadcast, .unknown:
      nil
    }
  }

  public static func read(_ method: SignalingMethod, params: JSON) throws(FrameError) -> ClientRequest {
    switch method {
    case .ringing, .media, .punt, .clientReady, .pong, .display, .event, .unknown:
      return .unknown(method, params: params)
    case .login, .anonymousLogin, .aiConversation, .echo, .gatewayState, .ping, .invite, .ringingAck, .answer,
      .bye, .info, .modify, .attach, .attachCalls, .candidate, .endOfCandidates, .disablePushNotification,
      .broadcast, .subscribe, .unsubscribe:
      break
    }
    var reader = try Self.reader(params)
    switch method {
    case .login: return .login(try LoginRequest(reading: &reader))
    case .anonymousLogin: return .anonymousLogin(try AnonymousLoginRequest(reading: &reader))
    case .gatewayState: return .gatewayState(reader.rest)
    case .ping: return .ping(reader.rest)
    case .invite: return .invite(try ClientDescription(reading: &reader))
    case .answer: return .answer(try ClientDescription(reading: &reader))
    case .attach: return .attach(try ClientDescription(reading: &reader))
    case .ringingAck: return .ringingAck(try CallReference(reading: &reader))
    case .bye: return .bye(try ByeMessage(reading: &reader))
    case .info: return .info(try InfoMessage(reading: &reader))
    case .modify: return .modify(try ModifyRequest(reading: &reader))
    case .candidate: return .candidate(try CandidateMessage(reading: &reader))
    case .endOfCandidates: return .endOfCandidates(try CallReference(reading: &reader))
    case .attachCalls: return .attachCalls(try AttachCallsRequest(reading: &reader))
    case .disablePushNotification: return .disablePush(try DisablePushRequest(reading: &reader))
    case .aiConversation: return .aiConversation(try AIConversation(reading: &reader))
    case .echo: return .echo(reader.rest)
    case .subscribe: return .subscribe(reader.rest)
    case .unsubscribe: return .unsubscribe(reader.rest)
    case .broadcast: return .broadcast(reader.rest)
    case .ringing, .media, .punt, .clientReady, .pong, .display, .event, .unknown:
      return .unknown(method, params: params)
    }
  }

  public var params: JSON {
    switch self {
    case .login(let message): .object(message.params)
    case .anonymousLogin(let message): .object(message.params)
    case .invite(let message), .answer(let message), .attach(let message): .object(message.params)
    case .ringingAck(let message): .object(message.ringingAckParams)
    case .bye(let message): .object(message.params(by: .client))
    case .info(let message): .object(message.params(by: .client))
    case .modify(let message): .object(message.params(by: .client))
    case .candidate(let message): .object(message.params(by: .client))
    case .endOfCandidates(let message): .object(message.endOfCandidatesParams(by: .client))
    case .attachCalls(let message): .object(message.params)
    case .disablePush(let message): .object(message.params)
    case .aiConversation(let message): .object(message.params)
    case .gatewayState(let object), .ping(let object), .echo(let object), .subscribe(let object),
      .unsubscribe(let object), .broadcast(let object):
      .object(object)
    case .unknown(_, let params): params
    }
  }
}

/// What a server tells or asks a client (telnyx.md section 2.2, S→C).
public enum ServerRequest: SignalingRequest {
  case clientReady(ClientReady)
  /// The state of the gateway without having been asked.
  case gatewayState(GatewayStateReport)
  case ping(JSONObject = JSONObject())
  case pong(JSONObject = JSONObject())
  case invite(ServerCallMessage)
  case ringing(ServerCallMessage)
  case media(ServerCallMessage)
  case answer(ServerCallMessage)
  case attach(ServerCallMessage)
  case bye(ByeMessage)
  case info(InfoMessage)
  case modify(ModifyRequest)
  case candidate(CandidateMessage)
  case endOfCandidates(CallReference)
  /// "Leave": another connection took the session.
  case punt(JSONObject = JSONObject())
  /// Who is on the other side, from Verto gateways.
  case display(ServerCallMessage)
  case event(JSONObject)
  case aiConversation(AIConversation)
  /// A method that is not a server's, or not known.
  case unknown(SignalingMethod, params: JSON)

  public var method: SignalingMethod {
    switch self {
    case .clientReady: .clientReady
    case .gatewayState: .gatewayState
    case .ping: .ping
    case .pong: .pong
    case .invite: .invite
    case .ringing: .ringing
    case .media: .media
    case .answer: .answer
    case .attach: .attach
    case .bye: .bye
    case .info: .info
    case .modify: .modify
    case .candidate: .candidate
    case .endOfCandidates: .endOfCandidates
    case .punt: .punt
    case .display: .display
    case .event: .event
    case .aiConversation: .aiConversation
    case .unknown(let method, _): method
    }
  }

  public var callID: CallID? {
    switch self {
    case .invite(let message), .ringing(let message), .media(let message), .answer(let message),
      .attach(let message), .display(let message):
      message.callID
    case .bye(let message): message.callID
    case .info(let message): message.callID
    case .modify(let message): message.callID
    case .candidate(let message): message.callID
    case .endOfCandidates(let message): message.callID
    case .clientReady, .gatewayState, .ping, .pong, .punt, .event, .aiConversation, .unknown: nil
    }
  }

  public static func read(_ method: SignalingMethod, params: JSON) throws(FrameError) -> ServerRequest {
    switch method {
    case .login, .anonymousLogin, .echo, .ringingAck, .attachCalls, .disablePushNotification, .broadcast,
      .subscribe, .unsubscribe, .unknown:
      return .unknown(method, params: params)
    case .aiConversation, .clientReady, .gatewayState, .ping, .pong, .invite, .ringing, .media, .answer, .bye,
      .info, .modify, .attach, .punt, .candidate, .endOfCandidates, .display, .event:
      break
    }
    var reader = try Self.reader(params)
    switch method {
    case .clientReady: return .clientReady(try ClientReady(reading: &reader))
    case .gatewayState: return .gatewayState(try GatewayStateReport(reading: &reader))
    case .ping: return .ping(reader.rest)
    case .pong: return .pong(reader.rest)
    case .invite: return .invite(try ServerCallMessage(reading: &reader, needsSDP: true))
    case .ringing: return .ringing(try ServerCallMessage(reading: &reader, needsSDP: false))
    case .media: return .media(try ServerCallMessage(reading: &reader, needsSDP: true))
    case .answer: return .answer(try ServerCallMessage(reading: &reader, needsSDP: false))
    case .attach: return .attach(try ServerCallMessage(reading: &reader, needsSDP: true))
    case .display: return .display(try ServerCallMessage(reading: &reader, needsSDP: false))
    case .bye: return .bye(try ByeMessage(reading: &reader))
    case .info: return .info(try InfoMessage(reading: &reader))
    case .modify: return .modify(try ModifyRequest(reading: &reader))
    case .candidate: return .candidate(try CandidateMessage(reading: &reader))
    case .endOfCandidates: return .endOfCandidates(try CallReference(reading: &reader))
    case .punt: return .punt(reader.rest)
    case .event: return .event(reader.rest)
    case .aiConversation: return .aiConversation(try AIConversation(reading: &reader))
    case .login, .anonymousLogin, .echo, .ringingAck, .attachCalls, .disablePushNotification, .broadcast,
      .subscribe, .unsubscribe, .unknown:
      return .unknown(method, params: params)
    }
  }

  public var params: JSON {
    switch self {
    case .clientReady(let message): .object(message.params)
    case .gatewayState(let message): .object(message.params)
    case .invite(let message), .ringing(let message), .media(let message), .answer(let message),
      .attach(let message), .display(let message):
      .object(message.params)
    case .bye(let message): .object(message.params(by: .server))
    case .info(let message): .object(message.params(by: .server))
    case .modify(let message): .object(message.params(by: .server))
    case .candidate(let message): .object(message.params(by: .server))
    case .endOfCandidates(let message): .object(message.endOfCandidatesParams(by: .server))
    case .aiConversation(let message): .object(message.params)
    case .ping(let object), .pong(let object), .punt(let object), .event(let object): .object(object)
    case .unknown(_, let params): params
    }
  }

  /// Whether clients confirm the request with ``SignalingCodec/acknowledge(_:id:)`` (telnyx.md section 2.2, "ack by
  /// JS").
  ///
  /// `clientReady` and `gatewayState` are not confirmed; a ping is answered by a ping.
  public var isAcknowledged: Bool {
    switch self {
    case .invite, .ringing, .media, .answer, .attach, .bye, .info, .modify, .candidate, .endOfCandidates,
      .punt, .display:
      true
    case .clientReady, .gatewayState, .ping, .pong, .event, .aiConversation, .unknown: false
    }
  }
}
