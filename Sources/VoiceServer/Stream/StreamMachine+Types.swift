import Foundation
import SpeechMessages
import SpeechPipeline
import SpeechProtocol
import VoiceCore

extension StreamMachine {
  /// What holds for one call.
  struct Rules: Sendable {
    var principal: Principal
    var apps: AppDirectory
    var limits: ServerConfiguration.Limits
    var resumeTokens: ResumeTokens
  }

  /// What a config says.
  struct Settings: Hashable, Sendable {
    var sampleRate: Int
    var channels: Int
    var language: String
    var options: StreamOptions
  }

  /// The context that takes audio.
  struct Intake: Hashable, Sendable {
    var contextID: String
    var assembler: SampleAssembler
    var frameLimit: Int64
    /// How long the server waited for the client since the context began, from message to message.
    var waited: Duration = .zero
  }

  enum State: Hashable, Sendable {
    case awaitingConfig
    case idle(Settings)
    case active(Settings, Intake)
    /// The refusal is `nil` if the call ends well.
    case ending(Refusal?)
    case ended
  }

  /// What the driver has to do, in order.
  enum Action: Hashable, Sendable {
    case send(Speechly_Slu_V1_SLUResponse)
    // Rare and large.
    indirect case beginContext(id: String, ContextRequest)
    /// Mono samples at the rate of the request.
    case append(id: String, [Int16])
    case finishContext(id: String)
    case cancelContext(id: String)
    /// Call ``StreamMachine/idleCheckDue(at:)`` at the instant, or soon after.
    case scheduleIdleCheck(at: VoiceInstant)
    case recordRoundTrip(Duration)
    case ignore(IgnoreReason)
    /// End the call, with OK if there is no refusal.
    indirect case end(Refusal?)
  }

  /// What a context needs from the recogniser.
  struct ContextRequest: Hashable, Sendable {
    var app: UUID
    var language: String
    var sampleRate: Int
    var silence: Duration?
    /// Whether the client left the silence to the app.
    var takesAppSilence = true
    /// Where the person is, if the client said so.
    var timeZone: TimeZone?
    var vocabulary: [String] = []
    var vocabularyBias = 0.5
    /// What the client brought along; otherwise what the stream's earlier contexts taught counts.
    var adaptation: RecognizerAdaptation?
  }

  enum IgnoreReason: String, Hashable, Sendable {
    case streamEnding = "the stream is ending"
    case unknownMessage = "the message is of a kind that this version does not know"
    case unknownContext = "the context is not known or complete"
    case unknownRoundTrip = "no round trip measurement with this id is under way"
    case resumeTokenNotOurs = "the resume token is not one of this server"
  }
}
