extension VoiceFailure.Code {
  /// The server has no app with this id.
  public static let unknownApp = Self("speech.identity.unknown-app")
  /// The app is not offered in this language.
  public static let languageNotOffered = Self("speech.identity.language-not-offered")
  /// The server refuses the credentials or the token.
  public static let credentialsRejected = Self("speech.identity.credentials-rejected")
  /// The token has expired.
  public static let tokenExpired = Self("speech.identity.token-expired")
  /// What the server sent as a token cannot be read.
  public static let tokenUnreadable = Self("speech.identity.token-unreadable")
  /// An identifier is not a UUID, or a login request lacks something.
  public static let loginInvalid = Self("speech.identity.login-invalid")
  /// The token could not be stored for the next launch.
  public static let tokenNotStored = Self("speech.identity.token-not-stored")
}

extension FailureCatalogue {
  static let identity: [Definition] = [
    Definition(
      .unknownApp, .client, .changeConfiguration("the app id"),
      happens: "The server knows no app with this id.",
      response: "Does not try again.",
      advice: "Use an id that the server lists when it starts, or add the app to its configuration.",
      reproduce: "`voice recognize --app 00000000-0000-4000-8000-00000000dead FILE`"),
    Definition(
      .languageNotOffered, .client, .changeConfiguration("the language"),
      happens: "The app is not offered in this language.",
      response: "Does not try again.",
      advice: "Use the language of the app, or leave the language empty to get it.",
      reproduce: "`voice recognize --language fi-FI FILE`"),
    Definition(
      .credentialsRejected, .client, .signIn,
      happens: "The server does not accept the credentials.",
      response: "Gets a new token once by itself; if that is rejected too, stops.",
      advice: "Sign in again, or check the key of the project.",
      reproduce: "Send a token that another server signed"),
    Definition(
      .tokenExpired, .client, .signIn,
      happens: "The access token has expired.",
      response: "Gets a new token and repeats the request; nothing recorded is lost.",
      advice: "Nothing, unless it is reported: then check the clocks of both machines.",
      reproduce: "Start the server with a token lifetime of a few seconds and call it with a kept token"),
    Definition(
      .tokenUnreadable, .client, .retry,
      happens: "The server sent a token that cannot be read.",
      response: "Throws the token away; does not store it.",
      advice: "Check that the address is that of an identity server, and its version.",
      reproduce: "A scripted server that answers a login with `token: \"x\"`"),
    Definition(
      .loginInvalid, .client, .changeConfiguration("the app, project or device id"),
      happens: "The login request is not complete or holds something that is not a UUID.",
      response: "Does not try again.",
      advice: "Give the app or project id as a UUID.",
      reproduce: "`voice recognize --app not-a-uuid FILE`"),
    Definition(
      .tokenNotStored, .client, .none,
      happens: "The access token could not be stored for the next launch.",
      response: "Goes on with the token in memory.",
      advice: "Make the state folder writable; without it each launch signs in anew.",
      reproduce: "Run with `XDG_STATE_HOME` set to a folder that is not writable"),
  ]
}
