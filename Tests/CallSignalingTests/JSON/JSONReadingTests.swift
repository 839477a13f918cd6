import CallSignaling
import Testing

/// Cases of RFC 8259, by section; bad input first.
@Suite struct JSONReadingTests {
  static func error(_ text: String, limits: JSON.Limits = JSON.Limits()) -> JSONError? {
    do {
      _ = try JSON.read(text, limits: limits)
      return nil
    } catch {
      return error
    }
  }

  @Test func aHundredThousandNestedArraysAreRefusedWithoutRecursion() {
    let error = Self.error(String(repeating: "[", count: 100_000))
    #expect(error?.reason == .tooDeep)
    #expect(error?.offset == 64)
    let objects = Self.error(String(repeating: #"{"a":"#, count: 100_000))
    #expect(objects?.reason == .tooDeep)
  }

  @Test func theDepthLimitIsExact() throws {
    let limits = JSON.Limits(depth: 3)
    #expect(try JSON.read("[[[]]]", limits: limits) == [[[]]])
    #expect(Self.error("[[[[]]]]", limits: limits)?.reason == .tooDeep)
    #expect(Self.error(#"[{"a":[{}]}]"#, limits: limits)?.path.description == "$[0].a[0]")
    #expect(JSON.Limits(depth: .max).depth == 512, "no caller can ask for an endless stack")
  }

  @Test func theSizeLimitIsExact() throws {
    #expect(try JSON.read("1234", limits: JSON.Limits(bytes: 4)) == 1234)
    #expect(Self.error("12345", limits: JSON.Limits(bytes: 4))?.reason == .tooLarge(bytes: 5))
    #expect(Self.error("\"" + String(repeating: "a", count: 10_000_000) + "\"") != nil)
  }

  @Test func theNumberOfValuesIsLimited() throws {
    #expect(try JSON.read("[1,2]", limits: JSON.Limits(values: 3)) == [1, 2])
    #expect(Self.error("[1,2,3]", limits: JSON.Limits(values: 3))?.reason == .tooManyValues)
  }

  @Test(arguments: [
    "", " ", "{", "[", "\"", "[1", "[1,", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "tru", "nul", "-",
    "1.",
    "1e", "1e+", "\"\\", "\"\\u", "\"\\u12", "\"\\ud83d\\u",
  ])
  func aTextThatEndsTooSoonSaysSo(text: String) {
    #expect(Self.error(text)?.reason == .unexpectedEnd)
  }

  @Test(arguments: [
    "]", "}", ",", ":", "[,]", "[1,]", "[1 2]", "{,}", "{1:2}", "{\"a\" 1}", "{\"a\":1,}", "{'a':1}", "nan",
    "True",
    "NULL", "+1", ".5", "Infinity", "\u{FEFF}1", "#", "/* */1", "\u{00A0}1", "undefined",
  ])
  func aByteThatCannotStandThereIsNamed(text: String) {
    guard case .unexpectedByte? = Self.error(text)?.reason else {
      Issue.record("\(text): \(String(describing: Self.error(text)))")
      return
    }
  }

  @Test(arguments: ["01", "-01", "1.x", "1.e1", "1ex", "-x", "00", "-a", "1.-1"])
  func numbersOutsideTheGrammarAreRefused(text: String) {
    #expect(Self.error(text)?.reason == .invalidNumber)
  }

  @Test(arguments: ["1 1", "{}{}", "null x", "[]]", "\"a\"b", "0x10", "1,"])
  func whatFollowsTheValueIsRefused(text: String) {
    #expect(Self.error(text)?.reason == .trailingBytes)
  }

  @Test(
    arguments: [
      [0xFF], [0xC3], [0xC3, 0x28], [0xE2, 0x82], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
      [0x80],
    ] as [[UInt8]])
  func bytesThatAreNotUTF8AreRefused(bytes: [UInt8]) {
    let quote = [UInt8(ascii: "\"")]
    #expect(throws: JSONError.self) { try JSON.read(quote + bytes + quote) }
    // Also after an escape, which takes another way through the reader.
    #expect(throws: JSONError.self) { try JSON.read(Array(#""\n"#.utf8) + bytes + quote) }
    #expect(throws: JSONError.self) { try JSON.read(Array(#"{""#.utf8) + bytes + Array(#"":1}"#.utf8)) }
    #expect(throws: JSONError.self) { try JSON.read(bytes) }
  }

  @Test func controlCharactersHaveToBeEscaped() {
    for byte in UInt8(0)..<0x20 {
      let bytes = [UInt8(ascii: "\""), byte, UInt8(ascii: "\"")]
      #expect(throws: JSONError.self) { try JSON.read(bytes) }
    }
    #expect(Self.error("\"\u{7F}\"") == nil, "DEL is allowed")
  }

  @Test(arguments: [#""\x""#, #""\U0041""#, #""\u00G0""#, #""\ ""#, #""\'""#, #""\0""#])
  func unknownEscapesAreRefused(text: String) {
    #expect(Self.error(text)?.reason == .invalidEscape)
  }

  @Test func aNameThatOccursTwiceIsRefusedWithItsPlace() {
    let error = Self.error(#"{"a":{"callID":"x","callID":"y"}}"#)
    #expect(error?.reason == .duplicateName)
    #expect(error?.path.description == "$.a.callID")
    #expect(error?.offset == 19)
    #expect(Self.error(#"{"a":1,"\u0061":2}"#)?.reason == .duplicateName, "escaped is the same name")
    let many = (0..<40).map { "\"k\($0)\":0" }.joined(separator: ",")
    #expect(Self.error("{\(many)}") == nil)
    #expect(Self.error("{\(many),\"k3\":0}")?.reason == .duplicateName)
    #expect(Self.error("{\(many),\"k30\":0}")?.reason == .duplicateName)
  }

  @Test func manyNamesDoNotTakeQuadraticTime() throws {
    let text = "{" + (0..<49_000).map { "\"k\($0)\":0" }.joined(separator: ",") + "}"
    let json = try JSON.read(text)
    #expect(json.objectValue?.members.count == 49_000)
  }

  @Test func anErrorNamesItsPlace() {
    let error = Self.error(#"{"params":{"list":[1,{"sdp":tru}]}}"#)
    #expect(error?.path.description == "$.params.list[1].sdp")
    #expect(error?.offset == 31)
  }

  @Test(
    arguments: [
      ("null", JSON.null), ("true", true), ("false", false), (" \t\r\n1\n", 1), ("\"\"", ""), ("[]", []),
      ("{}", [:]),
      ("[ 1 , [ ] , { \"a\" : null } ]", [1, [], ["a": .null]]),
      (#""\"\\\/\b\f\n\r\t\u00e9""#, .string("\"\\/\u{8}\u{C}\n\r\t\u{e9}")),
      (#""\ud83d\ude00""#, "😀"), (#""😀é\u0000""#, .string("😀é\0")), ("{\"\":{\"\":0}}", ["": ["": 0]]),
    ] as [(String, JSON)])
  func validTextsAreRead(text: String, value: JSON) throws {
    #expect(try JSON.read(text) == value)
  }

  @Test(arguments: [
    (#""\ud83d""#, "\u{FFFD}"), (#""\ude00x""#, "\u{FFFD}x"), (#""\ud83dx""#, "\u{FFFD}x"),
    (#""\ud83d\n""#, "\u{FFFD}\n"), (#""\ud83d\u0041""#, "\u{FFFD}A"),
    (#""\ud83d\ud83d\ude00""#, "\u{FFFD}😀"),
  ])
  func aLoneSurrogateIsReplaced(text: String, value: String) throws {
    #expect(try JSON.read(text) == .string(value))
  }

  @Test(arguments: [
    "0", "-0", "1.0", "1e5", "1E+05", "-1.5e-10", "9007199254740993", "123456789012345678901234567890",
    "1e400", "0.10",
  ])
  func numbersKeepTheirDigits(text: String) throws {
    let json = try JSON.read(text)
    #expect(json.text == text)
    guard case .number(let number) = json else {
      Issue.record("\(text) is not a number")
      return
    }
    #expect(number.text == text)
  }

  @Test(arguments: [
    ("9007199254740993", 9_007_199_254_740_993 as Int?), ("16.0", 16), ("1.6e1", 16), ("-0", 0), ("1.5", nil),
    ("1e400", nil), ("9223372036854775807", Int.max), ("9223372036854775808", nil), ("1e30", nil),
    ("-9223372036854775808", Int.min),
  ])
  func integersAreExactOrNone(text: String, value: Int?) {
    #expect((try? JSON.read(text))?.integerValue == value)
  }

  @Test func whatIsNoNumberIsNotWritten() {
    #expect(JSONNumber(Double.nan) == nil)
    #expect(JSONNumber(-Double.infinity) == nil)
    #expect(JSONNumber(0.5)?.text == "0.5")
    #expect(JSONNumber(12.0)?.text == "12")
    #expect(JSONNumber(1e300).flatMap { try? JSON.read($0.text) } != nil)
  }

  @Test func writingAndReadingGivesTheSame() throws {
    let value: JSON = [
      "jsonrpc": "2.0", "id": 1, "text": "a\"\\\n\r\t\u{1}\u{7F}\u{2028}é😀",
      "list": [.null, true, false, []],
      "empty": [:],
    ]
    #expect(try JSON.read(value.bytes) == value)
    #expect(value["text"].map(\.text) == "\"a\\\"\\\\\\n\\r\\t\\u0001\u{7F}\u{2028}é😀\"")
    #expect(value.text == (try JSON.read(value.text)).text)
  }

  @Test func theOrderOfMembersIsKept() throws {
    let text = #"{"z":1,"a":2,"m":3}"#
    #expect(try JSON.read(text).text == text)
    var object: JSONObject = ["a": 1, "b": 2, "c": 3]
    object["b"] = nil
    object["a"] = 9
    object["d"] = 4
    #expect(JSON.object(object).text == #"{"a":9,"c":3,"d":4}"#)
  }

  @Test func descriptionsSayNothingOfTheContent() throws {
    let json = try JSON.read(#"{"passwd":"hunter2","list":["hunter2"]}"#)
    #expect(!"\(json)".contains("hunter2"))
    #expect(!String(reflecting: json).contains("hunter2"))
    #expect(!"\(json.objectValue.map { "\($0)" } ?? "")".contains("hunter2"))
  }

  @Test func secretsAreReplacedForLogs() throws {
    let json = try JSON.read(
      #"{"method":"login","params":{"login":"al","passwd":"hunter2","x":[{"SDP":"v=0"}],"sessid":"s"}}"#)
    #expect(
      json.redacted.text
        == #"{"method":"login","params":{"login":"al","passwd":"<9 bytes>","x":[{"SDP":"<5 bytes>"}],"sessid":"s"}}"#
    )
  }

  /// Random bytes made of what JSON is made of: never a trap, and what is read is written and read to the same.
  @Test func randomTextsNeverTrap() {
    var generator = SystemRandomNumberGenerator()
    let seed = generator.next()
    var random = Splitmix(state: seed)
    let pieces = [
      "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "d83d", "de00", "1", "-", ".", "e", "true", "null",
      " ", "a", "é",
      "\u{0}", "0",
    ]
    var read = 0
    for _ in 0..<20_000 {
      let text = (0..<Int.random(in: 0..<12, using: &random)).map { _ in
        pieces[Int.random(in: 0..<pieces.count, using: &random)]
      }.joined()
      guard let value = try? JSON.read(text) else { continue }
      read += 1
      #expect((try? JSON.read(value.bytes)) == value, "seed \(seed): \(text)")
    }
    #expect(read > 100, "some of the texts are JSON (seed \(seed))")
  }
}

struct Splitmix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    self.state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = self.state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
