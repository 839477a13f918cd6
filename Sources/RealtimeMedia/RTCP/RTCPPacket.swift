/// A packet of RTCP (RFC 3550 section 6, RFC 4585 section 6).
public enum RTCPPacket: Hashable, Sendable {
  /// What a receiver says of a source (RFC 3550 section 6.4.1).
  public struct ReportBlock: Hashable, Sendable {
    /// The source.
    public var ssrc: UInt32
    /// Lost since the last report, in 256ths.
    public var fractionLost: UInt8
    /// Lost since the beginning, from −2²³ to 2²³ − 1; negative if packets came twice.
    public var cumulativeLost: Int32
    /// The highest number with the count of its wraps above it.
    public var highestSequence: UInt32
    /// The jitter in units of the timestamp.
    public var jitter: UInt32
    /// The middle of the time of the last sender report; 0 without one.
    public var lastSenderReport: UInt32
    /// Since then, in 65,536ths of a second.
    public var delaySinceLastSenderReport: UInt32

    /// Creates a block.
    public init(
      ssrc: UInt32, fractionLost: UInt8 = 0, cumulativeLost: Int32 = 0, highestSequence: UInt32 = 0,
      jitter: UInt32 = 0, lastSenderReport: UInt32 = 0, delaySinceLastSenderReport: UInt32 = 0
    ) {
      self.ssrc = ssrc
      self.fractionLost = fractionLost
      self.cumulativeLost = cumulativeLost
      self.highestSequence = highestSequence
      self.jitter = jitter
      self.lastSenderReport = lastSenderReport
      self.delaySinceLastSenderReport = delaySinceLastSenderReport
    }
  }

  /// What a sender says of itself (RFC 3550 section 6.4.1).
  public struct SenderInfo: Hashable, Sendable {
    /// When the report was made.
    public var ntp: NTPTimestamp
    /// The same moment in units of its packets.
    public var rtpTimestamp: UInt32
    /// Packets so far.
    public var packets: UInt32
    /// Bytes of payload so far.
    public var bytes: UInt32

    /// Creates a sender's part.
    public init(ntp: NTPTimestamp, rtpTimestamp: UInt32, packets: UInt32, bytes: UInt32) {
      self.ntp = ntp
      self.rtpTimestamp = rtpTimestamp
      self.packets = packets
      self.bytes = bytes
    }
  }

  /// One item of a description (RFC 3550 section 6.5).
  public struct SourceItem: Hashable, Sendable {
    /// 1 is CNAME.
    public var type: UInt8
    /// UTF-8, at most 255 bytes.
    public var text: String

    /// Creates an item.
    public init(type: UInt8, text: String) {
      self.type = type
      self.text = text
    }
  }

  /// What is said of a source.
  public struct SourceChunk: Hashable, Sendable {
    /// The source.
    public var ssrc: UInt32
    /// The items.
    public var items: [SourceItem]

    /// Creates a chunk.
    public init(ssrc: UInt32, items: [SourceItem]) {
      self.ssrc = ssrc
      self.items = items
    }
  }

  case senderReport(ssrc: UInt32, SenderInfo, [ReportBlock])
  case receiverReport(ssrc: UInt32, [ReportBlock])
  case sourceDescription([SourceChunk])
  /// Sources leave (RFC 3550 section 6.6).
  case bye(ssrcs: [UInt32], reason: String?)
  /// Feedback, such as NACK or PLI, which audio does not need (RFC 4585 section 6.1): type 205 or 206.
  case feedback(type: UInt8, format: UInt8, sender: UInt32, media: UInt32, information: ArraySlice<UInt8>)
  /// Any other type: the count or format, and all bytes after the first four.
  case other(type: UInt8, count: UInt8, body: ArraySlice<UInt8>)

  /// Reads all packets of a datagram, which may be reduced (RFC 5506).
  ///
  /// Types and feedback that are not known are kept, reports may be followed by extensions of profiles.
  ///
  /// - Throws: ``RTPError``; one broken packet makes the datagram unusable.
  public static func parse(_ bytes: ArraySlice<UInt8>) throws(RTPError) -> [RTCPPacket] {
    var reader = ByteReader(bytes)
    var packets: [RTCPPacket] = []
    repeat {
      guard let first = reader.uint8(), let type = reader.uint8(), let words = reader.uint16(),
        var body = reader.slice(Int(words) * 4)
      else { throw .truncated }
      guard first >> 6 == 2 else { throw .wrongVersion }
      if first & 0x20 != 0 {
        // Only the last packet may be padded (RFC 3550 section 6.4.1).
        guard reader.isAtEnd, let padding = body.last, padding > 0, padding % 4 == 0,
          body.count >= Int(padding)
        else { throw .wrongPadding }
        body = body.dropLast(Int(padding))
      }
      guard let packet = RTCPPacket(type: type, count: first & 0x1f, body: body) else { throw .malformed }
      packets.append(packet)
    } while !reader.isAtEnd
    return packets
  }
}

/// A time of NTP: seconds since 1900 in 32 bits with a fraction of 32 bits (RFC 3550 section 4).
public struct NTPTimestamp: Hashable, Sendable {
  /// Seconds and fraction.
  public var value: UInt64

  /// Creates a timestamp from its bits.
  public init(value: UInt64) {
    self.value = value
  }

  /// Creates a timestamp; the era is left out.
  public init(since1900 time: Duration) {
    let (seconds, attoseconds) = time.components
    // 10¹⁸ / 2³² is about 232,830,643.65; dividing in two steps loses nothing that matters.
    let fraction = UInt64(max(0, attoseconds) / 1_000_000_000) * (1 << 32) / 1_000_000_000
    self.value = UInt64(truncatingIfNeeded: seconds) << 32 | fraction
  }

  /// The middle 32 bits, which stand in reports.
  public var middle: UInt32 { UInt32(truncatingIfNeeded: self.value >> 16) }
}
