import CallSignaling
public import Foundation

/// Who is in a call (telnyx.md section 1.1).
public struct TxCallInfo: Hashable, Sendable {
  /// The call.
  public var callId: UUID
  /// The caller's name.
  public var callerName: String?
  /// The caller's number.
  public var callerNumber: String?

  /// Creates a value.
  public init(callId: UUID, callerName: String? = nil, callerNumber: String? = nil) {
    self.callId = callId
    self.callerName = callerName
    self.callerNumber = callerNumber
  }
}

/// A codec (telnyx.md section 1.1).
public struct TxCodecCapability: Hashable, Sendable, Codable, Identifiable {
  /// The type, such as `audio/opus`.
  public let mimeType: String
  /// Samples per second.
  public let clockRate: Int
  /// The number of channels, if the codec has a choice.
  public let channels: Int?
  /// Parameters of the codec (`a=fmtp`).
  public let sdpFmtpLine: String?

  /// Creates a value.
  public init(mimeType: String, clockRate: Int, channels: Int? = nil, sdpFmtpLine: String? = nil) {
    self.mimeType = mimeType
    self.clockRate = clockRate
    self.channels = channels
    self.sdpFmtpLine = sdpFmtpLine
  }

  /// Tells codecs apart that differ in anything.
  public var id: String {
    "\(self.mimeType)-\(self.clockRate)-\(self.channels ?? 0)-\(self.sdpFmtpLine ?? "")"
  }

  var preference: CodecPreference {
    CodecPreference(
      mimeType: self.mimeType, clockRate: self.clockRate, channels: self.channels,
      sdpFmtpLine: self.sdpFmtpLine)
  }
}
