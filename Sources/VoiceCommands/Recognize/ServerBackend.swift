import SpeechStreaming
import Synchronization
import VoiceAudio
import VoiceCore

/// Recognises with a server, through the client that apps use.
///
/// A server that was never reached is reported at once: nobody wants to wait a minute to hear of a wrong address. Once it
/// has answered, losing it is repaired by the client.
final class ServerBackend: RecognitionBackend {
  let summary: String
  private let configuration: SpeechClient.Configuration
  private let options: [String: [String]]
  private let wasReached = Atomic(false)

  init(configuration: SpeechClient.Configuration, options: [String: [String]] = [:]) {
    self.configuration = configuration
    self.options = options
    let address = GRPCAddress.withoutUserInfo(configuration.speechAddress)
    self.summary =
      "using the server at \(address.hasPrefix("grpc://") ? String(address.dropFirst(7)) : address)"
  }

  func prepare() async throws(VoiceFailure) {}

  func recognize(
    _ source: any AudioSource, until stop: StopRequest,
    report: @escaping @Sendable (RecognitionUpdate) -> Void
  ) async {
    defer { stop.whenMade(nil) }
    do {
      try await withSpeechClient(self.configuration, source: source) { [options] client in
        let events = client.events
        client.start(appId: nil, options: options)
        stop.whenMade { client.stop() }
        for await event in events {
          switch event {
          case .recordingStarted: report(.recordingStarted)
          case .started(let contextId):
            self.wasReached.store(true, ordering: .relaxed)
            report(.started(contextId: contextId))
          case .segmentUpdated(let segment): report(.segment(TranscriptSegment(segment)))
          case .recovered(let recovery): report(.recovered(recovery))
          case .degraded(let degradation): report(.degraded(degradation))
          case .failed(let failure):
            if let final = self.firstContact(failure) { throw final }
            report(.failed(failure))
          case .finished(let context):
            report(.finished(contextId: context?.id))
            return
          case .stateChanged, .transcript, .entity, .intent: break
          }
        }
      }
    } catch let failure as VoiceFailure {
      report(.failed(failure))
      report(.finished(contextId: nil))
    } catch {
      guard !Task.isCancelled else { return }
      report(.failed(VoiceFailure(.unexpected, cause: error)))
      report(.finished(contextId: nil))
    }
  }

  /// The failure that ends the attempt if the client would go on trying a server that was never there.
  private func firstContact(_ failure: VoiceFailure) -> VoiceFailure? {
    guard !self.wasReached.load(ordering: .relaxed), case .automatic = failure.recovery,
      failure.code.rawValue.hasPrefix("network.")
    else { return nil }
    return failure.with(recovery: .retry)
  }
}
