import CRealtimeMedia

/// Encodes speech, one channel at 48 kHz (RFC 6716, RFC 7587), by libopus. It is for one thread at a time.
public final class OpusEncoder {
  /// The most bytes of a payload: what a network takes in one datagram.
  public static let largestPayload = 1275

  private let pointer: OpaquePointer

  /// The bits per second, from 6,000 to 510,000; what is beyond is the nearest value.
  public var bitrate: Int {
    didSet { _ = crm_opus_encoder_set_bitrate(self.pointer, Self.clamped(self.bitrate, 6_000...510_000)) }
  }

  /// The share of packets that are expected to be lost, from 0 to 1: the more, the more is repeated in the next one.
  public var expectedLoss: Double {
    didSet { _ = crm_opus_encoder_set_expected_loss(self.pointer, Self.percent(self.expectedLoss)) }
  }

  /// Whether packets carry what helps to recover the one before, if ``expectedLoss`` and ``bitrate`` make it worthwhile.
  public var inbandFEC: Bool {
    didSet { _ = crm_opus_encoder_set_fec(self.pointer, self.inbandFEC) }
  }

  /// Whether silence gives payloads of up to two bytes, which need not be sent.
  public var dtx: Bool {
    didSet { _ = crm_opus_encoder_set_dtx(self.pointer, self.dtx) }
  }

  /// Makes an encoder.
  ///
  /// - Parameter complexity: from 0 (fast) to 10 (good).
  /// - Throws: ``OpusError/library`` without memory.
  public init(
    bitrate: Int = 32_000, expectedLoss: Double = 0, inbandFEC: Bool = true, dtx: Bool = false,
    complexity: Int = 9
  ) throws(OpusError) {
    guard let pointer = crm_opus_encoder_create() else { throw .library }
    self.pointer = pointer
    self.bitrate = bitrate
    self.expectedLoss = expectedLoss
    self.inbandFEC = inbandFEC
    self.dtx = dtx
    let results = [
      crm_opus_encoder_set_bitrate(pointer, Self.clamped(bitrate, 6_000...510_000)),
      crm_opus_encoder_set_expected_loss(pointer, Self.percent(expectedLoss)),
      crm_opus_encoder_set_fec(pointer, inbandFEC), crm_opus_encoder_set_dtx(pointer, dtx),
      crm_opus_encoder_set_complexity(pointer, Self.clamped(complexity, 0...10)),
    ]
    guard results.allSatisfy({ $0 == 0 }) else { throw .library }
  }

  deinit { crm_opus_encoder_free(self.pointer) }

  private static func clamped(_ value: Int, _ range: ClosedRange<Int>) -> Int32 {
    Int32(clamping: min(max(value, range.lowerBound), range.upperBound))
  }

  private static func percent(_ share: Double) -> Int32 {
    share > 0 ? Int32(min(share, 1) * 100 + 0.5) : 0
  }

  /// Encodes a packet of 2.5, 5, 10, 20, 40 or 60 ms and appends its payload; nothing is allocated if there is room for
  /// ``largestPayload`` bytes.
  ///
  /// - Returns: the length of the payload. With ``dtx`` one of up to two bytes need not be sent.
  /// - Throws: ``OpusError/wrongLength(_:)``, or ``OpusError/library``; then nothing is appended.
  public func encode(_ samples: ArraySlice<Int16>, into payload: inout [UInt8]) throws(OpusError) -> Int {
    guard [120, 240, 480, 960, 1920, 2880].contains(samples.count) else { throw .wrongLength(samples.count) }
    let start = payload.count
    payload.append(contentsOf: repeatElement(0, count: Self.largestPayload))
    let result = payload.withUnsafeMutableBufferPointer { output in
      samples.withUnsafeBufferPointer { input in
        crm_opus_encode(
          self.pointer, input.baseAddress, Int32(clamping: input.count),
          output.baseAddress.map { $0 + start },
          Int32(Self.largestPayload))
      }
    }
    payload.removeLast(Self.largestPayload - max(0, Int(result)))
    guard result > 0 else { throw .library }
    return Int(result)
  }

  /// Forgets the audio so far, as after a pause; the settings stay.
  public func reset() { _ = crm_opus_encoder_reset(self.pointer) }
}
