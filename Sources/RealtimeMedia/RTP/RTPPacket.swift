/// A packet of RTP (RFC 3550 section 5.1) that shares the bytes of its payload with the datagram it came in.
public struct RTPPacket: Hashable, Sendable {
  /// Whether something begins here; for audio the first packet after silence (RFC 3551 section 4.1).
  public var marker: Bool
  /// What the payload is, from 0 to 127.
  public var payloadType: UInt8
  /// One more with each packet, modulo 2¹⁶.
  public var sequenceNumber: UInt16
  /// The time of the first sample, in units of the payload's clock, modulo 2³².
  public var timestamp: UInt32
  /// Who sends it.
  public var ssrc: UInt32
  /// Who contributed to it, up to 15.
  public var contributors: [UInt32]
  /// The header extension, if there is one.
  public var headerExtension: RTPHeaderExtension?
  /// The payload without padding.
  public var payload: ArraySlice<UInt8>

  /// Creates a packet.
  public init(
    marker: Bool = false, payloadType: UInt8, sequenceNumber: UInt16, timestamp: UInt32, ssrc: UInt32,
    contributors: [UInt32] = [], headerExtension: RTPHeaderExtension? = nil, payload: ArraySlice<UInt8>
  ) {
    self.marker = marker
    self.payloadType = payloadType
    self.sequenceNumber = sequenceNumber
    self.timestamp = timestamp
    self.ssrc = ssrc
    self.contributors = contributors
    self.headerExtension = headerExtension
    self.payload = payload
  }

  /// Reads a packet; nothing is copied but the list of contributors.
  ///
  /// - Throws: ``RTPError``.
  public init(parsing bytes: ArraySlice<UInt8>) throws(RTPError) {
    var reader = ByteReader(bytes)
    guard let first = reader.uint8(), let second = reader.uint8(), let sequenceNumber = reader.uint16(),
      let timestamp = reader.uint32(), let ssrc = reader.uint32()
    else { throw .truncated }
    guard first >> 6 == 2 else { throw .wrongVersion }
    var contributors: [UInt32] = []
    for _ in 0..<(first & 0xf) {
      guard let contributor = reader.uint32() else { throw .truncated }
      contributors.append(contributor)
    }
    var headerExtension: RTPHeaderExtension?
    if first & 0x10 != 0 {
      guard let profile = reader.uint16(), let words = reader.uint16(),
        let data = reader.slice(Int(words) * 4)
      else { throw .truncated }
      headerExtension = RTPHeaderExtension(profile: profile, data: data)
    }
    var payload = reader.rest()
    if first & 0x20 != 0 {
      guard let padding = payload.last, padding > 0, payload.count >= Int(padding) else {
        throw .wrongPadding
      }
      payload = payload.dropLast(Int(padding))
    }
    self.init(
      marker: second & 0x80 != 0, payloadType: second & 0x7f, sequenceNumber: sequenceNumber,
      timestamp: timestamp, ssrc: ssrc, contributors: contributors, headerExtension: headerExtension,
      payload: payload)
  }

  /// Appends the packet, without padding.
  ///
  /// A buffer that is kept and emptied makes this free of allocations.
  public func append(to bytes: inout [UInt8]) {
    let count = min(15, self.contributors.count)
    bytes.append(0x80 | (self.headerExtension == nil ? 0 : 0x10) | UInt8(count))
    bytes.append((self.marker ? 0x80 : 0) | self.payloadType & 0x7f)
    bytes.append(bigEndian: self.sequenceNumber)
    bytes.append(bigEndian: self.timestamp)
    bytes.append(bigEndian: self.ssrc)
    for contributor in self.contributors.prefix(count) { bytes.append(bigEndian: contributor) }
    if let headerExtension = self.headerExtension {
      let data = headerExtension.data.prefix(4 * 0xffff)
      bytes.append(bigEndian: headerExtension.profile)
      bytes.append(bigEndian: UInt16((data.count + 3) / 4))
      bytes.append(contentsOf: data)
      bytes.append(contentsOf: repeatElement(0, count: (4 - data.count % 4) % 4))
    }
    bytes.append(contentsOf: self.payload)
  }
}

/// Why bytes are no packet of RTP or RTCP.
public enum RTPError: Error, Hashable, Sendable {
  /// It ends too soon.
  case truncated
  /// The version is not 2.
  case wrongVersion
  /// There is more padding than packet, or none where some is announced.
  case wrongPadding
  /// A packet of RTCP has a length or a type that cannot be.
  case malformed
}

/// The extension of a packet's header (RFC 3550 section 5.3.1, RFC 8285).
public struct RTPHeaderExtension: Hashable, Sendable {
  /// One element.
  public struct Element: Hashable, Sendable {
    /// The identifier, as `a=extmap` maps it.
    public var id: UInt8
    /// The value.
    public var value: ArraySlice<UInt8>

    /// Creates an element.
    public init(id: UInt8, value: ArraySlice<UInt8>) {
      self.id = id
      self.value = value
    }
  }

  /// 0xBEDE for one-byte headers, 0x1000 to 0x100F for two-byte headers, others for something else.
  public var profile: UInt16
  /// The elements as bytes, a multiple of four when it came from outside.
  public var data: ArraySlice<UInt8>

  /// Creates an extension.
  public init(profile: UInt16, data: ArraySlice<UInt8>) {
    self.profile = profile
    self.data = data
  }

  /// Writes elements, with headers of one byte if they fit (RFC 8285 sections 4.2 and 4.3).
  ///
  /// Elements with the identifier 0 or more than 255 bytes cannot be written and are left out.
  public init(elements: [Element]) {
    let elements = elements.filter { $0.id > 0 && $0.value.count <= 255 }
    let isShort = elements.allSatisfy { (1...14).contains($0.id) && (1...16).contains($0.value.count) }
    var data: [UInt8] = []
    for element in elements {
      if isShort {
        data.append(element.id << 4 | UInt8(element.value.count - 1))
      } else {
        data += [element.id, UInt8(element.value.count)]
      }
      data.append(contentsOf: element.value)
    }
    data.append(contentsOf: repeatElement(0, count: (4 - data.count % 4) % 4))
    self.init(profile: isShort ? 0xbede : 0x1000, data: data[...])
  }

  /// The elements up to the first one that cannot be read; none for other profiles.
  public var elements: [Element] {
    let isShort = self.profile == 0xbede
    guard isShort || self.profile & 0xfff0 == 0x1000 else { return [] }
    var elements: [Element] = []
    var reader = ByteReader(self.data)
    while let head = reader.uint8() {
      guard head != 0 else { continue }
      let id: UInt8
      let length: Int
      if isShort {
        // RFC 8285 section 4.2: 15 ends the reading.
        guard head >> 4 != 15, head >> 4 != 0 else { break }
        (id, length) = (head >> 4, Int(head & 0xf) + 1)
      } else {
        guard let count = reader.uint8() else { break }
        (id, length) = (head, Int(count))
      }
      guard let value = reader.slice(length) else { break }
      elements.append(Element(id: id, value: value))
    }
    return elements
  }
}

/// What a datagram on a shared port is (RFC 7983 section 7, RFC 5761 section 4).
public enum DatagramKind: Hashable, Sendable {
  case stun
  case dtls
  case turnChannel
  case rtp
  case rtcp
  /// To be dropped.
  case unknown

  /// Looks at the first two bytes only.
  public init(_ bytes: some Collection<UInt8>) {
    guard let first = bytes.first else {
      self = .unknown
      return
    }
    switch first {
    case 0...3: self = .stun
    case 20...63: self = .dtls
    case 64...79: self = .turnChannel
    case 128...191:
      guard let second = bytes.dropFirst().first else {
        self = .unknown
        return
      }
      self = (192...223).contains(second) ? .rtcp : .rtp
    default: self = .unknown
    }
  }
}
