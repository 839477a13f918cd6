import CallSignaling
import Testing
import VoiceCore
import VoiceTesting

@testable import VoiceServer

/// Two clients that change their credentials: in the end each has to know what the other uses.
@Suite struct CallSwitchReattachTests {
  /// A call between two modelled clients; what the gateway sends waits until a client gets to it.
  private struct World {
    enum Message {
      case attach(SDP)
      case question(SDP, number: Int)
      case updated(SDP)
      case refused
    }

    struct Side {
      var model: ModelledClient
      var client: SwitchHarness.Client
      var isOnline = true
      var inbox: [Message] = []
      var questions = 0
    }

    var harness = SwitchHarness()
    var sides: [Side]

    init(_ first: ModelledClient.Kind, _ second: ModelledClient.Kind) {
      let (alice, _) = self.harness.logIn("alice", session: "a")
      let (bob, _) = self.harness.logIn("bob", session: "b")
      var models = [ModelledClient("a", first), ModelledClient("b", second)]
      models[0].callID = CallID("call")
      let offer = models[0].description(setup: "actpass")
      let rung = SwitchHarness.seen(self.harness.invite(alice, "call", to: "bob", sdp: offer), by: bob)
      if case .invited(let id, _)? = rung.first { models[1].callID = id }
      models[0].began(with: models[1].description())
      models[1].began(with: offer)
      _ = self.harness.answer(bob, models[1].callID, sdp: models[1].description())
      self.sides = [Side(model: models[0], client: alice), Side(model: models[1], client: bob)]
    }

    var areMatching: Bool { self.sides[0].model.matches(self.sides[1].model) }
    var reachEachOther: Bool { self.sides[0].model.reaches(self.sides[1].model) }
    var questions: Int { self.sides[0].questions + self.sides[1].questions }

    mutating func step(_ event: CallSwitch.Event) { self.deliver(self.harness.step(event)) }

    private mutating func deliver(_ actions: [CallSwitch.Action]) {
      for action in actions {
        for side in self.sides.indices where self.sides[side].isOnline {
          let connection = self.sides[side].client.connection
          switch action {
          case .send(connection, .attach(let message)):
            self.sides[side].inbox.append(.attach(message.sdp ?? ""))
          case .ask(connection, .modify(let message), let number):
            self.sides[side].questions += 1
            self.sides[side].inbox.append(.question(message.sdp ?? "", number: number))
          case .reply(connection, _, .success(.modify(let result))):
            self.sides[side].inbox.append(.updated(result.sdp ?? ""))
          case .reply(connection, _, .failure): self.sides[side].inbox.append(.refused)
          default: break
          }
        }
      }
      // Media that can flow does.
      guard self.areMatching else { return }
      for side in self.sides.indices { self.sides[side].model.isConfirmed = true }
    }

    mutating func lose(_ side: Int) {
      guard self.sides[side].isOnline else { return }
      self.sides[side].isOnline = false
      self.sides[side].inbox = []
      self.step(.disconnected(self.sides[side].client.connection))
    }

    mutating func comeBack(_ side: Int) {
      guard !self.sides[side].isOnline else { return }
      let key = self.sides[side].client.key
      let client = SwitchHarness.Client(
        connection: ConnectionID(number: 1000 + self.harness.machine.nextNumber()), key: key)
      self.sides[side].client = client
      self.sides[side].isOnline = true
      self.sides[side].model.address += 1
      self.step(.loggedIn(client.connection, key, request: nil, isAnonymous: false))
    }

    mutating func restart(_ side: Int) {
      guard self.sides[side].isOnline, self.sides[side].model.proposed == nil else { return }
      let offer = self.sides[side].model.propose()
      let update = ModifyRequest(callID: self.sides[side].model.callID, action: .updateMedia, sdp: offer)
      self.deliver(self.harness.request(self.sides[side].client, .modify(update)))
    }

    /// A client gets to what the gateway sent it.
    mutating func read(_ side: Int) {
      guard !self.sides[side].inbox.isEmpty else { return }
      let client = self.sides[side].client
      switch self.sides[side].inbox.removeFirst() {
      case .attach(let offer):
        let dialog = DialogParams(callID: self.sides[side].model.callID)
        let answer = self.sides[side].model.attach(offer)
        self.deliver(self.harness.request(client, .attach(ClientDescription(sdp: answer, dialog: dialog))))
      case .question(let offer, let number):
        let answer = self.sides[side].model.answer(offer)
        self.step(.responded(client.connection, number: number, .accepted(answer)))
      case .updated(let answer):
        guard !self.sides[side].model.took(answer) else { return self.deliver([]) }
        self.reattach(side)
      case .refused:
        self.sides[side].model.wasRefused()
        self.reattach(side)
      }
    }

    private mutating func reattach(_ side: Int) {
      self.lose(side)
      self.comeBack(side)
    }

    /// Until nobody has anything to say.
    mutating func settle() {
      for _ in 0..<200 {
        if let side = self.sides.indices.first(where: { !self.sides[$0].inbox.isEmpty }) {
          self.read(side)
        } else if !self.harness.machine.questions.isEmpty {
          self.deliver(self.harness.pass(.seconds(5)))
        } else {
          return
        }
      }
      Issue.record("they never stop")
    }
  }

  typealias Kind = ModelledClient.Kind

  /// What the peer answered after an attach was thrown away: with credentials of its own that were new, nobody knew them.
  @Test(arguments: Kind.allCases, Kind.allCases) func bothKnowEachOtherAfterOneAttached(
    _ first: Kind, _ second: Kind
  ) {
    for side in 0...1 {
      var world = World(first, second)
      world.lose(side)
      world.comeBack(side)
      world.settle()
      // Two that change always can only be brought together by a restart that one of them offers.
      guard first != .browser || second != .browser else {
        #expect(world.questions <= world.harness.machine.configuration.questions)
        world.restart(side)
        world.settle()
        #expect(world.reachEachOther)
        continue
      }
      #expect(world.reachEachOther, "\(first) \(second)")
      #expect((1...3).contains(world.questions), "\(first) \(second): \(world.questions)")
    }
  }

  @Test(arguments: Kind.allCases, Kind.allCases) func bothKnowEachOtherAfterBothAttached(
    _ first: Kind, _ second: Kind
  ) {
    guard first != .browser || second != .browser else { return }
    // Who comes back first, and whose answers come first.
    for order in 0..<4 {
      var world = World(first, second)
      let (early, late) = (order & 1, 1 - order & 1)
      world.lose(0)
      world.lose(1)
      world.comeBack(early)
      if order & 2 == 0 { world.read(early) }
      world.comeBack(late)
      world.read(late)
      world.settle()
      #expect(world.reachEachOther, "\(first) \(second) \(order)")
      #expect(world.questions <= 4, "\(first) \(second) \(order): \(world.questions)")
    }
  }

  /// The gateway offered credentials to the other side that were taken back when they were refused.
  @Test func offersNothingThatWasNeverAgreedOn() {
    var world = World(.keeping, .keeping)
    world.restart(0)
    // The socket of the other side is gone before it answers, so the change is refused.
    world.lose(1)
    for action in world.harness.pass(.seconds(5)) {
      if case .reply(_, _, .failure) = action { world.sides[0].model.wasRefused() }
    }
    world.comeBack(1)
    guard case .attach(let offer)? = world.sides[1].inbox.first else {
      Issue.record("nothing was offered")
      return
    }
    #expect(ModelledClient.fragment(in: offer) == "a0")
    world.settle()
    #expect(world.reachEachOther)
  }

  /// Two changes that cross would each undo the other.
  @Test func refusesAChangeThatCrossesAnother() {
    var world = World(.keeping, .keeping)
    world.restart(0)
    world.restart(1)
    world.settle()
    #expect(world.reachEachOther)
    #expect(world.harness.machine.questions.isEmpty)
  }

  @Test func asksNobodyForEverWhoChangesForEver() {
    var world = World(.browser, .browser)
    world.lose(0)
    world.comeBack(0)
    world.settle()
    #expect(world.questions == world.harness.machine.configuration.questions)
    #expect(world.harness.machine.callCount == 1)
  }

  /// Losses, returns, restarts and slow readers in any order.
  @Test(arguments: [UInt64](1...40)) func bothKnowEachOtherWhateverHappens(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let kinds: [(Kind, Kind)] = [
      (.keeping, .keeping), (.keepingAnew, .keepingAnew), (.keeping, .keepingAnew), (.keeping, .browser),
      (.browser, .keepingAnew),
    ]
    for (first, second) in kinds {
      for _ in 0..<25 {
        var world = World(first, second)
        for _ in 0..<Int.random(in: 1...30, using: &random) {
          let side = Int.random(in: 0...1, using: &random)
          switch Int.random(in: 0..<10, using: &random) {
          case 0: world.lose(side)
          case 1, 2: world.comeBack(side)
          case 3: world.restart(side)
          default: world.read(side)
          }
        }
        world.comeBack(0)
        world.comeBack(1)
        world.settle()
        #expect(world.reachEachOther, "seed \(seed), \(first) and \(second)")
        #expect(world.harness.machine.callCount == 1)
        #expect(world.harness.machine.questions.isEmpty)
      }
    }
  }
}
