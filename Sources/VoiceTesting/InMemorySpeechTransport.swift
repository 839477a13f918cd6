public import SpeechProtocol
public import SpeechStreaming
import Synchronization
import VoiceCore

/// A transport without a network: the test plays the server.
///
/// ```swift
/// let transport = InMemorySpeechTransport()
/// client.start()
/// let stream = await transport.nextStream()
/// let config = await stream.nextRequest()
/// stream.send(.with { $0.audioContext = "1"; $0.started = .init() })
/// stream.end()
/// ```
public final class InMemorySpeechTransport: SpeechTransport {
  private let streams = AsyncQueue<InMemorySpeechStream>()

  /// Creates a transport without streams.
  public init() {}

  /// Waits until the client opens a stream.
  public func nextStream() async -> InMemorySpeechStream? {
    await self.streams.next()
  }

  public func runStream(
    token: ApiAccessToken, requests: SpeechRequests,
    receive: @escaping @Sendable (Speechly_Slu_V1_SLUResponse) -> Void
  ) async -> SpeechStreamEnd {
    let stream = InMemorySpeechStream(token: token, receive: receive)
    self.streams.put(stream)
    return await withTaskGroup(of: Void.self) { group in
      group.addTask { await stream.pull(requests) }
      let end = await stream.waitForEnd()
      group.cancelAll()
      return end
    }
  }
}

/// One stream of an ``InMemorySpeechTransport``, seen from the server.
public final class InMemorySpeechStream: Sendable {
  /// What the client authorised the stream with.
  public let token: ApiAccessToken
  private let receive: @Sendable (Speechly_Slu_V1_SLUResponse) -> Void
  private let requests = AsyncQueue<Speechly_Slu_V1_SLURequest>()
  private let gate = AsyncQueue<Void>()
  private let ends = AsyncQueue<SpeechStreamEnd>()
  private let isReading = Atomic(true)

  init(token: ApiAccessToken, receive: @escaping @Sendable (Speechly_Slu_V1_SLUResponse) -> Void) {
    self.token = token
    self.receive = receive
  }

  /// Waits for the client's next request; `nil` once it has half-closed.
  public func nextRequest() async -> Speechly_Slu_V1_SLURequest? {
    await self.requests.next()
  }

  /// Sends a response to the client.
  public func send(_ response: Speechly_Slu_V1_SLUResponse) {
    self.receive(response)
  }

  /// Ends the stream, in order or with a failure.
  public func end(_ end: SpeechStreamEnd = SpeechStreamEnd()) {
    self.ends.put(end)
  }

  /// Stops reading, as a server does that cannot keep up; the client's requests stay unaccepted.
  public func stopReading() {
    self.isReading.store(false, ordering: .releasing)
  }

  /// Reads again.
  public func startReading() {
    self.isReading.store(true, ordering: .releasing)
    self.gate.put(())
  }

  fileprivate func pull(_ source: SpeechRequests) async {
    for await request in source {
      self.requests.put(request)
      while !self.isReading.load(ordering: .acquiring), !Task.isCancelled { _ = await self.gate.next() }
    }
    self.requests.finish()
  }

  fileprivate func waitForEnd() async -> SpeechStreamEnd {
    await self.ends.next() ?? SpeechStreamEnd(failure: VoiceFailure(.connectionLost))
  }
}

/// A queue that one task waits on; ends when it is finished or the task is cancelled.
final class AsyncQueue<Element: Sendable>: Sendable {
  private let stream: AsyncStream<Element>
  private let continuation: AsyncStream<Element>.Continuation

  init() {
    (self.stream, self.continuation) = AsyncStream.makeStream()
  }

  func put(_ element: Element) { self.continuation.yield(element) }
  func finish() { self.continuation.finish() }

  func next() async -> Element? {
    // A stream's elements are handed out once, whichever iterator asks.
    var iterator = self.stream.makeAsyncIterator()
    return await iterator.next()
  }
}
