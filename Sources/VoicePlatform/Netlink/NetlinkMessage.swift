/// A message of Linux' routing socket (rtnetlink(7)), as far as it tells of addresses and routes.
///
/// Numbers are in the byte order of the host; only little-endian hosts are supported.
enum NetlinkMessage: Hashable, Sendable {
  /// An interface appeared, changed, or went away.
  case link(index: Int, name: String?, flags: UInt32, isRemoved: Bool)
  /// An address was given to an interface or taken from it.
  case address(index: Int, text: String, isUsable: Bool, isRemoved: Bool)
  /// A default route of the main table was made or removed; `gateway` is `nil` for a route without a router.
  case defaultRoute(interface: Int, gateway: String?, isRemoved: Bool)
  /// The end of the answer to a request.
  case done(sequence: UInt32)
  /// A request failed with an error number; 0 is a confirmation.
  case error(Int32, sequence: UInt32)
  /// Messages were lost.
  case overrun
  /// Something that does not matter here, or cannot be read.
  case other(type: Int)

  /// The flags of an interface (`netdevice(7)`).
  enum LinkFlag {
    static let up: UInt32 = 0x1
    static let loopback: UInt32 = 0x8
    static let running: UInt32 = 0x40
  }
}

extension NetlinkMessage {
  /// The types of messages, from `linux/netlink.h` and `linux/rtnetlink.h`.
  enum MessageType {
    static let error = 2
    static let done = 3
    static let overrun = 4
    static let newLink = 16
    static let removedLink = 17
    static let getLink = 18
    static let newAddress = 20
    static let removedAddress = 21
    static let getAddress = 22
    static let newRoute = 24
    static let removedRoute = 25
    static let getRoute = 26
  }

  /// Reads the messages of one datagram; ends at the first one that is cut off or impossible.
  static func parse(_ bytes: [UInt8]) -> [NetlinkMessage] {
    var messages: [NetlinkMessage] = []
    var reader = ByteCursor(bytes[...])
    while reader.count >= headerLength, let length = reader.peek32().map({ Int($0) }),
      length >= headerLength, var message = reader.take(length)
    {
      // Messages are aligned to four bytes; the last one may lack the filling.
      _ = reader.take(min(reader.count, (4 - length % 4) % 4))
      _ = message.take(4)
      let type = Int(message.take16() ?? 0)
      _ = message.take16()
      let sequence = message.take32() ?? 0
      _ = message.take32()
      messages.append(parse(type, sequence, message))
    }
    return messages
  }

  /// A request for all entries of a table.
  ///
  /// - Parameter type: ``MessageType/getLink``, ``MessageType/getAddress`` or ``MessageType/getRoute``.
  static func dumpRequest(_ type: Int, sequence: UInt32) -> [UInt8] {
    // NLM_F_REQUEST | NLM_F_DUMP, then the family AF_UNSPEC in a body as long as each table's own.
    let flags = 0x301
    let bodyLength = type == MessageType.getLink ? 16 : type == MessageType.getAddress ? 8 : 12
    return little(headerLength + bodyLength, 4) + little(type, 2) + little(flags, 2)
      + little(Int(sequence), 4) + little(0, 4) + [UInt8](repeating: 0, count: bodyLength)
  }

  private static let headerLength = 16

  private static func parse(_ type: Int, _ sequence: UInt32, _ body: ByteCursor) -> NetlinkMessage {
    var body = body
    switch type {
    case MessageType.done:
      return .done(sequence: sequence)
    case MessageType.overrun:
      return .overrun
    case MessageType.error:
      return .error(Int32(bitPattern: body.take32() ?? 0), sequence: sequence)
    case MessageType.newLink, MessageType.removedLink:
      return link(body, isRemoved: type == MessageType.removedLink) ?? .other(type: type)
    case MessageType.newAddress, MessageType.removedAddress:
      return address(body, isRemoved: type == MessageType.removedAddress) ?? .other(type: type)
    case MessageType.newRoute, MessageType.removedRoute:
      return route(body, isRemoved: type == MessageType.removedRoute) ?? .other(type: type)
    default:
      return .other(type: type)
    }
  }

  /// `struct ifinfomsg`: family, filling, type, index, flags, change.
  private static func link(_ body: ByteCursor, isRemoved: Bool) -> NetlinkMessage? {
    var body = body
    // Bridges send messages of their own family about their ports.
    guard body.take8() == 0, body.take(3) != nil, let index = body.take32(), let flags = body.take32(),
      body.take32() != nil
    else { return nil }
    let name = body.attributes()[3].map { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    return .link(index: Int(index), name: name, flags: flags, isRemoved: isRemoved)
  }

  /// `struct ifaddrmsg`: family, prefix length, flags, scope, index.
  private static func address(_ body: ByteCursor, isRemoved: Bool) -> NetlinkMessage? {
    var body = body
    guard body.take8() != nil, body.take8() != nil, let shortFlags = body.take8(), let scope = body.take8(),
      let index = body.take32()
    else { return nil }
    let attributes = body.attributes()
    // IFA_LOCAL is the own address of a point-to-point link, where IFA_ADDRESS is the peer's.
    guard let bytes = attributes[2] ?? attributes[1], let text = text(ofAddress: bytes) else { return nil }
    var flags = UInt32(shortFlags)
    if let wide = attributes[8] {
      var cursor = ByteCursor(wide)
      flags = cursor.take32() ?? flags
    }
    // IFA_F_TENTATIVE and IFA_F_DADFAILED: the address may belong to somebody else. RT_SCOPE_LINK and narrower: it
    // leads to no other network, and every interface has one.
    let isUsable = flags & 0x48 == 0 && scope < 253
    return .address(index: Int(index), text: text, isUsable: isUsable, isRemoved: isRemoved)
  }

  /// `struct rtmsg`: family, lengths of destination and source, service, table, protocol, scope, type, flags.
  private static func route(_ body: ByteCursor, isRemoved: Bool) -> NetlinkMessage? {
    var body = body
    guard let fixed = body.take(8).map({ $0.bytes }), body.take32() != nil else { return nil }
    let attributes = body.attributes()
    var table = UInt32(fixed[fixed.startIndex + 4])
    if let wide = attributes[15] {
      var cursor = ByteCursor(wide)
      table = cursor.take32() ?? table
    }
    // Destination length 0, table "main", type "unicast".
    guard fixed[fixed.startIndex + 1] == 0, table == 254, fixed[fixed.startIndex + 7] == 1 else { return nil }
    var interface = ByteCursor(attributes[4] ?? [])
    return .defaultRoute(
      interface: Int(interface.take32() ?? 0), gateway: attributes[5].flatMap { text(ofAddress: $0) },
      isRemoved: isRemoved)
  }

  /// The text of an IPv4 address in dotted form, or of an IPv6 address as eight groups.
  private static func text(ofAddress bytes: ArraySlice<UInt8>) -> String? {
    switch bytes.count {
    case 4:
      return bytes.map { String($0) }.joined(separator: ".")
    case 16:
      let all = Array(bytes)
      return stride(from: 0, to: 16, by: 2).map { String(Int(all[$0]) << 8 | Int(all[$0 + 1]), radix: 16) }
        .joined(separator: ":")
    default:
      return nil
    }
  }

  private static func little(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }
}

/// Reads numbers from bytes; gives `nil` where they end.
struct ByteCursor {
  private(set) var bytes: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
  }

  var count: Int { self.bytes.count }

  mutating func take(_ count: Int) -> ByteCursor? {
    guard count >= 0, count <= self.bytes.count else { return nil }
    defer { self.bytes = self.bytes.dropFirst(count) }
    return ByteCursor(self.bytes.prefix(count))
  }

  mutating func take8() -> UInt8? { self.bytes.popFirst() }

  mutating func take16() -> UInt16? {
    self.take(2).map { $0.bytes.reversed().reduce(0) { $0 << 8 | UInt16($1) } }
  }

  mutating func take32() -> UInt32? {
    self.take(4).map { $0.bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) } }
  }

  func peek32() -> UInt32? {
    var copy = self
    return copy.take32()
  }

  /// The attributes (`struct rtattr`) in the rest of a message, by type; ends at the first one that is impossible.
  func attributes() -> [Int: ArraySlice<UInt8>] {
    var result: [Int: ArraySlice<UInt8>] = [:]
    var cursor = self
    while let length = cursor.take16().map({ Int($0) }), let type = cursor.take16(),
      let value = cursor.take(length - 4)
    {
      // The two highest bits say how the value is written, not what it is.
      result[Int(type & 0x3FFF)] = value.bytes
      _ = cursor.take(min(cursor.count, (4 - length % 4) % 4))
    }
    return result
  }
}
