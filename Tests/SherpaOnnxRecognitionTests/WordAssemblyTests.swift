import Foundation
import SpeechPipeline
import Testing
import VoiceTesting

@testable import SherpaOnnxRecognition

struct WordAssemblyTests {
  private func words(_ pieces: [(String, Int)], length: Int = 10_000) -> [RecognizedWord] {
    WordAssembly.words(
      of: pieces.map { WordAssembly.Piece(text: $0.0, time: .milliseconds($0.1), logProbability: -0.5) },
      length: .milliseconds(length))
  }

  @Test func joinsThePiecesOfWords() {
    let pieces = [(" HE", 80), ("LL", 120), ("O", 160), (" WOR", 400), ("LD", 480)]
    #expect(words(pieces).map(\.text) == ["hello", "world"])
    #expect(words(pieces.map { ($0.0.replacingOccurrences(of: " ", with: "▁"), $0.1) }) == words(pieces))
  }

  @Test func aWordEndsWhereTheNextBeginsAtTheLatest() {
    let found = words([(" A", 80), ("B", 120), (" C", 200), (" D", 1000)], length: 1100)
    #expect(found.map(\.start) == [.milliseconds(80), .milliseconds(200), .milliseconds(1000)])
    #expect(found.map(\.end) == [.milliseconds(200), .milliseconds(440), .milliseconds(1100)])
  }

  @Test func nothingLiesBehindTheEnd() {
    let found = words([(" A", 80), (" B", 400)], length: 300)
    #expect(found.map(\.start) == [.milliseconds(80), .milliseconds(300)])
    #expect(found.map(\.end) == [.milliseconds(300), .milliseconds(300)])
  }

  @Test func timesThatGoBackAreLevelled() {
    let found = words([(" A", 400), (" B", 200), (" C", 100)])
    for (word, next) in zip(found, found.dropFirst()) {
      #expect(word.end <= next.start && word.start <= word.end)
    }
  }

  @Test func ideographsAreWords() {
    #expect(
      words([("你", 0), ("好", 40), (" OK", 80), ("AY", 120), ("吗", 160)]).map(\.text) == [
        "你", "好", "okay", "吗",
      ])
    #expect(words([("你", 0), ("A", 40), ("B", 80)]).map(\.text) == ["你", "ab"])
  }

  @Test func bytesArePutTogether() {
    #expect(words([(" ", 0), ("<0xC3>", 40), ("<0xA4>", 80), ("B", 120)]).map(\.text) == ["äb"])
    #expect(words([(" A", 0), ("<0xC3>", 40)]).map(\.text) == ["a\u{fffd}"])
  }

  @Test func aMarkAloneBeginsTheNextWord() {
    let found = words([(" A", 0), (" ", 200), ("B", 400), (" ", 600)])
    #expect(found.map(\.text) == ["a", "b"])
    #expect(found.last?.start == .milliseconds(400))
  }

  @Test func confidenceIsTheMeanOfThePieces() {
    let pieces = [(" A", -0.1), ("B", -0.3)].map {
      WordAssembly.Piece(text: $0.0, time: .zero, logProbability: $0.1)
    }
    let confidence = WordAssembly.words(of: pieces, length: .seconds(1)).first?.confidence
    #expect(confidence.map { abs($0 - exp(-0.2)) < 1e-9 } == true)
    let unsure = pieces + [WordAssembly.Piece(text: "C", time: .zero, logProbability: nil)]
    #expect(WordAssembly.words(of: unsure, length: .seconds(1)).first?.confidence == nil)
    let broken = [WordAssembly.Piece(text: " A", time: .zero, logProbability: .nan)]
    #expect(WordAssembly.words(of: broken, length: .seconds(1)).first?.confidence == nil)
  }

  @Test func readsTheScoresOfAResult() {
    let said =
      #"{ "text": " \"ys_probs\": [9]", "tokens": [" A"], "ys_probs": [-0.125000, -1.5], "lm_probs": [] }"#
    #expect(TokenScores.logProbabilities(in: said) == [-0.125, -1.5])
    #expect(TokenScores.logProbabilities(in: #"{"ys_probs": []}"#).isEmpty)
    #expect(TokenScores.logProbabilities(in: #"{"ys_probs": [1"#).isEmpty)
    #expect(TokenScores.logProbabilities(in: "").isEmpty)
  }
}

struct PhraseListTests {
  private func table(_ tokens: [String]) throws -> TokenTable {
    try TokenTable(Data(tokens.enumerated().map { "\($1) \($0)\n" }.joined().utf8))
  }

  @Test func writesPhrasesAsTheModelSpells() throws {
    let upper = try table(["<blk>", "▁A", "B", "C"])
    let list = PhraseList(vocabulary: ["ab c", "B"], bias: 0.5, tokens: upper, isPossible: true)
    #expect(list.text == "AB C :1.5/B :1.5")
    let lower = try table(["<blk>", "▁a", "b"])
    #expect(PhraseList(vocabulary: ["Ab"], bias: 1, tokens: lower, isPossible: true).text == "ab :3.0")
  }

  @Test func withoutPreferenceThereIsNoText() throws {
    let tokens = try table(["<blk>", "▁A"])
    #expect(PhraseList(vocabulary: ["a"], bias: 0, tokens: tokens, isPossible: true).text == nil)
    #expect(PhraseList(vocabulary: ["a"], bias: .nan, tokens: tokens, isPossible: true).text == nil)
    #expect(PhraseList(vocabulary: ["a"], bias: 1, tokens: tokens, isPossible: false).text == nil)
    #expect(PhraseList(vocabulary: [], bias: 1, tokens: tokens, isPossible: true).text == nil)
  }

  @Test func signsOfTheLibraryDoNotPass() throws {
    let tokens = try table(["<blk>", "▁A", ":", "/", "#", "@", "-", "1"])
    let odd = [":1", "a/a", "#1", "@a", "-a", "a:1"]
    let list = PhraseList(vocabulary: odd + ["a-1"], bias: 0.5, tokens: tokens, isPossible: true)
    #expect(list.text == "A-1 :1.5")
    #expect(list.unknown == odd)
  }
}

struct TinyModelTests {
  @Test func theScriptMakesTheModelOfTheTests() async throws {
    try await withTemporaryFolder(named: "sherpa-made") { folder in
      let python = TinyModel.root.appending(path: ".peers/bin/python").path
      let process = try #require(
        try? RunningProgram(python, [TinyModel.script, folder.path]),
        "There is no Python for the tests in .peers: run make setup-peers.")
      #expect(await process.status() == 0)
      let others = EncoderArchitecture.allCases.filter { $0 != .lstm }.map { "encoders/\($0.rawValue).onnx" }
      for file in TinyModel.files + others {
        let made = try Data(contentsOf: folder.appending(path: file))
        #expect(
          try made == Data(contentsOf: URL(fileURLWithPath: "\(TinyModel.folder)/\(file)")), "\(file) differs"
        )
      }
    }
  }
}
