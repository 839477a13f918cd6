import Foundation
import GRPCCore
import SpeechPipeline
import SpeechProtocol
import SwiftProtobuf
import Testing
import VoiceCore
import VoiceTesting

@testable import VoiceServer

/// Streams over real sockets, with grpc-swift's own client.
@Suite struct StreamingTests {
  static func violations(_ responses: [Speechly_Slu_V1_SLUResponse]) -> [ResponseRules.Violation] {
    var rules = ResponseRules(allowsRoundTrips: true)
    for response in responses { rules.check(response) }
    rules.finish()
    return rules.violations
  }

  @Test func hearsEverySample() async throws {
    try await withServer { server in
      try await server.withClient { client in
        let token = try await client.logIn()
        let (responses, error) = try await client.stream(token: token) { stream in
          try await stream.send(Request.config(), Request.start())
          // Pieces of odd length cut samples in two.
          try await stream.send(audio: RunEngine.audio([1, 2, 3, 4]), chunk: 777)
          try await stream.send(Request.stop)
        }
        #expect(error == nil)
        #expect(responses.words == ["w1", "w2", "w3", "w4"])
        let times = responses.compactMap { response -> [Int32]? in
          guard case .transcript(let word) = response.streamingResponse else { return nil }
          return [word.startTime, word.endTime]
        }
        #expect(times == [[0, 200], [300, 500], [600, 800], [900, 1100]])
        #expect(Self.violations(responses).isEmpty)
        #expect(responses.segmentEnds == [.init()])
      }
    }
  }

  @Test func contextsOfOneStreamFollowEachOther() async throws {
    try await withServer { server in
      try await server.withClient { client in
        let token = try await client.logIn()
        let (responses, error) = try await client.stream(token: token) { stream in
          try await stream.send(Request.config())
          for number in 1...3 {
            // The next start does not wait for the results.
            try await stream.send(number == 2 ? Request.startEvent : Request.start())
            try await stream.send(audio: RunEngine.audio([Int16(number)]))
            try await stream.send(number == 2 ? Request.stopEvent : Request.stop)
          }
        }
        #expect(error == nil)
        let ids = responses.contextIDs
        #expect(Set(ids).count == 3)
        #expect(ids.map { responses.of($0).words } == [["w1"], ["w2"], ["w3"]])
        #expect(Self.violations(responses).isEmpty)
      }
    }
  }

  @Test func whatAContextTaughtIsGivenToTheNext() async throws {
    try await withServer { server in
      try await server.withClient { client in
        let token = try await client.logIn()
        let (responses, _) = try await client.stream(token: token) { stream in
          try await stream.send(Request.config(options: ["resume_tokens": "yes"]))
          for _ in 0..<2 {
            try await stream.send(Request.start())
            try await stream.send(audio: RunEngine.audio([1]))
            try await stream.send(Request.stop)
          }
        }
        let key = try #require(try? SigningKeyReader.key(of: server))
        let tokens = try await ResumeTokens(key: key)
        // The engine counts the words of its channel.
        #expect(responses.segmentEnds.map { tokens.open(Array($0.resumeToken))?.bytes } == [[1], [2]])
        #expect(responses.segmentEnds.allSatisfy { $0.nextSample > 0 })
        // A new stream goes on from a token, a stranger's token is a fresh start.
        for (text, heard) in [
          (responses.segmentEnds.last?.resumeToken.base64EncodedString() ?? "", [UInt8(3)]),
          ("garbled", [UInt8(1)]),
        ] {
          let (again, error) = try await client.stream(token: token) { stream in
            try await stream.send(Request.config())
            try await stream.send(Request.start(options: ["resume_token": text, "resume_tokens": "yes"]))
            try await stream.send(audio: RunEngine.audio([1]))
          }
          #expect(error == nil)
          #expect(again.segmentEnds.map { tokens.open(Array($0.resumeToken))?.bytes } == [heard])
        }
      }
    }
  }

  @Test func halfClosingWithoutStopIsAStop() async throws {
    try await withServer { server in
      try await server.withClient { client in
        let token = try await client.logIn()
        let (responses, error) = try await client.stream(token: token) { stream in
          try await stream.send(Request.config(), Request.start())
          try await stream.send(audio: RunEngine.audio([7]))
        }
        #expect(error == nil)
        #expect(responses.words == ["w7"])
        #expect(Self.violations(responses).isEmpty)
      }
    }
  }

  @Test(arguments: [8000, 11_025, 44_100, 48_000])
  func otherRatesKeepTheirTimes(_ rate: Int) async throws {
    try await withServer { server in
      try await server.withClient { client in
        let token = try await client.logIn()
        let (responses, error) = try await client.stream(token: token) { stream in
          try await stream.send(
            Request.config(rate: Int32(rate), options: ["resume_tokens": "yes"]), Request.start())
          try await stream.send(audio: RunEngine.audio([5, 9], rate: rate), chunk: 1023)
          try await stream.send(Request.stop)
        }
        #expect(error == nil)
        #expect(responses.words.first == "w5" && responses.words.last == "w9")
        let last =
          responses.compactMap { response -> Int32? in
            guard case .transcript(let word) = response.streamingResponse else { return nil }
            return word.endTime
          }.last ?? 0
        #expect(abs(last - 500) <= 10)
        let next = try #require(responses.segmentEnds.last?.nextSample)
        #expect(abs(next - Int64(rate) * 6 / 10) <= Int64(rate) / 50)
      }
    }
  }

  @Test func channelsAreMixed() async throws {
    try await withServer { server in
      try await server.withClient { client in
        let token = try await client.logIn()
        let (responses, _) = try await client.stream(token: token) { stream in
          try await stream.send(Request.config(channels: 2), Request.start())
          let left = RunEngine.audio([2])
          try await stream.send(audio: zip(left, RunEngine.audio([4])).flatMap { [$0, $1] })
          try await stream.send(Request.stop)
        }
        #expect(responses.words == ["w3"])
      }
    }
  }

  @Test func silenceHasNoSegments() async throws {
    try await withServer { server in
      try await server.withClient { client in
        let token = try await client.logIn()
        let (responses, error) = try await client.stream(token: token) { stream in
          try await stream.send(Request.config(), Request.start())
          try await stream.send(audio: [Int16](repeating: 0, count: 16_000))
          try await stream.send(Request.stop)
        }
        #expect(error == nil)
        #expect(responses.count == 2)
        #expect(Self.violations(responses).isEmpty)
      }
    }
  }

  @Test func pausesEndSegmentsIfAskedFor() async throws {
    try await withServer { server in
      try await server.withClient { client in
        let token = try await client.logIn()
        for (silence, segments) in [("0", 1), ("360", 2)] {
          let (responses, _) = try await client.stream(token: token) { stream in
            try await stream.send(
              Request.config(options: ["silence_triggered_segmentation": silence]), Request.start())
            try await stream.send(audio: RunEngine.audio([1, 2], silence: 1500))
            try await stream.send(Request.stop)
          }
          #expect(responses.words == ["w1", "w2"])
          #expect(responses.segmentEnds.count == segments)
          #expect(Self.violations(responses).isEmpty)
        }
      }
    }
  }

  @Test func aFailingRecogniserEndsTheStreamAfterWhatItHeard() async throws {
    try await withServer(engine: RunEngine(failingWord: "w3")) { server in
      try await server.withClient { client in
        let token = try await client.logIn()
        let (responses, error) = try await client.stream(token: token) { stream in
          try await stream.send(Request.config(), Request.start())
          try await stream.send(audio: RunEngine.audio([1, 2, 3]))
          try await stream.send(Request.stop)
        }
        #expect(error?.code == .internalError)
        #expect(error?.failureCode == "speech.engine.failed")
        #expect(responses.words == ["w1", "w2", "w3"] || responses.words == ["w1", "w2"])
        // Another stream is not affected.
        let (again, none) = try await client.stream(token: token) { stream in
          try await stream.send(Request.config(), Request.start())
          try await stream.send(audio: RunEngine.audio([1]))
        }
        #expect(none == nil && again.words == ["w1"])
      }
    }
  }

  @Test func anErrorReachesAClientThatGoesOnSending() async throws {
    try await withServer { server in
      try await server.withClient { client in
        let token = try await client.logIn()
        let (_, error) = try await client.stream(token: token) { stream in
          try await stream.send(Request.config(), Request.start(), Request.start())
          for _ in 0..<200 { try await stream.send(Request.audio(bytes: 3200)) }
        }
        #expect(error?.code == .failedPrecondition)
        #expect(error?.failureCode == "speech.stream.order-violated")
      }
    }
  }

  @Test(arguments: [nil, "nonsense"])
  func withoutAGoodTokenNothingBegins(_ token: String?) async throws {
    try await withServer { server in
      try await server.withClient { client in
        let (responses, error) = try await client.stream(token: token) { stream in
          try await stream.send(Request.config())
        }
        #expect(responses.isEmpty)
        #expect(error?.code == (token == nil ? .unauthenticated : .permissionDenied))
        #expect(error?.failureCode == "speech.identity.credentials-rejected")
      }
    }
  }
}

/// Reads the key of a running server.
enum SigningKeyReader {
  static func key(of server: RunningServer) throws -> SigningKey? {
    let path = server.server.configuration.dataFolder + "/signing-key"
    return SigningKey(fileContent: Array(try Data(contentsOf: URL(fileURLWithPath: path))))
  }
}
