#if canImport(SwiftUI) && !os(tvOS)
  import Foundation
  public import SwiftUI
  public import VoiceCore

  /// A button to hold while speaking: a press begins, letting go ends; letting go beside the button drops what was said.
  ///
  /// ```swift
  /// MicrophoneButton(client)   // a SpeechClient
  /// MicrophoneButton(model)    // a SpeechRecognitionModel
  /// ```
  ///
  /// For VoiceOver and keyboards it is a button that begins and ends in turn. If it goes away while it is held, it ends.
  public struct MicrophoneButton: View {
    private let control: any TalkControl
    private let diameter: Double
    @State private var machine = HoldMachine()

    /// Creates a button.
    ///
    /// - Parameters:
    ///   - control: What listens while the button is held.
    ///   - diameter: The size in points; at least 44, below which fingers miss.
    public init(_ control: any TalkControl, diameter: Double = 72) {
      self.control = control
      self.diameter = max(44, diameter)
    }

    public var body: some View {
      Image(systemName: self.machine.state == .idle ? "mic.fill" : "waveform")
        .font(.title)
        .foregroundStyle(Color.white)
        .frame(width: self.diameter, height: self.diameter)
        .background(self.colour, in: Circle())
        .contentShape(Circle())
        .gesture(
          DragGesture(minimumDistance: 0, coordinateSpace: .local)
            .onChanged { self.perform(self.machine.touched(isInside: self.isInside($0.location))) }
            .onEnded { _ in self.perform(self.machine.released()) }
        )
        .onDisappear { self.perform(self.machine.interrupted()) }
        .accessibilityElement(children: .ignore)
        .accessibilityLabel("Microphone")
        .accessibilityValue(self.machine.state == .idle ? "off" : "listening")
        .accessibilityAddTraits(.isButton)
        .accessibilityAction { self.perform(self.machine.activated()) }
    }

    private var colour: Color {
      switch self.machine.state {
      case .idle: .accentColor
      case .talking: .red
      case .outside: .gray
      }
    }

    private func isInside(_ point: CGPoint) -> Bool {
      HoldMachine.isInside(x: Double(point.x), y: Double(point.y), diameter: self.diameter)
    }

    private func perform(_ action: HoldMachine.Action?) {
      switch action {
      case .begin: self.control.beginTalking()
      case .end: self.control.endTalking()
      case .cancel: self.control.cancelTalking()
      case nil: break
      }
    }
  }
#endif
