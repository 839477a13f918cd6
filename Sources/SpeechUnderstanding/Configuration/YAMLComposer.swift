import Dispatch
import Foundation
import Yams

/// Reads YAML without trusting it: the library goes one call deeper with each bracket.
enum YAMLComposer {
  /// How deep values may stand in each other; a configuration needs four.
  static let nestingLimit = 32

  /// The values stand too deep in each other.
  struct TooDeep: Error {}

  /// The root of a text, `nil` if there is nothing in it.
  ///
  /// The library allows a thousand levels, which is too much for the stacks of worker threads on some systems: so it
  /// runs on a thread with a large stack of its own, while the caller waits.
  static func root(of text: String) throws -> Node? {
    // The semaphore orders the accesses: the thread writes before it signals, the caller reads after that.
    nonisolated(unsafe) var result: Result<Node?, any Error> = .success(nil)
    let done = DispatchSemaphore(value: 0)
    let thread = Thread {
      result = Result { try Self.shallowRoot(of: text) }
      done.signal()
    }
    thread.stackSize = 16 * 1024 * 1024
    thread.start()
    done.wait()
    return try result.get()
  }

  private static func shallowRoot(of text: String) throws -> Node? {
    guard let root = try compose(yaml: text) else { return nil }
    guard Self.isShallow(root) else { throw TooDeep() }
    return root
  }

  private static func isShallow(_ root: Node) -> Bool {
    var level = [root]
    var visited = 0
    for _ in 0..<Self.nestingLimit {
      var next: [Node] = []
      for node in level {
        visited += 1
        // Aliases can make a small text stand for a very large one.
        guard visited < 2_000_000 else { return false }
        switch node {
        case .scalar, .alias: break
        case .sequence(let sequence): next += sequence
        case .mapping(let mapping): for (key, value) in mapping { next += [key, value] }
        }
      }
      if next.isEmpty { return true }
      level = next
    }
    return false
  }
}
