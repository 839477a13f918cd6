import SpeechPipeline
import SpeechStreaming
import VoiceCore
import VoiceServer
import VoiceTesting

/// The act in which the server does not come back.
extension DemoStage {
  /// Streams a recording, takes the server away half-way for good, and lets an engine of this process go on.
  ///
  /// - Parameter heard: What the server heard of the whole recording.
  func losesServer(
    _ recording: DemoRecording, heard: [String], addresses: ListenAddresses, engine: any RecognitionEngine
  ) async throws -> CommandStatus {
    self.act(
      4, "Gone", "the first one again: half-way the server goes for good, and the app goes on by itself")
    let plan = try await Self.plan(for: recording)
    let onDevice = OnDeviceRecognition(engine: engine)
    // Apps load their recogniser when they start, not when the server is lost.
    try await onDevice.pool.load()
    let pass = try await withImpairedLink(port: addresses.grpc.port, plan: plan) { link in
      await self.pass(
        recording, speech: "grpc://127.0.0.1:\(link.port)", identity: "grpc://\(addresses.grpc)",
        onDevice: onDevice)
    }
    await onDevice.pool.shutdown()
    if Task.isCancelled { return .interrupted }
    guard pass.status == .done else { return pass.status }
    return self.judge(heard: heard, alone: pass)
  }

  /// Says whether the loss did any harm.
  func judge(heard: [String], alone: Pass) -> CommandStatus {
    let isSame = heard == alone.words && !heard.isEmpty
    let status: CommandStatus = isSame && !alone.degradations.isEmpty ? .done : .network
    if self.json {
      self.output.write(
        JSONValue.object([
          "event": .string("verdict"), "sameWords": .bool(isSame),
          "degraded": .bool(!alone.degradations.isEmpty),
        ]).text + "\n")
      return status
    }
    self.say()
    if alone.degradations.isEmpty {
      self.verdict(false, "The server was not lost: nothing was shown.")
    } else if isSame {
      self.verdict(true, "The same \(heard.count) words, without the server.")
    } else {
      self.verdict(false, "Other words than with the server:")
      let difference = Alignment(reference: heard, hypothesis: alone.words)
      self.output.line(StyledText("     ") + difference.marked, indent: 5)
    }
    return status
  }
}
