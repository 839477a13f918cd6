import CallSignaling
import RealtimeMedia
import VoiceCore

/// Gathers what a test call shows, and says when it has shown enough.
///
/// States: *setting up*, until something was heard or measured or the time for that is over; *measuring*, for a fixed time;
/// *done*. The call may end at any time, and then its failure is the result.
struct PreflightMachine: Sendable {
  enum Event: Sendable {
    case stateUpdated(CallState)
    case measured(CallQualityMetrics)
    /// 20 ms of the other side's audio came, and they held the test signal or not.
    case heard(isSignal: Bool)
    case failed(VoiceFailure)
    case ended(CallTerminationReason)
    case timePassed
  }

  enum Action: Hashable, Sendable {
    case wait
    /// Enough was measured: take the statistics, hang up, make the report.
    case conclude
    case fail(VoiceFailure)
  }

  private enum State: Hashable {
    case settingUp(until: VoiceInstant)
    case measuring(until: VoiceInstant)
    case done
  }

  private let settings: PreflightSettings
  private let began: VoiceInstant
  private let invited: VoiceInstant
  private let wasRegistered: Bool
  private var state: State
  private var ringing: VoiceInstant?
  private var answered: VoiceInstant?
  private var connected: VoiceInstant?
  private var firstAudio: VoiceInstant?
  private var metrics: [CallQualityMetrics] = []
  private var failures: [VoiceFailure] = []

  /// - Parameters:
  ///   - began: When the preflight began.
  ///   - invited: When the client was registered and the call was placed.
  init(settings: PreflightSettings, began: VoiceInstant, invited: VoiceInstant, wasRegistered: Bool) {
    self.settings = settings
    self.began = began
    self.invited = invited
    self.wasRegistered = wasRegistered
    self.state = .settingUp(until: invited.advanced(by: settings.setupTimeout))
  }

  /// When ``Event/timePassed`` is due; too early does no harm.
  var deadline: VoiceInstant? {
    switch self.state {
    case .settingUp(let end), .measuring(let end): end
    case .done: nil
    }
  }

  mutating func handle(_ event: Event, at now: VoiceInstant) -> Action {
    if case .done = self.state { return .wait }
    switch event {
    case .stateUpdated(.RINGING): self.ringing = self.ringing ?? now
    case .stateUpdated(.ACTIVE): self.answered = self.answered ?? now
    case .stateUpdated: break
    case .measured(let metrics):
      if metrics.mos.isFinite { self.metrics.append(metrics) }
      self.beginMeasuring(at: now)
    case .heard(let isSignal):
      self.connected = self.connected ?? now
      if isSignal { self.firstAudio = self.firstAudio ?? now }
      self.beginMeasuring(at: now)
    case .failed(let failure): self.failures.append(failure)
    case .ended(let reason): return self.end(.fail(self.failure(for: reason)))
    case .timePassed: return self.timePassed(at: now)
    }
    return .wait
  }

  private mutating func beginMeasuring(at now: VoiceInstant) {
    guard case .settingUp = self.state else { return }
    self.state = .measuring(until: now.advanced(by: self.settings.duration))
  }

  private mutating func timePassed(at now: VoiceInstant) -> Action {
    switch self.state {
    case .settingUp(let end): return now < end ? .wait : self.end(.fail(self.failure))
    case .measuring(let end):
      guard now >= end else { return .wait }
      return self.end(self.metrics.isEmpty ? .fail(self.failure) : .conclude)
    case .done: return .wait
    }
  }

  private mutating func end(_ action: Action) -> Action {
    self.state = .done
    return action
  }

  /// What explains that nothing was measured: a failure of the media, else that alone.
  private var failure: VoiceFailure {
    self.failures.last { $0.code.rawValue.hasPrefix("call.media.") && !Self.bearable.contains($0.code) }
      ?? VoiceFailure(.callMetricsMissing)
  }

  /// A call goes on with these.
  private static let bearable: Set<VoiceFailure.Code> = [.callRelayFailed, .callMediaOverloaded]

  private func failure(for reason: CallTerminationReason) -> VoiceFailure {
    let known = self.failure
    guard known.code == .callMetricsMissing else { return known }
    return reason.failure ?? known
  }

  /// The report.
  ///
  /// - Throws: ``VoiceFailure`` with `call.metrics.missing` if too little was measured.
  func report(_ statistics: MediaStatistics?) throws(VoiceFailure) -> PreflightReport {
    guard let roundTrip = PreflightReport.Range(self.metrics.map(\.rtt)),
      let jitter = PreflightReport.Range(self.metrics.map(\.jitter)),
      let mos = PreflightReport.Range(self.metrics.map(\.mos))
    else { throw VoiceFailure(.callMetricsMissing) }
    let since = { (instant: VoiceInstant?) in instant.map { self.invited.duration(to: $0) } }
    return PreflightReport(
      registeredAfter: self.wasRegistered ? nil : self.began.duration(to: self.invited),
      ringingAfter: since(self.ringing), answeredAfter: since(self.answered),
      connectedAfter: since(self.connected), firstAudioAfter: since(self.firstAudio),
      localCandidate: statistics?.pair?.local.kind, remoteCandidate: statistics?.pair?.remote.kind,
      roundTrip: roundTrip, jitter: jitter, mos: mos,
      packetsReceived: statistics?.reports.packetsReceived, packetsLost: statistics?.reports.packetsLost,
      quality: MOSCalculator.getQuality(mos: mos.average), failures: self.failures)
  }
}
