/// What a RIFF/WAVE header says; see "Multimedia Programming Interface and Data Specifications 1.0" and, for RF64,
/// EBU Tech 3306.
struct WAVHeader: Hashable, Sendable {
  /// The format of the samples, or `nil` if they are compressed in a way that is not decoded here.
  var format: RawAudioFormat?

  /// The format tag, for messages.
  var formatTag: Int

  /// Where the samples begin, in bytes from the start.
  var dataOffset: Int

  /// How many bytes of samples are declared, or `nil` if the writer did not know (a pipe, a recorder that was
  /// killed).
  var dataLength: Int64?

  /// Whether the samples are readable here and reach to the end of the file.
  var lacksLength: Bool { self.format != nil && self.dataLength == nil }
}

extension WAVHeader {
  /// What a look at the first bytes of a stream found.
  enum Sniffed: Hashable, Sendable {
    /// It is a WAVE header.
    case header(WAVHeader)
    /// It may become one: more bytes are needed.
    case incomplete
    /// It is something else.
    case other
    /// It starts like a WAVE header, and is broken.
    case damaged(String)
  }

  /// The most bytes that may come before the samples.
  static let maximumLength = 1 << 20

  /// Looks at the first bytes of a stream.
  static func sniff(_ bytes: some RandomAccessCollection<UInt8>) -> Sniffed {
    sniff(Array(bytes)[...])
  }

  /// The header of a file, or `nil` if it is something else.
  static func read(from descriptor: FileDescriptor) -> WAVHeader? {
    for count in [4_096, Self.maximumLength + 65_536] {
      switch sniff(descriptor.bytes(at: 0, count: count)) {
      case .header(let header): return header
      case .incomplete: continue
      case .other, .damaged: return nil
      }
    }
    return nil
  }

  private static func sniff(_ bytes: ArraySlice<UInt8>) -> Sniffed {
    let isRF64 = starts(bytes, with: "RF64")
    guard isRF64 || starts(bytes, with: "RIFF") else { return .other }
    guard starts(bytes.dropFirst(8), with: "WAVE") else { return .other }
    guard bytes.count >= 12 else { return .incomplete }

    var header = WAVHeader(format: nil, formatTag: -1, dataOffset: 0, dataLength: nil)
    var wideDataLength: Int64?
    var offset = 12
    while true {
      guard offset <= maximumLength else { return .damaged("there are no samples in the first megabyte") }
      guard bytes.count >= offset + 8 else { return .incomplete }
      let size = Int(number(bytes, at: offset + 4, count: 4))
      let body = offset + 8

      if starts(bytes.dropFirst(offset), with: "data") {
        guard header.formatTag >= 0 else { return .damaged("the samples come before their format") }
        header.dataOffset = body
        if isRF64, size == 0xFFFF_FFFF {
          header.dataLength = wideDataLength
        } else if size > 0, size < unknownLength {
          header.dataLength = Int64(size)
        }
        return .header(header)
      }

      let isFormat = starts(bytes.dropFirst(offset), with: "fmt ")
      let isWide = starts(bytes.dropFirst(offset), with: "ds64")
      if isFormat || isWide {
        guard size <= 65_536 else { return .damaged("the format takes \(size) bytes") }
        guard bytes.count >= body + size else { return .incomplete }
        let chunk = Array(bytes.dropFirst(body).prefix(size))[...]
        if isFormat {
          guard size >= 14 else { return .damaged("the format takes only \(size) bytes") }
          (header.formatTag, header.format) = format(chunk)
        } else if size >= 16 {
          wideDataLength = Int64(clamping: number(chunk, at: 8, count: 8))
        }
      }
      offset = body + size + size % 2
    }
  }

  // Programs that write to a pipe declare 0, 0x7FFFF000, 0x7FFFFFFF or 0xFFFFFFFF bytes.
  private static let unknownLength = 0x7FFF_0000

  private static func format(_ chunk: ArraySlice<UInt8>) -> (tag: Int, format: RawAudioFormat?) {
    var tag = Int(number(chunk, at: 0, count: 2))
    let channels = Int(number(chunk, at: 2, count: 2))
    let sampleRate = Int(number(chunk, at: 4, count: 4))
    let bits = Int(number(chunk, at: 14, count: 2))
    // WAVE_FORMAT_EXTENSIBLE: the tag is the start of the sub-format's GUID.
    if tag == 0xFFFE, chunk.count >= 26 { tag = Int(number(chunk, at: 24, count: 2)) }
    let encoding: SampleEncoding? =
      switch (tag, bits) {
      case (1, 8): .u8
      case (1, 16): .s16le
      case (1, 24): .s24le
      case (1, 32): .s32le
      case (3, 32): .f32le
      case (3, 64): .f64le
      case (7, 8): .mulaw
      default: nil
      }
    return (tag, encoding.map { RawAudioFormat(sampleRate: sampleRate, channels: channels, encoding: $0) })
  }

  /// Whether the bytes start with the text, as far as they go.
  private static func starts(_ bytes: ArraySlice<UInt8>, with text: String) -> Bool {
    zip(bytes, text.utf8).allSatisfy { $0 == $1 }
  }

  /// A little-endian number; bytes beyond the end count as zero.
  private static func number(_ bytes: ArraySlice<UInt8>, at offset: Int, count: Int) -> UInt64 {
    bytes.dropFirst(offset).prefix(count).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}
