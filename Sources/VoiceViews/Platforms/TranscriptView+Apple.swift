#if canImport(SwiftUI)
  public import SwiftUI
  public import VoiceCore

  /// The words of a segment or result: values are marked, words that may still change are dim.
  ///
  /// ```swift
  /// TranscriptView(segment)   // a SpeechSegment, or a SpeechRecognitionResult
  /// ```
  public struct TranscriptView: View {
    private let runs: TranscriptRuns
    private let palette: [Color]

    /// Creates a view.
    ///
    /// - Parameters:
    ///   - content: What was said.
    ///   - palette: The colours of the types of entities, in the order in which they appear; used again from the start when
    ///     there are more types.
    public init(
      _ content: some TranscriptContent, palette: [Color] = [.blue, .orange, .purple, .green, .pink]
    ) {
      self.runs = TranscriptRuns(content)
      self.palette = palette
    }

    public var body: some View {
      self.runs.runs.reduce(Text(verbatim: "")) { text, run in
        Text("\(text)\(Text(verbatim: run.id == 0 ? "" : " "))\(self.text(of: run))")
      }
      .accessibilityLabel(Text(verbatim: self.runs.accessibilityText))
    }

    private func text(of run: TranscriptRuns.Run) -> Text {
      var text = Text(verbatim: run.text)
      if let colour = run.colour, !self.palette.isEmpty {
        text = text.bold().foregroundStyle(self.colour(colour, of: run))
      } else if run.style == .tentative {
        text = text.foregroundStyle(Color.secondary)
      }
      return text
    }

    private func colour(_ index: Int, of run: TranscriptRuns.Run) -> Color {
      self.palette[index % self.palette.count].opacity(run.style == .tentative ? 0.5 : 1)
    }
  }
#endif
