public import Foundation

@discardableResult
public func RTCInitializeSSL() -> Bool { true }

// A block type; that the framework calls it on its own threads makes it Sendable.
public typealias RTCCreateSessionDescriptionCompletionHandler =
  @Sendable (RTCSessionDescription?, (any Error)?) -> Void
public typealias RTCSetSessionDescriptionCompletionHandler = @Sendable ((any Error)?) -> Void
public typealias RTCStatisticsCompletionHandler = @Sendable (RTCStatisticsReport) -> Void

public protocol RTCPeerConnectionDelegate: NSObjectProtocol {
  func peerConnection(_ peerConnection: RTCPeerConnection, didChange stateChanged: RTCSignalingState)
  func peerConnection(_ peerConnection: RTCPeerConnection, didAdd stream: RTCMediaStream)
  func peerConnection(_ peerConnection: RTCPeerConnection, didRemove stream: RTCMediaStream)
  func peerConnectionShouldNegotiate(_ peerConnection: RTCPeerConnection)
  func peerConnection(_ peerConnection: RTCPeerConnection, didChange newState: RTCIceConnectionState)
  func peerConnection(_ peerConnection: RTCPeerConnection, didChange newState: RTCIceGatheringState)
  func peerConnection(_ peerConnection: RTCPeerConnection, didGenerate candidate: RTCIceCandidate)
  func peerConnection(_ peerConnection: RTCPeerConnection, didRemove candidates: [RTCIceCandidate])
  func peerConnection(_ peerConnection: RTCPeerConnection, didOpen dataChannel: RTCDataChannel)

  // These are optional there. A default here would let a misspelt method pass unnoticed.
  func peerConnection(
    _ peerConnection: RTCPeerConnection,
    didChangeStandardizedIceConnectionState newState: RTCIceConnectionState)
  func peerConnection(_ peerConnection: RTCPeerConnection, didChange newState: RTCPeerConnectionState)
  func peerConnection(
    _ peerConnection: RTCPeerConnection, didFailToGatherIceCandidate event: RTCIceCandidateErrorEvent)
}

public class RTCPeerConnectionFactory: NSObject {
  public override init() {}

  public func audioSource(with constraints: RTCMediaConstraints?) -> RTCAudioSource { RTCAudioSource() }

  public func audioTrack(with source: RTCAudioSource, trackId: String) -> RTCAudioTrack { RTCAudioTrack() }

  public func peerConnection(
    with configuration: RTCConfiguration, constraints: RTCMediaConstraints,
    delegate: (any RTCPeerConnectionDelegate)?
  ) -> RTCPeerConnection? {
    let urls = configuration.iceServers.flatMap(\.urlStrings)
    guard urls.allSatisfy({ $0.hasPrefix("stun:") || $0.hasPrefix("turn:") || $0.hasPrefix("turns:") }) else {
      return nil
    }
    let connection = RTCPeerConnection(configuration, delegate: delegate)
    StubWebRTC.shared.made(connection)
    return connection
  }
}

public class RTCPeerConnection: NSObject {
  public weak var delegate: (any RTCPeerConnectionDelegate)?
  public var localDescription: RTCSessionDescription? {
    self.stub.localText.map { RTCSessionDescription(type: .offer, sdp: $0) }
  }
  public let receivers = [RTCRtpReceiver(track: RTCAudioTrack())]

  package let configuration: RTCConfiguration
  package let stub = StubConnection()
  package private(set) var tracks: [RTCMediaStreamTrack] = []

  init(_ configuration: RTCConfiguration, delegate: (any RTCPeerConnectionDelegate)?) {
    self.configuration = configuration
    self.delegate = delegate
    super.init()
    self.stub.connection = self
  }

  public func add(_ track: RTCMediaStreamTrack, streamIds: [String]) -> RTCRtpSender? {
    self.tracks.append(track)
    return RTCRtpSender()
  }

  public func restartIce() { self.stub.did("restart ICE") }

  public func offer(
    for constraints: RTCMediaConstraints,
    completionHandler: @escaping RTCCreateSessionDescriptionCompletionHandler
  ) {
    self.stub.perform("make offer") { error in
      completionHandler(
        error == nil ? RTCSessionDescription(type: .offer, sdp: StubWebRTC.description) : nil, error)
    }
  }

  public func answer(
    for constraints: RTCMediaConstraints,
    completionHandler: @escaping RTCCreateSessionDescriptionCompletionHandler
  ) {
    self.stub.perform("make answer") { error in
      completionHandler(
        error == nil ? RTCSessionDescription(type: .answer, sdp: StubWebRTC.description) : nil, error)
    }
  }

  public func setLocalDescription(
    _ sdp: RTCSessionDescription,
    completionHandler: @escaping RTCSetSessionDescriptionCompletionHandler
  ) {
    let (stub, text) = (self.stub, sdp.sdp)
    stub.perform("set local \(sdp.type)") { error in
      if error == nil { stub.localText = text }
      completionHandler(error)
      if StubWebRTC.shared.gathers { stub.gather() }
    }
  }

  public func setRemoteDescription(
    _ sdp: RTCSessionDescription,
    completionHandler: @escaping RTCSetSessionDescriptionCompletionHandler
  ) {
    self.stub.perform("set remote \(sdp.type)", completionHandler)
  }

  public func add(
    _ candidate: RTCIceCandidate, completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    self.stub.perform("add \(candidate.sdp)", completionHandler)
  }

  public func statistics(completionHandler: @escaping RTCStatisticsCompletionHandler) {
    self.stub.perform("measure") { _ in completionHandler(StubWebRTC.shared.report()) }
  }

  public func close() { self.stub.did("close") }
}
