import Foundation
import VoiceCore
import VoiceTesting

/// Runs a program to its end; it has nothing to read.
enum ProgramRun {
  struct Outcome: Hashable, Sendable {
    /// The exit status; 128 plus the signal if a signal ended it.
    var status: Int
    /// What it printed.
    var output: String
  }

  /// Runs a program; kills it if it takes too long or the task is cancelled.
  ///
  /// - Parameters:
  ///   - output: The file that takes what it prints.
  ///   - patience: How long it may take.
  /// - Throws: ``VoiceFailure`` with `audio.file.not-readable` if it cannot be started.
  static func run(
    _ path: String, _ arguments: [String], environment: [String: String], output: String,
    patience: Duration, clock: any VoiceClock
  ) async throws(VoiceFailure) -> Outcome {
    let program = try RunningProgram(path, arguments, environment: environment, output: output)
    let status = await withTaskCancellationHandler {
      await withTaskGroup(of: Int?.self) { group in
        group.addTask { await program.status() }
        group.addTask {
          let deadline = clock.now.advanced(by: patience)
          if (try? await clock.sleep(until: deadline, tolerance: nil)) != nil { program.kill() }
          return nil
        }
        defer { group.cancelAll() }
        while let status = await group.next() {
          if let status { return status }
        }
        return 0
      }
    } onCancel: {
      program.kill()
    }
    let printed = (try? Data(contentsOf: URL(fileURLWithPath: output))) ?? Data()
    return Outcome(status: status, output: String(decoding: printed.suffix(65_536), as: UTF8.self))
  }
}
