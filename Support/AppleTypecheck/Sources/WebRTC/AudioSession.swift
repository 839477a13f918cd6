public import AVFoundation
public import Foundation

public class RTCAudioSession: NSObject {
  public var useManualAudio: Bool {
    get { StubWebRTC.shared.usesManualAudio }
    set { StubWebRTC.shared.usesManualAudio = newValue }
  }
  public var isAudioEnabled: Bool {
    get { StubWebRTC.shared.isAudioEnabled }
    set { StubWebRTC.shared.isAudioEnabled = newValue }
  }

  public class func sharedInstance() -> RTCAudioSession { RTCAudioSession() }

  public func audioSessionDidActivate(_ session: AVAudioSession) {
    StubWebRTC.shared.isSessionActive = true
  }

  public func audioSessionDidDeactivate(_ session: AVAudioSession) {
    StubWebRTC.shared.isSessionActive = false
  }

  override init() {}
}
