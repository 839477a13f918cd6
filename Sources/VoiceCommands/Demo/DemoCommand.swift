import ArgumentParser
import Foundation
import PocketSphinxRecognition
import SpeechPipeline
import VoiceCore
import VoiceServer

/// `voice demo`: shows the whole toolkit at work, on this machine, in about a minute.
struct DemoCommand: ContextCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract:
      "Shows a server, connections that break without losing a word, commands that are understood, and a call.",
    usage: "voice demo [options]",
    discussion: """
      Everything is real: the server listens on a socket of this machine, the client is the one that apps use, and the \
      recording is sent at the pace at which it was spoken. The server is lost twice: it comes back, and it does not. Then voices of flite and festival say \
      commands to the demo app, and what was understood is compared with what was meant. Last, alice calls bob: what she \
      says to him is understood on his side, also while the server refuses her.

      It ends by itself; the status is not 0 if the words after the cut are not those from before, or if nobody can \
      speak. A command that is not understood is shown and counted.
      """)

  @OptionGroup var common: CommonOptions

  func run(in context: CommandContext) async -> CommandStatus {
    let (events, continuation) = AsyncStream.makeStream(of: CommandStatus.self)
    return await withTaskGroup(of: Void.self) { group in
      group.addTask { [stopSignals = context.stopSignals] in
        for await _ in stopSignals() { continuation.yield(.interrupted) }
      }
      group.addTask { continuation.yield(await self.show(in: context)) }
      var status = CommandStatus.interrupted
      for await first in events {
        status = first
        break
      }
      group.cancelAll()
      return status
    }
  }

  private func show(in context: CommandContext) async -> CommandStatus {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "voice-demo-\(UUID().uuidString)"
    ).path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    do throws(VoiceFailure) {
      let recordings = [DemoRecording.command, .sentence]
      for recording in recordings { try recording.check() }
      let engine = try PocketSphinxEngine(language: "en-US")
      let stage = DemoStage(
        recordings: recordings, commands: SpokenCommand.all,
        synthesizer: InstalledSynthesizers(
          environment: context.environment, folder: folder + "/voices", clock: context.clock),
        context: context, json: self.common.json)
      return try await stage.perform(engine: engine, folder: folder)
    } catch {
      return context.fail(error, json: self.common.json)
    }
  }
}
