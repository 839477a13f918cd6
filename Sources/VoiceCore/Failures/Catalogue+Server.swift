extension VoiceFailure.Code {
  /// Another program listens at the port.
  public static let portInUse = Self("server.port.in-use")
  /// The process may not listen at the port.
  public static let portNotPermitted = Self("server.port.not-permitted")
  /// The address is not one of this machine.
  public static let listenAddressInvalid = Self("server.address.invalid")
  /// The data folder cannot be written.
  public static let dataFolderNotWritable = Self("server.data-folder.not-writable")
  /// The disk of the data folder is full.
  public static let dataFolderFull = Self("server.data-folder.full")
  /// Another server uses the data folder.
  public static let dataFolderInUse = Self("server.data-folder.in-use")
  /// The configuration file is missing.
  public static let configurationNotFound = Self("server.configuration.not-found")
  /// The configuration file has an error.
  public static let configurationInvalid = Self("server.configuration.invalid")
  /// The server's certificate or key cannot be used.
  public static let certificateInvalid = Self("server.tls.certificate-invalid")
  /// The kept signing key cannot be used.
  public static let signingKeyInvalid = Self("server.signing-key.invalid")

  /// A reader of events was too slow and some were dropped.
  public static let eventsDropped = Self("client.events.dropped")
  /// The client was closed.
  public static let clientClosed = Self("client.closed")
  /// A command or call was used in a way that cannot work.
  public static let usage = Self("client.usage")
  /// Something failed that has no code of its own.
  public static let unexpected = Self("client.unexpected")
}

extension FailureCatalogue {
  static let server: [Definition] = [
    Definition(
      .portInUse, .process, .changeConfiguration("the port"),
      happens: "Another program listens at this port.",
      response: "Does not start.",
      advice: "Stop the other program, or use another port; `--port 0` takes a free one.",
      reproduce: "`voice serve & voice serve --data` with another folder"),
    Definition(
      .portNotPermitted, .process, .changeConfiguration("the port"),
      happens: "This user may not listen at this port.",
      response: "Does not start.",
      advice: "Use a port above 1023, or give the process the right.",
      reproduce: "`voice serve --port 80` as an ordinary user"),
    Definition(
      .listenAddressInvalid, .process, .changeConfiguration("the host"),
      happens: "The server cannot listen at this address.",
      response: "Does not start.",
      advice: "Use `127.0.0.1`, `0.0.0.0`, or an address of this machine.",
      reproduce: "`voice serve --host 203.0.113.1`"),
    Definition(
      .dataFolderNotWritable, .process, .grantPermission(.storage),
      happens: "The data folder cannot be written.",
      response: "Does not start.",
      advice: "Give the user the right to write it, or name another with `--data`.",
      reproduce: "`voice serve --data /proc/voice`"),
    Definition(
      .dataFolderFull, .process, .retry,
      happens: "The disk of the data folder is full.",
      response: "Does not start; leaves no half-written file behind.",
      advice: "Free some space, or name another folder with `--data`.",
      reproduce: "`voice serve --data` on a full file system"),
    Definition(
      .dataFolderInUse, .process, .changeConfiguration("the data folder"),
      happens: "Another server uses the data folder.",
      response: "Does not start and touches nothing in the folder.",
      advice: "Stop the other server, or name another folder with `--data`.",
      reproduce: "`voice serve & voice serve --port 0 --http-port 0`"),
    Definition(
      .configurationNotFound, .process, .changeConfiguration("the configuration file"),
      happens: "The configuration file is missing.",
      response: "Does not start.",
      advice: "Check the path; without `--config` the server has working defaults.",
      reproduce: "`voice serve --config none-such.yaml`"),
    Definition(
      .configurationInvalid, .process, .changeConfiguration("the configuration file"),
      happens: "The configuration file has an error.",
      response: "Does not start; names file, key and what is expected.",
      advice: "Correct the key that the message names.",
      reproduce: "`voice serve --config` with `limits: {decoders: many}`"),
    Definition(
      .certificateInvalid, .process, .changeConfiguration("the certificate and key"),
      happens: "The server's certificate or key cannot be used.",
      response: "Does not start.",
      advice: "Give PEM files that belong together and can be read.",
      reproduce: "`voice serve --config` with `tls: {certificate: README.md, key: README.md}`"),
    Definition(
      .signingKeyInvalid, .process, .changeConfiguration("the signing key"),
      happens: "The signing key in the data folder cannot be used.",
      response: "Does not start and does not replace it: a new key would reject every token in use.",
      advice: "Restore the file, or remove it to get a new key.",
      reproduce: "Empty the file `signing-key` in the data folder, then `voice serve`"),
  ]

  static let client: [Definition] = [
    Definition(
      .eventsDropped, .client, .none,
      happens: "A reader of events was too slow and some were dropped.",
      response: "Keeps the newest events and says how many were dropped.",
      advice: "Read events in a task that does not wait for anything else.",
      reproduce: "Subscribe to `events` and do not read"),
    Definition(
      .clientClosed, .client, .none,
      happens: "The client was closed.",
      response: "Does nothing.",
      advice: "Create a new client.",
      reproduce: "Call `start()` after `withSpeechClient` has returned"),
    Definition(
      .usage, .client, .changeConfiguration("the call or command"),
      happens: "This cannot work as it was asked for.",
      response: "Does nothing.",
      advice: "Read the message; it says what to write instead.",
      reproduce: "`voice recognize`"),
    Definition(
      .unexpected, .client, .retry,
      happens: "Something unexpected happened.",
      response: "Stops what was affected.",
      advice: "Please report it, with the failure's debug description.",
      reproduce: "Not known: a way to produce it deserves a code of its own"),
  ]
}
