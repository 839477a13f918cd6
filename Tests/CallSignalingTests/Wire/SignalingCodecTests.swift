import CallSignaling
import Testing

@Suite struct SignalingCodecTests {
  static let codec = SignalingCodec()

  static func clientFrame(_ text: String) throws(FrameError) -> Frame<ClientRequest> {
    try codec.decode(ClientRequest.self, from: Array(text.utf8))
  }

  static func serverFrame(_ text: String) throws(FrameError) -> Frame<ServerRequest> {
    try codec.decode(ServerRequest.self, from: Array(text.utf8))
  }

  static func clientError(_ text: String) -> FrameError? {
    do {
      _ = try self.clientFrame(text)
      return nil
    } catch {
      return error
    }
  }

  // MARK: Bad input

  @Test(arguments: [
    ("", "Parse error"), ("{", "Parse error"), ("<html></html>", "Parse error"),
    ("[]", "Batches are not supported"),
    ("1", "Invalid Request"), ("{}", "Invalid Request"), (#"{"jsonrpc":"2.0","id":1}"#, "Invalid Request"),
    (#"{"method":5.5e1,"params":[]}"#, "$.params"), (#"{"method":null,"id":1}"#, "Invalid Request"),
    (#"{"method":{},"id":1}"#, "Invalid Request"), (#"{"method":"login","id":{}}"#, "Invalid Request"),
    (#"{"id":1,"method":"telnyx_rtc.bye","params":{}}"#, "CallID missing"),
    (#"{"id":1,"method":"telnyx_rtc.invite","params":{"sdp":"v=0"}}"#, "Dialog data missing"),
    (#"{"id":1,"method":"telnyx_rtc.invite","params":{"dialogParams":{"callID":"x"}}}"#, "SDP missing"),
    (
      #"{"id":1,"method":"telnyx_rtc.invite","params":{"sdp":"","dialogParams":{"callID":"x"}}}"#,
      "SDP missing"
    ),
    (#"{"id":1,"method":"telnyx_rtc.invite","params":{"sdp":"v","dialogParams":{}}}"#, "CallID missing"),
    (
      #"{"id":1,"method":"telnyx_rtc.modify","params":{"dialogParams":{"callID":"x"},"action":"updateMedia"}}"#,
      "SDP missing"
    ),
  ])
  func badFramesHaveAnAnswerOfTheProtocol(text: String, answer: String) {
    let error = Self.clientError(text)
    if answer.hasPrefix("$") {
      #expect(error == nil, "an unknown method has any parameters: \(text)")
    } else {
      #expect(error?.response.message == answer, "\(text)")
    }
  }

  @Test(arguments: [
    (#"{"id":7,"method":"login","params":{"passwd":"x"}}"#, "$.params.login"),
    (#"{"id":7,"method":"login","params":{"login":"x"}}"#, "$.params.passwd"),
    (#"{"id":7,"method":"login","params":{"login":[],"passwd":"x"}}"#, "$.params.login"),
    (
      #"{"id":7,"method":"login","params":{"login":"x","passwd":"x","loginParams":"y"}}"#,
      "$.params.loginParams"
    ),
    (#"{"id":7,"method":"login","params":[1]}"#, "$.params"),
    (
      #"{"id":7,"method":"telnyx_rtc.invite","params":{"sdp":"v","dialogParams":{"callID":"x","custom_headers":[{"name":"a"},{"value":"b"}]}}}"#,
      "$.params.dialogParams.custom_headers[1].name"
    ),
    (
      #"{"id":7,"method":"telnyx_rtc.invite","params":{"sdp":"v","dialogParams":{"callID":"x","preferred_codecs":[{"mimeType":"a","clockRate":"x"}]}}}"#,
      "$.params.dialogParams.preferred_codecs[0].clockRate"
    ),
    (
      #"{"id":7,"method":"telnyx_rtc.bye","params":{"dialogParams":{"callID":{}}}}"#,
      "$.params.dialogParams.callID"
    ),
    (
      #"{"id":7,"method":"telnyx_rtc.bye","params":{"dialogParams":{"callID":""}}}"#,
      "$.params.dialogParams.callID"
    ),
    (#"{"id":7,"method":"telnyx_rtc.bye","params":{"callID":"x","causeCode":1.5}}"#, "$.params.causeCode"),
    (#"{"id":7,"method":"telnyx_rtc.bye","params":{"callID":"x","sipCode":"abc"}}"#, "$.params.sipCode"),
    (#"{"id":7,"method":"telnyx_rtc.info","params":{"callID":"x","msg":{"from":"a"}}}"#, "$.params.msg.body"),
    (#"{"id":7,"method":"telnyx_rtc.modify","params":{"callID":"x"}}"#, "$.params.action"),
    (
      #"{"id":7,"method":"telnyx_rtc.candidate","params":{"callID":"x","sdpMLineIndex":0}}"#,
      "$.params.candidate"
    ),
    (#"{"id":7,"method":"telnyx_rtc.ping","params":"x"}"#, "$.params"),
    (#"{"id":7,"method":"telnyx_rtc.ping","voice_sdk_id":[]}"#, "$.voice_sdk_id"),
    (#"{"id":7,"error":5}"#, "$.error"),
  ])
  func anErrorSaysWhereAndWhichRequest(text: String, path: String) {
    let error = Self.clientError(text)
    #expect(error?.path.description == path)
    #expect(error?.id == .integer(7))
  }

  @Test func anErrorDoesNotRepeatWhatTheFrameSaid() {
    let error = Self.clientError(#"{"id":7,"method":"login","params":{"login":"u","passwd":["hunter2"]}}"#)
    #expect(error != nil)
    #expect(error.map { "\($0)".contains("hunter2") } == false)
    #expect(error.map { $0.response.message.contains("hunter2") } == false)
  }

  @Test func aLongCallIDIsRefused() {
    let text = String(repeating: "x", count: 257)
    #expect(Self.clientError(#"{"id":7,"method":"telnyx_rtc.bye","params":{"callID":"\#(text)"}}"#) != nil)
    #expect(
      Self.clientError(#"{"id":7,"method":"telnyx_rtc.bye","params":{"callID":"\#(text.dropLast())"}}"#)
        == nil)
  }

  /// Servers keep candidates for clients that have no socket: without a limit each could be as long as a frame.
  @Test(arguments: ["candidate", "sdpMid"]) func aLongCandidateIsRefused(_ member: String) {
    func error(_ length: Int) -> FrameError? {
      let other = member == "candidate" ? "" : #""candidate":"","#
      let text = String(repeating: "x", count: length)
      return Self.clientError(
        #"{"id":7,"method":"telnyx_rtc.candidate","params":{"callID":"x",\#(other)"\#(member)":"\#(text)"}}"#)
    }
    let limit = member == "candidate" ? CandidateMessage.longestCandidate : 256
    #expect(error(limit) == nil)
    #expect(error(limit + 1)?.path.description == "$.params.\(member)")
    #expect(error(limit + 1)?.response.code == .invalidParams)
  }

  // MARK: Golden frames

  @Test(arguments: GoldenFrames.client.map(\.text)) func requestsOfAClientAreReadAndWrittenToTheSame(
    text: String
  ) throws {
    let frame = try Self.clientFrame(text)
    guard case .request(let request, let id) = frame.content else {
      Issue.record("not a request")
      return
    }
    if case .unknown(let method, _) = request { Issue.record("\(method) is not known") }
    let written = Self.codec.encode(request, id: id, voiceSDKID: frame.voiceSDKID)
    #expect(String(decoding: written, as: UTF8.self) == text)
    #expect(frame.extra.isEmpty)
    // The same in the other dialect.
    let verto = SignalingCodec(dialect: .verto)
    let other = verto.encode(request, id: id, voiceSDKID: frame.voiceSDKID)
    let again = try Self.codec.decode(ClientRequest.self, from: other)
    #expect(again.content == frame.content)
    #expect(again.dialect == (frame.dialect == nil ? nil : .verto))
  }

  @Test(arguments: GoldenFrames.server.map(\.text)) func requestsOfAServerAreReadAndWrittenToTheSame(
    text: String
  ) throws {
    let frame = try Self.serverFrame(text)
    guard case .request(let request, let id) = frame.content else {
      Issue.record("not a request")
      return
    }
    if case .unknown(let method, _) = request { Issue.record("\(method) is not known") }
    #expect(
      String(decoding: Self.codec.encode(request, id: id, voiceSDKID: frame.voiceSDKID), as: UTF8.self)
        == text)
    let verto = SignalingCodec(dialect: .verto)
    #expect(
      try Self.codec.decode(
        ServerRequest.self, from: verto.encode(request, id: id, voiceSDKID: frame.voiceSDKID)
      )
      .content == frame.content)
  }

  @Test(arguments: GoldenFrames.results.map { ResultCase(method: $0.method, text: $0.text) })
  func resultsAreReadAndWrittenToTheSame(sample: ResultCase) throws {
    let frame = try Self.serverFrame(sample.text)
    guard case .result(let json, let id) = frame.content else {
      Issue.record("not a result")
      return
    }
    let result = try ServerResult.read(json, of: sample.method)
    let written = Self.codec.encode(result, id: id, voiceSDKID: frame.voiceSDKID)
    #expect(String(decoding: written, as: UTF8.self) == sample.text)
  }

  struct ResultCase: Sendable, CustomTestStringConvertible {
    let method: SignalingMethod
    let text: String
    var testDescription: String { self.text }
  }

  @Test func everyMethodHasAGoldenFrame() throws {
    var seen: Set<SignalingMethod> = []
    for frame in GoldenFrames.client {
      if case .request(let request, _) = try Self.clientFrame(frame.text).content {
        seen.insert(request.method)
      }
    }
    for frame in GoldenFrames.server {
      if case .request(let request, _) = try Self.serverFrame(frame.text).content {
        seen.insert(request.method)
      }
    }
    #expect(seen == Set(SignalingMethod.known))
  }

  // MARK: Tolerance

  @Test(arguments: ["sessid", "sessId", "sessionId"]) func theSessionHasThreeSpellings(key: String) throws {
    let text = #"{"id":"1","method":"telnyx_rtc.bye","params":{"\#(key)":"s","dialogParams":{"callID":"x"}}}"#
    guard case .request(.bye(let bye), _) = try Self.clientFrame(text).content else {
      Issue.record("not a bye")
      return
    }
    #expect(bye.sessionID == "s")
    #expect(bye.extra.isEmpty)
    let written = String(decoding: Self.codec.encode(ClientRequest.bye(bye), id: .string("1")), as: UTF8.self)
    #expect(written.contains(#""sessid":"s""#))
  }

  @Test(arguments: ["138417", "1.0e2", "\"x\"", "\"\"", "9007199254740993", "null", "-0"])
  func idsAreEchoedExactly(id: String) throws {
    let frame = try Self.serverFrame(#"{"id":\#(id),"method":"telnyx_rtc.punt","params":{}}"#)
    guard case .request(.punt, let read?) = frame.content else {
      Issue.record("no id")
      return
    }
    let ack = String(decoding: Self.codec.acknowledge(.punt, id: read), as: UTF8.self)
    #expect(ack == #"{"jsonrpc":"2.0","id":\#(id),"result":{"method":"telnyx_rtc.punt"}}"#)
  }

  @Test func aRequestWithoutIDIsANotification() throws {
    guard case .request(.punt, nil) = try Self.serverFrame(#"{"method":"telnyx_rtc.punt"}"#).content else {
      Issue.record("not a notification")
      return
    }
  }

  @Test(arguments: [#"-32001"#, #""-32001""#]) func errorCodesAreNumbersOrText(code: String) throws {
    let text = #"{"jsonrpc":"2.0","id":"1","error":{"code":\#(code),"message":"m","callID":"x","data":[1]}}"#
    guard case .error(let error, .string("1")) = try Self.serverFrame(text).content else {
      Issue.record("not an error")
      return
    }
    #expect(error.code == .authenticationFailed)
    #expect(error.code.hashValue == RPCErrorCode.authenticationFailed.hashValue)
    #expect(error.callID == CallID("x"))
    let written = String(decoding: Self.codec.encode(error, id: .string("1")), as: UTF8.self)
    #expect(written == text, "the code is written as it came")
  }

  @Test func aCodeThatIsNoNumberIsKept() throws {
    let text = #"{"jsonrpc":"2.0","id":"1","error":{"code":"E_NO","message":"m"}}"#
    guard case .error(let error, _) = try Self.serverFrame(text).content else {
      Issue.record("not an error")
      return
    }
    #expect(error.code.value == nil)
    #expect(error.code.description == "E_NO")
  }

  @Test func anErrorMayBeATextOrHaveAResultBesideIt() throws {
    guard case .error(let error, _) = try Self.serverFrame(#"{"id":1,"error":"no","result":null}"#).content
    else {
      Issue.record("not an error")
      return
    }
    #expect(error.message == "no")
    guard case .result(.null, _) = try Self.serverFrame(#"{"id":1,"error":null,"result":null}"#).content
    else {
      Issue.record("not a result")
      return
    }
  }

  @Test func unknownMethodsAndMembersAreSurfaced() throws {
    let frame = try Self.serverFrame(#"{"id":1,"method":"telnyx_rtc.novel","params":[1],"extra":true}"#)
    #expect(frame.content == .request(.unknown(.unknown("telnyx_rtc.novel"), params: [1]), id: .integer(1)))
    #expect(frame.extra["extra"] == true)
    #expect(frame.dialect == .telnyx)
    guard
      case .request(.bye(let bye), _) = try Self.serverFrame(
        #"{"id":1,"method":"verto.bye","params":{"callID":"x","novel":{"a":[null]},"dialogParams":{"b":1}}}"#
      ).content
    else {
      Issue.record("not a bye")
      return
    }
    #expect(bye.extra["novel"] == ["a": [.null]])
    #expect(bye.dialogExtra["b"] == 1)
  }

  @Test func aMethodOfTheOtherEndIsSurfacedNotRead() throws {
    guard
      case .request(.unknown(.ringing, _), _) = try Self.clientFrame(
        #"{"id":1,"method":"telnyx_rtc.ringing","params":{}}"#
      ).content
    else {
      Issue.record("ringing is a server's")
      return
    }
    guard case .request(.unknown(.login, _), _) = try Self.serverFrame(#"{"id":1,"method":"login"}"#).content
    else {
      Issue.record("login is a client's")
      return
    }
  }

  @Test func methodsNeedTheirPrefix() {
    #expect(SignalingMethod.read("invite").method == .unknown("invite"))
    #expect(SignalingMethod.read("verto.invite") == (.invite, .verto))
    #expect(SignalingMethod.read("telnyx_rtc.ai_conversation").method == .aiConversation)
    #expect(SignalingMethod.read("login") == (.login, nil))
    #expect(SignalingMethod.read("").method == .unknown(""))
  }

  @Test func textAndNumbersStandForEachOther() throws {
    let text =
      #"{"id":1,"method":"telnyx_rtc.bye","params":{"callID":42,"causeCode":"17","cause":"USER_BUSY","sipCode":null,"sip_call_id":null}}"#
    guard case .request(.bye(let bye), _) = try Self.serverFrame(text).content else {
      Issue.record("not a bye")
      return
    }
    #expect(bye.callID == CallID("42"))
    #expect(bye.causeCode == 17)
    #expect(bye.sipCode == nil)
    #expect(bye.hangupCause == .userBusy)
  }

  @Test func callIDsAreTheSameInEitherCase() {
    #expect(CallID("ABC-1") == CallID("abc-1"))
    #expect(Set([CallID("ABC-1"), CallID("abc-1")]).count == 1)
    #expect(CallID("ABC-1").text == "ABC-1")
  }

  @Test func nestedResultsAreUnpackedThreeTimes() throws {
    let inner: JSON = ["message": "logged in", "sessid": "s"]
    let nested: JSON = ["code": "200", "result": ["result": ["result": inner]]]
    #expect(try ServerResult.read(nested, of: .login) == .login(LoginResult(sessionID: "s")))
    let deeper: JSON = ["result": ["result": ["result": ["result": inner]]]]
    guard case .login(let result) = try ServerResult.read(deeper, of: .login) else {
      Issue.record("not a login")
      return
    }
    #expect(result.sessionID == nil)
  }

  @Test(arguments: [
    ("REGED", GatewayState.registered), ("reged", .registered), ("FAIL_WAIT", .failWait),
    ("TIMEOUT", .timeout),
    ("DOWN", .down), ("NEW_ONE", .unknown("NEW_ONE")),
  ])
  func gatewayStatesAreReadAndUnknownOnesKept(text: String, state: GatewayState) throws {
    #expect(
      try ServerResult.read(["params": ["state": .string(text)]], of: .gatewayState)
        == .gatewayState(GatewayStateReport(state), sessionID: nil))
  }

  @Test(arguments: [("held", HoldState.held), ("active", .active), ("HELD?", .held)])
  func allButActiveIsHeld(text: String, state: HoldState) throws {
    guard case .modify(let result) = try ServerResult.read(["holdState": .string(text)], of: .modify) else {
      Issue.record("not a modify")
      return
    }
    #expect(result.holdState == state)
  }

  @Test func attachCallIsTextOrTruth() throws {
    for (value, expected) in [
      ("\"true\"", true), ("true", true), ("\"false\"", false), ("1", false), ("null", false),
    ] {
      let text =
        #"{"id":1,"method":"login","params":{"login":"a","passwd":"b","loginParams":{"attach_call":\#(value)}}}"#
      guard case .request(.login(let login), _) = try Self.clientFrame(text).content else {
        Issue.record("not a login")
        return
      }
      #expect(login.attachesCalls == expected)
    }
  }

  // MARK: Messages without method

  @Test func reportsAreRead() throws {
    for kind in DebugReport.Kind.allCases {
      let report = DebugReport(kind, reportID: "r", body: ["debug_report_data": ["x": 1]])
      let frame = try Self.codec.decode(ClientRequest.self, from: Self.codec.encode(report, id: .string("1")))
      #expect(frame.content == .debugReport(report, id: .string("1")))
    }
  }

  @Test(arguments: [
    ("#SPU120", SpeedTest.up(.milliseconds(120))), ("#SPD 7", .down(.milliseconds(7))),
    ("#SPE", .other("#SPE")),
    ("#SPU99999999999999999999", .other("#SPU99999999999999999999")),
  ])
  func speedTestsAreRead(text: String, test: SpeedTest) throws {
    #expect(try Self.serverFrame(text).content == .speedTest(test))
  }

  @Test func aLongSpeedTestIsNoFrame() {
    #expect(Self.clientError("#SP" + String(repeating: "x", count: 300)) != nil)
    #expect(Self.clientError("#SQ") != nil)
  }

  @Test func eventsOfAnAssistantAreTyped() throws {
    let created: JSON = [
      "type": "conversation.item.created",
      "item": [
        "id": "i", "role": "user", "status": "completed", "content": [["transcript": "hel"], "lo", 5],
      ],
    ]
    let frame: JSON = ["method": "telnyx_rtc.ai_conversation", "params": created]
    guard case .request(.aiConversation(let message), nil) = try Self.serverFrame(frame.text).content,
      case .itemCreated(let item) = message.event
    else {
      Issue.record("not an item")
      return
    }
    #expect(item.text == "hello")
    #expect(item.role == "user")
    #expect(AIConversation(type: "response.text.delta").event == .other)
    #expect(
      AIConversation(type: "response.text.delta", body: ["delta": "x"]).event
        == .textDelta("x", itemID: nil, responseID: nil))
    #expect(AIConversation(type: "widget_settings", body: ["a": 1]).event == .widgetSettings(["a": 1]))
  }

  @Test func requestsDescribeThemselvesWithoutTheirContent() throws {
    for text in GoldenFrames.client.map(\.text) {
      guard case .request(let request, _) = try Self.clientFrame(text).content else { continue }
      #expect(!request.description.contains("pw"))
      #expect(!request.description.contains("v=0"))
    }
    let login = LoginRequest(.password(user: "u", password: "hunter2"))
    #expect(!"\(login)".contains("hunter2"))
    #expect(!String(reflecting: login).contains("hunter2"))
  }
}
