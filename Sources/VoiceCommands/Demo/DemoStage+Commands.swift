import SpeechUnderstanding
import VoiceCore

/// The act in which commands are spoken and understood.
extension DemoStage {
  /// What became of the commands.
  struct CommandTally: Hashable, Sendable {
    struct Miss: Hashable, Sendable {
      var command: SpokenCommand
      var voice: SynthesizedVoice
    }

    var right = 0
    var wrong: [Miss] = []
    var notSpoken: [SpokenCommand] = []

    var spoken: Int { self.right + self.wrong.count }
  }

  /// Speaks the commands, each to a stream of its own, and says what was understood.
  ///
  /// A command that is not understood is shown and counted, but is no failure of the demonstration.
  func commands(_ address: String, folder: String) async -> CommandStatus {
    guard !self.commands.isEmpty else { return .done }
    let (voices, missing) = await self.synthesizer.voices()
    self.announce(voices)
    for failure in missing { self.report(failure) }
    guard !voices.isEmpty else {
      self.say(StyledText("   Nobody is there to speak, so this part is left out.", .dim), indent: 3)
      return .input
    }
    var rotation = VoiceRotation(voices)
    var tally = CommandTally()
    for (index, command) in self.commands.enumerated() {
      let path = "\(folder)/\(index + 1).wav"
      let speaker = await self.speak(command, to: path, &rotation)
      if Task.isCancelled { return .interrupted }
      guard let voice = speaker else {
        tally.notSpoken.append(command)
        continue
      }
      self.introduce(command, voice, path)
      let recording = DemoRecording(path: path, raw: nil, title: command.remark, reference: command.text)
      let pass = await self.pass(recording, speech: address, identity: address)
      // What a stream that was cancelled had said so far is not what was understood.
      if Task.isCancelled { return .interrupted }
      guard pass.status == .done else { return pass.status }
      if self.judge(command, EvaluationHearing(segments: pass.segments), path) {
        tally.right += 1
      } else {
        tally.wrong.append(CommandTally.Miss(command: command, voice: voice))
      }
    }
    self.summarize(tally)
    return tally.notSpoken.isEmpty ? .done : .input
  }

  /// Lets the next voice speak, and the one after it if that fails; `nil` if all have failed.
  private func speak(_ command: SpokenCommand, to path: String, _ rotation: inout VoiceRotation) async
    -> SynthesizedVoice?
  {
    while let voice = rotation.next() {
      do throws(VoiceFailure) {
        try await self.synthesizer.speak(command.text, with: voice, to: path)
        return voice
      } catch {
        if Task.isCancelled { return nil }
        rotation.failed(voice)
        self.report(error)
      }
    }
    return nil
  }

  // MARK: Words for the person

  private func announce(_ voices: [SynthesizedVoice]) {
    let names = Set(voices.map(\.program)).map(\.rawValue).sorted().reversed().joined(separator: " and ")
    let speakers = names.isEmpty ? "" : ", spoken by voices of \(names)"
    self.act(5, "Home", "\(self.commands.count) sentences for lights, blinds, timers and music\(speakers)")
  }

  private func introduce(_ command: SpokenCommand, _ voice: SynthesizedVoice, _ path: String) {
    if self.json {
      self.output.write(
        JSONValue.object([
          "event": .string("command"), "source": .string(path), "text": .string(command.text),
          "voice": .string(voice.description), "covered": .bool(command.isCovered),
        ]).text + "\n")
      return
    }
    self.say()
    self.say(StyledText("   \(voice.name) says “\(command.text)”: \(command.remark)", .dim), indent: 3)
  }

  /// Says whether a command was understood as it was meant.
  func judge(_ command: SpokenCommand, _ hearing: EvaluationHearing, _ path: String) -> Bool {
    let isRight = command.isUnderstood(by: hearing)
    if self.json {
      self.output.write(
        JSONValue.object([
          "event": .string("understanding"), "source": .string(path), "right": .bool(isRight),
          "expected": Self.meaning(command.meaning), "understood": Self.meaning(hearing.meaning),
        ]).text + "\n")
      return isRight
    }
    switch (isRight, command.isCovered) {
    case (true, true): self.remark(true, "understood")
    case (true, false): self.remark(true, "rightly taken for no command")
    case (false, false): self.remark(false, "taken for a command, which it is not")
    case (false, true):
      self.remark(
        false,
        hearing.meaning == nil ? "taken for no command; meant was:" : "understood otherwise than meant:")
      self.say(StyledText("     ") + StyledText(annotated: command.meaning), indent: 5)
    }
    return isRight
  }

  private func remark(_ isGood: Bool, _ text: String) {
    let style: TextStyle = isGood ? .green : .red
    self.say(
      StyledText("   \(isGood ? self.symbols.good : self.symbols.bad) ", [style, .bold])
        + StyledText(text, style), indent: 5)
  }

  /// Says how many of the commands were understood, and which were not.
  func summarize(_ tally: CommandTally) {
    let count = self.commands.count
    if self.json {
      self.output.write(
        JSONValue.object([
          "event": .string("score"), "right": .integer(tally.right), "spoken": .integer(tally.spoken),
          "commands": .integer(count),
        ]).text + "\n")
      return
    }
    self.say()
    let isWhole = tally.right == count
    self.verdict(
      isWhole,
      isWhole
        ? "All \(count) understood as they were meant: every intent, every value, and nothing where there is none."
        : "\(tally.right) of \(count) understood as they were meant.")
    for miss in tally.wrong {
      self.say(StyledText("     not: “\(miss.command.text)” (\(miss.voice.name))", .dim), indent: 5)
    }
    for command in tally.notSpoken {
      self.say(StyledText("     not spoken: “\(command.text)”", .dim), indent: 5)
    }
  }

  /// Reports what is missing or failed although the demonstration goes on.
  private func report(_ failure: VoiceFailure) {
    if self.json {
      self.output.write(EventObject.failure(failure).text + "\n")
      return
    }
    let stream = self.context.console.error
    let (happened, rest) = FailurePresentation.split(failure.message)
    stream.line(
      StyledText("   \(self.symbols.warning) ", [.yellow, .bold]) + StyledText(happened, .yellow)
        + StyledText(" [\(failure.code)]", .dim), indent: 5)
    if let rest {
      stream.line(
        StyledText("     \(self.symbols.arrow) ", .dim) + StyledText(rest), indent: 7)
    }
  }

  private static func meaning(_ utterance: AnnotatedUtterance?) -> JSONValue {
    let segments = utterance?.segments.filter { !$0.intent.isEmpty && $0.intent != "_" } ?? []
    return .array(
      segments.map { segment in
        .object([
          "intent": .string(segment.intent),
          "entities": .array(
            segment.entities.map { entity in
              .object([
                "type": .string(entity.name), "value": .string(entity.normalizedValue ?? entity.value),
              ])
            }),
        ])
      })
  }
}
