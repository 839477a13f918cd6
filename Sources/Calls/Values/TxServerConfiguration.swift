public import Foundation
import VoiceWebSocket

/// Where the gateway is, and which servers help media through firewalls (telnyx.md section 1.4).
///
/// The address is kept whole, with scheme, port, path and query, also when the client connects again.
public struct TxServerConfiguration: Hashable, Sendable {
  /// The gateway.
  public var signalingServer: URL
  /// STUN and TURN servers.
  public var webRTCIceServers: [TxIceServer]
  /// Which of the vendor's installations is meant.
  public var environment: WebRTCEnvironment
  /// What a push message said about a call, if one woke the app.
  public var pushMetaData: [String: String]?
  /// Where the vendor's gateway is; without meaning with an address of one's own.
  public var region: Region

  /// Creates a configuration.
  ///
  /// - Parameters:
  ///   - signalingServer: The gateway, such as `ws://127.0.0.1:8080/calls`; by default the vendor's.
  ///   - webRTCIceServers: STUN and TURN servers; by default the vendor's with the vendor's gateway, else none.
  ///   - environment: Which of the vendor's installations is meant.
  ///   - pushMetaData: What a push message said; `voice_sdk_id` leads to the gateway that has the call.
  ///   - region: Where the vendor's gateway is.
  public init(
    signalingServer: URL? = nil, webRTCIceServers: [TxIceServer]? = nil,
    environment: WebRTCEnvironment = .production, pushMetaData: [String: String]? = nil,
    region: Region = .auto
  ) {
    self.signalingServer = signalingServer ?? Self.vendorServer(environment, region)
    self.webRTCIceServers =
      webRTCIceServers ?? (signalingServer == nil ? Self.vendorIceServers(environment) : [])
    self.environment = environment
    self.pushMetaData = pushMetaData
    self.region = region
  }

  /// The routing token that a push message brought.
  var voiceSDKID: String? { self.pushMetaData?["voice_sdk_id"] }

  /// The address to dial, with the routing token of the last connection or of a push message.
  ///
  /// - Throws: ``WebSocketFailure/addressInvalid(_:)``.
  func address(voiceSDKID: String?) throws(WebSocketFailure) -> WebSocketAddress {
    var address = try WebSocketAddress(self.signalingServer.absoluteString)
    guard let id = voiceSDKID, let value = id.addingPercentEncoding(withAllowedCharacters: .alphanumerics)
    else {
      return address
    }
    let rest = (address.query ?? "").split(separator: "&").filter { !$0.hasPrefix("voice_sdk_id=") }
    address.query = (rest.map(String.init) + ["voice_sdk_id=\(value)"]).joined(separator: "&")
    return address
  }

  private static func vendorServer(_ environment: WebRTCEnvironment, _ region: Region) -> URL {
    let host =
      switch environment {
      case .production: "rtc.telnyx.com"
      case .development: "rtcdev.telnyx.com"
      }
    var components = URLComponents()
    components.scheme = "wss"
    components.host = region == .auto ? host : "\(region.rawValue).\(host)"
    // Never nil: the parts are constants. The address of nothing fails by name when it is dialed.
    return components.url ?? URL(fileURLWithPath: "/")
  }

  private static func vendorIceServers(_ environment: WebRTCEnvironment) -> [TxIceServer] {
    // Public constants of the vendor (telnyx.md section 1.4).
    func turn(_ url: String) -> TxIceServer {
      TxIceServer(urls: [url], username: "testuser", credential: "testpassword")
    }
    let domain =
      switch environment {
      case .production: "telnyx.com"
      case .development: "telnyx.com"
      }
    var servers = [
      TxIceServer(urls: ["stun:stun.\(domain):3478"]), TxIceServer(urls: ["stun:stun.l.google.com:19302"]),
      turn("turn:turn.\(domain):3478?transport=udp"), turn("turn:turn.\(domain):3478?transport=tcp"),
      turn("turns:turn.\(domain):443?transport=tcp"),
    ]
    if environment == .production { servers.append(turn("turns:turn2.\(domain):443?transport=tcp")) }
    return servers
  }
}
