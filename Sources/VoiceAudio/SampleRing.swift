import Synchronization

/// A queue of samples from one capture thread to one reader, without locks, allocation or waiting on the writing
/// side.
///
/// When the reader is behind and a block does not fit, the whole block is dropped and counted, and the reader is
/// told how many samples are missing exactly where they are missing. Blocks are never torn apart, so channels stay
/// in order.
///
/// One thread may call the writing methods (``write(_:)``, ``skip(_:)``, ``finish()``) and one the reading method
/// (``read(into:)``); they may be different threads at the same time.
// @unchecked: each part of the storage belongs to one side at a time. What lies between `readCount` and
// `writeCount` is the reader's, `interruptedCount` too; the rest and what is pending the writer's; the counters are atomic, and a release
// store hands a part over.
public final class SampleRing: @unchecked Sendable {
  private struct Gap {
    var position: Int
    var length: Int
    var interrupted: Int
  }

  private static let gapCapacity = 64

  /// How many samples fit.
  public let capacity: Int

  private let samples: UnsafeMutablePointer<Int16>
  private let gaps: UnsafeMutablePointer<Gap>
  private let writeCount = Atomic<Int>(0)
  private let readCount = Atomic<Int>(0)
  private let gapWriteCount = Atomic<Int>(0)
  private let gapReadCount = Atomic<Int>(0)
  private let lostCount = Atomic<Int>(0)
  private var pendingGap = 0
  private var pendingInterruption = 0

  /// How many of the samples that the last ``read(into:)`` found missing were left out by ``skip(_:isInterruption:)`` as an
  /// interruption; for the reader.
  public private(set) var interruptedCount = 0

  /// Creates a ring.
  ///
  /// - Parameter capacity: How many samples fit, all channels together; at least 1.
  public init(capacity: Int) {
    self.capacity = max(1, capacity)
    self.samples = .allocate(capacity: self.capacity)
    self.samples.initialize(repeating: 0, count: self.capacity)
    self.gaps = .allocate(capacity: Self.gapCapacity)
    self.gaps.initialize(repeating: Gap(position: 0, length: 0, interrupted: 0), count: Self.gapCapacity)
  }

  deinit {
    self.samples.deallocate()
    self.gaps.deallocate()
  }

  /// How many samples were dropped or skipped since the ring was made; may be read on any thread.
  public var lostSampleCount: Int { self.lostCount.load(ordering: .relaxed) }

  /// Writes a block, or drops it as a whole if it does not fit.
  ///
  /// - Returns: Whether it was written.
  @discardableResult
  public func write(_ block: UnsafeBufferPointer<Int16>) -> Bool {
    guard let base = block.baseAddress, !block.isEmpty else { return true }
    let written = self.writeCount.load(ordering: .relaxed)
    let free = self.capacity - (written - self.readCount.load(ordering: .acquiring))
    guard block.count <= free, self.publishGap(at: written) else {
      self.skip(block.count)
      return false
    }
    let start = written % self.capacity
    let untilEnd = min(block.count, self.capacity - start)
    (self.samples + start).update(from: base, count: untilEnd)
    self.samples.update(from: base + untilEnd, count: block.count - untilEnd)
    self.writeCount.store(written + block.count, ordering: .releasing)
    return true
  }

  /// Leaves out samples that the device lost.
  ///
  /// - Parameters:
  ///   - count: How many, all channels together.
  ///   - isInterruption: Whether something else took the device away, rather than a reader or a machine that was too slow.
  public func skip(_ count: Int, isInterruption: Bool = false) {
    guard count > 0 else { return }
    if isInterruption {
      self.pendingInterruption = self.pendingInterruption.addingReportingOverflow(count).partialValue
    }
    self.pendingGap = self.pendingGap.addingReportingOverflow(count).partialValue
    self.lostCount.wrappingAdd(count, ordering: .relaxed)
  }

  /// Tells the reader of samples that were lost at the very end.
  public func finish() {
    _ = self.publishGap(at: self.writeCount.load(ordering: .relaxed))
  }

  /// Appends all samples up to the next gap.
  ///
  /// - Returns: How many samples are missing before the first appended one, or `nil` if there is nothing to tell.
  public func read(into output: inout [Int16]) -> Int? {
    // The writer publishes a gap before the samples behind it: seeing those samples means seeing the gap.
    let written = self.writeCount.load(ordering: .acquiring)
    let gapsWritten = self.gapWriteCount.load(ordering: .acquiring)
    let start = self.readCount.load(ordering: .relaxed)
    var gapIndex = self.gapReadCount.load(ordering: .relaxed)

    var missing = 0
    var interrupted = 0
    while gapIndex < gapsWritten, self.gaps[gapIndex % Self.gapCapacity].position <= start {
      missing = missing.addingReportingOverflow(self.gaps[gapIndex % Self.gapCapacity].length).partialValue
      interrupted =
        interrupted.addingReportingOverflow(self.gaps[gapIndex % Self.gapCapacity].interrupted).partialValue
      gapIndex += 1
    }
    let end =
      gapIndex < gapsWritten
      ? min(written, self.gaps[gapIndex % Self.gapCapacity].position) : written
    guard missing > 0 || end > start else { return nil }

    let index = start % self.capacity
    let untilEnd = min(end - start, self.capacity - index)
    output.append(contentsOf: UnsafeBufferPointer(start: self.samples + index, count: untilEnd))
    output.append(contentsOf: UnsafeBufferPointer(start: self.samples, count: end - start - untilEnd))
    self.interruptedCount = interrupted
    self.gapReadCount.store(gapIndex, ordering: .releasing)
    self.readCount.store(end, ordering: .releasing)
    return missing
  }

  /// Makes what was lost known at a position; fails only if the reader has not read dozens of earlier gaps.
  private func publishGap(at position: Int) -> Bool {
    guard self.pendingGap > 0 else { return true }
    let written = self.gapWriteCount.load(ordering: .relaxed)
    guard written - self.gapReadCount.load(ordering: .acquiring) < Self.gapCapacity else { return false }
    self.gaps[written % Self.gapCapacity] = Gap(
      position: position, length: self.pendingGap, interrupted: self.pendingInterruption)
    self.pendingGap = 0
    self.pendingInterruption = 0
    self.gapWriteCount.store(written + 1, ordering: .releasing)
    return true
  }
}
