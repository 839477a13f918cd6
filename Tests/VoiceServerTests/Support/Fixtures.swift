import Foundation
import SpeechProtocol
import SwiftProtobuf
import VoiceCore
import VoiceTesting

@testable import VoiceServer

/// Apps, keys and requests that many tests use.
enum Fixture {
  static let appID = "00000000-0000-4000-8000-000000000001"
  static let siblingID = "00000000-0000-4000-8000-000000000003"
  static let foreignID = "00000000-0000-4000-8000-000000000004"
  static let projectID = "00000000-0000-4000-8000-000000000002"
  static let deviceID = "dddddddd-0000-4000-8000-000000000001"
  static let apiKey = "a-long-lived-project-key"

  /// Two apps of one project and one of another.
  static func configuration(dataFolder: String = "/none-such") -> ServerConfiguration {
    let project = UUID(uuidString: self.projectID) ?? UUID()
    return ServerConfiguration(
      grpcPort: 0, httpPort: 0, dataFolder: dataFolder,
      apps: [
        .demo,
        .init(
          id: UUID(uuidString: self.siblingID) ?? UUID(), name: "sibling", project: project,
          segmentingSilence: .milliseconds(720)),
        .init(id: UUID(uuidString: self.foreignID) ?? UUID(), name: "foreign", project: UUID()),
      ],
      projects: [.init(id: project, apiKeys: [self.apiKey])])
  }

  static func key(seed: UInt64 = 1) -> SigningKey {
    var generator = SeededGenerator(seed: seed)
    return SigningKey(using: &generator)
  }

  static func authority(
    key: SigningKey = Fixture.key(), lifetime: Duration = .seconds(86_400), now: Int64 = 1_700_000_000
  ) async -> TokenAuthority {
    await TokenAuthority(key: key, lifetime: lifetime, now: { now })
  }

  /// A folder that is removed when the value goes away.
  final class Folder: Sendable {
    let path: String

    init() throws {
      self.path = FileManager.default.temporaryDirectory.path + "/voice-" + UUID().uuidString
      try FileManager.default.createDirectory(atPath: self.path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: self.path) }
  }
}

/// Requests of a stream.
enum Request {
  typealias Message = Speechly_Slu_V1_SLURequest

  static func config(
    channels: Int32 = 1, rate: Int32 = 16_000, language: String = "",
    options: [String: String] = [:]
  ) -> Message {
    .with {
      $0.config.channels = channels
      $0.config.sampleRateHertz = rate
      $0.config.languageCode = language
      $0.config.options = options.map { key, value in
        .with {
          $0.key = key
          $0.value = [value]
        }
      }
    }
  }

  static func start(app: String = "", options: [String: String] = [:]) -> Message {
    .with {
      $0.start.appID = app
      $0.start.options = options.map { key, value in
        .with {
          $0.key = key
          $0.value = [value]
        }
      }
    }
  }

  static let stop = Message.with { $0.stop = .init() }
  /// An empty event is a start.
  static let startEvent = Message.with { $0.event = .init() }
  static let stopEvent = Message.with { $0.event.event = .stop }

  static func audio(samples: Int) -> Message { self.audio(bytes: samples * 2) }
  static func audio(bytes: Int) -> Message { .with { $0.audio = Data(repeating: 1, count: bytes) } }
  static func roundTrip(_ id: Int32) -> Message { .with { $0.rttResponse.id = id } }
}
