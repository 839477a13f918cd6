import Dispatch
import Foundation

/// Keys that a person types at the terminal of this process, one by one and without an echo.
enum TerminalKeys {
  /// The keys from now on; the terminal is as before when nobody reads them any more.
  static func ofThisProcess() -> AsyncStream<Character> {
    AsyncStream { continuation in
      var before = termios()
      guard isatty(STDIN_FILENO) == 1, tcgetattr(STDIN_FILENO, &before) == 0 else {
        return continuation.finish()
      }
      var raw = before
      // Signals stay, so that Ctrl-C works as ever.
      raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
      guard tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0 else { return continuation.finish() }
      // Sources of Dispatch may be used on any thread; the type does not say so.
      nonisolated(unsafe) let source = DispatchSource.makeReadSource(
        fileDescriptor: STDIN_FILENO, queue: .global())
      source.setEventHandler {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(STDIN_FILENO, &bytes, bytes.count)
        guard count > 0 else { return continuation.finish() }
        for character in String(decoding: bytes.prefix(count), as: UTF8.self) {
          continuation.yield(character)
        }
      }
      let settings = before
      continuation.onTermination = { _ in
        source.cancel()
        var settings = settings
        tcsetattr(STDIN_FILENO, TCSANOW, &settings)
      }
      source.resume()
    }
  }
}

/// What a key asks for in a call.
enum CallKey: Hashable, Sendable {
  /// Send this tone.
  case tone(Character)
  case mute
  case hold
  case hangUp

  /// What a typed character means; `nil` if nothing.
  init?(_ character: Character) {
    switch character {
    case "0"..."9", "*", "#": self = .tone(character)
    case "m", "M": self = .mute
    case "h", "H": self = .hold
    case "q", "Q": self = .hangUp
    default: return nil
    }
  }
}
