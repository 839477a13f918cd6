#if os(Linux)
  import Foundation
  import Testing
  @testable import VoicePlatform

  struct LinuxMicrophonePermissionTests {
    @Test(arguments: [
      ([], false, MicrophonePermissionState.granted), ([], true, .granted), ([false], false, .denied),
      ([false, false], false, .denied), ([false, true], false, .granted), ([false], true, .granted),
    ])
    func followsFromDevicesAndSoundServer(nodes: [Bool], hasServer: Bool, state: MicrophonePermissionState) {
      #expect(PlatformMicrophonePermission.state(captureNodes: nodes, hasSoundServer: hasServer) == state)
    }

    @Test func looksAtTheCaptureDevicesOnly() throws {
      let folder = try TemporaryFolder()
      for name in ["pcmC0D0c", "pcmC1D0c", "pcmC0D0p", "controlC0", "timer"] {
        _ = FileManager.default.createFile(atPath: folder.path + "/" + name, contents: nil)
      }
      #expect(PlatformMicrophonePermission.captureNodes(in: folder.path) == [true, true])
      #expect(PlatformMicrophonePermission.captureNodes(in: folder.path + "/none") == [])
    }

    @Test func findsTheSoundServer() throws {
      let folder = try TemporaryFolder()
      #expect(!PlatformMicrophonePermission.hasSoundServer(["XDG_RUNTIME_DIR": folder.path]))
      #expect(PlatformMicrophonePermission.hasSoundServer(["PULSE_SERVER": "unix:/x"]))
      _ = FileManager.default.createFile(atPath: folder.path + "/pipewire-0", contents: nil)
      #expect(PlatformMicrophonePermission.hasSoundServer(["XDG_RUNTIME_DIR": folder.path]))
    }

    @Test func asksNobody() async {
      #expect(await SystemMicrophonePermission().request() == SystemMicrophonePermission().state())
      #expect(await SystemMicrophonePermission().state() != .notDetermined)
    }
  }
#endif
