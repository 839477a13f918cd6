import VoiceCore

/// Decides who gets which recogniser.
///
/// Slot states: *empty* (no recogniser: not loaded yet, or loading failed), *loading*, *idle*, *busy*. Requests
/// are served in the order in which they came. Once stopped, nothing is granted any more.
struct PoolMachine: Sendable {
  /// What to do.
  enum Action: Hashable, Sendable {
    /// Hand the slot to the request.
    case grant(request: Int, slot: Int)
    /// Make a recogniser for the slot.
    case load(slot: Int)
    /// Tell the request that it cannot be served.
    case fail(request: Int, VoiceFailureBox)
  }

  /// A failure in an action; equal if an app could not tell them apart.
  struct VoiceFailureBox: Hashable, Sendable {
    let failure: VoiceFailure

    static func == (left: Self, right: Self) -> Bool { left.failure == right.failure }

    func hash(into hasher: inout Hasher) { hasher.combine(self.failure.code) }
  }

  private enum Slot: Hashable, Sendable {
    case empty
    case loading
    case idle
    case busy
  }

  private var slots: [Slot]
  private var waiting: [Int] = []
  private var isStopped = false

  init(size: Int) {
    self.slots = Array(repeating: .empty, count: max(1, size))
  }

  /// How many slots are in each state, and how many requests wait.
  var status: RecognizerPool.Status {
    var status = RecognizerPool.Status(
      total: self.slots.count, loaded: 0, busy: 0, waiting: self.waiting.count)
    for slot in self.slots {
      switch slot {
      case .empty, .loading: break
      case .idle: status.loaded += 1
      case .busy:
        status.loaded += 1
        status.busy += 1
      }
    }
    return status
  }

  /// Begins to load every slot that is empty.
  mutating func loadAll() -> [Action] {
    guard !self.isStopped else { return [] }
    return self.slots.indices.compactMap { index in
      guard self.slots[index] == .empty else { return nil }
      self.slots[index] = .loading
      return .load(slot: index)
    }
  }

  /// Takes that a context is wanted at once or not at all.
  ///
  /// - Returns: The slot, which is busy now, or `nil`.
  mutating func acquiredIdle() -> Int? {
    guard !self.isStopped, self.waiting.isEmpty, let slot = self.slots.firstIndex(of: .idle) else {
      return nil
    }
    self.slots[slot] = .busy
    return slot
  }

  /// Takes that a context is wanted.
  mutating func requested(_ request: Int) -> [Action] {
    guard !self.isStopped else { return [.fail(request: request, VoiceFailureBox(failure: Self.stopped))] }
    if let slot = self.acquiredIdle() { return [.grant(request: request, slot: slot)] }
    self.waiting.append(request)
    // A slot that could not be loaded gets another chance whenever somebody needs it.
    guard let slot = self.slots.firstIndex(of: .empty) else { return [] }
    self.slots[slot] = .loading
    return [.load(slot: slot)]
  }

  /// Takes that a request is no longer wanted.
  ///
  /// - Returns: Whether it was waiting.
  mutating func withdrawn(_ request: Int) -> Bool {
    guard let index = self.waiting.firstIndex(of: request) else { return false }
    self.waiting.remove(at: index)
    return true
  }

  /// Takes that a slot has a recogniser now.
  mutating func loaded(_ slot: Int) -> [Action] {
    guard self.slots.indices.contains(slot), self.slots[slot] == .loading else { return [] }
    return self.offer(slot)
  }

  /// Takes that no recogniser could be made for a slot.
  mutating func loadFailed(_ slot: Int, _ failure: VoiceFailure) -> [Action] {
    guard self.slots.indices.contains(slot), self.slots[slot] == .loading else { return [] }
    self.slots[slot] = .empty
    // As long as another recogniser lives, those who wait will be served.
    guard self.slots.allSatisfy({ $0 == .empty }) else { return [] }
    defer { self.waiting = [] }
    return self.waiting.map { .fail(request: $0, VoiceFailureBox(failure: failure)) }
  }

  /// Takes that a context has ended.
  ///
  /// - Parameter isBroken: Whether the recogniser failed and has to be replaced.
  mutating func released(_ slot: Int, isBroken: Bool) -> [Action] {
    guard self.slots.indices.contains(slot), self.slots[slot] == .busy else { return [] }
    guard isBroken, !self.isStopped else { return self.offer(slot) }
    self.slots[slot] = .loading
    return [.load(slot: slot)]
  }

  /// Takes that the pool is being shut down.
  mutating func stopped() -> [Action] {
    self.isStopped = true
    defer { self.waiting = [] }
    return self.waiting.map { .fail(request: $0, VoiceFailureBox(failure: Self.stopped)) }
  }

  private mutating func offer(_ slot: Int) -> [Action] {
    if !self.waiting.isEmpty, !self.isStopped {
      let request = self.waiting.removeFirst()
      self.slots[slot] = .busy
      return [.grant(request: request, slot: slot)]
    }
    self.slots[slot] = .idle
    return []
  }

  private static var stopped: VoiceFailure {
    VoiceFailure(.serverStopping, message: "The recognisers are being shut down.")
  }
}
