public import VoiceCore
public enum QualityWarning: Hashable, Sendable { case none }
struct CallQualityMonitor {
  mutating func discarded() {}
  mutating func sent(_ s: ArraySlice<Int16>) {}
  mutating func played(_ s: ArraySlice<Int16>, concealed: Int) {}
}
struct RTCPSchedule {
  init(ssrc: UInt32, cname: String) {}
  var nextWake: VoiceInstant? { nil }
  var remoteLoss: Double { 0 }
  mutating func began(at: VoiceInstant) {}
  mutating func sent(_ t: UInt32, payloadBytes: Int, at: VoiceInstant) {}
  mutating func received(_ p: RTPPacket, clockRate: Int, at: VoiceInstant) {}
  mutating func received(_ p: ArraySlice<UInt8>, at: VoiceInstant) {}
  mutating func timePassed(at: VoiceInstant) -> [UInt8]? { nil }
  mutating func goodbye(at: VoiceInstant) -> [UInt8] { [] }
}
public struct MediaStatistics: Hashable, Sendable { public init() {} }
extension AudioConnection { public func statistics(at now: VoiceInstant) -> MediaStatistics { MediaStatistics() } }
extension ICEWarning { public var failure: VoiceFailure { VoiceFailure(.callRelayFailed) } }
