import SpeechUnderstanding
import Testing

@testable import VoiceCommands

struct EvaluationReportTests {
  private static let labels = EvaluationLabel.parse(
    """
    {"file": "a.wav", "text": "*on the [radio](device)", "voice": "ann", "domain": "home"}
    {"file": "b.wav", "text": "*off the [radio](device) please", "voice": "bob", "domain": "home"}
    {"file": "c.wav", "text": "*go [left](side)", "voice": "ann", "domain": "robot"}
    {"file": "d.wav", "text": "nice weather", "in_grammar": false, "voice": "bob", "domain": "home"}
    """
  ).labels

  /// Ann is understood when it is quiet; everything else goes wrong.
  private static let scores: [EvaluationScore] = Self.labels.flatMap { label in
    let heard: [(EvaluationCondition, String, String?)] =
      switch label.file {
      case "a.wav": [(.clean, "the radio", "*on the [radio](device)"), (.pink(decibels: 10), "", nil)]
      case "b.wav":
        [
          (.clean, "the radio", "*on the [radio](device)"),
          (.pink(decibels: 10), "the radio", "*on the [radio](device)"),
        ]
      case "c.wav": [(.clean, "left", "*go [left](side)"), (.pink(decibels: 10), "lift", "*go [lift](side)")]
      default: [(.clean, "nice", nil), (.pink(decibels: 10), "left", "*go [left](side)")]
      }
    return heard.map { condition, words, meaning in
      EvaluationScore(
        label: label, condition: condition,
        hearing: EvaluationHearing(
          words: words.split(separator: " ").map(String.init),
          meaning: meaning.flatMap { AnnotatedUtterance.parse($0).utterance }))
    }
  }

  @Test func nothingGivesAnEmptyTable() {
    let report = EvaluationReport([])
    #expect(report.conditions.isEmpty)
    #expect(
      report.lines(symbols: .ascii).map(\.plain) == [
        "  Condition  Files  Intent  Accepted  Nothing  Rejected"
      ])
  }

  @Test func rowsCountCoveredSpeechApart() {
    let report = EvaluationReport(Self.scores)
    let clean = report.conditions.first
    #expect(clean?.covered == 3)
    #expect(clean?.uncovered == 1)
    #expect(clean?.acceptance == 2.0 / 3)
    #expect(clean?.falseAcceptance == 0)
    #expect(clean?.wordErrorRate == 1.0 / 6)
    #expect(report.conditions.last?.unheardRate == 1.0 / 3)
    #expect(report.conditions.last?.rejectionRate == 1.0 / 3)
    #expect(report.conditions.last?.falseAcceptance == 1)
  }

  @Test func printsTablesConfusionsAndTheWorst() {
    let text = EvaluationReport(Self.scores).lines(symbols: .unicode).map(\.plain).joined(separator: "\n")
    #expect(
      text == """
          Condition  Files  Intent  Accepted  Sentence  Word errors  Nothing  Rejected  Others  accepted
          clean          3  66.7 %    66.7 %    66.7 %       16.7 %    0.0 %     0.0 %       1     0.0 %
          pink10         3  33.3 %     0.0 %     0.0 %       66.7 %   33.3 %    33.3 %       1   100.0 %

          Domain  Condition  Files   Intent  Accepted  Sentence  Word errors  Nothing  Rejected  Others  accepted
          home    clean          2   50.0 %    50.0 %    50.0 %       20.0 %    0.0 %     0.0 %       1     0.0 %
                  pink10         2    0.0 %     0.0 %     0.0 %       60.0 %   50.0 %    50.0 %       1   100.0 %
          robot   clean          1  100.0 %   100.0 %   100.0 %        0.0 %    0.0 %     0.0 %       0         -
                  pink10         1  100.0 %     0.0 %     0.0 %      100.0 %    0.0 %     0.0 %       0         -

          Voice  Condition  Files   Intent  Accepted  Sentence  Word errors  Nothing  Rejected  Others  accepted
          ann    clean          2  100.0 %   100.0 %   100.0 %        0.0 %    0.0 %     0.0 %       0         -
                 pink10         2   50.0 %     0.0 %     0.0 %      100.0 %   50.0 %    50.0 %       0         -
          bob    clean          1    0.0 %     0.0 %     0.0 %       33.3 %    0.0 %     0.0 %       1     0.0 %
                 pink10         1    0.0 %     0.0 %     0.0 %       33.3 %    0.0 %     0.0 %       1   100.0 %

          Intents that were confused               times
          off                         → on             2
          (nothing)                   → go             1
          on                          → (nothing)      1

          Values that were confused          times
          side: left                 → lift      1

          Recordings that were not understood
          b.wav in 2 of 2 conditions
            the radio [please]
            off → *on the [radio](device)
          a.wav in 1 of 2 conditions
            [the] [radio]
            on → (nothing)
          c.wav in 1 of 2 conditions
            lift(left)
            go → *go [lift](side)
          d.wav in 1 of 2 conditions
            [nice] left(weather)
            (to be rejected) → *go [left](side)
        """)
  }

  @Test func printsOneObjectForEachScoreAndRow() throws {
    let score = try #require(Self.scores.last)
    #expect(
      EventObject.evaluated(score).text == """
        {"event":"evaluated","file":"d.wav","condition":"pink10","domain":"home","voice":"bob","inGrammar":false,\
        "text":"left","expectedIntent":"","intent":"go","expectedEntities":[],\
        "entities":[{"type":"side","value":"left"}],"intentRight":false,"accepted":false,"rejected":false,\
        "reference":"nice weather","words":2,"wordErrors":2}
        """)
    let row = try #require(EvaluationReport(Self.scores).domains.last)
    #expect(
      EventObject.summary(row).text == """
        {"event":"summary","condition":"pink10","domain":"robot","files":1,"filesOutsideGrammar":0,\
        "intentAccuracy":1,"acceptance":0,"sentenceAccuracy":0,"wordErrorRate":1,"nothingRecognized":0,"rejected":0}
        """)
  }
}
