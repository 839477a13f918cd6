import Foundation
import GRPCCore
import SpeechProtocol
import SwiftProtobuf
import Testing

@testable import VoiceServer

@Suite struct BatchServiceTests {
  typealias Request = Speechly_Slu_V1_ProcessAudioRequest
  typealias Operation = Speechly_Slu_V1_Operation

  private static let key = TestClient.metadata(Fixture.apiKey)

  private func withClient<Result: Sendable>(
    in folder: Fixture.Folder? = nil, engine: RunEngine = RunEngine(),
    _ body: @escaping @Sendable (TestClient) async throws -> Result
  ) async throws -> Result {
    try await withServer(engine: engine, dataFolder: folder?.path) { server in
      try await server.withClient { try await body($0) }
    }
  }

  private static func request(
    rate: Int32 = 16_000, channels: Int32 = 1, _ change: (inout Request) -> Void = { _ in }
  ) -> Request {
    var request = Request.with {
      $0.appID = Fixture.appID
      $0.config.encoding = .linear16
      $0.config.channels = channels
      $0.config.sampleRateHertz = rate
    }
    change(&request)
    return request
  }

  private static func bytes(_ samples: [Int16]) -> Data {
    Data(samples.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] })
  }

  private func process(
    _ client: TestClient, _ first: Request, _ audio: Data = Data(), key: Metadata = BatchServiceTests.key
  ) async throws -> Operation {
    try await client.batch.processAudio(metadata: key) { writer in
      try await writer.write(first)
      for start in stride(from: 0, to: audio.count, by: 65_536) {
        try await writer.write(.with { $0.audio = Data(audio.dropFirst(start).prefix(65_536)) })
      }
    }.operation
  }

  private func ended(_ client: TestClient, _ id: String) async throws -> Operation {
    while true {
      let operation = try await client.batch.queryStatus(.with { $0.id = id }, metadata: Self.key).operation
      if operation.status == .done || operation.status == .error { return operation }
    }
  }

  private func expectRefusal(
    _ status: RPCError.Code, _ code: String, _ work: @escaping @Sendable () async throws -> Void
  ) async {
    let error = await #expect(throws: RPCError.self) { try await work() }
    #expect(error?.code == status)
    #expect(error?.failureCode == code)
  }

  // MARK: Bad input

  @Test func refusesEverythingWithoutTheKeyOfAProject() async throws {
    try await self.withClient { client in
      let token = try await client.logIn()
      await self.expectRefusal(.unauthenticated, "speech.identity.credentials-rejected") {
        _ = try await self.process(client, Self.request(), key: [:])
      }
      await self.expectRefusal(.permissionDenied, "speech.identity.credentials-rejected") {
        _ = try await client.batch.queryStatus(.with { $0.id = "x" }, metadata: TestClient.metadata(token))
      }
    }
  }

  @Test func refusesRequestsThatCannotBeServed() async throws {
    let cases: [(Request, RPCError.Code, String)] = [
      (Self.request { $0.appID = Fixture.foreignID }, .permissionDenied, "speech.identity.unknown-app"),
      (Self.request { $0.appID = "" }, .invalidArgument, "speech.identity.login-invalid"),
      (
        Self.request { $0.uri = "https://example.org/a.wav" }, .unimplemented,
        "server.batch.source-not-offered"
      ),
      (
        Self.request { $0.httpSource.url = "https://example.org" }, .unimplemented,
        "server.batch.source-not-offered"
      ),
      (
        Self.request { $0.resultsUri = "https://example.org" }, .unimplemented,
        "server.batch.source-not-offered"
      ),
      (Self.request { $0.config.encoding = .invalid }, .invalidArgument, "speech.stream.request-invalid"),
      (
        Self.request { $0.config.languageCodes = ["fi-FI"] }, .invalidArgument,
        "speech.identity.language-not-offered"
      ),
      (Self.request(rate: 0), .invalidArgument, "speech.stream.request-invalid"),
      (Self.request(rate: 96_000), .invalidArgument, "speech.stream.request-invalid"),
      (Self.request(channels: -1), .invalidArgument, "speech.stream.request-invalid"),
      (
        Self.request { $0.reference = String(repeating: "x", count: 201) }, .invalidArgument,
        "speech.stream.request-invalid"
      ),
    ]
    let folder = try Fixture.Folder()
    try await self.withClient(in: folder) { client in
      for (request, status, code) in cases {
        await self.expectRefusal(status, code) {
          _ = try await self.process(client, request, Self.bytes(RunEngine.audio([1])))
        }
      }
      await self.expectRefusal(.invalidArgument, "audio.file.empty") {
        _ = try await self.process(client, Self.request())
      }
    }
    // Nothing of what was refused stays on the disk.
    let left = try? FileManager.default.contentsOfDirectory(atPath: folder.path + "/batch")
    #expect(left ?? [] == [])
  }

  @Test func knowsNoOperationOfOthersAndNoneThatNeverWas() async throws {
    try await self.withClient { client in
      for query in [UUID().uuidString, "not-a-uuid"] {
        await self.expectRefusal(.notFound, "server.batch.unknown-operation") {
          _ = try await client.batch.queryStatus(.with { $0.id = query }, metadata: Self.key)
        }
      }
      await self.expectRefusal(.notFound, "server.batch.unknown-operation") {
        _ = try await client.batch.queryStatus(.with { $0.reference = "none" }, metadata: Self.key)
      }
      await self.expectRefusal(.invalidArgument, "speech.stream.request-invalid") {
        _ = try await client.batch.queryStatus(.init(), metadata: Self.key)
      }
    }
  }

  @Test func saysWhatIsWrongWithARecordingThatCannotBeRead() async throws {
    try await self.withClient { client in
      let damaged = Data("RIFF\u{10}\0\0\0WAVEdata\u{8}\0\0\0aaaaaaaa".utf8)
      let operation = try await self.process(client, Self.request(), damaged)
      let ended = try await self.ended(client, operation.id)
      #expect(ended.status == .error)
      #expect(ended.error.hasSuffix("[audio.file.not-audio]"), "\(ended.error)")
    }
  }

  @Test func saysThatTheRecogniserFailedAndGoesOn() async throws {
    var engine = RunEngine()
    engine.failingWord = "w9"
    try await self.withClient(engine: engine) { client in
      let bad = try await self.process(client, Self.request(), Self.bytes(RunEngine.audio([9])))
      let good = try await self.process(client, Self.request(), Self.bytes(RunEngine.audio([1])))
      let ended1 = try await self.ended(client, bad.id)
      #expect(ended1.error.contains("[speech.engine.failed]"))
      let ended2 = try await self.ended(client, good.id)
      #expect(ended2.transcripts.map(\.word) == ["w1"])
    }
  }

  // MARK: Results

  @Test func recognisesSamplesWithoutAHeader() async throws {
    try await self.withClient { client in
      let audio = Self.bytes(RunEngine.audio([1, 2, 3]))
      let queued = try await self.process(
        client,
        Self.request {
          $0.reference = "call-7"
          $0.deviceID = "phone"
        }, audio)
      #expect(queued.status == .queued || queued.status == .processing)
      let operation = try await self.ended(client, queued.id)
      #expect(operation.status == .done)
      #expect(operation.transcripts.map(\.word) == ["w1", "w2", "w3"])
      #expect(operation.transcripts.map(\.index) == [0, 1, 2])
      #expect(operation.transcripts.map(\.startTime) == [0, 300, 600])
      #expect(operation.transcripts.map(\.endTime) == [200, 500, 800])
      #expect(operation.duration == Google_Protobuf_Duration(seconds: 0, nanos: 900_000_000))
      #expect(operation.languageCode == "en-US")
      #expect(operation.appID == Fixture.appID)
      #expect(operation.deviceID == "phone")
      let byReference = try await client.batch.queryStatus(
        .with { $0.reference = "call-7" }, metadata: Self.key)
      #expect(byReference.operation == operation)
    }
  }

  @Test func mixesChannelsAndReadsTheHeader() async throws {
    try await self.withClient { client in
      let mono = RunEngine.audio([4, 5])
      let stereo = Self.bytes(mono.flatMap { [$0, $0] })
      var header = Data("RIFF".utf8)
      func number(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(value >> (8 * $0) & 255) }
      }
      header += number(36 + stereo.count, 4) + Array("WAVEfmt ".utf8) + number(16, 4) + number(1, 2)
      header += number(2, 2) + number(16_000, 4) + number(64_000, 4) + number(4, 2) + number(16, 2)
      header += Array("data".utf8) + number(stereo.count, 4)
      // What the request says of a recording with a header does not count.
      let operation = try await self.process(client, Self.request(rate: 8000, channels: 1), header + stereo)
      let ended3 = try await self.ended(client, operation.id)
      #expect(ended3.transcripts.map(\.word) == ["w4", "w5"])
      let raw = try await self.process(client, Self.request(channels: 2), stereo)
      let ended4 = try await self.ended(client, raw.id)
      #expect(ended4.transcripts.map(\.word) == ["w4", "w5"])
    }
  }

  @Test func keepsResultsOverARestart() async throws {
    let folder = try Fixture.Folder()
    let before = try await self.withClient(in: folder) { client in
      let operation = try await self.process(client, Self.request(), Self.bytes(RunEngine.audio([1, 2])))
      return try await self.ended(client, operation.id)
    }
    try await self.withClient(in: folder) { client in
      let ended5 = try await self.ended(client, before.id)
      #expect(ended5 == before)
    }
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/batch")
    #expect(left == ["\(before.id).json"])
  }

  @Test func beginsAnewWhatARestartInterrupted() async throws {
    let folder = try Fixture.Folder()
    let store = BatchStore(dataFolder: folder.path)
    var job = BatchJob(
      id: UUID(), reference: "interrupted", project: ServerConfiguration.App.demo.project,
      app: ServerConfiguration.App.demo.id, deviceID: "", language: "en-US",
      format: .init(sampleRate: 16_000, channels: 1), createdAt: Int64(Date().timeIntervalSince1970))
    job.status = .processing
    job.attempts = 1
    let spool = try store.makeSpool(for: job.id)
    try spool.append(Self.bytes(RunEngine.audio([6])))
    try spool.finish()
    try store.keep(job)
    let id = job.id.uuidString
    try await self.withClient(in: folder) { client in
      let ended6 = try await self.ended(client, id)
      #expect(ended6.transcripts.map(\.word) == ["w6"])
    }
  }
}
