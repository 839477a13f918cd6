import RealtimeMedia
import Testing
import VoiceTesting

/// RFC 4733; bad input first.
@Suite struct TelephoneEventTests {
  @Test func refusesWhatIsNoEvent() {
    #expect(TelephoneEvent(parsing: []) == nil)
    #expect(TelephoneEvent(parsing: [1, 2, 3]) == nil)
    #expect(TelephoneEvent.Key("x") == nil && TelephoneEvent.Key("é") == nil)
    var receiver = TelephoneEventReceiver(clockRate: 8000)
    #expect(receiver.received(.init(code: 200, isEnd: false, duration: 1), timestamp: 0, at: 0).isEmpty)
  }

  @Test func keysAndCharactersBelongTogether() {
    for key in TelephoneEvent.Key.allCases { #expect(TelephoneEvent.Key(key.character) == key) }
    #expect(TelephoneEvent.Key("#")?.rawValue == 11 && TelephoneEvent.Key("d") == .d)
    let event = TelephoneEvent(code: 5, isEnd: true, attenuation: 10, duration: 0x1234)
    #expect(event.payload == [5, 0x8a, 0x12, 0x34])
    #expect(TelephoneEvent(parsing: event.payload[...]) == event)
  }

  @Test func sendsAKeyWithGrowingDurationAndThreeEnds() {
    var sender = TelephoneEventSender(clockRate: 8000)
    #expect(sender.nextPacket(at: 0, length: 160) == .audio)
    let isAccepted = sender.press(.five, duration: .milliseconds(100), pause: .milliseconds(60))
    #expect(isAccepted)
    var outputs: [TelephoneEventSender.Output] = []
    for index in 1...12 { outputs.append(sender.nextPacket(at: UInt32(index * 160), length: 160)) }
    let durations: [UInt16] = [160, 320, 480, 640, 800, 800, 800]
    let expected: [TelephoneEventSender.Output] = durations.enumerated().map { index, duration in
      .event(
        .init(code: 5, isEnd: index >= 4, duration: duration), timestamp: 160, marker: index == 0)
    }
    #expect(Array(outputs.prefix(7)) == expected)
    #expect(outputs[7] == .silence)
    #expect(outputs.last == .audio && !sender.isBusy)
  }

  @Test func tooManyKeysAreRefused() {
    var sender = TelephoneEventSender(clockRate: 48000)
    var accepted = 0
    for _ in 0..<100 where sender.press(.one, duration: .seconds(1_000_000_000_000)) { accepted += 1 }
    #expect(accepted == TelephoneEventSender.capacity)
  }

  /// What a receiver makes of a sender's packets, of which a share is lost, doubled or swapped.
  static func transmit(_ keys: [TelephoneEvent.Key], seed: UInt64, loss: Int) -> [TelephoneEventReceiver
    .Output]
  {
    var random = SeededGenerator(seed: seed)
    var sender = TelephoneEventSender(clockRate: 48000)
    var receiver = TelephoneEventReceiver(clockRate: 48000)
    for key in keys { _ = sender.press(key) }
    var now = UInt32.max - 48000
    var outputs: [TelephoneEventReceiver.Output] = []
    var held: (TelephoneEvent, UInt32)?
    while sender.isBusy {
      if case .event(let event, let timestamp, _) = sender.nextPacket(at: now, length: 960) {
        for packet in [(event, timestamp), held].compactMap({ $0 })
        where Int.random(in: 0..<100, using: &random) >= loss {
          outputs += receiver.received(packet.0, timestamp: packet.1, at: now)
        }
        held = Bool.random(using: &random) ? (event, timestamp) : nil
      }
      outputs += receiver.timePassed(at: now)
      now &+= 960
    }
    return outputs + receiver.timePassed(at: now &+ 48000)
  }

  @Test func everyKeyArrivesOnceDespiteLossAndRepetition() {
    let keys: [TelephoneEvent.Key] = [.one, .one, .two, .star, .pound, .d]
    for seed: UInt64 in 0..<200 {
      let outputs = Self.transmit(keys, seed: seed, loss: 20)
      var began: [TelephoneEvent.Key] = []
      var ended: [TelephoneEvent.Key] = []
      for output in outputs {
        switch output {
        case .began(let key): began.append(key)
        case .ended(let key, let duration):
          ended.append(key)
          #expect(duration <= 4800)
        }
      }
      #expect(began == keys && ended == keys, "seed \(seed): \(outputs)")
    }
  }

  /// RFC 4733 section 2.5.2.3: what is longer than 16 bits can say comes in segments.
  @Test func aLongKeyIsOne() {
    var receiver = TelephoneEventReceiver(clockRate: 48000)
    var outputs: [TelephoneEventReceiver.Output] = []
    var now: UInt32 = 0
    for segment: UInt32 in 0..<3 {
      let start = 7 &+ segment * 0xffff
      for packet in 1...68 {
        let duration = UInt16(min(0xffff, packet * 960))
        now = start &+ UInt32(duration)
        outputs += receiver.received(
          .init(code: 5, isEnd: segment == 2 && packet == 50, duration: duration), timestamp: start,
          isMarked: segment == 0 && packet == 1, at: now)
        outputs += receiver.timePassed(at: now)
        if segment == 2, packet == 50 { break }
      }
    }
    #expect(outputs == [.began(.five), .ended(.five, duration: 2 * 0xffff + 50 * 960)])
  }

  @Test(arguments: [true, false]) func theSameKeyAgainIsNoSegment(_ isMarked: Bool) {
    var receiver = TelephoneEventReceiver(clockRate: 48000)
    _ = receiver.received(.init(code: 5, isEnd: false, duration: 4800), timestamp: 0, at: 0)
    let later: UInt32 = isMarked ? 0xffff : 0xffff + 4800
    let outputs = receiver.received(
      .init(code: 5, isEnd: false, duration: 960), timestamp: later, isMarked: isMarked, at: 4800)
    #expect(outputs == [.ended(.five, duration: 4800), .began(.five)])
  }

  @Test func aKeyWhoseEndIsLostEndsByItself() {
    var receiver = TelephoneEventReceiver(clockRate: 8000)
    #expect(
      receiver.received(.init(code: 1, isEnd: false, duration: 160), timestamp: 5, at: 0) == [.began(.one)])
    #expect(receiver.timePassed(at: 1200).isEmpty)
    #expect(receiver.timePassed(at: 1201) == [.ended(.one, duration: 160)])
    #expect(
      receiver.received(.init(code: 1, isEnd: true, duration: 800), timestamp: 5, at: 1300).isEmpty,
      "too late")
    #expect(
      receiver.received(.init(code: 2, isEnd: true, duration: 800), timestamp: 9000, at: 9000)
        == [.began(.two), .ended(.two, duration: 800)])
  }
}
