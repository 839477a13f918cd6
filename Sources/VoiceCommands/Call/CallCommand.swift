import ArgumentParser
import Calls
import Foundation
import VoiceCore
import VoiceServer
import VoiceTesting

/// `voice call`: places a call and shows its states.
struct CallCommand: ContextCommand {
  static let configuration = CommandConfiguration(
    commandName: "call", abstract: "Places a call (signalling only).",
    usage: """
      voice call DEST [--server URL] [--user NAME --password TEXT | --token JWT] [--json]
      voice call DEST --local [--json]
      """,
    discussion: """
      Ctrl-C hangs up. The exit status is 6 when the call failed: try `voice call fail-486 --local`.
      """)

  @Argument(
    help: ArgumentHelp("A user, a number, or a name of the dial plan such as echo.", valueName: "dest"))
  var destination: String

  @Flag(help: "Bring a gateway along in this process, with the services of its dial plan.")
  var local = false

  @OptionGroup var options: GatewayOptions
  @OptionGroup var common: CommonOptions

  func validate() throws {
    guard self.local, self.options.namesSomebody else { return }
    throw ValidationError(
      "--local brings its own gateway and users: leave out --server, --user, --password and --token.")
  }

  func run(in context: CommandContext) async -> CommandStatus {
    guard self.local else { return await self.call(with: self.options, in: context) }
    do throws(VoiceFailure) {
      return try await LocalGateway.run(clock: context.clock) { url, users in
        var options = self.options
        options.server = url.absoluteString
        options.user = users.first?.name
        options.password = users.first?.password
        return await self.call(with: options, in: context)
      }
    } catch {
      return context.fail(error, json: self.common.json)
    }
  }

  private func call(with options: GatewayOptions, in context: CommandContext) async -> CommandStatus {
    guard !self.destination.isEmpty else {
      return context.fail(VoiceFailure(.callDestinationMissing), json: self.common.json)
    }
    // No audio yet: descriptions without a transport behind them.
    let run = CallRun(
      client: TxClient(media: ScriptedMedia(), clock: context.clock), context: context, json: self.common.json
    )
    if let failure = await run.connect(options) { return context.fail(failure, json: self.common.json) }
    do {
      return await run.follow(try await run.client.call(self.destination))
    } catch let failure as VoiceFailure {
      return context.fail(failure, json: self.common.json)
    } catch {
      return context.fail(VoiceFailure(.callNotConnected, cause: error), json: self.common.json)
    }
  }
}

/// `voice answer`: waits for a call and takes it.
struct AnswerCommand: ContextCommand {
  static let configuration = CommandConfiguration(
    commandName: "answer", abstract: "Waits for a call and takes it (signalling only).",
    usage: "voice answer [--server URL] [--user NAME --password TEXT | --token JWT] [--json]")

  @OptionGroup var options: GatewayOptions
  @OptionGroup var common: CommonOptions

  func run(in context: CommandContext) async -> CommandStatus {
    let run = CallRun(
      client: TxClient(media: ScriptedMedia(), clock: context.clock), context: context, json: self.common.json
    )
    let events = run.client.events
    if let failure = await run.connect(self.options) { return context.fail(failure, json: self.common.json) }
    let signals = context.stopSignals()
    run.showWaiting()
    let incoming = Task { await run.incomingCall(in: events) }
    let stopping = Task { for await _ in signals { return incoming.cancel() } }
    let outcome = await incoming.value
    stopping.cancel()
    switch outcome {
    case .success(let call):
      call.answer()
      return await run.follow(call)
    case .failure(let failure):
      return context.fail(failure, json: self.common.json)
    case nil:
      await run.client.disconnected()
      return .interrupted
    }
  }
}
