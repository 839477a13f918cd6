import Foundation
import VoiceCore

/// Where the apps are on their way from one configuration to the next.
///
/// A value without input or output of its own: deployments begin and end, and each app has one at a time.
struct Deployments: Sendable {
  /// How an app is doing.
  enum Status: Hashable, Sendable {
    /// Nothing was deployed yet.
    case new
    /// A configuration is being deployed; the one before, if there was one, is serving.
    case deploying(since: VoiceInstant)
    /// A configuration is serving.
    case deployed
    /// The last configuration was refused; the one before, if there was one, is serving.
    case refused(VoiceFailure)
  }

  private struct Entry: Sendable {
    var current: DeployedInterface?
    var status = Status.new
    var lastDuration: Duration?
  }

  private var entries: [UUID: Entry] = [:]

  /// What serves an app.
  func current(of app: UUID) -> DeployedInterface? { self.entries[app]?.current }

  /// How an app is doing.
  func status(of app: UUID) -> Status { self.entries[app]?.status ?? .new }

  /// How long the last deployment of an app took, from the first byte to serving.
  func lastDuration(of app: UUID) -> Duration? { self.entries[app]?.lastDuration }

  /// How many apps have a deployment under way.
  var activeCount: Int {
    self.entries.values.count {
      if case .deploying = $0.status { true } else { false }
    }
  }

  /// Takes what an app serves from its start on.
  mutating func loaded(_ interface: DeployedInterface, for app: UUID) {
    self.entries[app, default: Entry()].current = interface
    self.entries[app, default: Entry()].status = .deployed
  }

  /// Begins a deployment.
  ///
  /// - Throws: ``VoiceFailure`` with `server.interface.busy` if one is under way.
  mutating func began(_ app: UUID, at now: VoiceInstant) throws(VoiceFailure) {
    if case .deploying = self.status(of: app) { throw VoiceFailure(.deploymentBusy) }
    self.entries[app, default: Entry()].status = .deploying(since: now)
  }

  /// Ends a deployment well: from now on its configuration serves.
  mutating func succeeded(_ app: UUID, _ interface: DeployedInterface, at now: VoiceInstant) {
    guard var entry = self.entries[app], case .deploying(let start) = entry.status else { return }
    entry.current = interface
    entry.status = .deployed
    entry.lastDuration = start.duration(to: now)
    self.entries[app] = entry
  }

  /// Ends a deployment whose configuration is refused; the one before goes on serving.
  mutating func failed(_ app: UUID, _ failure: VoiceFailure) {
    guard case .deploying = self.status(of: app) else { return }
    self.entries[app]?.status = .refused(failure)
  }

  /// Ends a deployment of which not everything came; the app is as it was before.
  mutating func abandoned(_ app: UUID) {
    guard case .deploying = self.status(of: app) else { return }
    let status: Status = self.current(of: app) == nil ? .new : .deployed
    self.entries[app]?.status = status
  }

  /// Forgets an app; a deployment of it that is under way comes to nothing.
  mutating func removed(_ app: UUID) {
    self.entries[app] = nil
  }
}
