package import Foundation

/// What tests make the declared framework do, and see of it. One test at a time.
// @unchecked: everything is behind the lock.
package final class StubWebRTC: @unchecked Sendable {
  package static let shared = StubWebRTC()

  /// A description as the framework makes it, as far as anybody here reads it.
  package static let description =
    [
      "v=0", "o=- 1 2 IN IP4 127.0.0.1", "s=-", "t=0 0", "m=audio 9 UDP/TLS/RTP/SAVPF 111 0 8 110",
      "c=IN IP4 0.0.0.0", "a=ice-ufrag:abcd", "a=mid:0", "a=rtpmap:111 opus/48000/2", "a=rtpmap:0 PCMU/8000",
      "a=rtpmap:8 PCMA/8000", "a=rtpmap:110 telephone-event/48000",
    ].joined(separator: "\r\n") + "\r\n"

  private let lock = NSRecursiveLock()
  private var theConnections: [RTCPeerConnection] = []
  private var makeReport: @Sendable () -> RTCStatisticsReport = { RTCStatisticsReport([:]) }
  private var manual = false
  private var enabled = true
  private var active = false
  private var hasCandidates = false

  private func locked<Value>(_ body: () -> Value) -> Value {
    self.lock.lock()
    defer { self.lock.unlock() }
    return body()
  }

  package func reset() {
    self.locked {
      self.theConnections = []
      self.makeReport = { RTCStatisticsReport([:]) }
      (self.manual, self.enabled, self.active, self.hasCandidates) = (false, true, false, false)
    }
  }

  /// All that were made, in order.
  package var connections: [RTCPeerConnection] { self.locked { self.theConnections } }

  package var usesManualAudio: Bool {
    get { self.locked { self.manual } }
    set { self.locked { self.manual = newValue } }
  }

  package var isAudioEnabled: Bool {
    get { self.locked { self.enabled } }
    set { self.locked { self.enabled = newValue } }
  }

  package var isSessionActive: Bool {
    get { self.locked { self.active } }
    set { self.locked { self.active = newValue } }
  }

  /// Whether candidates are found behind each description of this side.
  package var gathers: Bool {
    get { self.locked { self.hasCandidates } }
    set { self.locked { self.hasCandidates = newValue } }
  }

  package func onMeasure(_ report: @escaping @Sendable () -> RTCStatisticsReport) {
    self.locked { self.makeReport = report }
  }

  func made(_ connection: RTCPeerConnection) { self.locked { self.theConnections.append(connection) } }

  func report() -> RTCStatisticsReport { self.locked { self.makeReport }() }
}

/// What one connection was asked, and how it answers.
// @unchecked: everything is behind the lock.
package final class StubConnection: @unchecked Sendable {
  private let lock = NSRecursiveLock()
  private var theSteps: [String] = []
  private var failures: [String: NSError] = [:]
  private var text: String?
  weak var connection: RTCPeerConnection?

  private func locked<Value>(_ body: () -> Value) -> Value {
    self.lock.lock()
    defer { self.lock.unlock() }
    return body()
  }

  /// What was asked, in order.
  package var steps: [String] { self.locked { self.theSteps } }

  package var localText: String? {
    get { self.locked { self.text } }
    set { self.locked { self.text = newValue } }
  }

  /// Makes what begins so fail from now on.
  package func fail(_ prefix: String, with error: NSError) { self.locked { self.failures[prefix] = error } }

  func did(_ step: String) { self.locked { self.theSteps.append(step) } }

  /// All candidates were found, and are in the description.
  func gather() {
    self.locked { self.text?.append("a=candidate\r\n") }
    guard let connection = self.connection else { return }
    connection.delegate?.peerConnection(connection, didChange: RTCIceGatheringState.complete)
  }

  /// Answers on another thread, as the framework does.
  func perform(_ step: String, _ completion: @escaping @Sendable ((any Error)?) -> Void) {
    let failure = self.locked { self.failures.first { step.hasPrefix($0.key) }?.value }
    self.did(step)
    DispatchQueue.global().async { completion(failure) }
  }
}
