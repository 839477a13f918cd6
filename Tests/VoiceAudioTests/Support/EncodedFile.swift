import CSndFile

/// Writes audio files with libsndfile, so that the tests need no other tool.
enum EncodedFile {
  enum Kind: String, CaseIterable {
    case wav8, wav16, wav24, wavFloat, wavDouble, wavMuLaw, wavADPCM, rf64, aiff, flac, vorbis, opus, mp3

    var format: Int32 {
      let parts: (container: Int, encoding: Int) =
        switch self {
        case .wav8: (Int(SF_FORMAT_WAV), Int(SF_FORMAT_PCM_U8))
        case .wav16: (Int(SF_FORMAT_WAV), Int(SF_FORMAT_PCM_16))
        case .wav24: (Int(SF_FORMAT_WAVEX), Int(SF_FORMAT_PCM_24))
        case .wavFloat: (Int(SF_FORMAT_WAV), Int(SF_FORMAT_FLOAT))
        case .wavDouble: (Int(SF_FORMAT_WAV), Int(SF_FORMAT_DOUBLE))
        case .wavMuLaw: (Int(SF_FORMAT_WAV), Int(SF_FORMAT_ULAW))
        case .wavADPCM: (Int(SF_FORMAT_WAV), Int(SF_FORMAT_IMA_ADPCM))
        case .rf64: (Int(SF_FORMAT_RF64), Int(SF_FORMAT_PCM_16))
        case .aiff: (Int(SF_FORMAT_AIFF), Int(SF_FORMAT_PCM_16))
        case .flac: (Int(SF_FORMAT_FLAC), Int(SF_FORMAT_PCM_16))
        case .vorbis: (Int(SF_FORMAT_OGG), Int(SF_FORMAT_VORBIS))
        case .opus: (Int(SF_FORMAT_OGG), Int(SF_FORMAT_OPUS))
        case .mp3: (Int(SF_FORMAT_MPEG), Int(SF_FORMAT_MPEG_LAYER_III))
        }
      return Int32(truncatingIfNeeded: parts.container | parts.encoding)
    }

    /// Whether samples come back as they were written.
    var isLossless: Bool {
      switch self {
      case .wav16, .wav24, .wavFloat, .wavDouble, .rf64, .aiff, .flac: true
      case .wav8, .wavMuLaw, .wavADPCM, .vorbis, .opus, .mp3: false
      }
    }
  }

  struct CannotWrite: Error {
    let text: String
  }

  static func write(
    _ samples: [Int16], _ kind: Kind, to path: String, sampleRate: Int = 16_000, channels: Int = 1
  ) throws {
    var info = SF_INFO()
    info.samplerate = Int32(sampleRate)
    info.channels = Int32(channels)
    info.format = kind.format
    guard let file = sf_open(path, Int32(SFM_WRITE), &info) else {
      throw CannotWrite(text: String(cString: sf_strerror(nil)))
    }
    defer { sf_close(file) }
    // Without this, integers go to a file of floating-point samples as they are.
    sf_command(file, Int32(SFC_SET_SCALE_INT_FLOAT_WRITE), nil, 1)
    // In pieces: the encoders of the Ogg formats keep much on the stack.
    for start in stride(from: 0, to: samples.count, by: 960 * channels) {
      let piece = Array(samples[start..<min(start + 960 * channels, samples.count)])
      guard sf_writef_short(file, piece, sf_count_t(piece.count / channels)) == piece.count / channels else {
        throw CannotWrite(text: String(cString: sf_strerror(file)))
      }
    }
  }
}
