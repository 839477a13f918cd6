import CallMedia
import CallSignaling
import Foundation
import VoiceCore

extension TxClient {
  /// Places a test call and measures it: how long setting up takes, over which addresses audio goes, and how good it would sound.
  ///
  /// ```swift
  /// let report = try await client.preflight()
  /// print(report.quality, report.mos.average, report.roundTrip.average)
  /// ```
  ///
  /// It waits until the client is registered, calls `echo`, sends a test signal, and hangs up. Other calls go on. It takes a few
  /// seconds longer than ``PreflightSettings/duration``. Cancelling it hangs up.
  ///
  /// - Throws: ``VoiceFailure``: `call.metrics.missing` (as ``TxError`` `noMetricsCollected`) if nothing could be measured,
  ///   `call.media.unreachable` and others of the media, the end of the call such as `call.ended.busy`, or as ``ready()``;
  ///   `CancellationError`.
  public func preflight(_ settings: PreflightSettings = PreflightSettings()) async throws -> PreflightReport {
    let clock = self.driver.parts.clock
    let (began, wasRegistered) = (clock.now, self.isRegistered)
    try await self.ready()
    guard let id = UUID(uuidString: self.driver.makeID()) else { throw VoiceFailure(.unexpected) }
    var machine = PreflightMachine(
      settings: settings, began: began, invited: clock.now, wasRegistered: wasRegistered)
    let call = try self.newCall(
      callerName: "", callerNumber: "", destinationNumber: settings.destination, callId: id, debug: true)
    defer { call.hangup() }
    return try await withThrowingTaskGroup(of: Void.self) { group in
      let (events, teller) = AsyncStream.makeStream(of: PreflightMachine.Event.self)
      Self.follow(call, teller, in: &group)
      defer { group.cancelAll() }
      var armed: VoiceInstant?
      func arm(_ deadline: VoiceInstant?) {
        guard let deadline, deadline != armed else { return }
        armed = deadline
        group.addTask {
          guard (try? await clock.sleep(until: deadline, tolerance: nil)) != nil else { return }
          teller.yield(.timePassed)
        }
      }
      arm(machine.deadline)
      for await event in events {
        switch machine.handle(event, at: clock.now) {
        case .wait: arm(machine.deadline)
        case .conclude: return try machine.report(await call.statistics())
        case .fail(let failure): throw failure
        }
      }
      throw CancellationError()
    }
  }

  /// Tells what happens in the call, what is heard, and sends the signal.
  private static func follow(
    _ call: Call, _ teller: AsyncStream<PreflightMachine.Event>.Continuation,
    in group: inout ThrowingTaskGroup<Void, any Error>
  ) {
    let (events, frames) = (call.events, call.audio.frames)
    // What happened before there was a reader.
    let state = call.callState
    teller.yield(.stateUpdated(state))
    if case .DONE(let reason?) = state { teller.yield(.ended(reason)) }
    group.addTask {
      for await event in events {
        switch event {
        case .stateUpdated(let state): teller.yield(.stateUpdated(state))
        case .qualityMeasured(let metrics): teller.yield(.measured(metrics))
        case .failed(let failure): teller.yield(.failed(failure))
        case .ended(let reason): teller.yield(.ended(reason))
        case .holdConfirmed, .heldByOtherSide, .earlyMedia, .tonesDelivered, .info, .qualityChanged,
          .keyPressed:
          break
        }
      }
    }
    group.addTask {
      for await frame in frames { teller.yield(.heard(isSignal: PreflightSignal.isHeard(in: frame))) }
    }
    group.addTask {
      // Ends with the call, or when the test is over.
      while (try? await call.audio.send(PreflightSignal.second)) != nil {}
    }
  }
}

/// What is sent: a tone in the middle of the voice, which every codec carries.
enum PreflightSignal {
  private static let peak = 8_000.0
  private static let frequency = 700.0

  /// One second at 48 kHz; whole periods, so that seconds join without a click.
  static let second: [Int16] = (0..<CallAudioFrame.sampleRate).map { index in
    Int16(
      (Self.peak * sin(2 * .pi * Self.frequency * Double(index) / Double(CallAudioFrame.sampleRate)))
        .rounded())
  }

  /// Whether a frame holds more than noise, and was not made up.
  static func isHeard(in frame: CallAudioFrame) -> Bool {
    guard !frame.samples.isEmpty, frame.concealed < frame.samples.count / 2 else { return false }
    let power = frame.samples.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(frame.samples.count)
    return power > Self.peak * Self.peak / 20
  }
}
