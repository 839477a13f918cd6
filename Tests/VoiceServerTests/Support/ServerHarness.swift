import Foundation
import GRPCCore
import GRPCNIOTransportHTTP2
import Logging
import SpeechPipeline
import SpeechProtocol
import SwiftProtobuf
import Synchronization
import VoiceCore

@testable import VoiceServer

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Runs a server on free ports while the body runs.
func withServer<Result: Sendable>(
  _ configuration: ServerConfiguration? = nil, engine: any RecognitionEngine = RunEngine(),
  dataFolder: String? = nil, clock: any VoiceClock = MonotonicClock(), logger: Logger? = nil,
  now: @escaping @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) },
  _ body: @Sendable (RunningServer) async throws -> Result
) async throws -> Result {
  let folder = try Fixture.Folder()
  var configuration = configuration ?? Fixture.configuration()
  configuration.dataFolder = dataFolder ?? folder.path
  let server = VoiceServer(
    configuration: configuration, engine: engine, clock: clock,
    logger: logger ?? Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
    metricsRegistry: PrometheusRegistry(), observer: .init(), now: now)
  return try await withThrowingTaskGroup(of: Void.self) { group in
    group.addTask { try await server.run() }
    let addresses = try await server.addresses
    let result = try await body(RunningServer(server: server, addresses: addresses))
    server.beginGracefulShutdown()
    try await group.waitForAll()
    withExtendedLifetime(folder) {}
    return result
  }
}

/// A server and where it listens.
struct RunningServer: Sendable {
  let server: VoiceServer
  let addresses: ListenAddresses

  /// Runs a client while the body runs.
  ///
  /// - Parameter window: How many bytes the client takes without being read.
  func withClient<Result: Sendable>(
    window: Int? = nil, _ body: @Sendable (TestClient) async throws -> Result
  ) async throws -> Result {
    try await withGRPCClient(
      transport: .http2NIOPosix(
        target: .ipv4(address: self.addresses.grpc.host, port: self.addresses.grpc.port),
        transportSecurity: .plaintext,
        config: .defaults { config in
          if let window { config.http2.targetWindowSize = window }
        })
    ) { client in
      try await body(TestClient(client: client))
    }
  }

  /// The text of a page of the HTTP port, and its status.
  func get(_ path: String) async throws -> (status: Int, body: String) {
    try await self.send(URLRequest(url: try self.url(path)))
  }

  func post(_ path: String, _ body: String) async throws -> (status: Int, body: String) {
    var request = URLRequest(url: try self.url(path))
    request.httpMethod = "POST"
    request.httpBody = Data(body.utf8)
    return try await self.send(request)
  }

  func url(_ path: String) throws -> URL {
    guard let url = URL(string: "http://\(self.addresses.http)\(path)") else { throw URLError(.badURL) }
    return url
  }

  func send(_ request: URLRequest) async throws -> (status: Int, body: String) {
    let (data, response) = try await URLSession.shared.data(for: request)
    return ((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data, as: UTF8.self))
  }
}

/// A client of the tests.
struct TestClient: Sendable {
  let client: GRPCClient<HTTP2ClientTransport.Posix>

  func logIn(app: String = Fixture.appID) async throws -> String {
    try await Speechly_Identity_V1_Identity.Client(wrapping: self.client).login(
      .with {
        $0.deviceID = Fixture.deviceID
        $0.appID = app
      }
    ).token
  }

  func logIn(project: String) async throws -> String {
    try await Speechly_Identity_V2_IdentityAPI.Client(wrapping: self.client).login(
      .with {
        $0.deviceID = Fixture.deviceID
        $0.project.projectID = project
      }
    ).token
  }

  /// Runs a stream: the body sends and reads; when it returns, the client closes its side and reads to the end.
  ///
  /// - Returns: All responses, and the error that ended the stream, if one did.
  func stream(
    token: String?, metadata extra: Metadata = [:],
    _ body: @escaping @Sendable (TestStream) async throws -> Void
  ) async throws -> (responses: [Speechly_Slu_V1_SLUResponse], error: RPCError?) {
    var metadata = extra
    if let token { metadata.addString("Bearer \(token)", forKey: "authorization") }
    let stream = TestStream()
    let request = StreamingClientRequest<Speechly_Slu_V1_SLURequest>(metadata: metadata) { writer in
      try await stream.write(to: writer, body)
    }
    do {
      try await Speechly_Slu_V1_SLU.Client(wrapping: self.client).stream(request: request) { response in
        for try await message in response.messages { stream.take(message) }
      }
      stream.finish()
      return (stream.all, nil)
    } catch let error as RPCError {
      stream.finish()
      return (stream.all, error)
    }
  }
}

/// What the body of a test's stream holds in its hands.
final class TestStream: Sendable {
  typealias Response = Speechly_Slu_V1_SLUResponse

  private let collected = Mutex<[Response]>([])
  private let responses: AsyncStream<Response>
  private let continuation: AsyncStream<Response>.Continuation
  private let writer = Mutex<RPCWriter<Speechly_Slu_V1_SLURequest>?>(nil)

  init() {
    (self.responses, self.continuation) = AsyncStream.makeStream()
  }

  var all: [Response] { self.collected.withLock { $0 } }

  func take(_ response: Response) {
    self.collected.withLock { $0.append(response) }
    self.continuation.yield(response)
  }

  func finish() { self.continuation.finish() }

  func write(
    to writer: RPCWriter<Speechly_Slu_V1_SLURequest>,
    _ body: @Sendable (TestStream) async throws -> Void
  ) async throws {
    self.writer.withLock { $0 = writer }
    try await body(self)
  }

  func send(_ requests: Speechly_Slu_V1_SLURequest...) async throws {
    guard let writer = self.writer.withLock({ $0 }) else { return }
    for request in requests { try await writer.write(request) }
  }

  /// Sends samples in messages of 100 ms.
  func send(audio samples: [Int16], chunk: Int = 3200) async throws {
    let bytes = samples.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
    for start in stride(from: 0, to: bytes.count, by: chunk) {
      let piece = Data(bytes[start..<min(start + chunk, bytes.count)])
      try await self.send(.with { $0.audio = piece })
    }
  }

  /// Reads until a response satisfies the condition.
  @discardableResult
  func wait(until condition: @Sendable (Response) -> Bool) async -> Response? {
    for await response in self.responses where condition(response) { return response }
    return nil
  }

  @discardableResult
  func waitForStarted() async -> Response? {
    await self.wait { if case .started = $0.streamingResponse { true } else { false } }
  }

  @discardableResult
  func waitForFinished() async -> Response? {
    await self.wait { if case .finished = $0.streamingResponse { true } else { false } }
  }
}

extension [Speechly_Slu_V1_SLUResponse] {
  /// The final words, in the order in which they came.
  var words: [String] {
    self.compactMap { if case .transcript(let word) = $0.streamingResponse { word.word } else { nil } }
  }

  func of(_ context: String) -> [Speechly_Slu_V1_SLUResponse] {
    self.filter { $0.audioContext == context }
  }

  var contextIDs: [String] {
    self.compactMap { if case .started = $0.streamingResponse { $0.audioContext } else { nil } }
  }

  var segmentEnds: [Speechly_Slu_V1_SLUSegmentEnd] {
    self.compactMap { if case .segmentEnd(let end) = $0.streamingResponse { end } else { nil } }
  }
}

extension RPCError {
  /// The code of the failure that the server named.
  var failureCode: String? { self.metadata[stringValues: "voice-failure-code"].first { _ in true } }
}
