import CallMedia
import Foundation
import PocketSphinxRecognition
import RealtimeMedia
import Testing
import VoiceAudio
import VoiceTesting

extension MediaInteropTests {
  /// A sentence that a person read crosses a call with an independent peer, and the recogniser understands it behind it.
  @Suite(.serialized) struct SpeechCrossingTests {
    private static let recording =
      "/usr/share/pocketsphinx/test/data/librivox/sense_and_sensibility_01_austen_64kb-0930.wav"
    private static let sentence = "he might even have been made amiable himself".split(separator: " ")

    @Test(arguments: [RemoteMedia.Kind.aiortc, .chromium], Codec.allCases)
    func whatThePeerSaysIsRecognised(kind: RemoteMedia.Kind, codec: Codec) async throws {
      try await RemoteMedia.with(kind, ["--codecs", codec.rawValue]) { peer in
        try await OwnMedia.with(codecs: codec.own, tone: nil) { own in
          try await peer.called(by: own)
          try await own.hears(700)
          try await peer.ask("tone", ["hz": 0], for: "tone")
          try await own.hearsNothing()
          async let heard = own.hearsSpeech()
          try await peer.ask("play", ["file": Self.recording], for: "playing")
          try await Self.expectSentence(
            in: SamplesSource(samples: try await heard, sampleRate: 48_000))
        }
      }
    }

    @Test(arguments: [RemoteMedia.Kind.aiortc, .chromium], Codec.allCases)
    func whatWeSayIsRecognisedBehindThePeer(kind: RemoteMedia.Kind, codec: Codec) async throws {
      try await withTemporaryFolder { folder in
        let record = folder.appendingPathComponent("heard.wav").path
        try await RemoteMedia.with(kind, ["--codecs", codec.rawValue, "--record", record]) { peer in
          try await OwnMedia.with(codecs: codec.own, tone: nil) { own in
            try await peer.called(by: own)
            try await own.hears(700)
            try await own.session.audio.play(AudioFileSource(path: Self.recording))
            try await peer.hears(0)
            // The recording is complete once the peer has ended.
            try await peer.ask("quit", for: "ended")
          }
        }
        try await Self.expectSentence(in: AudioFileSource(path: record))
      }
    }

    /// Two words of the eight may be misheard, as the telephone's band does not carry all of them.
    private static func expectSentence(in source: any AudioSource) async throws {
      let words = try await Hearing.words(in: source, with: PocketSphinxEngine()).split(separator: " ")
      let missing = words.difference(from: Self.sentence).removals.count
      #expect(missing <= 2, "heard: \(words.joined(separator: " "))")
    }
  }
}

extension OwnMedia {
  /// Waits for speech and its end: a second of silence after it.
  func hearsSpeech(within limit: Duration = .seconds(30)) async throws -> [Int16] {
    let audio = self.session.audio
    let speech = try await Deadline.within(limit) {
      var heard: [Int16] = []
      var quiet = 0
      for await frame in audio.frames {
        let isLoud = Tones.power(of: frame.samples[...]) > 1e4
        quiet = isLoud ? 0 : quiet + frame.samples.count
        if isLoud || !heard.isEmpty { heard += frame.samples }
        if !heard.isEmpty, quiet >= 48_000 { return heard }
      }
      return heard
    }
    guard let speech else { throw TooLate(description: "Our side did not hear speech end within \(limit).") }
    return speech
  }
}
