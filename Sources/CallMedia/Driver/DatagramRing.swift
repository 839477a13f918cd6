import NIOCore

/// Buffers for datagrams that come, used in turn.
///
/// A packet shares the storage of its datagram until it is played, so one buffer would have to be made anew for each. When a
/// buffer's turn comes again, the packet it held has been played, and its storage is free; if not, there is a new one.
struct DatagramRing {
  /// More than wait in a jitter buffer on any but the worst ways: 0.6 s of packets of 20 ms.
  static let count = 32

  private var buffers = [[UInt8]](repeating: [], count: Self.count)
  private var turn = 0

  /// Lets somebody read a datagram, and change it.
  mutating func take(_ datagram: ByteBuffer, _ read: (inout [UInt8]) -> Void) {
    self.turn = (self.turn + 1) % Self.count
    self.buffers[self.turn].removeAll(keepingCapacity: true)
    self.buffers[self.turn].append(contentsOf: datagram.readableBytesView)
    read(&self.buffers[self.turn])
  }
}
