#if os(Linux)
  import Foundation

  /// On Linux the right to record is the right to open a capture device in `/dev/snd`, or a sound server to ask.
  enum PlatformMicrophonePermission {
    static func state() -> MicrophonePermissionState {
      state(
        captureNodes: captureNodes(in: "/dev/snd"),
        hasSoundServer: hasSoundServer(ProcessInfo.processInfo.environment))
    }

    static func request() async -> MicrophonePermissionState {
      state()
    }

    /// The state that follows from what there is.
    ///
    /// - Parameters:
    ///   - captureNodes: For each capture device of the kernel, whether this process may open it.
    ///   - hasSoundServer: Whether a sound server runs that records on our behalf.
    static func state(captureNodes: [Bool], hasSoundServer: Bool) -> MicrophonePermissionState {
      // Without any device nothing is forbidden; opening says that there is no device, which is the better advice.
      if captureNodes.isEmpty || hasSoundServer { return .granted }
      return captureNodes.contains(true) ? .granted : .denied
    }

    /// Whether each capture node (`pcmC0D0c`) of a folder may be opened.
    static func captureNodes(in folder: String) -> [Bool] {
      guard access(folder, R_OK | X_OK) == 0 else {
        // A folder that is there and may not be looked into hides its devices from us.
        return access(folder, F_OK) == 0 ? [false] : []
      }
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      return names.filter { $0.hasPrefix("pcm") && $0.hasSuffix("c") }
        .map { access(folder + "/" + $0, R_OK | W_OK) == 0 }
    }

    /// Whether the environment leads to a PulseAudio or PipeWire server.
    static func hasSoundServer(_ environment: [String: String]) -> Bool {
      if let server = environment["PULSE_SERVER"], !server.isEmpty { return true }
      let runtime = environment["XDG_RUNTIME_DIR"] ?? "/run/user/\(geteuid())"
      return ["pulse/native", "pipewire-0"].contains { access(runtime + "/" + $0, R_OK | W_OK) == 0 }
    }
  }
#endif
