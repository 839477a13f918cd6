extension VoiceFailure.Code {
  /// The gateway refuses the login.
  public static let callLoginRefused = Self("call.login.refused")
  /// The gateway did not answer the login.
  public static let callLoginTimedOut = Self("call.login.timed-out")
  /// The gateway did not register the user.
  public static let gatewayNotRegistered = Self("call.gateway.not-registered")
  /// The gateway lost the registration of the user.
  public static let gatewayRegistrationLost = Self("call.gateway.registration-lost")
  /// The token of the login will expire soon.
  public static let callTokenExpiring = Self("call.token.expiring")
  /// There is no connection to the gateway.
  public static let callNotConnected = Self("call.connection.missing")
  /// The connection to the gateway was lost.
  public static let callConnectionLost = Self("call.connection.lost")
  /// The gateway's connection is silent although it looks open.
  public static let callConnectionSilent = Self("call.connection.silent")
  /// Another connection took over the session.
  public static let callSessionTaken = Self("call.session.taken")
  /// The gateway does not know the call any more.
  public static let callNotReattached = Self("call.session.not-reattached")
  /// A call could not be kept over an outage.
  public static let callReconnectFailed = Self("call.reconnect.failed")
  /// A frame is not a message of the protocol.
  public static let callFrameInvalid = Self("call.frame.invalid")
  /// The gateway refused a request.
  public static let callRequestRefused = Self("call.request.refused")
  /// The gateway did not answer a request.
  public static let callRequestTimedOut = Self("call.request.timed-out")
  /// A request was given up before it was answered.
  public static let callRequestCancelled = Self("call.request.cancelled")
  /// Too many requests wait for an answer.
  public static let callRequestsFull = Self("call.request.too-many")
  /// There is no call with this id.
  public static let callNotFound = Self("call.not-found")
  /// A call has not reached, or has passed, the state in which something is possible.
  public static let callStateUnsuitable = Self("call.state.unsuitable")
  /// Login data are missing or empty.
  public static let callCredentialsMissing = Self("call.credentials.missing")
  /// No destination was given.
  public static let callDestinationMissing = Self("call.destination.missing")
  /// There is no such destination.
  public static let callDestinationUnknown = Self("call.destination.unknown")
  /// The destination is known but not there.
  public static let callDestinationNotRegistered = Self("call.destination.not-registered")
  /// The gateway could not set up the call.
  public static let callSetupFailed = Self("call.setup.failed")
  /// The other side is busy.
  public static let callBusy = Self("call.ended.busy")
  /// The other side does not take the call.
  public static let callRejected = Self("call.ended.rejected")
  /// Nobody answered.
  public static let callNotAnswered = Self("call.ended.not-answered")
  /// The call was answered on another device.
  public static let callAnsweredElsewhere = Self("call.ended.answered-elsewhere")
  /// The call ended with another cause.
  public static let callFailedElsewhere = Self("call.ended.failed")
  /// Audio could not be set up or kept.
  public static let callMediaFailed = Self("call.media.failed")
  /// The gateway did not hold or resume the call.
  public static let callHoldFailed = Self("call.hold.failed")
  /// A goodbye did not reach the gateway.
  public static let callByeUndelivered = Self("call.bye.undelivered")
  /// Tones are not of those that exist.
  public static let callTonesInvalid = Self("call.dtmf.invalid")
  /// Tones did not reach the gateway.
  public static let callTonesUndelivered = Self("call.dtmf.undelivered")
  /// It is not known whether tones reached the gateway.
  public static let callTonesUnconfirmed = Self("call.dtmf.unconfirmed")
}

extension FailureCatalogue {
  static let callConnection: [Definition] = [
    Definition(
      .callLoginRefused, .client, .signIn,
      happens: "The gateway refuses the user name, the password or the token.",
      response: "Closes the connection and does not try again with the same credentials.",
      advice: "Ask for the password again, or get a new token, and connect.",
      reproduce: "`voice call --user alice --password wrong echo`"),
    Definition(
      .callLoginTimedOut, .client, .retry,
      happens: "The gateway did not answer the login.",
      response: "Closes the connection and tries again with growing random waits.",
      advice: "Check that the address is a gateway for calls.",
      reproduce: "A scripted gateway of `VoiceTesting` that never answers `login`"),
    Definition(
      .gatewayNotRegistered, .client, .retry,
      happens: "The gateway did not register the user.",
      response: "Asked for the state several times (3 by default, 3 s apart), also if no answer came.",
      advice: "Check the user at the gateway; connect again later.",
      reproduce:
        "A scripted gateway of `VoiceTesting` that answers `gatewayState` with `UNREGED`, or not at all"),
    Definition(
      .gatewayRegistrationLost, .client, .retry,
      happens: "The gateway lost the registration of the user; calls do not come in.",
      response: "Asks the gateway again until it is registered, as after a login.",
      advice: "Nothing while the recovery is automatic. Show that the app cannot be called.",
      reproduce: "A scripted gateway of `VoiceTesting` that sends `gatewayState` with `EXPIRED`"),
    Definition(
      .callTokenExpiring, .client, .signIn,
      happens: "The token of the login will expire soon.",
      response: "Keeps the connection; a new login after the end of the token would be refused.",
      advice: "Get a new token and hand it to the client; calls go on.",
      reproduce: "Connect with a token that ends within two minutes"),
    Definition(
      .callNotConnected, .client, .retry,
      happens: "There is no connection to the gateway.",
      response: "Does not begin what was asked for.",
      advice: "Call `connect`, and wait until the client is ready.",
      reproduce: "`TxClient.newCall` before `connect`"),
    Definition(
      .callConnectionLost, .client, .retry,
      happens: "The connection to the gateway was lost.",
      response:
        "Connects again with growing random waits, at once on a new network path; calls are kept and reattached.",
      advice: "Nothing while the recovery is automatic. Show the state if it lasts.",
      reproduce: "`ImpairedLink` of `VoiceTesting` between client and gateway"),
    Definition(
      .callConnectionSilent, .client, .retry,
      happens: "The connection to the gateway looks open, but nothing comes through.",
      response: "Gives it up after 3.5 s in a call, 20 s otherwise, and connects again.",
      advice: "Nothing while the recovery is automatic.",
      reproduce: "`ImpairedLink` of `VoiceTesting` with a plan that falls silent"),
    Definition(
      .callSessionTaken, .client, .none,
      happens: "Another connection took over the session.",
      response: "Ends the calls of this client without a goodbye, which would end those of the other.",
      advice: "Use a session of its own for each device.",
      reproduce: "Two clients that log in with one session id, or a scripted gateway that sends `punt`"),
    Definition(
      .callNotReattached, .call, .none,
      happens: "The gateway does not know the call any more.",
      response: "Ends the call.",
      advice: "Offer to call again.",
      reproduce: "Restart the gateway during `voice call echo`"),
    Definition(
      .callReconnectFailed, .call, .retry,
      happens:
        "The call could not be kept: the network stayed away longer than the time-out (60 s by default).",
      response: "Ends the call; the client goes on trying to connect.",
      advice: "Offer to call again once the client is ready.",
      reproduce: "`ImpairedLink` of `VoiceTesting` that stays silent for longer than `reconnectTimeout`"),
    Definition(
      .callFrameInvalid, .client, .none,
      happens: "The other end sent a frame that is not a message of the protocol.",
      response: "Ignores the frame, answers a request with an error, and says where the frame is wrong.",
      advice: "Report it to who runs the other end; the place is in the failure's message.",
      reproduce: "A scripted gateway of `VoiceTesting` that sends `{`"),
    Definition(
      .callRequestRefused, .call, .none,
      happens: "The gateway refused a request.",
      response: "Ends what the request was for; the call goes on if it can.",
      advice: "The code of the gateway is in the failure's message.",
      reproduce: "A scripted gateway of `VoiceTesting` that answers `modify` with an error"),
    Definition(
      .callRequestTimedOut, .call, .retry,
      happens: "The gateway did not answer a request in time.",
      response: "Gives the request up; a late answer is ignored.",
      advice: "Try again.",
      reproduce: "A scripted gateway of `VoiceTesting` that never answers `modify`"),
    Definition(
      .callRequestCancelled, .call, .none,
      happens: "A request was given up before the gateway answered it.",
      response: "Ignores the answer.",
      advice: "Nothing.",
      reproduce: "Cancel the task that waits for `Call.hold()`"),
    Definition(
      .callRequestsFull, .client, .retry,
      happens: "Too many requests wait for an answer of the gateway.",
      response: "Does not send the request.",
      advice: "Wait for answers before asking for more.",
      reproduce: "A scripted gateway of `VoiceTesting` that never answers, and 1,025 requests"),
  ]

  static let calls: [Definition] = [
    Definition(
      .callNotFound, .call, .none,
      happens: "There is no call with this id.",
      response: "Does nothing else.",
      advice: "Ask `TxClient.calls` which calls there are.",
      reproduce: "A scripted gateway of `VoiceTesting` that answers `info` with `CALL DOES NOT EXIST`"),
    Definition(
      .callStateUnsuitable, .call, .none,
      happens: "The call is not in a state in which this is possible.",
      response: "Does nothing else.",
      advice: "Look at the call's state first: only ringing calls are answered, only answered ones held.",
      reproduce: "`Call.hold()` on a call that rings"),
    Definition(
      .callCredentialsMissing, .client, .changeConfiguration("the user name, password or token"),
      happens: "The user name, the password or the token is missing.",
      response: "Throws before anything is opened.",
      advice: "Give a user name with a password, or a token.",
      reproduce: "`voice call --user '' echo`"),
    Definition(
      .callDestinationMissing, .call, .changeConfiguration("the destination"),
      happens: "No destination was given.",
      response: "Throws before anything is sent.",
      advice: "Give a user, a number, or a name of the dial plan such as `echo`.",
      reproduce: "`voice call ''`"),
    Definition(
      .callDestinationUnknown, .call, .none,
      happens: "There is no such destination.",
      response: "Ends the call with the gateway's cause.",
      advice: "Check the number.",
      reproduce: "`voice call --local no-such-user`, `voice call --local fail-404`"),
    Definition(
      .callDestinationNotRegistered, .call, .retry,
      happens: "The destination is not there: none of its devices is registered.",
      response: "Ends the call with the gateway's cause.",
      advice: "Try again later.",
      reproduce: "`voice call --local bob` while nobody is logged in as bob"),
    Definition(
      .callSetupFailed, .call, .retry,
      happens: "The gateway could not set up the call.",
      response: "Ends the call; the gateway's code is in the message.",
      advice: "Try again; if it stays, ask who runs the gateway.",
      reproduce: "A scripted gateway of `VoiceTesting` that answers `invite` with an error"),
    Definition(
      .callBusy, .call, .retry,
      happens: "The other side is busy.",
      response: "Ends the call with the gateway's cause.",
      advice: "Try again later.",
      reproduce: "`voice call --local fail-486`"),
    Definition(
      .callRejected, .call, .none,
      happens: "The other side, or a rule of the gateway, does not take the call.",
      response: "Ends the call with the gateway's cause and, if it said so, its reason.",
      advice: "Show the reason.",
      reproduce: "`voice call --local fail-603`"),
    Definition(
      .callNotAnswered, .call, .retry,
      happens: "Nobody answered.",
      response: "Ends the call.",
      advice: "Try again later.",
      reproduce: "`voice call --local fail-480`"),
    Definition(
      .callAnsweredElsewhere, .call, .none,
      happens: "The call was answered on another device.",
      response: "Ends the call on this one.",
      advice: "Nothing; it is not a missed call.",
      reproduce: "Log in twice as the same user, and answer on one"),
    Definition(
      .callFailedElsewhere, .call, .retry,
      happens: "The call failed on its way.",
      response: "Ends the call with the gateway's cause.",
      advice: "The cause is in the message and in the call's termination reason.",
      reproduce: "`voice call --local fail-503`"),
    Definition(
      .callMediaFailed, .call, .retry,
      happens: "Audio could not be set up or kept.",
      response: "Tried to restart the media and to reattach the call, then ended it.",
      advice: "Check that UDP is not blocked; use a relay (TURN).",
      reproduce: "`voice call --local fail-488`"),
    Definition(
      .callHoldFailed, .call, .retry,
      happens: "The gateway did not hold or resume the call.",
      response: "Returns to the state that the gateway last confirmed.",
      advice: "Try again.",
      reproduce: "A scripted gateway of `VoiceTesting` that answers `modify` with an error"),
    Definition(
      .callByeUndelivered, .call, .none,
      happens: "A goodbye did not reach the gateway; the other side may hear silence for a while.",
      response: "The call is over here; the gateway ends it by its own time-out.",
      advice: "Nothing.",
      reproduce: "Hang up during an outage that outlasts the time for which goodbyes are kept"),
    Definition(
      .callTonesInvalid, .call, .none,
      happens: "Only the tones 0–9, *, # and A–D exist.",
      response: "Sends none of them.",
      advice: "Remove other characters, such as spaces.",
      reproduce: "`Call.dtmf(dtmf: \"1 2\")`"),
    Definition(
      .callTonesUndelivered, .call, .retry,
      happens: "Tones did not reach the gateway.",
      response:
        "Kept them over the outage for a while, then dropped them: late tones answer another question.",
      advice: "Tell the person, and send them again if they still fit.",
      reproduce: "`Call.dtmf` during an outage of more than 10 s"),
    Definition(
      .callTonesUnconfirmed, .call, .none,
      happens: "The connection broke before the gateway confirmed tones; it may have played them.",
      response: "Does not send them again, so that no digit is doubled.",
      advice: "Ask the person whether to send them again.",
      reproduce: "A scripted gateway of `VoiceTesting` that drops the connection on `info`"),
  ]
}
