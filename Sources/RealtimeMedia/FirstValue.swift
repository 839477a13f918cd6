extension Sequence {
  /// The first of the values that a closure makes of the elements.
  func firstValue<Value>(_ pick: (Element) -> Value?) -> Value? {
    for element in self {
      if let value = pick(element) { return value }
    }
    return nil
  }
}
