import Foundation
import Network
import Security
import Testing
import VoiceCore
import VoicePlatform

extension AdapterTests {
  struct SystemTests {
    @Test func aSecretIsKeptReplacedAndRemoved() async throws {
      StubKeychain.fail(with: nil)
      let store = SystemSecureStore.standard()
      #expect(try await store.string(forKey: "token") == nil)
      try await store.set("one", forKey: "token")
      try await store.set("two", forKey: "token")
      #expect(try await store.string(forKey: "token") == "two")
      try await store.removeValue(forKey: "token")
      try await store.removeValue(forKey: "token")
      #expect(try await store.string(forKey: "token") == nil)
    }

    @Test func aDamagedSecretIsTreatedAsMissing() async throws {
      StubKeychain.set(Data([0xFF, 0xFE]), account: "damaged")
      #expect(try await SystemSecureStore.standard().string(forKey: "damaged") == nil)
    }

    @Test func aKeychainThatCannotBeUsedIsAFailure() async {
      StubKeychain.fail(with: -25308)
      let store = SystemSecureStore.standard()
      for work in 0..<3 {
        let failure = await #expect(throws: VoiceFailure.self) {
          switch work {
          case 0: _ = try await store.string(forKey: "token")
          case 1: try await store.set("x", forKey: "token")
          default: try await store.removeValue(forKey: "token")
          }
        }
        #expect(failure?.code == .tokenNotStored)
      }
      StubKeychain.fail(with: nil)
    }

    @Test func aPathHasItsInterfacesWithoutTheLoopback() async {
      let wifi = NWInterface(type: .wifi, name: "en0")
      let loopback = NWInterface(type: .loopback, name: "lo0")
      NWPathMonitor.script = [
        NWPath(status: .unsatisfied, availableInterfaces: [wifi], gateways: []),
        NWPath(status: .satisfied, availableInterfaces: [loopback, wifi], gateways: [.name("192.168.1.1")]),
      ]
      let monitor = SystemNetworkPathMonitor(quiet: .zero)
      var changes = monitor.changes().makeAsyncIterator()
      let path = await changes.next()
      #expect(path?.interfaces.map(\.name) == ["en0"])
      #expect(path?.gateways == ["192.168.1.1"])
    }

    @Test func watchingAFileThatIsMissingWatchesItsFolder() {
      _ = SystemAvailabilityMonitor(devices: true, paths: ["/none/such/file"]).changes()
    }
  }
}
