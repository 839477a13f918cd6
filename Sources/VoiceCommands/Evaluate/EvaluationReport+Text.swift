import Foundation
import SpeechUnderstanding

/// Columns of text: the first to the left, the others to the right.
struct TextTable {
  var header: [String]
  var rows: [[StyledText]] = []
  /// How many of the first columns are to the left.
  var leftColumns = 1

  /// The table; each line begins with two spaces.
  var lines: [StyledText] {
    let columns = self.header.indices
    let widths = columns.map { column in
      max(
        TextWidth.columns(of: self.header[column]),
        self.rows.map { column < $0.count ? $0[column].width : 0 }.max() ?? 0)
    }
    let header = self.line(self.header.map { StyledText($0, .dim) }, widths)
    return [header] + self.rows.map { self.line($0, widths) }
  }

  private func line(_ cells: [StyledText], _ widths: [Int]) -> StyledText {
    var text = StyledText()
    for (column, cell) in cells.enumerated() where column < widths.count {
      let space = String(repeating: " ", count: max(0, widths[column] - cell.width))
      text.append("  ")
      if column < self.leftColumns {
        text.append(cell)
        // Nothing comes after the last column.
        if column < cells.count - 1 { text.append(space) }
      } else {
        text.append(space)
        text.append(cell)
      }
    }
    return text
  }
}

extension EvaluationReport {
  /// How many lines the lists of confusions and recordings have.
  private static let listLength = 10

  /// The whole report for people.
  func lines(symbols: Console.Symbols) -> [StyledText] {
    var lines = self.table(self.conditions, title: "Condition", group: nil)
    if !self.domains.isEmpty { lines += [""] + self.table(self.domains, title: "Domain", group: \.domain) }
    if !self.voices.isEmpty { lines += [""] + self.table(self.voices, title: "Voice", group: \.voice) }
    lines += self.list(self.confusedIntents, title: "Intents that were confused", symbols)
    lines += self.list(self.confusedEntities, title: "Values that were confused", symbols)
    lines += self.recordings(symbols)
    return lines
  }

  private func table(
    _ rows: [Row], title: String, group: KeyPath<Row, String?>?
  ) -> [StyledText] {
    let hasWords = self.conditions.contains { $0.transcribed > 0 }
    var header = [title] + (group == nil ? [] : ["Condition"])
    header += ["Files", "Intent", "Accepted"]
    if hasWords { header += ["Sentence", "Word errors"] }
    header += ["Nothing", "Rejected"]
    if self.hasUncovered { header += ["Others", "accepted"] }
    var table = TextTable(header: header, leftColumns: group == nil ? 1 : 2)
    var last: String?
    for row in rows {
      var cells: [StyledText] = []
      if let group {
        let name = row[keyPath: group] ?? ""
        cells.append(StyledText(name == last ? "" : name.isEmpty ? "(none)" : name))
        last = name
      }
      cells.append(StyledText(row.condition))
      cells.append(StyledText(String(row.covered)))
      cells.append(Self.percent(row.intentAccuracy))
      cells.append(Self.percent(row.acceptance, .bold))
      if hasWords { cells += [Self.percent(row.sentenceAccuracy), Self.percent(row.wordErrorRate)] }
      cells += [Self.percent(row.unheardRate), Self.percent(row.rejectionRate)]
      if self.hasUncovered {
        cells += [StyledText(String(row.uncovered)), Self.percent(row.falseAcceptance)]
      }
      table.rows.append(cells)
    }
    return table.lines
  }

  private func list(_ entries: [Confused], title: String, _ symbols: Console.Symbols) -> [StyledText] {
    guard !entries.isEmpty else { return [] }
    var table = TextTable(header: [title, "", "times"], leftColumns: 2)
    for entry in entries.prefix(Self.listLength) {
      let name = entry.confusion.name.isEmpty ? "" : "\(entry.confusion.name): "
      table.rows.append([
        StyledText(name, .dim) + StyledText(entry.confusion.expected ?? "(nothing)"),
        StyledText("\(symbols.arrow) ", .dim) + StyledText(entry.confusion.understood ?? "(nothing)"),
        StyledText(String(entry.count)),
      ])
    }
    return [""] + table.lines + Self.rest(entries.count)
  }

  private func recordings(_ symbols: Console.Symbols) -> [StyledText] {
    guard !self.worst.isEmpty else { return [] }
    var lines: [StyledText] = ["", StyledText("  Recordings that were not understood", .dim)]
    for missed in self.worst.prefix(Self.listLength) {
      var line = StyledText("  \(missed.file) ")
      line.append(
        missed.trials > 1 ? "in \(missed.failures) of \(missed.trials) conditions" : missed.example.condition,
        .dim)
      lines.append(line)
      if let words = missed.example.label.words {
        let alignment = Alignment(
          reference: words,
          hypothesis: Alignment.words(of: missed.example.hearing.words.joined(separator: " ")))
        lines.append(StyledText("    ") + alignment.marked)
      } else {
        lines.append(StyledText("    " + missed.example.hearing.words.joined(separator: " ")))
      }
      let wanted = missed.example.expectedIntents ?? "(to be rejected)"
      let came = missed.example.hearing.meaning.map(StyledText.init(annotated:)) ?? StyledText("(nothing)")
      lines.append(StyledText("    \(wanted) \(symbols.arrow) ", .dim) + came)
    }
    return lines + Self.rest(self.worst.count)
  }

  private static func rest(_ count: Int) -> [StyledText] {
    count > Self.listLength ? [StyledText("  and \(count - Self.listLength) more", .dim)] : []
  }

  static func percent(_ value: Double?, _ style: TextStyle = []) -> StyledText {
    guard let value else { return StyledText("-", .dim) }
    return StyledText(String(format: "%.1f %%", value * 100), style)
  }
}
