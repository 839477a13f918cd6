#if canImport(SwiftUI)
  import Foundation
  public import SwiftUI
  public import VoiceCore

  /// A transcript in a bubble, as in a chat; nothing while nothing was said.
  public struct SpeechBubble: View {
    private let transcript: TranscriptView
    private let isEmpty: Bool

    /// Creates a bubble.
    ///
    /// - Parameter content: What was said: a segment or a result.
    public init(_ content: some TranscriptContent) {
      self.transcript = TranscriptView(content)
      self.isEmpty = content.transcriptWords.isEmpty
    }

    public var body: some View {
      if !self.isEmpty {
        self.transcript
          .padding(.horizontal, 16)
          .padding(.vertical, 10)
          .background(Color.gray.opacity(0.15), in: RoundedRectangle(cornerRadius: 18))
      }
    }
  }
#endif
