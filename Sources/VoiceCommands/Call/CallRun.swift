import CallSignaling
import Calls
import Foundation
import VoiceCore

/// One call of `voice call` or `voice answer`: shows its states until it is over.
struct CallRun: Sendable {
  let client: TxClient
  let context: CommandContext
  let json: Bool

  /// Logs in; reports a failure.
  func connect(_ options: GatewayOptions) async -> VoiceFailure? {
    do {
      let server = try options.serverConfiguration(in: self.context)
      let early = self.client.events
      try self.client.connect(txConfig: options.configuration(in: self.context), serverConfiguration: server)
      let client = self.client
      let clock = self.context.clock
      // A person waits for a try or two, not for a night.
      return try await withThrowingTaskGroup { group in
        group.addTask { () -> VoiceFailure? in
          try await client.ready()
          return nil
        }
        group.addTask {
          // The client would try on; a person who typed a command wants to know.
          for await event in early { if case .failed(let failure) = event { return failure } }
          return VoiceFailure(.callNotConnected)
        }
        group.addTask {
          try await clock.sleep(until: clock.now.advanced(by: .seconds(10)), tolerance: nil)
          return VoiceFailure(
            .serverTimedOut, message: "The gateway did not register the user within 10 seconds.")
        }
        defer { group.cancelAll() }
        return try await group.next() ?? nil
      }
    } catch let failure as VoiceFailure {
      return failure
    } catch {
      return VoiceFailure(.callCredentialsMissing, cause: error)
    }
  }

  /// Says that the client is registered and can be called.
  func showWaiting() {
    let output = self.context.console.output
    guard self.json else { return output.line(StyledText("Waiting for a call", .dim)) }
    output.write(JSONValue.object([.init(name: "event", value: .string("waiting"))]).text + "\n")
  }

  /// Waits for a call; what fails and comes back by itself is shown meanwhile.
  ///
  /// - Returns: The call, or why there will be none; `nil` if the task was cancelled.
  func incomingCall(
    in events: EventBroadcaster<ClientEvent>.Subscription
  ) async -> Result<Call, VoiceFailure>? {
    for await event in events {
      switch event {
      case .incomingCall(let call): return .success(call)
      case .failed(let failure):
        // Failures before this client was registered were shown already, if they mattered.
        if case .automatic = failure.recovery {
          self.context.warn(failure, json: self.json)
        } else if !self.client.isConnected() {
          return .failure(failure)
        } else {
          self.context.warn(failure, json: self.json)
        }
      case .socketConnected, .socketDisconnected, .ready, .sessionUpdated, .loginRefreshed, .pushCall,
        .pushedCallEnded, .callStateUpdated, .remoteCallEnded, .callReported, .pushDisabled, .assistant,
        .unhandled:
        break
      }
    }
    return nil
  }

  /// Follows a call to its end, hangs up when asked to stop, and says with which status the command ends.
  func follow(_ call: Call) async -> CommandStatus {
    let events = call.events
    let signals = self.context.stopSignals()
    var shown = call.callState
    self.show(shown, of: call)
    let stopping = Task {
      for await _ in signals {
        call.hangup()
        return true
      }
      return false
    }
    defer { stopping.cancel() }
    var reason: CallTerminationReason?
    for await event in events {
      switch event {
      case .stateUpdated(let state):
        if state != shown { self.show(state, of: call) }
        shown = state
      case .failed(let failure): self.context.warn(failure, json: self.json)
      case .ended(let ended): reason = ended
      case .holdConfirmed, .earlyMedia, .tonesDelivered, .info, .qualityMeasured, .qualityChanged,
        .keyPressed:
        break
      }
    }
    await self.client.disconnected()
    stopping.cancel()
    if await stopping.value { return .interrupted }
    if case .DONE(let ended?) = call.callState { reason = reason ?? ended }
    guard let failure = reason?.failure else { return .done }
    _ = self.context.fail(failure, json: self.json)
    return .call
  }

  private func show(_ state: CallState, of call: Call) {
    let output = self.context.console.output
    guard self.json else {
      return output.line(Self.line(for: state))
    }
    output.write(EventObject.call(state, id: call.callInfo?.callId.uuidString.lowercased() ?? "").text + "\n")
  }

  private static func line(for state: CallState) -> StyledText {
    switch state {
    case .NEW, .CONNECTING: StyledText("Connecting", .dim)
    case .RINGING: StyledText("Ringing", .dim)
    case .ACTIVE: StyledText("Talking", .green)
    case .HELD: StyledText("On hold", .yellow)
    case .RECONNECTING(let reason), .DROPPED(let reason):
      StyledText("Reconnecting (\(reason.rawValue))", .yellow)
    case .DONE(let reason): StyledText("Ended" + (reason?.cause.map { " (\($0))" } ?? ""), .dim)
    }
  }
}

extension EventObject {
  /// `{"event":"call","state":"ACTIVE","callId":…}`; at the end with cause and SIP status.
  static func call(_ state: CallState, id: String) -> JSONValue {
    var fields: [JSONValue.Field] = [
      .init(name: "event", value: .string("call")), .init(name: "state", value: .string(state.value)),
      .init(name: "callId", value: .string(id)),
    ]
    if case .DONE(let reason?) = state {
      if let cause = reason.cause { fields.append(.init(name: "cause", value: .string(cause))) }
      if let code = reason.causeCode { fields.append(.init(name: "causeCode", value: .integer(code))) }
      if let code = reason.sipCode { fields.append(.init(name: "sipCode", value: .integer(code))) }
      if let text = reason.sipReason { fields.append(.init(name: "sipReason", value: .string(text))) }
    }
    return .object(fields)
  }
}
