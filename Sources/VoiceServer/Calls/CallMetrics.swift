import CallSignaling
import CoreMetrics
import Metrics
import VoiceCore

/// What the gateway counts; the names are those in `/metrics`.
struct CallMetrics: Sendable {
  private let factory: any MetricsFactory
  private let connections: Meter
  private let registrations: Meter
  private let legs: Meter
  private let active: Meter
  private let framesIn: Counter
  private let framesOut: Counter
  private let framesInvalid: Counter
  private let slowReaders: Counter
  private let dropped: Counter
  private let setup: Timer
  private let loginsOK: Counter
  private let loginsRefused: Counter

  init(factory: any MetricsFactory) {
    self.factory = factory
    self.connections = Meter(label: "voice_call_connections", factory: factory)
    self.registrations = Meter(label: "voice_call_registrations", factory: factory)
    self.legs = Meter(label: "voice_call_legs", factory: factory)
    self.active = Meter(label: "voice_calls_active", factory: factory)
    self.framesIn = Counter(
      label: "voice_call_frames_total", dimensions: [("direction", "in")], factory: factory)
    self.framesOut = Counter(
      label: "voice_call_frames_total", dimensions: [("direction", "out")], factory: factory)
    self.framesInvalid = Counter(label: "voice_call_frames_invalid_total", factory: factory)
    self.slowReaders = Counter(label: "voice_call_slow_readers_total", factory: factory)
    self.dropped = Counter(label: "voice_call_records_dropped_total", factory: factory)
    self.setup = Timer(label: "voice_call_setup_seconds", factory: factory)
    self.loginsOK = Counter(
      label: "voice_call_logins_total", dimensions: [("result", "ok")], factory: factory)
    self.loginsRefused = Counter(
      label: "voice_call_logins_total", dimensions: [("result", "refused")], factory: factory)
    // The series exist from the start, so that a rate can be computed from the first event on.
    for counter in [
      self.framesIn, self.framesOut, self.framesInvalid, self.slowReaders, self.dropped, self.loginsOK,
      self.loginsRefused,
    ] { counter.increment(by: Int64(0)) }
  }

  func connectionOpened() { self.connections.increment() }
  func connectionClosed() { self.connections.decrement() }
  func frameReceived() { self.framesIn.increment() }
  func frameSent() { self.framesOut.increment() }
  func frameRefused() { self.framesInvalid.increment() }
  func slowReaderClosed() { self.slowReaders.increment() }
  func recordDropped() { self.dropped.increment() }
  func loginSucceeded() { self.loginsOK.increment() }
  func loginRefused() { self.loginsRefused.increment() }

  func set(registrations: Int, legs: Int, calls: Int) {
    self.registrations.set(registrations)
    self.legs.set(legs)
    self.active.set(calls)
  }

  func ended(_ record: CallRecord) {
    // Names that clients make up are not labels.
    let cause = record.reason.hangupCause.flatMap { cause -> String? in
      if case .unknown = cause { nil } else { cause.name }
    }
    Counter(
      label: "voice_calls_total", dimensions: [("cause", cause ?? "OTHER")], factory: self.factory
    ).increment()
    if let answered = record.answered { self.setup.record(duration: record.began.duration(to: answered)) }
  }
}
