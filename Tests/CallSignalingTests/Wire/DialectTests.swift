import Testing

@testable import CallSignaling

@Suite struct DialectTests {
  @Test(arguments: [
    ("telnyx_rtc.invite", SignalingMethod.invite, Dialect?.some(.telnyx)), ("verto.invite", .invite, .verto),
    ("login", .login, nil), ("telnyx_rtc.ringing_ack", .ringingAck, .telnyx),
  ])
  func aMethodIsReadInEitherDialect(_ name: String, _ method: SignalingMethod, _ dialect: Dialect?) {
    let read = SignalingMethod.read(name)
    #expect(read.0 == method)
    #expect(read.1 == dialect)
  }

  @Test func aMethodThatIsNotKnownKeepsItsName() {
    #expect(SignalingMethod.read("telnyx_rtc.levitate").0 == .unknown("telnyx_rtc.levitate"))
  }
}
