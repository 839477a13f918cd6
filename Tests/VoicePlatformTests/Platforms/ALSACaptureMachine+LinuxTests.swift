#if os(Linux)
  import Foundation
  import Testing
  @testable import VoicePlatform
  import VoiceCore

  struct ALSAFailureTests {
    @Test(arguments: [
      (EACCES, ALSAFailure.Phase.opening, VoiceFailure.Code.microphoneDenied),
      (EPERM, .opening, .microphoneDenied),
      (EBUSY, .opening, .inputDeviceBusy), (EAGAIN, .opening, .inputDeviceBusy),
      (ENOENT, .opening, .noInputDevice), (ENODEV, .opening, .noInputDevice),
      (ENXIO, .opening, .noInputDevice),
      (ECONNREFUSED, .opening, .noInputDevice), (EIO, .opening, .inputDeviceFailed),
      (ENOMEM, .opening, .inputDeviceFailed), (EINVAL, .opening, .noInputDevice),
      (EINVAL, .configuring, .formatNotSupported), (EBUSY, .configuring, .inputDeviceBusy),
      (ENODEV, .configuring, .noInputDevice), (ENODEV, .running, .inputDeviceLost),
      (EBADFD, .running, .inputDeviceLost), (EIO, .running, .inputDeviceLost),
      (EPIPE, .running, .inputDeviceLost), (EINVAL, .running, .inputDeviceFailed),
      (EACCES, .running, .microphoneDenied), (0, .running, .inputDeviceFailed),
      (Int32.max, .opening, .inputDeviceFailed), (Int32.min, .opening, .inputDeviceFailed),
    ])
    func namesEachErrorNumber(number: Int32, phase: ALSAFailure.Phase, code: VoiceFailure.Code) {
      let failure = ALSAFailure.failure(number, device: "mic", phase: phase, detail: "what ALSA says")
      #expect(failure.code == code)
      #expect(failure.message.contains("mic"))
      #expect(!failure.message.contains("what ALSA says"))
      #expect(failure.debugDescription.contains("what ALSA says"))
    }
  }

  struct ALSACaptureMachineTests {
    private func machine() -> ALSACaptureMachine {
      ALSACaptureMachine(device: "mic", sampleRate: 16_000, startedAt: at(0), stallLimit: .seconds(1))
    }

    @Test func aDeviceThatIsGoneEndsTheCapture() {
      var machine = machine()
      guard case .fail(let failure) = machine.read(-Int(ENODEV), at: at(100)) else {
        Issue.record("goes on")
        return
      }
      #expect(failure.code == .inputDeviceLost)
    }

    @Test func aSoundServerThatHasEndedIsFoundOutByRestarting() {
      var machine = machine()
      #expect(machine.read(320, at: at(20)) == .deliver(frames: 320, missing: 0))
      #expect(machine.waited(-EIO, at: at(40)) == .restart)
      guard case .fail(let failure) = machine.restarted(-EIO) else {
        Issue.record("goes on")
        return
      }
      #expect(failure.code == .inputDeviceLost)
    }

    @Test func aDeviceThatRestartsInVainEndsTheCapture() {
      var machine = machine()
      for _ in 0..<3 {
        #expect(machine.waited(-EPIPE, at: at(40)) == .restart)
        #expect(machine.restarted(0) == .wait)
      }
      guard case .fail(let failure) = machine.waited(-EPIPE, at: at(50)) else {
        Issue.record("goes on")
        return
      }
      #expect(failure.code == .inputDeviceLost)
    }

    @Test func aSilentDeviceEndsTheCapture() {
      var machine = machine()
      #expect(machine.waited(0, at: at(999)) == .wait)
      guard case .fail(let failure) = machine.waited(0, at: at(1_000)) else {
        Issue.record("goes on")
        return
      }
      #expect(failure.code == .inputDeviceFailed)
    }

    @Test func audioResetsThePatience() {
      var machine = machine()
      #expect(machine.read(320, at: at(900)) == .deliver(frames: 320, missing: 0))
      #expect(machine.waited(0, at: at(1_800)) == .wait)
    }

    @Test func waitsWhenThereIsNothingToRead() {
      var machine = machine()
      #expect(machine.waited(1, at: at(20)) == .read)
      #expect(machine.read(-Int(EAGAIN), at: at(20)) == .wait)
      #expect(machine.read(0, at: at(20)) == .wait)
    }

    @Test(arguments: [EPIPE, ESTRPIPE])
    func anOverrunLeavesAGapOfItsLength(number: Int32) {
      var machine = machine()
      #expect(machine.read(320, at: at(20)) == .deliver(frames: 320, missing: 0))
      #expect(machine.read(-Int(number), at: at(700)) == .restart)
      #expect(machine.restarted(0) == .wait)
      #expect(machine.waited(1, at: at(740)) == .read)
      // 320 frames cover 720 to 740 ms; heard until 20 ms: 700 ms are missing.
      #expect(machine.read(320, at: at(740)) == .deliver(frames: 320, missing: 11_200))
      #expect(machine.read(320, at: at(760)) == .deliver(frames: 320, missing: 0))
    }

    @Test func anOverrunTooShortToMeasureIsToldAllTheSame() {
      var machine = machine()
      _ = machine.read(320, at: at(20))
      _ = machine.read(-Int(EPIPE), at: at(20))
      _ = machine.restarted(0)
      #expect(machine.read(320, at: at(21)) == .deliver(frames: 320, missing: 1))
    }

    private func at(_ milliseconds: Int) -> VoiceInstant {
      VoiceInstant(offset: .milliseconds(milliseconds))
    }
  }
#endif
