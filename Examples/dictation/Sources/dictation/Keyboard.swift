import Foundation
import Synchronization

/// The keys that are pressed, one by one and without an echo.
enum Keyboard {
  private static let original = Mutex<termios?>(nil)

  /// The keys from now on; none if the input is no terminal.
  static func keys() -> AsyncStream<Character> {
    let (stream, continuation) = AsyncStream.makeStream(of: Character.self)
    var settings = termios()
    guard isatty(0) == 1, tcgetattr(0, &settings) == 0 else { return stream }
    let before = settings
    self.original.withLock { $0 = before }
    settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
    tcsetattr(0, TCSANOW, &settings)
    // Reading blocks, and ends with the program.
    Thread.detachNewThread {
      var bytes = [UInt8](repeating: 0, count: 64)
      while true {
        let count = read(0, &bytes, bytes.count)
        guard count > 0 else { return continuation.finish() }
        for key in String(decoding: bytes.prefix(count), as: UTF8.self) { continuation.yield(key) }
      }
    }
    return stream
  }

  /// Gives the terminal back as it was.
  static func restore() {
    guard var settings = self.original.withLock({ $0 }) else { return }
    tcsetattr(0, TCSANOW, &settings)
  }
}
