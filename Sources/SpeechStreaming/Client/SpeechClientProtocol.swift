/// A client that turns speech into words, intents and entities. (Source: protocol §1.2.)
///
/// All methods return at once; what they asked for is acknowledged through the delegate.
public protocol SpeechClientProtocol: AnyObject, Sendable {
  /// Who is told what happens; held weakly. May be set on any thread, also inside a delegate call.
  var delegate: (any SpeechClientDelegate)? { get set }

  /// Starts a new context. A context that is still open is stopped first and keeps delivering its results.
  func start()

  /// Stops the current context; without one, nothing happens.
  func stop()

  /// Stops recording, lets the current context finish, and closes the connection; for an app that goes to the background.
  func suspend()

  /// Makes the client ready again after ``suspend()``.
  func resume() throws
}
