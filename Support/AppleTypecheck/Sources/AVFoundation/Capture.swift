public struct AVMediaType: Hashable, Sendable {
  public static let audio = AVMediaType()
}

public enum AVAuthorizationStatus: Int, Sendable {
  case notDetermined, restricted, denied, authorized
}

public final class AVCaptureDevice {
  nonisolated(unsafe) package static var status = AVAuthorizationStatus.authorized
  nonisolated(unsafe) package static var answer = AVAuthorizationStatus.authorized

  public let localizedName = "Stub microphone"
  public let uniqueID = "stub"

  public static func `default`(for mediaType: AVMediaType) -> AVCaptureDevice? { AVCaptureDevice() }

  public static func authorizationStatus(for mediaType: AVMediaType) -> AVAuthorizationStatus { status }

  public static func requestAccess(for mediaType: AVMediaType) async -> Bool {
    status = answer
    return status == .authorized
  }
}
