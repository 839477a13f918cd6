import NIOCore
import VoiceCore

/// Performs what a ``LinkConnectionMachine`` decides for one pair of sockets; lives on one event loop.
final class LinkRelay {
  typealias Direction = LinkPlan.Direction

  /// What the relay needs of the link.
  struct Environment {
    /// The time of the link's clock.
    var now: () -> VoiceInstant
    /// Asks for ``LinkRelay/timeReached()`` at an instant.
    var wake: (VoiceInstant) -> Void
    /// Tells that something is to be seen from outside: bytes passed, or the connection ended.
    var changed: (LinkRelay) -> Void
  }

  let number: Int
  private(set) var ending: LinkPlan.Ending?
  private(set) var isClosed = false
  private let client: any Channel
  private let target: any Channel
  private let environment: Environment
  private var machine: LinkConnectionMachine
  private var kept: [Direction: ByteBuffer] = [:]
  private var actions: [LinkConnectionMachine.Action] = []
  private var isPerforming = false
  private var isAborted = false
  private var nextWake: VoiceInstant?

  init(
    number: Int, client: any Channel, target: any Channel, machine: LinkConnectionMachine,
    environment: Environment
  ) {
    self.number = number
    self.client = client
    self.target = target
    self.machine = machine
    self.environment = environment
  }

  func forwardedBytes(_ direction: Direction) -> Int { self.machine.forwardedBytes(direction) }

  func opened() { self.perform(self.machine.opened(at: self.environment.now())) }

  func received(_ bytes: ByteBuffer, _ direction: Direction) {
    var actions = self.machine.received(bytes.readableBytes, direction, at: self.environment.now())
    if case .keep(direction, let count)? = actions.first {
      actions.removeFirst()
      var bytes = bytes
      if let accepted = bytes.readSlice(length: count) {
        self.kept[direction, default: ByteBuffer()].writeImmutableBuffer(accepted)
      }
    }
    self.perform(actions)
  }

  func senderEnded(_ direction: Direction) {
    self.perform(self.machine.senderEnded(direction, at: self.environment.now()))
  }

  func failed(_ direction: Direction) { self.perform(self.machine.failed(direction)) }

  func closed(_ direction: Direction) {
    self.perform(self.machine.closed(direction, at: self.environment.now()))
  }

  func timeReached() {
    let now = self.environment.now()
    if let wake = self.nextWake, wake <= now { self.nextWake = nil }
    self.perform(self.machine.timeReached(now))
  }

  func cut(_ ending: LinkPlan.Ending) { self.perform(self.machine.cut(ending)) }

  func replan(_ plan: LinkPlan.Connection) { self.perform(self.machine.replan(plan)) }

  /// Closes both sockets whatever the machine thinks, when the link stops.
  func abort() {
    self.isAborted = true
    self.kept = [:]
    self.client.closeWithReset()
    self.target.closeWithReset()
  }

  /// Actions may cause events at once (a write that completes); theirs wait until the present ones are done.
  private func perform(_ new: [LinkConnectionMachine.Action]) {
    self.actions += new
    guard !self.isPerforming else { return }
    self.isPerforming = true
    while !self.actions.isEmpty {
      let batch = self.actions
      self.actions = []
      for action in batch { self.perform(action) }
    }
    self.isPerforming = false
    self.environment.changed(self)
  }

  private func perform(_ action: LinkConnectionMachine.Action) {
    switch action {
    case .keep:
      break
    case .write(let direction, let count):
      self.write(count, direction)
    case .endOutput(let direction):
      self.receiver(direction).close(mode: .output, promise: nil)
    case .read(let direction):
      self.sender(direction).read()
    case .wake(let instant):
      guard self.nextWake.map({ instant < $0 }) ?? true else { return }
      self.nextWake = instant
      self.environment.wake(instant)
    case .confirmDelivery(let direction):
      self.confirmDelivery(direction)
    case .reset:
      self.end(.reset)
      self.abort()
    case .finish:
      self.end(.finish)
      self.client.close(mode: .output, promise: nil)
      self.target.close(mode: .output, promise: nil)
    case .fallSilent:
      self.end(.silence)
    case .close:
      self.isClosed = true
      self.client.close(promise: nil)
      self.target.close(promise: nil)
    }
  }

  private func end(_ ending: LinkPlan.Ending) {
    self.ending = ending
    self.isClosed = ending == .reset
    self.kept = [:]
  }

  private func write(_ count: Int, _ direction: Direction) {
    guard let slice = self.kept[direction]?.readSlice(length: count) else { return }
    self.receiver(direction).writeAndFlush(slice).assumeIsolated().whenComplete { result in
      switch result {
      case .success: self.perform(self.machine.wrote(count, direction, at: self.environment.now()))
      case .failure: self.failed(direction)
      }
    }
  }

  /// The system reports no event for this, so it is asked again every millisecond until the connection is closed.
  private func confirmDelivery(_ direction: Direction) {
    let receiver = self.receiver(direction)
    guard !self.isClosed, !self.isAborted else { return }
    guard receiver.isActive, receiver.unacknowledgedBytes > 0 else {
      return self.perform(self.machine.delivered(direction))
    }
    receiver.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(1)) { self.confirmDelivery(direction) }
  }

  private func sender(_ direction: Direction) -> any Channel {
    switch direction {
    case .toTarget: self.client
    case .toClient: self.target
    }
  }

  private func receiver(_ direction: Direction) -> any Channel { self.sender(direction.opposite) }
}

/// Tells a relay what happens at one of its two sockets; keeps it until there is a relay.
final class LinkRelayHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private enum Event {
    case received(ByteBuffer)
    case ended
    case failed
    case closed
  }

  /// The direction that the peer at this socket sends.
  private let direction: LinkPlan.Direction
  private let onActive: () -> Void
  private var relay: LinkRelay?
  private var early: [Event] = []

  init(sends direction: LinkPlan.Direction, onActive: @escaping () -> Void = {}) {
    self.direction = direction
    self.onActive = onActive
  }

  func attach(_ relay: LinkRelay) {
    self.relay = relay
    let early = self.early
    self.early = []
    for event in early { self.tell(event) }
  }

  func channelActive(context: ChannelHandlerContext) { self.onActive() }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    self.tell(.received(self.unwrapInboundIn(data)))
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case ChannelEvent.inputClosed? = event as? ChannelEvent { self.tell(.ended) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { self.tell(.failed) }

  func channelInactive(context: ChannelHandlerContext) { self.tell(.closed) }

  private func tell(_ event: Event) {
    guard let relay = self.relay else {
      // The end of a peer makes the system's buffer be read whether it was asked for or not.
      self.early.append(event)
      return
    }
    switch event {
    case .received(let bytes): relay.received(bytes, self.direction)
    case .ended: relay.senderEnded(self.direction)
    case .failed: relay.failed(self.direction.opposite)
    case .closed: relay.closed(self.direction.opposite)
    }
  }
}
