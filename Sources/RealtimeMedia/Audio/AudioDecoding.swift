/// What turns payloads of one codec into mono audio at 48 kHz.
///
/// One stream, one thread at a time. All methods append to buffers that their owner keeps.
protocol AudioDecoding: AnyObject {
  /// Decodes a payload; false, with nothing appended, if it cannot be decoded.
  func decode(_ payload: ArraySlice<UInt8>, into samples: inout [Int16]) -> Bool

  /// Appends what the redundancy in the next payload says of the audio before it; false if it says nothing.
  func recover(from payload: ArraySlice<UInt8>, count: Int, into samples: inout [Int16]) -> Bool

  /// Appends that many samples that continue what was decoded last.
  func conceal(_ count: Int, into samples: inout [Int16])

  /// Says that the next payload does not follow the one before.
  func jumped()

  /// Says that something else was played since the last payload.
  func rested()

  /// Whether what was decoded last says that silence begins, in which nothing is sent (DTX).
  var isSilent: Bool { get }
}

/// Decodes G.711, with concealment at 8 kHz and a filter to 48 kHz.
final class G711Decoder: AudioDecoding {
  private let isALaw: Bool
  private var concealer = PitchConcealer()
  private var filter = TelephoneBandUpsampler()
  private var narrow: [Int16] = []
  /// Samples at 48 kHz that are made but were not asked for; fewer than six.
  private var rest: [Int16] = []

  init(isALaw: Bool) {
    self.isALaw = isALaw
  }

  var isSilent: Bool { false }

  func decode(_ payload: ArraySlice<UInt8>, into samples: inout [Int16]) -> Bool {
    guard !payload.isEmpty else { return false }
    self.narrow.removeAll(keepingCapacity: true)
    if self.isALaw {
      G711.decodeALaw(payload, into: &self.narrow)
    } else {
      G711.decodeMuLaw(payload, into: &self.narrow)
    }
    self.concealer.play(&self.narrow)
    self.takeRest(.max, into: &samples)
    self.filter.process(self.narrow[...], into: &samples)
    return true
  }

  func recover(from payload: ArraySlice<UInt8>, count: Int, into samples: inout [Int16]) -> Bool { false }

  func conceal(_ count: Int, into samples: inout [Int16]) {
    let missing = count - self.takeRest(count, into: &samples)
    guard missing > 0 else { return }
    let factor = TelephoneBandFilter.factor
    self.narrow.removeAll(keepingCapacity: true)
    self.concealer.conceal((missing + factor - 1) / factor, into: &self.narrow)
    let start = samples.count
    self.filter.process(self.narrow[...], into: &samples)
    self.rest.append(contentsOf: samples[(start + missing)...])
    samples.removeLast(samples.count - start - missing)
  }

  func jumped() {
    self.concealer.begin()
  }

  func rested() {
    self.concealer.end()
    self.rest.removeAll(keepingCapacity: true)
  }

  @discardableResult
  private func takeRest(_ count: Int, into samples: inout [Int16]) -> Int {
    let taken = min(count, self.rest.count)
    guard taken > 0 else { return 0 }
    samples.append(contentsOf: self.rest.prefix(taken))
    self.rest.removeFirst(taken)
    return taken
  }
}
