import Foundation
import GRPCCore
import SpeechProtocol
import SwiftProtobuf
import VoiceCore

/// `speechly.slu.v1.BatchAPI`: recognition of whole recordings in the background.
struct BatchService: Speechly_Slu_V1_BatchAPI.ServiceProtocol {
  let gate: ServiceGate
  let worker: BatchWorker
  /// The time in seconds since 1970-01-01T00:00:00 UTC.
  let now: @Sendable () -> Int64

  /// A recording that is coming in.
  private struct Intake: Sendable {
    var job: BatchJob
    var config: Speechly_Slu_V1_AudioConfiguration
    var spool: AudioSpool
  }

  func processAudio(
    request: StreamingServerRequest<Speechly_Slu_V1_ProcessAudioRequest>, context: ServerContext
  ) async throws -> ServerResponse<Speechly_Slu_V1_ProcessAudioResponse> {
    try await self.gate.answer(context) { () async throws(Refusal) in
      let project = try self.gate.project(of: request.metadata)
      let intake = Shared<Intake?>(nil)
      do throws(Refusal) {
        try await self.gate.read(request.messages) { message throws(Refusal) in
          let current: Intake
          if let known = intake.value { current = known } else { current = try self.intake(message, project) }
          intake.value = current
          switch message.source {
          case .audio(let bytes):
            try Refusal.from { () throws(VoiceFailure) in try current.spool.append(bytes) }
          case .uri, .httpSource: throw Self.fetches
          case nil: break
          }
        }
        guard let finished = intake.value else {
          throw Refusal(
            .requestInvalid, "There is no recording in the request. Send its app id, config and audio.")
        }
        let job = try self.finish(finished)
        return ServerResponse(message: .with { $0.operation = .init(job) })
      } catch {
        if let job = intake.value?.job { self.worker.store.remove(job.id) }
        throw error
      }
    }
  }

  private func intake(
    _ message: Speechly_Slu_V1_ProcessAudioRequest, _ project: UUID
  ) throws(Refusal) -> Intake {
    let app = try self.gate.app(message.appID, of: project)
    switch message.source {
    case .uri, .httpSource: throw Self.fetches
    case .audio, nil: break
    }
    switch message.destination {
    case .resultsUri, .httpResult: throw Self.delivers
    case nil: break
    }
    let config = message.config
    guard config.encoding == .linear16 else {
      throw Refusal(
        .requestInvalid,
        "The encoding \(config.encoding.rawValue) is not known. Send signed 16-bit little-endian samples, with a "
          + "WAV header or without one (ENCODING_LINEAR16, 1).")
    }
    guard config.languageCodes.allSatisfy({ $0.isEmpty || Language.same($0, app.language) }) else {
      throw Refusal(LoginDesk.wrongLanguage(of: app))
    }
    guard message.reference.utf8.count <= 200, message.deviceID.utf8.count <= 200 else {
      throw Refusal(
        .requestInvalid, "The reference and the device id may have 200 bytes each. Send shorter ones.")
    }
    let job = BatchJob(
      id: UUID(), reference: message.reference, project: project, app: app.id, deviceID: message.deviceID,
      language: app.language, createdAt: self.now())
    let spool = try Refusal.from { () throws(VoiceFailure) in try self.worker.store.makeSpool(for: job.id) }
    return Intake(job: job, config: config, spool: spool)
  }

  private func finish(_ intake: Intake) throws(Refusal) -> BatchJob {
    var job = intake.job
    guard intake.spool.count > 0 else { throw Refusal(VoiceFailure(.audioEmpty), status: .invalidArgument) }
    if !intake.spool.startsWithHeader {
      let format = BatchJob.Format(
        sampleRate: Int(intake.config.sampleRateHertz), channels: Int(intake.config.channels))
      guard StreamMachine.sampleRates.contains(format.sampleRate),
        StreamMachine.channelCounts.contains(format.channels)
      else {
        throw Refusal(
          .requestInvalid,
          "\(format.channels) channels at \(format.sampleRate) Hz cannot be used. Send 1 to 16 channels at 8000 to "
            + "48000 Hz, or a WAV header.")
      }
      job.format = format
    }
    try Refusal.from { () throws(VoiceFailure) in try intake.spool.finish() }
    try self.worker.submit(job)
    return job
  }

  func queryStatus(
    request: ServerRequest<Speechly_Slu_V1_QueryStatusRequest>, context: ServerContext
  ) async throws -> ServerResponse<Speechly_Slu_V1_QueryStatusResponse> {
    try await self.gate.answer(context) { () async throws(Refusal) in
      let project = try self.gate.project(of: request.metadata)
      let query = request.message
      guard !query.id.isEmpty || !query.reference.isEmpty else {
        throw Refusal(.requestInvalid, "The id is missing. Send the id of an operation, or its reference.")
      }
      let id = query.id.isEmpty ? nil : UUID(uuidString: query.id)
      guard query.id.isEmpty || id != nil,
        let job = self.worker.job(id, reference: query.reference, of: project)
      else { throw Refusal(VoiceFailure(.operationUnknown)) }
      return ServerResponse(message: .with { $0.operation = .init(job) })
    }
  }

  private static let fetches = Refusal(
    .sourceNotOffered, "The server does not fetch recordings. Send the bytes of the recording as audio.")
  private static let delivers = Refusal(
    .sourceNotOffered,
    "The server does not deliver results. Leave the destination empty and ask with QueryStatus.")
}

extension Refusal {
  /// What the body gives; its failure becomes a refusal.
  fileprivate static func from<Value>(_ body: () throws(VoiceFailure) -> Value) throws(Refusal) -> Value {
    do throws(VoiceFailure) { return try body() } catch { throw Refusal(error) }
  }
}

extension Speechly_Slu_V1_Operation {
  init(_ job: BatchJob) {
    self.init()
    self.id = job.id.uuidString.lowercased()
    self.reference = job.reference
    self.languageCode = job.language
    self.appID = job.app.uuidString.lowercased()
    self.deviceID = job.deviceID
    self.error = job.error
    switch job.status {
    case .queued: self.status = .queued
    case .processing: self.status = .processing
    // The words before the failure are better than none.
    case .failed:
      self.status = .error
      self.takeResult(of: job)
    case .done:
      self.status = .done
      self.takeResult(of: job)
    }
  }

  private mutating func takeResult(of job: BatchJob) {
    self.duration = Google_Protobuf_Duration(
      seconds: job.milliseconds / 1000, nanos: Int32(job.milliseconds % 1000) * 1_000_000)
    self.transcripts = job.words.enumerated().map { index, word in
      .with {
        $0.word = word.text
        $0.index = Int32(clamping: index)
        $0.startTime = word.start
        $0.endTime = word.end
      }
    }
  }
}
