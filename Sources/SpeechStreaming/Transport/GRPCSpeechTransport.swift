import GRPCCore
import SpeechProtocol
import VoiceCore

/// Runs streams over gRPC, each on a connection of its own.
struct GRPCSpeechTransport: SpeechTransport {
  var endpoint: GRPCEndpoint

  func runStream(
    token: ApiAccessToken,
    requests: SpeechRequests,
    receive: @escaping @Sendable (Speechly_Slu_V1_SLUResponse) -> Void
  ) async -> SpeechStreamEnd {
    do {
      try await self.endpoint.withClient { client in
        try await SluApiTransport.run(
          Speechly_Slu_V1_SLU.Client(wrapping: client), token: token, requests: requests, receive: receive)
      }
      return SpeechStreamEnd()
    } catch {
      return GRPCFailures.end(error, address: self.endpoint.address)
    }
  }
}

/// Runs streams on a generated client.
struct SluApiTransport: SpeechTransport {
  var client: any Speechly_Slu_V1_SLU.ClientProtocol

  func runStream(
    token: ApiAccessToken,
    requests: SpeechRequests,
    receive: @escaping @Sendable (Speechly_Slu_V1_SLUResponse) -> Void
  ) async -> SpeechStreamEnd {
    do {
      try await Self.run(self.client, token: token, requests: requests, receive: receive)
      return SpeechStreamEnd()
    } catch {
      return GRPCFailures.end(error, address: nil)
    }
  }

  static func run(
    _ client: any Speechly_Slu_V1_SLU.ClientProtocol,
    token: ApiAccessToken,
    requests: SpeechRequests,
    receive: @escaping @Sendable (Speechly_Slu_V1_SLUResponse) -> Void
  ) async throws {
    let request = StreamingClientRequest<Speechly_Slu_V1_SLURequest>(
      metadata: ["authorization": "Bearer \(token.tokenString)"]
    ) { writer in
      for await request in requests {
        try await writer.write(request)
      }
    }
    try await client.stream(request: request) { response in
      for try await message in response.messages {
        receive(message)
      }
    }
  }
}
