import ArgumentParser
import Calls
import Foundation
import VoiceCore
import VoiceServer

/// `voice call`: places a call, speaks and listens.
struct CallCommand: ContextCommand {
  static let configuration = CommandConfiguration(
    commandName: "call", abstract: "Places a call.",
    usage: """
      voice call DEST [--server URL] [--user NAME --password TEXT | --token JWT] [options]
      voice call DEST --local [options]
      voice call DEST --play FILE [--record FILE] [--transcribe] [options]
      """,
    discussion: """
      You speak through the microphone and hear the other side; a device that is missing is reported, and the call goes \
      on. With --play a recording speaks in your place, and the call ends when it was said.

      On a terminal, 0-9 * # send tones, m mutes, h holds, q or Ctrl-C hangs up.

      The exit status is 6 when the call failed: try `voice call fail-486 --local`.
      """)

  @Argument(
    help: ArgumentHelp("A user, a number, or a name of the dial plan such as echo.", valueName: "dest"))
  var destination: String

  @Flag(help: "Bring a gateway along in this process, with the services of its dial plan.")
  var local = false

  @OptionGroup var options: GatewayOptions
  @OptionGroup(title: "Audio") var audio: CallAudioOptions
  @OptionGroup var common: CommonOptions

  func validate() throws {
    guard self.local, self.options.namesSomebody else { return }
    throw ValidationError(
      "--local brings its own gateway and users: leave out --server, --user, --password and --token.")
  }

  func run(in context: CommandContext) async -> CommandStatus {
    do throws(VoiceFailure) {
      guard !self.destination.isEmpty else { throw VoiceFailure(.callDestinationMissing) }
      // An address that is mistyped is said before anything is loaded.
      _ = try self.audio.ice.iceServers(in: context)
      let plan = try await self.audio.prepare(in: context, json: self.common.json)
      guard self.local else { return await self.call(with: self.options, plan, in: context) }
      return try await LocalGateway.run(clock: context.clock) { url, users in
        var options = self.options
        options.server = url.absoluteString
        options.user = users.first?.name
        options.password = users.first?.password
        return await self.call(with: options, plan, in: context)
      }
    } catch {
      return context.fail(error, json: self.common.json)
    }
  }

  private func call(
    with options: GatewayOptions, _ plan: CallPlan, in context: CommandContext
  ) async -> CommandStatus {
    let run = CallRun(
      client: TxClient(media: context.callMedia, clock: context.clock), context: context,
      json: self.common.json)
    if let failure = await run.connect(options, self.audio.ice) {
      return context.fail(failure, json: self.common.json)
    }
    do {
      return await run.follow(try await run.client.call(self.destination), plan, with: self.destination)
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
    commandName: "answer", abstract: "Waits for a call and takes it.",
    usage: "voice answer [--server URL] [--user NAME --password TEXT | --token JWT] [options]",
    discussion: "Audio and keys are as with `voice call`.")

  @OptionGroup var options: GatewayOptions
  @OptionGroup(title: "Audio") var audio: CallAudioOptions
  @OptionGroup var common: CommonOptions

  func run(in context: CommandContext) async -> CommandStatus {
    let plan: CallPlan
    do throws(VoiceFailure) {
      _ = try self.audio.ice.iceServers(in: context)
      plan = try await self.audio.prepare(in: context, json: self.common.json)
    } catch {
      return context.fail(error, json: self.common.json)
    }
    let run = CallRun(
      client: TxClient(media: context.callMedia, clock: context.clock), context: context,
      json: self.common.json)
    let events = run.client.events
    if let failure = await run.connect(self.options, self.audio.ice) {
      return context.fail(failure, json: self.common.json)
    }
    let signals = context.stopSignals()
    run.showWaiting()
    let incoming = Task { await run.incomingCall(in: events) }
    let stopping = Task { for await _ in signals { return incoming.cancel() } }
    let outcome = await incoming.value
    stopping.cancel()
    switch outcome {
    case .success(let call):
      call.answer()
      let name = call.callInfo?.callerName ?? call.callInfo?.callerNumber ?? ""
      return await run.follow(call, plan, with: name.isEmpty ? "caller" : name)
    case .failure(let failure):
      return context.fail(failure, json: self.common.json)
    case nil:
      await run.client.disconnected()
      return .interrupted
    }
  }
}
