import SpeechUnderstanding
import Testing

struct SALDiagnosticTests {
  @Test func severitiesAreOrdered() {
    #expect(SALDiagnostic.Severity.note < .warning)
    #expect(SALDiagnostic.Severity.warning < .error)
    #expect(SALDiagnostic.Severity.allCases.max() == .error)
  }
}
