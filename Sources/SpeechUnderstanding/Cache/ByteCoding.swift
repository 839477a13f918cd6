/// Writes numbers, little-endian, and texts with their length.
struct ByteWriter {
  private(set) var bytes: [UInt8] = []

  mutating func write(_ value: UInt8) { self.bytes.append(value) }

  mutating func write(_ value: UInt32) {
    withUnsafeBytes(of: value.littleEndian) { self.bytes.append(contentsOf: $0) }
  }

  mutating func write(_ value: UInt64) {
    withUnsafeBytes(of: value.littleEndian) { self.bytes.append(contentsOf: $0) }
  }

  mutating func write(_ text: String) {
    self.write(UInt64(text.utf8.count))
    self.bytes.append(contentsOf: text.utf8)
  }

  mutating func write(_ other: [UInt8]) { self.bytes.append(contentsOf: other) }
}

/// Reads what ``ByteWriter`` wrote; every read beyond the end is `nil`.
struct ByteReader {
  private let bytes: UnsafeRawBufferPointer
  private var place = 0

  init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
  }

  var rest: Int { self.bytes.count - self.place }

  mutating func read(_ count: Int) -> UnsafeRawBufferPointer? {
    guard count >= 0, count <= self.rest else { return nil }
    defer { self.place += count }
    return UnsafeRawBufferPointer(rebasing: self.bytes[self.place..<self.place + count])
  }

  mutating func number() -> UInt32? {
    self.read(4).map { UInt32(littleEndian: $0.loadUnaligned(as: UInt32.self)) }
  }

  mutating func longNumber() -> UInt64? {
    self.read(8).map { UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)) }
  }

  mutating func text() -> String? {
    guard let length = self.longNumber().flatMap(Int.init(exactly:)), let bytes = self.read(length) else {
      return nil
    }
    return String(validating: bytes, as: UTF8.self)
  }

  /// Numbers, one after the other.
  mutating func numbers(_ count: Int) -> [UInt32]? {
    guard count >= 0, count <= self.rest / 4, let bytes = self.read(count * 4) else { return nil }
    return [UInt32](unsafeUninitializedCapacity: count) { buffer, initialized in
      for index in 0..<count {
        buffer[index] = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self))
      }
      initialized = count
    }
  }
}

/// Tells contents apart, quickly; equal contents are compared besides, so nothing depends on nobody finding a collision.
struct ContentHash: Hashable, Sendable {
  private var first: UInt64 = 0x9E37_79B9_7F4A_7C15
  private var second: UInt64 = 0xC2B2_AE3D_27D4_EB4F

  init(_ bytes: UnsafeRawBufferPointer) {
    var place = 0
    while place + 8 <= bytes.count {
      self.mix(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)))
      place += 8
    }
    var last = UInt64(bytes.count) << 56
    for (shift, byte) in bytes[place...].enumerated() { last ^= UInt64(byte) << UInt64(shift * 8) }
    self.mix(last)
    self.mix(UInt64(bytes.count))
  }

  private mutating func mix(_ word: UInt64) {
    self.first = (self.first ^ word) &* 0xFF51_AFD7_ED55_8CCD
    self.first ^= self.first >> 32
    self.second = (self.second ^ self.first) &* 0xC4CE_B9FE_1A85_EC53
    self.second ^= self.second >> 29
  }

  /// 32 digits.
  var hexadecimal: String {
    [self.first, self.second].map { number in
      let digits = String(number, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  var number: UInt64 { self.first ^ self.second }
}
