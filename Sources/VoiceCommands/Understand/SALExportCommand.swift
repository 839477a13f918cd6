import ArgumentParser
import SpeechUnderstanding
import VoiceCore

extension SALCommand {
  /// `voice sal export`: what can be said, for other recognisers.
  struct Export: ContextCommand {
    static let configuration = CommandConfiguration(
      commandName: "export",
      abstract: "Prints what the templates cover as a JSGF grammar, for other recognisers.",
      usage: "voice sal export --config FILE")

    @OptionGroup var interface: InterfaceOptions
    @OptionGroup var common: CommonOptions

    func run(in context: CommandContext) async -> CommandStatus {
      do throws(VoiceFailure) {
        let understanding = try InterfaceFile(path: self.interface.config)
          .understanding(in: context, json: self.common.json)
        let text = JSGFGrammar(understanding.interface.program, language: EnglishPack()).text
        context.console.output.write(
          self.common.json
            ? JSONValue.object([
              "event": .string("grammar"), "format": .string("jsgf"), "text": .string(text),
            ]).text
              + "\n"
            : text)
        return .done
      } catch {
        return context.fail(error, json: self.common.json)
      }
    }
  }
}
