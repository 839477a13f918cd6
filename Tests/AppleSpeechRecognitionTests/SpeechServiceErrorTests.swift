import Testing
import VoiceCore
import VoicePlatform

@testable import AppleSpeechRecognition

struct SpeechServiceErrorTests {
  private struct Cause: Error {}

  private func code(_ domain: String, _ code: Int) -> VoiceFailure.Code? {
    switch SpeechServiceError(domain: domain, code: code).meaning(cause: Cause()) {
    case .noSpeech: nil
    case .taskEnded(let failure), .failed(let failure): failure.code
    }
  }

  @Test(arguments: ["kAFAssistantErrorDomain", "com.apple.speech.recognition.AFAssistantErrorDomain"])
  func silenceIsNoFailure(domain: String) {
    #expect(SpeechServiceError(domain: domain, code: 1110).meaning() == .noSpeech)
  }

  @Test(arguments: [203, 209, 216, 1101, 1107])
  func aTaskThatWasEndedMayBeFollowedByAnother(number: Int) {
    guard case .taskEnded = SpeechServiceError(domain: "kAFAssistantErrorDomain", code: number).meaning()
    else {
      Issue.record("is something else")
      return
    }
  }

  @Test(arguments: [
    ("kAFAssistantErrorDomain", 1700, VoiceFailure.Code.recognitionDenied),
    ("kLSRErrorDomain", 201, .recognitionDenied),
    ("kLSRErrorDomain", 102, .modelMissing), ("NSURLErrorDomain", -1001, .serverTimedOut),
    ("NSURLErrorDomain", -1009, .serverUnreachable), ("kAFAssistantErrorDomain", 31_337, .engineFailed),
    ("kLSRErrorDomain", 1110, .engineFailed), ("", 0, .engineFailed), ("other", .min, .engineFailed),
  ])
  func everyOtherErrorIsAFailureOfTheCatalogue(domain: String, number: Int, expected: VoiceFailure.Code) {
    #expect(code(domain, number) == expected)
  }

  @Test func theErrorIsKeptForDevelopers() {
    guard case .failed(let failure) = SpeechServiceError(domain: "x", code: 1).meaning(cause: Cause()) else {
      Issue.record("is something else")
      return
    }
    #expect(failure.cause is Cause)
  }
}

struct AuthorizationDecisionTests {
  @Test func theStricterPermissionDecides() {
    #expect(SpeechAuthorization.both(.authorized, .authorized) == .authorized)
    #expect(SpeechAuthorization.both(.authorized, .notDetermined) == .notDetermined)
    #expect(SpeechAuthorization.both(.notDetermined, .denied) == .denied)
    #expect(SpeechAuthorization.both(.denied, .restricted) == .restricted)
    for first in SpeechAuthorization.allCases {
      for second in SpeechAuthorization.allCases {
        #expect(SpeechAuthorization.both(first, second) == SpeechAuthorization.both(second, first))
      }
    }
  }
}

struct PhraseAssemblerTests {
  private func phrase(_ texts: String...) -> [HeardTranscription] {
    texts.map { HeardTranscription(segments: [.init(text: $0, start: 0.0, duration: 1.0, confidence: 1)]) }
  }

  private func texts(_ transcriptions: [HeardTranscription]) -> [String] {
    transcriptions.map { $0.segments.map(\.text).joined(separator: " ") }
  }

  @Test func nothingAndEmptyPhrasesGiveNothing() {
    var assembler = PhraseAssembler()
    #expect(assembler.heard([], isFinal: true).isEmpty)
    #expect(assembler.heard([HeardTranscription(segments: [])], isFinal: false).isEmpty)
    #expect(assembler.transcriptions.isEmpty)
  }

  @Test func aPhraseIsReplacedUntilItIsFinal() {
    var assembler = PhraseAssembler()
    #expect(texts(assembler.heard(phrase("turn of"), isFinal: false)) == ["turn of"])
    #expect(texts(assembler.heard(phrase("turn off"), isFinal: true)) == ["turn off"])
    #expect(texts(assembler.heard(phrase("the"), isFinal: false)) == ["turn off the"])
    #expect(texts(assembler.heard([HeardTranscription(segments: [])], isFinal: false)) == ["turn off"])
  }

  @Test func alternativesOfPhrasesAreJoined() {
    var assembler = PhraseAssembler()
    _ = assembler.heard(phrase("a", "b"), isFinal: true)
    #expect(texts(assembler.heard(phrase("c", "d", "e"), isFinal: true)) == ["a c", "b d", "a e"])
  }
}
