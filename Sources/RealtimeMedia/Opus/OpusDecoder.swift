import CRealtimeMedia

/// Decodes to one channel at 48 kHz whatever a packet holds: any bandwidth, one channel or two, up to 120 ms. By libopus;
/// it is for one thread at a time.
public final class OpusDecoder {
  /// The most samples of a packet: 120 ms.
  public static let longestPacket = 5760

  private let pointer: OpaquePointer

  /// Makes a decoder.
  ///
  /// - Throws: ``OpusError/library`` without memory.
  public init() throws(OpusError) {
    guard let pointer = crm_opus_decoder_create() else { throw .library }
    self.pointer = pointer
  }

  deinit { crm_opus_decoder_free(self.pointer) }

  /// Decodes a payload and appends its samples.
  ///
  /// - Returns: the number of samples.
  /// - Throws: ``OpusError/malformedPacket``, or ``OpusError/library``; then nothing is appended.
  public func decode(_ payload: ArraySlice<UInt8>, into samples: inout [Int16]) throws(OpusError) -> Int {
    let count = try self.sampleCount(of: payload)
    return try self.decode(payload, count: count, isRecovery: false, into: &samples)
  }

  /// Appends the samples of a lost packet by what the packet after it holds of it; if that is nothing, they are made up.
  ///
  /// - Parameter count: the samples that are missing right before `payload`, a multiple of 120 up to 5,760.
  /// - Throws: ``OpusError/malformedPacket``, ``OpusError/wrongLength(_:)``, or ``OpusError/library``.
  public func recover(_ count: Int, from payload: ArraySlice<UInt8>, into samples: inout [Int16])
    throws(OpusError)
  {
    _ = try self.sampleCount(of: payload)
    guard Self.isLength(count) else { throw .wrongLength(count) }
    _ = try self.decode(payload, count: count, isRecovery: true, into: &samples)
  }

  /// Makes up samples for what was lost and appends them; after a while they fade to noise.
  ///
  /// - Parameter count: a multiple of 120 up to 5,760.
  /// - Throws: ``OpusError/wrongLength(_:)``, or ``OpusError/library``.
  public func conceal(_ count: Int, into samples: inout [Int16]) throws(OpusError) {
    guard Self.isLength(count) else { throw .wrongLength(count) }
    _ = try self.decode([], count: count, isRecovery: false, into: &samples)
  }

  /// Forgets the audio so far, as before another stream.
  public func reset() { _ = crm_opus_decoder_reset(self.pointer) }

  private static func isLength(_ count: Int) -> Bool {
    count > 0 && count <= Self.longestPacket && count.isMultiple(of: 120)
  }

  /// Also for a payload that is empty, which libopus would take for a lost one.
  private func sampleCount(of payload: ArraySlice<UInt8>) throws(OpusError) -> Int {
    guard !payload.isEmpty else { throw .malformedPacket }
    let count = payload.withUnsafeBufferPointer {
      crm_opus_sample_count($0.baseAddress, Int32(clamping: $0.count))
    }
    guard Self.isLength(Int(count)) else { throw .malformedPacket }
    return Int(count)
  }

  private func decode(
    _ payload: ArraySlice<UInt8>, count: Int, isRecovery: Bool, into samples: inout [Int16]
  ) throws(OpusError) -> Int {
    let start = samples.count
    samples.append(contentsOf: repeatElement(0, count: count))
    let result = samples.withUnsafeMutableBufferPointer { output in
      payload.withUnsafeBufferPointer { input in
        crm_opus_decode(
          self.pointer, input.isEmpty ? nil : input.baseAddress, Int32(clamping: input.count),
          output.baseAddress.map { $0 + start }, Int32(clamping: count), isRecovery)
      }
    }
    samples.removeLast(count - min(count, max(0, Int(result))))
    guard result > 0 else { throw OpusError(result) }
    return Int(result)
  }
}
