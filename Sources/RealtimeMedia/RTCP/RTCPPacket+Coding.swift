extension RTCPPacket {
  init?(type: UInt8, count: UInt8, body: ArraySlice<UInt8>) {
    var reader = ByteReader(body)
    switch type {
    case 200:
      guard let ssrc = reader.uint32(), let ntp = reader.uint64(), let timestamp = reader.uint32(),
        let packets = reader.uint32(), let bytes = reader.uint32(), let blocks = reader.blocks(count)
      else { return nil }
      let info = SenderInfo(
        ntp: NTPTimestamp(value: ntp), rtpTimestamp: timestamp, packets: packets, bytes: bytes)
      self = .senderReport(ssrc: ssrc, info, blocks)
    case 201:
      guard let ssrc = reader.uint32(), let blocks = reader.blocks(count) else { return nil }
      self = .receiverReport(ssrc: ssrc, blocks)
    case 202:
      var chunks: [SourceChunk] = []
      for _ in 0..<count {
        guard let chunk = reader.chunk() else { return nil }
        chunks.append(chunk)
      }
      self = .sourceDescription(chunks)
    case 203:
      var ssrcs: [UInt32] = []
      for _ in 0..<count {
        guard let ssrc = reader.uint32() else { return nil }
        ssrcs.append(ssrc)
      }
      var reason: String?
      if let length = reader.uint8() {
        guard let text = reader.slice(Int(length)) else { return nil }
        reason = String(decoding: text, as: UTF8.self)
      }
      self = .bye(ssrcs: ssrcs, reason: reason)
    case 205, 206:
      guard let sender = reader.uint32(), let media = reader.uint32() else { return nil }
      self = .feedback(type: type, format: count, sender: sender, media: media, information: reader.rest())
    default:
      self = .other(type: type, count: count, body: body)
    }
  }

  /// Appends the packet.
  ///
  /// What the counts of the header cannot say is left out: reports, chunks and sources after the 31st.
  public func append(to bytes: inout [UInt8]) {
    let start = bytes.count
    switch self {
    case .senderReport(let ssrc, let info, let blocks):
      bytes.append(header: 200, count: blocks.count)
      bytes.append(bigEndian: ssrc)
      bytes.append(bigEndian: info.ntp.value)
      bytes.append(bigEndian: info.rtpTimestamp)
      bytes.append(bigEndian: info.packets)
      bytes.append(bigEndian: info.bytes)
      for block in blocks.prefix(31) { bytes.append(block) }
    case .receiverReport(let ssrc, let blocks):
      bytes.append(header: 201, count: blocks.count)
      bytes.append(bigEndian: ssrc)
      for block in blocks.prefix(31) { bytes.append(block) }
    case .sourceDescription(let chunks):
      bytes.append(header: 202, count: chunks.count)
      for chunk in chunks.prefix(31) {
        bytes.append(bigEndian: chunk.ssrc)
        for item in chunk.items where item.type != 0 {
          bytes.append(item.type)
          bytes.append(text: item.text)
        }
        // At least one zero ends the items.
        bytes.append(contentsOf: repeatElement(0, count: 4 - (bytes.count - start) % 4))
      }
    case .bye(let ssrcs, let reason):
      bytes.append(header: 203, count: ssrcs.count)
      for ssrc in ssrcs.prefix(31) { bytes.append(bigEndian: ssrc) }
      if let reason { bytes.append(text: reason) }
    case .feedback(let type, let format, let sender, let media, let information):
      bytes.append(header: type, count: Int(format))
      bytes.append(bigEndian: sender)
      bytes.append(bigEndian: media)
      bytes.append(contentsOf: information)
    case .other(let type, let count, let body):
      bytes.append(header: type, count: Int(count))
      bytes.append(contentsOf: body)
    }
    bytes.append(contentsOf: repeatElement(0, count: (4 - (bytes.count - start) % 4) % 4))
    bytes.set(bigEndian: UInt16(truncatingIfNeeded: (bytes.count - start) / 4 - 1), at: start + 2)
  }
}

extension ByteReader {
  fileprivate mutating func blocks(_ count: UInt8) -> [RTCPPacket.ReportBlock]? {
    var blocks: [RTCPPacket.ReportBlock] = []
    for _ in 0..<count {
      guard let ssrc = self.uint32(), let lost = self.uint32(), let highest = self.uint32(),
        let jitter = self.uint32(), let last = self.uint32(), let delay = self.uint32()
      else { return nil }
      blocks.append(
        .init(
          ssrc: ssrc, fractionLost: UInt8(lost >> 24), cumulativeLost: Int32(bitPattern: lost << 8) >> 8,
          highestSequence: highest, jitter: jitter, lastSenderReport: last, delaySinceLastSenderReport: delay)
      )
    }
    return blocks
  }

  fileprivate mutating func chunk() -> RTCPPacket.SourceChunk? {
    let start = self.position
    guard let ssrc = self.uint32() else { return nil }
    var items: [RTCPPacket.SourceItem] = []
    while let type = self.uint8() {
      guard type != 0 else {
        // The chunk ends at a multiple of four.
        guard self.slice((4 - (self.position - start) % 4) % 4) != nil else { return nil }
        return .init(ssrc: ssrc, items: items)
      }
      guard let length = self.uint8(), let text = self.slice(Int(length)) else { return nil }
      items.append(.init(type: type, text: String(decoding: text, as: UTF8.self)))
    }
    return nil
  }
}

extension [UInt8] {
  fileprivate mutating func append(header type: UInt8, count: Int) {
    self += [0x80 | UInt8(Swift.min(31, Swift.max(0, count))), type, 0, 0]
  }

  fileprivate mutating func append(_ block: RTCPPacket.ReportBlock) {
    let lost = Swift.max(-0x80_0000, Swift.min(0x7f_ffff, block.cumulativeLost))
    self.append(bigEndian: block.ssrc)
    self.append(bigEndian: UInt32(block.fractionLost) << 24 | UInt32(bitPattern: lost) & 0xff_ffff)
    self.append(bigEndian: block.highestSequence)
    self.append(bigEndian: block.jitter)
    self.append(bigEndian: block.lastSenderReport)
    self.append(bigEndian: block.delaySinceLastSenderReport)
  }

  /// A length of one byte and a text, cut between characters.
  fileprivate mutating func append(text: String) {
    var rest = text[...]
    while rest.utf8.count > 255 { rest.unicodeScalars.removeLast() }
    self.append(UInt8(rest.utf8.count))
    self.append(contentsOf: rest.utf8)
  }
}
