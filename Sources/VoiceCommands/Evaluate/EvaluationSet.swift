import Foundation
import SpeechUnderstanding
import VoiceCore

/// A folder of recordings and labels that belong to one app.
struct EvaluationSet: Sendable {
  /// The folder that the recordings are relative to.
  var folder: String
  /// The app's configuration.
  var configuration: String
  var labels: [EvaluationLabel]
  /// What is wrong with single labels, as `labels.jsonl:3: …`.
  var problems: [String] = []

  /// The names under which labels are looked for.
  static let labelFiles = ["labels.jsonl", "labels.txt"]

  /// Reads a folder, or each folder in it that has labels: then every one is a domain of the name of its folder.
  ///
  /// - Parameter configuration: The app's configuration; by default `app.yaml` beside the labels, or the folder itself.
  /// - Throws: ``VoiceFailure`` with an `evaluation.labels.*` code.
  static func load(folder: String, configuration: String?) throws(VoiceFailure) -> [EvaluationSet] {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
      throw VoiceFailure(
        .labelsNotFound,
        message: "\(folder) is no folder. Name one with recordings and \(Self.labelFiles[0]).")
    }
    var folders = [folder]
    let isSingle = Self.labelFile(in: folder) != nil
    if !isSingle {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      folders = names.sorted().map { "\(folder)/\($0)" }.filter { Self.labelFile(in: $0) != nil }
    }
    guard !folders.isEmpty else {
      throw VoiceFailure(
        .labelsNotFound,
        message: "There is no \(Self.labelFiles.joined(separator: " or ")) in \(folder) or the folders in it."
      )
    }
    var sets: [EvaluationSet] = []
    for inner in folders {
      var set = try Self.read(inner, configuration: configuration)
      if !isSingle {
        let name = URL(fileURLWithPath: inner).lastPathComponent
        set.folder = folder
        for index in set.labels.indices {
          if set.labels[index].domain == nil { set.labels[index].domain = name }
          if !set.labels[index].file.hasPrefix("/") {
            set.labels[index].file = "\(name)/\(set.labels[index].file)"
          }
        }
      }
      sets.append(set)
    }
    guard sets.contains(where: { !$0.labels.isEmpty }) else {
      let first = sets.lazy.compactMap(\.problems.first).first
      throw VoiceFailure(
        first == nil ? .labelsEmpty : .labelsInvalid,
        message: first ?? "The labels in \(folder) name no recording.")
    }
    return sets
  }

  private static func labelFile(in folder: String) -> String? {
    Self.labelFiles.first { FileManager.default.fileExists(atPath: "\(folder)/\($0)") }
  }

  private static func read(_ folder: String, configuration: String?) throws(VoiceFailure) -> EvaluationSet {
    let name = Self.labelFile(in: folder) ?? Self.labelFiles[0]
    let data: Data
    do {
      data = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)"))
    } catch {
      throw VoiceFailure(.labelsInvalid, message: "\(folder)/\(name) cannot be read.", cause: error)
    }
    guard let text = String(validating: data, as: UTF8.self) else {
      throw VoiceFailure(.labelsInvalid, message: "\(folder)/\(name) is not UTF-8 text.")
    }
    let (labels, problems) = EvaluationLabel.parse(text)
    let own = "\(folder)/app.yaml"
    return EvaluationSet(
      folder: folder,
      configuration: configuration ?? (FileManager.default.fileExists(atPath: own) ? own : folder),
      labels: labels, problems: problems.map { "\(folder)/\(name):\($0.line): \($0.message)" })
  }

  /// At most a number of labels, spread over the whole set, so that every voice and kind of sentence keeps its share.
  mutating func limit(to count: Int) {
    guard self.labels.count > count, count > 0 else { return }
    let labels = self.labels
    self.labels = (0..<count).map { labels[$0 * labels.count / count] }
  }
}
