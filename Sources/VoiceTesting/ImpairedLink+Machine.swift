import VoiceCore

/// Decides what happens to the bytes of one connection of an ``ImpairedLink``; counts them but never sees them.
///
/// States: *forwarding*; *cutting* (the bytes up to the cut are under way, later ones of that direction are thrown away);
/// *silent* (sockets open, nothing passes); *finishing* (both sides got the end, what they send is thrown away until they
/// end as well); *closed* (final).
struct LinkConnectionMachine {
  typealias Direction = LinkPlan.Direction

  enum Action: Hashable {
    /// Keep the first bytes of what was just received; throw the rest away.
    case keep(Direction, Int)
    /// Write the next kept bytes as one slice, and tell when they are written.
    case write(Direction, Int)
    /// Tell the receiver of the direction that nothing follows.
    case endOutput(Direction)
    /// Read what the sender of the direction sent.
    case read(Direction)
    /// Tell when it is this time.
    case wake(at: VoiceInstant)
    /// Tell when the receiver's system has taken everything that was written: a reset would destroy the rest.
    case confirmDelivery(Direction)
    /// Throw away what was kept and reset both sides.
    case reset
    /// Throw away what was kept and tell both sides that nothing follows.
    case finish
    /// Throw away what was kept.
    case fallSilent
    /// Close both sides; all is sent.
    case close
  }

  private enum Item {
    case bytes(Int)
    case end
  }

  private struct Lane {
    var queue: [(item: Item, due: VoiceInstant)] = []
    var head = 0
    /// Bytes accepted for forwarding since the connection was opened.
    var accepted = 0
    /// Bytes accepted and not yet written.
    var unwritten = 0
    var written = 0
    var lastDue: VoiceInstant?
    var isReading = false
    var senderEnded = false
    var isEndDue = false
    var outputEnded = false

    mutating func popDue(_ now: VoiceInstant) -> Item? {
      guard self.head < self.queue.count, self.queue[self.head].due <= now else { return nil }
      defer {
        self.head += 1
        if self.head == self.queue.count {
          self.queue.removeAll(keepingCapacity: true)
          self.head = 0
        }
      }
      return self.queue[self.head].item
    }

    var nextDue: VoiceInstant? { self.head < self.queue.count ? self.queue[self.head].due : nil }
  }

  private enum Phase: Hashable {
    case forwarding
    case cutting(Direction, LinkPlan.Ending)
    case silent
    case finishing
    case closed
  }

  /// Above this many unwritten bytes a sender is not read: the receiver's slowness reaches it.
  static let highWaterMark = 256 * 1024

  private var phase = Phase.forwarding
  private var plan: LinkPlan.Connection
  private var generator: SeededGenerator
  private var toTarget = Lane()
  private var toClient = Lane()

  init(plan: LinkPlan.Connection, generator: SeededGenerator) {
    self.plan = plan
    self.generator = generator
  }

  /// How many bytes of the direction were handed to the receiver's socket.
  func forwardedBytes(_ direction: Direction) -> Int { self[direction].written }

  mutating func opened(at now: VoiceInstant) -> [Action] {
    self.startCutIfReached(.toTarget) + self.startCutIfReached(.toClient) + self.readMore(.toTarget)
      + self.readMore(.toClient)
  }

  mutating func received(_ count: Int, _ direction: Direction, at now: VoiceInstant) -> [Action] {
    self[direction].isReading = false
    switch self.phase {
    case .closed, .silent:
      return [.keep(direction, 0)]
    case .finishing, .cutting(direction, _):
      return [.keep(direction, 0)] + self.readMore(direction)
    case .forwarding, .cutting:
      let kept = min(count, self.room(in: direction))
      self[direction].accepted += kept
      self[direction].unwritten += kept
      self.enqueue(kept, direction, at: now)
      return [.keep(direction, kept)] + self.drain(direction, at: now) + self.startCutIfReached(direction)
        + self.readMore(direction)
    }
  }

  /// The sender of the direction has sent all.
  mutating func senderEnded(_ direction: Direction, at now: VoiceInstant) -> [Action] {
    guard !self[direction].senderEnded else { return [] }
    self[direction].senderEnded = true
    switch self.phase {
    case .closed, .silent:
      return []
    case .finishing:
      return self.closeIfBothEnded()
    case .cutting(direction, _):
      return []
    case .forwarding, .cutting:
      let due = max(now.advanced(by: max(.zero, self.shape(direction).delay)), self[direction].lastDue ?? now)
      self[direction].queue.append((.end, due))
      self[direction].lastDue = due
      return self.drain(direction, at: now)
    }
  }

  /// Bytes of the direction have been handed to the receiver's socket.
  mutating func wrote(_ count: Int, _ direction: Direction, at now: VoiceInstant) -> [Action] {
    self[direction].unwritten = max(0, self[direction].unwritten - count)
    self[direction].written += count
    switch self.phase {
    case .closed, .silent, .finishing:
      return []
    case .cutting(direction, let ending):
      return self.endIfWritten(direction, ending)
    case .forwarding, .cutting:
      return self.endOutputIfWritten(direction) + self.readMore(direction)
    }
  }

  /// The receiver's system has taken everything that was written.
  mutating func delivered(_ direction: Direction) -> [Action] {
    switch self.phase {
    case .cutting(direction, let ending): self.end(ending)
    case .forwarding, .cutting, .silent, .finishing, .closed: []
    }
  }

  /// The socket of the peer that receives the direction failed or was reset.
  mutating func failed(_ direction: Direction) -> [Action] {
    switch self.phase {
    case .closed:
      return []
    case .silent:
      // The other side must not learn of it.
      return []
    case .finishing:
      self[direction.opposite].senderEnded = true
      return self.closeIfBothEnded()
    case .forwarding, .cutting:
      // A socket that ended in both directions is closed by itself; the other may still have bytes to come.
      if self[direction].outputEnded, self[direction.opposite].senderEnded { return [] }
      return self.end(.reset)
    }
  }

  /// The socket of the peer that receives the direction was closed, and no error was reported.
  ///
  /// A socket whose output has ended is closed as soon as the peer ends too, without a separate word of that end.
  mutating func closed(_ direction: Direction, at now: VoiceInstant) -> [Action] {
    let isOrderly =
      switch self.phase {
      case .finishing: true
      case .forwarding, .cutting: self[direction].outputEnded
      case .silent, .closed: false
      }
    return isOrderly ? self.senderEnded(direction.opposite, at: now) : self.failed(direction)
  }

  mutating func timeReached(_ now: VoiceInstant) -> [Action] {
    switch self.phase {
    case .closed, .silent, .finishing:
      return []
    case .forwarding, .cutting:
      return self.drain(.toTarget, at: now) + self.drain(.toClient, at: now)
    }
  }

  /// Cuts the connection now, without what is under way.
  mutating func cut(_ ending: LinkPlan.Ending) -> [Action] {
    switch self.phase {
    case .closed: []
    case .forwarding, .cutting, .silent, .finishing: self.end(ending)
    }
  }

  /// Changes the plan; a cut that lies behind what was forwarded already happens at once.
  mutating func replan(_ plan: LinkPlan.Connection) -> [Action] {
    self.plan = plan
    switch self.phase {
    case .forwarding: return self.startCutIfReached(.toTarget) + self.startCutIfReached(.toClient)
    case .cutting, .silent, .finishing, .closed: return []
    }
  }
}

extension LinkConnectionMachine {
  private subscript(direction: Direction) -> Lane {
    get {
      switch direction {
      case .toTarget: self.toTarget
      case .toClient: self.toClient
      }
    }
    set {
      switch direction {
      case .toTarget: self.toTarget = newValue
      case .toClient: self.toClient = newValue
      }
    }
  }

  private func shape(_ direction: Direction) -> LinkPlan.Shape {
    switch direction {
    case .toTarget: self.plan.toTarget
    case .toClient: self.plan.toClient
    }
  }

  private func room(in direction: Direction) -> Int {
    guard let cut = self.plan.cut, cut.direction == direction else { return .max }
    return max(0, cut.afterBytes - self[direction].accepted)
  }

  private mutating func enqueue(_ count: Int, _ direction: Direction, at now: VoiceInstant) {
    let shape = self.shape(direction)
    var rest = count
    while rest > 0 {
      let size = min(rest, max(1, shape.sliceSize ?? rest))
      rest -= size
      let previous = self[direction].lastDue ?? now
      var due = max(now.advanced(by: max(.zero, shape.delay) + self.drawJitter(shape.jitter)), previous)
      if let rate = shape.bytesPerSecond {
        due = due.advanced(by: .seconds(size) / max(1, rate))
      }
      self[direction].queue.append((.bytes(size), due))
      self[direction].lastDue = due
    }
  }

  private mutating func drawJitter(_ jitter: Duration) -> Duration {
    guard jitter > .zero else { return .zero }
    return jitter * Double.random(in: 0..<1, using: &self.generator)
  }

  private mutating func drain(_ direction: Direction, at now: VoiceInstant) -> [Action] {
    var actions: [Action] = []
    while let item = self[direction].popDue(now) {
      switch item {
      case .bytes(let count):
        actions.append(.write(direction, count))
      case .end:
        self[direction].isEndDue = true
      }
    }
    if let due = self[direction].nextDue {
      actions.append(.wake(at: due))
    }
    return actions + self.endOutputIfWritten(direction)
  }

  /// A socket that is told to end throws away what it has not written yet, so the end waits for the last byte.
  private mutating func endOutputIfWritten(_ direction: Direction) -> [Action] {
    let lane = self[direction]
    guard lane.isEndDue, lane.unwritten == 0, !lane.outputEnded else { return [] }
    self[direction].outputEnded = true
    guard self[direction.opposite].outputEnded else { return [.endOutput(direction)] }
    self.phase = .closed
    return [.endOutput(direction), .close]
  }

  private mutating func readMore(_ direction: Direction) -> [Action] {
    switch self.phase {
    case .closed, .silent: return []
    case .forwarding, .cutting, .finishing: break
    }
    guard !self[direction].isReading, !self[direction].senderEnded,
      self[direction].unwritten < Self.highWaterMark
    else { return [] }
    self[direction].isReading = true
    return [.read(direction)]
  }

  private mutating func startCutIfReached(_ direction: Direction) -> [Action] {
    guard case .forwarding = self.phase, let cut = self.plan.cut, cut.direction == direction,
      self[direction].accepted >= cut.afterBytes
    else { return [] }
    self.phase = .cutting(direction, cut.ending)
    return self.endIfWritten(direction, cut.ending)
  }

  private mutating func endIfWritten(_ direction: Direction, _ ending: LinkPlan.Ending) -> [Action] {
    guard self[direction].unwritten == 0 else { return [] }
    switch ending {
    case .reset where self[direction].written > 0: return [.confirmDelivery(direction)]
    case .reset, .finish, .silence: return self.end(ending)
    }
  }

  private mutating func end(_ ending: LinkPlan.Ending) -> [Action] {
    switch ending {
    case .reset:
      self.phase = .closed
      return [.reset]
    case .finish:
      self.phase = .finishing
      let closing = self.closeIfBothEnded()
      return [.finish] + (closing.isEmpty ? self.readMore(.toTarget) + self.readMore(.toClient) : closing)
    case .silence:
      self.phase = .silent
      return [.fallSilent]
    }
  }

  private mutating func closeIfBothEnded() -> [Action] {
    guard self.toTarget.senderEnded, self.toClient.senderEnded else { return [] }
    self.phase = .closed
    return [.close]
  }
}
