#if os(Linux)
  import Foundation
  import Testing
  @testable import VoicePlatform
  import VoiceCore

  struct ALSAPlaybackMachineTests {
    /// A device of 60 ms at 16 kHz.
    private func machine() -> ALSAPlaybackMachine {
      ALSAPlaybackMachine(
        device: "out", sampleRate: 16_000, bufferFrames: 960, startedAt: at(0), stallLimit: .seconds(1))
    }

    private func code(_ action: ALSAPlaybackMachine.Action) -> VoiceFailure.Code? {
      if case .fail(let failure) = action { failure.code } else { nil }
    }

    @Test(arguments: [ENODEV, EBADFD, ECONNRESET])
    func aDeviceThatIsGoneEndsThePlayback(number: Int32) {
      var machine = machine()
      #expect(code(machine.wrote(-Int(number), at: at(100))) == .outputDeviceLost)
    }

    @Test(arguments: [Int.min, -Int(Int32.max), -9_999])
    func anUnknownErrorEndsThePlayback(status: Int) {
      var machine = machine()
      #expect(code(machine.wrote(status, at: at(100))) == .outputDeviceFailed)
    }

    @Test func aSoundServerThatHasEndedIsFoundOutByRestarting() {
      var machine = machine()
      #expect(machine.wrote(160, at: at(20)) == .wait)
      #expect(machine.waited(-EIO, at: at(40)) == .restart)
      #expect(code(machine.restarted(-EIO, at: at(40))) == .outputDeviceLost)
    }

    @Test func aDeviceThatRestartsInVainEndsThePlayback() {
      var machine = machine()
      for _ in 0..<3 {
        #expect(machine.wrote(-Int(EPIPE), at: at(40)) == .restart)
        #expect(machine.restarted(0, at: at(40)) == .write)
      }
      #expect(code(machine.wrote(-Int(EPIPE), at: at(50))) == .outputDeviceLost)
    }

    @Test(arguments: [EPIPE, ESTRPIPE])
    func aDeviceThatRanEmptyGoesOnAndIsTrustedAgain(number: Int32) {
      var machine = machine()
      for round in 0..<10 {
        #expect(machine.waited(-number, at: at(round * 100)) == .restart)
        #expect(machine.restarted(0, at: at(round * 100)) == .write)
        #expect(machine.wrote(160, at: at(round * 100)) == .wait)
      }
    }

    @Test func aDeviceThatTakesNothingEndsThePlayback() {
      var machine = machine()
      #expect(machine.wrote(160, at: at(500)) == .wait)
      #expect(machine.wrote(-Int(EAGAIN), at: at(1_400)) == .wait)
      #expect(machine.waited(0, at: at(1_499)) == .wait)
      #expect(code(machine.waited(0, at: at(1_500))) == .outputDeviceFailed)
    }

    @Test func writesWhenThereIsRoom() {
      var machine = machine()
      #expect(machine.waited(1, at: at(20)) == .write)
      #expect(machine.wrote(160, at: at(20)) == .wait)
      #expect(machine.wrote(0, at: at(20)) == .wait)
    }

    @Test func aDeviceWithoutAClockIsHeldBack() {
      var machine = machine()
      // It holds 60 ms, and 100 ms are granted: 160 ms are 2,560 frames.
      #expect(machine.wrote(2_560, at: at(0)) == .wait)
      #expect(machine.wrote(160, at: at(0)) == .rest)
      #expect(machine.rested(at: at(9)) == .rest)
      #expect(machine.rested(at: at(10)) == .wait)
      #expect(machine.wrote(160, at: at(10)) == .rest)
    }

    @Test func aClockThatIsALittleFastIsNotHeldBack() {
      var machine = machine()
      // 0.1 % too fast, for an hour.
      for step in 1...36_000 {
        #expect(machine.wrote(1_601 + (step.isMultiple(of: 10) ? 6 : 0), at: at(step * 100)) == .wait)
      }
    }

    private func at(_ milliseconds: Int) -> VoiceInstant {
      VoiceInstant(offset: .milliseconds(milliseconds))
    }
  }

  struct ALSAOutputFailureTests {
    @Test(arguments: [
      (EACCES, ALSAFailure.Phase.opening, VoiceFailure.Code.outputDeviceFailed),
      (EBUSY, .opening, .outputDeviceBusy), (EAGAIN, .opening, .outputDeviceBusy),
      (ENOENT, .opening, .noOutputDevice), (ECONNREFUSED, .opening, .noOutputDevice),
      (EINVAL, .opening, .noOutputDevice), (EINVAL, .configuring, .formatNotSupported),
      (ENODEV, .running, .outputDeviceLost), (EIO, .running, .outputDeviceLost),
      (ENOMEM, .opening, .outputDeviceFailed), (Int32.min, .running, .outputDeviceFailed),
    ])
    func namesEachErrorNumber(number: Int32, phase: ALSAFailure.Phase, code: VoiceFailure.Code) {
      let failure = ALSAFailure.failure(number, of: .loudspeaker, device: "out", phase: phase)
      #expect(failure.code == code)
      #expect(failure.message.contains("loudspeaker “out”"))
    }
  }
#endif
