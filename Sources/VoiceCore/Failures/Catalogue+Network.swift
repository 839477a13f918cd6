extension VoiceFailure.Code {
  /// The server's host does not resolve, or nothing listens at its port.
  public static let serverUnreachable = Self("network.server.unreachable")
  /// The server did not answer in time.
  public static let serverTimedOut = Self("network.server.timed-out")
  /// The connection to the server broke while it was in use.
  public static let connectionLost = Self("network.connection.lost")
  /// A secure connection could not be made.
  public static let tlsFailed = Self("network.tls.failed")
  /// An address cannot be read.
  public static let addressInvalid = Self("network.address.invalid")
  /// All automatic tries are used up.
  public static let retriesExhausted = Self("network.retry.exhausted")
}

extension FailureCatalogue {
  static let network: [Definition] = [
    Definition(
      .serverUnreachable, .client, .retry,
      happens: "The server cannot be reached.",
      response:
        "Keeps what is being recorded and tries again with growing random waits; at once when the network comes back.",
      advice:
        "Check the address and that the server runs (`voice serve`). Show that the app is offline; recording may go on.",
      reproduce: "`voice recognize --server grpc://127.0.0.1:1 FILE`"),
    Definition(
      .serverTimedOut, .client, .retry,
      happens: "The server did not answer in time.",
      response: "Closes the attempt and tries again as for an unreachable server.",
      advice: "Check the network between app and server, and the load of the server (`/metrics`).",
      reproduce: "Stop the server's process with `kill -STOP`, then `voice recognize --server … FILE`"),
    Definition(
      .connectionLost, .utterance, .retry,
      happens: "The connection to the server was lost.",
      response:
        "Connects again, replays the audio since the last finished segment and goes on; finished words are neither repeated nor changed.",
      advice: "Nothing while the recovery is automatic. Show the state if it lasts.",
      reproduce: "`voice demo` (second pass), or `ImpairedLink` of `VoiceTesting`"),
    Definition(
      .tlsFailed, .client, .changeConfiguration("the server's certificate or the address scheme"),
      happens: "A secure connection could not be made.",
      response: "Does not try again: a certificate does not get better by itself.",
      advice: "Use `grpc://` for a server without TLS, or install a certificate that the client trusts.",
      reproduce: "`voice recognize --server grpc+tls://127.0.0.1:50051 FILE` against a server without TLS"),
    Definition(
      .addressInvalid, .client, .changeConfiguration("the server address"),
      happens: "The server address cannot be read.",
      response: "Throws before anything is opened.",
      advice: "Write `grpc://host:port` or `grpc+tls://host:port`; IPv6 hosts in brackets.",
      reproduce: "`voice recognize --server http://127.0.0.1 FILE`"),
    Definition(
      .retriesExhausted, .utterance, .retry,
      happens: "The server stayed out of reach and the time for trying again is used up.",
      response: "Ends the utterance after reporting what was not recognised; the client stays usable.",
      advice: "Offer to try again. `RetryPolicy` sets the number of tries and the time.",
      reproduce: "`SpeechClient` with `RetryPolicy(attempts: 1)` and no server"),
  ]
}
