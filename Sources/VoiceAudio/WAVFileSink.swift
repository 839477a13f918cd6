import CSndFile
import Foundation
public import VoiceCore

/// Writes 16-bit mono audio to a WAV file, which can be read at any time: its header is kept up to date.
public actor WAVFileSink: AudioSink {
  /// A gap longer than this is cut short, so that one wrong position cannot fill a disk.
  public static let longestGap = Duration.seconds(600)

  private let path: String
  private let sampleRate: Int
  private var file: WritableWAVFile?
  private var position: Int64?
  private var isFinished = false

  /// Creates a sink; the file is created, or emptied, at the first chunk or when the sink is finished.
  public init(path: String, sampleRate: Int = AudioFormat.recognition.sampleRate) {
    self.path = path
    self.sampleRate = sampleRate
  }

  public func write(_ chunk: AudioChunk) async throws(VoiceFailure) {
    guard !self.isFinished, chunk.sampleRate == self.sampleRate else {
      throw VoiceFailure(.usage, message: "The recording has ended, or has another sample rate.")
    }
    let file = try self.opened()
    let (distance, overflow) = chunk.position.subtractingReportingOverflow(self.position ?? chunk.position)
    let gap = overflow ? 0 : max(0, distance)
    let longest = AudioChunk.sample(at: Self.longestGap, sampleRate: self.sampleRate)
    try file.write([Int16](repeating: 0, count: Int(min(gap, longest))))
    try file.write(chunk.samples)
    self.position = chunk.endPosition
  }

  public func finish() async throws(VoiceFailure) {
    guard !self.isFinished else { return }
    _ = try self.opened()
    self.isFinished = true
    self.file = nil
  }

  private func opened() throws(VoiceFailure) -> WritableWAVFile {
    if let file = self.file { return file }
    let file = try WritableWAVFile(path: self.path, sampleRate: self.sampleRate)
    self.file = file
    return file
  }
}

/// A WAV file that libsndfile writes; closed with its last reference. Used by one sink on its queue.
private final class WritableWAVFile {
  private let path: String
  private let handle: OpaquePointer

  init(path: String, sampleRate: Int) throws(VoiceFailure) {
    self.path = path
    guard !path.utf8.contains(0) else { throw Self.failure(ENOENT, path: path) }
    let number = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0o644)
    guard number >= 0 else { throw Self.failure(errno, path: path) }
    var info = SF_INFO()
    info.samplerate = Int32(clamping: sampleRate)
    info.channels = 1
    info.format = Int32(SF_FORMAT_WAV) | Int32(SF_FORMAT_PCM_16)
    // The library closes the descriptor when opening fails, whatever it is told, so it is to own it.
    guard let handle = sf_open_fd(number, Int32(SFM_WRITE), &info, 1) else {
      throw VoiceFailure(
        .fileNotWritable, message: "“\(path)” cannot be written.",
        cause: SoundFileError(text: String(cString: sf_strerror(nil))))
    }
    sf_command(handle, Int32(SFC_SET_UPDATE_HEADER_AUTO), nil, 1)
    self.handle = handle
  }

  deinit {
    sf_close(self.handle)
  }

  func write(_ samples: [Int16]) throws(VoiceFailure) {
    guard !samples.isEmpty else { return }
    let count = sf_count_t(samples.count)
    guard sf_write_short(self.handle, samples, count) == count else {
      throw Self.failure(errno == 0 ? EIO : errno, path: self.path)
    }
  }

  private static func failure(_ number: Int32, path: String) -> VoiceFailure {
    let cause = POSIXFailure(number: number)
    return VoiceFailure(
      .fileNotWritable, message: "“\(path)” cannot be written: \(cause.text).", cause: cause)
  }
}
