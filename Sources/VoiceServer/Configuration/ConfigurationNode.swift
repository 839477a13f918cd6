import Foundation
import VoiceCore
import Yams

/// A place in a configuration file that knows its key path and line, so that every complaint names them.
///
/// Reading is strict: a key that is not read with ``mapping(_:)``'s list is an error, and so is a value of another
/// type.
struct ConfigurationNode {
  let node: Node
  let file: String
  let path: String

  /// Reads a whole file.
  ///
  /// - Returns: `nil` for a file without content.
  static func root(ofText text: String, file: String) throws(VoiceFailure) -> ConfigurationNode? {
    do {
      guard let node = try compose(yaml: text), node.tag != Tag(.null) else { return nil }
      return ConfigurationNode(node: node, file: file, path: "")
    } catch let error as YamlError {
      throw Self.failure(from: error, file: file)
    } catch {
      throw ConfigurationError.failure(
        file: file, line: nil, key: "", expected: "expected YAML, found something that is not")
    }
  }

  // The library's own descriptions quote the file, which may hold keys: only the problem and its line are used.
  private static func failure(from error: YamlError, file: String) -> VoiceFailure {
    switch error {
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
      .composer(_, let problem, let mark, _):
      ConfigurationError.failure(
        file: file, line: mark.line, key: "", expected: "expected YAML, but \(problem)")
    case .duplicatedKeysInMapping(let duplicates, let context):
      ConfigurationError.failure(
        file: file, line: context.mark.line, key: duplicates.first ?? "",
        expected: "expected each key once, found it a second time")
    case .no, .memory, .reader, .writer, .emitter, .representer, .dataCouldNotBeDecoded:
      ConfigurationError.failure(
        file: file, line: nil, key: "", expected: "expected YAML in UTF-8, found something that is not")
    }
  }

  func failure(_ expected: String) -> VoiceFailure {
    ConfigurationError.failure(
      file: self.file, line: self.node.mark?.line, key: self.path, expected: expected)
  }

  private func expected(_ what: String, showValue: Bool = true) -> VoiceFailure {
    let found =
      switch self.node {
      case .scalar(let scalar):
        scalar.string.isEmpty || scalar.tag == Tag(.null)
          ? "nothing" : showValue ? "\"\(scalar.string.prefix(60))\"" : "another value"
      case .mapping: "a group of keys"
      case .sequence: "a list"
      case .alias: "an alias"
      }
    return self.failure("expected \(what), found \(found)")
  }

  /// The values of a group of keys; complains about any other key.
  func mapping(_ keys: [String]) throws(VoiceFailure) -> [String: ConfigurationNode] {
    guard case .mapping(let mapping) = self.node else {
      throw self.expected("a group of keys (\(keys.joined(separator: ", ")))")
    }
    var values: [String: ConfigurationNode] = [:]
    for (key, value) in mapping {
      let name = key.string ?? ""
      let place = self.path.isEmpty ? name : "\(self.path).\(name)"
      guard keys.contains(name) else {
        throw ConfigurationError.failure(
          file: self.file, line: key.mark?.line, key: place,
          expected: "expected one of \(keys.joined(separator: ", ")), found an unknown key")
      }
      values[name] = ConfigurationNode(node: value, file: self.file, path: place)
    }
    return values
  }

  func list() throws(VoiceFailure) -> [ConfigurationNode] {
    guard case .sequence(let sequence) = self.node else { throw self.expected("a list") }
    return sequence.enumerated().map { index, node in
      ConfigurationNode(node: node, file: self.file, path: "\(self.path)[\(index)]")
    }
  }

  func text(_ what: String = "text", isSecret: Bool = false) throws(VoiceFailure) -> String {
    guard case .scalar(let scalar) = self.node, !scalar.string.isEmpty, scalar.tag != Tag(.null)
    else { throw self.expected(what, showValue: !isSecret) }
    return scalar.string
  }

  func integer(in range: ClosedRange<Int>) throws(VoiceFailure) -> Int {
    guard case .scalar(let scalar) = self.node, scalar.style == .plain,
      let value = Int(scalar.string), range.contains(value)
    else {
      throw self.expected("a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return value
  }

  func truth() throws(VoiceFailure) -> Bool {
    guard case .scalar(let scalar) = self.node, scalar.style == .plain else {
      throw self.expected("true or false")
    }
    switch scalar.string.lowercased() {
    case "true": return true
    case "false": return false
    default: throw self.expected("true or false")
    }
  }

  func seconds(in range: ClosedRange<Int>) throws(VoiceFailure) -> Duration {
    guard case .scalar(let scalar) = self.node, scalar.style == .plain,
      let value = Double(scalar.string), value.isFinite,
      value >= Double(range.lowerBound), value <= Double(range.upperBound)
    else {
      throw self.expected("\(range.lowerBound) to \(range.upperBound) seconds")
    }
    return .milliseconds(Int64((value * 1000).rounded()))
  }

  func identifier() throws(VoiceFailure) -> UUID {
    guard case .scalar(let scalar) = self.node, let id = UUID(uuidString: scalar.string) else {
      throw self.expected("a UUID such as \(ServerConfiguration.App.demo.id.uuidString)")
    }
    return id
  }

  func language() throws(VoiceFailure) -> String {
    guard case .scalar(let scalar) = self.node, Language.isTag(scalar.string) else {
      throw self.expected("a language tag such as en-US")
    }
    return scalar.string
  }

  /// A path; relative ones count from the folder of the configuration file.
  func file(relativeTo folder: String) throws(VoiceFailure) -> String {
    let path = try self.text("a path")
    return path.hasPrefix("/") ? path : folder + "/" + path
  }
}
