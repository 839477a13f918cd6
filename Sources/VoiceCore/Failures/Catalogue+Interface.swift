extension VoiceFailure.Code {
  /// An app's configuration, what its users can say, has errors.
  public static let interfaceInvalid = Self("server.interface.invalid")
  /// An app has no configuration yet.
  public static let interfaceMissing = Self("server.interface.missing")
  /// A configuration is too large.
  public static let interfaceTooLarge = Self("server.interface.too-large")
  /// An archive with a configuration cannot be read.
  public static let archiveInvalid = Self("server.interface.archive-invalid")
  /// Another configuration of the same app is being deployed.
  public static let deploymentBusy = Self("server.interface.busy")
  /// An app of the server's configuration cannot be changed through the API.
  public static let appReadOnly = Self("server.app.read-only")
  /// The server does not offer a method of the protocol.
  public static let methodNotOffered = Self("server.method.not-offered")
  /// The server does not fetch recordings, nor deliver results, by itself.
  public static let sourceNotOffered = Self("server.batch.source-not-offered")
  /// There is no operation with this id or reference.
  public static let operationUnknown = Self("server.batch.unknown-operation")
  /// What the server kept of an app or a configuration cannot be read.
  public static let keptStateInvalid = Self("server.data-folder.invalid")
}

extension FailureCatalogue {
  static let interfaces: [Definition] = [
    Definition(
      .interfaceInvalid, .process, .changeConfiguration("the app's configuration"),
      happens: "The app's configuration has errors.",
      response: "Refuses it whole and says where each error is; what was deployed before keeps serving. "
        + "A server that finds them when it starts does not start.",
      advice: "Correct the places that the message names; `voice sal check` shows them with their lines.",
      reproduce:
        "Upload `templates: \"*on turn $missing\"` with `ConfigAPI.UploadTrainingData`"
    ),
    Definition(
      .interfaceMissing, .process, .changeConfiguration("the app's configuration"),
      happens: "The app has no configuration yet.",
      response: "Recognises free text for it, without intents and entities.",
      advice:
        "Deploy one with `voice deploy`, or name its file as `templates` in the server's configuration.",
      reproduce: "`voice deploy --download DIR` of an app that was just made"),
    Definition(
      .interfaceTooLarge, .process, .changeConfiguration("the app's configuration"),
      happens: "The app's configuration is too large.",
      response: "Refuses it before it takes the server's memory; what was deployed before keeps serving.",
      advice: "Leave out files and values that nobody says; the message names the limit.",
      reproduce: "Upload more than 64 MB with `ConfigAPI.UploadTrainingData`"),
    Definition(
      .archiveInvalid, .process, .changeConfiguration("the archive"),
      happens: "The archive with the app's configuration cannot be read.",
      response: "Refuses it whole; what was deployed before keeps serving.",
      advice: "Send a tar archive with .yaml, .sal and .csv files at its top, as `voice deploy` does.",
      reproduce: "Upload the first half of a tar archive with `ConfigAPI.UploadTrainingData`"),
    Definition(
      .deploymentBusy, .process, .retry,
      happens: "Another configuration of the same app is being deployed.",
      response: "Refuses the second one; the first one goes on.",
      advice: "Wait until the app is deployed, then try again.",
      reproduce: "Two `voice deploy` of one app at the same time"),
    Definition(
      .appReadOnly, .process, .changeConfiguration("the server's configuration file"),
      happens: "The app stands in the server's configuration and cannot be changed here.",
      response: "Changes nothing.",
      advice:
        "Change it in the server's configuration file; its voice interface can be deployed all the same.",
      reproduce: "`ConfigAPI.DeleteApp` of the demo app"),
    Definition(
      .methodNotOffered, .process, .none,
      happens: "The server does not offer this method of the protocol.",
      response: "Does nothing.",
      advice: "The message says what to do instead.",
      reproduce: "`ConfigAPI.CreateProject`"),
    Definition(
      .sourceNotOffered, .process, .changeConfiguration("the source of the recording"),
      happens: "The server does not fetch recordings or deliver results by itself.",
      response: "Does nothing.",
      advice: "Send the recording's bytes, and ask for its words with `QueryStatus`.",
      reproduce: "`BatchAPI.ProcessAudio` with a `uri`"),
    Definition(
      .operationUnknown, .process, .changeConfiguration("the id of the operation"),
      happens: "There is no operation with this id or reference.",
      response: "Does nothing.",
      advice: "Use the id that `ProcessAudio` returned; the server forgets operations after a week.",
      reproduce: "`BatchAPI.QueryStatus` with an id that was never given"),
    Definition(
      .keptStateInvalid, .process, .changeConfiguration("the data folder"),
      happens: "What the server kept in its data folder cannot be read.",
      response: "Does not start and does not replace it: what was deployed would be lost.",
      advice: "Restore the file that the message names, or remove it and deploy again.",
      reproduce: "Empty a file `current.json` under `interfaces` in the data folder, then `voice serve`"),
  ]
}
