public import VoiceCore

/// Something that audio can be written to.
public protocol AudioSink: Sendable {
  /// Writes a chunk behind what was written before; a gap between them becomes silence.
  func write(_ chunk: AudioChunk) async throws(VoiceFailure)

  /// Ends the recording; nothing may be written afterwards.
  func finish() async throws(VoiceFailure)
}
