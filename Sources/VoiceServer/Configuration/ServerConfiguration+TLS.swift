import Foundation
import NIOSSL
import VoiceCore

extension ServerConfiguration.TLS {
  /// - Throws: ``VoiceFailure`` `server.tls.certificate-invalid`.
  func checkFiles() throws(VoiceFailure) {
    for path in [self.certificate, self.key] where !FileManager.default.isReadableFile(atPath: path) {
      throw VoiceFailure(
        .certificateInvalid,
        message: "The file \(path) cannot be read. Name PEM files that exist and that the server may read.")
    }
  }

  /// What the HTTP port shows to its clients; calls come to it as `wss`.
  ///
  /// - Throws: ``VoiceFailure`` `server.tls.certificate-invalid`.
  func httpContext() throws(VoiceFailure) -> NIOSSLContext {
    try self.checkFiles()
    do {
      let chain = try NIOSSLCertificate.fromPEMFile(self.certificate)
      var configuration = TLSConfiguration.makeServerConfiguration(
        certificateChain: chain.map { .certificate($0) },
        privateKey: .privateKey(try NIOSSLPrivateKey(file: self.key, format: .pem)))
      // WebSockets begin with HTTP/1.1 here (RFC 6455); a client that offers more gets that.
      configuration.applicationProtocols = ["http/1.1"]
      return try NIOSSLContext(configuration: configuration)
    } catch {
      throw VoiceFailure(
        .certificateInvalid,
        message:
          "The certificate or the key of the server cannot be used. Give PEM files that belong together.",
        cause: error)
    }
  }
}
