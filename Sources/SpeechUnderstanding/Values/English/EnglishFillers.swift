/// Words without a meaning of their own.
enum EnglishFillers {
  /// Only words that change nothing wherever they stand; "like", "now" and "maybe" often mean something. "oh"
  /// is a digit too where one is expected.
  static let words: Set<String> = [
    "uh", "um", "uhm", "umm", "er", "erm", "ah", "eh", "hm", "hmm", "mm", "oh", "well", "so", "just",
    "please",
    "okay", "ok", "actually", "basically", "kindly",
  ]
}
