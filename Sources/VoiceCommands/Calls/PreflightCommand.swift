import ArgumentParser
import Calls
import Foundation
import RealtimeMedia
import VoiceCore
import VoiceServer

/// `voice preflight`: places a test call and says how good calls would be.
struct PreflightCommand: ContextCommand {
  static let configuration = CommandConfiguration(
    commandName: "preflight", abstract: "Places a test call and says how good calls would be.",
    usage: """
      voice preflight [--server URL] [--user NAME --password TEXT | --token JWT] [--json]
      voice preflight --local [--json]
      """,
    discussion: "The call goes to the service echo, and sends a tone. The exit status is 6 when it failed.")

  @Flag(help: "Bring a gateway along in this process.")
  var local = false

  @Option(help: ArgumentHelp("How long to measure, 1 to 60.", valueName: "seconds"))
  var seconds = 5

  @OptionGroup var options: GatewayOptions
  @OptionGroup var ice: IceOptions
  @OptionGroup var common: CommonOptions

  func validate() throws {
    guard (1...60).contains(self.seconds) else { throw ValidationError("--seconds takes 1 to 60.") }
    guard self.local, self.options.namesSomebody else { return }
    throw ValidationError(
      "--local brings its own gateway and users: leave out --server, --user, --password and --token.")
  }

  func run(in context: CommandContext) async -> CommandStatus {
    guard self.local else { return await self.measure(with: self.options, in: context) }
    do throws(VoiceFailure) {
      return try await LocalGateway.run(clock: context.clock) { url, users in
        var options = self.options
        options.server = url.absoluteString
        options.user = users.first?.name
        options.password = users.first?.password
        return await self.measure(with: options, in: context)
      }
    } catch {
      return context.fail(error, json: self.common.json)
    }
  }

  private func measure(with options: GatewayOptions, in context: CommandContext) async -> CommandStatus {
    let run = CallRun(client: TxClient(clock: context.clock), context: context, json: self.common.json)
    if let failure = await run.connect(options, self.ice) { return context.fail(failure, json: self.common.json) }
    defer { run.client.disconnect() }
    do {
      let report = try await run.client.preflight(
        PreflightSettings(duration: .seconds(self.seconds)))
      if self.common.json {
        context.console.output.write(EventObject.preflight(report).text + "\n")
      } else {
        for line in Self.lines(of: report) { context.console.output.line(line) }
      }
      await run.client.disconnected()
      return .done
    } catch {
      let failure = error as? VoiceFailure ?? VoiceFailure(.unexpected, cause: error)
      _ = context.fail(failure, json: self.common.json)
      await run.client.disconnected()
      return .call
    }
  }

  static func lines(of report: PreflightReport) -> [StyledText] {
    func milliseconds(_ seconds: Double) -> String { "\(Int((seconds * 1000).rounded())) ms" }
    func after(_ name: String, _ time: Duration?) -> String? {
      time.map { "\(name) \(milliseconds($0 / .seconds(1)))" }
    }
    let times = [
      after("registered", report.registeredAfter), after("rang", report.ringingAfter),
      after("answered", report.answeredAfter), after("connected", report.connectedAfter),
      after("first audio", report.firstAudioAfter),
    ].compactMap(\.self)
    let isGood = report.quality == .excellent || report.quality == .good
    let score = Double(Int((report.mos.average * 100).rounded())) / 100
    var lines = [
      StyledText("Calls would be \(report.quality.rawValue) (\(score) of 5)", isGood ? .green : .yellow),
      StyledText("  Set up    \(times.joined(separator: ", "))"),
      StyledText(
        "  Round trip \(milliseconds(report.roundTrip.average)), jitter \(milliseconds(report.jitter.average))"
          + (report.loss.map { ", loss \(Double(Int(($0 * 1000).rounded())) / 10) %" } ?? "")),
    ]
    if let local = report.localCandidate, let remote = report.remoteCandidate {
      lines.append(StyledText("  Addresses  \(local.rawValue) to \(remote.rawValue)"))
    }
    return lines + report.failures.map { StyledText("  \($0.message) [\($0.code)]", .yellow) }
  }
}

extension EventObject {
  /// `{"event":"preflight","quality":"excellent","mos":{"minimum":…,"average":…,"maximum":…},…}`; times in seconds.
  static func preflight(_ report: PreflightReport) -> JSONValue {
    func range(_ range: PreflightReport.Range) -> JSONValue {
      .object([
        .init(name: "minimum", value: .decimal(range.minimum)),
        .init(name: "average", value: .decimal(range.average)),
        .init(name: "maximum", value: .decimal(range.maximum)),
      ])
    }
    var fields: [JSONValue.Field] = [
      .init(name: "event", value: .string("preflight")),
      .init(name: "quality", value: .string(report.quality.rawValue)),
      .init(name: "mos", value: range(report.mos)), .init(name: "roundTrip", value: range(report.roundTrip)),
      .init(name: "jitter", value: range(report.jitter)),
    ]
    if let loss = report.loss { fields.append(.init(name: "loss", value: .decimal(loss))) }
    let times: [(String, Duration?)] = [
      ("registered", report.registeredAfter), ("ringing", report.ringingAfter),
      ("answered", report.answeredAfter), ("connected", report.connectedAfter),
      ("firstAudio", report.firstAudioAfter),
    ]
    for case (let name, let time?) in times {
      fields.append(.init(name: name, value: .decimal(time / .seconds(1))))
    }
    if let kind = report.localCandidate {
      fields.append(.init(name: "localCandidate", value: .string(kind.rawValue)))
    }
    if let kind = report.remoteCandidate {
      fields.append(.init(name: "remoteCandidate", value: .string(kind.rawValue)))
    }
    return .object(fields)
  }
}
