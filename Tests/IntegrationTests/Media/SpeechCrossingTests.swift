import CallMedia
import Foundation
import PocketSphinxRecognition
import RealtimeMedia
import Testing
import VoiceAudio
import VoiceTesting

extension MediaInteropTests {
  /// A command crosses a call with an independent peer, and the recogniser understands it behind it.
  @Suite(.serialized) struct SpeechCrossingTests {
    private static let command = "turn on the radio in the living room"
    private static let templates = """
      *turn_on [turn | switch] on the [lights | radio | heating] in the [kitchen | bedroom | living room]
      *turn_off [turn | switch] off the [lights | radio | heating] in the [kitchen | bedroom | living room]
      *play play some [jazz | rock | classical] music
      """

    @Test(arguments: [RemoteMedia.Kind.aiortc, .chromium], Codec.allCases)
    func whatThePeerSaysIsUnderstood(kind: RemoteMedia.Kind, codec: Codec) async throws {
      try await withTemporaryFolder { folder in
        let recording = try AssistantCallTests.recording(of: Self.command, in: folder)
        let heard = try await RemoteMedia.with(kind, ["--codecs", codec.rawValue]) { peer in
          try await OwnMedia.with(codecs: codec.own, tone: nil) { own in
            try await peer.called(by: own)
            try await own.hears(700)
            try await peer.ask("tone", ["hz": 0], for: "tone")
            try await own.hearsNothing()
            async let heard = own.hearsSpeech()
            try await peer.ask("play", ["file": recording], for: "playing")
            return try await heard
          }
        }
        try await Self.expectCommand(in: SamplesSource(samples: heard, sampleRate: 48_000))
      }
    }

    @Test(arguments: [RemoteMedia.Kind.aiortc, .chromium], Codec.allCases)
    func whatWeSayIsUnderstoodBehindThePeer(kind: RemoteMedia.Kind, codec: Codec) async throws {
      try await withTemporaryFolder { folder in
        let recording = try AssistantCallTests.recording(of: Self.command, in: folder)
        let record = folder.appendingPathComponent("heard.wav").path
        try await RemoteMedia.with(kind, ["--codecs", codec.rawValue, "--record", record]) { peer in
          try await OwnMedia.with(codecs: codec.own, tone: nil) { own in
            try await peer.called(by: own)
            try await own.hears(700)
            try await own.session.audio.play(AudioFileSource(path: recording))
            try await peer.hears(0)
            // The recording is complete once the peer has ended.
            try await peer.ask("quit", for: "ended")
          }
        }
        try await Self.expectCommand(in: AudioFileSource(path: record))
      }
    }

    private static func expectCommand(in source: any AudioSource) async throws {
      let words = try await Hearing.words(
        in: source, with: PocketSphinxEngine(), templates: Self.templates)
      #expect(words == Self.command)
    }
  }
}

extension OwnMedia {
  /// Waits for speech and its end: three seconds of silence after it, because a peer on a busy machine may pause for one.
  func hearsSpeech(within limit: Duration = .seconds(30)) async throws -> [Int16] {
    let audio = self.session.audio
    let speech = try await Deadline.within(limit) {
      var heard: [Int16] = []
      var quiet = 0
      for await frame in audio.frames {
        let isLoud = Tones.power(of: frame.samples[...]) > 1e4
        quiet = isLoud ? 0 : quiet + frame.samples.count
        if isLoud || !heard.isEmpty { heard += frame.samples }
        if !heard.isEmpty, quiet >= 144_000 { return heard }
      }
      return heard
    }
    guard let speech else { throw TooLate(description: "Our side did not hear speech end within \(limit).") }
    return speech
  }
}
