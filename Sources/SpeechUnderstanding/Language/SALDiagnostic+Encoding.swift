extension SALDiagnostic: Encodable {
  private enum Key: String, CodingKey {
    case severity, code, message, suggestion, file, line, column, endLine, endColumn
  }

  /// Writes one flat object, such as
  /// `{"severity":"error","code":"sal.variable.undefined","message":…,"suggestion":…,"file":…,"line":3,"column":10,`
  /// `"endLine":3,"endColumn":14}`; what is `nil` is left out.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(self.severity.rawValue, forKey: .severity)
    try container.encode(self.code, forKey: .code)
    try container.encode(self.message, forKey: .message)
    try container.encodeIfPresent(self.suggestion, forKey: .suggestion)
    guard let range = self.range else { return }
    try container.encode(range.file, forKey: .file)
    try container.encode(range.line, forKey: .line)
    try container.encode(range.column, forKey: .column)
    try container.encode(range.endLine, forKey: .endLine)
    try container.encode(range.endColumn, forKey: .endColumn)
  }
}
