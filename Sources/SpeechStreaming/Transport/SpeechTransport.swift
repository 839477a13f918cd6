public import SpeechProtocol
import Synchronization
public import VoiceCore

/// A way to run one recognition stream: gRPC in an app, memory in a test.
public protocol SpeechTransport: Sendable {
  /// Runs one stream: sends what `requests` yields, in order, and hands every response to `receive`, in order.
  ///
  /// An element of `requests` counts as accepted when the next one is asked for, so a transport must not ask before it can send.
  /// When `requests` ends, the transport half-closes and waits for the rest of the responses. When the calling task is
  /// cancelled the stream is abandoned.
  ///
  /// - Parameters:
  ///   - token: What authorises the stream.
  ///   - requests: What to send; config is the first element.
  ///   - receive: Called once for each response, never concurrently.
  /// - Returns: How the stream ended.
  func runStream(
    token: ApiAccessToken,
    requests: SpeechRequests,
    receive: @escaping @Sendable (Speechly_Slu_V1_SLUResponse) -> Void
  ) async -> SpeechStreamEnd
}

/// How a stream ended.
public struct SpeechStreamEnd: Hashable, Sendable {
  /// What went wrong; `nil` if the server ended the stream in order.
  public var failure: VoiceFailure?
  /// How long the server asked us to stay away, if it did.
  public var pushBack: Duration?

  /// Creates a description.
  public init(failure: VoiceFailure? = nil, pushBack: Duration? = nil) {
    self.failure = failure
    self.pushBack = pushBack
  }
}

/// The requests of one stream, pulled by the transport at the pace at which it can send.
public struct SpeechRequests: AsyncSequence, Sendable {
  public typealias Element = Speechly_Slu_V1_SLURequest
  public typealias Failure = Never

  private let queue: SpeechRequestQueue

  init(queue: SpeechRequestQueue) {
    self.queue = queue
  }

  public func makeAsyncIterator() -> Iterator { Iterator(queue: self.queue) }

  /// Pulls the requests.
  public struct Iterator: AsyncIteratorProtocol {
    let queue: SpeechRequestQueue

    public mutating func next() async -> Speechly_Slu_V1_SLURequest? {
      await self.queue.next()
    }

    public mutating func next(isolation actor: isolated (any Actor)?) async -> Speechly_Slu_V1_SLURequest? {
      await self.queue.next()
    }
  }
}

/// The queue between a session, which decides what to send, and a transport, which can send.
///
/// The session bounds the queue: it adds a request only while few are not accepted.
final class SpeechRequestQueue: Sendable {
  private struct State {
    var requests: [Speechly_Slu_V1_SLURequest] = []
    var handedOut = false
    var isFinished = false
    var waiter: CheckedContinuation<Speechly_Slu_V1_SLURequest?, Never>?
  }

  private let state = Mutex(State())
  private let accepted: @Sendable () -> Void

  /// - Parameter accepted: Called when a request has been accepted, on the transport's task.
  init(accepted: @escaping @Sendable () -> Void) {
    self.accepted = accepted
  }

  func send(_ request: Speechly_Slu_V1_SLURequest) {
    let waiter = self.state.withLock { state -> CheckedContinuation<Speechly_Slu_V1_SLURequest?, Never>? in
      guard !state.isFinished else { return nil }
      guard let waiter = state.waiter else {
        state.requests.append(request)
        return nil
      }
      state.waiter = nil
      state.handedOut = true
      return waiter
    }
    waiter?.resume(returning: request)
  }

  func finish() {
    let waiter = self.state.withLock { state in
      state.isFinished = true
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume(returning: nil)
  }

  func next() async -> Speechly_Slu_V1_SLURequest? {
    let wasHandedOut = self.state.withLock { state in
      defer { state.handedOut = false }
      return state.handedOut
    }
    if wasHandedOut { self.accepted() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let ready = self.state.withLock { state -> Speechly_Slu_V1_SLURequest?? in
          if !state.requests.isEmpty {
            state.handedOut = true
            return state.requests.removeFirst()
          }
          if state.isFinished || Task.isCancelled || state.waiter != nil { return .some(nil) }
          state.waiter = continuation
          return nil
        }
        if let ready { continuation.resume(returning: ready) }
      }
    } onCancel: {
      self.finish()
    }
  }
}
