/// What an ``ImpairedLink`` does to its connections: a value, so that a bad network can be written down and repeated.
///
/// ```swift
/// var plan = LinkPlan()
/// plan.everyConnection.toClient.delay = .milliseconds(80)
/// plan.connections[0] = LinkPlan.Connection(cut: .init(.toTarget, afterBytes: 20_000, .silence))
/// ```
public struct LinkPlan: Hashable, Sendable {
  /// Which way bytes travel.
  public enum Direction: String, Hashable, Sendable, CaseIterable {
    /// From the client that connected to the link.
    case toTarget
    /// From the target that the link connected to.
    case toClient

    var opposite: Direction {
      switch self {
      case .toTarget: .toClient
      case .toClient: .toTarget
      }
    }
  }

  /// How a connection is cut; client and target see the same.
  public enum Ending: String, Hashable, Sendable, CaseIterable {
    /// Both get a reset (TCP RST), as from a crashed machine. What the receiver's system has not taken yet is lost.
    case reset
    /// Both get an orderly end (TCP FIN) after what was forwarded; what they send afterwards is thrown away.
    case finish
    /// Both get nothing any more, and nothing of what they send is read: a half-open connection.
    case silence
  }

  /// The place of a cut.
  public struct Cut: Hashable, Sendable {
    /// The direction in which bytes are counted.
    public var direction: Direction
    /// How many bytes of that direction are forwarded, exactly; with 0 the connection is cut as soon as it is open.
    public var afterBytes: Int
    /// How the connection ends.
    public var ending: Ending

    /// Creates a cut.
    public init(_ direction: Direction, afterBytes: Int, _ ending: Ending) {
      self.direction = direction
      self.afterBytes = afterBytes
      self.ending = ending
    }
  }

  /// What happens to the bytes of one direction.
  public struct Shape: Hashable, Sendable {
    /// How long every byte is under way.
    public var delay: Duration
    /// The upper bound of a random time added to the delay of each slice; the order of bytes is kept.
    public var jitter: Duration
    /// How many bytes pass per second, or `nil` for no limit.
    public var bytesPerSecond: Int?
    /// The most bytes that are written at once, at least 1, or `nil` to write what was read.
    ///
    /// Each slice is a segment of its own, but a receiver that is slower than the link may read several together.
    public var sliceSize: Int?

    /// Creates a shape; by default bytes pass at once.
    public init(
      delay: Duration = .zero, jitter: Duration = .zero, bytesPerSecond: Int? = nil, sliceSize: Int? = nil
    ) {
      self.delay = delay
      self.jitter = jitter
      self.bytesPerSecond = bytesPerSecond
      self.sliceSize = sliceSize
    }
  }

  /// What happens to one connection.
  public struct Connection: Hashable, Sendable {
    /// The bytes from the client.
    public var toTarget: Shape
    /// The bytes from the target.
    public var toClient: Shape
    /// Where the connection is cut, if it is.
    public var cut: Cut?
    /// Whether the connection is reset as soon as it is accepted, without one to the target.
    public var isRejected: Bool

    /// Creates a plan of a connection; by default nothing happens to it.
    public init(
      toTarget: Shape = Shape(), toClient: Shape = Shape(), cut: Cut? = nil, isRejected: Bool = false
    ) {
      self.toTarget = toTarget
      self.toClient = toClient
      self.cut = cut
      self.isRejected = isRejected
    }
  }

  /// What happens to connections that have no plan of their own.
  public var everyConnection: Connection

  /// The plans of single connections, by number: 0 is the first that the link accepts.
  public var connections: [Int: Connection]

  /// The seed of the jitter.
  public var seed: UInt64

  /// Creates a plan; by default the link forwards everything at once.
  public init(
    everyConnection: Connection = Connection(), connections: [Int: Connection] = [:], seed: UInt64 = 0
  ) {
    self.everyConnection = everyConnection
    self.connections = connections
    self.seed = seed
  }

  /// What happens to the connection with a number.
  public func connection(_ number: Int) -> Connection {
    self.connections[number] ?? self.everyConnection
  }

  /// A plan that cuts the first connections, each at a place and in a manner that depends only on the seed.
  ///
  /// - Parameters:
  ///   - seed: Chooses the plan.
  ///   - connections: How many connections are cut; those after them are left alone.
  ///   - bytes: The range of the number of bytes after which they are cut.
  ///   - endings: The manners to choose from; with none, no connection is cut.
  public static func randomCuts(
    seed: UInt64, connections: Int, afterBytes bytes: ClosedRange<Int>, endings: [Ending] = Ending.allCases
  ) -> LinkPlan {
    var generator = SeededGenerator(seed: seed)
    var plan = LinkPlan(seed: generator.next())
    for number in 0..<max(0, connections) {
      let direction = Bool.random(using: &generator) ? Direction.toTarget : .toClient
      let place = Int.random(in: bytes, using: &generator)
      guard let ending = endings.randomElement(using: &generator) else { break }
      plan.connections[number] = Connection(cut: Cut(direction, afterBytes: place, ending))
    }
    return plan
  }
}
