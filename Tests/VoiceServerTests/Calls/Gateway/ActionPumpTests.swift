import Synchronization
import Testing

@testable import VoiceServer

@Suite struct ActionPumpTests {
  private final class Performed: Sendable {
    let actions = Mutex<[Int]>([])
    func add(_ action: Int) { self.actions.withLock { $0.append(action) } }
    var all: [Int] { self.actions.withLock { $0 } }
  }

  @Test func performsInOrderAlsoWhenAnActionStepsAgain() {
    let pump = ActionPump<Int, Int>(0)
    let performed = Performed()
    @Sendable func step(_ count: Int) {
      pump.step { last in
        let actions = (1...count).map { last + $0 }
        last += count
        return actions
      } perform: { action in
        performed.add(action)
        if action == 2 { step(2) }
      }
    }
    step(3)
    #expect(performed.all == [1, 2, 3, 4, 5])
    #expect(pump.read { $0 } == 5)
  }

  @Test func performsEachActionOnceAndInOrderFromManyThreads() async {
    let pump = ActionPump<Int, Int>(0)
    let performed = Performed()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<500 {
            pump.step { last in
              last += 1
              return [last]
            } perform: { action in
              performed.add(action)
            }
          }
        }
      }
    }
    #expect(performed.all == Array(1...4000))
  }
}
