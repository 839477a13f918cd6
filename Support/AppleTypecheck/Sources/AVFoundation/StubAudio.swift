import Foundation
import Synchronization

/// What tests make the declared audio classes do, and see of them. One test at a time.
// @unchecked: everything is behind the lock.
package final class StubAudio: @unchecked Sendable {
  package enum Event: Hashable, Sendable {
    case activated, deactivated, started, paused, stopped, refused, scheduled
  }

  package static let shared = StubAudio()

  private let lock = NSRecursiveLock()
  private var engines: [AVAudioEngine] = []
  private var refusals = 0
  private var theFormat: AVAudioFormat
  private var theInput: String? = "built-in"
  private var theOutput: String? = "receiver"
  private var scheduledBuffers: [(player: AVAudioPlayerNode, whenPlayed: @Sendable () -> Void)] = []
  private var thePlayed: [Float] = []
  private var refusesVoiceProcessing = false
  private var theCategory = AVAudioSession.Category.soloAmbient
  private var continuation: AsyncStream<Event>.Continuation?

  private init() {
    guard
      let format = AVAudioFormat(
        commonFormat: .pcmFormatFloat32, sampleRate: 48_000, channels: 2, interleaved: false)
    else { preconditionFailure("formats are always made") }
    self.theFormat = format
  }

  private func locked<Value>(_ body: () throws -> Value) rethrows -> Value {
    self.lock.lock()
    defer { self.lock.unlock() }
    return try body()
  }

  /// Everything as at first; returns what happens from now on.
  package func reset() -> AsyncStream<Event> {
    let (stream, continuation) = AsyncStream.makeStream(of: Event.self)
    self.locked {
      self.continuation = continuation
      self.engines = []
      self.refusals = 0
      self.theInput = "built-in"
      self.theOutput = "receiver"
      self.scheduledBuffers = []
      self.thePlayed = []
      self.refusesVoiceProcessing = false
      self.theCategory = .soloAmbient
    }
    self.setFormat(sampleRate: 48_000, channels: 2)
    return stream
  }

  package var category: AVAudioSession.Category {
    get { self.locked { self.theCategory } }
    set { self.locked { self.theCategory = newValue } }
  }

  package var input: String? {
    get { self.locked { self.theInput } }
    set { self.locked { self.theInput = newValue } }
  }

  package var output: String? {
    get { self.locked { self.theOutput } }
    set { self.locked { self.theOutput = newValue } }
  }

  /// What was scheduled so far.
  package var played: [Float] { self.locked { self.thePlayed } }

  /// Whether the newest engine with a tap takes the loudspeaker out of it.
  package var isVoiceProcessing: Bool {
    self.locked { self.engines.last { $0.inputNode.tap != nil }?.inputNode.isVoiceProcessingEnabled ?? false }
  }

  package func refuseVoiceProcessing() { self.locked { self.refusesVoiceProcessing = true } }

  func setVoiceProcessing() throws {
    if self.locked({ self.refusesVoiceProcessing }) {
      throw NSError(domain: "com.apple.coreaudio.avfaudio", code: -10851)
    }
  }

  /// Plays the oldest scheduled buffer; returns whether there was one.
  package func playNext() -> Bool {
    let next = self.locked { self.scheduledBuffers.isEmpty ? nil : self.scheduledBuffers.removeFirst() }
    next?.whenPlayed()
    return next != nil
  }

  func scheduled(
    _ buffer: AVAudioPCMBuffer, by player: AVAudioPlayerNode, whenPlayed: @escaping @Sendable () -> Void
  ) {
    self.locked {
      if let samples = buffer.floatChannelData?[0] {
        self.thePlayed += UnsafeBufferPointer(start: samples, count: Int(buffer.frameLength))
      }
      self.scheduledBuffers.append((player, whenPlayed))
    }
    self.tell(.scheduled)
  }

  /// A player that is stopped gives back what it has not played.
  func giveBack(from player: AVAudioPlayerNode) {
    let rest = self.locked {
      defer { self.scheduledBuffers.removeAll { $0.player === player } }
      return self.scheduledBuffers.filter { $0.player === player }
    }
    for buffer in rest { buffer.whenPlayed() }
  }

  package var format: AVAudioFormat { self.locked { self.theFormat } }

  package var engineCount: Int { self.locked { self.engines.count } }

  package func setFormat(sampleRate: Double, channels: UInt32) {
    guard
      let format = AVAudioFormat(
        commonFormat: .pcmFormatFloat32, sampleRate: sampleRate, channels: channels, interleaved: false)
    else { return }
    self.locked { self.theFormat = format }
  }

  /// Lets engines refuse to start.
  package func refuse(times: Int) { self.locked { self.refusals = times } }

  /// Tells that the newest engine has stopped itself.
  package func changeConfiguration() {
    let engine = self.locked { self.engines.last }
    NotificationCenter.default.post(name: .AVAudioEngineConfigurationChange, object: engine)
  }

  /// Gives a buffer with one value in all channels to the tap of the newest engine; does nothing without a tap.
  package func deliver(_ value: Float, frames: Int) {
    let (tap, format) = self.locked {
      (self.engines.last { $0.inputNode.tap != nil }?.inputNode.tap, self.theFormat)
    }
    guard let buffer = AVAudioPCMBuffer(pcmFormat: format, frameCapacity: UInt32(frames)) else { return }
    buffer.frameLength = UInt32(frames)
    for channel in 0..<Int(format.channelCount) {
      for frame in 0..<frames { buffer.floatChannelData?[channel][frame] = value }
    }
    tap?(buffer, AVAudioTime())
  }

  func made(_ engine: AVAudioEngine) { self.locked { self.engines.append(engine) } }

  func start() throws {
    let isRefused = self.locked {
      defer { self.refusals = max(0, self.refusals - 1) }
      return self.refusals > 0
    }
    self.tell(isRefused ? .refused : .started)
    if isRefused { throw NSError(domain: "com.apple.coreaudio.avfaudio", code: -10868) }
  }

  func tell(_ event: Event) { _ = self.locked { self.continuation?.yield(event) } }
}
