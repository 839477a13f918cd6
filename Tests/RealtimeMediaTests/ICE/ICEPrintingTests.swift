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

  @Test func showsNoPasswordOfWhatIsNegotiated() throws {
    func transport(_ fragment: String, password: String) -> AudioNegotiator.Transport {
      .init(
        iceUserFragment: fragment, icePassword: password,
        fingerprint: CertificateFingerprint(function: "sha-256", bytes: Array(repeating: 1, count: 32)))
    }
    func negotiator() -> AudioNegotiator {
      AudioNegotiator(source: .init(ssrc: 1, cname: "c", track: "t"), sessionID: 1)
    }
    let (mine, theirs) = ("hunter2-of-this-side-here", "hunter2-of-the-other-side")
    var (one, other) = (negotiator(), negotiator())
    let offer = try one.makeOffer(.sendAndReceive, transport: transport("mine", password: mine))
    let (answer, audio) = try other.receivedOffer(offer, transport: transport("they", password: theirs))
    let open = one
    let agreed = try one.receivedAnswer(answer)
    #expect(audio.remote.icePassword == mine && agreed.remote.icePassword == theirs)
    let values: [Any] = [transport("mine", password: mine), audio, audio.remote, open, one, other]
    for value in values {
      for text in Self.texts(value) { #expect(!text.contains("hunter2"), "\(type(of: value))") }
    }
    #expect("\(audio.remote)".contains("mine"))
  }
}
