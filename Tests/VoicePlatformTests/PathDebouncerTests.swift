import Testing
import VoiceCore

@testable import VoicePlatform

struct PathDebouncerTests {
  private let offline = NetworkPath(interfaces: [])
  private let wired = NetworkPath(interfaces: [.init(name: "eth0", addresses: ["10.0.0.2"])])
  private let wireless = NetworkPath(interfaces: [.init(name: "wlan0", addresses: ["10.0.1.2"])])

  @Test func theFirstPathIsNoChange() {
    var debouncer = PathDebouncer()
    #expect(debouncer.changed(to: self.wired, at: at(0)) == .none)
    #expect(debouncer.published == self.wired)
    #expect(debouncer.changed(to: self.wired, at: at(10)) == .none)
  }

  @Test func tellsAChangeAfterTheQuiet() {
    var debouncer = self.settled()
    #expect(debouncer.changed(to: self.wireless, at: at(1_000)) == .startTimer(at(1_250)))
    #expect(debouncer.timerFired(at: at(1_250)) == .publish(self.wireless))
    #expect(debouncer.timerFired(at: at(1_300)) == .none)
  }

  @Test func waitsForQuietWhileThingsChange() {
    var debouncer = self.settled()
    #expect(debouncer.changed(to: self.offline, at: at(1_000)) == .startTimer(at(1_250)))
    #expect(debouncer.changed(to: self.wireless, at: at(1_200)) == .none)
    #expect(debouncer.timerFired(at: at(1_250)) == .startTimer(at(1_450)))
    #expect(debouncer.timerFired(at: at(1_450)) == .publish(self.wireless))
  }

  @Test func aShortInterruptionIsNoChange() {
    var debouncer = self.settled()
    _ = debouncer.changed(to: self.offline, at: at(1_000))
    _ = debouncer.changed(to: self.wired, at: at(1_100))
    #expect(debouncer.timerFired(at: at(1_350)) == .none)
    #expect(debouncer.published == self.wired)
  }

  @Test func aNetworkThatNeverRestsIsToldInTheEnd() {
    var debouncer = self.settled()
    _ = debouncer.changed(to: self.offline, at: at(0))
    for time in stride(from: 200, through: 2_000, by: 200) {
      _ = debouncer.changed(to: time % 400 == 0 ? self.offline : self.wireless, at: at(time))
    }
    #expect(debouncer.timerFired(at: at(1_999)) == .startTimer(at(2_000)))
    #expect(debouncer.timerFired(at: at(2_000)) == .publish(self.offline))
  }

  private func settled() -> PathDebouncer {
    var debouncer = PathDebouncer()
    _ = debouncer.changed(to: self.wired, at: at(0))
    return debouncer
  }

  private func at(_ milliseconds: Int) -> VoiceInstant {
    VoiceInstant(offset: .milliseconds(milliseconds))
  }
}
