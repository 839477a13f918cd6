import Foundation
import SpeechProtocol
import SwiftProtobuf
import VoiceCore

extension SessionMachine {
  /// Sends what can be sent for the first context.
  mutating func pump(at now: VoiceInstant, _ actions: inout [Action]) {
    while let head = self.contexts.first, head.leg == nil, head.audio == .ended, head.window.end == 0 {
      // Nothing was recorded: the server need not know.
      self.finishFirstContext(&actions)
      self.waitIdle(at: now, &actions)
    }
    guard var stream = self.connection.stream, !self.contexts.isEmpty else { return }
    // The context is taken out and put back so that its audio is never copied while it is changed.
    var context = self.contexts.removeFirst()
    let beginsLeg = context.leg == nil
    var leg = context.leg ?? self.beginLeg(of: &context, on: &stream, at: now, &actions)
    while stream.inFlight < self.configuration.maximumInFlight, let bytes = self.nextAudio(of: &context, &leg)
    {
      leg.sent += Int64(bytes.count / 2)
      self.send(.with { $0.audio = bytes }, on: &stream, at: now, &actions)
    }
    let reachedLimit = leg.limit.map { leg.sent >= $0 } ?? false
    let reachedEnd = context.audio == .ended && leg.sent >= context.window.end
    if reachedLimit || reachedEnd, !leg.stopSent, !leg.isCutOff,
      stream.inFlight < self.configuration.maximumInFlight
    {
      leg.stopSent = true
      self.send(.with { $0.stop = .init() }, on: &stream, at: now, &actions)
    }
    context.leg = leg
    let caughtUp = leg.sent >= context.window.end
    self.contexts.insert(context, at: 0)
    self.connection.stream = stream
    if beginsLeg, !self.connection.isEngine { self.startPatience(at: now, &actions) }
    if caughtUp { self.reportLoss(in: 0, &actions) }
  }

  private mutating func send(
    _ request: Speechly_Slu_V1_SLURequest, on stream: inout Stream, at now: VoiceInstant,
    _ actions: inout [Action]
  ) {
    if stream.inFlight == 0 { stream.lastProgress = now }
    stream.inFlight += 1
    actions.append(.send(stream: stream.id, request))
  }

  private mutating func beginLeg(
    of context: inout Context, on stream: inout Stream, at now: VoiceInstant, _ actions: inout [Action]
  ) -> Leg {
    let origin = max(context.resumeSample, context.window.start)
    if origin > context.resumeSample {
      let neverSent = context.unreportedLoss ?? 0
      context.unreportedLoss = nil
      let lost = max(origin - context.resumeSample, neverSent)
      actions.append(.emit(.failed(self.loss(of: lost))))
      // Told once: a later leg or failure counts from here.
      context.resumeSample = origin
      context.resumeSegment = nil
      context.resumeToken = ""
    }
    var options = context.options
    options["resume_tokens"] = ["yes"]
    if !context.resumeToken.isEmpty {
      options["resume_token"] = [context.resumeToken]
    }
    let appId = context.appId
    self.send(
      .with {
        $0.start.appID = appId
        $0.start.options = options.sorted { $0.key < $1.key }.map { key, values in
          .with {
            $0.key = key
            $0.value = values
          }
        }
      }, on: &stream, at: now, &actions)
    return Leg(
      origin: origin, segmentBase: context.resumeSegment ?? context.assembler.nextSegmentId,
      replayedThrough: context.assembler.lastSegmentId, began: now, sent: origin)
  }

  /// The next piece of audio to send, or `nil` if there is none or the leg is to end here.
  private func nextAudio(of context: inout Context, _ leg: inout Leg) -> Data? {
    guard !leg.stopSent, !leg.isCutOff, leg.limit == nil else { return nil }
    if leg.sent < context.window.start {
      let skipped = context.window.start - leg.sent
      let told = leg.skips.reduce(0) { $0 + $1.samples }
      leg.skips.append(Leg.Skip(serverSample: leg.sent - leg.origin - told, samples: skipped))
      leg.sent = context.window.start
    }
    let backlog = context.window.end - leg.sent
    guard backlog > 0 else { return nil }
    let length = leg.sent - leg.origin
    // Only servers bound the length of a context.
    let limit = self.connection.isEngine ? Int64.max : self.configuration.samples(self.configuration.legLimit)
    let isNearLimit = length >= limit - min(limit / 4, self.configuration.samples(.seconds(10)))
    let isBehind = backlog > self.configuration.samples(.seconds(1))
    let bytes =
      isBehind && !isNearLimit
      ? context.window.bytes(from: leg.sent, limit: self.configuration.maximumRequestSamples)
      : context.window.nextPiece(from: leg.sent, limit: self.configuration.maximumRequestSamples)
    guard !bytes.isEmpty else { return nil }
    let level = Self.level(of: bytes)
    if length + Int64(bytes.count / 2) > limit || (isNearLimit && level <= leg.quietestLevel * 1.5) {
      leg.limit = leg.sent
      return nil
    }
    leg.quietestLevel = min(leg.quietestLevel, level)
    return bytes
  }

  /// The mean magnitude of little-endian 16-bit samples.
  private static func level(of bytes: Data) -> Double {
    var sum = 0
    bytes.withUnsafeBytes { raw in
      for offset in stride(from: 0, to: raw.count - 1, by: 2) {
        sum += Int(abs(Int32(Int16(littleEndian: raw.loadUnaligned(fromByteOffset: offset, as: Int16.self)))))
      }
    }
    return bytes.count < 2 ? 0 : Double(sum) / Double(bytes.count / 2)
  }

  /// Begins to wait for the next context, if there is none.
  mutating func waitIdle(at now: VoiceInstant, _ actions: inout [Action]) {
    guard self.contexts.isEmpty, !self.isSuspended, case .streaming = self.connection else { return }
    actions.append(.setTimer(.idle, now.advanced(by: self.configuration.idleTimeout)))
  }
}
