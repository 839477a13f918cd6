import Calls
import VoiceCore

/// The sample of docs/apple.md, with a stand-in for what is on Apple platforms alone; Support/AppleTypecheck has its interface.
enum AppleMediaSamples {
  private struct WebRTCFrameworkMedia: MediaPeerFactory {
    let supportedCodecs: [TxCodecCapability] = []

    func makePeer(_ setup: MediaPeerSetup) throws -> any MediaPeer { throw CancellationError() }
  }

  func talk(to destination: String, as user: TxConfig) async throws {
    let client = TxClient(media: WebRTCFrameworkMedia())
    defer { client.disconnect() }
    try client.connect(txConfig: user)
    let call = try await client.call(destination)
    try await call.answered()
    for await event in call.events { print(event) }
  }
}
