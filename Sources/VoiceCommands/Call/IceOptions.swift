import ArgumentParser
import CallMedia
import Calls
import VoiceCore

/// How the audio of calls gets through firewalls.
struct IceOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "A STUN or TURN server, such as turn:turn.example.org:3478?transport=tcp; may be repeated.",
      valueName: "url"))
  var iceServer: [String] = []

  @Option(help: ArgumentHelp("The user for all TURN servers.", valueName: "name"))
  var iceUser: String?

  @Option(
    help: ArgumentHelp("The password for all TURN servers (default: VOICE_ICE_PASSWORD).", valueName: "text"))
  var icePassword: String?

  @Flag(help: "Send audio through TURN servers only.")
  var relayOnly = false

  func validate() throws {
    if self.iceServer.isEmpty, self.iceUser != nil || self.icePassword != nil {
      throw ValidationError("--ice-user and --ice-password are for TURN servers: give --ice-server as well.")
    }
  }

  /// The servers that help audio through firewalls.
  ///
  /// - Throws: ``VoiceFailure`` `network.address.invalid`.
  func iceServers(in context: CommandContext) throws(VoiceFailure) -> [TxIceServer] {
    var servers: [TxIceServer] = []
    for url in self.iceServer {
      let address = try IceServerAddress(url)
      servers.append(
        TxIceServer(
          urls: [url], username: address.isRelay ? self.iceUser : nil,
          credential: address.isRelay ? self.icePassword ?? context.environment["VOICE_ICE_PASSWORD"] : nil))
    }
    return servers
  }
}
