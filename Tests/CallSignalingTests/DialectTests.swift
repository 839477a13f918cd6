import Testing

@testable import CallSignaling

@Suite struct DialectTests {
  @Test(arguments: [
    ("telnyx_rtc.invite", Method.invite, Dialect?.some(.telnyx)), ("verto.invite", .invite, .verto),
    ("login", .login, nil), ("telnyx_rtc.ringing_ack", .ringingAck, .telnyx),
  ])
  func aMethodIsReadInEitherDialect(_ name: String, _ method: Method, _ dialect: Dialect?) {
    let read = Method.read(name)
    #expect(read.0 == method)
    #expect(read.1 == dialect)
  }

  @Test func aMethodThatIsNotKnownKeepsItsName() {
    #expect(Method.read("telnyx_rtc.levitate").0 == .unknown("telnyx_rtc.levitate"))
  }
}
