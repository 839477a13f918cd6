import Foundation
import SpeechUnderstanding
import Synchronization
import VoiceAudio
import VoiceCore

/// Recognises the recordings of sets in all conditions, several at a time.
struct EvaluationRun: Sendable {
  /// What became of the recordings, in the order of the labels.
  struct Outcome: Sendable {
    var scores: [EvaluationScore] = []
    /// What went wrong with single recordings, in the order of the labels; notices included.
    var failures: [(file: String, failure: VoiceFailure)] = []
    /// How many recordings there are.
    var total = 0
    /// How many were dealt with before somebody asked to stop.
    var finished = 0
  }

  let recognizer: any EvaluationRecognizer
  let conditions: [EvaluationCondition]
  /// Recorded noise for the conditions that need it.
  let noise: [Int16]
  let jobs: Int

  /// One recording with its app.
  private struct Task: Sendable {
    var number: Int
    var path: String
    var label: EvaluationLabel
    var app: EvaluationApp
  }

  private struct TaskOutcome: Sendable {
    var number: Int
    var scores: [EvaluationScore] = []
    var failures: [VoiceFailure] = []
  }

  /// Evaluates everything.
  ///
  /// - Parameters:
  ///   - stop: Whether to begin no other recording.
  ///   - progress: Called after each recording with how many are done.
  func run(
    _ sets: [(set: EvaluationSet, app: EvaluationApp)], stop: @Sendable () -> Bool,
    progress: @Sendable (_ done: Int, _ total: Int) -> Void
  ) async -> Outcome {
    var tasks: [Task] = []
    for (set, app) in sets {
      for label in set.labels {
        let path = label.file.hasPrefix("/") ? label.file : "\(set.folder)/\(label.file)"
        tasks.append(Task(number: tasks.count, path: path, label: label, app: app))
      }
    }
    progress(0, tasks.count)
    var results: [TaskOutcome?] = Array(repeating: nil, count: tasks.count)
    await withTaskGroup(of: TaskOutcome.self) { group in
      var rest = tasks[...]
      var done = 0
      for task in rest.prefix(self.jobs) { group.addTask { await self.evaluate(task) } }
      rest = rest.dropFirst(self.jobs)
      while let result = await group.next() {
        results[result.number] = result
        done += 1
        progress(done, tasks.count)
        if !stop(), let task = rest.popFirst() { group.addTask { await self.evaluate(task) } }
      }
    }
    var outcome = Outcome(total: tasks.count)
    for (task, result) in zip(tasks, results) {
      guard let result else { continue }
      outcome.finished += 1
      outcome.scores += result.scores
      outcome.failures += result.failures.map { (task.label.file, $0) }
    }
    return outcome
  }

  private func evaluate(_ task: Task) async -> TaskOutcome {
    var outcome = TaskOutcome(number: task.number)
    do throws(VoiceFailure) {
      let samples = try await Self.samples(at: task.path) { outcome.failures.append($0) }
      for condition in self.conditions {
        var audio = try self.audio(samples, in: condition, number: task.number)
        audio.file = task.label.file
        audio.condition = condition.name
        let hearing = try await self.recognizer.hear(audio, app: task.app)
        outcome.scores.append(EvaluationScore(label: task.label, condition: condition, hearing: hearing))
      }
    } catch {
      // A recording counts in all conditions or in none, so that they can be compared.
      outcome.scores = []
      outcome.failures.append(error)
    }
    return outcome
  }

  private func audio(
    _ samples: [Int16], in condition: EvaluationCondition, number: Int
  ) throws(VoiceFailure) -> EvaluationAudio {
    // Each recording has its own stretch of noise, the same in every run.
    let seed = UInt64(number)
    switch condition {
    case .clean:
      return EvaluationAudio(samples: samples)
    case .noise(let decibels):
      return EvaluationAudio(
        samples: NoiseMixing.mixed(samples, with: self.noise, decibels: decibels, seed: seed))
    case .pink(let decibels):
      let noise = NoiseMixing.pinkNoise(count: samples.count, seed: seed)
      return EvaluationAudio(
        samples: NoiseMixing.mixed(samples, with: noise, decibels: decibels, level: .mean, seed: seed))
    case .telephone:
      return try NoiseMixing.telephone(samples, sampleRate: AudioFormat.recognition.sampleRate)
    }
  }

  /// The samples of a file at the rate of recognisers.
  static func samples(at path: String, notice: (VoiceFailure) -> Void) async throws(VoiceFailure) -> [Int16] {
    var samples: [Int16] = []
    for try await event in try await AudioFileSource(path: path, chunkDuration: .seconds(5)).capture() {
      switch event {
      case .chunk(let chunk): samples += chunk.samples
      case .notice(let failure): notice(failure)
      }
    }
    return samples
  }
}
