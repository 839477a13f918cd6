import Foundation
import Testing
import VoiceAudio
import VoiceCore

struct AudioFileSourceTests {
  private let folder: TemporaryFolder

  init() throws {
    self.folder = try TemporaryFolder()
  }

  // MARK: Files that cannot be used

  @Test func namesAFileThatIsNotThere() async {
    #expect(await failure("none-such.wav") == .fileNotFound)
    #expect(await failure("none/such/a.wav") == .fileNotFound)
    #expect(await failure(String(repeating: "x", count: 5_000)) == .fileNotFound)
    #expect(await failure("a\0b.wav") == .fileNotFound)
    #expect(await failure("") == .fileIsDirectory)
  }

  @Test(.enabled(if: geteuid() != 0, "the administrator may read every file"))
  func namesAFileThatMayNotBeRead() async throws {
    let path = try self.folder.file("a.wav", WAVBytes.file(data: [1, 2]))
    chmod(path, 0)
    #expect(await failure("a.wav") == .fileNotReadable)
  }

  @Test func namesAFileThatCannotBeReadForAnotherReason() async throws {
    // A socket in the file system exists, is no folder, and cannot be opened by anybody.
    let path = self.folder.path + "/socket"
    // SOCK_STREAM, which is a type of its own on Linux.
    let streamSocket: Int32 = 1
    let number = socket(AF_UNIX, streamSocket, 0)
    defer { close(number) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let size = MemoryLayout.size(ofValue: address.sun_path)
    try #require(path.utf8.count < size)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(bound == 0)
    #expect(await failure("socket") == .fileNotReadable)
  }

  @Test func namesAFolder() async throws {
    #expect(await failure("/") == .fileIsDirectory)
  }

  @Test func namesAFileThatIsNotAudio() async throws {
    _ = try self.folder.file("README.md", Array(String(repeating: "No sound in here.\n", count: 500).utf8))
    #expect(await failure("README.md") == .fileNotAudio)
    _ = try self.folder.file("damaged.wav", Array(WAVBytes.file(data: [1, 2]).prefix(30)))
    #expect(await failure("damaged.wav") == .fileNotAudio)
    var generator = SplitMix(state: 5)
    _ = try self.folder.file("noise.bin", (0..<50_000).map { _ in .random(in: 0...255, using: &generator) })
    #expect(await failure("noise.bin") == .fileNotAudio)
  }

  @Test func namesFilesWithoutSamples() async throws {
    _ = try self.folder.file("nothing.wav", [])
    #expect(await failure("nothing.wav") == .audioEmpty)
    _ = try self.folder.file("header.wav", WAVBytes.file(data: []))
    #expect(await failure("header.wav") == .audioEmpty)
  }

  @Test func refusesRatesAndChannelsThatCannotBeConverted() async throws {
    _ = try self.folder.file("slow.wav", WAVBytes.file(sampleRate: 500, data: [0, 0, 0, 0]))
    #expect(await failure("slow.wav") == .formatNotSupported)
    _ = try self.folder.file("wide.wav", WAVBytes.file(channels: 65, data: [UInt8](repeating: 0, count: 650)))
    #expect(await failure("wide.wav") == .formatNotSupported)
  }

  // MARK: Files that are damaged

  @Test func usesAllThatIsThereAndSaysHowMuchIsMissing() async throws {
    let samples = Signals.sine16(440, rate: 16_000, count: 32_000)
    let bytes = WAVBytes.file(data: WAVBytes.pcm16(samples))
    _ = try self.folder.file("cut.wav", Array(bytes.prefix(44 + 20_001)))
    let heard = await hear("cut.wav")
    #expect(same(heard.samples, Array(samples.prefix(10_000))))
    #expect(heard.failure == nil)
    #expect(heard.notices.map(\.code) == [.fileTruncated])
    #expect(heard.notices.first?.message.contains("1.375 s are missing") == true)
  }

  @Test(arguments: [EncodedFile.Kind.flac, .vorbis, .opus])
  func noticesThatACompressedFileBreaksOff(kind: EncodedFile.Kind) async throws {
    let samples = Signals.sine16(440, rate: 16_000, count: 160_000)
    let whole = self.folder.path + "/whole"
    try EncodedFile.write(samples, kind, to: whole)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: whole))
    _ = try self.folder.file("cut", Array(bytes.prefix(bytes.count * 2 / 3)))
    let heard = await hear("cut")
    #expect(heard.samples.count > 40_000 && heard.samples.count < 150_000)
    #expect(heard.failure == nil)
    #expect(heard.notices.map(\.code) == [.fileTruncated])
  }

  @Test func saysHowMuchOfALosslessFileIsMissing() async throws {
    let path = self.folder.path + "/whole.flac"
    try EncodedFile.write(Signals.sine16(440, rate: 16_000, count: 160_000), .flac, to: path)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    _ = try self.folder.file("cut.flac", Array(bytes.prefix(bytes.count / 2)))
    let heard = await hear("cut.flac")
    let missing = AudioChunk.time(ofSample: 160_000 - Int64(heard.samples.count), sampleRate: 16_000)
    let milliseconds = missing.components.attoseconds / 1_000_000_000_000_000
    #expect(
      heard.notices.first?.message.contains("\(missing.components.seconds).\(milliseconds)") == true,
      "\(heard.notices)")
  }

  @Test func replacesSamplesThatAreNotNumbers() async throws {
    let bytes = WAVBytes.file(tag: 3, bits: 32, data: WAVBytes.float32([0.5, .nan, -.infinity, -0.5]))
    _ = try self.folder.file("nan.wav", bytes)
    let heard = await hear("nan.wav")
    #expect(heard.samples == [16_384, 0, 0, -16_384])
    #expect(heard.notices.map(\.code) == [.samplesNotFinite])
    #expect(heard.notices.first?.message.hasPrefix("2 samples") == true)
  }

  @Test func readsARecordingWhoseWriterWasKilled() async throws {
    let samples = Signals.sine16(440, rate: 16_000, count: 4_000)
    for length in [0, 0xFFFF_FFFF] {
      _ = try self.folder.file(
        "killed.wav", WAVBytes.file(data: WAVBytes.pcm16(samples), declaredLength: length))
      let heard = await hear("killed.wav")
      #expect(same(heard.samples, samples))
      #expect(heard.notices.isEmpty)
    }
  }

  // MARK: Files

  @Test(arguments: EncodedFile.Kind.allCases)
  func decodesAllFormats(kind: EncodedFile.Kind) async throws {
    let samples = Signals.sine16(1_000, rate: 16_000, count: 32_123)
    let path = self.folder.path + "/tone"
    try EncodedFile.write(samples, kind, to: path)
    let heard = await hear("tone")
    #expect(heard.failure == nil)
    #expect(heard.notices.isEmpty)
    #expect(heard.isGapless)
    if kind.isLossless {
      #expect(same(heard.samples, samples))
    } else {
      // Codecs with blocks may fill up the last one.
      #expect(heard.samples.count >= 32_123 && heard.samples.count < 32_123 + 2_400, "\(heard.samples.count)")
      let (amplitude, phase) = Signals.measure(1_000, in: heard.samples.dropFirst(4_800).prefix(22_400))
      #expect(abs(amplitude - 0.5) < 0.02)
      #expect(abs(phase) < 0.05, "\(phase)")
    }
  }

  @Test(arguments: [8_000, 11_025, 44_100, 48_000, 96_000])
  func keepsTheDurationOfEachRate(rate: Int) async throws {
    let mono = Signals.sine16(1_000, rate: rate, count: rate + 1)
    let stereo = mono.flatMap { [$0, $0] }
    try EncodedFile.write(stereo, .wav16, to: self.folder.path + "/a.wav", sampleRate: rate, channels: 2)
    let heard = await hear("a.wav")
    #expect(heard.samples.count == ((rate + 1) * 16_000 + rate - 1) / rate)
    let (amplitude, phase) = Signals.measure(1_000, in: heard.samples[1_600..<14_400])
    #expect(abs(amplitude - 0.5) < 0.002)
    #expect(abs(phase) < 0.004)
  }

  @Test func tellsWhatAFileIs() async throws {
    try EncodedFile.write([1, 2, 3, 4], .flac, to: self.folder.path + "/a", sampleRate: 8_000, channels: 2)
    let information = try await AudioFileSource(path: self.folder.path + "/a").information()
    #expect(information.formatName.hasPrefix("FLAC"))
    #expect(information.sampleRate == 8_000)
    #expect(information.channels == 2)
    #expect(information.frameCount == 2)
    #expect(information.duration == .microseconds(250))
  }

  @Test func opensTheFileAnewForEachCapture() async throws {
    try EncodedFile.write([1, 2, 3], .wav16, to: self.folder.path + "/a.wav")
    let source = AudioFileSource(path: self.folder.path + "/a.wav")
    #expect(await Heard(source).samples == [1, 2, 3])
    #expect(await Heard(source).samples == [1, 2, 3])
  }

  // MARK: Stopping

  @Test func doesNotDecodeAheadOfItsReader() async throws {
    try EncodedFile.write([Int16](repeating: 1, count: 1_600_000), .wav16, to: self.folder.path + "/long.wav")
    let capture = try await AudioFileSource(path: self.folder.path + "/long.wav").capture()
    var iterator = capture.makeAsyncIterator()
    _ = try await iterator.next()
    capture.stop()
    var count = 1
    while try await iterator.next() != nil { count += 1 }
    // A hundred seconds are a thousand chunks; after `stop()` come those that were decoded already.
    #expect(count < 20, "\(count)")
  }

  @Test func endsWhenTheReaderIsCancelled() async throws {
    let path = self.folder.path + "/fifo"
    mkfifo(path, 0o600)
    let capture = try await PipeSource(path: path, rawFormat: .init()).capture()
    let reader = Task { await Heard(capture) }
    reader.cancel()
    let heard = await reader.value
    #expect(heard.failure == nil)
    #expect(heard.chunks.isEmpty)
  }

  @Test func readsAFIFOWithoutHoldingUpTheCaller() async throws {
    let path = self.folder.path + "/fifo"
    mkfifo(path, 0o600)
    // Opening a FIFO in the ordinary way would wait for a writer, which comes only afterwards.
    let capture = try await AudioFileSource(path: path).capture()
    let writer = open(path, O_WRONLY)
    let samples = Signals.sine16(440, rate: 16_000, count: 5_000)
    let bytes = WAVBytes.file(data: WAVBytes.pcm16(samples))
    #expect(write(writer, bytes, bytes.count) == bytes.count)
    close(writer)
    #expect(same(await Heard(capture).samples, samples))
  }

  private func source(_ name: String) -> AudioFileSource {
    AudioFileSource(path: name.hasPrefix("/") ? name : self.folder.path + "/" + name)
  }

  private func hear(_ name: String) async -> Heard {
    await Heard(source(name))
  }

  private func failure(_ name: String) async -> VoiceFailure.Code? {
    do throws(VoiceFailure) {
      _ = try await source(name).capture()
      return nil
    } catch {
      return error.code
    }
  }
}
