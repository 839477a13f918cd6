import CFlite
import Synchronization

/// What all users of flite in a process share: its lexicon, voices and tables are global, and it promises nothing about threads.
package enum FliteLibrary {
  /// Lives as long as the process; only used while ``lexicon`` is locked.
  private struct Lexicon: @unchecked Sendable {
    let pointer: UnsafeMutablePointer<cst_lexicon>
  }

  /// The lexicon, `nil` until it is needed; the lock is held while anything of flite is called.
  private static let lexicon = Mutex<Lexicon?>(nil)

  /// Does something with flite while nobody else does.
  package static func exclusively<Value: Sendable>(_ body: () -> Value) -> Value {
    self.lexicon.withLock { _ in body() }
  }

  /// Looks something up in the lexicon while nobody else uses flite.
  ///
  /// - Returns: `nil` if there is no lexicon.
  static func withLexicon<Value: Sendable>(
    _ body: (UnsafeMutablePointer<cst_lexicon>) -> Value
  ) -> Value? {
    self.lexicon.withLock { lexicon in
      if lexicon == nil { lexicon = cmulex_init().map { Lexicon(pointer: $0) } }
      return lexicon.map { body($0.pointer) }
    }
  }
}
