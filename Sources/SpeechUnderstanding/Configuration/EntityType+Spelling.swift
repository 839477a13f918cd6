extension EntityType {
  /// The type that a configuration names (protocol document, section 4.4).
  ///
  /// Case, blanks, `-` and `_` do not matter. Published configurations have `phone_number`, `email_address` and, for
  /// names of people, `proper_noun`; other likely spellings are understood too.
  ///
  /// - Returns: `nil` if there is no such type.
  public init?(configurationName name: String) {
    switch name.lowercased().filter({ $0 != "_" && $0 != "-" && !$0.isWhitespace }) {
    case "string", "text", "default": self = .string
    case "number", "numeric", "cardinalnumber": self = .number
    case "date": self = .date
    case "datefuture", "futuredate": self = .dateFuture
    case "datepast", "pastdate": self = .datePast
    case "time": self = .time
    case "identifier", "id": self = .identifier
    case "phone", "phonenumber", "telephone", "telephonenumber", "tel": self = .phoneNumber
    case "person", "personname", "propernoun", "name", "fullname": self = .personName
    case "email", "emailaddress", "mail": self = .emailAddress
    case "website", "webaddress", "web", "url": self = .webAddress
    case "lookup": self = .lookup
    default: return nil
    }
  }
}
