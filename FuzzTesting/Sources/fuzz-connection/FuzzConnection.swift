import FuzzSupport

/// Takes each input as orders for one of the machines of a call; the first byte says for which.
///
/// Apart from crashes it finds broken promises: each machine has some that hold whatever happens.
@main
struct FuzzConnection {
  static func main() {
    guard CallFuzzing.certificates.count == 2 else { return require(false, "certificates can be made") }
    runFuzzer { bytes in
      let script = Script(bytes.dropFirst())
      switch bytes.first {
      case UInt8(ascii: "i"): runICE(script)
      case UInt8(ascii: "t"): runTURN(script)
      case UInt8(ascii: "r"): runReceiver(script)
      case UInt8(ascii: "c"): runCall(script)
      default: break
      }
    }
  }

  private static func runICE(_ script: Script) {
    var fuzzing = ICEFuzzing(script)
    fuzzing.run()
  }

  private static func runTURN(_ script: Script) {
    var fuzzing = TURNFuzzing(script)
    fuzzing.run()
  }

  private static func runReceiver(_ script: Script) {
    var fuzzing = ReceiverFuzzing(script)
    fuzzing.run()
  }

  private static func runCall(_ script: Script) {
    guard let fuzzing = CallFuzzing(script) else { return require(false, "a connection can be made") }
    fuzzing.run()
  }
}
