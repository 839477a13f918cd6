public import VoiceCore

/// Why a text is not a session description, where, and what to write instead.
public struct SDPError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of mistake.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// More bytes, lines, media or formats than ``SDPLimits`` allow.
    case tooLarge
    /// Bytes that are not UTF-8 (RFC 8866 section 5).
    case notUTF8
    /// A control character, or a carriage return without its line feed.
    case controlCharacter
    /// A line that is not a letter, an equals sign and a value.
    case notALine
    /// A line that may not stand here, or not a second time.
    case outOfOrder
    /// A line without which there is no session description.
    case missing
    /// A value that is not written as its RFC demands.
    case malformed
    /// A number outside of its range, or a text of a forbidden length.
    case outOfRange
    /// An attribute that stands twice where readers would disagree on which one counts.
    case duplicate
    /// A reference to a medium or payload type that does not exist.
    case unknownReference
  }

  /// The kind of mistake.
  public let kind: Kind
  /// The line, from 1.
  public let line: Int
  /// The byte in the line, from 1.
  public let column: Int
  /// What is wrong, such as `port`; never text from the description.
  public let what: String
  /// What to write instead.
  public let suggestion: String

  init(_ kind: Kind, line: Int, column: Int, _ what: String, write suggestion: String) {
    self.kind = kind
    self.line = line
    self.column = column
    self.what = what
    self.suggestion = suggestion
  }

  public var description: String {
    "\(self.line):\(self.column): \(self.kind.rawValue): \(self.what); write \(self.suggestion)"
  }

  /// The failure of a call whose session description this is: `call.media.unacceptable`, with this error as its cause.
  public var failure: VoiceFailure {
    VoiceFailure(
      .callMediaUnacceptable, message: "The session description cannot be read: \(self.description).",
      cause: self)
  }
}

/// How large a session description may be.
public struct SDPLimits: Hashable, Sendable {
  /// Bytes of the text.
  public var bytes: Int
  /// Lines.
  public var lines: Int
  /// Media descriptions.
  public var media: Int

  /// Formats of one medium.
  public var formats: Int

  /// Creates limits; the defaults are far above what browsers write.
  public init(bytes: Int = 65_536, lines: Int = 2048, media: Int = 32, formats: Int = 256) {
    self.bytes = bytes
    self.lines = lines
    self.media = media
    self.formats = formats
  }
}
