import GRPCCore
import GRPCNIOTransportHTTP2
import SpeechProtocol

/// The same protocol with grpc-swift-2 and its generated code alone: every message of audio is answered by one small event.
enum StockSubject {
  static func run() async throws {
    let transport = HTTP2ServerTransport.Posix(
      address: .ipv4(host: "127.0.0.1", port: 0), transportSecurity: .plaintext,
      config: .defaults { $0.http2.maxConcurrentStreams = 1024 })
    let server = GRPCServer(transport: transport, services: [StockService()])
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.serve() }
      BenchServer.announce(port: try await transport.listeningAddress.ipv4?.port ?? 0)
      try await group.waitForAll()
    }
  }
}

private struct StockService: Speechly_Slu_V1_SLU.SimpleServiceProtocol {
  func stream(
    request: RPCAsyncSequence<Speechly_Slu_V1_SLURequest, any Error>,
    response: RPCWriter<Speechly_Slu_V1_SLUResponse>, context: ServerContext
  ) async throws {
    var heard = 0
    var answers = 0
    for try await message in request {
      var answer = Speechly_Slu_V1_SLUResponse()
      answer.audioContext = "00000000-0000-4000-8000-000000000000"
      switch message.streamingRequest {
      case .start: answer.started = .init()
      case .stop: answer.finished = .init()
      case .audio(let bytes):
        heard += bytes.count
        answers += 1
        let text = answers.isMultiple(of: 2) ? "right" : "left"
        answer.tentativeTranscript.tentativeTranscript = text
        var word = Speechly_Slu_V1_SLUTranscript()
        word.word = text
        word.endTime = Int32(clamping: heard / 32)
        answer.tentativeTranscript.tentativeWords = [word]
      case .config, .event, .rttResponse, nil: continue
      }
      try await response.write(answer)
    }
  }
}
