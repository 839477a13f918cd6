import CallSignaling

/// One frame of each kind in the form in which this module writes it: shapes of telnyx.md section 2.2, texts of our own.
enum GoldenFrames {
  static let call = #""6f3c1a2e-0d4b-4c1f-9a57-1d2e3f405162""#
  static let session = #""b1c2d3e4-f506-4718-8a9b-acbdcedfe0f1""#

  /// By name; `C` and `c` of a client's requests in the Telnyx dialect.
  static let client: [(name: String, text: String)] = [
    (
      "login with a password",
      #"{"jsonrpc":"2.0","id":"1","method":"login","params":{"login":"alice","passwd":"pw","sessid":\#(session),"User-Agent":"swift-voice","from_push":false,"reconnection":true,"loginParams":{"attach_call":"true"},"userVariables":{"push_device_token":"t","push_notification_provider":"ios"}}}"#
    ),
    (
      "login with a token",
      #"{"jsonrpc":"2.0","id":"2","method":"login","params":{"login_token":"a.b.c","User-Agent":{"sdkVersion":"1","data":"x"},"loginParams":{},"userVariables":{}}}"#
    ),
    (
      "anonymous login",
      #"{"jsonrpc":"2.0","id":"3","method":"anonymous_login","params":{"target_type":"ai_assistant","target_id":"assistant-1","target_version_id":"v2","target_params":{"conversation_id":"c"},"reconnection":false,"sessid":\#(session),"User-Agent":{"sdkVersion":"1","data":"x"},"userVariables":{}}}"#
    ),
    (
      "gateway state",
      #"{"jsonrpc":"2.0","id":"4","method":"telnyx_rtc.gatewayState","params":{},"voice_sdk_id":"VSDK1"}"#
    ),
    ("ping", #"{"jsonrpc":"2.0","id":"5","method":"telnyx_rtc.ping","params":{},"voice_sdk_id":"VSDK1"}"#),
    (
      "invite",
      #"{"jsonrpc":"2.0","id":"6","method":"telnyx_rtc.invite","params":{"sessid":\#(session),"sdp":"v=0\r\n","trickle":true,"dialogParams":{"callID":\#(call),"destination_number":"bob","remote_caller_id_name":"Outbound Call","remote_caller_id_number":"bob","caller_id_name":"Alice","caller_id_number":"1001","audio":true,"video":false,"useStereo":false,"attach":false,"screenShare":false,"trickleIce":true,"clientState":"c3RhdGU=","custom_headers":[{"name":"X-T","value":"1"}],"preferred_codecs":[{"mimeType":"audio/opus","clockRate":48000,"channels":2,"sdpFmtpLine":"useinbandfec=1"},{"mimeType":"audio/PCMU","clockRate":8000}],"userVariables":{"a":1},"iceServers":[]},"User-Agent":"swift-voice"}}"#
    ),
    (
      "answer",
      #"{"jsonrpc":"2.0","id":"7","method":"telnyx_rtc.answer","params":{"sessid":\#(session),"sdp":"v=0\r\n","dialogParams":{"callID":\#(call),"destination_number":"bob","remote_caller_id_number":"1001","audio":true,"attach":false},"answered_device_token":"d"}}"#
    ),
    (
      "attach",
      #"{"jsonrpc":"2.0","id":"8","method":"telnyx_rtc.attach","params":{"sessid":\#(session),"sdp":"v=0\r\n","dialogParams":{"callID":\#(call),"attach":true}}}"#
    ),
    (
      "ringing ack",
      #"{"jsonrpc":"2.0","id":"9","method":"telnyx_rtc.ringing_ack","params":{"callID":\#(call),"sessid":\#(session)}}"#
    ),
    (
      "bye",
      #"{"jsonrpc":"2.0","id":"10","method":"telnyx_rtc.bye","params":{"sessid":\#(session),"cause":"USER_BUSY","causeCode":17,"sipCode":486,"sipReason":"Busy Here","dialogParams":{"callID":\#(call)}}}"#
    ),
    (
      "tones",
      #"{"jsonrpc":"2.0","id":"11","method":"telnyx_rtc.info","params":{"sessid":\#(session),"dtmf":"5#","dialogParams":{"callID":\#(call)}}}"#
    ),
    (
      "chat",
      #"{"jsonrpc":"2.0","id":"12","method":"telnyx_rtc.info","params":{"sessid":\#(session),"msg":{"from":"a","to":"b","body":"hello"}}}"#
    ),
    (
      "hold",
      #"{"jsonrpc":"2.0","id":"13","method":"telnyx_rtc.modify","params":{"sessid":\#(session),"action":"hold","dialogParams":{"callID":\#(call)}}}"#
    ),
    (
      "unhold",
      #"{"jsonrpc":"2.0","id":"14","method":"telnyx_rtc.modify","params":{"sessid":\#(session),"action":"unhold","dialogParams":{"callID":\#(call)}}}"#
    ),
    (
      "toggle hold",
      #"{"jsonrpc":"2.0","id":"15","method":"telnyx_rtc.modify","params":{"sessid":\#(session),"action":"toggleHold","dialogParams":{"callID":\#(call)}}}"#
    ),
    (
      "update media",
      #"{"jsonrpc":"2.0","id":"16","method":"telnyx_rtc.modify","params":{"sessid":\#(session),"action":"updateMedia","callID":\#(call),"sdp":"v=0\r\n","trickle":true,"dialogParams":{"callID":\#(call)}}}"#
    ),
    (
      "transfer",
      #"{"jsonrpc":"2.0","id":"17","method":"telnyx_rtc.modify","params":{"sessid":\#(session),"action":"transfer","destination":"carol","dialogParams":{"callID":\#(call)}}}"#
    ),
    (
      "replace",
      #"{"jsonrpc":"2.0","id":"18","method":"telnyx_rtc.modify","params":{"sessid":\#(session),"action":"replace","replaceCallID":"other","dialogParams":{"callID":\#(call)}}}"#
    ),
    (
      "candidate",
      #"{"jsonrpc":"2.0","id":"19","method":"telnyx_rtc.candidate","params":{"sessid":\#(session),"candidate":"candidate:1 1 udp 2122194687 192.0.2.2 52222 typ host","sdpMid":"0","sdpMLineIndex":0,"dialogParams":{"callID":\#(call)}}}"#
    ),
    (
      "end of candidates",
      #"{"jsonrpc":"2.0","id":"20","method":"telnyx_rtc.endOfCandidates","params":{"sessid":\#(session),"endOfCandidates":true,"dialogParams":{"callID":\#(call)}}}"#
    ),
    (
      "attach calls",
      #"{"jsonrpc":"2.0","id":"21","method":"telnyx_rtc.attachCalls","params":{"push_notification_provider":"ios","loginParams":{},"userVariables":{"push_notification_environment":"production"}}}"#
    ),
    (
      "disable push",
      #"{"jsonrpc":"2.0","id":"22","method":"telnyx_rtc.disable_push_notification","params":{"user":"alice","User-Agent":{"push_device_token":"t","push_notification_provider":"ios"}}}"#
    ),
    (
      "message to an assistant",
      #"{"jsonrpc":"2.0","id":"23","method":"ai_conversation","params":{"type":"conversation.item.create","previous_item_id":null,"item":{"id":"i","type":"message","role":"user","content":[{"type":"input_text","text":"hi"},{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,AA=="}}]}}}"#
    ),
    (
      "answer of a tool",
      #"{"jsonrpc":"2.0","method":"ai_conversation","params":{"type":"conversation.item.create","item":{"type":"function_call_output","call_id":"f","output":"42"}}}"#
    ),
    ("echo", #"{"jsonrpc":"2.0","id":"24","method":"echo","params":{"x":[1,2]}}"#),
    (
      "subscribe",
      #"{"jsonrpc":"2.0","id":"25","method":"telnyx_rtc.subscribe","params":{"eventChannel":"e"}}"#
    ),
    (
      "unsubscribe",
      #"{"jsonrpc":"2.0","id":"26","method":"telnyx_rtc.unsubscribe","params":{"eventChannel":"e"}}"#
    ),
    (
      "broadcast",
      #"{"jsonrpc":"2.0","id":"27","method":"telnyx_rtc.broadcast","params":{"eventChannel":"e"}}"#
    ),
  ]

  static let server: [(name: String, text: String)] = [
    (
      "client ready",
      #"{"jsonrpc":"2.0","id":138417,"method":"telnyx_rtc.clientReady","params":{"reattached_sessions":[\#(call)]},"voice_sdk_id":"VSDK1"}"#
    ),
    (
      "gateway state, unasked",
      #"{"jsonrpc":"2.0","id":20342,"method":"telnyx_rtc.gatewayState","params":{"state":"EXPIRED"}}"#
    ),
    ("ping", #"{"jsonrpc":"2.0","id":123,"method":"telnyx_rtc.ping","params":{}}"#),
    ("pong", #"{"jsonrpc":"2.0","id":124,"method":"telnyx_rtc.pong","params":{}}"#),
    (
      "invite",
      #"{"jsonrpc":"2.0","id":4402,"method":"telnyx_rtc.invite","params":{"callID":\#(call),"sdp":"v=0\r\n","caller_id_name":"Alice","caller_id_number":"1001","callee_id_name":"Bob","callee_id_number":"bob","display_direction":"outbound","dialogParams":{"custom_headers":[{"name":"X-A","value":"1"}]},"telnyx_session_id":"s","telnyx_leg_id":"l","telnyx_call_control_id":"v3:c","client_state":"c3RhdGU="}}"#
    ),
    (
      "ringing",
      #"{"jsonrpc":"2.0","id":254271,"method":"telnyx_rtc.ringing","params":{"callID":\#(call),"caller_id_name":"a","caller_id_number":"1","callee_id_name":"Outbound Call","callee_id_number":"2","display_direction":"inbound","dialogParams":{"custom_headers":[]},"telnyx_session_id":"s","telnyx_leg_id":"l"}}"#
    ),
    (
      "media",
      #"{"jsonrpc":"2.0","id":254274,"method":"telnyx_rtc.media","params":{"callID":\#(call),"sdp":"v=0\r\n","dialogParams":{"custom_headers":[]},"variables":{"v":"1"}}}"#
    ),
    (
      "answer with a description",
      #"{"jsonrpc":"2.0","id":254275,"method":"telnyx_rtc.answer","params":{"callID":\#(call),"sdp":"v=0\r\n","dialogParams":{"custom_headers":[]},"telnyx_call_control_id":"v3:c"}}"#
    ),
    (
      "answer without a description",
      #"{"jsonrpc":"2.0","id":254276,"method":"telnyx_rtc.answer","params":{"callID":\#(call),"dialogParams":{"custom_headers":[]}}}"#
    ),
    (
      "attach",
      #"{"jsonrpc":"2.0","id":3546946,"method":"telnyx_rtc.attach","params":{"callID":\#(call),"sdp":"v=0\r\n","display_direction":"outbound","dialogParams":{"custom_headers":[]}}}"#
    ),
    (
      "bye",
      #"{"jsonrpc":"2.0","id":9,"method":"telnyx_rtc.bye","params":{"callID":\#(call),"cause":"CALL_REJECTED","causeCode":21,"sipCode":403,"sipReason":"Dialed number is not included in whitelisted countries","sip_call_id":"sip","client_state":"c3RhdGU="}}"#
    ),
    (
      "bye with the call alone",
      #"{"jsonrpc":"2.0","id":9,"method":"telnyx_rtc.bye","params":{"callID":\#(call)}}"#
    ),
    (
      "tones",
      #"{"jsonrpc":"2.0","id":10,"method":"telnyx_rtc.info","params":{"callID":\#(call),"dtmf":"1"}}"#
    ),
    (
      "modify",
      #"{"jsonrpc":"2.0","id":10,"method":"telnyx_rtc.modify","params":{"callID":\#(call),"action":"hold"}}"#
    ),
    (
      "candidate",
      #"{"jsonrpc":"2.0","id":11,"method":"telnyx_rtc.candidate","params":{"callID":\#(call),"candidate":"candidate:1 1 udp 1 192.0.2.2 5 typ host","sdpMid":"0","sdpMLineIndex":0}}"#
    ),
    (
      "end of candidates",
      #"{"jsonrpc":"2.0","id":12,"method":"telnyx_rtc.endOfCandidates","params":{"callID":\#(call),"endOfCandidates":true}}"#
    ),
    ("punt", #"{"jsonrpc":"2.0","id":38,"method":"telnyx_rtc.punt","params":{}}"#),
    (
      "display",
      #"{"jsonrpc":"2.0","id":13,"method":"telnyx_rtc.display","params":{"callID":\#(call),"caller_id_name":"Bob","dialogParams":{"custom_headers":[]},"display_name":"Bob"}}"#
    ),
    (
      "event",
      #"{"jsonrpc":"2.0","id":14,"method":"telnyx_rtc.event","params":{"eventChannel":"e","data":[1]}}"#
    ),
    (
      "text of an assistant",
      #"{"jsonrpc":"2.0","method":"ai_conversation","params":{"type":"response.text.delta","delta":"He","item_id":"i","response_id":"r"}}"#
    ),
  ]

  /// Answers of a server, with the method that was asked.
  static let results: [(method: SignalingMethod, text: String)] = [
    (
      .login,
      #"{"jsonrpc":"2.0","id":"1","result":{"message":"logged in","sessid":\#(session)},"voice_sdk_id":"VSDK1"}"#
    ),
    (
      .gatewayState,
      #"{"jsonrpc":"2.0","id":"4","result":{"params":{"state":"REGED","call_report_id":"r","dc":"d","region":"eu"},"sessid":\#(session)}}"#
    ),
    (
      .invite,
      #"{"jsonrpc":"2.0","id":"6","result":{"callID":\#(call),"message":"CALL CREATED","sessid":\#(session)}}"#
    ),
    (
      .answer,
      #"{"jsonrpc":"2.0","id":"7","result":{"callID":\#(call),"message":"CALL ANSWERED","sessid":\#(session)}}"#
    ),
    (
      .attach,
      #"{"jsonrpc":"2.0","id":"8","result":{"callID":\#(call),"message":"CALL ATTACHED","sessid":\#(session)}}"#
    ),
    (
      .bye,
      #"{"jsonrpc":"2.0","id":"10","result":{"callID":\#(call),"message":"CALL ENDED","causeCode":16,"cause":"NORMAL_CLEARING"}}"#
    ),
    (.info, #"{"jsonrpc":"2.0","id":"11","result":{"message":"SENT"}}"#),
    (
      .modify,
      #"{"jsonrpc":"2.0","id":"13","result":{"callID":\#(call),"action":"hold","holdState":"held","sessid":\#(session)}}"#
    ),
    (
      .modify,
      #"{"jsonrpc":"2.0","id":"16","result":{"callID":\#(call),"action":"updateMedia","sdp":"v=0\r\n","sessid":\#(session)}}"#
    ),
    (.ping, #"{"jsonrpc":"2.0","id":"5","result":{"message":"pong"}}"#),
    (.disablePushNotification, #"{"jsonrpc":"2.0","id":"22","result":{"message":"success"}}"#),
  ]
}
