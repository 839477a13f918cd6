/// Decodes Opus (RFC 6716) with the concealment, noise and redundancy of libopus.
final class OpusDecoding: AudioDecoding {
  /// The grain of lengths that libopus makes up.
  private static let grain = 120

  private let decoder: OpusDecoder
  private(set) var isSilent = false

  init?() {
    do throws(OpusError) {
      self.decoder = try OpusDecoder()
    } catch {
      return nil
    }
  }

  func decode(_ payload: ArraySlice<UInt8>, into samples: inout [Int16]) -> Bool {
    do throws(OpusError) {
      _ = try self.decoder.decode(payload, into: &samples)
    } catch {
      return false
    }
    // Nothing but a header says that the other side has fallen silent (RFC 6716 section 2.1.9).
    self.isSilent = payload.count <= 2
    return true
  }

  func recover(from payload: ArraySlice<UInt8>, count: Int, into samples: inout [Int16]) -> Bool {
    guard count > 0, count <= OpusDecoder.longestPacket, OpusPacket.holdsFEC(payload) else { return false }
    let whole = Self.whole(count)
    do throws(OpusError) {
      try self.decoder.recover(whole, from: payload, into: &samples)
    } catch {
      return false
    }
    samples.removeLast(whole - count)
    self.isSilent = false
    return true
  }

  func conceal(_ count: Int, into samples: inout [Int16]) {
    var left = count
    while left > 0 {
      let part = min(left, OpusDecoder.longestPacket)
      let whole = Self.whole(part)
      do throws(OpusError) {
        try self.decoder.conceal(whole, into: &samples)
        samples.removeLast(whole - part)
      } catch {
        for _ in 0..<part { samples.append(0) }
      }
      left -= part
    }
  }

  /// The decoder finds its way by itself.
  func jumped() {}

  func rested() {}

  private static func whole(_ count: Int) -> Int { (count + Self.grain - 1) / Self.grain * Self.grain }
}

/// Encodes Opus, and leaves out silence if that was agreed on.
final class OpusEncoding: AudioEncoding {
  private let encoder: OpusEncoder
  /// Whether the last payload said that there is silence.
  private var isSilent = false
  private let hasDTX: Bool

  init(_ codec: NegotiatedAudio.Codec, options: AudioSender.Options) throws(AudioSenderError) {
    let parameters = codec.remoteParameters
    let limit = parameters["maxaveragebitrate"].flatMap { Int($0) } ?? options.bitrate
    self.hasDTX = options.allowsDTX || parameters["usedtx"] == "1"
    do throws(OpusError) {
      // RFC 7587 section 6.1: redundancy and DTX are what the receiver asks for.
      self.encoder = try OpusEncoder(
        bitrate: max(6000, min(options.bitrate, limit)), inbandFEC: parameters["useinbandfec"] == "1",
        dtx: self.hasDTX, complexity: options.complexity)
    } catch {
      throw .encoderFailed(error.description)
    }
  }

  var expectedLoss: Double {
    get { self.encoder.expectedLoss }
    set { if newValue != self.encoder.expectedLoss { self.encoder.expectedLoss = newValue } }
  }

  var isMuted = false {
    didSet {
      guard self.isMuted != oldValue else { return }
      self.encoder.dtx = self.hasDTX || self.isMuted
    }
  }

  func encode(_ samples: ArraySlice<Int16>, into packet: inout [UInt8]) throws(AudioSenderError) -> Bool {
    let length: Int
    do throws(OpusError) {
      length = try self.encoder.encode(samples, into: &packet)
    } catch {
      throw .encoderFailed(error.description)
    }
    guard length <= 2, self.encoder.dtx else {
      self.isSilent = false
      return true
    }
    // The first one is sent, so that the other side knows of the silence; what follows says nothing new.
    guard self.isSilent else {
      self.isSilent = true
      return true
    }
    packet.removeLast(length)
    return false
  }

  func reset() {
    self.isSilent = false
  }
}
