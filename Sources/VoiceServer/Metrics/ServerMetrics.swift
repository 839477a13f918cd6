import CoreMetrics
import Metrics
import VoiceCore

/// What the server counts; the names are those in `/metrics`.
struct ServerMetrics: Sendable {
  private let factory: any MetricsFactory
  private let streamsOpen: Meter
  private let streams: Counter
  private let contextsActive: Meter
  private let contexts: Counter
  private let audio: FloatingPointCounter
  private let decoding: FloatingPointCounter
  private let timeToFinal: Timer
  private let roundTrip: Timer
  private let decodersBusy: Meter
  private let decodersTotal: Meter

  init(factory: any MetricsFactory) {
    self.factory = factory
    self.streamsOpen = Meter(label: "voice_streams_open", factory: factory)
    self.streams = Counter(label: "voice_streams_total", factory: factory)
    self.contextsActive = Meter(label: "voice_contexts_active", factory: factory)
    self.contexts = Counter(label: "voice_contexts_total", factory: factory)
    self.audio = FloatingPointCounter(label: "voice_audio_seconds_total", factory: factory)
    self.decoding = FloatingPointCounter(label: "voice_decode_seconds_total", factory: factory)
    self.timeToFinal = Timer(label: "voice_time_to_final_seconds", factory: factory)
    self.roundTrip = Timer(label: "voice_round_trip_seconds", factory: factory)
    self.decodersBusy = Meter(label: "voice_decoders_busy", factory: factory)
    self.decodersTotal = Meter(label: "voice_decoders_total", factory: factory)
    // The series exist from the start, so that a rate can be computed from the first event on.
    for result in ["ok", "refused"] { self.logins(result).increment(by: Int64(0)) }
  }

  func streamOpened() {
    self.streams.increment()
    self.streamsOpen.increment()
  }

  func streamClosed() { self.streamsOpen.decrement() }

  func contextBegan() {
    self.contexts.increment()
    self.contextsActive.increment()
  }

  func contextEnded() { self.contextsActive.decrement() }

  func heard(_ audio: Duration) { self.audio.increment(by: audio / .seconds(1)) }

  func decoded(for time: Duration) { self.decoding.increment(by: max(0, time / .seconds(1))) }

  /// From the stop of a context to its last result.
  func finished(after time: Duration) { self.timeToFinal.record(duration: time) }

  func measuredRoundTrip(_ time: Duration) { self.roundTrip.record(duration: time) }

  func failed(_ code: VoiceFailure.Code) {
    // Codes come from our own catalogue, so there are few of them.
    Counter(
      label: "voice_failures_total", dimensions: [("code", code.rawValue)], factory: self.factory
    ).increment()
  }

  func loginSucceeded() { self.logins("ok").increment() }

  func loginRefused() { self.logins("refused").increment() }

  func setDecoders(busy: Int, total: Int) {
    self.decodersBusy.set(busy)
    self.decodersTotal.set(total)
  }

  private func logins(_ result: String) -> Counter {
    Counter(label: "voice_logins_total", dimensions: [("result", result)], factory: self.factory)
  }
}
