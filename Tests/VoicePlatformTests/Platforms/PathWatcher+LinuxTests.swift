#if os(Linux)
  import Foundation
  import Testing
  @testable import VoicePlatform

  struct LinuxPathWatcherTests {
    @Test func reportsThePathOfThisMachine() async throws {
      let (paths, continuation) = AsyncStream.makeStream(of: NetworkPath.self)
      let watcher = try #require(PlatformPathWatcher.start { continuation.yield($0) })
      var iterator = paths.makeAsyncIterator()
      let path = try #require(await iterator.next())
      watcher.cancel()
      #expect(!path.interfaces.contains { $0.name == "lo" || $0.addresses.isEmpty })
    }

    /// A thread of its own gets a network of its own, whose interfaces it can plug and unplug.
    @Test(
      .enabled(if: PrivateNetwork.isPossible, "needs the right to make a network namespace, and iproute2"))
    func followsInterfacesAddressesAndRoutes() async throws {
      let (paths, continuation) = AsyncStream.makeStream(of: NetworkPath.self)
      let network = PrivateNetwork()
      let watcher = try #require(
        try await network.perform { PlatformPathWatcher.start { continuation.yield($0) } })
      var iterator = paths.makeAsyncIterator()
      #expect(await iterator.next() == NetworkPath(interfaces: []))

      try await network.ip("link add a0 type veth peer name a1")
      try await network.ip("link set a1 up")
      try await network.ip("link set a0 up")
      try await network.ip("addr add 10.9.8.7/24 dev a0")
      try await network.ip("route add default via 10.9.8.1")
      let connected = NetworkPath(
        interfaces: [.init(name: "a0", addresses: ["10.9.8.7"])], gateways: ["10.9.8.1"])
      while let path = await iterator.next(), path != connected {}

      try await network.ip("link set a0 down")
      while let path = await iterator.next(), path.isSatisfied {}
      // Without the routes, which go down with their interface.
      try await network.ip("link set a0 up")
      let reconnected = NetworkPath(interfaces: connected.interfaces)
      while let path = await iterator.next(), path != reconnected {}

      try await network.ip("addr add 10.9.8.6/24 dev a0")
      while let path = await iterator.next(), path.interfaces.first?.addresses.count != 2 {}
      try await network.ip("link del a0")
      while let path = await iterator.next(), path.isSatisfied {}
      watcher.cancel()
    }
  }

  /// Runs work in a network namespace that ends with its last reference.
  private final class PrivateNetwork: Sendable {
    typealias Work = @Sendable () -> Void

    private static let ip = "/sbin/ip"
    private let work: AsyncStream<Work>.Continuation

    static let isPossible: Bool = {
      guard geteuid() == 0, access(ip, X_OK) == 0 else { return false }
      let answer = Answer()
      let done = DispatchSemaphore(value: 0)
      Thread {
        answer.value =
          moveThreadIntoNewNetwork()
          && (try? Program.run(ip, ["link", "add", "t0", "type", "veth", "peer", "name", "t1"]))?.status == 0
        done.signal()
      }.start()
      done.wait()
      return answer.value
    }()

    /// unshare(2) with CLONE_NEWNET of sched.h, which the Swift module of the C library leaves out.
    private static func moveThreadIntoNewNetwork() -> Bool {
      guard let symbol = dlsym(nil, "unshare") else { return false }
      let unshare = unsafeBitCast(symbol, to: (@convention(c) (Int32) -> Int32).self)
      return unshare(0x4000_0000) == 0
    }

    init() {
      let (stream, continuation) = AsyncStream.makeStream(of: Work.self)
      self.work = continuation
      let queue = BlockingQueue(stream)
      Thread {
        guard Self.moveThreadIntoNewNetwork() else { return }
        while let work = queue.next() { work() }
      }.start()
    }

    deinit { self.work.finish() }

    func perform<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
      try await withCheckedThrowingContinuation { continuation in
        self.work.yield { continuation.resume(with: Result { try body() }) }
      }
    }

    func ip(_ command: String) async throws {
      let arguments = command.split(separator: " ").map { String($0) }
      let status = try await self.perform { try Program.run(Self.ip, arguments).status }
      #expect(status == 0, "ip \(command)")
    }

    // @unchecked: written by one thread before it signals the other.
    private final class Answer: @unchecked Sendable {
      var value = false
    }
  }

  /// Gives the elements of a stream to a thread that may wait.
  // @unchecked: each element is handed over under a semaphore.
  private final class BlockingQueue: @unchecked Sendable {
    private let ready = DispatchSemaphore(value: 0)
    private let wanted = DispatchSemaphore(value: 0)
    private var element: (@Sendable () -> Void)?

    init(_ stream: AsyncStream<@Sendable () -> Void>) {
      Task.detached { [self] in
        for await element in stream {
          self.put(element)
        }
        self.put(nil)
      }
    }

    func next() -> (@Sendable () -> Void)? {
      self.wanted.signal()
      self.ready.wait()
      return self.element
    }

    private func put(_ element: (@Sendable () -> Void)?) {
      self.wanted.wait()
      self.element = element
      self.ready.signal()
    }
  }
#endif
