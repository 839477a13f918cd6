#if os(Linux)
  import CALSA
  import Foundation
  import Synchronization

  /// A thread of its own for calls to ALSA, which wait.
  enum DeviceThread {
    static func start(named name: String, _ body: @escaping @Sendable () -> Void) {
      let thread = Thread(block: body)
      thread.name = name
      thread.start()
    }
  }

  /// Tells a capture thread to end.
  final class StopFlag: Sendable {
    private let flag = Atomic<Bool>(false)

    var isRaised: Bool { self.flag.load(ordering: .acquiring) }

    func raise() {
      self.flag.store(true, ordering: .releasing)
    }
  }

  /// What ALSA lists; waits for some milliseconds.
  enum ALSADeviceList {
    enum Direction: String {
      case input = "Input"
      case output = "Output"
    }

    static func devices(_ direction: Direction) -> [(name: String, label: String)] {
      ALSAMessages.keepOnThisThread()
      var hints: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
      guard snd_device_name_hint(-1, "pcm", &hints) == 0, let hints else { return [] }
      defer { snd_device_name_free_hint(hints) }
      var devices: [(name: String, label: String)] = []
      var next = hints
      while let hint = next.pointee {
        next += 1
        // No direction means both.
        guard let name = text(of: hint, "NAME"), name != "null",
          text(of: hint, "IOID") ?? direction.rawValue == direction.rawValue
        else { continue }
        let label = text(of: hint, "DESC")?.split(separator: "\n").joined(separator: ", ")
        devices.append((name, label ?? name))
      }
      return devices
    }

    private static func text(of hint: UnsafeMutableRawPointer, _ key: String) -> String? {
      guard let value = snd_device_name_get_hint(hint, key) else { return nil }
      defer { free(value) }
      return String(cString: value)
    }
  }
#endif
