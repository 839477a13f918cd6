import ArgumentParser
import Foundation
import Testing

@testable import VoiceCommands

/// What the documentation shows is compiled, and what it links to exists.
struct DocumentationTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// README.md and all pages of `docs/`, by their path in the repository.
  private static var pages: [String] {
    let enumerator = FileManager.default.enumerator(atPath: Self.root.appendingPathComponent("docs").path)
    let docs = (enumerator?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix(".md") }.sorted()
    return ["README.md"] + docs.map { "docs/" + $0 }
  }

  private static func text(of path: String) throws -> String {
    try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
  }

  /// Lines without the indentation that all of them share, and without what is at their ends.
  private static func lines(_ text: String) -> [String] {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let indent =
      lines.filter { !$0.allSatisfy(\.isWhitespace) }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
    var result = lines.map { line -> String in
      var line = line.dropFirst(min(indent, line.prefix { $0 == " " }.count))
      while line.last?.isWhitespace == true { line.removeLast() }
      return String(line)
    }
    while result.first?.isEmpty == true { result.removeFirst() }
    while result.last?.isEmpty == true { result.removeLast() }
    return result
  }

  private static func blocks(of language: String, in text: String) -> [String] {
    var blocks: [String] = []
    var block: [String]?
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let trimmed = line.trimmingCharacters(in: .whitespaces)
      if let open = block {
        if trimmed == "```" {
          blocks.append(open.joined(separator: "\n"))
          block = nil
        } else {
          block?.append(String(line))
        }
      } else if trimmed == "```\(language)" {
        block = []
      }
    }
    return blocks
  }

  /// Whether the lines stand together somewhere in a source, whatever they are indented by there.
  private static func contains(_ source: [String], _ wanted: [String]) -> Bool {
    guard let first = wanted.first, !wanted.isEmpty else { return true }
    return source.indices.contains { start in
      guard source[start].trimmingCharacters(in: .whitespaces) == first.trimmingCharacters(in: .whitespaces),
        start + wanted.count <= source.count
      else { return false }
      let piece = source[start..<(start + wanted.count)].joined(separator: "\n")
      return Self.lines(piece) == wanted
    }
  }

  @Test func everySwiftSampleIsCompiled() throws {
    let folder = Self.root.appendingPathComponent("Tests/VoiceCommandsTests/Samples")
    let samples = try FileManager.default.contentsOfDirectory(atPath: folder.path).map { name in
      try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
        .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }
    var count = 0
    for page in Self.pages {
      for block in try Self.blocks(of: "swift", in: Self.text(of: page)) {
        count += 1
        let wanted = Self.lines(block)
        if !samples.contains(where: { Self.contains($0, wanted) }) {
          Issue.record("\(page): no file of Tests/VoiceCommandsTests/Samples holds this sample:\n\(block)")
        }
      }
    }
    // The test would be of no use if it looked in the wrong place.
    #expect(count >= 3)
  }

  @Test func everyRelativeLinkLeadsSomewhere() throws {
    for page in Self.pages {
      let folder = (page as NSString).deletingLastPathComponent
      // In code, such as annotated text and templates, what looks like a link is none.
      let text = try Self.text(of: page)
        .replacing(/```[\s\S]*?```/, with: "").replacing(/`[^`\n]*`/, with: "")
      for match in text.matches(of: /\]\(([^)#\s]+)(#[^)]*)?\)/) {
        let target = String(match.output.1)
        guard !target.contains("://") else { continue }
        let path = Self.root.appendingPathComponent(folder).appendingPathComponent(target).path
        #expect(FileManager.default.fileExists(atPath: path), "\(page) links to \(target)")
      }
    }
  }

  @Test func everyCommandOfTheReadmeExists() throws {
    let shell = try Self.blocks(of: "sh", in: Self.text(of: "README.md")).joined(separator: "\n")
    let known = VoiceCommand.configuration.subcommands.compactMap { $0.configuration.commandName }
    for match in shell.matches(of: /voice ([a-z]+)/) {
      #expect(known.contains(String(match.output.1)), "voice \(match.output.1)")
    }
  }
}
