public import VoiceCore

/// What a command tells the program that started it.
public enum CommandStatus: Int32, Hashable, Sendable, CaseIterable {
  /// Done.
  case done = 0
  /// The command line cannot be understood.
  case usage = 2
  /// A file, a device or a model cannot be used.
  case input = 3
  /// The network or the server failed.
  case network = 4
  /// The server refuses the app, the language or the credentials.
  case refused = 5
  /// The call failed.
  case call = 6
  /// Ended by the person, before the work was done.
  case interrupted = 130

  /// The status of a command that ends with a failure.
  ///
  /// Codes that this version does not know are judged by how they begin.
  public init(_ code: VoiceFailure.Code) {
    switch code {
    // What was typed is wrong, not what it names.
    case .usage, .addressInvalid, .loginInvalid:
      self = .usage
    // The file is at fault, though the server reports it.
    case .dataFolderNotWritable, .dataFolderFull, .dataFolderInUse, .configurationNotFound,
      .configurationInvalid,
      .certificateInvalid,
      .signingKeyInvalid, .keptStateInvalid, .interfaceInvalid, .interfaceTooLarge, .archiveInvalid,
      .wordUnpronounceable, .grammarTooLarge, .cacheDamaged, .cacheNotWritable:
      self = .input
    // No call came about because there is no way to the gateway.
    case .callLoginTimedOut, .gatewayNotRegistered, .gatewayRegistrationLost, .callNotConnected,
      .callConnectionLost,
      .callConnectionSilent:
      self = .network
    case .callLoginRefused, .callCredentialsMissing, .callTokenExpiring:
      self = .refused
    case .interfaceMissing, .appReadOnly, .methodNotOffered, .sourceNotOffered, .operationUnknown:
      self = .refused
    // The server's recogniser, or the one that stands in for it.
    case .engineFailed:
      self = .network
    default:
      self = Self.byPrefix.first { code.rawValue.hasPrefix($0.prefix) }?.status ?? .network
    }
  }

  private static let byPrefix: [(prefix: String, status: CommandStatus)] = [
    ("audio.", .input), ("speech.engine.", .input), ("speech.recognition.", .input),
    ("speech.identity.", .refused), ("speech.", .network),
    ("network.", .network), ("server.", .network), ("call.", .call), ("evaluation.", .input),
  ]

  /// The status that counts when several inputs of one command ended differently: the one that says most about the rest.
  func combined(with other: CommandStatus) -> CommandStatus {
    let order: [CommandStatus] = [.done, .input, .call, .network, .refused, .usage, .interrupted]
    let mine = order.firstIndex(of: self) ?? 0
    let its = order.firstIndex(of: other) ?? 0
    return mine >= its ? self : other
  }
}

extension VoiceFailure {
  /// Whether the work goes on and its result is whole, so that a command that met only this has succeeded.
  var isNotice: Bool {
    if case .automatic = self.recovery { return true }
    switch self.code {
    case .fileTruncated, .samplesNotFinite, .inputOverrun, .contextSplit, .tokenNotStored, .replayDiverged,
      .protocolViolated, .segmentUnfinished, .eventsDropped:
      return true
    case .inputInterrupted: return self.recovery == .none
    default:
      return false
    }
  }

  /// Whether other inputs of the same command would meet it too.
  var endsTheCommand: Bool {
    switch CommandStatus(self.code) {
    case .done, .input: self.code.rawValue.hasPrefix("speech.engine.")
    case .network: self.scope != .utterance || self.code == .retriesExhausted
    case .usage, .refused, .call, .interrupted: true
    }
  }
}
