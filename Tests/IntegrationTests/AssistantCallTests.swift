import CallMedia
import CallSignaling
import Calls
import Foundation
import PocketSphinxRecognition
import SpeechPipeline
import Testing
import VoiceAudio
import VoiceCore
import VoiceServer
import VoiceTesting

/// A person who calls the assistant: our client, our gateway, real sockets, the real recogniser, real speech.
@Suite(.timeLimit(.minutes(4)), .serialized) struct AssistantCallTests {
  /// What a voice of flite says, in a WAV file.
  static func recording(of text: String, in folder: URL) throws -> String {
    let path = folder.appendingPathComponent("\(text.count).wav").path
    let status = try RunningProgram("/usr/bin/flite", ["-voice", "rms", "-t", text, "-o", path]).wait()
    try #require(status == 0)
    return path
  }

  /// Waits for speech of the other side and its end: half a second of silence after it.
  static func hearSentence(in frames: inout CallAudioFrames.Iterator) async -> [Int16] {
    var heard: [Int16] = []
    var quiet = 0
    while let frame = await frames.next() {
      let isLoud = Tones.power(of: frame.samples[...]) > 1e4
      if isLoud { quiet = 0 } else { quiet += frame.samples.count }
      if isLoud || !heard.isEmpty { heard += frame.samples }
      if !heard.isEmpty, quiet >= 24_000 { break }
    }
    return heard
  }

  /// What the assistant can say in this call; in pieces, because a machine that is busy for half a second makes two of a sentence.
  private static let sentences = """
    *greeting {hello} {what can i do for you}
    *reply {turn on} {device} {lights} {room} {kitchen}
    *refusal sorry i did not understand that
    *question are you still there
    """

  /// Listens until the assistant has said something that is to be answered, or the call is over.
  ///
  /// - Returns: What was heard, a text per piece.
  static func hearReply(
    in frames: inout CallAudioFrames.Iterator, with engine: PocketSphinxEngine
  ) async throws -> [String] {
    var heard: [String] = []
    // The ends of the reply, of the refusal, and of the question that follows what was not heard as it was said.
    let ends = ["kitchen", "sorry", "there"]
    while !heard.contains(where: { piece in ends.contains(where: piece.contains) }) {
      let samples = await Self.hearSentence(in: &frames)
      guard !samples.isEmpty else { break }
      let source = SamplesSource(samples: samples, sampleRate: 48_000)
      heard.append(try await Hearing.words(in: source, with: engine, templates: Self.sentences))
    }
    return heard
  }

  /// Keeps the microphone open: silence between what is played.
  static func say(_ path: String, to audio: CallAudio) async throws {
    try await audio.play(AudioFileSource(path: path))
    try await audio.play(SilenceSource(duration: .milliseconds(1500)))
  }

  @Test func aCommandIsUnderstoodSaidBackAndGoodbyeEndsTheCall() async throws {
    try await withTemporaryFolder { folder in try await Self.call(in: folder) }
  }

  private static func call(in folder: URL) async throws {
    let command = try Self.recording(of: "turn on the lights in the kitchen", in: folder)
    let goodbye = try Self.recording(of: "goodbye", in: folder)
    let engine = try PocketSphinxEngine()
    try await RunningServer.with(
      engine: engine,
      configure: {
        $0.calls.users = [.init(name: "alice", password: "a long password")]
        $0.limits.decoders = 1
      }
    ) { server in
      let alice = try await CallMediaTests.client("alice", at: try await server.server.addresses.http.port)
      let call = try await alice.call("assistant")
      var frames = call.audio.frames.makeAsyncIterator()
      try await call.answered()
      let greeting = await Self.hearSentence(in: &frames)
      #expect(greeting.count > 48_000 / 2)

      let reply = "device lights room kitchen"
      var heard: [String] = []
      var all: [[String]] = []
      repeat {
        async let said: Void = Self.say(command, to: call.audio)
        heard = try await Self.hearReply(in: &frames, with: engine)
        all.append(heard)
        // A call that ends meanwhile is told by what was heard.
        _ = try? await said
        // What a busy machine has cut in two is not understood, and has to be said again.
      } while !heard.isEmpty && !heard.joined(separator: " ").contains(reply)
      #expect(heard.joined(separator: " ").contains(reply), "heard: \(all)")

      async let left: Void = Self.say(goodbye, to: call.audio)
      let reason = try await call.ended()
      _ = try? await left
      #expect(reason.cause == "NORMAL_CLEARING")
      #expect(reason.origin == .remote)
      await alice.disconnected()
    }
  }
}
