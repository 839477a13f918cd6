import Foundation
import PocketSphinxRecognition
import SpeechStreaming
import Testing
import VoiceAudio
import VoiceCore
import VoiceServer
import VoiceTesting

/// Secure connections, and each way in which they cannot be made.
@Suite struct TLSTests {
  @Test func wordsComeOverASecureConnectionToAServerWithAnAuthorityOfItsOwn() async throws {
    try await Self.withServer(TestCertificates.server) { server, trusted in
      let result = try await recognize(
        Recording.goForward, Self.configuration(server, trusted: trusted(TestCertificates.authority)))
      #expect(result.context.text == "go forward ten meters")
      #expect(result.failures.isEmpty)
    }
  }

  @Test func aCertificateThatIsNotTrustedIsReported() async throws {
    try await Self.withServer(TestCertificates.server) { server, trusted in
      for trusted in [try trusted(TestCertificates.otherAuthority), nil] {
        let failure = await Self.failure(Self.configuration(server, trusted: trusted))
        #expect(failure?.code == .tlsFailed)
        #expect(failure?.message.contains("is not trusted") == true)
      }
    }
  }

  @Test func anExpiredCertificateIsReported() async throws {
    try await Self.withServer(TestCertificates.expired) { server, trusted in
      let failure = await Self.failure(
        Self.configuration(server, trusted: try trusted(TestCertificates.authority)))
      #expect(failure?.code == .tlsFailed)
      #expect(failure?.message.contains("expired") == true)
    }
  }

  @Test(arguments: ["127.0.0.1", "localhost"])
  func aCertificateForAnotherNameIsReported(host: String) async throws {
    try await Self.withServer(TestCertificates.otherName) { server, trusted in
      let failure = await Self.failure(
        Self.configuration(server, host: host, trusted: try trusted(TestCertificates.authority)))
      #expect(failure?.code == .tlsFailed)
      #expect(failure?.message.contains("for another name") == true)
    }
  }

  @Test func aServerThatExpectsTLSIsToldApartFromABrokenConnection() async throws {
    try await Self.withServer(TestCertificates.server) { server, _ in
      let failure = await Self.failure(server.configuration())
      #expect(failure?.code == .tlsFailed)
      #expect(failure?.message.contains("Write grpc+tls://") == true)
    }
  }

  @Test func aServerWithoutTLSIsReported() async throws {
    try await RunningServer.with(engine: try PocketSphinxEngine()) { server in
      let failure = await Self.failure(Self.configuration(server, trusted: nil))
      #expect(failure?.code == .tlsFailed)
      #expect(failure?.message.contains("Write grpc://") == true)
    }
  }

  @Test(arguments: [nil, "", "no certificate", TestCertificates.key])
  func aFileWithoutCertificatesToTrustIsNamed(content: String?) async throws {
    try await withTemporaryFolder { folder in
      let path = folder.appending(path: "trusted.pem").path
      try content?.write(toFile: path, atomically: true, encoding: .utf8)
      var configuration = SpeechClient.Configuration(app: .app(UUID()))
      configuration.identityAddress = "grpc+tls://127.0.0.1:1"
      configuration.trustedCertificates = path
      let failure = await Self.failure(configuration)
      #expect(failure?.code == .tlsFailed)
      #expect(failure?.message.contains("“\(path)”") == true)
    }
  }

  // MARK: Helpers

  /// Runs a server with a certificate; the body gets a function that writes a certificate to trust into a file.
  private static func withServer(
    _ certificate: String,
    _ body: @Sendable @escaping (RunningServer, @Sendable (String) throws -> String) async throws -> Void
  ) async throws {
    try await withTemporaryFolder { folder in
      let tls = ServerConfiguration.TLS(
        certificate: folder.appending(path: "server.pem").path, key: folder.appending(path: "key.pem").path)
      try certificate.write(toFile: tls.certificate, atomically: true, encoding: .utf8)
      try TestCertificates.key.write(toFile: tls.key, atomically: true, encoding: .utf8)
      try await RunningServer.with(engine: try PocketSphinxEngine(), configure: { $0.tls = tls }) { server in
        try await body(server) { trusted in
          let path = folder.appending(path: "trusted.pem").path
          try trusted.write(toFile: path, atomically: true, encoding: .utf8)
          return path
        }
      }
    }
  }

  private static func configuration(
    _ server: RunningServer, host: String = "127.0.0.1", trusted: String?
  ) -> SpeechClient.Configuration {
    var configuration = server.configuration()
    configuration.identityAddress = "grpc+tls://\(host):\(server.port)"
    configuration.speechAddress = configuration.identityAddress
    configuration.trustedCertificates = trusted
    return configuration
  }

  private static func failure(_ configuration: SpeechClient.Configuration) async -> VoiceFailure? {
    do {
      let client = try SpeechClient(
        configuration: configuration, source: SilenceSource(duration: .seconds(1)))
      try await client.prepare()
      return nil
    } catch {
      return error as? VoiceFailure
    }
  }
}
