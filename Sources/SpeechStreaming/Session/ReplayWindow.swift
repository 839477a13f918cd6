import DequeModule
import Foundation

/// The audio of one context that may still be needed: not sent yet, or sent but not answered by a finished segment.
///
/// Positions count samples from the start of the context. The window is bounded: when it is full the oldest
/// audio goes, and ``append(_:unsentFrom:)`` says how much of that had never been sent.
struct ReplayWindow: Sendable {
  private struct Piece: Sendable {
    var position: Int64
    var bytes: Data
    var end: Int64 { self.position + Int64(self.bytes.count / 2) }
  }

  /// The most samples kept.
  let capacity: Int64
  private var pieces: Deque<Piece> = []

  /// The position of the first sample that is still here.
  private(set) var start: Int64 = 0
  /// The position after the last sample.
  private(set) var end: Int64 = 0

  /// Creates an empty window.
  init(capacity: Int64) {
    self.capacity = max(1, capacity)
  }

  /// The number of samples kept.
  var count: Int64 { self.end - self.start }

  /// Adds little-endian 16-bit samples at the end.
  ///
  /// - Parameter sent: The position up to which audio has been sent.
  /// - Returns: How many samples were lost that had not been sent.
  mutating func append(_ bytes: Data, unsentFrom sent: Int64) -> Int64 {
    let whole = bytes.count % 2 == 0 ? bytes : bytes.dropLast()
    guard !whole.isEmpty else { return 0 }
    self.pieces.append(Piece(position: self.end, bytes: whole))
    self.end += Int64(whole.count / 2)
    let excess = self.count - self.capacity
    guard excess > 0 else { return 0 }
    let newStart = self.start + excess
    let lost = max(0, newStart - max(sent, self.start))
    self.trim(to: newStart)
    return lost
  }

  /// Forgets everything before a position.
  mutating func trim(to position: Int64) {
    let target = min(max(position, self.start), self.end)
    while let first = self.pieces.first, first.end <= target {
      self.pieces.removeFirst()
    }
    if var first = self.pieces.first, first.position < target {
      first.bytes = first.bytes.dropFirst(Int(target - first.position) * 2)
      first.position = target
      self.pieces[self.pieces.startIndex] = first
    }
    self.start = target
  }

  /// Audio from a position on, at most `limit` samples; empty if nothing is there.
  ///
  /// A piece is handed out without copying when the position is at its start, as in normal streaming.
  func bytes(from position: Int64, limit: Int) -> Data {
    guard position >= self.start, position < self.end, limit > 0 else { return Data() }
    var index = self.lowerBound(of: position)
    guard index < self.pieces.endIndex else { return Data() }
    let first = self.pieces[index]
    let skipped = Int(position - first.position) * 2
    var result = first.bytes.dropFirst(skipped).prefix(limit * 2)
    index += 1
    while index < self.pieces.endIndex, result.count < limit * 2 {
      result.append(self.pieces[index].bytes.prefix(limit * 2 - result.count))
      index += 1
    }
    return result
  }

  /// Audio from a position to the end of the piece that holds it: what arrived together is sent together.
  func nextPiece(from position: Int64, limit: Int) -> Data {
    guard position >= self.start, position < self.end else { return Data() }
    let index = self.lowerBound(of: position)
    guard index < self.pieces.endIndex else { return Data() }
    let remaining = Int(self.pieces[index].end - position)
    return self.bytes(from: position, limit: min(limit, remaining))
  }

  /// The index of the piece that holds a position.
  private func lowerBound(of position: Int64) -> Int {
    var low = self.pieces.startIndex
    var high = self.pieces.endIndex
    while low < high {
      let middle = (low + high) / 2
      if self.pieces[middle].end <= position { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
