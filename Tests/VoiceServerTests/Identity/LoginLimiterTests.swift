import Testing
import VoiceCore

@testable import VoiceServer

@Suite struct LoginLimiterTests {
  static let start = VoiceInstant()

  @Test func refusesWhatIsTooMuchAndSaysHowLongToWait() {
    var limiter = LoginLimiter(perSecond: 2)
    for _ in 0..<20 { #expect(limiter.login(from: "a", at: Self.start) == nil) }
    #expect(limiter.login(from: "a", at: Self.start) == .milliseconds(500))
    #expect(limiter.login(from: "a", at: Self.start.advanced(by: .milliseconds(499))) != nil)
    #expect(limiter.login(from: "a", at: Self.start.advanced(by: .milliseconds(501))) == nil)
  }

  @Test func oneAddressDoesNotDisturbAnother() {
    var limiter = LoginLimiter(perSecond: 1)
    for _ in 0..<20 { _ = limiter.login(from: "a", at: Self.start) }
    #expect(limiter.login(from: "b", at: Self.start) == nil)
  }

  @Test func timeThatGoesBackGivesNothing() {
    var limiter = LoginLimiter(perSecond: 1)
    let later = Self.start.advanced(by: .seconds(100))
    for _ in 0..<10 { #expect(limiter.login(from: "a", at: later) == nil) }
    #expect(limiter.login(from: "a", at: Self.start) != nil)
  }

  @Test func theTableStaysSmall() {
    var limiter = LoginLimiter(perSecond: 1, capacity: 8)
    for index in 0..<1000 {
      _ = limiter.login(from: "\(index)", at: Self.start.advanced(by: .milliseconds(index)))
      #expect(limiter.addressCount <= 8)
    }
  }
}
