#if canImport(WebRTC)
  import Calls
  import Foundation
  import WebRTC

  /// Tells what a connection of the framework tells, without its types; called on the framework's signalling thread.
  final class FrameworkDelegate: NSObject, RTCPeerConnectionDelegate {
    private let tell: @Sendable (ConnectionEvent) -> Void

    init(_ tell: @escaping @Sendable (ConnectionEvent) -> Void) {
      self.tell = tell
    }

    func peerConnection(_ peerConnection: RTCPeerConnection, didChange newState: RTCPeerConnectionState) {
      switch newState {
      case .new: self.tell(.stateChanged(.new))
      case .connecting: self.tell(.stateChanged(.connecting))
      case .connected: self.tell(.stateChanged(.connected))
      case .disconnected: self.tell(.stateChanged(.disconnected))
      case .failed: self.tell(.stateChanged(.failed))
      case .closed: self.tell(.stateChanged(.closed))
      @unknown default: break
      }
    }

    // The other one, without "standardized", is connected only after the handshake, so that it cannot tell which of both failed.
    func peerConnection(
      _ peerConnection: RTCPeerConnection,
      didChangeStandardizedIceConnectionState newState: RTCIceConnectionState
    ) {
      switch newState {
      case .new: self.tell(.iceStateChanged(.new))
      case .checking: self.tell(.iceStateChanged(.checking))
      case .connected: self.tell(.iceStateChanged(.connected))
      case .completed: self.tell(.iceStateChanged(.completed))
      case .disconnected: self.tell(.iceStateChanged(.disconnected))
      case .failed: self.tell(.iceStateChanged(.failed))
      case .closed: self.tell(.iceStateChanged(.closed))
      case .count: break
      @unknown default: break
      }
    }

    func peerConnection(_ peerConnection: RTCPeerConnection, didChange newState: RTCIceGatheringState) {
      if newState == .complete { self.tell(.gatheringEnded) }
    }

    func peerConnection(_ peerConnection: RTCPeerConnection, didGenerate candidate: RTCIceCandidate) {
      self.tell(
        .candidateFound(
          MediaCandidate(
            line: candidate.sdp, sdpMid: candidate.sdpMid, sdpMLineIndex: Int(candidate.sdpMLineIndex))))
    }

    func peerConnection(
      _ peerConnection: RTCPeerConnection, didFailToGatherIceCandidate event: RTCIceCandidateErrorEvent
    ) {
      self.tell(.serverFailed(url: event.url, code: Int(event.errorCode)))
    }

    // What the framework demands to be there, and what says nothing that is not known by then.

    func peerConnection(_ peerConnection: RTCPeerConnection, didChange stateChanged: RTCSignalingState) {}

    func peerConnection(_ peerConnection: RTCPeerConnection, didChange newState: RTCIceConnectionState) {}

    func peerConnection(_ peerConnection: RTCPeerConnection, didAdd stream: RTCMediaStream) {}

    func peerConnection(_ peerConnection: RTCPeerConnection, didRemove stream: RTCMediaStream) {}

    func peerConnectionShouldNegotiate(_ peerConnection: RTCPeerConnection) {}

    func peerConnection(_ peerConnection: RTCPeerConnection, didRemove candidates: [RTCIceCandidate]) {}

    func peerConnection(_ peerConnection: RTCPeerConnection, didOpen dataChannel: RTCDataChannel) {}
  }
#endif
