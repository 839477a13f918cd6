public import Foundation

/// Records audio and hands it to a delegate. (Source: protocol §1.6.)
public protocol AudioRecorderProtocol: AnyObject, Sendable {
  /// Who gets the audio.
  var delegate: (any AudioRecorderDelegate)? { get set }
  /// Samples per second of what the delegate gets.
  var sampleRate: Double { get }
  /// Channels of what the delegate gets.
  var channels: UInt32 { get }

  /// Starts recording.
  func start() throws
  /// Stops recording; `audioRecorderDidStop` follows once everything has been delivered.
  func stop()
  /// Stops recording and lets go of the audio system.
  func suspend() throws
  /// Makes the recorder ready again after ``suspend()``.
  func resume() throws
}

/// Receives recorded audio. (Source: protocol §1.6.)
public protocol AudioRecorderDelegate: AnyObject, Sendable {
  /// Recording has failed, or has missed something: it is over only when `audioRecorderDidStop` follows.
  func audioRecorderDidCatchError(_ audioRecorder: any AudioRecorderProtocol, error: any Error)
  /// Signed 16-bit little-endian samples were recorded.
  func audioRecorderDidReceiveData(_ audioRecorder: any AudioRecorderProtocol, audioData: Data)
  /// Recording has stopped and everything was delivered.
  func audioRecorderDidStop(_ audioRecorder: any AudioRecorderProtocol)
}

extension AudioRecorderDelegate {
  public func audioRecorderDidCatchError(_: any AudioRecorderProtocol, error: any Error) {}
  public func audioRecorderDidReceiveData(_: any AudioRecorderProtocol, audioData: Data) {}
  public func audioRecorderDidStop(_: any AudioRecorderProtocol) {}
}
