import Foundation
import NIOCore
public import SpeechProtocol
import Synchronization
import VoiceCore

/// Runs streams on a client of the documented interface, whose delegate calls the ``SpeechClient`` forwards to here.
///
/// That client has one stream for each utterance; to the session they look like one stream with several contexts.
final class SluClientTransport: SpeechTransport {
  private struct State {
    /// Streams are counted: one that hangs in the client may end when the next one is under way.
    var number = 0
    var receive: (@Sendable (Speechly_Slu_V1_SLUResponse) -> Void)?
    var end: SpeechStreamEnd?
    var ended: CheckedContinuation<SpeechStreamEnd, Never>?
    /// Whether a context is open, so that an orderly end of its stream came too early.
    var isContextOpen = false
  }

  private let client: any SluClientProtocol
  private let config: SluConfig
  private let state = Mutex(State())

  init(client: any SluClientProtocol, config: SluConfig) {
    self.client = client
    self.config = config
  }

  func runStream(
    token: ApiAccessToken, requests: SpeechRequests,
    receive: @escaping @Sendable (Speechly_Slu_V1_SLUResponse) -> Void
  ) async -> SpeechStreamEnd {
    let (number, before) = self.state.withLock { state in
      let before = state.ended
      state = State(number: state.number &+ 1, receive: receive)
      return (state.number, before)
    }
    before?.resume(returning: SpeechStreamEnd())
    defer { self.state.withLock { if $0.number == number { $0.receive = nil } } }
    return await withTaskGroup(of: SpeechStreamEnd?.self) { group in
      group.addTask { await self.send(requests, token: token) }
      group.addTask { await self.streamEnd(of: number) }
      var result: SpeechStreamEnd?
      while result == nil, let next = await group.next() { result = next }
      group.cancelAll()
      self.streamEnded(result ?? SpeechStreamEnd(), of: number)
      return result ?? SpeechStreamEnd()
    }
  }

  /// Sends until the requests end; `nil` if the results of the last context are still to be waited for.
  private func send(_ requests: SpeechRequests, token: ApiAccessToken) async -> SpeechStreamEnd? {
    for await request in requests {
      do {
        switch request.streamingRequest {
        case .start:
          self.state.withLock { $0.isContextOpen = true }
          try await self.client.start(token: token, config: self.config).get()
        case .audio(let data):
          guard try await self.client.write(data: data).get() else {
            return SpeechStreamEnd(
              failure: VoiceFailure(.connectionLost, message: "The stream is closed and dropped audio."))
          }
        case .stop:
          try await self.client.stop().get()
        case .config, .event, .rttResponse, nil:
          break
        }
      } catch {
        return GRPCFailures.end(error, address: nil)
      }
    }
    let isOpen = self.state.withLock { $0.isContextOpen }
    if isOpen { _ = try? await self.client.suspend().get() }
    return SpeechStreamEnd()
  }

  private func streamEnd(of number: Int) async -> SpeechStreamEnd? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let end = self.state.withLock { state -> SpeechStreamEnd? in
          guard state.number == number else { return SpeechStreamEnd() }
          if state.end == nil { state.ended = continuation }
          return state.end
        }
        if let end { continuation.resume(returning: end) }
      }
    } onCancel: {
      self.streamEnded(SpeechStreamEnd(), of: number)
    }
  }

  /// - Parameter number: Which stream ended; `nil` for the one under way.
  private func streamEnded(_ end: SpeechStreamEnd, of number: Int? = nil) {
    let waiter = self.state.withLock { state -> CheckedContinuation<SpeechStreamEnd, Never>? in
      guard number ?? state.number == state.number else { return nil }
      state.end = state.end ?? end
      defer { state.ended = nil }
      return state.ended
    }
    waiter?.resume(returning: end)
  }

  // MARK: What the client's delegate was told

  func received(_ contextId: String, segmentId: Int = 0, _ fill: (inout Speechly_Slu_V1_SLUResponse) -> Void)
  {
    var response = Speechly_Slu_V1_SLUResponse()
    response.audioContext = contextId
    response.segmentID = Int32(clamping: segmentId)
    fill(&response)
    let receive = self.state.withLock { state in
      if case .finished = response.streamingResponse { state.isContextOpen = false }
      return state.receive
    }
    receive?(response)
  }

  func stopped(_ status: GRPCStatus) {
    guard status.isOk else {
      self.streamEnded(GRPCFailures.end(status))
      return
    }
    if self.state.withLock({ $0.isContextOpen }) { self.streamEnded(SpeechStreamEnd()) }
  }

  func failed(_ error: any Error) {
    self.streamEnded(GRPCFailures.end(error, address: nil))
  }
}

extension SpeechClient {
  public func sluClientDidCatchError(_: any SluClientProtocol, error: any Error) {
    self.sluTransport?.failed(error)
  }

  public func sluClientDidStopStream(_: any SluClientProtocol, status: GRPCStatus) {
    self.sluTransport?.stopped(status)
  }

  public func sluClientDidReceiveContextStart(_: any SluClientProtocol, contextId: String) {
    self.sluTransport?.received(contextId) { $0.started = .init() }
  }

  public func sluClientDidReceiveContextStop(_: any SluClientProtocol, contextId: String) {
    self.sluTransport?.received(contextId) { $0.finished = .init() }
  }

  public func sluClientDidReceiveSegmentEnd(_: any SluClientProtocol, contextId: String, segmentId: Int) {
    self.sluTransport?.received(contextId, segmentId: segmentId) { $0.segmentEnd = .init() }
  }

  public func sluClientDidReceiveTentativeTranscript(
    _: any SluClientProtocol, contextId: String, segmentId: Int,
    transcript: Speechly_Slu_V1_SLUTentativeTranscript
  ) {
    self.sluTransport?.received(contextId, segmentId: segmentId) { $0.tentativeTranscript = transcript }
  }

  public func sluClientDidReceiveTentativeEntities(
    _: any SluClientProtocol, contextId: String, segmentId: Int,
    entities: Speechly_Slu_V1_SLUTentativeEntities
  ) {
    self.sluTransport?.received(contextId, segmentId: segmentId) { $0.tentativeEntities = entities }
  }

  public func sluClientDidReceiveTentativeIntent(
    _: any SluClientProtocol, contextId: String, segmentId: Int, intent: Speechly_Slu_V1_SLUIntent
  ) {
    self.sluTransport?.received(contextId, segmentId: segmentId) { $0.tentativeIntent = intent }
  }

  public func sluClientDidReceiveTranscript(
    _: any SluClientProtocol, contextId: String, segmentId: Int, transcript: Speechly_Slu_V1_SLUTranscript
  ) {
    self.sluTransport?.received(contextId, segmentId: segmentId) { $0.transcript = transcript }
  }

  public func sluClientDidReceiveEntity(
    _: any SluClientProtocol, contextId: String, segmentId: Int, entity: Speechly_Slu_V1_SLUEntity
  ) {
    self.sluTransport?.received(contextId, segmentId: segmentId) { $0.entity = entity }
  }

  public func sluClientDidReceiveIntent(
    _: any SluClientProtocol, contextId: String, segmentId: Int, intent: Speechly_Slu_V1_SLUIntent
  ) {
    self.sluTransport?.received(contextId, segmentId: segmentId) { $0.intent = intent }
  }
}
