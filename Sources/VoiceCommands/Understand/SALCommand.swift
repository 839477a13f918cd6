import ArgumentParser
import Foundation
import SpeechUnderstanding
import VoiceCore
import VoiceTesting

/// `voice sal`: tools for those who write templates.
struct SALCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sal",
    abstract: "Checks, expands and prints templates in SAL.",
    subcommands: [Check.self, Expand.self, Parse.self, Export.self])

  /// `voice sal check`: what is wrong or odd in a configuration.
  struct Check: ContextCommand {
    static let configuration = CommandConfiguration(
      commandName: "check", abstract: "Says what is wrong in a configuration, and what to write instead.",
      usage: "voice sal check FILE [--json]")

    @Argument(help: ArgumentHelp("A folder, or a .yaml or .sal file.", valueName: "file"))
    var file: String

    @OptionGroup var common: CommonOptions

    func run(in context: CommandContext) async -> CommandStatus {
      let file = InterfaceFile(path: self.file)
      let output = context.console.output
      if self.common.json {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        for diagnostic in file.result.diagnostics {
          guard let line = try? encoder.encode(diagnostic) else { continue }
          output.write(String(decoding: line, as: UTF8.self) + "\n")
        }
      } else {
        file.report(.note, on: output)
      }
      do throws(VoiceFailure) {
        // The diagnostics have been printed.
        let understanding = try file.understanding(in: context, json: true)
        guard !self.common.json else { return .done }
        output.line(Self.summary(of: understanding, warnings: file.count(.warning)))
        return .done
      } catch {
        return context.fail(error, json: self.common.json)
      }
    }

    private static func summary(of understanding: Understanding, warnings: Int) -> StyledText {
      let grammar = understanding.grammar
      let parts = [
        Phrases.count(understanding.interface.program.templates.count, "template"),
        Phrases.count(grammar.intents.count, "intent"),
        grammar.entities.count == 1 ? "1 entity" : "\(grammar.entities.count) entities",
        Phrases.count(grammar.words.count, "word"),
        "\(Self.rounded(grammar.utteranceCount)) utterances",
      ]
      let verdict = warnings == 0 ? StyledText("Good: ", .green) : StyledText("Works: ", .yellow)
      return verdict + StyledText(parts.joined(separator: ", ") + ".")
    }

    private static func rounded(_ count: Double) -> String {
      count < 1e6 ? String(Int(count)) : String(format: "%.1e", count)
    }
  }

  /// `voice sal expand`: random utterances of a configuration.
  struct Expand: ContextCommand {
    static let configuration = CommandConfiguration(
      commandName: "expand",
      abstract: "Prints random utterances that the templates cover, with their annotation.",
      usage: "voice sal expand --config FILE [--count N] [--seed N] [--json]")

    @OptionGroup var interface: InterfaceOptions

    @Option(help: "How many utterances to print.")
    var count = 10

    @Option(help: "The same number gives the same utterances.")
    var seed: UInt64?

    @OptionGroup var common: CommonOptions

    func validate() throws {
      guard (1...10_000_000).contains(self.count) else {
        throw ValidationError("--count must be from 1 to 10000000.")
      }
    }

    func run(in context: CommandContext) async -> CommandStatus {
      do throws(VoiceFailure) {
        let understanding = try InterfaceFile(path: self.interface.config)
          .understanding(in: context, json: self.common.json)
        var generator = SeededGenerator(seed: self.seed ?? UInt64.random(in: 0...UInt64.max))
        for _ in 0..<self.count {
          let utterance = try understanding.sample(using: &generator, in: self.interface.values)
          if self.common.json {
            for object in EventObject.segments(of: utterance, text: utterance.annotated.plainText) {
              context.console.output.write(object.text + "\n")
            }
          } else if context.console.output.isTerminal {
            context.console.output.line(StyledText(annotated: utterance.annotated))
          } else {
            context.console.output.write(utterance.annotated.text + "\n")
          }
        }
        return .done
      } catch {
        return context.fail(error, json: self.common.json)
      }
    }
  }

  /// `voice sal parse`: an annotated utterance as a program reads it.
  struct Parse: ContextCommand {
    static let configuration = CommandConfiguration(
      commandName: "parse", abstract: "Reads an annotated utterance, such as “*greet hello [bob](name)”.",
      usage: "voice sal parse TEXT … [--json]")

    @Argument(help: ArgumentHelp("The annotated utterance.", valueName: "text"))
    var text: [String]

    @OptionGroup var common: CommonOptions

    func run(in context: CommandContext) async -> CommandStatus {
      let text = self.text.joined(separator: " ")
      let (utterance, diagnostics) = AnnotatedUtterance.parse(text)
      let errors = diagnostics.filter { $0.severity == .error }
      guard errors.isEmpty, let utterance else {
        if !self.common.json {
          let renderer = SALDiagnosticRenderer(sources: [SALSource(name: "utterance", text: text)])
          let error = context.console.error
          error.write(renderer.render(diagnostics, colors: error.showsColor) + "\n")
        }
        return context.fail(
          VoiceFailure(.usage, message: errors.first?.message ?? "This is no annotated utterance."),
          json: self.common.json)
      }
      let output = context.console.output
      if self.common.json {
        let read = Understanding.Utterance(annotated: utterance)
        for object in EventObject.segments(of: read, text: text) { output.write(object.text + "\n") }
      } else {
        output.line(StyledText(annotated: utterance))
      }
      return .done
    }
  }
}
