import SpeechUnderstanding
import Testing

struct EntityTypeTests {
  @Test(arguments: ["", "strin", "$number", "date-of-birth"])
  func knowsNoOtherTypes(name: String) {
    #expect(EntityType(configurationName: name) == nil)
  }

  @Test(arguments: EntityType.allCases)
  func knowsItsOwnNames(type: EntityType) {
    #expect(EntityType(configurationName: type.rawValue) == type)
    #expect(EntityType(configurationName: type.rawValue.uppercased()) == type)
  }

  @Test(arguments: [
    ("Phone", EntityType.phoneNumber), ("phone-number", .phoneNumber), ("person name", .personName),
    ("proper_noun", .personName),
    ("PersonName", .personName), ("e-mail", .emailAddress), ("email", .emailAddress),
    ("website", .webAddress),
    ("URL", .webAddress), ("dateFuture", .dateFuture), ("date past", .datePast),
  ])
  func knowsOtherSpellings(name: String, type: EntityType) {
    #expect(EntityType(configurationName: name) == type)
  }
}
