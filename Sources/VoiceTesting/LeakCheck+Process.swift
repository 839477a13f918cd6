import Foundation

/// What the process holds of the system: for integration tests that must leave nothing open.
///
/// Both readings are of the whole process, so they mean something only while no other test runs in it.
public struct ProcessResources: Sendable {
  /// The open file descriptors, and what each is where the system tells (`socket:[4711]`, a path).
  public let descriptors: [Int: String]

  /// The threads by their numbers, and the name of each; `nil` where the system does not tell.
  public let threads: [Int: String]?

  /// Reads the present state.
  public static func current() -> ProcessResources {
    ProcessResources(descriptors: self.openDescriptors(), threads: self.runningThreads())
  }

  /// The descriptors that were not open before, or are something else now.
  public func descriptorsOpened(since earlier: ProcessResources) -> [Int: String] {
    self.descriptors.filter { earlier.descriptors[$0.key] != $0.value }
  }

  /// The threads that did not run before, without those of the system's pool for queues and tasks, which come and go as they are
  /// needed.
  public func threadsStarted(since earlier: ProcessResources) -> [Int: String] {
    (self.threads ?? [:]).filter { earlier.threads?[$0.key] == nil && !$0.value.contains("qos") }
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

  private static func runningThreads() -> [Int: String]? {
    let folder = "/proc/self/task"
    guard let numbers = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return nil }
    var threads: [Int: String] = [:]
    for number in numbers {
      // One that has ended meanwhile has no name any more.
      guard let id = Int(number),
        let name = try? String(contentsOfFile: "\(folder)/\(number)/comm", encoding: .utf8)
      else { continue }
      threads[id] = String(name.prefix { $0 != "\n" })
    }
    return threads
  }
}
