public import Foundation

public typealias AVAudioFrameCount = UInt32
public typealias AVAudioChannelCount = UInt32
public typealias AVAudioNodeBus = Int
public typealias AVAudioNodeTapBlock = (AVAudioPCMBuffer, AVAudioTime) -> Void

public enum AVAudioCommonFormat: UInt, Sendable {
  case otherFormat, pcmFormatFloat32, pcmFormatFloat64, pcmFormatInt16, pcmFormatInt32
}

public class AVAudioFormat: NSObject {
  public let commonFormat: AVAudioCommonFormat
  public let sampleRate: Double
  public let channelCount: AVAudioChannelCount

  public init?(
    commonFormat: AVAudioCommonFormat, sampleRate: Double, channels: AVAudioChannelCount, interleaved: Bool
  ) {
    self.commonFormat = commonFormat
    self.sampleRate = sampleRate
    self.channelCount = channels
  }
}

public final class AVAudioTime: NSObject {
  package override init() {}
}

public class AVAudioPCMBuffer: NSObject {
  public let format: AVAudioFormat
  public var frameLength: AVAudioFrameCount = 0
  public let stride = 1
  private let floats: UnsafeMutablePointer<UnsafeMutablePointer<Float>>?
  private let integers: UnsafeMutablePointer<UnsafeMutablePointer<Int16>>?

  public init?(pcmFormat format: AVAudioFormat, frameCapacity: AVAudioFrameCount) {
    self.format = format
    self.floats =
      format.commonFormat == .pcmFormatFloat32 ? Self.channels(of: format, Int(frameCapacity), 0) : nil
    self.integers =
      format.commonFormat == .pcmFormatInt16 ? Self.channels(of: format, Int(frameCapacity), 0) : nil
  }

  deinit {
    for channel in 0..<Int(self.format.channelCount) {
      self.floats?[channel].deallocate()
      self.integers?[channel].deallocate()
    }
    self.floats?.deallocate()
    self.integers?.deallocate()
  }

  public var floatChannelData: UnsafePointer<UnsafeMutablePointer<Float>>? {
    self.floats.map { UnsafePointer($0) }
  }

  public var int16ChannelData: UnsafePointer<UnsafeMutablePointer<Int16>>? {
    self.integers.map { UnsafePointer($0) }
  }

  private static func channels<Sample>(
    of format: AVAudioFormat, _ capacity: Int, _ zero: Sample
  ) -> UnsafeMutablePointer<UnsafeMutablePointer<Sample>> {
    let count = Int(format.channelCount)
    let channels = UnsafeMutablePointer<UnsafeMutablePointer<Sample>>.allocate(capacity: count)
    for channel in 0..<count {
      let samples = UnsafeMutablePointer<Sample>.allocate(capacity: max(1, capacity))
      samples.initialize(repeating: zero, count: max(1, capacity))
      (channels + channel).initialize(to: samples)
    }
    return channels
  }
}

public class AVAudioNode: NSObject {
  package private(set) var tap: AVAudioNodeTapBlock?

  public func outputFormat(forBus bus: AVAudioNodeBus) -> AVAudioFormat { StubAudio.shared.format }

  public func installTap(
    onBus bus: AVAudioNodeBus, bufferSize: AVAudioFrameCount, format: AVAudioFormat?,
    block tapBlock: @escaping AVAudioNodeTapBlock
  ) {
    self.tap = tapBlock
  }

  public func removeTap(onBus bus: AVAudioNodeBus) {
    self.tap = nil
  }
}

public struct AVAudioVoiceProcessingOtherAudioDuckingConfiguration: Sendable {
  public enum Level: Int, Sendable {
    case `default` = 0
    case min = 10
    case mid = 20
    case max = 30
  }

  public var enableAdvancedDucking: ObjCBool
  public var duckingLevel: Level

  public init(enableAdvancedDucking: ObjCBool, duckingLevel: Level) {
    self.enableAdvancedDucking = enableAdvancedDucking
    self.duckingLevel = duckingLevel
  }
}

public class AVAudioIONode: AVAudioNode {
  public private(set) var isVoiceProcessingEnabled = false

  public var presentationLatency: TimeInterval { 0.01 }

  public func setVoiceProcessingEnabled(_ enabled: Bool) throws {
    try StubAudio.shared.setVoiceProcessing()
    self.isVoiceProcessingEnabled = enabled
  }
}

public class AVAudioInputNode: AVAudioIONode {
  public var voiceProcessingOtherAudioDuckingConfiguration =
    AVAudioVoiceProcessingOtherAudioDuckingConfiguration(enableAdvancedDucking: false, duckingLevel: .default)
}

public class AVAudioOutputNode: AVAudioIONode {}

public class AVAudioMixerNode: AVAudioNode {}

public enum AVAudioPlayerNodeCompletionCallbackType: Int, Sendable {
  case dataConsumed, dataRendered, dataPlayedBack
}

public class AVAudioPlayerNode: AVAudioNode {
  public func scheduleBuffer(
    _ buffer: AVAudioPCMBuffer, completionCallbackType callbackType: AVAudioPlayerNodeCompletionCallbackType,
    completionHandler: (@Sendable (AVAudioPlayerNodeCompletionCallbackType) -> Void)? = nil
  ) {
    StubAudio.shared.scheduled(buffer, by: self) { completionHandler?(callbackType) }
  }

  public func play() {}

  public func pause() {}

  public func stop() { StubAudio.shared.giveBack(from: self) }
}

public class AVAudioEngine: NSObject {
  public let inputNode = AVAudioInputNode()
  public let outputNode = AVAudioOutputNode()
  public let mainMixerNode = AVAudioMixerNode()

  public func attach(_ node: AVAudioNode) {}

  public func connect(_ node1: AVAudioNode, to node2: AVAudioNode, format: AVAudioFormat?) {}

  public override init() {
    super.init()
    StubAudio.shared.made(self)
  }

  public func prepare() {}

  public func start() throws { try StubAudio.shared.start() }

  public func pause() { StubAudio.shared.tell(.paused) }

  public func stop() { StubAudio.shared.tell(.stopped) }
}

extension NSNotification.Name {
  public static let AVAudioEngineConfigurationChange = NSNotification.Name("AVAudioEngineConfigurationChange")
}
