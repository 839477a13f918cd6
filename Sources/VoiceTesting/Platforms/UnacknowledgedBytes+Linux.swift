#if os(Linux)
  import Foundation

  enum UnacknowledgedBytes {
    /// How many written bytes of a TCP socket its peer's system has not acknowledged (tcp(7)); 0 if that cannot be found out.
    static func count(of socket: CInt) -> Int {
      var count: CInt = 0
      return ioctl(socket, UInt(TIOCOUTQ), &count) == 0 ? Int(count) : 0
    }
  }
#endif
