public import AVFoundation
public import CoreMedia
public import Foundation
import Synchronization

public protocol SpeechModule: AnyObject, Sendable {}

public struct AnalyzerInput: @unchecked Sendable {
  public let buffer: AVAudioPCMBuffer

  public init(buffer: AVAudioPCMBuffer) {
    self.buffer = buffer
  }
}

public final class AnalysisContext: @unchecked Sendable {
  public struct ContextualStringsTag: Hashable, Sendable {
    public static let general = ContextualStringsTag()
  }

  public var contextualStrings: [ContextualStringsTag: [String]] = [:]

  public init() {}
}

public final class AssetInstallationRequest: Sendable {
  public func downloadAndInstall() async throws { StubAnalyzer.install() }
}

public final class AssetInventory {
  public static func assetInstallationRequest(
    supporting modules: [any SpeechModule]
  ) async throws -> AssetInstallationRequest? {
    StubAnalyzer.isInstalled ? nil : AssetInstallationRequest()
  }
}

public final class SpeechTranscriber: SpeechModule {
  public enum TranscriptionOption: Hashable, Sendable {
    case etiquetteReplacements
  }

  public enum ReportingOption: Hashable, Sendable {
    case volatileResults, alternativeTranscriptions, fastResults
  }

  public enum ResultAttributeOption: Hashable, Sendable {
    case audioTimeRange, transcriptionConfidence
  }

  public struct Result: Sendable {
    public let alternatives: [AttributedString]
    public let isFinal: Bool

    package init(_ alternatives: [AttributedString], isFinal: Bool) {
      self.alternatives = alternatives
      self.isFinal = isFinal
    }
  }

  let continuation: AsyncThrowingStream<Result, any Error>.Continuation
  private let stream: AsyncThrowingStream<Result, any Error>

  public init(
    locale: Locale, transcriptionOptions: Set<TranscriptionOption>, reportingOptions: Set<ReportingOption>,
    attributeOptions: Set<ResultAttributeOption>
  ) {
    (self.stream, self.continuation) = AsyncThrowingStream.makeStream(of: Result.self)
  }

  public var results: some Sendable & AsyncSequence<Result, any Error> { self.stream }

  public static func supportedLocale(equivalentTo locale: Locale) async -> Locale? {
    locale.identifier.hasPrefix("xx") ? nil : locale
  }
}

public actor SpeechAnalyzer {
  private let modules: [any SpeechModule]

  public init(modules: [any SpeechModule]) {
    self.modules = modules
  }

  private var transcribers: [SpeechTranscriber] { self.modules.compactMap { $0 as? SpeechTranscriber } }

  public func setContext(_ newContext: AnalysisContext) async throws {
    StubAnalyzer.heardContext(newContext.contextualStrings[.general] ?? [])
  }

  public func analyzeSequence<InputSequence>(_ inputSequence: InputSequence) async throws -> CMTime?
  where InputSequence: Sendable & AsyncSequence, InputSequence.Element == AnalyzerInput {
    var frames = 0
    for try await input in inputSequence {
      if frames == 0 {
        for result in StubAnalyzer.script { self.transcribers.forEach { $0.continuation.yield(result) } }
      }
      frames += Int(input.buffer.frameLength)
    }
    return frames > 0 ? CMTime(seconds: Double(frames) / 16_000, preferredTimescale: 16_000) : nil
  }

  public func finalizeAndFinish(through: CMTime) async throws {
    if let error = StubAnalyzer.failure {
      self.transcribers.forEach { $0.continuation.finish(throwing: error) }
      throw error
    }
    self.transcribers.forEach { $0.continuation.finish() }
  }

  public func cancelAndFinishNow() async { self.transcribers.forEach { $0.continuation.finish() } }

  public static func bestAvailableAudioFormat(compatibleWith modules: [any SpeechModule]) async
    -> AVAudioFormat?
  {
    guard StubAnalyzer.isInstalled else { return nil }
    return AVAudioFormat(
      commonFormat: .pcmFormatInt16, sampleRate: StubAnalyzer.sampleRate, channels: 1, interleaved: true)
  }
}

extension AttributeScopes {
  public struct SpeechAttributes: AttributeScope {
    public enum TimeRangeAttribute: AttributedStringKey {
      public typealias Value = CMTimeRange
      public static let name = "TimeRange"
    }

    public enum ConfidenceAttribute: AttributedStringKey {
      public typealias Value = Double
      public static let name = "Confidence"
    }
  }
}

/// What tests make the declared analyser do, and see of it. One test at a time.
package enum StubAnalyzer {
  private struct State {
    var isInstalled = true
    var sampleRate = 16_000.0
    var script: [SpeechTranscriber.Result] = []
    var failure: NSError?
    var context: [String] = []
  }

  private static let state = Mutex(State())

  package static func reset(
    isInstalled: Bool = true, sampleRate: Double = 16_000, script: [SpeechTranscriber.Result] = [],
    failure: NSError? = nil
  ) {
    state.withLock {
      $0 = State(isInstalled: isInstalled, sampleRate: sampleRate, script: script, failure: failure)
    }
  }

  package static var context: [String] { state.withLock { $0.context } }

  static var isInstalled: Bool { state.withLock { $0.isInstalled } }
  static var sampleRate: Double { state.withLock { $0.sampleRate } }
  static var script: [SpeechTranscriber.Result] { state.withLock { $0.script } }
  static var failure: NSError? { state.withLock { $0.failure } }
  static func install() { state.withLock { $0.isInstalled = true } }
  static func heardContext(_ phrases: [String]) { state.withLock { $0.context = phrases } }
}
