import Testing

/// Expects the answer of a mutating call, which `#expect` cannot make itself.
func expectEqual<Value: Equatable>(
  _ value: Value, _ expected: Value, sourceLocation: SourceLocation = #_sourceLocation
) {
  #expect(value == expected, sourceLocation: sourceLocation)
}
