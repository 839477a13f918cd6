public import Foundation

public let AVAudioSessionInterruptionTypeKey = "AVAudioSessionInterruptionTypeKey"
public let AVAudioSessionInterruptionOptionKey = "AVAudioSessionInterruptionOptionKey"
public let AVAudioSessionRouteChangeReasonKey = "AVAudioSessionRouteChangeReasonKey"

public final class AVAudioSessionPortDescription: NSObject {
  public let uid: String
  public let portName: String

  package init(uid: String) {
    self.uid = uid
    self.portName = uid
  }
}

public final class AVAudioSessionRouteDescription: NSObject {
  public let inputs: [AVAudioSessionPortDescription]
  public let outputs: [AVAudioSessionPortDescription]

  package init(inputs: [AVAudioSessionPortDescription], outputs: [AVAudioSessionPortDescription]) {
    self.inputs = inputs
    self.outputs = outputs
  }
}

public final class AVAudioSession {
  public struct Category: Hashable, Sendable {
    let name: String

    public static let ambient = Category(name: "ambient")
    public static let soloAmbient = Category(name: "soloAmbient")
    public static let playback = Category(name: "playback")
    public static let record = Category(name: "record")
    public static let playAndRecord = Category(name: "playAndRecord")
    public static let multiRoute = Category(name: "multiRoute")
  }

  public struct Mode: Hashable, Sendable {
    let name: String

    public static let `default` = Mode(name: "default")
    public static let measurement = Mode(name: "measurement")
    public static let voiceChat = Mode(name: "voiceChat")
  }

  public struct CategoryOptions: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
      self.rawValue = rawValue
    }
  }

  public struct SetActiveOptions: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
      self.rawValue = rawValue
    }

    public static let notifyOthersOnDeactivation = SetActiveOptions(rawValue: 1)
  }

  public enum InterruptionType: UInt, Sendable {
    case ended, began
  }

  public struct InterruptionOptions: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
      self.rawValue = rawValue
    }

    public static let shouldResume = InterruptionOptions(rawValue: 1)
  }

  public enum RouteChangeReason: UInt, Sendable {
    case unknown, newDeviceAvailable, oldDeviceUnavailable, categoryChange, override
    case wakeFromSleep = 6
    case noSuitableRouteForCategory = 7
    case routeConfigurationChange = 8
  }

  public class func sharedInstance() -> AVAudioSession { AVAudioSession() }

  public var category: Category { StubAudio.shared.category }
  public var currentRoute: AVAudioSessionRouteDescription {
    AVAudioSessionRouteDescription(
      inputs: StubAudio.shared.input.map { [AVAudioSessionPortDescription(uid: $0)] } ?? [],
      outputs: StubAudio.shared.output.map { [AVAudioSessionPortDescription(uid: $0)] } ?? [])
  }
  public var isInputAvailable: Bool { StubAudio.shared.input != nil }
  public var sampleRate: Double { StubAudio.shared.format.sampleRate }
  public var inputNumberOfChannels: Int { Int(StubAudio.shared.format.channelCount) }
  public var outputNumberOfChannels: Int { Int(StubAudio.shared.format.channelCount) }

  public func setCategory(_ category: Category, mode: Mode, options: CategoryOptions = []) throws {
    StubAudio.shared.category = category
  }

  public func setActive(_ active: Bool, options: SetActiveOptions = []) throws {
    StubAudio.shared.tell(active ? .activated : .deactivated)
  }

  public class var interruptionNotification: NSNotification.Name { NSNotification.Name("interruption") }
  public class var routeChangeNotification: NSNotification.Name { NSNotification.Name("route change") }
  public class var mediaServicesWereLostNotification: NSNotification.Name {
    NSNotification.Name("services lost")
  }
  public class var mediaServicesWereResetNotification: NSNotification.Name {
    NSNotification.Name("services reset")
  }
}
