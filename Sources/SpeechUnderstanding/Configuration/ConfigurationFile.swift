/// A file of an app's configuration, in memory.
public struct ConfigurationFile: Hashable, Sendable {
  /// The name without a folder, such as `app.yaml`; imports refer to it.
  public var name: String
  /// The content.
  public var bytes: [UInt8]

  /// Creates a file.
  public init(name: String, bytes: [UInt8]) {
    self.name = name
    self.bytes = bytes
  }

  /// Creates a file of a text.
  public init(name: String, text: String) {
    self.init(name: name, bytes: Array(text.utf8))
  }

  /// What is after the last dot of the name, in lower case.
  var kind: String {
    guard let dot = self.name.lastIndex(of: ".") else { return "" }
    return self.name[self.name.index(after: dot)...].lowercased()
  }
}
