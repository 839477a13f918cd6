import Foundation
import SpeechMessages
public import VoiceCore

extension ServerConfiguration {
  /// What a value must be; the reader of files and ``validate()`` share these.
  enum Rules {
    static let port = 0...65_535
    static let decoders = 1...1024
    static let streams = 1...1_000_000
    static let chunkBytes = 1024...1_000_000
    static let contextSeconds = 1...3600
    static let metadataBytes = 1024...16_384
    static let idleSeconds = 1...86_400
    static let decoderPatienceSeconds = 0...60
    static let loginsPerSecond = 1...1_000_000
    static let tokenSeconds = 1...31_536_000
    static let drainSeconds = 0...3600
    static let silenceMilliseconds = StreamOptions.silenceMilliseconds
    static let keyLength = 16
  }

  /// Checks that the values make sense, also together.
  ///
  /// - Throws: ``VoiceFailure`` with `server.configuration.invalid`, naming the key.
  public func validate() throws(VoiceFailure) {
    func check(_ holds: Bool, _ key: String, _ expected: String) throws(VoiceFailure) {
      guard !holds else { return }
      throw ConfigurationError.failure(file: nil, line: nil, key: key, expected: expected)
    }
    func check(_ value: Int, _ range: ClosedRange<Int>, _ key: String) throws(VoiceFailure) {
      try check(
        range.contains(value), key,
        "expected a whole number from \(range.lowerBound) to \(range.upperBound), found \(value)")
    }
    func check(_ value: Duration, _ range: ClosedRange<Int>, _ key: String) throws(VoiceFailure) {
      try check(
        value >= .seconds(range.lowerBound) && value <= .seconds(range.upperBound), key,
        "expected \(range.lowerBound) to \(range.upperBound) seconds, found \(value)")
    }

    try check(!self.host.isEmpty, "host", "expected an address or a host name, found nothing")
    try check(self.grpcPort, Rules.port, "grpc_port")
    try check(self.httpPort, Rules.port, "http_port")
    try check(
      self.grpcPort != self.httpPort || self.grpcPort == 0, "http_port",
      "expected a port that is not grpc_port, found \(self.httpPort) for both")
    try check(!self.dataFolder.isEmpty, "data", "expected a folder, found nothing")
    try check(self.tokenLifetime, Rules.tokenSeconds, "token_seconds")
    try check(self.drainTime, Rules.drainSeconds, "drain_seconds")
    try check(self.limits.decoders, Rules.decoders, "limits.decoders")
    try check(self.limits.streams, Rules.streams, "limits.streams")
    try check(self.limits.chunkBytes, Rules.chunkBytes, "limits.chunk_bytes")
    try check(self.limits.contextDuration, Rules.contextSeconds, "limits.context_seconds")
    try check(self.limits.metadataBytes, Rules.metadataBytes, "limits.metadata_bytes")
    try check(self.limits.idleTime, Rules.idleSeconds, "limits.idle_seconds")
    try check(
      self.limits.decoderPatience, Rules.decoderPatienceSeconds, "limits.decoder_patience_seconds")
    try check(self.limits.loginsPerSecond, Rules.loginsPerSecond, "limits.logins_per_second")

    try self.calls.validate()

    try check(!self.apps.isEmpty, "apps", "expected at least one app, found none")
    var ids: Set<UUID> = []
    for (index, app) in self.apps.enumerated() {
      try check(
        ids.insert(app.id).inserted, "apps[\(index)].id",
        "expected an id of its own, found \(app.id) a second time")
      try check(
        Language.isTag(app.language), "apps[\(index)].language",
        "expected a language tag such as en-US, found \"\(app.language)\"")
    }
    try check(
      self.assistantApp != nil, "calls.assistant",
      "expected the name or id of an app (\(self.apps.map(\.name).joined(separator: ", "))), found "
        + "\"\((self.calls.assistant ?? "").prefix(60))\"")
    var projects: Set<UUID> = []
    var keys: Set<String> = []
    for (index, project) in self.projects.enumerated() {
      try check(
        projects.insert(project.id).inserted, "projects[\(index)].id",
        "expected an id of its own, found \(project.id) a second time")
      for (number, key) in project.apiKeys.enumerated() {
        let path = "projects[\(index)].api_keys[\(number)]"
        try check(
          key.utf8.count >= Rules.keyLength && key.utf8.allSatisfy { (33...126).contains($0) }, path,
          "expected at least \(Rules.keyLength) printable characters without spaces")
        try check(keys.insert(key).inserted, path, "expected a key of its own, found it a second time")
      }
    }
  }
}

extension ServerConfiguration {
  /// The app that the service `assistant` understands; `nil` if there is none of its name.
  var assistantApp: App? {
    guard let wanted = self.calls.assistant else {
      return self.apps.first { $0.id == App.demo.id } ?? self.apps.first
    }
    return self.apps.first { $0.name == wanted }
      ?? UUID(uuidString: wanted).flatMap { id in self.apps.first { $0.id == id } }
  }
}

/// Makes the failures of a wrong configuration, all of one form.
enum ConfigurationError {
  static func failure(
    file: String?, line: Int?, key: String, expected: String
  ) -> VoiceFailure {
    var place = file ?? ""
    if let line { place += place.isEmpty ? "line \(line)" : ", line \(line)" }
    if !key.isEmpty { place += place.isEmpty ? key : ": \(key)" }
    return VoiceFailure(
      .configurationInvalid, message: "\(place): \(expected).",
      recovery: .changeConfiguration(key.isEmpty ? "the configuration file" : key))
  }
}

/// Language tags (BCP 47) as far as the server needs them.
enum Language {
  /// Whether the text has the form of a tag: letters and digits in parts of at most eight.
  static func isTag(_ text: String) -> Bool {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard let first = parts.first, (2...8).contains(first.utf8.count) else { return false }
    return first.utf8.allSatisfy(isLetter)
      && parts.dropFirst().allSatisfy { part in
        (1...8).contains(part.utf8.count)
          && part.utf8.allSatisfy { isLetter($0) || (48...57).contains($0) }
      }
  }

  /// Whether two tags mean the same language; letter case does not count (BCP 47 section 2.1.1).
  static func same(_ left: String, _ right: String) -> Bool {
    left.lowercased() == right.lowercased()
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (65...90).contains(byte) || (97...122).contains(byte)
  }
}
