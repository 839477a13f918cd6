import RealtimeMedia
import VoiceCore

/// Decides when the connection of a session begins, and with which of its servers.
///
/// States: *opening*, sockets are being bound and servers looked up; *begun*, where nothing counts any more. It begins once the
/// sockets are bound and each lookup has ended or had its time: a resolver that does not answer costs its server, not the call.
struct SessionOpening: Sendable {
  /// What the connection begins with.
  struct Beginning: Hashable, Sendable {
    /// The addresses of each server that was found, by its number in the configuration.
    var found: [Int: [TransportAddress]]
    /// Servers that are not waited for any longer.
    var late: [Int]
  }

  private struct Opening: Sendable {
    var isBound = false
    var isTimeUp = false
    var asked: Set<Int>
    var found: [Int: [TransportAddress]] = [:]
  }

  private enum State: Sendable {
    case opening(Opening)
    case begun
  }

  /// When to call ``timePassed(at:)``.
  let deadline: VoiceInstant
  private var state: State

  /// Creates an opening.
  ///
  /// - Parameters:
  ///   - servers: How many are looked up.
  ///   - timeout: How long lookups may take.
  init(servers: Int, timeout: Duration, at now: VoiceInstant) {
    self.deadline = now.advanced(by: timeout)
    self.state = .opening(Opening(asked: Set(0..<max(0, servers))))
  }

  /// All sockets were bound, or could not be.
  mutating func bound() -> Beginning? { self.changed { $0.isBound = true } }

  /// A lookup ended, without an address if there is no such host.
  mutating func lookedUp(_ server: Int, _ addresses: [TransportAddress]) -> Beginning? {
    self.changed { opening in
      guard opening.asked.remove(server) != nil else { return }
      opening.found[server] = addresses.isEmpty ? nil : addresses
    }
  }

  /// Time has passed.
  mutating func timePassed(at now: VoiceInstant) -> Beginning? {
    guard now >= self.deadline else { return nil }
    return self.changed { $0.isTimeUp = true }
  }

  private mutating func changed(_ change: (inout Opening) -> Void) -> Beginning? {
    switch self.state {
    case .begun: return nil
    case .opening(var opening):
      change(&opening)
      guard opening.isBound, opening.isTimeUp || opening.asked.isEmpty else {
        self.state = .opening(opening)
        return nil
      }
      self.state = .begun
      return Beginning(found: opening.found, late: opening.asked.sorted())
    }
  }
}
