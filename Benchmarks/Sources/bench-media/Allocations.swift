import CallMedia
import Foundation
import RealtimeMedia

/// How often the thread that carries calls asks for memory per packet, while all ends say a tone and nobody listens.
///
/// Wants an object preloaded that counts (`count_malloc.c`), for threads that begin with `NIO-ELT`.
struct Allocations {
  private typealias Counter = @convention(c) () -> UInt64

  let calls: Int
  let seconds: Int

  func measure() async throws -> [String: Double] {
    guard let symbol = dlsym(nil, "voice_allocations") else {
      FileHandle.standardError.write(
        Data("The object that counts is not preloaded: LD_PRELOAD=…/libcount_malloc.so\n".utf8))
      exit(64)
    }
    let counter = unsafeBitCast(symbol, to: Counter.self)
    let engine = MediaEngine(paths: nil)
    var pairs: [Pair] = []
    var talkers: [Task<Void, any Error>] = []
    for _ in 0..<self.calls {
      let pair = Pair(on: engine)
      try await pair.connect()
      for audio in [pair.caller.audio, pair.callee.audio] {
        talkers.append(Task { while !Task.isCancelled { try await audio.send(Tone.second) } })
      }
      pairs.append(pair)
    }
    // Handshakes, and buffers that grow to their size.
    try await Task.sleep(for: .seconds(5))
    let (packetsBefore, before) = (await Self.packets(pairs), counter())
    try await Task.sleep(for: .seconds(self.seconds))
    let after = counter()
    let packets = await Self.packets(pairs) - packetsBefore
    for talker in talkers { talker.cancel() }
    for pair in pairs { await pair.close() }
    return ["packets": Double(packets), "allocationsPerPacket": Double(after - before) / Double(packets)]
  }

  /// Sent and received, by all ends.
  private static func packets(_ pairs: [Pair]) async -> Int {
    var sum = 0
    for session in pairs.flatMap({ [$0.caller, $0.callee] }) {
      let statistics = await session.statistics()
      sum += statistics?.sender.packets ?? 0
      sum += Int(clamping: statistics?.reports.packetsReceived ?? 0)
    }
    return sum
  }
}
