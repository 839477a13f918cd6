/// What a connection needs of DTLS.
///
/// ``DTLSConnection`` does it with OpenSSL, whose timers run by real time; tests in virtual time put a model in its place.
public protocol DTLSHandshaking: AnyObject {
  /// Begins the handshake; the client sends its first flight, the server waits for it.
  func start()
  /// Takes in a datagram of the other side, once it has started; what does not belong to the connection changes nothing.
  func received(_ datagram: ArraySlice<UInt8>)
  /// Sends the last flight again, if it is time.
  func handleTimeout()
  /// How long from now until ``handleTimeout()`` is due; `nil` if nothing is awaited.
  var timeout: Duration? { get }
  /// Takes out what comes next; `nil` until there is more input.
  func poll() -> DTLSOutput?
  /// Tells the other side, if there is a connection, and ends it.
  func close()
}

/// What comes out of a DTLS connection.
public enum DTLSOutput: Sendable {
  /// A datagram for the other side.
  case send([UInt8])
  /// The handshake is done, and the other side is the announced one; comes at most once.
  case established(SRTPKeys)
  /// It is over; comes at most once, and nothing but datagrams after it.
  case failed(DTLSError)
  /// The other side ended the connection; comes at most once, and nothing but datagrams after it.
  case closed
}
