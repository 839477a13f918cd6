import Testing
import VoiceCore

@testable import AppleCallMedia

struct PeerReplyTests {
  @Test func whoGivesUpIsReleasedAlthoughNobodyAnswers() async {
    let reply = PeerReply<Int>()
    let task = Task { try await reply.value() }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    // Too late, and no trap.
    reply.resolve(.success(1))
  }

  @Test func anAnswerBeforeTheQuestionIsKept() async throws {
    let reply = PeerReply<Int>()
    reply.resolve(.success(1))
    reply.resolve(.success(2))
    #expect(try await reply.value() == 1)
    await #expect(throws: CancellationError.self) { try await reply.value() }
  }

  @Test func aFailureIsThrown() async {
    let reply = PeerReply<Void>()
    let task = Task { try await reply.value() }
    reply.resolve(.failure(VoiceFailure(.callMediaFailed)))
    await #expect(throws: VoiceFailure(.callMediaFailed)) { try await task.value }
  }
}
