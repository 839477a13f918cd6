public import Foundation

@MainActor @preconcurrency
public protocol View {
  associatedtype Body: View
  @ViewBuilder var body: Body { get }
}

extension Never: View {
  public var body: Never { preconditionFailure("a view without a body") }
}

/// Views that have no body of their own.
public protocol PrimitiveView: View where Body == Never {}

extension PrimitiveView {
  public var body: Never { preconditionFailure("a view without a body") }
}

extension Optional: View where Wrapped: View {
  public var body: Never { preconditionFailure("a view without a body") }
}

@resultBuilder
public enum ViewBuilder {
  public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
  public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
}

@propertyWrapper
public struct State<Value> {
  private final class Storage {
    var value: Value

    init(_ value: Value) {
      self.value = value
    }
  }

  private let storage: Storage

  public init(wrappedValue value: Value) {
    self.storage = Storage(value)
  }

  public var wrappedValue: Value {
    get { self.storage.value }
    nonmutating set { self.storage.value = newValue }
  }
}

/// A view with something done to it; gestures and actions stay reachable for tests.
public struct Modified<Content: View>: PrimitiveView {
  package let content: Content
  package let action: Any?

  init(_ content: Content, _ action: Any? = nil) {
    self.content = content
    self.action = action
  }
}

public protocol ShapeStyle: Sendable {}

public protocol Shape: Sendable {}

public struct Circle: Shape {
  public init() {}
}

public struct RoundedRectangle: Shape {
  public init(cornerRadius: CGFloat) {}
}

public struct Color: ShapeStyle, Hashable {
  package var name: String
  package var strength = 1.0

  init(name: String) {
    self.name = name
  }

  public static let accentColor = Color(name: "accent")
  public static let secondary = Color(name: "secondary")
  public static let white = Color(name: "white")
  public static let red = Color(name: "red")
  public static let gray = Color(name: "gray")
  public static let blue = Color(name: "blue")
  public static let orange = Color(name: "orange")
  public static let purple = Color(name: "purple")
  public static let green = Color(name: "green")
  public static let pink = Color(name: "pink")

  public func opacity(_ opacity: Double) -> Color {
    var copy = self
    copy.strength *= opacity
    return copy
  }
}

public struct Font: Hashable, Sendable {
  public static let title = Font()
}

public struct LocalizedStringKey: ExpressibleByStringInterpolation, Sendable {
  public struct StringInterpolation: StringInterpolationProtocol, Sendable {
    var pieces: [Text.Piece] = []

    public init(literalCapacity: Int, interpolationCount: Int) {}

    public mutating func appendLiteral(_ literal: String) {
      if !literal.isEmpty { self.pieces.append(Text.Piece(text: literal)) }
    }

    public mutating func appendInterpolation(_ text: Text) { self.pieces += text.pieces }
  }

  let pieces: [Text.Piece]

  public init(stringLiteral value: String) {
    self.pieces = [Text.Piece(text: value)]
  }

  public init(stringInterpolation: StringInterpolation) {
    self.pieces = stringInterpolation.pieces
  }
}

public struct Text: PrimitiveView, Sendable {
  package struct Piece: Hashable, Sendable {
    package var text: String
    package var isBold = false
    package var color: Color?

    init(text: String) {
      self.text = text
    }
  }

  package var pieces: [Piece]

  public nonisolated init(verbatim content: String) {
    self.pieces = content.isEmpty ? [] : [Piece(text: content)]
  }

  public nonisolated init(_ key: LocalizedStringKey) {
    self.pieces = key.pieces
  }

  public nonisolated func bold() -> Text {
    var copy = self
    for index in copy.pieces.indices { copy.pieces[index].isBold = true }
    return copy
  }

  public nonisolated func foregroundStyle<S: ShapeStyle>(_ style: S) -> Text {
    var copy = self
    for index in copy.pieces.indices { copy.pieces[index].color = style as? Color }
    return copy
  }
}

public struct Image: PrimitiveView {
  package let name: String

  public init(systemName: String) {
    self.name = systemName
  }
}

public enum LocalCoordinateSpace: Sendable {
  case local
}

public struct Edge {
  public struct Set: Sendable {
    public static let horizontal = Set()
    public static let vertical = Set()
  }
}

public struct AccessibilityChildBehavior: Sendable {
  public static let ignore = AccessibilityChildBehavior()
}

public struct AccessibilityTraits: Sendable {
  public static let isButton = AccessibilityTraits()
}

public struct DragGesture {
  public struct Value {
    public var location: CGPoint

    package init(location: CGPoint) {
      self.location = location
    }
  }

  package var changed: (Value) -> Void = { _ in }
  package var ended: (Value) -> Void = { _ in }

  public init(minimumDistance: CGFloat = 10, coordinateSpace: LocalCoordinateSpace = .local) {}

  public func onChanged(_ action: @escaping (Value) -> Void) -> DragGesture {
    var copy = self
    copy.changed = action
    return copy
  }

  public func onEnded(_ action: @escaping (Value) -> Void) -> DragGesture {
    var copy = self
    copy.ended = action
    return copy
  }
}

package struct DisappearAction {
  package let perform: () -> Void
}

package struct ActivationAction {
  package let perform: () -> Void
}

extension View {
  public func font(_ font: Font?) -> some View { Modified(self) }
  public func foregroundStyle<S: ShapeStyle>(_ style: S) -> some View { Modified(self) }
  public func frame(width: CGFloat? = nil, height: CGFloat? = nil) -> some View { Modified(self) }
  public func padding(_ edges: Edge.Set, _ length: CGFloat? = nil) -> some View { Modified(self) }
  public func background<S: ShapeStyle, T: Shape>(_ style: S, in shape: T) -> some View {
    Modified(self, style)
  }
  public func contentShape<S: Shape>(_ shape: S) -> some View { Modified(self) }
  public func gesture(_ gesture: DragGesture) -> some View { Modified(self, gesture) }
  public func onDisappear(perform action: (() -> Void)? = nil) -> some View {
    Modified(self, action.map { DisappearAction(perform: $0) })
  }
  public func accessibilityElement(children: AccessibilityChildBehavior) -> some View { Modified(self) }
  public func accessibilityLabel(_ label: Text) -> some View { Modified(self, label) }
  public func accessibilityLabel(_ key: LocalizedStringKey) -> some View { Modified(self, Text(key)) }
  public func accessibilityValue(_ key: LocalizedStringKey) -> some View { Modified(self, Text(key)) }
  public func accessibilityAddTraits(_ traits: AccessibilityTraits) -> some View { Modified(self) }
  public func accessibilityAction(_ handler: @escaping () -> Void) -> some View {
    Modified(self, ActivationAction(perform: handler))
  }
}
