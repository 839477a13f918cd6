import RealtimeMedia
import Testing
import VoiceCore
import VoiceTesting

/// Bad input first, then whole courses from a sender over a simulated network.
@Suite struct AudioReceiverTests {
  static func at(_ milliseconds: Int) -> VoiceInstant { VoiceInstant(offset: .milliseconds(milliseconds)) }

  @Test func nothingThatComesMakesItTrap() {
    var random = SeededGenerator(seed: 99)
    for _ in 0..<12 {
      let receiver = AudioWorld.receiver()
      var samples: [Int16] = []
      for index in 0..<400 {
        let isWild = Int.random(in: 0..<5, using: &random) == 0
        let packet = RTPPacket(
          payloadType: [0, 8, 111, 110, 126, 13, 77].randomElement(using: &random) ?? 0,
          sequenceNumber: isWild ? UInt16.random(in: 0...65535, using: &random) : UInt16(index),
          timestamp: isWild ? random.next() : UInt32(index * 160),
          ssrc: UInt32.random(in: 0...60, using: &random) / 60,
          payload: (0..<Int.random(in: 0...300, using: &random)).map { _ in
            UInt8.random(in: 0...255, using: &random)
          }[...])
        let time = Self.at(isWild ? Int.random(in: 0...1_000_000_000, using: &random) : index * 20)
        receiver.received(packet, at: time)
        let count = isWild ? Int.random(in: -10...3000, using: &random) : 960
        let info = receiver.read(count, into: &samples, at: time)
        #expect(samples.count == max(0, count) && info.count == samples.count)
      }
      var events = 0
      while receiver.poll() != nil { events += 1 }
      #expect(events <= 256)
    }
  }

  @Test func packetsOfOtherPayloadTypesAreIgnored() throws {
    let receiver = AudioWorld.receiver([AudioWorld.pcmu])
    for payloadType: UInt8 in [8, 111, 13, 72, 127] {
      let packet = RTPPacket(
        payloadType: payloadType, sequenceNumber: 1, timestamp: 1, ssrc: 1, payload: [1, 2, 3, 4])
      #expect(!receiver.received(packet, at: Self.at(0)))
    }
    #expect(receiver.statistics.packetsIgnored == 5 && receiver.statistics.packetsReceived == 0)
    #expect(receiver.poll() == nil)
    let unknown = AudioReceiver(codecs: [AudioWorld.codec(.init("g722", clockRate: 8000), 9)])
    #expect(
      !unknown.received(
        RTPPacket(payloadType: 9, sequenceNumber: 1, timestamp: 1, ssrc: 1, payload: [1]), at: Self.at(0)))
  }

  @Test func givesSilenceWhileNothingComes() {
    let receiver = AudioWorld.receiver()
    var samples: [Int16] = [1, 2, 3]
    let info = receiver.read(1234, into: &samples, at: Self.at(0))
    #expect(samples == [Int16](repeating: 0, count: 1234))
    #expect(info.restingCount == 1234 && info.concealed.isEmpty)
    #expect(receiver.read(0, into: &samples, at: Self.at(0)).count == 0 && samples.isEmpty)
    #expect(receiver.read(.min, into: &samples, at: Self.at(0)).count == 0 && samples.isEmpty)
  }

  static let toneCodecs = [AudioWorld.pcmu, AudioWorld.pcma, AudioWorld.opus]

  @Test(arguments: toneCodecs)
  func aToneArrivesAsItWas(codec: NegotiatedAudio.Codec) throws {
    for packetTime in [10, 20, 30, 40, 60] {
      var world = AudioWorld(seed: 1)
      let sender = try AudioWorld.sender(codec, packetTime: packetTime)
      let receiver = AudioWorld.receiver()
      try world.run(3000, from: sender, to: receiver) { Sound.tone(1000, from: $0, count: $1) }
      let heard = world.course.milliseconds(500..<3000)
      #expect(abs(Sound.amplitude(of: 1000, in: heard) - 0.3) < 0.02)
      #expect(Sound.impurity(1000, in: heard) < (codec == AudioWorld.opus ? 0.02 : 0.001))
      #expect(world.course.info.concealedCount == 0)
      #expect(world.course.statistics.delay < .milliseconds(60 + packetTime))
      #expect(abs(world.course.statistics.level - 0.3) < 0.02)
      #expect(world.course.events == [.sourceChanged(ssrc: 7), .codecChanged(codec.key)])
    }
  }

  @Test func theFilterOfG711PassesATelephonesBandAndNothingElse() throws {
    for (frequency, passes) in [(300, true), (3300, true), (4700, false), (6000, false), (11_000, false)] {
      var world = AudioWorld(seed: 1)
      try world.run(800, from: try AudioWorld.sender(), to: AudioWorld.receiver()) {
        Sound.tone(frequency, from: $0, count: $1)
      }
      let heard = world.course.milliseconds(300..<800)
      if passes {
        #expect(abs(Sound.amplitude(of: Double(frequency), in: heard) - 0.3) < 0.02, "\(frequency) Hz")
        let image = Sound.amplitude(of: Double(8000 - frequency), in: heard)
        #expect(image < 0.001, "\(frequency) Hz: \(image)")
      } else {
        #expect(Sound.rms(heard) < 0.002, "\(frequency) Hz: \(Sound.rms(heard))")
      }
    }
  }

  @Test(arguments: toneCodecs)
  func thereAreNoClicksOnAJitteryPath(codec: NegotiatedAudio.Codec) throws {
    var world = AudioWorld(seed: 2, .init(duplication: 0.1, jitter: { $0 < 8 ? 60 : 5 }))
    let receiver = AudioWorld.receiver()
    let sender = try AudioWorld.sender(codec)
    try world.run(20_000, from: sender, to: receiver) { Sound.tone(440, from: $0, count: $1) }
    let course = world.course
    let limit = Sound.roughness(Sound.tone(440, count: 4800)[...]) + 0.02
    var checked = 0
    for start in stride(from: 48000, to: course.samples.count - 4800, by: 4800)
    where course.isWhole(start..<start + 4800) {
      let piece = course.samples[start..<start + 4800]
      #expect(Sound.roughness(piece) < limit, "\(start): \(Sound.roughness(piece))")
      #expect(abs(Sound.amplitude(of: 440, in: piece) - 0.3) < 0.03, "\(start)")
      checked += 1
    }
    #expect(checked > 150, "\(checked)")
    #expect(course.statistics.packetsDuplicate > 60)
  }

  @Test func theDelayFollowsTheJitterAndShrinksAgain() throws {
    var world = AudioWorld(seed: 3, .init(jitter: { $0 < 10 ? 5 : $0 < 25 ? 120 : 5 }))
    let receiver = AudioWorld.receiver()
    try world.run(45_000, from: try AudioWorld.sender(), to: receiver, keep: false) {
      Sound.vowel(pitch: 120, from: $0, count: $1)
    }
    let delays = world.course.delays
    #expect(delays[8] < .milliseconds(70), "\(delays)")
    #expect(delays[22] > .milliseconds(90), "\(delays)")
    #expect(delays[43] < .milliseconds(80), "\(delays)")
    #expect(world.course.statistics.removed > 0)
  }

  @Test(arguments: [0.02, 0.05, 0.2])
  func concealmentIsCountedTrulyAndHasNoClicks(loss: Double) throws {
    var world = AudioWorld(seed: 4, .init(loss: loss, jitter: { _ in 10 }))
    let receiver = AudioWorld.receiver()
    try world.run(15_000, from: try AudioWorld.sender(), to: receiver) {
      Sound.tone(300, from: $0, count: $1)
    }
    let course = world.course
    let expected = course.lost * 960
    #expect(abs(course.info.concealedCount - expected) < expected / 5 + 2880, "\(course.info) \(course.lost)")
    #expect(Int64(course.info.concealedCount) <= course.statistics.concealed)
    #expect(course.concealed.reduce(0) { $0 + $1.count } == course.info.concealedCount)
    #expect(course.info.recoveredCount == 0, "G.711 has no redundancy")
    #expect(Sound.roughness(course.samples[48000...]) < 0.04, "\(Sound.roughness(course.samples[48000...]))")
    // A short gap is not heard in a steady sound.
    if loss < 0.1 {
      #expect(Sound.rms(course.samples[48000...]) > 0.3 / 2.0.squareRoot() * 0.93)
    }
  }

  @Test func aLongGapFadesToSilence() throws {
    var world = AudioWorld(seed: 5)
    let receiver = AudioWorld.receiver()
    let sender = try AudioWorld.sender()
    try world.run(1000, from: sender, to: receiver) { Sound.tone(300, from: $0, count: $1) }
    world.network.loss = 1
    try world.run(1000, from: sender, to: receiver) { Sound.tone(300, from: $0, count: $1) }
    world.network.loss = 0
    try world.run(1000, from: sender, to: receiver) { Sound.tone(300, from: $0, count: $1) }
    let course = world.course
    #expect(Sound.rms(course.milliseconds(1300..<1950)) < 0.001)
    #expect(Sound.rms(course.milliseconds(2200..<3000)) > 0.2)
    #expect(Sound.roughness(course.samples[4800...]) < 0.02, "\(Sound.roughness(course.samples[4800...]))")
    #expect(course.info.concealedCount <= 48 * 260, "\(course.info)")
  }

  /// Three minutes in which the clocks drift apart by 180 ms, each way: more than the delay may ever be.
  @Test(arguments: [1000.0, -1000.0])
  func theDriftOfClocksIsAbsorbed(drift: Double) throws {
    var world = AudioWorld(seed: 6, .init(jitter: { _ in 10 }, drift: drift))
    let receiver = AudioWorld.receiver()
    let second = Sound.vowel(pitch: 120, count: 48000)
    try world.run(180_000, from: try AudioWorld.sender(), to: receiver, keep: false) { start, count in
      Array(second[start % 48000..<start % 48000 + count])
    }
    let course = world.course
    let largest = course.delays.dropFirst(5).max() ?? .zero
    #expect(largest < .milliseconds(100), "\(largest)")
    #expect(course.statistics.packetsDiscarded == 0)
    #expect(course.info.concealedCount == 0, "\(course.info)")
    let balance = Double(course.statistics.removed - course.statistics.inserted - course.statistics.concealed)
    #expect(abs(balance - 180 * 48000 * drift / 1e6) < 2400, "\(balance)")
  }

  @Test func anotherSourceIsFollowedAndLatePacketsOfTheOldOneAreNot() throws {
    var world = AudioWorld(seed: 7)
    let receiver = AudioWorld.receiver()
    try world.run(1000, from: try AudioWorld.sender(ssrc: 7), to: receiver) {
      Sound.tone(500, from: $0, count: $1)
    }
    let other = try AudioWorld.sender(ssrc: 8, seed: 2)
    try world.run(500, from: other, to: receiver) { Sound.tone(900, from: $0, count: $1) }
    let late = RTPPacket(
      payloadType: 0, sequenceNumber: 5, timestamp: 5, ssrc: 7,
      payload: [UInt8](repeating: 0, count: 160)[...])
    #expect(!receiver.received(late, at: Self.at(1500)))
    try world.run(1000, from: other, to: receiver) { Sound.tone(900, from: $0, count: $1) }
    let course = world.course
    #expect(abs(Sound.amplitude(of: 500, in: course.milliseconds(300..<900)) - 0.3) < 0.02)
    #expect(abs(Sound.amplitude(of: 900, in: course.milliseconds(1300..<2500)) - 0.3) < 0.02)
    #expect(Sound.roughness(course.samples[4800...]) < 0.03, "\(Sound.roughness(course.samples[4800...]))")
    #expect(course.events.filter { if case .sourceChanged = $0 { true } else { false } }.count == 2)
    #expect(course.statistics.ssrc == 8)
  }

  @Test func numbersAndTimestampsMayWrap() throws {
    let receiver = AudioWorld.receiver()
    var samples: [Int16] = []
    var concealed = 0
    for index in 0..<1000 {
      let sound = Sound.tone(400, from: index * 960, count: 960)
      var payload: [UInt8] = []
      for position in stride(from: 0, to: 960, by: 6) { payload.append(G711.encodeMuLaw(sound[position])) }
      receiver.received(
        RTPPacket(
          payloadType: 0, sequenceNumber: UInt16(truncatingIfNeeded: 65_500 + index),
          timestamp: UInt32.max - 5000 &+ UInt32(index * 160), ssrc: 1, payload: payload[...]),
        at: Self.at(index * 20))
      concealed += receiver.read(960, into: &samples, at: Self.at(index * 20)).concealedCount
      if index > 10 { #expect(Sound.amplitude(of: 400, in: samples[...]) > 0.25) }
    }
    #expect(concealed == 0)
  }

  @Test(arguments: [0, 20])
  func everyKeyArrivesOnceAndIsNotHeard(loss: Int) throws {
    for seed: UInt64 in 0..<20 {
      var world = AudioWorld(seed: seed, .init(loss: Double(loss) / 100, jitter: { _ in loss == 0 ? 0 : 30 }))
      let receiver = AudioWorld.receiver()
      let sender = try AudioWorld.sender()
      try world.run(500, from: sender, to: receiver) { Sound.tone(300, from: $0, count: $1) }
      let keys: [TelephoneEvent.Key] = [.one, .one, .two, .star, .pound, .d]
      #expect(sender.press(keys))
      #expect(sender.isSendingKeys)
      try world.run(2500, from: sender, to: receiver) { Sound.tone(300, from: $0, count: $1) }
      #expect(!sender.isSendingKeys)
      let course = world.course
      let pressed = course.events.compactMap { if case .keyPressed(let key) = $0 { key } else { nil } }
      let released = course.events.compactMap { if case .keyReleased(let key, _) = $0 { key } else { nil } }
      #expect(pressed == keys && released == keys, "seed \(seed)")
      if loss == 0 {
        #expect(course.info.concealedCount == 0, "\(course.info)")
        // A key of 100 ms lasts 100 ms and 70 ms of silence, and the packets of its end are silent as well.
        #expect(Sound.rms(course.milliseconds(620..<660)) < 0.002)
        #expect(Sound.roughness(course.samples[4800...]) < 0.02)
      }
    }
  }

  @Test func theCodecMayChangeInMidStream() throws {
    var world = AudioWorld(seed: 8, .init(jitter: { _ in 5 }))
    let receiver = AudioWorld.receiver()
    let sender = try AudioWorld.sender(AudioWorld.pcmu)
    var heard: [NegotiatedAudio.Codec] = []
    for codec in [AudioWorld.pcmu, AudioWorld.pcma, AudioWorld.opus, AudioWorld.pcmu, AudioWorld.opus] {
      let isOpus = codec == AudioWorld.opus
      try sender.change(codec: codec, telephoneEvent: isOpus ? AudioWorld.keys48 : AudioWorld.keys8)
      heard.append(codec)
      try world.run(1000, from: sender, to: receiver) { Sound.tone(440, from: $0, count: $1) }
    }
    let course = world.course
    #expect(Sound.roughness(course.samples[9600...]) < 0.03, "\(Sound.roughness(course.samples[9600...]))")
    #expect(course.info.concealedCount == 0)
    let changes = course.events.compactMap { if case .codecChanged(let key) = $0 { key } else { nil } }
    #expect(changes == heard.map(\.key))
    #expect(course.statistics.ssrc == 7 && course.statistics.packetsIgnored == 0)
  }

  /// What is heard of syllables by Opus, and how much of it, at a loss; what is steady counts as noise and is not
  /// sent twice.
  static func opus(loss: Double, expectedLoss: Double) throws -> AudioWorld.Course {
    var world = AudioWorld(seed: 11, .init(loss: loss, jitter: { _ in 10 }))
    let sender = try AudioWorld.sender(AudioWorld.opus, options: .init(bitrate: 24000))
    sender.expectedLoss = expectedLoss
    try world.run(15_000, from: sender, to: AudioWorld.receiver(), keep: false) {
      Sound.vowel(pitch: 110 + $0 / 960 % 7 * 10, level: $0 / 960 % 15 < 12 ? 0.4 : 0.001, count: $1)
    }
    return world.course
  }

  @Test(arguments: [0.05, 0.1])
  func redundancyOfOpusRecoversMostOfWhatIsLost(loss: Double) throws {
    let with = try Self.opus(loss: loss, expectedLoss: loss * 2)
    let without = try Self.opus(loss: loss, expectedLoss: 0)
    #expect(with.info.recoveredCount > with.lost * 960 / 2, "\(with.info) \(with.lost)")
    #expect(with.info.concealedCount < without.info.concealedCount * 6 / 10, "\(with.info) \(without.info)")
    #expect(without.info.recoveredCount == 0, "nothing was sent twice, so nothing is said to be recovered")
  }

  @Test func silenceThatOpusLeavesOutIsNoLoss() throws {
    var world = AudioWorld(seed: 12, .init(jitter: { _ in 5 }))
    let receiver = AudioWorld.receiver()
    let sender = try AudioWorld.sender(AudioWorld.opus)
    try world.run(2000, from: sender, to: receiver) { Sound.vowel(pitch: 120, from: $0, count: $1) }
    try world.run(4000, from: sender, to: receiver) { _, _ in nil }
    try world.run(1000, from: sender, to: receiver) { Sound.vowel(pitch: 120, from: $0, count: $1) }
    let course = world.course
    #expect(course.packets < 7000 / 20 - 100, "\(course.packets)")
    #expect(course.info.concealedCount == 0 && course.info.restingCount > 48000, "\(course.info)")
    #expect(Sound.rms(course.milliseconds(3500..<5900)) < 0.003)
    #expect(Sound.rms(course.milliseconds(6300..<7000)) > 0.05)
  }
}
