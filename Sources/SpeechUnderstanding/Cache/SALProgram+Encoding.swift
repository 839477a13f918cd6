extension SALProgram {
  /// Everything that a compiled grammar depends on, as bytes: equal bytes give equal grammars.
  ///
  /// Places in the source are left out: moving a line changes nothing.
  func encoded(for language: any LanguagePack) -> [UInt8] {
    var writer = ByteWriter()
    writer.write(GrammarBuilder.version)
    writer.write(language.language)
    writer.write(language.version)
    writer.write(UInt32(clamping: self.templates.count))
    for template in self.templates { writer.write(template.expression) }
    writer.write(UInt32(clamping: self.variables.count))
    for (name, expression) in self.variables.sorted(by: { $0.key < $1.key }) {
      writer.write(name)
      writer.write(expression)
    }
    return writer.bytes
  }
}

extension ByteWriter {
  fileprivate mutating func write(_ expression: SALExpression) {
    self.write(UInt32(clamping: expression.items.count))
    for item in expression.items { self.write(item) }
  }

  private mutating func write(_ item: SALItem) {
    switch item.kind {
    case .word(let text):
      self.write(UInt8(1))
      self.write(text)
    case .intent(let name):
      self.write(UInt8(2))
      self.write(name)
    case .entity(let value, let name):
      self.write(UInt8(3))
      self.write(name)
      self.write(value)
    case .list(let alternatives):
      self.write(UInt8(4))
      self.write(UInt32(clamping: alternatives.count))
      for alternative in alternatives {
        self.write(alternative.weight.bitPattern)
        self.write(alternative.expression)
      }
    case .permutation(let items):
      self.write(UInt8(5))
      self.write(UInt32(clamping: items.count))
      for item in items { self.write(item) }
    case .optional(let expression, let probability):
      self.write(UInt8(6))
      self.write(probability.bitPattern)
      self.write(expression)
    case .numbers(let range):
      self.write(UInt8(7))
      self.write(UInt64(bitPattern: Int64(range.lowerBound)))
      self.write(UInt64(bitPattern: Int64(range.upperBound)))
    case .variable(let name):
      self.write(UInt8(8))
      self.write(name)
    }
  }
}
