import CallSignaling

/// Says where a destination leads.
///
/// A name is looked up in this order: configured numbers, the services `echo`, `silence`, `assistant` and
/// `fail-<SIP status>`, users.
struct DialPlan: Hashable, Sendable {
  /// Where a destination leads.
  enum Target: Hashable, Sendable {
    case user(String)
    case service(MediaService)
    /// Ends with this reason.
    case failure(CallTerminationReason)
  }

  private let numbers: [String: String]
  /// All users that are known.
  var users: Set<String>

  /// Creates a plan.
  ///
  /// - Parameters:
  ///   - numbers: Names of users or services by number.
  ///   - users: All users that are known.
  init(numbers: [String: String] = [:], users: Set<String> = []) {
    self.numbers = Dictionary(
      numbers.map { (Self.name(in: $0), $1) }, uniquingKeysWith: { first, _ in first })
    self.users = users
  }

  /// The name in a destination: without spaces, `sip:` and what is behind `@`.
  static func name(in destination: String) -> String {
    var name = destination.filter { !$0.isWhitespace }
    if name.lowercased().hasPrefix("sip:") { name.removeFirst(4) }
    if let at = name.firstIndex(of: "@") { name = String(name[..<at]) }
    return name
  }

  /// What users and numbers must not be called.
  static func isReserved(_ name: String) -> Bool {
    MediaService(rawValue: name) != nil || name.hasPrefix("fail-")
  }

  /// Finds a destination as a client wrote it: `bob`, `bob@example.org`, `sip:bob@example.org`.
  func target(of destination: String?) -> Target {
    var name = Self.name(in: destination ?? "")
    guard !name.isEmpty else {
      return .failure(CallTerminationReason(.invalidNumberFormat, origin: .server))
    }
    if let other = self.numbers[name] { name = other }
    if let service = MediaService(rawValue: name) { return .service(service) }
    if name.hasPrefix("fail-"), let status = Int(name.dropFirst(5)), (400...699).contains(status) {
      return .failure(CallTerminationReason(sipStatus: status, origin: .server))
    }
    guard self.users.contains(name) else {
      return .failure(CallTerminationReason(.unallocatedNumber, origin: .server))
    }
    return .user(name)
  }
}

/// A destination that the server answers itself.
enum MediaService: String, Hashable, Sendable, CaseIterable {
  /// Sends back what it hears.
  case echo
  /// Says nothing.
  case silence
  /// Understands what it hears, and says so.
  case assistant
}
