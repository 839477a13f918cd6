#if canImport(AVFoundation)
  import AVFoundation

  extension AVAudioPCMBuffer {
    /// Makes a buffer with a copy of mono samples; `nil` if there are none, or if the format is neither 16-bit nor float.
    convenience init?(copying samples: UnsafeBufferPointer<Int16>, format: AVAudioFormat) {
      guard !samples.isEmpty, let count = AVAudioFrameCount(exactly: samples.count) else { return nil }
      self.init(pcmFormat: format, frameCapacity: count)
      if let channels = self.int16ChannelData {
        for (index, sample) in samples.enumerated() { channels[0][index] = sample }
      } else if let channels = self.floatChannelData {
        for (index, sample) in samples.enumerated() { channels[0][index] = Float(sample) / 32_768 }
      } else {
        return nil
      }
      self.frameLength = count
    }
  }
#endif
