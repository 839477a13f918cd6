import Foundation

/// Where a command writes: standard output and standard error, and what each of them can show.
public struct Console: Sendable {
  /// The size of a terminal, in characters.
  public struct Size: Hashable, Sendable {
    /// Columns.
    public var width: Int
    /// Rows.
    public var height: Int

    /// Creates a size.
    public init(width: Int, height: Int) {
      self.width = width
      self.height = height
    }
  }

  /// One of the two streams.
  public struct Stream: Sendable {
    /// Whether a person reads it as it is written.
    public let isTerminal: Bool
    /// Whether text that was written can be replaced: a terminal that is not `dumb`.
    public let movesCursor: Bool
    /// Whether colours may be written.
    public internal(set) var showsColor: Bool
    private let currentSize: @Sendable () -> Size
    private let writer: @Sendable (String) -> Void

    /// Creates a stream.
    ///
    /// - Parameters:
    ///   - isTerminal: Whether a person reads it as it is written.
    ///   - environment: Says what the terminal can show: `TERM`, `NO_COLOR` (see no-color.org).
    ///   - size: The present size of the terminal.
    ///   - write: Writes text; may be called on any thread.
    public init(
      isTerminal: Bool, environment: [String: String] = [:],
      size: @escaping @Sendable () -> Size = { Size(width: 80, height: 24) },
      write: @escaping @Sendable (String) -> Void
    ) {
      self.isTerminal = isTerminal
      self.movesCursor = isTerminal && environment["TERM"] != "dumb"
      self.showsColor = self.movesCursor && (environment["NO_COLOR"] ?? "").isEmpty
      self.currentSize = size
      self.writer = write
    }

    /// The present size; of a usable minimum, whatever the terminal claims.
    public var size: Size {
      let size = self.currentSize()
      return Size(width: max(20, size.width), height: max(4, size.height))
    }

    /// Writes text as it is.
    public func write(_ text: String) {
      guard !text.isEmpty else { return }
      self.writer(text)
    }
  }

  /// Standard output: results.
  public var output: Stream
  /// Standard error: everything else.
  public var error: Stream
  /// The marks in front of lines.
  var symbols: Symbols

  /// Creates a console.
  public init(output: Stream, error: Stream, environment: [String: String] = [:]) {
    self.output = output
    self.error = error
    let isPlain = ["dumb", "linux"].contains(environment["TERM"] ?? "")
    self.symbols = isPlain ? .ascii : .unicode
  }

  /// The same console without colours.
  func withoutColor() -> Console {
    var copy = self
    copy.output.showsColor = false
    copy.error.showsColor = false
    return copy
  }

  /// Marks in front of lines, with columns that any font has for terminals that show little else.
  struct Symbols: Hashable, Sendable {
    var good: String
    var warning: String
    var bad: String
    var arrow: String
    var retry: String
    var ellipsis: String
    var dot: String
    var full: String
    var empty: String

    static let unicode = Symbols(
      good: "✔", warning: "!", bad: "✖", arrow: "→", retry: "↻", ellipsis: "…", dot: "·", full: "█",
      empty: "░")
    static let ascii = Symbols(
      good: "+", warning: "!", bad: "x", arrow: "->", retry: "~", ellipsis: "...", dot: "-", full: "#",
      empty: ".")
  }
}

extension Console.Stream {
  /// Writes a line, broken between words on a terminal.
  func line(_ text: StyledText = "", indent: Int = 0) {
    let rows = self.isTerminal ? text.wrapped(to: self.size.width - 1, indent: indent) : [text]
    self.write(rows.map { $0.rendered(withColor: self.showsColor) + "\n" }.joined())
  }
}

extension Console {
  /// The console of this process.
  ///
  /// When the reader of a pipe goes away, the process ends, as that of any command does.
  public static func system(environment: [String: String]) -> Console {
    Console(
      output: .system(descriptor: 1, environment: environment),
      error: .system(descriptor: 2, environment: environment), environment: environment)
  }
}

extension Console.Stream {
  fileprivate static func system(descriptor: Int32, environment: [String: String]) -> Console.Stream {
    let fallback = Console.Size(
      width: environment["COLUMNS"].flatMap { Int($0) } ?? 80,
      height: environment["LINES"].flatMap { Int($0) } ?? 24)
    return Console.Stream(
      isTerminal: isatty(descriptor) == 1, environment: environment,
      size: {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return fallback }
        return Console.Size(width: Int(size.ws_col), height: Int(size.ws_row))
      },
      write: { Self.write($0, to: descriptor) })
  }

  private static func write(_ text: String, to descriptor: Int32) {
    var text = text
    let end = text.withUTF8 { bytes -> Int32 in
      var rest = UnsafeRawBufferPointer(bytes)
      while !rest.isEmpty {
        let count = Foundation.write(descriptor, rest.baseAddress, rest.count)
        if count > 0 {
          rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
        } else if errno == EAGAIN {
          // Whoever started us made the terminal non-blocking: wait until it takes more.
          var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          Foundation.poll(&poll, 1, -1)
        } else if errno != EINTR {
          return errno
        }
      }
      return 0
    }
    // 128 + SIGPIPE, what a shell reports of a command whose reader is gone.
    if end == EPIPE { _exit(141) }
  }
}
