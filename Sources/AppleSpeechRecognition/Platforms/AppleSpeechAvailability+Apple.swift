#if canImport(Speech) && !os(tvOS)
  import Foundation
  import Speech
  public import VoicePlatform

  /// Tells when Apple's speech recognition for a language becomes available or stops being so, as with the network.
  public final class AppleSpeechAvailability: AvailabilityMonitor {
    private let observer: Observer

    /// Creates a monitor; for an unknown language it never tells anything.
    public init(language: String) {
      self.observer = Observer(language: language)
    }

    public func changes() -> AsyncStream<Void> {
      let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
      let changes = self.observer.changes.changes()
      // The recogniser holds its delegate weakly: the reader keeps it.
      let forwarding = Task { [observer] in
        for await _ in changes { continuation.yield() }
        withExtendedLifetime(observer) { continuation.finish() }
      }
      continuation.onTermination = { _ in forwarding.cancel() }
      return stream
    }

    // @unchecked: nothing is changed after the initialiser.
    private final class Observer: NSObject, SFSpeechRecognizerDelegate, @unchecked Sendable {
      let changes = ManualAvailabilityMonitor()
      private let recognizer: SFSpeechRecognizer?

      init(language: String) {
        self.recognizer = SFSpeechRecognizer(locale: Locale(identifier: language))
        super.init()
        self.recognizer?.delegate = self
      }

      func speechRecognizer(
        _ speechRecognizer: SFSpeechRecognizer, availabilityDidChange available: Bool
      ) {
        self.changes.change()
      }
    }
  }
#endif
