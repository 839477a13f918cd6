import RealtimeMedia
import VoiceCore

/// A handshake that takes two round trips and repeats what is lost, by the clock of a virtual network.
///
/// The client sends *hello* with its fingerprint until *welcome* comes, then *finished* for each *welcome*; the server sends
/// *welcome* until *finished* comes. Whose fingerprint is not expected fails.
final class ModelHandshake: DTLSHandshaking {
  private enum Message: UInt8 {
    case hello = 1
    case welcome, finished, goodbye
  }

  /// Tells messages from garbage, as authentication does.
  private static let mark: [UInt8] = [77, 111, 100, 101, 108]
  private static let interval = Duration.milliseconds(100)

  private let role: NegotiatedAudio.DTLSRole
  private let own: [UInt8]
  private let expected: [[UInt8]]
  private let now: () -> VoiceInstant
  private var due: VoiceInstant?
  private var pending: Message?
  private var hasStarted = false
  private var isEstablished = false
  private var isOver = false
  private var outputs: [DTLSOutput] = []

  init(
    own: CertificateFingerprint, role: NegotiatedAudio.DTLSRole, expected: [CertificateFingerprint],
    now: @escaping () -> VoiceInstant
  ) {
    self.own = own.bytes
    self.role = role
    self.expected = expected.map(\.bytes)
    self.now = now
  }

  func start() {
    self.hasStarted = true
    if self.role == .client { self.send(.hello) }
  }

  private func send(_ message: Message) {
    self.outputs.append(.send([22, message.rawValue] + Self.mark + self.own))
    self.pending = message == .finished || message == .goodbye ? nil : message
    self.due = self.pending == nil ? nil : self.now().advanced(by: Self.interval)
  }

  func received(_ datagram: ArraySlice<UInt8>) {
    guard self.hasStarted, !self.isOver, datagram.first == 22,
      Array(datagram.dropFirst(2).prefix(5)) == Self.mark,
      let message = datagram.dropFirst().first.flatMap({ Message(rawValue: $0) })
    else { return }
    guard self.expected.contains(Array(datagram.dropFirst(7))) else {
      self.isOver = true
      self.due = nil
      return self.outputs.append(.failed(.wrongFingerprint))
    }
    switch (self.role, message) {
    case (.server, .hello): if !self.isEstablished { self.send(.welcome) }
    case (.client, .welcome):
      self.send(.finished)
      self.establish()
    case (.server, .finished):
      self.pending = nil
      self.due = nil
      self.establish()
    case (_, .goodbye):
      self.isOver = true
      self.outputs.append(.closed)
    case (.client, .hello), (.client, .finished), (.server, .welcome): break
    }
  }

  private func establish() {
    guard !self.isEstablished else { return }
    self.isEstablished = true
    let keys = [UInt8(1), 2].map {
      SRTPMasterKey(key: Array(repeating: $0, count: 16), salt: Array(repeating: $0, count: 12))
    }
    let isClient = self.role == .client
    if let keys = try? SRTPKeys(
      profile: .aeadAES128GCM, local: keys[isClient ? 0 : 1], remote: keys[isClient ? 1 : 0])
    {
      self.outputs.append(.established(keys))
    }
  }

  func handleTimeout() {
    guard let due = self.due, due <= self.now(), let message = self.pending else { return }
    self.send(message)
  }

  var timeout: Duration? {
    self.due.map { max(.zero, self.now().duration(to: $0)) }
  }

  func poll() -> DTLSOutput? { self.outputs.isEmpty ? nil : self.outputs.removeFirst() }

  func close() {
    guard self.isEstablished, !self.isOver else { return }
    self.send(.goodbye)
  }
}
