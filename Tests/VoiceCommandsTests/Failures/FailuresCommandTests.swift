import Foundation
import Testing
import VoiceCore

@testable import VoiceCommands

struct FailuresCommandTests {
  @Test func listsEveryCode() async {
    let (status, console) = await voice("failures")
    #expect(status == .done)
    for row in FailureCatalogue.areas.flatMap(\.definitions) {
      #expect(console.output.contains(row.code.rawValue))
    }
    #expect(!console.output.contains("\u{1B}"))
  }

  @Test func explainsOne() async {
    let (status, console) = await voice("failures", "audio.input.no-device")
    #expect(status == .done)
    #expect(console.output.contains("Plug in a microphone"))
    #expect(console.output.contains("Exit        3"))
    #expect(console.output.contains("voice recognize --mic --device none-such"))
  }

  @Test func takesTheBeginningOfACode() async {
    let (_, console) = await voice("failures", "network.server")
    #expect(console.output.contains("network.server.unreachable"))
    #expect(!console.output.contains("network.tls.failed"))
  }

  @Test func guessesWhatWasMeant() async {
    let (status, console) = await voice("failures", "audio.input.nodevice")
    #expect(status == .usage)
    #expect(console.output.isEmpty)
    #expect(console.error.contains("Did you mean audio.input.no-device?"))
  }

  @Test func printsTheDocumentation() async {
    let (_, console) = await voice("failures", "--markdown")
    #expect(console.output == FailureCatalogue.markdown())
  }

  @Test func printsObjects() async throws {
    let (_, console) = await voice("failures", "--json")
    let rows = try console.outputLines.map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
    #expect(rows.count == FailureCatalogue.areas.flatMap(\.definitions).count)
    #expect(rows.allSatisfy { $0["code"] is String && $0["advice"] is String && $0["exitStatus"] is Int })
  }

  @Test func theWholeCatalogueAndACodeExcludeEachOther() async {
    #expect(await voice("failures", "x", "--markdown").status == .usage)
  }
}
