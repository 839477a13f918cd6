import Foundation
import NIOCore
import VoiceCore

@testable import CallMedia

/// A network namespace of Linux, made by `netns_paths.py`.
enum NetworkNamespace {
  /// Makes an engine whose thread, and so all its sockets, are in a namespace.
  static func engine(in name: String) async throws -> MediaEngine {
    let engine = MediaEngine(paths: nil)
    try await engine.threads[0].loop.submit { try Self.enter(name) }.get()
    return engine
  }

  private static func enter(_ name: String) throws {
    // Looked up by its name, since other systems do not have it.
    guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "setns") else { throw POSIXError(.ENOSYS) }
    let setns = unsafeBitCast(symbol, to: (@convention(c) (Int32, Int32) -> Int32).self)
    let descriptor = open("/var/run/netns/\(name)", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw POSIXError(.ENOENT) }
    defer { close(descriptor) }
    let networkKind: Int32 = 0x4000_0000
    guard setns(descriptor, networkKind) == 0 else {
      throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EPERM)
    }
  }
}
