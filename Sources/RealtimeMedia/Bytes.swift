/// Reads numbers in network order; what is not there is `nil`.
struct ByteReader {
  private let bytes: ArraySlice<UInt8>
  private(set) var position: Int

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    self.position = bytes.startIndex
  }

  var left: Int { self.bytes.endIndex - self.position }
  var isAtEnd: Bool { self.left == 0 }

  mutating func uint8() -> UInt8? {
    guard self.left >= 1 else { return nil }
    defer { self.position += 1 }
    return self.bytes[self.position]
  }

  mutating func uint16() -> UInt16? {
    guard self.left >= 2 else { return nil }
    defer { self.position += 2 }
    return UInt16(self.bytes[self.position]) << 8 | UInt16(self.bytes[self.position + 1])
  }

  mutating func uint32() -> UInt32? {
    guard self.left >= 4, let high = self.uint16(), let low = self.uint16() else { return nil }
    return UInt32(high) << 16 | UInt32(low)
  }

  mutating func uint64() -> UInt64? {
    guard self.left >= 8, let high = self.uint32(), let low = self.uint32() else { return nil }
    return UInt64(high) << 32 | UInt64(low)
  }

  mutating func slice(_ count: Int) -> ArraySlice<UInt8>? {
    guard count >= 0, self.left >= count else { return nil }
    defer { self.position += count }
    return self.bytes[self.position..<self.position + count]
  }

  mutating func rest() -> ArraySlice<UInt8> {
    defer { self.position = self.bytes.endIndex }
    return self.bytes[self.position...]
  }

  /// Everything that is left, as UTF-8.
  mutating func text(limit: Int) -> String? {
    let rest = self.rest()
    guard rest.count <= limit else { return nil }
    return String(validating: rest, as: UTF8.self)
  }
}

extension FixedWidthInteger {
  var bigEndianBytes: [UInt8] {
    (0..<Self.bitWidth / 8).map { UInt8(truncatingIfNeeded: self >> (Self.bitWidth - 8 - 8 * $0)) }
  }
}

extension [UInt8] {
  mutating func append(bigEndian value: UInt16) {
    self.append(UInt8(truncatingIfNeeded: value >> 8))
    self.append(UInt8(truncatingIfNeeded: value))
  }

  mutating func append(bigEndian value: UInt32) {
    self.append(bigEndian: UInt16(truncatingIfNeeded: value >> 16))
    self.append(bigEndian: UInt16(truncatingIfNeeded: value))
  }

  mutating func append(bigEndian value: UInt64) {
    self.append(bigEndian: UInt32(truncatingIfNeeded: value >> 32))
    self.append(bigEndian: UInt32(truncatingIfNeeded: value))
  }

  /// Overwrites two bytes that are there.
  mutating func set(bigEndian value: UInt16, at index: Int) {
    guard index >= 0, index + 1 < self.count else { return }
    self[index] = UInt8(truncatingIfNeeded: value >> 8)
    self[index + 1] = UInt8(truncatingIfNeeded: value)
  }
}
