package import VoiceCore

/// What of a deployed configuration cannot be recognised, as the text of an app's state.
///
/// The protocol has no field for warnings; that of the error is empty for a configuration that was accepted.
package enum DeploymentWarnings {
  /// One problem a line.
  package static func text(of problems: [VoiceFailure]) -> String {
    problems.map { problem in
      let message = problem.message.split(whereSeparator: \.isNewline).joined(separator: " ")
      return "\(message) [\(problem.code)]"
    }.joined(separator: "\n")
  }

  /// The problems in the state of an app; what another server writes there is shown as it is.
  package static func problems(in text: String) -> [VoiceFailure] {
    text.split(whereSeparator: \.isNewline).map { line in
      guard line.hasSuffix("]"), let start = line.lastIndex(of: "[") else {
        return VoiceFailure(.unexpected, message: String(line))
      }
      var message = line[..<start]
      while message.last == " " { message.removeLast() }
      let code = line[line.index(after: start)...].dropLast()
      return VoiceFailure(VoiceFailure.Code(String(code)), message: String(message))
    }
  }
}
