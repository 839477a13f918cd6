import CallSignaling
import VoiceCore

/// Whether a call is expected that a push message announced (telnyx.md sections 2.2 and 3.7).
///
/// States: *none*; *expected* (until the registration is there); *asked* (`attachCalls` was sent; until a deadline).
enum PushWait: Hashable, Sendable {
  case none
  /// With the call's id if the push named it.
  case expected(CallID?)
  case asked(CallID?, until: VoiceInstant)

  /// How long the call may take after the registration (telnyx.md section 3.7).
  static let timeout: Duration = .seconds(10)

  var deadline: VoiceInstant? {
    switch self {
    case .none, .expected: nil
    case .asked(_, let until): until
    }
  }

  /// Whether a call that came in is the announced one; it is not waited for any more then.
  mutating func arrived(_ id: CallID) -> Bool {
    let announced: CallID?
    switch self {
    case .none: return false
    case .expected(let id), .asked(let id, _): announced = id
    }
    // A push that names no call means the first that comes.
    guard announced == nil || announced == id else { return false }
    self = .none
    return true
  }
}

extension ClientMachine {
  /// Asks the gateway to ring this client with the call that was announced; once the registration is there.
  mutating func askForPushedCall(at now: VoiceInstant) {
    guard case .expected(let id) = self.push, let session = self.session else { return }
    self.push = .asked(id, until: now.advanced(by: PushWait.timeout))
    // The next login is one of its own.
    self.session?.fromPush = false
    var variables = JSONObject()
    if let environment = session.pushVariables["push_notification_environment"] {
      variables["push_notification_environment"] = environment
    }
    let provider = session.pushVariables["push_notification_provider"]?.stringValue
    self.send(
      .attachCalls(AttachCallsRequest(pushProvider: provider, userVariables: variables)), for: .attachCalls,
      at: now)
  }

  mutating func callsAttached(_ outcome: CallMachine.Outcome) {
    switch outcome {
    case .accepted, .timedOut, .interrupted: break
    case .refused: self.pushedCallIsGone()
    }
  }

  mutating func pushTimePassed(at now: VoiceInstant) {
    guard let deadline = self.push.deadline, deadline <= now else { return }
    self.pushedCallIsGone()
  }

  private mutating func pushedCallIsGone() {
    let id: CallID?
    switch self.push {
    case .none: return
    case .expected(let announced), .asked(let announced, _): id = announced
    }
    self.push = .none
    var reason = CallTerminationReason(
      .originatorCancel, origin: .remote, failure: VoiceFailure(.callNotFound, scope: .client))
    reason.sipCode = 487
    reason.sipReason = "Request Terminated"
    self.emit(.notify(.pushedCallGone(id, reason)))
  }
}
