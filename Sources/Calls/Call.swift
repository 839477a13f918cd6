public import CallMedia
public import CallSignaling
import Foundation
public import RealtimeMedia
import Synchronization
public import VoiceCore

/// One call, from the first state to the one `DONE`; the same object through every reconnection.
///
/// ```swift
/// let call = try await client.call("bob")
/// try await call.answered()
/// call.dtmf(dtmf: "1")
/// call.hangup()
/// ```
///
/// All methods may be called on any thread and return at once; what comes of them arrives as state, event or failure. Nothing
/// is dropped in silence: during an outage a hang-up, a hold and tones are kept and delivered afterwards, or fail by name.
public final class Call: Sendable {
  private struct State {
    var record: CallRecord
    var state: CallState
    var isMuted = false
    var report: CallReport?
    var onQuality: (@Sendable (CallQualityMetrics) -> Void)?
    var metrics: CallQualityMetrics?
  }

  let id: CallID
  private let driver: ClientDriver
  private let state: Mutex<State>
  private let broadcaster = EventBroadcaster<CallEvent>(capacity: 1024) { count in
    .failed(
      VoiceFailure(
        .eventsDropped, message: "A reader of events was too slow: \(count) events were dropped.",
        scope: .call))
  }

  /// Who is in the call.
  public let callInfo: TxCallInfo?
  /// What is said and heard: samples for programs; see ``CallAudio``.
  public let audio = CallAudio()
  /// Who began the call.
  public let direction: CallMachine.Direction

  init(record: CallRecord, uuid: UUID, driver: ClientDriver) {
    self.id = record.id
    self.driver = driver
    self.direction = record.machine.direction
    self.callInfo = TxCallInfo(callId: uuid, callerName: record.callerName, callerNumber: record.callerNumber)
    self.state = Mutex(State(record: record, state: record.machine.callState))
  }

  /// The id as a UUID: the wire's if it is one, else one of its own that stays the same.
  static func identifier(of id: CallID) -> UUID { UUID(uuidString: id.text) ?? UUID() }

  // MARK: What the call is

  /// The state.
  public var callState: CallState { self.state.withLock { $0.state } }

  /// Whether the microphone is not sent; it stays so through a reconnection.
  public var isMuted: Bool { self.state.withLock { $0.isMuted } }

  /// Whether the gateway confirmed that the call is held.
  public var isHeld: Bool { self.state.withLock { $0.record.machine.hold.confirmed == .held } }

  /// Whether the other side holds the call, as far as the gateway says it.
  public var isHeldByOtherSide: Bool { self.state.withLock { $0.record.isHeldByOtherSide } }

  /// The headers that came with the invite of an inbound call.
  public var inviteCustomHeaders: [String: String] {
    Self.dictionary(self.state.withLock { $0.record.inviteHeaders })
  }

  /// The headers that came with the answer to an outbound call.
  public var answerCustomHeaders: [String: String] {
    Self.dictionary(self.state.withLock { $0.record.answerHeaders })
  }

  /// The session on which the call is.
  public var sessionId: String? { self.driver.read { $0.session?.sessionID } }
  /// The vendor's id of the session.
  public var telnyxSessionId: String? { self.state.withLock { $0.record.telnyxSessionID } }
  /// The vendor's id of the leg.
  public var telnyxLegId: String? { self.state.withLock { $0.record.telnyxLegID } }
  /// The vendor's id for controlling the call.
  public var telnyxCallControlId: String? { self.state.withLock { $0.record.telnyxCallControlID } }
  /// The state of the app that came with an inbound call, as it was before base 64.
  public var clientState: String? {
    self.state.withLock { $0.record.clientState }.flatMap { Data(base64Encoded: $0) }
      .map { String(decoding: $0, as: UTF8.self) }
  }
  /// Whether candidates are sent one by one.
  public var useTrickleIce: Bool { self.state.withLock { $0.record.dialog.trickleICE ?? false } }
  /// Whether quality is measured.
  public var debug: Bool { self.state.withLock { $0.record.measuresQuality } }
  /// The last measurement, if there was one.
  public var qualityMetrics: CallQualityMetrics? { self.state.withLock { $0.metrics } }
  /// What happened in the call; `nil` until it is over, and without `enableCallReports`.
  public var report: CallReport? { self.state.withLock { $0.report } }

  /// Is told each measurement, on the thread of the media peer; needs `debug`.
  public var onCallQualityChange: (@Sendable (CallQualityMetrics) -> Void)? {
    get { self.state.withLock { $0.onQuality } }
    set { self.state.withLock { $0.onQuality = newValue } }
  }

  /// The events from now on, for one reader; ends after `ended`.
  public var events: EventBroadcaster<CallEvent>.Subscription { self.broadcaster.subscribe() }

  // MARK: What the app does

  /// Takes an inbound call.
  ///
  /// A call that cannot be taken in its state is left alone; one whose answer fails ends with the failure.
  ///
  /// - Parameters:
  ///   - customHeaders: Headers for the other side; names start with `X-`.
  ///   - debug: Whether to measure quality.
  public func answer(customHeaders: [String: String] = [:], debug: Bool = false) {
    self.driver.submit(.answerOptions(self.id, Self.headers(customHeaders), measuresQuality: debug))
    self.driver.submit(.call(self.id, .answerRequested))
  }

  /// Ends the call, whatever its state: `DONE` at once, and the goodbye follows as soon as there is a connection.
  public func hangup() { self.driver.submit(.call(self.id, .hangupRequested)) }

  /// Puts the other side on hold; the state is `HELD` when the gateway has confirmed it.
  public func hold() { self.driver.submit(.call(self.id, .holdRequested(.held))) }

  /// Takes the other side back; the state is `ACTIVE` when the gateway has confirmed it.
  public func unhold() { self.driver.submit(.call(self.id, .holdRequested(.active))) }

  /// Does the one of ``hold()`` and ``unhold()`` that changes something.
  public func toggleHold() { self.driver.submit(.call(self.id, .holdRequested(nil))) }

  /// Sends tones, in their order: 0–9, *, # and A–D.
  ///
  /// Failures: `call.dtmf.invalid`, `call.dtmf.undelivered`, `call.dtmf.unconfirmed`.
  public func dtmf(dtmf: String) { self.driver.submit(.call(self.id, .tonesRequested(dtmf))) }

  /// Stops sending the microphone.
  public func muteAudio() { self.setMuted(true) }

  /// Sends the microphone again.
  public func unmuteAudio() { self.setMuted(false) }

  private func setMuted(_ isMuted: Bool) {
    self.state.withLock { $0.isMuted = isMuted }
    self.driver.submit(.muted(self.id, isMuted))
  }

  /// Makes the media's transport anew, as after a change of the network.
  ///
  /// - Parameter completion: Called with whether audio flows again, or with the reason why it does not.
  public func iceRestart(completion: @escaping @Sendable (Bool, (any Error)?) -> Void) {
    let events = self.events
    guard self.callState.isConsideredActive else {
      return completion(false, VoiceFailure(.callStateUnsuitable))
    }
    self.driver.submit(.call(self.id, .mediaFailed))
    // Somebody has to wait for the outcome; the wait ends with the call at the latest.
    Task {
      var hasBegun = false
      for await event in events {
        switch event {
        // The end of something earlier, such as a hold, is not that of the restart.
        case .stateUpdated(let state) where state.isConsideredActive:
          if hasBegun { return completion(true, nil) }
        case .stateUpdated(.RECONNECTING), .stateUpdated(.DROPPED): hasBegun = true
        case .ended(let reason):
          return completion(false, reason.failure ?? VoiceFailure(.callMediaFailed))
        case .stateUpdated, .holdConfirmed, .heldByOtherSide, .earlyMedia, .tonesDelivered, .info,
          .qualityMeasured,
          .qualityChanged, .keyPressed, .failed:
          break
        }
      }
    }
  }

  // MARK: Async

  /// Waits until the call is answered.
  ///
  /// - Throws: ``VoiceFailure`` with why it ended before, such as `call.ended.busy`; `call.request.cancelled` after a hang-up on
  ///   this side; `CancellationError`, which leaves the call as it is.
  public func answered() async throws {
    let events = self.events
    if try Self.isAnswered(self.callState) { return }
    for await event in events {
      if case .stateUpdated(let state) = event, try Self.isAnswered(state) { return }
    }
    try Task.checkCancellation()
    _ = try Self.isAnswered(self.callState)
  }

  /// Waits until the call is over, and returns why it is.
  public func ended() async throws -> CallTerminationReason {
    let events = self.events
    if case .DONE(let reason?) = self.callState { return reason }
    for await event in events { if case .ended(let reason) = event { return reason } }
    try Task.checkCancellation()
    if case .DONE(let reason?) = self.callState { return reason }
    throw VoiceFailure(.callNotFound)
  }

  /// Holds the call or takes it back, and waits until the gateway has confirmed it.
  ///
  /// - Throws: ``VoiceFailure`` `call.hold.failed`, `call.state.unsuitable`, or why the call ended.
  public func setHeld(_ isHeld: Bool) async throws {
    let events = self.events
    if isHeld { self.hold() } else { self.unhold() }
    if self.isHeld == isHeld { return }
    for await event in events {
      switch event {
      case .holdConfirmed(isHeld): return
      case .failed(let failure) where failure.code == .callHoldFailed || failure.code == .callStateUnsuitable:
        throw failure
      case .ended(let reason): throw reason.failure ?? VoiceFailure(.callRequestCancelled)
      case .stateUpdated, .holdConfirmed, .heldByOtherSide, .earlyMedia, .tonesDelivered, .info,
        .qualityMeasured,
        .qualityChanged, .keyPressed, .failed:
        break
      }
    }
    try Task.checkCancellation()
    // Nothing is told any more: the call was over before.
    throw VoiceFailure(.callStateUnsuitable)
  }

  /// What was measured since the beginning and in the last second: codec, way, loss, levels.
  ///
  /// - Returns: `nil` before the call has media and after its end, or if its media peer does not measure.
  public func statistics() async -> MediaStatistics? {
    await self.driver.statistics(of: self.id)
  }

  private static func isAnswered(_ state: CallState) throws -> Bool {
    switch state {
    case .ACTIVE, .HELD: return true
    case .DONE(let reason): throw reason?.failure ?? VoiceFailure(.callRequestCancelled)
    case .NEW, .CONNECTING, .RINGING, .RECONNECTING, .DROPPED: return false
    }
  }

  // MARK: What the driver tells

  /// Called with the driver's lock held; touches nothing but the values.
  func update(_ record: CallRecord?) {
    guard let record else { return }
    self.state.withLock { state in
      state.record = record
      state.state = record.machine.callState
    }
  }

  func end(_ reason: CallTerminationReason, _ report: CallReport?) {
    self.state.withLock { state in
      state.state = .DONE(reason: reason)
      state.report = report
    }
  }

  func publish(_ event: CallEvent) {
    self.broadcaster.publish(event)
    guard case .ended = event else { return }
    self.broadcaster.finish()
    // A call that never had media ends for those who speak and listen too.
    self.audio.end()
  }

  func measured(_ metrics: CallQualityMetrics) {
    let handler = self.state.withLock { state in
      state.metrics = metrics
      return state.onQuality
    }
    handler?(metrics)
    self.publish(.qualityMeasured(metrics))
  }

  static func headers(_ headers: [String: String]) -> [CustomHeader] {
    headers.sorted { $0.key < $1.key }.map { CustomHeader(name: $0.key, value: $0.value) }
  }

  private static func dictionary(_ headers: [CustomHeader]) -> [String: String] {
    Dictionary(headers.map { ($0.name, $0.value) }, uniquingKeysWith: { _, last in last })
  }
}
