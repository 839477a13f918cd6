import Testing

@testable import CallMedia

struct OutgoingAudioTests {
  @Test func givesSilenceWhileNothingIsToBeSaid() {
    var audio = OutgoingAudio()
    var frame: [Int16] = [1]
    let hadAudio = audio.take(4, into: &frame)
    #expect(!hadAudio)
    #expect(frame == [0, 0, 0, 0])
  }

  @Test func givesSamplesInOrderAndFillsTheLastFrameWithSilence() {
    var audio = OutgoingAudio()
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
    #expect(audio.offered([Int16](repeating: 1, count: OutgoingAudio.capacity)[...]) == .taken)
    #expect(audio.offered([1]) == .full)
    var frame: [Int16] = []
    _ = audio.take(960, into: &frame)
    #expect(audio.offered([1]) == .taken)
  }

  @Test func dropsTheOldestOfALiveSourceThatIsTooFast() {
    var audio = OutgoingAudio()
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
    audio.close()
    #expect(audio.offered([1]) == .closed)
    audio.offeredLive([1])
    #expect(audio.count == 0)
  }
}
