import Foundation
import Synchronization
import VoiceCore
import VoicePlatform

/// Keeps jobs in the data folder: `batch/<id>.json`, and their audio, `batch/<id>.audio`, until they have their words.
struct BatchStore: Sendable {
  private let directory: StateDirectory

  init(dataFolder: String) {
    self.directory = StateDirectory(path: dataFolder + "/batch", codes: .server)
  }

  /// Keeps a job as it is now.
  func keep(_ job: BatchJob) throws(VoiceFailure) {
    do {
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      try self.directory.write(Array(try encoder.encode(job)), to: Self.name(job.id, "json"))
    } catch {
      throw error as? VoiceFailure ?? VoiceFailure(.unexpected, cause: error)
    }
  }

  /// All jobs that are kept, and the names of the files that belong to none of them, such as audio of which no job
  /// came about. Changes nothing.
  ///
  /// - Throws: ``VoiceFailure`` with `server.data-folder.invalid` or `server.data-folder.not-writable`.
  func jobs() throws(VoiceFailure) -> (jobs: [BatchJob], leftovers: [String]) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: self.directory.path)) ?? []
    var jobs: [BatchJob] = []
    for name in names where name.hasSuffix(".json") {
      guard let bytes = try self.directory.read(name) else { continue }
      do {
        jobs.append(try JSONDecoder().decode(BatchJob.self, from: Data(bytes)))
      } catch {
        throw VoiceFailure(
          .keptStateInvalid,
          message: "The file \(self.directory.path)/\(name) cannot be read. Restore it, or remove it.",
          cause: error)
      }
    }
    let wanted = Set(jobs.filter(\.needsAudio).map { Self.name($0.id, "audio") })
    return (jobs, names.filter { !$0.hasSuffix(".json") && !wanted.contains($0) })
  }

  /// Removes a file that belongs to no job.
  func removeLeftover(_ name: String) { try? self.directory.remove(name) }

  /// The path of a job's audio.
  func audioPath(of id: UUID) -> String { self.directory.path + "/" + Self.name(id, "audio") }

  /// Removes the audio of a job that needs it no more.
  func removeAudio(of id: UUID) { try? self.directory.remove(Self.name(id, "audio")) }

  /// Removes all of a job.
  func remove(_ id: UUID) {
    try? self.directory.remove(Self.name(id, "json"))
    self.removeAudio(of: id)
  }

  /// Opens the file for the audio of a new job.
  func makeSpool(for id: UUID) throws(VoiceFailure) -> AudioSpool {
    try self.directory.prepare()
    return try AudioSpool(path: self.audioPath(of: id), directory: self.directory)
  }

  private static func name(_ id: UUID, _ kind: String) -> String { "\(id.uuidString.lowercased()).\(kind)" }
}

/// The file that the audio of a job goes to while it comes in, so that a long recording takes no memory.
final class AudioSpool: Sendable {
  /// The most audio that one job may have, in bytes: more than an hour and a half at 48 kHz.
  static let sizeLimit = 512 * 1024 * 1024

  private struct State: Sendable {
    var descriptor: Int32
    var count = 0
    var head: [UInt8] = []
  }

  private let directory: StateDirectory
  private let state: Mutex<State>

  init(path: String, directory: StateDirectory) throws(VoiceFailure) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw directory.failure(errno) }
    self.directory = directory
    self.state = Mutex(State(descriptor: descriptor))
  }

  deinit { self.close() }

  /// How many bytes came.
  var count: Int { self.state.withLock { $0.count } }

  /// Whether the audio starts with a WAV header.
  var startsWithHeader: Bool {
    self.state.withLock { $0.head.starts(with: "RIFF".utf8) || $0.head.starts(with: "RF64".utf8) }
  }

  /// Takes bytes; blocks for as long as the disk takes.
  ///
  /// - Throws: ``VoiceFailure`` with `speech.stream.context-too-long` or a code of the data folder.
  func append(_ bytes: Data) throws(VoiceFailure) {
    try self.state.withLock { state throws(VoiceFailure) in
      guard bytes.count <= Self.sizeLimit - state.count else {
        throw VoiceFailure(
          .contextTooLong,
          message: "The recording has more than \(Self.sizeLimit / 1024 / 1024) MB. Cut it into shorter ones."
        )
      }
      state.count += bytes.count
      state.head += bytes.prefix(max(0, 4 - state.head.count))
      var rest = Array(bytes)[...]
      while !rest.isEmpty {
        let written = rest.withUnsafeBytes { write(state.descriptor, $0.baseAddress, $0.count) }
        if written < 0 {
          if errno == EINTR { continue }
          throw self.directory.failure(errno)
        }
        rest = rest.dropFirst(written)
      }
    }
  }

  /// Makes sure that all that came is on the disk.
  func finish() throws(VoiceFailure) {
    let number = self.state.withLock { state in fsync(state.descriptor) == 0 ? 0 : errno }
    self.close()
    guard number == 0 else { throw self.directory.failure(number) }
  }

  private func close() {
    self.state.withLock { state in
      if state.descriptor >= 0 { Foundation.close(state.descriptor) }
      state.descriptor = -1
    }
  }
}
