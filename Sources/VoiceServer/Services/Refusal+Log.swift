import Foundation
import GRPCCore
import Logging
import VoiceCore

extension Refusal {
  /// Whether the fault is the server's own, so that nobody but its operator can do something about it.
  var isServersFault: Bool { self.status == .internalError || self.failure.code == .dataFolderFull }

  /// Tells the operator: what clients do wrong for those who look for it, what the server does wrong as an error.
  ///
  /// Messages of ours hold no secrets; causes may, and so only their kinds are told.
  func log(_ what: Logger.Message, to logger: Logger, _ metadata: Logger.Metadata = [:]) {
    var metadata = metadata
    metadata["code"] = "\(self.failure.code)"
    metadata["status"] = "\(self.status)"
    guard self.isServersFault else { return logger.info(what, metadata: metadata) }
    metadata["reason"] = "\(self.failure.message)"
    if let cause = self.failure.cause { metadata["cause"] = "\(Self.safeText(of: cause))" }
    logger.error(what, metadata: metadata)
  }

  /// What kind of error it is, and those beneath it.
  private static func safeText(of error: any Error) -> String {
    var parts: [String] = []
    var next: (any Error)? = error
    // A chain of errors ends; one that does not is no reason to go on for ever.
    while let error = next, parts.count < 5 {
      if let failure = error as? VoiceFailure {
        parts.append(failure.description)
        next = failure.cause
      } else {
        let type = String(reflecting: type(of: error))
        let bridged = error as NSError
        parts.append("\(type) (\(bridged.domain == type ? "" : "\(bridged.domain) ")\(bridged.code))")
        next = bridged.userInfo[NSUnderlyingErrorKey] as? any Error
      }
    }
    return parts.joined(separator: ": ")
  }
}
