/// Every failure of the toolkit: when it happens, what the SDK does, what to do, and how to produce it.
///
/// `docs/failures.md` is this catalogue as text; `voice failures` prints it.
public enum FailureCatalogue {
  /// One row of the catalogue.
  public struct Definition: Sendable {
    /// The stable code.
    public let code: VoiceFailure.Code
    /// What happened, as a sentence for a person; the message when nothing more exact is known.
    public let happens: String
    /// What the SDK or the server does about it by itself.
    public let response: String
    /// What the app, or the person, should do.
    public let advice: String
    /// A command line, or a few lines of code, that produces the failure.
    public let reproduce: String
    /// The recovery that a failure with this code carries unless its place says otherwise.
    public let recovery: Recovery
    /// How much ends.
    public let scope: VoiceFailure.Scope

    init(
      _ code: VoiceFailure.Code, _ scope: VoiceFailure.Scope, _ recovery: Recovery,
      happens: String, response: String, advice: String, reproduce: String
    ) {
      self.code = code
      self.happens = happens
      self.response = response
      self.advice = advice
      self.reproduce = reproduce
      self.recovery = recovery
      self.scope = scope
    }
  }

  /// One part of the catalogue.
  public struct Area: Sendable {
    /// The heading.
    public let title: String
    /// The rows, in the order in which they are printed.
    public let definitions: [Definition]
  }

  /// All areas, in the order of `docs/failures.md`.
  public static let areas: [Area] = [
    Area(title: "Network", definitions: network),
    Area(title: "Identity", definitions: identity),
    Area(title: "Audio input", definitions: audioInput),
    Area(title: "Audio output", definitions: audioOutput),
    Area(title: "Audio files and samples", definitions: audioData),
    Area(title: "Streaming recognition", definitions: streaming),
    Area(title: "Recognition engines", definitions: engines),
    Area(title: "Recognition on the device", definitions: recognition),
    Area(title: "Understanding", definitions: understanding),
    Area(title: "Connection for calls", definitions: callConnection),
    Area(title: "Calls", definitions: calls),
    Area(title: "Audio of calls", definitions: callMedia),
    Area(title: "Server", definitions: server),
    Area(title: "Configurations of apps", definitions: interfaces),
    Area(title: "Client", definitions: client),
    Area(title: "Evaluation", definitions: evaluation),
  ]

  private static let byCode: [VoiceFailure.Code: Definition] = Dictionary(
    areas.flatMap(\.definitions).map { ($0.code, $0) }, uniquingKeysWith: { first, _ in first })

  /// The row of a code, or `nil` if this version does not know the code.
  public static func definition(of code: VoiceFailure.Code) -> Definition? {
    byCode[code]
  }

  /// The catalogue as Markdown: the content of `docs/failures.md`.
  public static func markdown() -> String {
    var lines: [String] = [
      "# Failures",
      "",
      "Every failure has a stable code. `VoiceFailure` carries it with a message, a recovery and a scope; the",
      "command line prints it (`voice … --json`: `{\"event\":\"failure\",\"code\":…}`). This page is generated from the",
      "catalogue in the source (`make docs`), and a test keeps the two equal.",
      "",
      "*Recovery*: `automatic` the SDK is trying again · `retry` try the same again · `sign-in` get new credentials ·",
      "`grant-permission` the person must allow something · `change-configuration` a setting is wrong · `none` nothing to do.",
      "*Scope*: what ends with it: an `utterance`, a `call`, the `client`, or the `process`.",
    ]
    for area in areas {
      lines += ["", "## \(area.title)"]
      for row in area.definitions {
        lines += [
          "", "### `\(row.code)`", "",
          row.happens, "",
          "- **The SDK:** \(row.response)",
          "- **You:** \(row.advice)",
          "- **Recovery:** `\(row.recovery)` · **scope:** `\(row.scope.rawValue)`",
          "- **Produce it:** \(row.reproduce)",
        ]
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }
}
