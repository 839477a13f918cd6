public import Foundation

public enum RTCSignalingState: Int, Sendable {
  case stable, haveLocalOffer, haveLocalPrAnswer, haveRemoteOffer, haveRemotePrAnswer, closed
}

public enum RTCIceConnectionState: Int, Sendable {
  case new, checking, connected, completed, failed, disconnected, closed, count
}

public enum RTCPeerConnectionState: Int, Sendable {
  case new, connecting, connected, disconnected, failed, closed
}

public enum RTCIceGatheringState: Int, Sendable {
  case new, gathering, complete
}

public enum RTCSdpType: Int, Sendable {
  case offer, prAnswer, answer, rollback
}

public enum RTCSdpSemantics: Int, Sendable {
  case planB, unifiedPlan
}

public enum RTCBundlePolicy: Int, Sendable {
  case balanced, maxCompat, maxBundle
}

public enum RTCRtcpMuxPolicy: Int, Sendable {
  case negotiate, require
}

public enum RTCTcpCandidatePolicy: Int, Sendable {
  case enabled, disabled
}

public enum RTCContinualGatheringPolicy: Int, Sendable {
  case gatherOnce, gatherContinually
}

public enum RTCIceTransportPolicy: Int, Sendable {
  case none, relay, noHost, all
}

public class RTCConfiguration: NSObject {
  public var iceServers: [RTCIceServer] = []
  public var iceTransportPolicy = RTCIceTransportPolicy.all
  public var bundlePolicy = RTCBundlePolicy.balanced
  public var rtcpMuxPolicy = RTCRtcpMuxPolicy.require
  public var tcpCandidatePolicy = RTCTcpCandidatePolicy.enabled
  public var continualGatheringPolicy = RTCContinualGatheringPolicy.gatherOnce
  public var sdpSemantics = RTCSdpSemantics.unifiedPlan

  public override init() {}
}

public class RTCIceServer: NSObject {
  public let urlStrings: [String]
  public let username: String?
  public let credential: String?

  public init(urlStrings: [String], username: String?, credential: String?) {
    self.urlStrings = urlStrings
    self.username = username
    self.credential = credential
  }
}

public class RTCMediaConstraints: NSObject {
  public init(mandatoryConstraints: [String: String]?, optionalConstraints: [String: String]?) {}
}

public class RTCSessionDescription: NSObject {
  public let type: RTCSdpType
  public let sdp: String

  public init(type: RTCSdpType, sdp: String) {
    self.type = type
    self.sdp = sdp
  }
}

public class RTCIceCandidate: NSObject {
  public let sdpMid: String?
  public let sdpMLineIndex: Int32
  public let sdp: String

  public init(sdp: String, sdpMLineIndex: Int32, sdpMid: String?) {
    self.sdp = sdp
    self.sdpMLineIndex = sdpMLineIndex
    self.sdpMid = sdpMid
  }
}

public class RTCIceCandidateErrorEvent: NSObject {
  public let url: String
  public let errorCode: Int32

  package init(url: String, errorCode: Int32) {
    self.url = url
    self.errorCode = errorCode
  }
}

public class RTCStatistics: NSObject {
  public let type: String
  public let values: [String: NSObject]

  package init(type: String, values: [String: NSObject]) {
    self.type = type
    self.values = values
  }
}

public class RTCStatisticsReport: NSObject {
  public let statistics: [String: RTCStatistics]

  package init(_ statistics: [String: RTCStatistics]) {
    self.statistics = statistics
  }
}

public class RTCAudioSource: NSObject {
  override init() {}
}

public class RTCMediaStream: NSObject {}

public class RTCDataChannel: NSObject {}

public class RTCMediaStreamTrack: NSObject {
  public var isEnabled = true

  override init() {}
}

public class RTCAudioTrack: RTCMediaStreamTrack {}

public class RTCRtpSender: NSObject {
  override init() {}
}

public class RTCRtpReceiver: NSObject {
  public var track: RTCMediaStreamTrack?

  init(track: RTCMediaStreamTrack) {
    self.track = track
  }
}
