import ArgumentParser
import VoiceCore

/// `voice failures`: lists the failure codes, or explains one.
struct FailuresCommand: ContextCommand {
  static let configuration = CommandConfiguration(
    commandName: "failures",
    abstract: "Explains a failure code, or lists all of them.",
    usage: "voice failures [CODE] [--markdown] [--json]")

  @Argument(
    help: ArgumentHelp("The code, such as audio.input.no-device, or its beginning.", valueName: "code"))
  var code: String?

  @Flag(help: "Print the whole catalogue as Markdown.")
  var markdown = false

  @OptionGroup var common: CommonOptions

  func validate() throws {
    if self.markdown, self.code != nil || self.common.json {
      throw ValidationError("--markdown prints the whole catalogue: give it neither a code nor --json.")
    }
  }

  func run(in context: CommandContext) async -> CommandStatus {
    let output = context.console.output
    if self.markdown {
      output.write(FailureCatalogue.markdown())
      return .done
    }
    let areas = self.matches()
    let found = areas.flatMap(\.definitions)
    guard !found.isEmpty else {
      let known = FailureCatalogue.areas.flatMap(\.definitions).map(\.code.rawValue)
      let near = Spelling.nearest(to: self.code ?? "", in: known).map { " Did you mean \($0)?" } ?? ""
      return context.fail(
        VoiceFailure(
          .usage,
          message: "No failure has the code “\(self.code ?? "")”.\(near) `voice failures` lists all of them."),
        json: self.common.json)
    }
    if self.common.json {
      for row in found { output.write(Self.object(row).text + "\n") }
    } else if let only = found.first, found.count == 1 {
      Self.explain(only, on: output)
    } else {
      self.list(areas, on: output)
    }
    return .done
  }

  /// The rows whose code is the one asked for or begins with it; all without one.
  private func matches() -> [Section] {
    let sections = FailureCatalogue.areas.map { Section(title: $0.title, definitions: $0.definitions) }
    guard let code else { return sections }
    let wanted = code.lowercased()
    let isExact = FailureCatalogue.definition(of: VoiceFailure.Code(wanted)) != nil
    return sections.compactMap { section in
      let kept = section.definitions.filter { row in
        isExact ? row.code.rawValue == wanted : row.code.rawValue.hasPrefix(wanted)
      }
      return kept.isEmpty ? nil : Section(title: section.title, definitions: kept)
    }
  }

  /// A part of the catalogue that is printed.
  private struct Section {
    var title: String
    var definitions: [FailureCatalogue.Definition]
  }

  private func list(_ areas: [Section], on output: Console.Stream) {
    let width = areas.flatMap(\.definitions).map(\.code.rawValue.count).max() ?? 0
    for (index, area) in areas.enumerated() {
      if index > 0 { output.line() }
      output.line(StyledText(area.title, .bold))
      for row in area.definitions {
        var line = StyledText("  \(row.code)", .cyan)
        line.append(String(repeating: " ", count: width - row.code.rawValue.count + 2))
        line.append(row.happens)
        output.line(line, indent: min(width + 4, output.size.width / 2))
      }
    }
    guard output.isTerminal else { return }
    output.line()
    output.line(
      StyledText("voice failures CODE says what the toolkit does about it and what you can do.", .dim))
  }

  private static func explain(_ row: FailureCatalogue.Definition, on output: Console.Stream) {
    output.line(StyledText(row.code.rawValue, [.bold, .cyan]))
    output.line(FailurePresentation.withCode(row.happens))
    output.line()
    let parts: [(String, String)] = [
      ("The SDK", row.response), ("You", row.advice), ("Recovery", row.recovery.description),
      ("Ends", row.scope.rawValue), ("Exit", String(CommandStatus(row.code).rawValue)),
      ("Produce it", row.reproduce),
    ]
    for (name, text) in parts {
      let label = name + String(repeating: " ", count: 12 - name.count)
      output.line(StyledText(label, .dim) + FailurePresentation.withCode(text), indent: 12)
    }
  }

  private static func object(_ row: FailureCatalogue.Definition) -> JSONValue {
    .object([
      "code": .string(row.code.rawValue), "happens": .string(row.happens), "response": .string(row.response),
      "advice": .string(row.advice), "recovery": .string(row.recovery.description),
      "scope": .string(row.scope.rawValue), "exitStatus": .integer(Int(CommandStatus(row.code).rawValue)),
      "reproduce": .string(row.reproduce),
    ])
  }
}

/// Guesses what was meant.
enum Spelling {
  /// The candidate with the fewest edits, if these are few.
  static func nearest(to text: String, in candidates: [String]) -> String? {
    let scored = candidates.map { candidate in
      (candidate, Alignment(reference: candidate.map(String.init), hypothesis: text.map(String.init)).errors)
    }
    guard let best = scored.min(by: { $0.1 < $1.1 }), best.1 <= max(2, text.count / 3) else { return nil }
    return best.0
  }
}
