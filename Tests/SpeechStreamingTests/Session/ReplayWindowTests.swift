import Foundation
import Testing
import VoiceTesting

@testable import SpeechStreaming

@Suite struct ReplayWindowTests {
  private func bytes(_ range: Range<Int>) -> Data {
    Data(range.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] })
  }

  @Test func anyPartIsHandedOutAsItWasPutIn() {
    var generator = SeededGenerator(seed: 1)
    for _ in 0..<200 {
      var window = ReplayWindow(capacity: 5000)
      var total = 0
      while total < 8000 {
        let count = Int.random(in: 1...700, using: &generator)
        _ = window.append(self.bytes(total..<total + count), unsentFrom: 0)
        total += count
        if Bool.random(using: &generator) {
          window.trim(to: Int64.random(in: window.start...window.end, using: &generator))
        }
        #expect(window.count <= 5000)
        #expect(window.end == Int64(total))
      }
      let from = Int64.random(in: window.start...window.end, using: &generator)
      let limit = Int.random(in: 1...4000, using: &generator)
      let end = min(Int(from) + limit, total)
      #expect(window.bytes(from: from, limit: limit) == self.bytes(Int(from)..<end))
      let piece = window.nextPiece(from: from, limit: limit)
      #expect(self.bytes(Int(from)..<Int(from) + piece.count / 2) == piece)
    }
  }

  @Test func onlyWhatWasNeverSentCountsAsLost() {
    var window = ReplayWindow(capacity: 100)
    #expect(window.append(self.bytes(0..<100), unsentFrom: 0) == 0)
    #expect(window.append(self.bytes(100..<150), unsentFrom: 60) == 0)
    #expect(window.append(self.bytes(150..<200), unsentFrom: 60) == 40)
    #expect(window.start == 100)
  }

  @Test func positionsOutsideGiveNothing() {
    var window = ReplayWindow(capacity: 100)
    _ = window.append(self.bytes(0..<50), unsentFrom: 0)
    window.trim(to: 20)
    for (position, limit) in [(Int64(0), 10), (-5, 10), (50, 10), (Int64.max, 10), (30, 0), (30, -1)] {
      #expect(window.bytes(from: position, limit: limit).isEmpty)
      #expect(window.nextPiece(from: position, limit: limit).isEmpty)
    }
  }

  @Test func halfASampleIsDropped() {
    var window = ReplayWindow(capacity: 100)
    _ = window.append(Data([1, 2, 3]), unsentFrom: 0)
    #expect(window.end == 1)
  }
}
