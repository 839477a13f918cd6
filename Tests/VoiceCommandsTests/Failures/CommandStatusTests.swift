import Testing
import VoiceCore

@testable import VoiceCommands

struct CommandStatusTests {
  /// Every code of the catalogue, so that a new one is decided about and not guessed.
  private static let table: [CommandStatus: Set<VoiceFailure.Code>] = [
    .usage: [.usage, .addressInvalid, .loginInvalid],
    .input: [
      .noInputDevice, .inputDeviceBusy, .microphoneDenied, .inputDeviceLost, .inputOverrun, .inputInterrupted,
      .inputDeviceFailed, .noOutputDevice, .outputDeviceBusy, .outputDeviceLost, .outputDeviceFailed,
      .fileNotFound, .fileNotReadable, .fileNotWritable, .fileIsDirectory, .fileNotAudio, .audioEmpty,
      .fileTruncated,
      .samplesNotFinite, .formatNotSupported, .modelMissing, .modelInvalid, .engineLanguageMissing,
      .engineLibraryMissing, .engineLibraryUnsupported, .dataFolderNotWritable, .dataFolderFull,
      .dataFolderInUse,
      .configurationNotFound,
      .configurationInvalid,
      .certificateInvalid, .signingKeyInvalid, .keptStateInvalid, .interfaceInvalid, .interfaceTooLarge,
      .archiveInvalid, .wordUnpronounceable, .grammarTooLarge, .cacheDamaged,
      .cacheNotWritable, .labelsNotFound,
      .labelsInvalid, .labelsEmpty, .recognitionDenied, .recognitionRestricted, .recognitionUndecided,
      .recognitionNotOnDevice, .vocabularyUnknown, .grammarNotFollowed,
    ],
    .network: [
      .serverUnreachable, .serverTimedOut, .connectionLost, .tlsFailed, .retriesExhausted, .audioDropped,
      .orderViolated, .requestInvalid, .chunkTooLarge, .contextTooLong, .contextSplit, .serverOverloaded,
      .serverStopping, .streamIdle, .serverFailed, .protocolViolated, .replayDiverged, .segmentUnfinished,
      .engineFailed,
      .portInUse, .portNotPermitted, .listenAddressInvalid, .eventsDropped, .clientClosed, .unexpected,
      .deploymentBusy, .callLoginTimedOut, .gatewayNotRegistered, .gatewayRegistrationLost, .callNotConnected,
      .callConnectionLost, .callConnectionSilent,
    ],
    .refused: [
      .unknownApp, .languageNotOffered, .credentialsRejected, .tokenExpired, .tokenUnreadable,
      .tokenNotStored, .interfaceMissing, .appReadOnly, .methodNotOffered, .sourceNotOffered,
      .operationUnknown, .callLoginRefused, .callCredentialsMissing, .callTokenExpiring,
    ],
    .call: [
      .callSessionTaken, .callNotReattached, .callReconnectFailed, .callFrameInvalid, .callRequestRefused,
      .callRequestTimedOut, .callRequestCancelled, .callRequestsFull, .callNotFound, .callStateUnsuitable,
      .callDestinationMissing, .callDestinationUnknown, .callDestinationNotRegistered, .callSetupFailed,
      .callBusy, .callRejected, .callNotAnswered, .callAnsweredElsewhere, .callFailedElsewhere,
      .callMediaFailed, .callMediaUnreachable, .callMediaInsecure, .callMediaUnacceptable, .callRelayFailed,
      .callMediaOverloaded, .callMediaSilent, .callSamplesUnavailable, .callHoldFailed, .callByeUndelivered,
      .callTonesInvalid, .callTonesUndelivered,
      .callTonesUnconfirmed, .callMetricsMissing,
    ],
  ]

  @Test func everyKnownCodeHasTheStatusOfTheTable() {
    var decided: Set<VoiceFailure.Code> = []
    for (status, codes) in Self.table {
      for code in codes { #expect(CommandStatus(code) == status, "\(code)") }
      decided.formUnion(codes)
    }
    for row in FailureCatalogue.areas.flatMap(\.definitions) where !decided.contains(row.code) {
      Issue.record("no status was decided for \(row.code)")
    }
  }

  @Test(arguments: [
    ("audio.new", CommandStatus.input), ("speech.engine.new", .input), ("speech.identity.new", .refused),
    ("speech.stream.new", .network), ("network.new", .network), ("server.new", .network), ("call.new", .call),
    ("something.else", .network), ("", .network),
  ])
  func unknownCodesAreJudgedByHowTheyBegin(code: String, status: CommandStatus) {
    #expect(CommandStatus(VoiceFailure.Code(code)) == status)
  }

  @Test func theNumbersAreTheOnesThatScriptsKnow() {
    #expect(CommandStatus.allCases.map(\.rawValue) == [0, 2, 3, 4, 5, 6, 130])
  }

  @Test func theWorseOfTwoCounts() {
    #expect(CommandStatus.done.combined(with: .input) == .input)
    #expect(CommandStatus.input.combined(with: .done) == .input)
    #expect(CommandStatus.network.combined(with: .input) == .network)
    #expect(CommandStatus.input.combined(with: .interrupted) == .interrupted)
  }

  @Test func aBadFileDoesNotEndTheCommandButAMissingServerDoes() {
    #expect(!VoiceFailure(.fileNotFound).endsTheCommand)
    #expect(!VoiceFailure(.contextTooLong).endsTheCommand)
    #expect(VoiceFailure(.serverUnreachable).endsTheCommand)
    #expect(VoiceFailure(.retriesExhausted).endsTheCommand)
    #expect(VoiceFailure(.unknownApp).endsTheCommand)
    #expect(VoiceFailure(.modelMissing).endsTheCommand)
  }

  @Test func whatIsRepairedOrHarmlessIsNoFailureOfTheCommand() {
    let retry = Recovery.automatic(RetryState(attempt: 1, delay: .zero))
    #expect(VoiceFailure(.connectionLost).with(recovery: retry).isNotice)
    #expect(VoiceFailure(.fileTruncated).isNotice)
    #expect(!VoiceFailure(.connectionLost).isNotice)
    #expect(!VoiceFailure(.audioDropped).isNotice)
    #expect(!VoiceFailure(.audioEmpty).isNotice)
  }
}
