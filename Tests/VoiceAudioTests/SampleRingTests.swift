import Dispatch
import Foundation
import Testing
import VoiceAudio

struct SampleRingTests {
  @Test func givesBackWhatWasWrittenAcrossItsEnd() {
    let ring = SampleRing(capacity: 5)
    #expect(write([1, 2, 3], to: ring))
    #expect(read(ring).samples == [1, 2, 3])
    #expect(write([4, 5, 6, 7], to: ring))
    #expect(read(ring).samples == [4, 5, 6, 7])
    var nothing: [Int16] = []
    #expect(ring.read(into: &nothing) == nil)
  }

  @Test func dropsTheWholeBlockAndTellsWhereItIsMissing() {
    let ring = SampleRing(capacity: 4)
    #expect(write([1, 2, 3], to: ring))
    #expect(!write([4, 5], to: ring))
    #expect(!write([6, 7], to: ring))
    #expect(ring.lostSampleCount == 4)
    #expect(read(ring) == Piece(missing: 0, samples: [1, 2, 3]))
    #expect(write([8], to: ring))
    #expect(write([9], to: ring))
    #expect(read(ring) == Piece(missing: 4, samples: [8, 9]))
  }

  @Test func readsUpToAGapFirst() {
    let ring = SampleRing(capacity: 10)
    write([1], to: ring)
    ring.skip(100)
    write([2], to: ring)
    ring.skip(7)
    ring.finish()
    #expect(read(ring) == Piece(missing: 0, samples: [1]))
    #expect(read(ring) == Piece(missing: 100, samples: [2]))
    #expect(read(ring) == Piece(missing: 7, samples: []))
  }

  @Test func aBlockLargerThanTheRingIsLost() {
    let ring = SampleRing(capacity: 2)
    #expect(!write([1, 2, 3], to: ring))
    ring.finish()
    #expect(read(ring) == Piece(missing: 3, samples: []))
  }

  @Test func losesNoCountWhenThereAreMoreGapsThanItCanNote() {
    let ring = SampleRing(capacity: 1_000)
    for _ in 0..<100 {
      ring.skip(1)
      write([5], to: ring)
    }
    var (missing, samples) = (0, 0)
    ring.finish()
    var output: [Int16] = []
    while let gap = ring.read(into: &output) {
      missing += gap
      ring.finish()
    }
    samples = output.count
    #expect(samples + missing == 200)
    #expect(samples == 64)
  }

  @Test func keepsOrderAndCountBetweenTwoThreads() async {
    let ring = SampleRing(capacity: 64)
    let blocks = 100_000
    let done = DispatchSemaphore(value: 0)
    let writer = Thread {
      for block in 0..<blocks {
        let value = Int16(truncatingIfNeeded: block)
        _ = self.write([value, value, value], to: ring)
      }
      ring.finish()
      done.signal()
    }
    writer.start()
    // Each block is three equal numbers, so its index tells how much came before: heard or missing.
    var position = 0
    var isInOrder = true
    var isDone = false
    while true {
      var samples: [Int16] = []
      if let missing = ring.read(into: &samples) {
        position += missing
        for sample in samples {
          isInOrder = isInOrder && sample == Int16(truncatingIfNeeded: position / 3)
          position += 1
        }
      } else if isDone {
        break
      } else {
        isDone = done.wait(timeout: .now()) == .success
      }
    }
    #expect(isInOrder)
    #expect(position == blocks * 3)
  }

  private struct Piece: Equatable {
    var missing: Int
    var samples: [Int16]
  }

  @discardableResult
  private func write(_ samples: [Int16], to ring: SampleRing) -> Bool {
    samples.withUnsafeBufferPointer { ring.write($0) }
  }

  private func read(_ ring: SampleRing) -> Piece {
    var samples: [Int16] = []
    let missing = ring.read(into: &samples) ?? -1
    return Piece(missing: missing, samples: samples)
  }
}
