import Foundation
import GRPCCore
import SpeechPipeline
import SpeechProtocol
import Testing
import VoiceCore
import VoiceTesting

@testable import VoiceServer

/// After a cut a client goes on with the resume token of the last segment that it has: no sample is lost or heard twice.
@Suite struct ResumingTests {
  static let options = ["resume_tokens": "yes", "silence_triggered_segmentation": "500"]

  /// The sentences of the marker engine name the place of every word in its channel, so a wrong sample or token shows.
  @Test(arguments: [0, 1, 2, 3])
  func goesOnBehindAnySegment(_ segment: Int) async throws {
    let audio = MarkerAudio(sentences: 5, seed: 3)
    let expected = audio.words.map(\.text)
    try await withServer(engine: MarkerEngine()) { running in
      let first = try await running.withClient { client in
        try await client.stream(token: try await client.logIn()) { stream in
          try await stream.send(Request.config(options: Self.options), Request.start())
          try await stream.send(audio: audio.samples, chunk: 3333)
        }
      }
      #expect(first.responses.words == expected)
      let responses = first.responses
      let end = responses.firstIndex { response in
        if case .segmentEnd = response.streamingResponse { Int(response.segmentID) == segment } else { false }
      }
      let cut = try #require(end)
      let kept = Array(responses[...cut])
      let point = responses[cut].segmentEnd
      // Another connection, as after a cut.
      let second = try await running.withClient { client in
        try await client.stream(token: try await client.logIn()) { stream in
          try await stream.send(Request.config(options: Self.options))
          try await stream.send(
            Request.start(options: ["resume_token": point.resumeToken.base64EncodedString()]))
          try await stream.send(audio: Array(audio.samples[Int(point.nextSample)...]), chunk: 1000)
        }
      }
      #expect(second.error == nil)
      #expect(kept.words + second.responses.words == expected)
      #expect(!second.responses.words.isEmpty)
      #expect(StreamingTests.violations(second.responses).isEmpty)
    }
  }
}
