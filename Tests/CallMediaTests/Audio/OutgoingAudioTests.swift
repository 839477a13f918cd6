import Testing

@testable import CallMedia

struct OutgoingAudioTests {
  @Test func givesSilenceWhileNothingIsToBeSaid() {
    var audio = OutgoingAudio()
    audio.wayChanged(isOpen: true)
    var frame: [Int16] = [1]
    let hadAudio = audio.take(4, into: &frame)
    #expect(!hadAudio)
    #expect(frame == [0, 0, 0, 0])
  }

  @Test func givesSamplesInOrderAndFillsTheLastFrameWithSilence() {
    var audio = OutgoingAudio()
    audio.wayChanged(isOpen: true)
    #expect(audio.offered([1, 2, 3]) == .taken)
    #expect(audio.offered([4, 5]) == .taken)
    var frames: [[Int16]] = []
    for _ in 0..<3 {
      var frame: [Int16] = []
      _ = audio.take(2, into: &frame)
      frames.append(frame)
    }
    #expect(frames == [[1, 2], [3, 4], [5, 0]])
  }

  @Test func asksAWriterThatIsAheadToWait() {
    var audio = OutgoingAudio()
    audio.wayChanged(isOpen: true)
    #expect(audio.offered([Int16](repeating: 1, count: OutgoingAudio.capacity)[...]) == .taken)
    #expect(audio.offered([1]) == .full)
    var frame: [Int16] = []
    _ = audio.take(960, into: &frame)
    #expect(audio.offered([1]) == .taken)
  }

  @Test func dropsTheOldestOfALiveSourceThatIsTooFast() {
    var audio = OutgoingAudio()
    audio.wayChanged(isOpen: true)
    let samples = (0..<OutgoingAudio.liveLimit + 1).map { Int16($0 % 30_000) }
    audio.offeredLive(samples[...])
    #expect(audio.count == OutgoingAudio.liveLimit / 2)
    #expect(audio.dropped == Int64(OutgoingAudio.liveLimit / 2 + 1))
    var frame: [Int16] = []
    _ = audio.take(1, into: &frame)
    #expect(frame == [samples[OutgoingAudio.liveLimit / 2 + 1]])
  }

  @Test func keepsOrderOverAnHour() {
    var audio = OutgoingAudio()
    audio.wayChanged(isOpen: true)
    var next: Int16 = 0
    var expected: Int16 = 0
    for _ in 0..<180_000 {
      audio.offeredLive([next, next &+ 1, next &+ 2][...])
      next &+= 3
      var frame: [Int16] = []
      _ = audio.take(3, into: &frame)
      guard frame == [expected, expected &+ 1, expected &+ 2] else {
        Issue.record("\(frame) at \(expected)")
        return
      }
      expected &+= 3
    }
  }

  @Test func takesNothingAfterTheEndOfTheCall() {
    var audio = OutgoingAudio()
    audio.wayChanged(isOpen: true)
    audio.close()
    #expect(audio.offered([1]) == .closed)
    audio.offeredLive([1])
    #expect(audio.count == 0)
  }

  @Test(arguments: [false, true]) func keepsAWritersSamplesUntilTheyCanBeHeard(_ wasConnected: Bool) {
    var audio = OutgoingAudio()
    if wasConnected {
      audio.wayChanged(isOpen: true)
      audio.wayChanged(isOpen: false)
    }
    #expect(audio.offered([1, 2]) == .taken)
    var frame: [Int16] = []
    let hadAudio = audio.take(2, into: &frame)
    #expect(!hadAudio)
    #expect(frame == [0, 0])
    audio.wayChanged(isOpen: true)
    _ = audio.take(2, into: &frame)
    #expect(frame == [1, 2])
  }

  @Test func aLiveSourceIsNeitherKeptBeforeTheCallNorWhileItIsInterrupted() {
    var audio = OutgoingAudio()
    audio.offeredLive([1, 2])
    #expect(audio.count == 0)
    audio.wayChanged(isOpen: true)
    audio.wayChanged(isOpen: false)
    audio.offeredLive([3, 4])
    var frame: [Int16] = []
    _ = audio.take(2, into: &frame)
    #expect(frame == [3, 4])
    #expect(audio.dropped == 0)
  }

  /// A live source that nobody took from kept all that it had dropped: 6 MB in a minute.
  @Test func keepsTheStorageOfALiveSourceSmall() {
    var audio = OutgoingAudio()
    audio.wayChanged(isOpen: true)
    let second = [Int16](repeating: 1, count: 48_000)
    for _ in 0..<60 { audio.offeredLive(second[...]) }
    #expect(audio.stored <= 5 * OutgoingAudio.capacity + second.count)
    #expect(audio.dropped + Int64(audio.count) == 60 * 48_000)
  }

  @Test func knowsWhatWasNotSentAtTheEnd() {
    var audio = OutgoingAudio()
    audio.wayChanged(isOpen: true)
    #expect(audio.offered([1, 2, 3]) == .taken)
    #expect(audio.unsentAtEnd == nil)
    var frame: [Int16] = []
    _ = audio.take(1, into: &frame)
    audio.close()
    audio.close()
    #expect(audio.unsentAtEnd == 2)
    audio.wayChanged(isOpen: true)
    #expect(audio.isClosed)
  }
}
