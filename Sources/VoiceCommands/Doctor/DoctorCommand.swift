import ArgumentParser
import VoiceCore

/// `voice doctor`: what works on this machine, and how to repair what does not.
struct DoctorCommand: ContextCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Checks models, audio, ports and folders, and says how to fix what is wrong.",
    usage: "voice doctor [options]",
    discussion: "Exit status 0 if everything that is needed works, 3 if something is broken.")

  @OptionGroup var common: CommonOptions

  func run(in context: CommandContext) async -> CommandStatus {
    let checks = DoctorChecks(environment: context.environment)
    let output = context.console.output
    var worst = CommandStatus.done
    var counts: [Diagnosis.Verdict: Int] = [:]
    for check in checks.all {
      let found = await check()
      for diagnosis in found {
        counts[diagnosis.verdict, default: 0] += 1
        if diagnosis.verdict == .broken { worst = .input }
        if self.common.json {
          output.write(diagnosis.object.text + "\n")
        } else {
          for line in diagnosis.lines(nameWidth: DoctorChecks.nameWidth, symbols: context.console.symbols) {
            output.line(line, indent: DoctorChecks.nameWidth + 4)
          }
        }
      }
    }
    guard !self.common.json else { return worst }
    output.line()
    output.line(Self.summary(counts))
    return worst
  }

  private static func summary(_ counts: [Diagnosis.Verdict: Int]) -> StyledText {
    let broken = counts[.broken] ?? 0
    let warnings = counts[.warning] ?? 0
    guard broken == 0 else {
      return StyledText(
        "\(Phrases.count(broken, "thing")) must be fixed before everything works.", [.red, .bold])
    }
    guard warnings == 0 else {
      return StyledText("Ready. \(Phrases.count(warnings, "remark")) above.", .green)
    }
    return StyledText("Everything works.", .green)
  }
}
