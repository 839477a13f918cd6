import Testing
import VoiceCore
import VoicePlatform

struct MicrophonePermissionTests {
  @Test func onlyARefusalIsAFailure() {
    #expect(MicrophonePermissionState.denied.failure?.code == .microphoneDenied)
    #expect(MicrophonePermissionState.restricted.failure?.code == .microphoneDenied)
    #expect(MicrophonePermissionState.granted.failure == nil)
    #expect(MicrophonePermissionState.notDetermined.failure == nil)
  }

  @Test(arguments: MicrophonePermissionState.allCases)
  func aFixedPermissionStaysAsItIs(state: MicrophonePermissionState) async {
    #expect(await FixedMicrophonePermission(state).state() == state)
    #expect(await FixedMicrophonePermission(state).request() == state)
  }
}
