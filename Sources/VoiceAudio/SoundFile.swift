import CSndFile
import Foundation
import VoiceCore

/// An audio file that libsndfile decodes. Not `Sendable`: it is used by one thread at a time.
final class SoundFile {
  let name: String
  let sampleRate: Int
  let channels: Int

  /// How many frames the file says it has, or `nil` if it does not say.
  let declaredFrames: Int64?

  /// The container, such as `WAV (Microsoft)`.
  let formatName: String

  /// How many frames were decoded so far.
  private(set) var decodedFrames: Int64 = 0

  private let descriptor: FileDescriptor
  private let size: Int64
  // Owned by this object, closed in `deinit`.
  private let handle: OpaquePointer

  /// Opens a regular file.
  ///
  /// - Throws: ``VoiceFailure`` with `audio.file.empty`, `audio.file.not-audio` or `audio.format.not-supported`.
  init(_ descriptor: FileDescriptor, size: Int64, name: String) throws(VoiceFailure) {
    guard size > 0 else { throw AudioEnding.empty(name: name) }
    var info = SF_INFO()
    guard let handle = sf_open_fd(try descriptor.duplicate(named: name), Int32(SFM_READ), &info, 1) else {
      let cause = SoundFileError(text: String(cString: sf_strerror(nil)))
      throw VoiceFailure(
        .fileNotAudio, message: "\(name) is not audio in a format that can be read.", cause: cause)
    }
    self.handle = handle
    self.descriptor = descriptor
    self.size = size
    self.name = name
    self.sampleRate = Int(info.samplerate)
    self.channels = Int(info.channels)
    self.declaredFrames = info.frames < Int64.max / 2 ? Int64(info.frames) : nil
    self.formatName = Self.formatName(of: info.format)
  }

  deinit {
    sf_close(self.handle)
  }

  /// Decodes frames; fewer than there is room for at the end, or where the file is broken.
  func read(into buffer: UnsafeMutableBufferPointer<Float>) -> UnsafeBufferPointer<Float> {
    guard let base = buffer.baseAddress else { return UnsafeBufferPointer(start: nil, count: 0) }
    let frames = max(0, sf_readf_float(self.handle, base, sf_count_t(buffer.count / self.channels)))
    self.decodedFrames += Int64(frames)
    return UnsafeBufferPointer(start: base, count: Int(frames) * self.channels)
  }

  /// What is wrong with a file of which everything was read, or `nil` if it is whole.
  func truncation() -> VoiceFailure? {
    let code = sf_error(self.handle)
    let cause = code == 0 ? nil : SoundFileError(text: String(cString: sf_strerror(self.handle)))
    if let missing = self.missingInWAV() ?? self.missingFrames() {
      return AudioEnding.truncated(
        name: self.name, missing: AudioChunk.time(ofSample: missing, sampleRate: self.sampleRate),
        cause: cause)
    }
    if self.lacksLastOggPage() || cause != nil {
      return VoiceFailure(
        .fileTruncated, message: "\(self.name) breaks off; how much is missing is not known.", cause: cause)
    }
    return nil
  }

  private func missingFrames() -> Int64? {
    guard let declared = self.declaredFrames, declared > self.decodedFrames else { return nil }
    return declared - self.decodedFrames
  }

  /// libsndfile takes the length of a cut WAV file from its size; only the header knows how long it was.
  private func missingInWAV() -> Int64? {
    guard let header = WAVHeader.read(from: self.descriptor), let length = header.dataLength else {
      return nil
    }
    let missing = Int64(header.dataOffset) + length - self.size
    guard missing > 0, let format = header.format, format.bytesPerFrame > 0 else { return nil }
    return (missing + Int64(format.bytesPerFrame) - 1) / Int64(format.bytesPerFrame)
  }

  /// Whether an Ogg file (RFC 3533, section 6) has no complete page that is marked as its last.
  private func lacksLastOggPage() -> Bool {
    guard self.descriptor.bytes(at: 0, count: 4) == Array("OggS".utf8) else { return false }
    // A page is at most 65,307 bytes long.
    let count = min(self.size, 65_536)
    let tail = self.descriptor.bytes(at: self.size - count, count: Int(count))
    guard let start = tail.indices.last(where: { tail[$0...].starts(with: "OggS".utf8) }) else { return true }
    let page = tail[start...]
    guard page.count >= 27 else { return true }
    let segmentCount = Int(page[start + 26])
    let segments = page.dropFirst(27).prefix(segmentCount)
    let length = 27 + segmentCount + segments.reduce(0) { $0 + Int($1) }
    return page.count < length || page[start + 5] & 4 == 0
  }

  private static func formatName(of format: Int32) -> String {
    var info = SF_FORMAT_INFO()
    info.format = format & Int32(SF_FORMAT_TYPEMASK)
    let status = sf_command(
      nil, Int32(SFC_GET_FORMAT_INFO), &info, Int32(MemoryLayout<SF_FORMAT_INFO>.size))
    guard status == 0, let name = info.name else { return "audio" }
    return String(cString: name)
  }
}

/// What libsndfile reported.
struct SoundFileError: Error, Hashable, CustomStringConvertible {
  let text: String

  var description: String { "libsndfile: \(self.text)" }
}
