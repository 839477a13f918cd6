extension VoiceFailure.Code {
  /// No way for audio to the other side was found, or all ways were lost.
  public static let callMediaUnreachable = Self("call.media.unreachable")
  /// The handshake that secures audio failed, or the other side is not the announced one.
  public static let callMediaInsecure = Self("call.media.insecure")
  /// A session description cannot be read, or does not fit this side.
  public static let callMediaUnacceptable = Self("call.media.unacceptable")
  /// A STUN or TURN server cannot be used.
  public static let callRelayFailed = Self("call.media.relay-failed")
  /// More calls than the machine, or the threads for media, can carry.
  public static let callMediaOverloaded = Self("call.media.overloaded")
  /// The other side sends no audio, although the way is good.
  public static let callMediaSilent = Self("call.media.silent")
  /// The call's media uses microphone and loudspeaker by itself, so that programs have no samples.
  public static let callSamplesUnavailable = Self("call.media.no-samples")
  /// A test call was set up, and nothing could be measured in it.
  public static let callMetricsMissing = Self("call.metrics.missing")
}

extension FailureCatalogue {
  static let callMedia: [Definition] = [
    Definition(
      .callMediaUnreachable, .call, .retry,
      happens: "No way for audio to the other side was found in time, or all ways were lost.",
      response:
        "Looked for a new way (ICE restart) and asked the gateway to take the call up anew, then ended it.",
      advice: "Check that UDP is not blocked; configure a relay (TURN).",
      reproduce: "`voice call --local echo --relay-only`"),
    Definition(
      .callMediaInsecure, .call, .none,
      happens:
        "The handshake that secures the audio failed, or the other side's certificate is not the announced one.",
      response: "Sends and plays nothing; the call ends.",
      advice: "Try again; if it happens again, somebody may be in between, or the other side is broken.",
      reproduce: "A description with another digit in `a=fingerprint`"),
    Definition(
      .callMediaUnacceptable, .call, .changeConfiguration("the codecs and descriptions of both sides"),
      happens:
        "The other side's session description cannot be read, or has no audio that this side can take.",
      response: "The call ends, or goes on as it was if the description would have changed it.",
      advice: "The message says what is wrong, with its line if it cannot be read.",
      reproduce: "An offer of video alone"),
    Definition(
      .callRelayFailed, .call, .none,
      happens: "A STUN or TURN server cannot be looked up or reached, or refuses the password.",
      response: "Goes on without it.",
      advice: "Check its address, user and password; behind strict firewalls calls need a relay.",
      reproduce: "`voice call --local echo --ice-server turn:127.0.0.1:9`"),
    Definition(
      .callMediaOverloaded, .call, .none,
      happens:
        "The thread that carries the audio of the call has more to do than it can, or the machine is too busy.",
      response:
        "Leaves out parts of 20 ms of all calls, and counts them. The server refuses calls to its services (SIP 503).",
      advice:
        "Make fewer calls at once, or give the engine more threads (`MediaEngine(threads:)`), up to the number of cores.",
      reproduce:
        "Two hundred calls with Opus in one process on one thread, or `swift test --filter aBusyThreadIsToldToItsCalls`"
    ),
    Definition(
      .callMediaSilent, .call, .none,
      happens:
        "No audio has come from the other side for four seconds, although the way is good and it agreed to send.",
      response: "Plays silence and goes on; checks the way each second. It is told once for each silence.",
      advice: "Tell the user that nothing comes: the other side's app or microphone may have stopped.",
      reproduce: "A browser as the other side, whose track is removed (`sender.replaceTrack(null)`)"),
    Definition(
      .callSamplesUnavailable, .call, .changeConfiguration("the media of the client"),
      happens:
        "The media of the call uses microphone and loudspeaker by itself; programs have no samples of it.",
      response: "Says and hears nothing for the program; the call goes on.",
      advice: "Use `WebRTCMedia`, whose calls give and take samples (`call.audio`).",
      reproduce: "`Call.audio.send` in a call with the media of `AppleCallMedia`"),
    Definition(
      .callMetricsMissing, .call, .retry,
      happens:
        "Nothing could be measured in a test call: no audio flowed in time, or the other side reported nothing.",
      response: "Hangs up; other calls go on.",
      advice: "Call a service that sends audio back, such as echo; check that UDP is not blocked.",
      reproduce: "`TxClient.preflight()` with `ScriptedMedia`, which measures nothing"),
  ]
}
