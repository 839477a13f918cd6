extension TranscriptSegment {
  /// The segment with its intent before the words and its entities among them, as `voice understand` shows it.
  var styled: StyledText {
    var line = StyledText()
    if let tag = self.tag { line.append(tag) }
    for index in self.words.indices {
      if !line.isEmpty { line.append(" ") }
      line.append(self.styledWord(index))
    }
    if let remark { line.append(remark) }
    return line
  }

  /// The intent, if there is one.
  var tag: StyledText? {
    self.intent.isEmpty ? nil : StyledText("*\(self.intent)", self.isFinal ? [.green, .bold] : .green)
  }

  /// What is to be said behind the words.
  var remark: StyledText? {
    self.isRejected ? StyledText(" (not covered)", .dim) : nil
  }

  /// A word, with what marks the entity that begins or ends with it.
  ///
  /// - Parameters:
  ///   - marksChange: Whether marks instead of dimness say which words may still change.
  func styledWord(_ index: Int, marksChange: Bool = false) -> StyledText {
    let word = self.words[index]
    let dimness: TextStyle = word.isFinal ? [] : .dim
    var text = StyledText()
    // Without colours angles say what may still change: brackets are for entities.
    if marksChange, !word.isFinal, index == 0 || self.words[index - 1].isFinal { text.append("<") }
    let entity = self.entities.first { $0.start <= index && index < $0.end }
    if let entity {
      let style: TextStyle = [.cyan, dimness]
      if max(0, entity.start) == index { text.append("[", style) }
      text.append(word.text, style)
      if self.isLast(index, of: entity) {
        let spoken = self.words[max(0, entity.start)...index].map(\.text).joined(separator: " ")
        if spoken.lowercased() != entity.value.lowercased() {
          text.append("|\(entity.value)", word.isFinal ? [.cyan, .bold] : style)
        }
        text.append("]", style)
        text.append("(\(entity.type))", .dim)
      }
    } else {
      text.append(word.text, dimness)
    }
    if marksChange, !word.isFinal, index == self.words.count - 1 || self.words[index + 1].isFinal {
      text.append(">")
    }
    return text
  }

  /// A server may name words that it has not told yet.
  private func isLast(_ index: Int, of entity: Entity) -> Bool {
    index == min(entity.end, self.words.count) - 1
  }
}
