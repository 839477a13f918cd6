/// How the spoken value of an entity becomes its normal form (protocol document, section 4.4).
public enum EntityType: String, Hashable, Sendable, CaseIterable {
  /// Verbatim.
  case string
  /// Digits: "three hundred thousand" is `300000`.
  case number
  /// An ISO date; a date without a year is in the current year.
  case date
  /// An ISO date; a date without a year is the nearest in the future.
  case dateFuture = "date_future"
  /// An ISO date; a date without a year is the nearest in the past.
  case datePast = "date_past"
  /// `hh:mm` of 24 hours.
  case time
  /// Joined characters: "zero zero seven x" is `007x`.
  case identifier
  /// A telephone number.
  case phoneNumber = "phone_number"
  /// A name with capitals, spelled parts joined.
  case personName = "person_name"
  /// An e-mail address.
  case emailAddress = "email_address"
  /// An address of the web.
  case webAddress = "web_address"
  /// The item of one list that stands at the place of the value in another.
  case lookup
}

/// An entity as the configuration declares it.
public struct EntityDeclaration: Hashable, Sendable {
  /// The name.
  public var name: String
  /// How its values are normalised.
  public var type: EntityType
  /// For a lookup: the normal form of each spoken value, in lower case with single blanks.
  public var table: [String: String]

  /// Creates a declaration.
  public init(name: String, type: EntityType = .string, table: [String: String] = [:]) {
    self.name = name
    self.type = type
    self.table = table
  }
}
