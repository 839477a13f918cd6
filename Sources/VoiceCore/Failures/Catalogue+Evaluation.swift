extension VoiceFailure.Code {
  /// A folder to evaluate has no labels, or is none.
  public static let labelsNotFound = Self("evaluation.labels.not-found")
  /// A label of a recording cannot be read.
  public static let labelsInvalid = Self("evaluation.labels.invalid")
  /// The labels of a folder to evaluate name no recording.
  public static let labelsEmpty = Self("evaluation.labels.empty")
}

extension FailureCatalogue {
  static let evaluation: [Definition] = [
    Definition(
      .labelsNotFound, .client, .changeConfiguration("the folder"),
      happens: "The folder to evaluate has no labels.",
      response: "Does not start.",
      advice: "Name a folder with recordings and a file labels.jsonl; `voice help evaluate` shows its form.",
      reproduce: "`voice evaluate /none-such`"),
    Definition(
      .labelsInvalid, .utterance, .changeConfiguration("the label"),
      happens: "A label cannot be read.",
      response: "Names the file and the line, evaluates the other recordings and ends with status 3.",
      advice: "Correct the line; `voice help evaluate` shows the form of labels.",
      reproduce: "`mkdir set; echo '{' > set/labels.jsonl; voice evaluate set`"),
    Definition(
      .labelsEmpty, .client, .changeConfiguration("the labels"),
      happens: "The labels name no recording.",
      response: "Does not start.",
      advice: "Add a line for each recording; `voice help evaluate` shows its form.",
      reproduce: "`mkdir set; touch set/labels.jsonl; voice evaluate set`"),
  ]
}
