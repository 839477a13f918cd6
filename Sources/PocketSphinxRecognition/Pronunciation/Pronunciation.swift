/// How a word sounds, in the phones of a model.
package struct Pronunciation: Hashable, Sendable, CustomStringConvertible {
  /// The phones as the model's dictionary writes them, such as `["K", "AA", "T", "L", "IH", "N"]`.
  package var phones: [String]

  package init(_ phones: [String]) {
    self.phones = phones
  }

  /// The phones with blanks between them, as PocketSphinx takes them.
  package var description: String { self.phones.joined(separator: " ") }
}
