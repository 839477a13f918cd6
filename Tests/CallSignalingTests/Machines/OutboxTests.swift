import CallSignaling
import Testing
import VoiceCore

@Suite struct OutboxTests {
  static let a = CallID("a")
  static let b = CallID("b")

  static func sent(_ actions: [Outbox.Action]) -> [Outbox.Content] {
    actions.compactMap { if case .send(let item) = $0 { item.content } else { nil } }
  }

  static func failed(_ actions: [Outbox.Action]) -> [VoiceFailure.Code] {
    actions.compactMap { if case .fail(_, let failure) = $0 { failure.code } else { nil } }
  }

  @Test func everythingIsReplayedInOrder() {
    var outbox = Outbox()
    #expect(outbox.offered(.tones("1"), of: Self.a, at: at(0)) == [])
    #expect(outbox.offered(.tones("2"), of: Self.a, at: at(1)) == [])
    #expect(outbox.offered(.hold(.held), of: Self.a, at: at(1)) == [])
    #expect(outbox.offered(.bye(.normalClearing), of: Self.b, at: at(2)) == [])
    #expect(
      Self.sent(outbox.linkRestored(known: [Self.a, Self.b], at: at(3)))
        == [.tones("1"), .tones("2"), .hold(.held), .bye(.normalClearing)])
    #expect(outbox.count == 4)
  }

  @Test func tonesThatAreTooOldFailByName() {
    var outbox = Outbox()
    _ = outbox.offered(.tones("1"), of: Self.a, at: at(0))
    #expect(outbox.deadline == at(10))
    #expect(Self.failed(outbox.timePassed(at: at(9))) == [])
    #expect(Self.failed(outbox.timePassed(at: at(10))) == [.callTonesUndelivered])
    _ = outbox.offered(.tones("1"), of: Self.a, at: at(20))
    #expect(Self.failed(outbox.linkRestored(known: nil, at: at(40))) == [.callTonesUndelivered])
  }

  @Test func tonesThatMayHaveBeenPlayedAreNotRepeated() {
    var outbox = Outbox(isUp: true)
    _ = outbox.offered(.tones("1"), of: Self.a, at: at(0))
    #expect(Self.failed(outbox.linkLost()) == [.callTonesUnconfirmed])
    #expect(Self.sent(outbox.linkRestored(known: nil, at: at(1))) == [])
  }

  @Test func goodbyesAndHoldsAreRepeated() {
    var outbox = Outbox(isUp: true)
    _ = outbox.offered(.bye(.userBusy), of: Self.a, at: at(0))
    _ = outbox.offered(.hold(.held), of: Self.b, at: at(0))
    #expect(outbox.linkLost() == [])
    #expect(Self.sent(outbox.linkRestored(known: nil, at: at(1))) == [.bye(.userBusy), .hold(.held)])
    #expect(outbox.hasByes)
  }

  @Test func aNewerHoldReplacesTheOneThatWaits() {
    var outbox = Outbox()
    _ = outbox.offered(.hold(.held), of: Self.a, at: at(0))
    let actions = outbox.offered(.hold(.active), of: Self.a, at: at(1))
    guard case .drop(let item)? = actions.only else {
      Issue.record("\(actions)")
      return
    }
    #expect(item.content == .hold(.held))
    #expect(Self.sent(outbox.linkRestored(known: nil, at: at(2))) == [.hold(.active)])
  }

  @Test func aGoodbyeDropsWhatWaitsForItsCall() {
    var outbox = Outbox()
    _ = outbox.offered(.tones("1"), of: Self.a, at: at(0))
    _ = outbox.offered(.tones("2"), of: Self.b, at: at(0))
    _ = outbox.offered(.bye(.normalClearing), of: Self.a, at: at(0))
    #expect(Self.sent(outbox.linkRestored(known: nil, at: at(1))) == [.tones("2"), .bye(.normalClearing)])
  }

  @Test func whatTheServerForgotIsDoneOrFails() {
    var outbox = Outbox()
    _ = outbox.offered(.bye(.normalClearing), of: Self.a, at: at(0))
    _ = outbox.offered(.tones("2"), of: Self.b, at: at(0))
    let actions = outbox.linkRestored(known: [], at: at(1))
    #expect(Self.sent(actions) == [])
    #expect(Self.failed(actions) == [.callTonesUndelivered])
    #expect(outbox.count == 0)
  }

  @Test func aGoodbyeToACallThatDoesNotExistIsDone() {
    var outbox = Outbox(isUp: true)
    _ = outbox.offered(.bye(.normalClearing), of: Self.a, at: at(0))
    guard case .delivered? = outbox.answered(1, .refused(.callDoesNotExist())).only else {
      Issue.record("not done")
      return
    }
    _ = outbox.offered(.bye(.normalClearing), of: Self.a, at: at(0))
    #expect(Self.failed(outbox.answered(2, .timedOut)) == [.callByeUndelivered])
    _ = outbox.offered(.tones("1"), of: Self.a, at: at(0))
    #expect(Self.failed(outbox.answered(3, .refused(.callDoesNotExist()))) == [.callTonesUndelivered])
    #expect(outbox.answered(3, .accepted) == [], "answered already")
    #expect(outbox.answered(99, .accepted) == [])
  }

  @Test func aFullQueueFailsByNameAndKeepsGoodbyes() {
    var configuration = Outbox.Configuration()
    configuration.capacity = 2
    var outbox = Outbox(configuration: configuration)
    _ = outbox.offered(.tones("1"), of: Self.a, at: at(0))
    _ = outbox.offered(.tones("2"), of: Self.a, at: at(0))
    #expect(Self.failed(outbox.offered(.tones("3"), of: Self.a, at: at(0))) == [.callTonesUndelivered])
    #expect(Self.failed(outbox.offered(.bye(.userBusy), of: Self.b, at: at(0))) == [.callTonesUndelivered])
    #expect(outbox.count == 2)
    #expect(Self.sent(outbox.linkRestored(known: nil, at: at(1))) == [.tones("2"), .bye(.userBusy)])
  }

  @Test func aClientThatGivesUpFailsEverything() {
    var outbox = Outbox(isUp: true)
    _ = outbox.offered(.bye(.normalClearing), of: Self.a, at: at(0))
    #expect(Self.failed(outbox.abandoned()) == [.callByeUndelivered])
    #expect(outbox.count == 0)
  }

  // MARK: Requests

  @Test func answersAreMatchedByID() throws {
    var table = RequestTable<Int>(capacity: 2)
    try table.add(.string("1"), .invite, timeout: .seconds(10), context: 1, at: at(0))
    try table.add(.integer(1), .bye, timeout: .seconds(5), context: 2, at: at(0))
    #expect(throws: VoiceFailure.self) {
      try table.add(.string("2"), .bye, timeout: .seconds(5), context: 3, at: at(0))
    }
    #expect(table.deadline == at(5))
    guard case .waiting(let entry) = table.answered(.string("1")) else {
      Issue.record("not found")
      return
    }
    #expect(entry.context == 1)
    guard case .unknown = table.answered(.string("1")) else {
      Issue.record("answered twice")
      return
    }
    #expect(throws: VoiceFailure.self, "the id waits") {
      try table.add(.integer(1), .bye, timeout: .seconds(5), context: 3, at: at(0))
    }
    #expect(table.timePassed(at: at(4)).isEmpty)
    #expect(table.timePassed(at: at(5)).map(\.context) == [2])
    guard case .late = table.answered(.integer(1)) else {
      Issue.record("not late")
      return
    }
  }

  @Test func anEndedConnectionInterruptsInOrder() throws {
    var table = RequestTable<Int>()
    for number in 0..<20 {
      try table.add(.integer(number), .info, timeout: .seconds(1), context: number, at: at(0))
    }
    #expect(table.cancelled(.integer(7))?.context == 7)
    #expect(table.cancelled(.integer(7)) == nil)
    #expect(table.interrupted().map(\.context) == (0..<20).filter { $0 != 7 })
    #expect(table.waiting == 0)
    #expect(table.deadline == nil)
  }

  // MARK: Tokens and ids

  @Test(arguments: ["", "a.b", "a.b.c", "a.!!.c", "a.e30.c", "a.eyJleHAiOiJ4In0.c", "a.eyJleHAiOjFlNDAwfQ.c"])
  func aTokenThatCannotBeReadHasNoEnd(token: String) {
    #expect(TokenExpiry.secondsSince1970(of: Secret(token)) == nil)
  }

  @Test func theEndOfATokenIsRead() {
    #expect(TokenExpiry.secondsSince1970(of: "a.eyJleHAiOjE3MDAwMDAwMDB9.c") == 1_700_000_000)
    #expect(TokenExpiry.secondsSince1970(of: "a.eyJleHAiOjE3MDAwMDAwMDAuNX0.c") == 1_700_000_000)
  }

  @Test func idsAreUUIDsOfVersionFour() {
    var random = Splitmix(state: 7)
    let ids = (0..<100).map { _ in UUIDText.random(using: &random) }
    #expect(Set(ids).count == 100)
    for id in ids {
      let characters = Array(id)
      #expect(characters.count == 36)
      #expect([8, 13, 18, 23].allSatisfy { characters[$0] == "-" })
      #expect(characters[14] == "4")
      #expect("89ab".contains(characters[19]))
    }
  }
}
