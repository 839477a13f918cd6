import Foundation

/// Stops the fuzzer, which then keeps the input.
public func require(_ condition: Bool, _ reason: String) {
  guard !condition else { return }
  // Without a buffer, which nobody would empty any more.
  FileHandle.standardError.write(Data("Broken promise: \(reason)\n".utf8))
  abort()
}

/// Hands inputs to a closure until the fuzzer's time is over, and ends the process.
public func runFuzzer(_ input: @escaping ([UInt8]) -> Void) -> Never {
  take = input
  var count = CommandLine.argc
  var arguments = CommandLine.unsafeArgv
  let status = runDriver(&count, &arguments) { start, count in
    take?(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
  }
  exit(status)
}

/// What takes the inputs: the driver calls a C function, which cannot have a context. The fuzzer has one thread.
nonisolated(unsafe) private var take: (([UInt8]) -> Void)?

/// The fuzzer's own main loop, in the toolchain's library: it links only under `-sanitize=fuzzer`.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
  _ argumentCount: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ input: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt
