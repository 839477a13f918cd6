import CallSignaling
import Testing
import VoiceCore
import VoiceTesting

@Suite struct ConnectionMachineReconfigureTests {
  @Test func otherSettingsHoldForTheNextConnectionAndGenerationsGoOn() {
    var random = SeededGenerator(seed: 1)
    var machine = ConnectionMachine()
    let now = VoiceInstant()
    _ = machine.handle(.connectRequested, at: now, using: &random)
    _ = machine.handle(.socketOpened(generation: 1), at: now, using: &random)
    _ = machine.handle(.disconnectRequested, at: now, using: &random)
    machine.reconfigure(dialect: .verto, configuration: ConnectionMachine.Configuration())
    let actions = machine.handle(.connectRequested, at: now, using: &random)
    // The socket that was closing is given up, its end is told, and what comes of it later is stale.
    #expect(actions.contains(.abandon(generation: 1)))
    #expect(actions.contains(.reportSocketClosed))
    #expect(actions.contains(.open(generation: 2)))
    _ = machine.handle(.socketOpened(generation: 2), at: now, using: &random)
    let ready = machine.handle(.loginAccepted(LoginResult(sessionID: "s")), at: now, using: &random)
    #expect(ready.contains(.reportReady))
  }
}
