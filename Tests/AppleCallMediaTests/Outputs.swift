import CallMedia
import CallSignaling
import Calls
import VoiceCore

@testable import AppleCallMedia

extension MediaPeerEvent {
  /// What an event says, to compare it by.
  var word: String {
    switch self {
    case .connected: "connected"
    case .interrupted: "interrupted"
    case .failed: "failed"
    case .candidateFound(let candidate): "candidate \(candidate?.line ?? "end")"
    case .measured: "measured"
    case .qualityChanged(let change): "\(change)"
    case .keyPressed(let key): "key \(key)"
    case .warned(let failure): "\(failure.code)"
    }
  }
}

extension [PeerMachine.Output] {
  var words: [String] {
    self.map { output in
      switch output {
      case .report(let event): event.word
      case .gathered: "gathered"
      case .setAudio(let sends, let plays): "sends \(sends), plays \(plays)"
      case .measure: "measure"
      }
    }
  }
}

extension MediaCandidate {
  static func host(_ number: Int) -> MediaCandidate {
    MediaCandidate(line: "candidate:1 1 udp 2122260223 192.0.2.\(number) 40000 typ host")
  }
}
