import Foundation
import GRPCCore
import PocketSphinxRecognition
import SpeechPipeline
import SpeechProtocol
import Testing
import VoiceCore

@testable import VoiceServer

/// The server with the engine that it is shipped with, on a recording of Debian's package pocketsphinx-testdata.
@Suite struct RealEngineTests {
  static func samples() throws -> [Int16] {
    let data = try Data(contentsOf: URL(fileURLWithPath: "/usr/share/pocketsphinx/test/data/goforward.raw"))
    return stride(from: 0, to: data.count - 1, by: 2).map {
      Int16(bitPattern: UInt16(data[$0]) | UInt16(data[$0 + 1]) << 8)
    }
  }

  @Test func hearsARecordingAndGoesOnFromAResumeToken() async throws {
    let samples = try Self.samples()
    try await withServer(engine: try PocketSphinxEngine()) { running in
      try await running.withClient { client in
        let token = try await client.logIn()
        let (responses, error) = try await client.stream(token: token) { stream in
          try await stream.send(Request.config(options: ["resume_tokens": "yes"]), Request.start())
          try await stream.send(audio: samples)
          try await stream.send(Request.stop)
        }
        #expect(error == nil)
        #expect(responses.words == ["go", "forward", "ten", "meters"])
        #expect(StreamingTests.violations(responses).isEmpty)
        let end = try #require(responses.segmentEnds.last)
        #expect(end.nextSample > 0 && end.nextSample <= Int64(samples.count))
        let resumeToken = end.resumeToken.base64EncodedString()
        let tokens = try await ResumeTokens(key: try #require(try SigningKeyReader.key(of: running)))
        #expect(tokens.open(text: resumeToken)?.bytes.isEmpty == false)
        let (again, none) = try await client.stream(token: token) { stream in
          try await stream.send(Request.config(), Request.start(options: ["resume_token": resumeToken]))
          try await stream.send(audio: samples)
        }
        #expect(none == nil)
        #expect(again.words == ["go", "forward", "ten", "meters"])
      }
    }
  }

  @Test func twoClientsAreHeardAtOnce() async throws {
    let samples = try Self.samples()
    try await withServer(engine: try PocketSphinxEngine()) { running in
      try await running.withClient { client in
        let token = try await client.logIn()
        let all = try await withThrowingTaskGroup(of: [String].self) { group in
          for _ in 0..<2 {
            group.addTask {
              let (responses, _) = try await client.stream(token: token) { stream in
                try await stream.send(Request.config(), Request.start())
                try await stream.send(audio: samples)
              }
              return responses.words
            }
          }
          return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(all == Array(repeating: ["go", "forward", "ten", "meters"], count: 2))
      }
    }
  }
}
