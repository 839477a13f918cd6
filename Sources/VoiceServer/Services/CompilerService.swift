import Foundation
import GRPCCore
import SpeechProtocol
import SpeechUnderstanding
import SwiftProtobuf
import VoiceCore

/// `speechly.sal.v1.Compiler`: checks and expands configurations without deploying them.
struct CompilerService: Speechly_Sal_V1_Compiler.ServiceProtocol {
  /// The most utterances of one request.
  static let batchLimit = 10_000

  let gate: ServiceGate
  let interfaces: AppInterfaces

  /// A configuration that was sent to be looked at.
  private struct Submission: Sendable {
    var source: InterfaceSource
    var language: String
    var batchSize = 0
    var randomSeed: Int32 = 0
  }

  func compile(
    request: StreamingServerRequest<Speechly_Sal_V1_CompileRequest>, context: ServerContext
  ) async throws -> ServerResponse<Speechly_Sal_V1_CompileResult> {
    try await self.gate.answer(context) { () async throws(Refusal) in
      let sizes = Shared<(batch: Int32, seed: Int32)?>(nil)
      var submission = try await self.submission(request.metadata, request.messages) { message in
        if sizes.value == nil { sizes.value = (message.batchSize, message.randomSeed) }
        return message.appSource
      }
      let (batch, seed) = sizes.value ?? (0, 0)
      guard (0...Self.batchLimit).contains(Int(batch)) else {
        throw Refusal(
          .requestInvalid,
          "A batch size of \(batch) cannot be used. Ask for at most \(Self.batchLimit) utterances.")
      }
      submission.batchSize = Int(batch)
      submission.randomSeed = seed
      return ServerResponse(message: await self.compile(submission))
    }
  }

  private func compile(_ submission: Submission) async -> Speechly_Sal_V1_CompileResult {
    switch await self.interfaces.compile(submission.source, language: submission.language) {
    case .success(let product):
      var generator = SamplingGenerator(seed: UInt64(bitPattern: Int64(submission.randomSeed)))
      let messages = await self.messages(of: product)
      do throws(VoiceFailure) {
        var templates: [String] = []
        for _ in 0..<submission.batchSize {
          templates.append(try product.understanding.template(using: &generator))
        }
        return .with {
          $0.result = messages.contains { $0.level == .warning } ? .compileWarning : .compileSuccess
          $0.messages = messages
          $0.templates = templates
        }
      } catch {
        let problem = InterfaceProblem(failure: error)
        return .with {
          $0.result = .compileFailure
          $0.messages = messages + problem.messages
        }
      }
    case .failure(let problem):
      return .with {
        $0.result = .compileFailure
        $0.messages = problem.messages
      }
    }
  }

  func validate(
    request: StreamingServerRequest<Speechly_Sal_V1_AppSource>, context: ServerContext
  ) async throws -> ServerResponse<Speechly_Sal_V1_ValidateResult> {
    try await self.gate.answer(context) { () async throws(Refusal) in
      let submission = try await self.submission(request.metadata, request.messages) { $0 }
      // What cannot be compiled, though each of its lines is well, must not pass.
      let messages: [Speechly_Sal_V1_LineReference] =
        switch await self.interfaces.compile(submission.source, language: submission.language) {
        case .success(let product): await self.messages(of: product)
        case .failure(let problem): problem.messages
        }
      return ServerResponse(message: .with { $0.messages = messages })
    }
  }

  /// What is odd in a configuration, and what of it cannot be recognised.
  private func messages(of product: InterfaceCompiler.Product) async -> [Speechly_Sal_V1_LineReference] {
    let problems = await self.interfaces.recognitionProblems(of: product)
    return product.diagnostics.map(Speechly_Sal_V1_LineReference.init)
      + problems.map { problem in
        .with {
          $0.level = .warning
          $0.message = "\(problem.message) [\(problem.code)]"
        }
      }
  }

  func extractSALSources(
    request: StreamingServerRequest<Speechly_Sal_V1_AppSource>, context: ServerContext
  ) async throws -> StreamingServerResponse<Speechly_Sal_V1_ExtractSALSourcesResult> {
    try await self.gate.answer(context) { () async throws(Refusal) in
      let submission = try await self.submission(request.metadata, request.messages) { $0 }
      switch await self.interfaces.compile(submission.source, language: submission.language) {
      case .failure(let problem): throw Refusal(problem.failure)
      case .success(let product):
        let text = SALPrinter.text(of: product.understanding.interface.program)
        return StreamingServerResponse { writer in
          for piece in Data(text.utf8).pieces { try await writer.write(.with { $0.dataChunk = piece }) }
          return [:]
        }
      }
    }
  }

  func convert(
    request: StreamingServerRequest<Speechly_Sal_V1_ConvertRequest>, context: ServerContext
  ) async throws -> ServerResponse<Speechly_Sal_V1_ConvertResult> {
    try await self.gate.answer(context) { () async throws(Refusal) in
      _ = try self.gate.project(of: request.metadata)
      throw ServiceGate.offersNot(
        "Convert", "Write the templates in SAL; the syntax is in the documentation.")
    }
  }

  private func submission<Message: Sendable>(
    _ metadata: Metadata, _ messages: RPCAsyncSequence<Message, any Error>,
    _ source: @escaping @Sendable (Message) -> Speechly_Sal_V1_AppSource
  ) async throws(Refusal) -> Submission {
    let project = try self.gate.project(of: metadata)
    let collector = SourceCollector()
    let language = Shared<String?>(nil)
    try await self.gate.read(messages) { message throws(Refusal) in
      let source = source(message)
      if language.value == nil { language.value = try self.language(of: source, project) }
      try collector.append(source.dataChunk, form: InterfaceSource.Form(source.contentType))
    }
    return Submission(source: try collector.source(), language: language.value ?? "en-US")
  }

  private func language(
    of source: Speechly_Sal_V1_AppSource, _ project: UUID
  ) throws(Refusal) -> String {
    guard !source.appID.isEmpty else { return source.language.isEmpty ? "en-US" : source.language }
    let app = try self.gate.app(source.appID, of: project)
    guard source.language.isEmpty || Language.same(source.language, app.language) else {
      throw Refusal(LoginDesk.wrongLanguage(of: app))
    }
    return app.language
  }
}

extension InterfaceProblem {
  /// The problems as the protocol says them; one that has no place is there too.
  fileprivate var messages: [Speechly_Sal_V1_LineReference] {
    let placed = self.diagnostics.map(Speechly_Sal_V1_LineReference.init)
    guard !self.diagnostics.contains(where: { $0.severity == .error }) else { return placed }
    return placed + [
      .with {
        $0.level = .error
        $0.message = "\(self.failure.message) [\(self.failure.code)]"
      }
    ]
  }
}

extension Speechly_Sal_V1_LineReference {
  init(_ diagnostic: SALDiagnostic) {
    self.init()
    self.line = UInt64(clamping: diagnostic.range?.line ?? 0)
    self.column = UInt32(clamping: diagnostic.range?.column ?? 0)
    self.file = diagnostic.range?.file ?? ""
    self.level =
      switch diagnostic.severity {
      case .note: .note
      case .warning: .warning
      case .error: .error
      }
    let help = diagnostic.suggestion.map { " (\($0))" } ?? ""
    self.message = "\(diagnostic.message)\(help) [\(diagnostic.code)]"
  }
}

extension InterfaceSource.Form {
  fileprivate init?(_ type: Speechly_Sal_V1_AppSource.ContentType) {
    switch type {
    case .yaml: self = .yaml
    case .tar: self = .tar
    case .unspecified, .UNRECOGNIZED: return nil
    }
  }
}

extension Understanding {
  /// A random utterance in SAL, without normal forms.
  fileprivate func template(using generator: inout SamplingGenerator) throws(VoiceFailure) -> String {
    var utterance = try self.sample(
      using: &generator, in: ValueContext(now: Date(timeIntervalSince1970: 0), timeZone: .gmt)
    )
    .annotated
    for index in utterance.segments.indices {
      for entity in utterance.segments[index].entities.indices {
        utterance.segments[index].entities[entity].normalizedValue = nil
      }
    }
    return utterance.text
  }
}

/// Random numbers that are the same for the same seed (SplitMix64).
struct SamplingGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    self.state = seed
  }

  mutating func next() -> UInt64 {
    self.state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = self.state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}

extension Data {
  /// The bytes in pieces that fit into a message.
  var pieces: [Data] {
    stride(from: 0, to: self.count, by: 1_000_000).map { Data(self.dropFirst($0).prefix(1_000_000)) }
  }
}
