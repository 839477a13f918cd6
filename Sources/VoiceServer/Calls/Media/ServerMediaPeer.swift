import CallSignaling
import VoiceCore

/// The server's side of the media of one call to a service such as `echo`.
///
/// A call hands it commands in order; what it says goes to the closure that it was made with. It must not block.
protocol ServerMediaPeer: Sendable {
  /// Does what the call asks for; nothing comes after ``MediaCommand/stop``.
  func handle(_ command: MediaCommand)
}

/// Makes the media of calls to services.
protocol ServerMediaPeerFactory: Sendable {
  /// Makes the media of one call.
  ///
  /// - Parameter tell: Takes what the media says, from any thread.
  func makePeer(_ tell: @escaping @Sendable (MediaEvent) -> Void) -> any ServerMediaPeer
}

/// Answers calls to services with descriptions that fit the offer, without sound.
///
/// `echo` answers the way of a call with early media: `ringing`, `media` with the description, `answer` without one. `silence`
/// and `assistant` ring and answer with a description.
struct ScriptedMediaPeers: ServerMediaPeerFactory {
  func makePeer(_ tell: @escaping @Sendable (MediaEvent) -> Void) -> any ServerMediaPeer {
    Peer(tell: tell)
  }

  private struct Peer: ServerMediaPeer {
    let tell: @Sendable (MediaEvent) -> Void

    func handle(_ command: MediaCommand) {
      switch command {
      case .start(let service, let offer):
        guard let answer = ScriptedDescription.answer(to: offer) else { return self.tell(.failed) }
        self.tell(.rang)
        switch service {
        case .echo:
          self.tell(.early(answer))
          self.tell(.answered(nil))
        case .silence, .assistant: self.tell(.answered(answer))
        }
      case .renegotiate(let offer, let question):
        let answer = ScriptedDescription.answer(to: offer)
        self.tell(
          answer.map { .renegotiated($0, question: question) } ?? .renegotiationRefused(question: question))
      case .makeOffer: self.tell(.offered(ScriptedDescription.offer))
      case .takeAnswer, .hold, .tones, .candidate, .endOfCandidates, .stop: break
      }
    }
  }
}

/// Descriptions that are well-formed and belong to no media.
enum ScriptedDescription {
  private static let head = ["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0"]
  private static let credentials = ["a=ice-ufrag:scripted", "a=ice-pwd:scriptedscriptedscripted"]

  /// An offer of one audio section with Opus and G.711.
  static let offer = SDP(
    Self.text(
      Self.head + ["m=audio 9 UDP/TLS/RTP/SAVPF 111 0", "c=IN IP4 0.0.0.0", "a=mid:0"] + Self.credentials
        + [
          "a=setup:actpass", "a=rtcp-mux", "a=rtpmap:111 opus/48000/2", "a=rtpmap:0 PCMU/8000", "a=sendrecv",
        ]))

  /// The answer to an offer: its first audio section with its first format, other sections refused (RFC 3264 section 6).
  ///
  /// - Returns: `nil` if there is no audio section with a format.
  static func answer(to offer: SDP) -> SDP? {
    var sections: [[String]] = []
    for line in offer.text.split(whereSeparator: \.isNewline).map({ String($0) }) {
      if line.hasPrefix("m=") {
        sections.append([line])
      } else if !sections.isEmpty {
        sections[sections.count - 1].append(line)
      }
    }
    var lines = Self.head
    var hasAudio = false
    for section in sections.prefix(16) {
      // m=audio 9 UDP/TLS/RTP/SAVPF 111 0
      let parts = (section.first ?? "").dropFirst(2).split(separator: " ")
      guard parts.count >= 4 else { return nil }
      let isAudio = parts[0] == "audio" && !hasAudio
      let mid = section.first { $0.hasPrefix("a=mid:") }
      guard isAudio else {
        lines += ["m=\(parts[0]) 0 \(parts[2]) \(parts[3])", "c=IN IP4 0.0.0.0"] + (mid.map { [$0] } ?? [])
        continue
      }
      hasAudio = true
      let format = parts[3]
      lines += ["m=audio 9 \(parts[2]) \(format)", "c=IN IP4 0.0.0.0"] + (mid.map { [$0] } ?? [])
      lines += Self.credentials + ["a=setup:active", "a=rtcp-mux"]
      lines += section.filter { $0.hasPrefix("a=rtpmap:\(format) ") || $0.hasPrefix("a=fmtp:\(format) ") }
      lines.append(section.contains("a=sendonly") ? "a=recvonly" : "a=sendrecv")
    }
    return hasAudio ? SDP(Self.text(lines)) : nil
  }

  private static func text(_ lines: [String]) -> String { lines.map { $0 + "\r\n" }.joined() }
}
