#if canImport(Network)
  import Foundation

  enum UnacknowledgedBytes {
    /// How many written bytes of a TCP socket its peer's system has not acknowledged (getsockopt(2)); 0 if that cannot be found
    /// out.
    static func count(of socket: CInt) -> Int {
      var count: CInt = 0
      var size = socklen_t(MemoryLayout<CInt>.size)
      return getsockopt(socket, SOL_SOCKET, SO_NWRITE, &count, &size) == 0 ? Int(count) : 0
    }
  }
#endif
