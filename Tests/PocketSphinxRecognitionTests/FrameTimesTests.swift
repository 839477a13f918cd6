import Testing

@testable import PocketSphinxRecognition

struct FrameTimesTests {
  @Test func withoutFramesEverythingIsAtTheStart() {
    let times = FrameTimes()
    #expect(times.audioFrame(of: 0) == 0)
    #expect(times.audioFrame(of: 100) == 0)
  }

  @Test func countsFromTheFirstRun() {
    var times = FrameTimes()
    times.passed(20, from: 30)
    times.passed(8, from: 50)
    #expect(times.decoderFrameCount == 28)
    #expect(times.audioFrame(of: 0) == 30)
    #expect(times.audioFrame(of: 27) == 57)
    #expect(times.audioFrame(of: -3) == 30)
  }

  @Test func jumpsOverSilence() {
    var times = FrameTimes()
    times.passed(10, from: 5)
    times.passed(0, from: 90)
    times.passed(10, from: 200)
    times.passed(10, from: 500)
    #expect([9, 10, 19, 20, 29].map(times.audioFrame(of:)) == [14, 200, 209, 500, 509])
  }
}
