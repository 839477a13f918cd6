import VoiceCore

/// What ``AudioFileSource`` and ``PipeSource`` have in common: something is opened and decoded on a thread of its
/// own.
struct ByteSource: AudioSource {
  enum Origin: Sendable {
    case path(String)
    case descriptor(Int32, name: String)
  }

  enum Opened {
    case file(SoundFile)
    case stream(FileDescriptor)
  }

  let origin: Origin
  let rawFormat: RawAudioFormat?
  let chunkDuration: Duration

  func capture() async throws(VoiceFailure) -> AudioCapture {
    let queue = CaptureQueue()
    let wakeSignal = try WakeSignal()
    // Made first: if the task is cancelled while the thread opens the file, dropping the capture ends the thread.
    let capture = queue.makeCapture(interrupt: { wakeSignal.wake() })
    let result: Result<Void, VoiceFailure> = await withCheckedContinuation { continuation in
      CaptureQueue.detachThread(named: "audio \(self.origin.name)") {
        self.run(queue, wakeSignal, whenOpened: { continuation.resume(returning: $0) })
      }
    }
    try result.get()
    return capture
  }

  private func run(
    _ queue: CaptureQueue, _ wakeSignal: WakeSignal,
    whenOpened report: (Result<Void, VoiceFailure>) -> Void
  ) {
    do throws(VoiceFailure) {
      switch try self.origin.open(rawFormat: self.rawFormat) {
      case .file(let file):
        let converter = try PCMConverter(
          format: RawAudioFormat(sampleRate: file.sampleRate, channels: file.channels),
          chunkDuration: self.chunkDuration)
        if file.declaredFrames == 0 { throw AudioEnding.empty(name: self.origin.name) }
        report(.success(()))
        self.decode(file, with: converter, into: queue)
      case .stream(let descriptor):
        report(.success(()))
        self.decode(InterruptibleReader(descriptor: descriptor, wakeSignal: wakeSignal), into: queue)
      }
    } catch {
      report(.failure(error))
    }
  }

  private func decode(_ file: SoundFile, with converter: PCMConverter, into queue: CaptureQueue) {
    let buffer = UnsafeMutableBufferPointer<Float>.allocate(capacity: 4096 * file.channels)
    defer { buffer.deallocate() }
    while !queue.isStopped {
      let samples = file.read(into: buffer)
      guard !samples.isEmpty else { break }
      for chunk in converter.append(samples: samples) { queue.send(.chunk(chunk)) }
    }
    for chunk in converter.finish() { queue.send(.chunk(chunk)) }
    if converter.notFiniteCount > 0 {
      queue.send(.notice(AudioEnding.notFinite(converter.notFiniteCount, name: file.name)))
    }
    guard !queue.isStopped else { return queue.finish() }
    let truncation = file.truncation()
    guard file.decodedFrames > 0 else {
      return queue.finish(throwing: AudioEnding.empty(name: file.name, cause: truncation))
    }
    if let truncation { queue.send(.notice(truncation)) }
    queue.finish()
  }

  private func decode(_ reader: InterruptibleReader, into queue: CaptureQueue) {
    var decoder = StreamDecoder(
      name: self.origin.name, rawFormat: self.rawFormat, chunkDuration: self.chunkDuration)
    let patience = Int32(clamping: PCMConverter.samples(in: self.chunkDuration) / 16)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
    defer { buffer.deallocate() }
    var isStopped = false
    var readFailure: VoiceFailure?
    do throws(VoiceFailure) {
      reading: while !decoder.isComplete {
        switch reader.read(into: buffer, waitingAtMost: decoder.hasPendingSamples ? patience : -1) {
        case .read(let count):
          for event in try decoder.append(UnsafeRawBufferPointer(rebasing: buffer.prefix(count))) {
            queue.send(event)
          }
        case .idle:
          for event in decoder.flush() { queue.send(event) }
        case .end:
          break reading
        case .interrupted:
          isStopped = true
          break reading
        case .failed(let number):
          readFailure = FileDescriptor.failure(number, path: self.origin.label)
          break reading
        }
      }
      for event in try decoder.finish(isStopped: isStopped || readFailure != nil) { queue.send(event) }
      queue.finish(throwing: readFailure)
    } catch {
      queue.finish(throwing: error)
    }
  }
}

extension ByteSource.Origin {
  /// What to call it in messages.
  var name: String {
    switch self {
    case .path(let path): "“\(path)”"
    case .descriptor(_, let name): name
    }
  }

  /// The path, or the name of the descriptor.
  var label: String {
    switch self {
    case .path(let path): path
    case .descriptor(_, let name): name
    }
  }

  /// Opens what is to be read; may wait for a disk, so call it on a thread of its own.
  func open(rawFormat: RawAudioFormat?) throws(VoiceFailure) -> ByteSource.Opened {
    let descriptor =
      switch self {
      case .path(let path): try FileDescriptor.open(path: path)
      case .descriptor(let number, _): FileDescriptor(number, isOwned: false)
      }
    switch try descriptor.kind(named: self.label) {
    case .directory:
      throw VoiceFailure(.fileIsDirectory, message: "\(self.name) is a folder, not an audio file.")
    case .file(let size) where rawFormat == nil:
      if let header = WAVHeader.read(from: descriptor), header.lacksLength, size > header.dataOffset {
        // A recording whose writer was killed: libsndfile finds nothing in some of them.
        return .stream(descriptor)
      }
      return .file(try SoundFile(descriptor, size: size, name: self.name))
    case .file, .stream:
      return .stream(descriptor)
    }
  }
}
