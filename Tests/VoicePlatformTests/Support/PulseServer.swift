import Foundation
import Testing

/// A private PulseAudio server with one null sink, whose monitor is the microphone of the tests.
///
/// It has its own runtime folder and socket, and touches no other server of this machine.
final class PulseServer: Sendable {
  private static let daemon = "/usr/bin/pulseaudio"
  private static let controller = "/usr/bin/pactl"
  private static let player = "/usr/bin/paplay"
  private let folder: TemporaryFolder

  /// Whether the Debian packages `pulseaudio`, `pulseaudio-utils` and `libasound2-plugins` are installed.
  static let isInstalled: Bool = {
    let plugins = ["x86_64-linux-gnu", "aarch64-linux-gnu"].map {
      "/usr/lib/\($0)/alsa-lib/libasound_module_pcm_pulse.so"
    }
    let programs: [String] = [daemon, controller, player]
    return programs.allSatisfy { access($0, X_OK) == 0 }
      && plugins.contains { access($0, R_OK) == 0 }
  }()

  /// The ALSA name of the microphone.
  var device: String {
    "plug:{SLAVE={type pulse server \"\(self.address)\" device \"out.monitor\"}}"
  }

  /// The ALSA name of the loudspeaker that the microphone hears.
  var speaker: String {
    "plug:{SLAVE={type pulse server \"\(self.address)\" device \"out\"}}"
  }

  var address: String { "unix:\(self.folder.path)/native" }

  init() async throws {
    let folder = try TemporaryFolder()
    self.folder = folder
    // The command returns when the server is ready; a server that a failed test leaves behind ends by itself.
    let status = try await Program.onThread {
      try Program.run(
        Self.daemon,
        [
          "-n", "--daemonize=yes", "--exit-idle-time=30", "--disable-shm=yes", "--use-pid-file=yes",
          "-L", "module-native-protocol-unix socket=\(folder.path)/native auth-anonymous=1",
          "-L", "module-null-sink sink_name=out rate=48000 channels=2",
        ], environment: Self.environment(folder)
      ).status
    }
    try #require(status == 0, "the sound server does not start")
  }

  deinit { self.kill() }

  /// Plays a WAV file and returns when it was played.
  func play(_ path: String) async throws {
    // With the player's own long latency the whole recording is in the server before it sounds: no gap on a busy machine.
    let arguments = ["--server=\(self.address)", "--device=out", path]
    let status = try await Program.onThread { try Program.run(Self.player, arguments).status }
    try #require(status == 0, "the recording cannot be played")
  }

  /// Takes the microphone and the loudspeaker away while the server goes on.
  func unplug() async throws {
    _ = try await self.control(["unload-module", "module-null-sink"])
  }

  /// How many programs are recording.
  func recorderCount() async throws -> Int {
    try await self.control(["list", "short", "source-outputs"]).split(separator: "\n").count
  }

  /// How many programs are playing.
  func playerCount() async throws -> Int {
    try await self.control(["list", "short", "sink-inputs"]).split(separator: "\n").count
  }

  /// Ends the server as a crash would.
  func kill() {
    guard let text = try? String(contentsOfFile: self.folder.path + "/pid", encoding: .utf8),
      let pid = pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)), pid > 1
    else { return }
    Foundation.kill(pid, SIGKILL)
  }

  private func control(_ arguments: [String]) async throws -> String {
    let all = ["--server=\(self.address)"] + arguments
    let result = try await Program.onThread { try Program.run(Self.controller, all) }
    try #require(result.status == 0)
    return result.output
  }

  private static func environment(_ folder: TemporaryFolder) -> [String: String] {
    [
      "HOME": folder.path, "XDG_RUNTIME_DIR": folder.path, "XDG_CONFIG_HOME": folder.path,
      "PULSE_RUNTIME_PATH": folder.path, "PULSE_STATE_PATH": folder.path, "PULSE_SERVER": "",
    ]
  }
}
