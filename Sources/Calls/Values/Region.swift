/// Where the vendor's gateway is (telnyx.md section 1.1); a host prefix.
public enum Region: String, Hashable, Sendable, CaseIterable, Codable {
  case auto
  case eu
  case usCentral = "us-central"
  case usEast = "us-east"
  case usWest = "us-west"
  case caCentral = "ca-central"
  case apac

  /// The name for people.
  public var displayName: String {
    switch self {
    case .auto: "AUTO"
    case .eu: "EU"
    case .usCentral: "US-CENTRAL"
    case .usEast: "US-EAST"
    case .usWest: "US-WEST"
    case .caCentral: "CA-CENTRAL"
    case .apac: "APAC"
    }
  }

  /// Reads a name for people; case does not count.
  public static func fromDisplayName(_ name: String) -> Region? {
    Self.allCases.first { $0.displayName == name.uppercased() }
  }
}

/// Which of the vendor's installations is meant (telnyx.md section 1.4).
public enum WebRTCEnvironment: String, Hashable, Sendable, CaseIterable {
  case production, development
}
