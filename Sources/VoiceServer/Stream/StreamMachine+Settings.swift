import GRPCCore
import SpeechMessages
import SpeechProtocol
import VoiceCore

extension StreamMachine {
  /// The rates that can be brought to the recogniser's rate, in Hz.
  static let sampleRates = 8000...48_000
  static let channelCounts = 1...16

  func settings(from config: Speechly_Slu_V1_SLUConfig) throws(Refusal) -> Settings {
    guard config.encoding == .linear16 else {
      throw Refusal(
        .requestInvalid,
        "The encoding \(config.encoding.rawValue) is not known. Send signed 16-bit little-endian samples "
          + "(LINEAR16, 0).")
    }
    guard Self.channelCounts.contains(Int(config.channels)) else {
      throw Refusal(
        .requestInvalid,
        "\(config.channels) channels cannot be used. Send \(Self.channelCounts.lowerBound) to "
          + "\(Self.channelCounts.upperBound), best 1.")
    }
    guard Self.sampleRates.contains(Int(config.sampleRateHertz)) else {
      throw Refusal(
        .requestInvalid,
        "A sample rate of \(config.sampleRateHertz) Hz cannot be used. Send \(Self.sampleRates.lowerBound) to "
          + "\(Self.sampleRates.upperBound) Hz, best 16000.")
    }
    var options = StreamOptions()
    do throws(VoiceFailure) { try options.apply(config.options) } catch { throw Refusal(error) }
    // With the login of a project the language is checked when a start names the app.
    if case .application(let app) = self.rules.principal {
      try Self.check(config.languageCode, of: app)
    }
    return Settings(
      sampleRate: Int(config.sampleRateHertz), channels: Int(config.channels),
      language: config.languageCode, options: options)
  }

  /// The app of a context.
  ///
  /// - Parameters:
  ///   - id: What the start says; may be empty with the login of an app.
  ///   - language: What the config says; empty for the language of the app.
  func app(_ id: String, language: String) throws(Refusal) -> ServerConfiguration.App {
    switch self.rules.principal {
    case .application(let app):
      if id.isEmpty { return app }
      guard try Self.lookUp(id, in: self.rules.apps).id == app.id else {
        throw Refusal(
          .unknownApp,
          "The login was for another app. Log in for the app that start names, or leave its app id empty.",
          status: .permissionDenied)
      }
      return app
    case .project(let project):
      guard !id.isEmpty else {
        throw Refusal(
          .requestInvalid, "The app id is missing. With the login of a project every start needs one.")
      }
      let app = try Self.lookUp(id, in: self.rules.apps)
      guard app.project == project else {
        throw Refusal(
          .unknownApp,
          "The app does not belong to the project of the login. Use an app of the project.",
          status: .permissionDenied)
      }
      try Self.check(language, of: app)
      return app
    }
  }

  private static func lookUp(
    _ id: String, in apps: AppDirectory
  ) throws(Refusal) -> ServerConfiguration.App {
    do {
      return try apps.app(id)
    } catch {
      throw Refusal(error)
    }
  }

  private static func check(
    _ language: String, of app: ServerConfiguration.App
  ) throws(Refusal) {
    guard language.isEmpty || Language.same(language, app.language) else {
      throw Refusal(LoginDesk.wrongLanguage(of: app))
    }
  }
}

extension StreamOptions {
  /// The pause that ends a segment of an app's context, or `nil` if none does.
  func silence(of app: ServerConfiguration.App) -> Duration? {
    switch self.silence {
    case .asTheApp: app.segmentingSilence
    case .never: nil
    case .after(let duration): duration
    }
  }
}

/// Conversions between time and frames.
enum AudioTime {
  /// How many frames a duration holds, rounded down.
  static func frames(of duration: Duration, sampleRate: Int) -> Int64 {
    let (seconds, attoseconds) = duration.components
    let rate = Int64(sampleRate)
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: rate)
    guard !overflow else { return .max }
    return whole + attoseconds / 1_000_000_000 * rate / 1_000_000_000
  }
}
