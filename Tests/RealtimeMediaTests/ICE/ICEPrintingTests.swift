import RealtimeMedia
import Testing
import VoiceCore

/// What is printed, logged or dumped.
@Suite struct ICEPrintingTests {
  private static func texts(_ value: Any) -> [String] {
    var dumped = ""
    dump(value, to: &dumped)
    return [String(describing: value), String(reflecting: value), "\([value])", dumped]
  }

  @Test func showsNoPassword() {
    let server = ICEAgent.Server(
      .turn, TransportAddress(.v4(1), port: 3478), transport: .tls, username: "ann", password: "hunter2")
    var configuration = AudioConnection.Configuration()
    configuration.ice.servers = [server]
    let values: [Any] = [
      server, configuration, ICEAgent.Configuration(servers: [server]),
      ICEAgent.Credentials(userFragment: "frag", password: "hunter2"),
      AudioConnection.Event.warned(.serverUnreachable(server)),
      ICEAgent.Output.openStream(.init(rawValue: 1), server),
      TURNClient.Configuration(username: "ann", password: "hunter2"),
      TURNClient(
        configuration: .init(username: "ann", password: "hunter2"), random: SystemRandomNumberGenerator()),
    ]
    for value in values {
      for text in Self.texts(value) { #expect(!text.contains("hunter2"), "\(type(of: value))") }
    }
    #expect("\(server)".contains("0.0.0.1:3478"))
  }
}
