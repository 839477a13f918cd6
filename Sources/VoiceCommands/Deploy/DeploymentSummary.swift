import Foundation
import SpeechUnderstanding
import Synchronization

/// What was deployed, for people and for programs.
struct DeploymentSummary {
  var name: String
  var id: UUID
  var understanding: Understanding
  var time: Duration

  func text(_ symbols: Console.Symbols) -> StyledText {
    let grammar = self.understanding.grammar
    let count = grammar.utteranceCount
    let parts = [
      Phrases.count(grammar.intents.count, "intent"),
      grammar.entities.count == 1 ? "1 entity" : "\(grammar.entities.count) entities",
      "\(count < 1e6 ? String(Int(count)) : String(format: "%.1e", count)) utterances",
    ]
    return StyledText("\(symbols.good) ", [.green, .bold]) + StyledText("Deployed to \(self.name)", .bold)
      + StyledText(" (\(self.id.uuidString.lowercased()))", .dim)
      + StyledText(": \(parts.joined(separator: ", ")), in \(Phrases.duration(self.time)).")
  }

  var json: JSONValue {
    let grammar = self.understanding.grammar
    return .object([
      "event": .string("deployed"), "app": .string(self.id.uuidString.lowercased()),
      "name": .string(self.name),
      "intents": .array(grammar.intents.map(JSONValue.string)),
      "entities": .array(grammar.entities.map(JSONValue.string)),
      "utterances": .decimal(grammar.utteranceCount), "seconds": .decimal(self.time / .seconds(1)),
    ])
  }
}

/// How far a deployment is, as a line that changes; only on a terminal.
final class DeploymentProgress: Sendable {
  private let console: Console
  private let total: Int
  private let isShown: Bool
  private let block: Mutex<LiveBlock>

  init(console: Console, total: Int, isShown: Bool) {
    self.console = console
    self.total = max(1, total)
    self.isShown = isShown && console.error.movesCursor
    self.block = Mutex(LiveBlock(showsColor: console.error.showsColor))
  }

  /// Shows how many bytes are on their way.
  func sent(_ count: Int) {
    guard count < self.total else { return self.compiling() }
    let filled = 24 * count / self.total
    let bar =
      String(repeating: self.console.symbols.full, count: filled)
      + String(repeating: self.console.symbols.empty, count: 24 - filled)
    self.draw(StyledText("sending \(bar) \(100 * count / self.total) %", .dim))
  }

  /// Shows that the server is at work.
  func compiling() { self.draw(StyledText("compiling\(self.console.symbols.ellipsis)", .dim)) }

  func clear() {
    let stream = self.console.error
    self.block.withLock { stream.write($0.clear(on: stream.size)) }
  }

  private func draw(_ row: StyledText) {
    guard self.isShown else { return }
    let stream = self.console.error
    self.block.withLock { stream.write($0.draw([row], on: stream.size)) }
  }
}
