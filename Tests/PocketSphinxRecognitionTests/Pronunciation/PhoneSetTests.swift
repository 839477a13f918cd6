import Foundation
import Testing
import VoiceCore

@testable import PocketSphinxRecognition

struct PhoneSetTests {
  private func phones(of definition: Data) throws -> Set<String> {
    let folder = NSTemporaryDirectory() + "phones-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    #expect(FileManager.default.createFile(atPath: "\(folder)/mdef", contents: definition))
    let model = PocketSphinxModel(language: "en-US", acousticModel: folder, languageModel: "", dictionary: "")
    return try PhoneSet(model: model).phones
  }

  @Test(arguments: [
    "", "BMDF", "garbage\n", "BMDF\u{1}\u{0}\u{0}\u{0}\u{7F}\u{7F}\u{7F}\u{7F}", "+NSN+ - - - filler 0\n",
  ])
  func aDamagedDefinitionIsInvalid(text: String) {
    let failure = #expect(throws: VoiceFailure.self) { try self.phones(of: Data(text.utf8)) }
    #expect(failure?.code == .modelInvalid)
  }

  @Test func anyTruncationIsInvalidOrComplete() throws {
    let model = try PocketSphinxModel.find(language: "en-US")
    let whole = try #require(FileManager.default.contents(atPath: "\(model.acousticModel)/mdef")).prefix(2400)
    let complete = try self.phones(of: whole)
    #expect(complete.count == 39)
    for length in stride(from: 0, to: whole.count, by: 13) {
      let found = try? self.phones(of: whole.prefix(length))
      #expect(found == nil || found == complete)
    }
  }

  @Test func readsDefinitionsInText() throws {
    let text = """
      0.3
      3 n_base
      #
      # base lft  rt p attrib tmat      ... state id's ...
      +NSN+  -   - - filler    0    0    1    2    N
        AA  -   -  -    n/a    1    3    4    5    N
         B  -   -  -    n/a    2    6    7    8    N
         B  AA  AA  b    n/a    2    16    17    18    N
      """
    #expect(try self.phones(of: Data(text.utf8)) == ["AA", "B"])
  }
}
