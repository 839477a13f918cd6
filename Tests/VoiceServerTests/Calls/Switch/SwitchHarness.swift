import CallSignaling
import VoiceCore
import VoiceTesting

@testable import VoiceServer

/// Steps a switch and says what each client saw.
struct SwitchHarness {
  var machine: CallSwitch
  var now = VoiceInstant()
  private(set) var records: [CallRecord] = []
  private(set) var media: [(MediaID, MediaCommand)] = []
  private(set) var asked: [(ConnectionID, Int)] = []
  /// The numbers of the changes that media of services were asked for.
  var renegotiations: [Int] {
    self.media.compactMap { if case .renegotiate(_, let question) = $0.1 { question } else { nil } }
  }
  private var sockets = 0
  private var requests = 0

  static let offer = SDP("v=0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=setup:actpass\r\n")
  static let answer = SDP("v=0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=setup:active\r\n")

  init(
    _ configuration: CallSwitch.Configuration = .init(), numbers: [String: String] = [:],
    users: Set<String> = ["alice", "bob", "carol"], seed: UInt64 = 1
  ) {
    self.machine = CallSwitch(
      configuration: configuration, plan: DialPlan(numbers: numbers, users: users),
      generator: SeededGenerator(seed: seed))
  }

  /// One client on one socket.
  struct Client: Hashable {
    let connection: ConnectionID
    let key: SessionKey
  }

  /// What a client saw, in short.
  enum Seen: Hashable {
    case result(String)
    case refused(RPCErrorCode, String)
    case ready([CallID])
    case invited(CallID, SDP)
    case ringing(CallID)
    case media(CallID, SDP)
    case answered(CallID, SDP?)
    case attach(CallID, SDP)
    case bye(CallID, cause: String, sip: Int?)
    case info(String)
    case modify(ModifyAction, SDP?)
    case candidate(String)
    case endOfCandidates
    case punt
    case closed(CallSwitch.CloseReason)
    case other(String)
  }

  mutating func step(_ event: CallSwitch.Event) -> [CallSwitch.Action] {
    let actions = self.machine.handle(event, at: self.now)
    for action in actions {
      switch action {
      case .record(let record): self.records.append(record)
      case .tellMedia(let id, let command): self.media.append((id, command))
      case .ask(let connection, _, let number): self.asked.append((connection, number))
      case .registered, .reply, .send, .close: break
      }
    }
    return actions
  }

  /// Steps, and says what a client saw.
  mutating func seen(_ event: CallSwitch.Event, by client: Client) -> [Seen] {
    Self.seen(self.step(event), by: client)
  }

  mutating func logIn(_ user: String, session: String, isAnonymous: Bool = false) -> (Client, [Seen]) {
    self.sockets += 1
    let client = Client(
      connection: ConnectionID(number: self.sockets), key: SessionKey(user: user, sessionID: session))
    let actions = self.step(
      .loggedIn(client.connection, client.key, request: .integer(0), isAnonymous: isAnonymous))
    return (client, Self.seen(actions, by: client))
  }

  mutating func request(_ client: Client, _ request: ClientRequest) -> [CallSwitch.Action] {
    self.requests += 1
    return self.step(.requested(client.connection, request, id: .integer(self.requests)))
  }

  mutating func invite(
    _ client: Client, _ callID: String, to destination: String?, sdp: SDP = SwitchHarness.offer
  ) -> [CallSwitch.Action] {
    var dialog = DialogParams(callID: CallID(callID))
    dialog.destinationNumber = destination
    dialog.callerIDName = "Somebody"
    dialog.callerIDNumber = "100"
    dialog.customHeaders = [CustomHeader(name: "X-T", value: "1")]
    return self.request(client, .invite(ClientDescription(sdp: sdp, dialog: dialog)))
  }

  mutating func answer(
    _ client: Client, _ callID: CallID, sdp: SDP = SwitchHarness.answer
  ) -> [CallSwitch.Action] {
    self.request(client, .answer(ClientDescription(sdp: sdp, dialog: DialogParams(callID: callID))))
  }

  mutating func bye(_ client: Client, _ callID: CallID, _ cause: HangupCause?) -> [CallSwitch.Action] {
    self.request(client, .bye(ByeMessage(callID: callID, cause: cause)))
  }

  mutating func pass(_ time: Duration) -> [CallSwitch.Action] {
    self.now = self.now.advanced(by: time)
    return self.step(.timePassed)
  }

  /// Two clients in an answered call: their ids of it.
  mutating func connect(_ caller: Client, _ callee: Client, to user: String) -> (CallID, CallID) {
    let rung = Self.seen(self.invite(caller, "call", to: user), by: callee)
    guard case .invited(let id, _)? = rung.first else { return (CallID("call"), CallID("none")) }
    _ = self.answer(callee, id)
    return (CallID("call"), id)
  }

  static func seen(_ actions: [CallSwitch.Action], by client: Client) -> [Seen] {
    actions.compactMap { action in
      switch action {
      case .reply(client.connection, _, .success(let result)): .result(Self.text(result))
      case .reply(client.connection, _, .failure(let error)): .refused(error.code, error.message)
      case .send(client.connection, let request), .ask(client.connection, let request, _): Self.seen(request)
      case .close(client.connection, let reason): .closed(reason)
      case .registered, .reply, .send, .ask, .close, .tellMedia, .record: nil
      }
    }
  }

  private static func text(_ result: ServerResult) -> String {
    switch result {
    case .login(let login): login.message
    case .call(let call): call.message
    case .bye(let bye): bye.message
    case .modify(let modify): "\(modify.action?.text ?? "") \(modify.holdState?.rawValue ?? "sdp")"
    case .other(let json): json["message"]?.stringValue ?? json.text
    case .gatewayState(let report, _): report.state.text
    }
  }

  private static func seen(_ request: ServerRequest) -> Seen {
    switch request {
    case .clientReady(let ready): .ready(ready.reattachedSessions ?? [])
    case .invite(let message): .invited(message.callID, message.sdp ?? "")
    case .ringing(let message): .ringing(message.callID)
    case .media(let message): .media(message.callID, message.sdp ?? "")
    case .answer(let message): .answered(message.callID, message.sdp)
    case .attach(let message): .attach(message.callID, message.sdp ?? "")
    case .bye(let bye): .bye(bye.callID, cause: bye.cause ?? "", sip: bye.sipCode)
    case .info(let info): .info(info.dtmf ?? info.chat?.body ?? "")
    case .modify(let modify): .modify(modify.action, modify.sdp)
    case .candidate(let candidate): .candidate(candidate.candidate)
    case .endOfCandidates: .endOfCandidates
    case .punt: .punt
    case .gatewayState, .ping, .pong, .display, .event, .aiConversation, .unknown: .other("\(request)")
    }
  }
}
