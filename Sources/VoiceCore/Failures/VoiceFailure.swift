/// What went wrong, what the SDK does about it by itself, and what the app should do.
///
/// Every failure of the toolkit is a `VoiceFailure` or maps to one. ``code`` is stable and belongs in an
/// app's `switch`; ``message`` may change between releases and is safe to show and to log: it never holds
/// a token, a password, a session description or what somebody said. ``cause`` is kept for developers and
/// appears in ``debugDescription`` only.
public struct VoiceFailure: Error, Sendable {
  /// The name of a failure, stable across releases: lower-case words joined by dots and hyphens.
  ///
  /// The set is open: a newer SDK or server may report codes that an app does not know. All known codes
  /// are in ``FailureCatalogue`` and in `docs/failures.md`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The code as it is printed, such as `audio.input.no-device`.
    public let rawValue: String

    /// Creates a code from its printed form.
    public init(_ rawValue: String) {
      self.rawValue = rawValue
    }

    public var description: String { self.rawValue }
  }

  /// How much of the app a failure ends.
  public enum Scope: String, Hashable, Sendable, CaseIterable {
    /// One utterance (audio context) is affected; the client goes on.
    case utterance
    /// One call is affected; the client goes on.
    case call
    /// The client cannot work until something changes.
    case client
    /// A server, or the process as a whole.
    case process
  }

  /// The stable name of the failure.
  public var code: Code

  /// What happened and what to do, in one or two sentences for a person.
  public var message: String

  /// What happens next, and who acts.
  public var recovery: Recovery

  /// How much the failure ends.
  public var scope: Scope

  /// The error underneath, if there is one.
  public var cause: (any Error)?

  /// Creates a failure.
  ///
  /// - Parameters:
  ///   - code: One of the catalogue's codes.
  ///   - message: What happened, safe to show; by default the catalogue's sentence.
  ///   - recovery: What happens next; by default what the catalogue says of the code.
  ///   - scope: How much ends; by default what the catalogue says of the code.
  ///   - cause: The error underneath.
  public init(
    _ code: Code,
    message: String? = nil,
    recovery: Recovery? = nil,
    scope: Scope? = nil,
    cause: (any Error)? = nil
  ) {
    let definition = FailureCatalogue.definition(of: code)
    self.code = code
    self.message = message ?? definition?.happens ?? code.rawValue
    self.recovery = recovery ?? definition?.recovery ?? .none
    self.scope = scope ?? definition?.scope ?? .client
    self.cause = cause
  }

  /// The same failure with other advice, for a layer that knows more about what happens next.
  public func with(recovery: Recovery) -> VoiceFailure {
    var copy = self
    copy.recovery = recovery
    return copy
  }
}

extension VoiceFailure: CustomStringConvertible, CustomDebugStringConvertible {
  public var description: String { "\(self.message) [\(self.code)]" }

  public var debugDescription: String {
    var text = "\(self.code): \(self.message) (recovery: \(self.recovery), scope: \(self.scope.rawValue)"
    if let cause = self.cause {
      text += ", cause: \(String(reflecting: cause))"
    }
    return text + ")"
  }
}

/// Two failures are equal if an app could not tell them apart; causes are not compared.
extension VoiceFailure: Hashable {
  public func hash(into hasher: inout Hasher) {
    hasher.combine(self.code)
    hasher.combine(self.message)
    hasher.combine(self.recovery)
    hasher.combine(self.scope)
  }

  public static func == (left: VoiceFailure, right: VoiceFailure) -> Bool {
    left.code == right.code && left.message == right.message && left.recovery == right.recovery
      && left.scope == right.scope
  }
}
