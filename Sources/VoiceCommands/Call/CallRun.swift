import CallSignaling
import Calls
import Foundation
import VoiceCore

/// One call of `voice call` or `voice answer`, from the login to the end.
struct CallRun: Sendable {
  let client: TxClient
  let context: CommandContext
  let json: Bool

  /// Logs in; reports a failure.
  func connect(_ options: GatewayOptions, _ ice: IceOptions) async -> VoiceFailure? {
    do {
      var server = try options.serverConfiguration(in: self.context)
      server.webRTCIceServers = try ice.iceServers(in: self.context)
      let config = options.configuration(in: self.context, relayOnly: ice.relayOnly)
      let early = self.client.events
      try self.client.connect(txConfig: config, serverConfiguration: server)
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
  ///
  /// - Parameter name: Who is on the other side, for people.
  func follow(_ call: Call, _ plan: CallPlan, with name: String) async -> CommandStatus {
    let console = self.context.console
    let id = call.callInfo?.callId.uuidString.lowercased() ?? ""
    if self.json {
      return await self.follow(call, plan, JSONCallPresenter(console: console, call: id, name: name))
    }
    if console.output.movesCursor {
      let takesKeys = self.context.inputIsTerminal
      return await self.follow(
        call, plan, LiveCallPresenter(console: console, name: name, takesKeys: takesKeys))
    }
    return await self.follow(call, plan, PlainCallPresenter(console: console, name: name))
  }

  private func follow(
    _ call: Call, _ plan: CallPlan, _ presenter: some CallPresenter
  ) async -> CommandStatus {
    var course = CallCourse(call: call, plan: plan, context: self.context, presenter: presenter)
    let status = await course.run()
    // A second Ctrl-C does not wait for goodbyes.
    if !course.isAborted { await self.client.disconnected() }
    return status
  }
}
