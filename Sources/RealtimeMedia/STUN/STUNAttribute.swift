/// An attribute of a STUN message (RFC 8489 section 14, RFC 8445 section 16.1, RFC 8656 section 18).
public enum STUNAttribute: Hashable, Sendable {
  /// The address that the server sees, as RFC 3489 wrote it; only from old servers.
  case mappedAddress(TransportAddress)
  /// The address that the server sees.
  case xorMappedAddress(TransportAddress)
  /// Who asks; for ICE the fragments of both, with a colon between them.
  case username(String)
  /// The scope of long-term credentials.
  case realm(String)
  /// What the server wants to see again.
  case nonce(String)
  /// What the sender is.
  case software(String)
  /// Why a request failed: from 300 to 699.
  case errorCode(Int, reason: String)
  /// What a request had that the server does not know.
  case unknownAttributes([UInt16])
  /// Another server to ask.
  case alternateServer(TransportAddress)
  /// The priority that a peer-reflexive candidate would have.
  case priority(UInt32)
  /// The controlling peer chooses this pair.
  case useCandidate
  /// The sender believes to be controlled, with its tiebreaker.
  case iceControlled(UInt64)
  /// The sender believes to be controlling, with its tiebreaker.
  case iceControlling(UInt64)
  /// A channel of TURN, from 0x4000 to 0x4fff.
  case channelNumber(UInt16)
  /// How long an allocation lives.
  case lifetime(Duration)
  /// The peer behind a relay.
  case xorPeerAddress(TransportAddress)
  /// What is relayed.
  case data([UInt8])
  /// The address of the relay.
  case xorRelayedAddress(TransportAddress)
  /// The family of the relayed address that is asked for: 6 or 4.
  case requestedAddressFamily(isV6: Bool)
  /// The next port is to be even, and the one after it reserved.
  case evenPort(reservesNext: Bool)
  /// The protocol of the relayed address that is asked for: 17 is UDP.
  case requestedTransport(UInt8)
  /// The relay must not fragment.
  case dontFragment
  /// A port that was reserved.
  case reservationToken(UInt64)
  /// Any other attribute.
  case unknown(type: UInt16, value: [UInt8])

  /// The type on the wire.
  public var type: UInt16 {
    switch self {
    case .mappedAddress: 0x0001
    case .username: 0x0006
    case .errorCode: 0x0009
    case .unknownAttributes: 0x000a
    case .channelNumber: 0x000c
    case .lifetime: 0x000d
    case .xorPeerAddress: 0x0012
    case .data: 0x0013
    case .realm: 0x0014
    case .nonce: 0x0015
    case .xorRelayedAddress: 0x0016
    case .requestedAddressFamily: 0x0017
    case .evenPort: 0x0018
    case .requestedTransport: 0x0019
    case .dontFragment: 0x001a
    case .xorMappedAddress: 0x0020
    case .reservationToken: 0x0022
    case .priority: 0x0024
    case .useCandidate: 0x0025
    case .software: 0x8022
    case .alternateServer: 0x8023
    case .iceControlled: 0x8029
    case .iceControlling: 0x802a
    case .unknown(let type, _): type
    }
  }

  /// Whether who does not know it must refuse the message (RFC 8489 section 14).
  public var isComprehensionRequired: Bool { self.type < 0x8000 }
}

extension STUNAttribute {
  /// Reads a value; `nil` if it cannot be the value of this type.
  init?(type: UInt16, value: ArraySlice<UInt8>, transaction: STUNMessage.TransactionID) {
    var reader = ByteReader(value)
    let attribute: STUNAttribute?
    switch type {
    case 0x0001: attribute = reader.address(nil).map { .mappedAddress($0) }
    case 0x0006: attribute = reader.text(limit: 508).map { .username($0) }
    case 0x0009:
      guard let head = reader.uint32(), let reason = reader.text(limit: 763) else { return nil }
      let (hundreds, rest) = (Int(head >> 8 & 7), Int(head & 0xff))
      guard (3...6).contains(hundreds), rest < 100 else { return nil }
      attribute = .errorCode(hundreds * 100 + rest, reason: reason)
    case 0x000a:
      var types: [UInt16] = []
      while let type = reader.uint16() { types.append(type) }
      attribute = .unknownAttributes(types)
    case 0x000c: attribute = reader.uint32().map { .channelNumber(UInt16($0 >> 16)) }
    case 0x000d: attribute = reader.uint32().map { .lifetime(.seconds(Int64($0))) }
    case 0x0012: attribute = reader.address(transaction).map { .xorPeerAddress($0) }
    case 0x0013: attribute = .data(Array(reader.rest()))
    case 0x0014: attribute = reader.text(limit: 763).map { .realm($0) }
    case 0x0015: attribute = reader.text(limit: 763).map { .nonce($0) }
    case 0x0016: attribute = reader.address(transaction).map { .xorRelayedAddress($0) }
    case 0x0017:
      guard let family = reader.uint32().map({ $0 >> 24 }), family == 1 || family == 2 else { return nil }
      attribute = .requestedAddressFamily(isV6: family == 2)
    case 0x0018: attribute = reader.uint8().map { .evenPort(reservesNext: $0 & 0x80 != 0) }
    case 0x0019: attribute = reader.uint32().map { .requestedTransport(UInt8($0 >> 24)) }
    case 0x001a: attribute = .dontFragment
    case 0x0020: attribute = reader.address(transaction).map { .xorMappedAddress($0) }
    case 0x0022: attribute = reader.uint64().map { .reservationToken($0) }
    case 0x0024: attribute = reader.uint32().map { .priority($0) }
    case 0x0025: attribute = .useCandidate
    case 0x8022: attribute = reader.text(limit: 763).map { .software($0) }
    case 0x8023: attribute = reader.address(nil).map { .alternateServer($0) }
    case 0x8029: attribute = reader.uint64().map { .iceControlled($0) }
    case 0x802a: attribute = reader.uint64().map { .iceControlling($0) }
    default: attribute = .unknown(type: type, value: Array(reader.rest()))
    }
    guard let attribute, reader.isAtEnd else { return nil }
    self = attribute
  }

  /// Appends the value without padding.
  func append(to bytes: inout [UInt8], transaction: STUNMessage.TransactionID) {
    switch self {
    case .mappedAddress(let address), .alternateServer(let address): bytes.append(address, xor: nil)
    case .xorMappedAddress(let address), .xorPeerAddress(let address), .xorRelayedAddress(let address):
      bytes.append(address, xor: transaction)
    case .username(let text): bytes.append(contentsOf: text.utf8.prefix(508))
    case .realm(let text), .nonce(let text), .software(let text):
      bytes.append(contentsOf: text.utf8.prefix(763))
    case .errorCode(let code, let reason):
      let code = max(300, min(699, code))
      bytes.append(bigEndian: UInt32(code / 100) << 8 | UInt32(code % 100))
      bytes.append(contentsOf: reason.utf8.prefix(763))
    case .unknownAttributes(let types):
      for type in types { bytes.append(bigEndian: type) }
    case .priority(let value): bytes.append(bigEndian: value)
    case .useCandidate, .dontFragment: break
    case .iceControlled(let value), .iceControlling(let value), .reservationToken(let value):
      bytes.append(bigEndian: value)
    case .channelNumber(let number): bytes.append(bigEndian: UInt32(number) << 16)
    case .lifetime(let lifetime):
      bytes.append(bigEndian: UInt32(clamping: lifetime.components.seconds))
    case .requestedAddressFamily(let isV6): bytes.append(bigEndian: UInt32(isV6 ? 2 : 1) << 24)
    case .requestedTransport(let number): bytes.append(bigEndian: UInt32(number) << 24)
    case .evenPort(let reservesNext): bytes.append(reservesNext ? 0x80 : 0)
    case .data(let value), .unknown(_, let value): bytes.append(contentsOf: value)
    }
  }
}

extension ByteReader {
  /// An address (RFC 8489 sections 14.1 and 14.2), mixed with the cookie and the transaction if that is given.
  fileprivate mutating func address(_ transaction: STUNMessage.TransactionID?) -> TransportAddress? {
    guard let head = self.uint32() else { return nil }
    let mask = transaction.map { STUNMessage.mask($0) }
    let port = UInt16(head & 0xffff) ^ (mask == nil ? 0 : UInt16(STUNMessage.cookie >> 16))
    let value = self.rest()
    let family = head >> 16 & 0xff
    guard family == 1 && value.count == 4 || family == 2 && value.count == 16 else { return nil }
    let bytes = mask.map { zip(value, $0).map { $0 ^ $1 } } ?? Array(value)
    return IPAddress(bytes: bytes).map { TransportAddress($0, port: port) }
  }
}

extension [UInt8] {
  fileprivate mutating func append(_ address: TransportAddress, xor transaction: STUNMessage.TransactionID?) {
    let mask = transaction.map { STUNMessage.mask($0) }
    self.append(bigEndian: UInt16(address.ip.isV6 ? 2 : 1))
    self.append(bigEndian: address.port ^ (mask == nil ? 0 : UInt16(STUNMessage.cookie >> 16)))
    self.append(contentsOf: mask.map { zip(address.ip.bytes, $0).map { $0 ^ $1 } } ?? address.ip.bytes)
  }
}

extension STUNMessage {
  fileprivate static func mask(_ transaction: TransactionID) -> [UInt8] {
    UInt64(Self.cookie).bigEndianBytes.suffix(4) + transaction.bytes
  }
}
