import Testing

@testable import VoicePlatform

struct NetlinkMessageTests {
  @Test(arguments: Recording.all)
  func readsNothingFromAMessageThatIsCutOff(hex: String) {
    let bytes = Recording.bytes(hex)
    for count in 0..<bytes.count - 3 {
      #expect(NetlinkMessage.parse(Array(bytes.prefix(count))).isEmpty, "\(count) of \(bytes.count) bytes")
    }
  }

  @Test func neverTrapsOnDamagedMessages() {
    var seed: UInt64 = 11
    func random() -> UInt64 {
      seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return seed >> 33
    }
    var parsed = 0
    let recordings = Recording.all.flatMap { Recording.bytes($0) }
    for _ in 0..<5_000 {
      var bytes = recordings
      for _ in 0...random() % 6 {
        bytes[Int(random() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random())
      }
      parsed += NetlinkMessage.parse(bytes).count
    }
    #expect(parsed > 5_000)
  }

  @Test(arguments: [0, 1, 15, 0x7FFF_FFFF, 0xFFFF_FFFF])
  func endsAtAnImpossibleLength(length: Int) {
    var bytes = Recording.bytes(Recording.linkUp)
    bytes.replaceSubrange(0..<4, with: (0..<4).map { UInt8(truncatingIfNeeded: length >> ($0 * 8)) })
    #expect(NetlinkMessage.parse(bytes).isEmpty)
  }

  @Test(arguments: [0, 1, 3, 200])
  func endsAtAnAttributeOfImpossibleLength(length: UInt8) {
    var bytes = Recording.bytes(Recording.linkUp)
    bytes[32] = length
    #expect(NetlinkMessage.parse(bytes) == [.link(index: 5, name: nil, flags: 0x11043, isRemoved: false)])
  }

  @Test func readsWhatTheKernelSends() {
    let expected: [(String, NetlinkMessage)] = [
      (Recording.linkAdded, .link(index: 5, name: "x0", flags: 0x1002, isRemoved: false)),
      (Recording.linkUp, .link(index: 5, name: "x0", flags: 0x11043, isRemoved: false)),
      (Recording.addressAdded, .address(index: 5, text: "10.1.2.3", isUsable: true, isRemoved: false)),
      (Recording.localRoute, .other(type: 24)),
      (Recording.defaultRoute, .defaultRoute(interface: 5, gateway: "10.1.2.1", isRemoved: false)),
      (
        Recording.wideAddress,
        .address(index: 5, text: "fd00:0:0:0:0:0:0:7", isUsable: true, isRemoved: false)
      ),
      (
        Recording.linkLocalAddress,
        .address(index: 5, text: "fe80:0:0:0:a4ac:6cff:fe70:3c53", isUsable: false, isRemoved: false)
      ),
      (
        Recording.wideAddressRemoved,
        .address(index: 5, text: "fd00:0:0:0:0:0:0:7", isUsable: true, isRemoved: true)
      ),
      (Recording.done, .done(sequence: 7)),
    ]
    for (hex, message) in expected { #expect(NetlinkMessage.parse(Recording.bytes(hex)) == [message]) }
    let together = expected.flatMap { Recording.bytes($0.0) }
    #expect(NetlinkMessage.parse(together) == expected.map(\.1))
  }

  @Test func leavesOutAddressesThatMayBelongToSomebodyElse() {
    // IFA_F_TENTATIVE in the wide flags.
    var bytes = Recording.bytes(Recording.wideAddress)
    bytes[68] |= 0x40
    #expect(
      NetlinkMessage.parse(bytes)
        == [.address(index: 5, text: "fd00:0:0:0:0:0:0:7", isUsable: false, isRemoved: false)])
  }

  @Test func asksForWholeTables() {
    let request = NetlinkMessage.dumpRequest(NetlinkMessage.MessageType.getAddress, sequence: 9)
    #expect(request == [24, 0, 0, 0, 22, 0, 1, 3, 9, 0, 0, 0, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 8))
  }
}

/// Datagrams of a Linux 6 kernel. Messages about links are cut after the name, their first attribute, with the
/// length set right.
enum Recording {
  static let linkAdded = "28000000100000000000000000000000000001000500000002100000ffffffff0700030078300000"
  static let linkUp = "28000000100000000000000000000000000001000500000043100100000000000700030078300000"
  static let linkDown = "28000000100000000000000000000000000001000500000002100000010000000700030078300000"
  static let addressAdded =
    "4c000000140000003ef6006bb27d00000218800005000000080001000a010203080002000a0102030700030078300000"
    + "0800080080000000" + "14000600ffffffffffffffff142b0500142b0500"
  static let localRoute =
    "3c00000018000006000000000000000002200000ff02fe020000000008000f00ff000000080001000a010203080007000a010203"
    + "0800040005000000"
  static let defaultRoute =
    "34000000180000063ef6006bd07d000002000000fe0300010000000008000f00fe000000080005000a010201"
    + "0800040005000000"
  static let wideAddress =
    "480000001400000000000000000000000a4082000500000014000100fd000000000000000000000000000007"
    + "14000600ffffffffffffffff662b0500662b0500" + "0800080082000000"
  static let wideAddressRemoved =
    "480000001500000000000000000000000a4082000500000014000100fd000000000000000000000000000007"
    + "14000600ffffffffffffffff662b0500662b0500" + "0800080082000000"
  static let linkLocalAddress =
    "500000001400000000000000000000000a4080fd0500000014000100fe80000000000000a4ac6cfffe703c53"
    + "14000600ffffffffffffffffec2a0500ec2a0500" + "0800080080000000" + "05000b0003000000"
  static let done = "140000000300020007000000477d000000000000"

  static let all = [
    linkAdded, linkUp, linkDown, addressAdded, localRoute, defaultRoute, wideAddress, wideAddressRemoved,
    linkLocalAddress, done,
  ]

  static func bytes(_ hex: String) -> [UInt8] {
    let digits = hex.compactMap { $0.hexDigitValue }
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }

  /// The end of the answer to the request with a number.
  static func done(_ sequence: UInt8) -> [UInt8] {
    var bytes = bytes(done)
    bytes[8] = sequence
    return bytes
  }
}
