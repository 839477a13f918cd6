import Foundation
import Testing
import VoiceAudio
import VoiceCore

struct PipeSourceTests {
  @Test func reportsAPipeWithoutAByte() async throws {
    let pipe = Pipe()
    pipe.close()
    for format in [nil, RawAudioFormat()] {
      let heard = await Heard(pipe.source(format))
      #expect(heard.failure?.code == .audioEmpty)
      #expect(heard.chunks.isEmpty)
    }
  }

  @Test func reportsAHeaderWithoutSamples() async throws {
    let pipe = Pipe()
    pipe.write(WAVBytes.file(data: [], declaredLength: 0xFFFF_FFFF))
    pipe.close()
    #expect(await Heard(pipe.source()).failure?.code == .audioEmpty)
  }

  @Test func doesNotTakeTextForSamples() async throws {
    let pipe = Pipe()
    pipe.write(Array("Hello, this is text.".utf8))
    pipe.close()
    #expect(await Heard(pipe.source()).failure?.code == .fileNotAudio)
  }

  @Test func refusesAFormatThatCannotBeConverted() async throws {
    let pipe = Pipe()
    #expect(await Heard(pipe.source(RawAudioFormat(sampleRate: 0))).failure?.code == .formatNotSupported)
    pipe.write(WAVBytes.file(tag: 0x11, bits: 4, data: [1, 2, 3]))
    #expect(await Heard(pipe.source()).failure?.code == .formatNotSupported)
  }

  @Test func reportsADescriptorThatIsNotOpen() async throws {
    #expect(await Heard(PipeSource(fileDescriptor: 987_654)).failure?.code == .fileNotReadable)
    #expect(await Heard(PipeSource(fileDescriptor: -1)).failure?.code == .fileNotReadable)
  }

  @Test func saysHowMuchOfADeclaredLengthIsMissing() async throws {
    let pipe = Pipe()
    pipe.write(WAVBytes.file(data: [1, 0, 2, 0, 3], declaredLength: 16_000))
    pipe.close()
    let heard = await Heard(pipe.source())
    #expect(heard.samples == [1, 2])
    #expect(heard.notices.map(\.code) == [.fileTruncated])
    #expect(heard.notices.first?.message.contains("0.499 s") == true, "\(heard.notices)")
  }

  @Test func tellsOfAnIncompleteSampleAtTheEnd() async throws {
    let pipe = Pipe()
    pipe.write([1, 0, 2])
    pipe.close()
    let heard = await Heard(pipe.source(.init()))
    #expect(heard.samples == [1])
    #expect(heard.notices.map(\.code) == [.fileTruncated])
  }

  @Test func tellsOfBadSamplesAtOnceAndInTotal() async throws {
    let pipe = Pipe()
    let capture = try await pipe.source(RawAudioFormat(encoding: .f32le)).capture()
    var iterator = capture.makeAsyncIterator()
    pipe.write(WAVBytes.float32([.nan]))
    guard case .notice(let first) = try await iterator.next() else {
      Issue.record("no notice")
      return
    }
    #expect(first.message.hasPrefix("1 sample of"))
    pipe.write(WAVBytes.float32([.nan, 0]))
    pipe.close()
    let rest = await Heard(capture)
    #expect(rest.notices.first?.message.hasPrefix("2 samples of") == true)
  }

  @Test func recognisesAWAVHeaderWhateverWasDeclared() async throws {
    let samples = Signals.sine16(440, rate: 16_000, count: 8_000)
    for format in [nil, RawAudioFormat(sampleRate: 8_000, encoding: .u8)] {
      let pipe = Pipe()
      pipe.write(WAVBytes.file(data: WAVBytes.pcm16(samples), declaredLength: 0xFFFF_FFFF))
      pipe.close()
      let heard = await Heard(pipe.source(format))
      #expect(same(heard.samples, samples))
      #expect(heard.notices.isEmpty)
    }
  }

  @Test func leavesOutWhatComesAfterTheSamples() async throws {
    let pipe = Pipe()
    pipe.write(WAVBytes.file(data: [1, 0] + Array("LIST....".utf8), declaredLength: 2))
    // The pipe is still open: the end comes from the header.
    let heard = await Heard(pipe.source())
    #expect(heard.samples == [1])
    #expect(heard.notices.isEmpty)
  }

  @Test func deliversWhileTheWriterPauses() async throws {
    let pipe = Pipe()
    let capture = try await pipe.source(.init()).capture()
    var iterator = capture.makeAsyncIterator()
    pipe.write([1, 0, 2, 0])
    guard case .chunk(let first) = try await iterator.next() else {
      Issue.record("no chunk")
      return
    }
    #expect(first == AudioChunk(position: 0, samples: [1, 2]))
    pipe.write([3, 0])
    pipe.close()
    guard case .chunk(let second) = try await iterator.next() else {
      Issue.record("no chunk")
      return
    }
    #expect(second == AudioChunk(position: 2, samples: [3]))
    #expect(try await iterator.next() == nil)
  }

  @Test func stopDeliversWhatCameBefore() async throws {
    let pipe = Pipe()
    let capture = try await pipe.source(.init(), chunkDuration: .seconds(10)).capture()
    var iterator = capture.makeAsyncIterator()
    pipe.write(WAVBytes.pcm16([Int16](repeating: 5, count: 160_001)))
    guard case .chunk(let first) = try await iterator.next() else {
      Issue.record("no chunk")
      return
    }
    #expect(first.samples.count == 160_000)
    capture.stop()
    let rest = await Heard(capture)
    #expect(rest.samples.count <= 1)
    #expect(rest.failure == nil)
    #expect(rest.notices.isEmpty)
  }

  @Test func holdsUpTheWriterInsteadOfLosingAudio() async throws {
    let pipe = Pipe()
    let samples = (0..<400_000).map { Int16(truncatingIfNeeded: $0) }
    let capture = try await pipe.source(.init()).capture()
    // Far more than a pipe and the queue hold: the writer can end only while the reader reads.
    let writer = Thread {
      pipe.write(WAVBytes.pcm16(samples))
      pipe.close()
    }
    writer.start()
    let heard = await Heard(capture)
    #expect(same(heard.samples, samples))
    #expect(heard.isGapless)
  }

  @Test func decodesAFileThatStandardInputIsRedirectedFrom() async throws {
    let folder = try TemporaryFolder()
    let samples = Signals.sine16(440, rate: 16_000, count: 3_000)
    try EncodedFile.write(samples, .flac, to: folder.path + "/a.flac")
    let number = open(folder.path + "/a.flac", O_RDONLY)
    defer { close(number) }
    #expect(same(await Heard(PipeSource(fileDescriptor: number)).samples, samples))
  }

  @Test func leavesADescriptorOpenThatHoldsNoAudio() async throws {
    let folder = try TemporaryFolder()
    let path = try folder.file("a.txt", Array("Hello, this is text.".utf8))
    let number = open(path, O_RDONLY)
    #expect(await Heard(PipeSource(fileDescriptor: number)).failure?.code == .fileNotAudio)
    // It is the caller's: closed here, its number might already be somebody else's.
    #expect(close(number) == 0)
  }

  @Test func readsAFileOfRawSamples() async throws {
    let folder = try TemporaryFolder()
    let path = try folder.file("a.raw", [255, 128, 0])
    let heard = await Heard(PipeSource(path: path, rawFormat: RawAudioFormat(encoding: .u8)))
    #expect(heard.samples == [32_512, 0, -32_768])
  }

  /// A pipe whose reading end belongs to the source under test.
  private final class Pipe: Sendable {
    private let readEnd: Int32
    private let writeEnd: Int32

    init() {
      var ends: [Int32] = [-1, -1]
      #expect(Foundation.pipe(&ends) == 0)
      (self.readEnd, self.writeEnd) = (ends[0], ends[1])
    }

    func source(_ format: RawAudioFormat? = nil, chunkDuration: Duration = .milliseconds(100)) -> PipeSource {
      PipeSource(fileDescriptor: self.readEnd, rawFormat: format, chunkDuration: chunkDuration)
    }

    func write(_ bytes: [UInt8]) {
      var written = 0
      while written < bytes.count {
        let count = bytes[written...].withUnsafeBytes {
          Foundation.write(self.writeEnd, $0.baseAddress, $0.count)
        }
        guard count > 0 else { return }
        written += count
      }
    }

    func close() {
      Foundation.close(self.writeEnd)
    }
  }
}
