import Foundation
import Testing

@testable import VoiceCommands

struct JSONValueTests {
  @Test func keepsTheOrderOfFields() {
    #expect(
      JSONValue.object(["z": .integer(1), "a": .bool(true), "m": .null]).text == #"{"z":1,"a":true,"m":null}"#
    )
  }

  @Test(arguments: [
    (0.12, "0.12"), (0.3, "0.3"), (1.0, "1"), (0, "0"), (2.3456, "2.346"), (0.9996, "1"), (-0.5, "-0.5"),
    (-0.0001, "0"),
    (12.05, "12.05"), (.nan, "null"), (.infinity, "null"), (1e300, "null"),
  ])
  func printsTimesWithAtMostThreeDecimals(value: Double, text: String) {
    #expect(JSONValue.decimal(value).text == text)
  }

  @Test func anyTextIsOneLineThatOtherParsersRead() throws {
    var text = ""
    for value in UInt32(0)...0x2FF {
      if let scalar = Unicode.Scalar(value) { text.unicodeScalars.append(scalar) }
    }
    text += "\u{2028}\u{2029}\u{FFFE}“日本”👍🏽\\\""
    let line = JSONValue.array([.string(text)]).text
    #expect(!line.unicodeScalars.contains { $0 == "\n" || $0 == "\r" || $0 == "\u{2028}" || $0 == "\u{85}" })
    let read = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String]
    #expect(read == [text])
  }
}
