import NIOCore
import Testing

@testable import CallMedia

/// Where the bytes of datagrams are kept.
struct DatagramRingTests {
  private static func datagram(_ byte: UInt8) -> ByteBuffer {
    ByteBuffer(repeating: byte, count: 200)
  }

  private static func place(of bytes: [UInt8]) -> UnsafeRawPointer? {
    bytes.withUnsafeBytes { $0.baseAddress }
  }

  @Test func makesNothingAnewWhileNobodyKeepsWhatItGave() {
    var ring = DatagramRing()
    var places: [UnsafeRawPointer?] = []
    for _ in 0..<3 * DatagramRing.count {
      ring.take(Self.datagram(1)) { places.append(Self.place(of: $0)) }
    }
    #expect(Set(places).count == DatagramRing.count)
  }

  @Test func whatIsKeptStaysAsItWas() {
    var ring = DatagramRing()
    var kept: [ArraySlice<UInt8>] = []
    for number in 0..<3 * DatagramRing.count {
      ring.take(Self.datagram(UInt8(number))) { datagram in
        #expect(datagram == [UInt8](repeating: UInt8(number), count: 200))
        kept.append(datagram[12...])
      }
    }
    for (number, payload) in kept.enumerated() { #expect(payload.allSatisfy { $0 == UInt8(number) }) }
  }

  @Test func takesDatagramsOfAllLengths() {
    var ring = DatagramRing()
    for length in [0, 1, 2048, 3] {
      ring.take(ByteBuffer(repeating: 7, count: length)) { #expect($0.count == length) }
    }
  }
}
