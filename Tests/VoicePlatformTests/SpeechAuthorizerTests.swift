import Testing
import VoiceCore

@testable import VoicePlatform

struct SpeechAuthorizerTests {
  @Test(
    arguments: zip(
      MicrophonePermissionState.allCases,
      [
        SpeechAuthorization.authorized, .denied, .notDetermined, .restricted,
      ]))
  func theMicrophoneDecides(permission: MicrophonePermissionState, authorization: SpeechAuthorization) async {
    let authorizer = MicrophoneAuthorizer(FixedMicrophonePermission(permission))
    #expect(await authorizer.state() == authorization)
    #expect(await authorizer.request() == authorization)
  }

  @Test func everythingButTheRightHasAFailureOfItsOwn() {
    let codes = SpeechAuthorization.allCases.map { $0.failure?.code }
    #expect(codes == [nil, .recognitionDenied, .recognitionRestricted, .recognitionUndecided])
  }
}
