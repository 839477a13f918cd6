/// What turns mono audio at 48 kHz into payloads of one codec.
protocol AudioEncoding: AnyObject {
  /// Appends the payload of samples.
  ///
  /// - Parameter samples: As many as a packet of this codec may have.
  /// - Returns: False, with nothing appended, if there is silence of which nothing needs to be sent (DTX).
  func encode(_ samples: ArraySlice<Int16>, into packet: inout [UInt8]) throws(AudioSenderError) -> Bool

  /// The share of packets that are expected to be lost, from 0 to 1.
  var expectedLoss: Double { get set }

  /// Whether there is nothing but silence until further notice, so that DTX may be used.
  var isMuted: Bool { get set }

  /// Forgets what was heard: something else was sent in between.
  func reset()
}

/// Encodes G.711 behind a filter to 8 kHz.
final class G711Encoder: AudioEncoding {
  private let isALaw: Bool
  private var filter = TelephoneBandDownsampler()
  private var narrow: [Int16] = []
  var expectedLoss = 0.0
  var isMuted = false

  init(isALaw: Bool) {
    self.isALaw = isALaw
  }

  func encode(_ samples: ArraySlice<Int16>, into packet: inout [UInt8]) throws(AudioSenderError) -> Bool {
    self.narrow.removeAll(keepingCapacity: true)
    self.filter.process(samples, into: &self.narrow)
    if self.isALaw {
      G711.appendALaw(self.narrow[...], to: &packet)
    } else {
      G711.appendMuLaw(self.narrow[...], to: &packet)
    }
    return true
  }

  func reset() {}
}
