import Foundation

/// What the process holds of the system: for integration tests that must leave nothing open.
///
/// Both readings are of the whole process, so they mean something only while no other test runs in it.
public struct ProcessResources: Sendable {
  /// The open file descriptors, and what each is where the system tells (`socket:[4711]`, a path).
  public let descriptors: [Int: String]

  /// The number of threads, or `nil` where the system does not tell.
  public let threadCount: Int?

  /// Reads the present state.
  public static func current() -> ProcessResources {
    ProcessResources(descriptors: self.openDescriptors(), threadCount: self.countThreads())
  }

  /// The descriptors that were not open before, or are something else now.
  public func descriptorsOpened(since earlier: ProcessResources) -> [Int: String] {
    self.descriptors.filter { earlier.descriptors[$0.key] != $0.value }
  }

  private static func openDescriptors() -> [Int: String] {
    let manager = FileManager.default
    let folder = ["/proc/self/fd", "/dev/fd"].first { manager.fileExists(atPath: $0) } ?? "/dev/fd"
    var descriptors: [Int: String] = [:]
    for name in (try? manager.contentsOfDirectory(atPath: folder)) ?? [] {
      // The descriptor of the listing itself is closed by now.
      guard let number = Int(name), fcntl(CInt(truncatingIfNeeded: number), F_GETFD) >= 0 else { continue }
      descriptors[number] = (try? manager.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")) ?? ""
    }
    return descriptors
  }

  private static func countThreads() -> Int? {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task"))?.count
  }
}
