import Dispatch
import VoiceCore
import VoiceTesting

@testable import Calls

extension TxClient {
  /// A client with a wall clock of the test's.
  static func testing(
    _ gateway: ScriptedGateway, clock: TestClock, wallClock: @escaping @Sendable () -> Int
  ) -> TxClient {
    TxClient(
      parts: ClientDriver.Parts(
        transport: gateway.transport, media: ScriptedMedia(), clock: clock, paths: nil, wallClock: wallClock),
      random: SeededGenerator(seed: 1), delegateQueue: DispatchQueue(label: "test"))
  }
}
