public import Dispatch
public import Foundation
public import NIOCore
public import SpeechProtocol
import SwiftProtobuf
import Synchronization
import VoiceCore

/// The recognition service over gRPC, with the documented interface. (Source: protocol §1.8.)
///
/// An app rarely needs it: ``SpeechClient`` adds recording, login, and recovery from lost connections. One stream is open at a time.
public final class SluClient: SluClientProtocol {
  /// The generated client.
  public typealias SluApiClient = Speechly_Slu_V1_SLU.ClientProtocol

  private struct Stream {
    var id: Int
    var queue: SpeechRequestQueue
    var task: Task<Void, Never>
    /// One promise for each request that is not accepted yet, in order; the values say whether it was sent.
    var pending: [EventLoopPromise<Bool>] = []
    var stopSent = false
  }

  private struct State {
    weak var delegate: (any SluClientDelegate)?
    var stream: Stream?
    var lastID = 0
  }

  private let transport: any SpeechTransport
  private let group: any EventLoopGroup
  private let delegateQueue: DispatchQueue
  private let state = Mutex(State())

  /// Connects to an address when a stream is started.
  ///
  /// - Throws: ``GRPCAddress/ParseError``.
  public convenience init(
    addr: String,
    loopGroup: any EventLoopGroup,
    delegateQueue: DispatchQueue = DispatchQueue(label: "com.speechly.iosclient.SluClient.delegateQueue")
  ) throws {
    let endpoint = GRPCEndpoint(address: try GRPCAddress(addr: addr), eventLoopGroup: loopGroup)
    self.init(
      transport: GRPCSpeechTransport(endpoint: endpoint), group: loopGroup, delegateQueue: delegateQueue)
  }

  /// Uses a generated client.
  public convenience init(client: any SluApiClient, group: any EventLoopGroup, delegateQueue: DispatchQueue) {
    self.init(transport: SluApiTransport(client: client), group: group, delegateQueue: delegateQueue)
  }

  init(transport: any SpeechTransport, group: any EventLoopGroup, delegateQueue: DispatchQueue) {
    self.transport = transport
    self.group = group
    self.delegateQueue = delegateQueue
  }

  deinit {
    self.closeStream()
  }

  public var delegate: (any SluClientDelegate)? {
    get { self.state.withLock { $0.delegate } }
    set { self.state.withLock { $0.delegate = newValue } }
  }

  public func start(token: ApiAccessToken, config: SluConfig) -> EventLoopFuture<Void> {
    self.closeStream()
    let id = self.state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    let queue = SpeechRequestQueue { [weak self] in self?.requestAccepted(stream: id) }
    let transport = self.transport
    // The documented interface has no run loop; the task ends with its stream, and `deinit` and `suspend()` cancel it.
    let task = Task { [weak self] in
      let end = await transport.runStream(token: token, requests: SpeechRequests(queue: queue)) {
        [weak self] response in
        self?.received(response)
      }
      self?.streamEnded(id, end)
    }
    self.state.withLock { $0.stream = Stream(id: id, queue: queue, task: task) }
    _ = self.send(
      .with {
        $0.config.channels = Int32(clamping: config.channels)
        $0.config.sampleRateHertz = Int32(exactly: config.sampleRate.rounded()) ?? 0
        $0.config.languageCode = config.languageCode.rawValue
      })
    return self.send(.with { $0.start = .init() }).flatMapThrowing { wasSent in
      if !wasSent { throw VoiceFailure(.connectionLost) }
    }
  }

  public func stop() -> EventLoopFuture<Void> {
    let isOpen = self.state.withLock { state in
      guard let stream = state.stream, !stream.stopSent else { return false }
      state.stream?.stopSent = true
      return true
    }
    guard isOpen else { return self.group.next().makeSucceededVoidFuture() }
    let sent = self.send(.with { $0.stop = .init() })
    self.state.withLock { $0.stream?.queue }?.finish()
    return sent.map { _ in }
  }

  public func suspend() -> EventLoopFuture<Void> {
    self.closeStream()
    return self.group.next().makeSucceededVoidFuture()
  }

  public func resume() -> EventLoopFuture<Void> {
    self.group.next().makeSucceededVoidFuture()
  }

  public func write(data: Data) -> EventLoopFuture<Bool> {
    let isOpen = self.state.withLock { $0.stream.map { !$0.stopSent } ?? false }
    return isOpen ? self.send(.with { $0.audio = data }) : self.group.next().makeSucceededFuture(false)
  }

  // MARK: Stream

  private func send(_ request: Speechly_Slu_V1_SLURequest) -> EventLoopFuture<Bool> {
    let promise = self.group.next().makePromise(of: Bool.self)
    let queue = self.state.withLock { state in
      state.stream?.pending.append(promise)
      return state.stream?.queue
    }
    if let queue { queue.send(request) } else { promise.succeed(false) }
    return promise.futureResult
  }

  private func requestAccepted(stream id: Int) {
    let promise = self.state.withLock { state -> EventLoopPromise<Bool>? in
      guard let stream = state.stream, stream.id == id, !stream.pending.isEmpty else { return nil }
      return state.stream?.pending.removeFirst()
    }
    promise?.succeed(true)
  }

  private func closeStream() {
    let stream = self.state.withLock { state in
      defer { state.stream = nil }
      return state.stream
    }
    stream?.task.cancel()
    stream?.queue.finish()
    stream?.pending.forEach { $0.succeed(false) }
  }

  private func streamEnded(_ id: Int, _ end: SpeechStreamEnd) {
    let stream = self.state.withLock { state -> Stream? in
      guard state.stream?.id == id else { return nil }
      defer { state.stream = nil }
      return state.stream
    }
    guard let stream else { return }
    for promise in stream.pending {
      if let failure = end.failure { promise.fail(failure) } else { promise.succeed(false) }
    }
    self.tell { client, delegate in
      if let failure = end.failure { delegate.sluClientDidCatchError(client, error: failure) }
      delegate.sluClientDidStopStream(
        client, status: GRPCStatus(code: end.failure == nil ? 0 : 2, message: end.failure?.message))
    }
  }

  private func received(_ response: Speechly_Slu_V1_SLUResponse) {
    let contextId = response.audioContext
    let segmentId = Int(response.segmentID)
    self.tell { client, delegate in
      switch response.streamingResponse {
      case .started:
        delegate.sluClientDidReceiveContextStart(client, contextId: contextId)
      case .finished:
        delegate.sluClientDidReceiveContextStop(client, contextId: contextId)
      case .segmentEnd:
        delegate.sluClientDidReceiveSegmentEnd(client, contextId: contextId, segmentId: segmentId)
      case .tentativeTranscript(let transcript):
        delegate.sluClientDidReceiveTentativeTranscript(
          client, contextId: contextId, segmentId: segmentId, transcript: transcript)
      case .tentativeEntities(let entities):
        delegate.sluClientDidReceiveTentativeEntities(
          client, contextId: contextId, segmentId: segmentId, entities: entities)
      case .tentativeIntent(let intent):
        delegate.sluClientDidReceiveTentativeIntent(
          client, contextId: contextId, segmentId: segmentId, intent: intent)
      case .transcript(let transcript):
        delegate.sluClientDidReceiveTranscript(
          client, contextId: contextId, segmentId: segmentId, transcript: transcript)
      case .entity(let entity):
        delegate.sluClientDidReceiveEntity(client, contextId: contextId, segmentId: segmentId, entity: entity)
      case .intent(let intent):
        delegate.sluClientDidReceiveIntent(client, contextId: contextId, segmentId: segmentId, intent: intent)
      case .rttRequest, nil:
        break
      }
    }
  }

  private func tell(_ call: @escaping @Sendable (SluClient, any SluClientDelegate) -> Void) {
    self.delegateQueue.async { [weak self] in
      guard let self, let delegate = self.delegate else { return }
      call(self, delegate)
    }
  }
}
