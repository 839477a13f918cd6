import CallSignaling
import Calls
import Foundation
import Synchronization
import Testing
import VoiceTesting

/// Uses every documented type and member as an app does (telnyx.md section 1), without `@testable`.
@Suite(.timeLimit(.minutes(4))) struct DocumentedInterfaceTests {
  @Test func aClientIsUsedAsDocumented() async throws {
    let gateway = ScriptedGateway()
    let client = TxClient(media: ScriptedMedia(), transport: gateway.transport, paths: nil)
    let app = App()
    client.delegate = app
    let config = TxConfig(
      sipUser: "alice", password: "secret", pushDeviceToken: "token", ringtone: "a.mp3",
      ringBackTone: "b.mp3",
      pushEnvironment: .production, enableMissedCallNotifications: true, logLevel: .none, customLogger: nil,
      reconnectClient: true, debug: true, forceRelayCandidate: false, enableQualityMetrics: true,
      sendWebRTCStatsViaSocket: false, reconnectTimeOut: TxConfig.DEFAULT_TIMEOUT, useTrickleIce: true,
      enableCallReports: true, callReportInterval: 5.0, callReportLogLevel: "debug",
      callReportMaxLogEntries: 1000,
      pushWhenActive: true)
    try client.connect(
      txConfig: config,
      serverConfiguration: TxServerConfiguration(
        signalingServer: URL(string: "ws://127.0.0.1:1"), webRTCIceServers: [TxIceServer(urls: ["stun:h:1"])],
        environment: .development, pushMetaData: nil, region: .eu))
    await app.reached("ready")
    let call = try client.newCall(
      callerName: "Alice", callerNumber: "1001", destinationNumber: "bob", callId: UUID(),
      clientState: "state",
      customHeaders: ["X-A": "1"], preferredCodecs: client.getSupportedAudioCodecs(), debug: true)
    await app.reached("ACTIVE")
    #expect(client.calls.values.contains { $0 === call })
    #expect(!client.getSessionId().isEmpty)
    call.muteAudio()
    call.unmuteAudio()
    call.hold()
    await app.reached("HELD")
    call.unhold()
    call.toggleHold()
    call.dtmf(dtmf: "1")
    call.hangup()
    await app.reached("DONE")
    client.disconnect()
    await app.reached("disconnected")
    #expect(app.told.withLock { $0.count { $0 == "DONE" } } == 1)
    #expect(app.told.withLock { $0.count { $0 == "plain DONE" } } == 1)
  }

  @Test func errorsAreMatchedAsDocumented() {
    func text(_ error: TxError) -> String {
      switch error {
      case .socketConnectionFailed(let reason):
        switch reason {
        case .socketNotConnected: return "not connected"
        case .socketCancelled(let nativeError): return "cancelled \(nativeError)"
        }
      case .clientConfigurationFailed(let reason):
        switch reason {
        case .userNameIsRequired, .passwordIsRequired, .userNameAndPasswordAreRequired, .tokenIsRequired,
          .voiceSdkIsRequired:
          return "configuration"
        }
      case .callFailed(let reason):
        switch reason {
        case .destinationNumberIsRequired, .sessionIdIsRequired: return "call"
        case .reconnectFailed, .callNotFound, .noMetricsCollected: return "call later"
        }
      case .serverError(let reason):
        switch reason {
        case .signalingServerError(let message, let code): return "\(message) \(code)"
        case .gatewayNotRegistered: return "gateway"
        }
      case .signalingServerError(let causeCode, let message): return "\(causeCode) \(message)"
      }
    }
    #expect(text(.signalingServerError(causeCode: -32000, message: "m")) == "-32000 m")
    #expect(text(.serverError(reason: .signalingServerError(message: "m", code: "c"))) == "m c")
    #expect(text(.serverError(reason: .gatewayNotRegistered)) == "gateway")
    #expect(TxError.callFailed(reason: .callNotFound).localizedDescription == "Call not found")
  }

  @Test func statesAndReasonsAreMatchedAsDocumented() {
    func text(_ state: CallState) -> String {
      switch state {
      case .NEW: "new"
      case .CONNECTING: "connecting"
      case .RINGING: "ringing"
      case .ACTIVE: "active"
      case .HELD: "held"
      case .DONE(let reason):
        "done \(reason?.cause ?? "") \(reason?.causeCode ?? 0) \(reason?.sipCode ?? 0) \(reason?.sipReason ?? "")"
      case .RECONNECTING(let reason): "reconnecting \(reason.rawValue)"
      case .DROPPED(let reason): "dropped \(reason.rawValue)"
      }
    }
    #expect(text(.RECONNECTING(reason: .networkSwitch)) == "reconnecting Network switched")
    #expect(text(.DROPPED(reason: .networkLost)) == "dropped Network lost")
    #expect(
      text(
        .DONE(
          reason: CallTerminationReason(cause: "CALL_REJECTED", causeCode: 21, sipCode: 403, sipReason: "no"))
      )
        == "done CALL_REJECTED 21 403 no")
    #expect(CallState.DONE(reason: nil) == CallState.DONE(reason: CallTerminationReason(cause: "X")))
    #expect(CallState.HELD.isConsideredActive)
    #expect(CallState.ACTIVE.value == "ACTIVE")
  }

  @Test func theVendorsAddressesAreThoseOfTheDocumentation() {
    #expect(TxServerConfiguration().signalingServer.absoluteString == "wss://rtc.telnyx.com")
    #expect(
      TxServerConfiguration(environment: .development, region: .usEast).signalingServer.absoluteString
        == "wss://us-east.rtcdev.telnyx.com")
    #expect(TxServerConfiguration().webRTCIceServers.count == 6)
    #expect(TxServerConfiguration(environment: .development).webRTCIceServers.count == 5)
    #expect(Region.fromDisplayName("us-central") == .usCentral)
  }
}

/// An app's delegate, with both spellings of `onCallStateUpdated`.
private final class App: TxClientDelegate {
  let told = Mutex<[String]>([])
  private let stream = AsyncStream<String>.makeStream()

  private func tell(_ text: String) {
    self.told.withLock { $0.append(text) }
    self.stream.continuation.yield(text)
  }

  func reached(_ text: String) async {
    for await told in self.stream.stream where told == text { return }
  }

  func onSocketConnected() { self.tell("connected") }
  func onSocketDisconnected() { self.tell("disconnected") }
  func onClientError(error: any Error) { self.tell("error \(error.localizedDescription)") }
  func onClientReady() { self.tell("ready") }
  func onSessionUpdated(sessionId: String) {}
  func onCallStateUpdated(callState: CallState, callId: UUID) { self.tell(callState.value) }
  func onCallStateUpdated(callState: CallState) { self.tell("plain \(callState.value)") }
  func onIncomingCall(call: Call) { self.tell("incoming") }
  func onRemoteCallEnded(callId: UUID, reason: CallTerminationReason?) { self.tell("remote end") }
  func onPushCall(call: Call) {}
  func onPushDisabled(success: Bool, message: String) {}
}
