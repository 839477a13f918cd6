import ArgumentParser
import CallSignaling
import Calls
import Foundation
import VoiceCore

/// Which gateway, and who logs in there.
struct GatewayOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The gateway (default: VOICE_CALLS_SERVER, else ws://127.0.0.1:8080/calls).", valueName: "url"))
  var server: String?

  @Option(help: ArgumentHelp("The user (default: alice).", valueName: "name"))
  var user: String?

  @Option(help: ArgumentHelp("The password (default: VOICE_PASSWORD).", valueName: "text"))
  var password: String?

  @Option(
    help: ArgumentHelp("A token in place of user and password (default: VOICE_TOKEN).", valueName: "jwt"))
  var token: String?

  @Flag(help: "The gateway is FreeSWITCH (verto).")
  var verto = false

  /// Whether anything was said of the gateway or of who logs in.
  var namesSomebody: Bool {
    self.server != nil || self.user != nil || self.password != nil || self.token != nil || self.verto
  }

  /// - Parameter relayOnly: Whether audio goes through relays only.
  func configuration(in context: CommandContext, relayOnly: Bool = false) -> TxConfig {
    var config: TxConfig
    if self.user == nil, let token = self.token ?? context.environment["VOICE_TOKEN"] {
      config = TxConfig(token: token, debug: true, forceRelayCandidate: relayOnly)
    } else {
      config = TxConfig(
        sipUser: self.user ?? "alice", password: self.password ?? context.environment["VOICE_PASSWORD"] ?? "",
        debug: true, forceRelayCandidate: relayOnly)
    }
    if self.verto { config.dialect = .verto }
    return config
  }

  func serverConfiguration(in context: CommandContext) throws(VoiceFailure) -> TxServerConfiguration {
    let text = self.server ?? context.environment["VOICE_CALLS_SERVER"] ?? "ws://127.0.0.1:8080/calls"
    guard let url = URL(string: text), url.scheme == "ws" || url.scheme == "wss" else {
      throw VoiceFailure(
        .addressInvalid,
        message: "The gateway's address begins with ws:// or wss://, as ws://127.0.0.1:8080/calls.")
    }
    return TxServerConfiguration(signalingServer: url)
  }
}
