import Foundation

/// Raw files made of the recordings of Debian's package pocketsphinx-testdata, in a temporary folder.
struct Recordings {
  private static let source = "/usr/share/pocketsphinx/test/data"
  private static let block = 1600

  let folder: URL
  /// All recordings one after the other.
  let all: String
  let allSeconds: Double
  /// A tenth of a second of silence: what is left of a program that has hardly anything to decode is loading.
  let empty: String
  /// Each recording, cut after the block in which its speech ends, so that an utterance is open at the end.
  let cut: [String]

  init() throws {
    self.folder = FileManager.default.temporaryDirectory.appending(path: "voice-bench-recordings-\(getpid())")
    try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
    let files = FileManager.default
    let waves = try ["librivox", "cards"].flatMap { name in
      try files.contentsOfDirectory(atPath: "\(Self.source)/\(name)").filter { $0.hasSuffix(".wav") }.sorted()
        .map { "\(name)/\($0)" }
    }
    var joined = Data()
    var cut: [String] = []
    for name in ["goforward.raw", "numbers.raw", "something.raw"] + waves {
      let samples = Self.samples(try Data(contentsOf: URL(filePath: "\(Self.source)/\(name)")))
      joined += samples
      let path = self.folder.appending(path: name.replacing("/", with: "-") + ".cut").path
      try Self.cutAfterSpeech(samples).write(to: URL(filePath: path))
      cut.append(path)
    }
    self.cut = cut
    self.all = self.folder.appending(path: "all.raw").path
    self.allSeconds = Double(joined.count) / 32_000
    try joined.write(to: URL(filePath: self.all))
    self.empty = self.folder.appending(path: "empty.raw").path
    try Data(count: 2 * Self.block).write(to: URL(filePath: self.empty))
  }

  func remove() {
    try? FileManager.default.removeItem(at: self.folder)
  }

  static func read(_ path: String) throws -> [Int16] {
    let data = try Data(contentsOf: URL(filePath: path))
    return [Int16](unsafeUninitializedCapacity: data.count / 2) { buffer, count in
      count = data.copyBytes(to: buffer) / 2
    }
  }

  /// The samples of a raw or wave file.
  private static func samples(_ data: Data) -> Data {
    guard data.starts(with: Data("RIFF".utf8)), let chunk = data.range(of: Data("data".utf8)) else {
      return data
    }
    let body = data[(chunk.upperBound + 4)...]
    return Data(body.prefix(body.count & ~1))
  }

  private static func cutAfterSpeech(_ data: Data) -> Data {
    let bytes = 2 * Self.block
    let levels = (0..<(data.count / bytes)).map { index -> Double in
      let sum = data[(data.startIndex + index * bytes)..<(data.startIndex + (index + 1) * bytes)]
        .withUnsafeBytes {
          $0.bindMemory(to: Int16.self).reduce(0.0) { $0 + Double($1) * Double($1) }
        }
      return sum.squareRoot()
    }
    let bound = (levels.max() ?? 0) * 0.3
    let last = levels.lastIndex { $0 >= bound } ?? 0
    return data.prefix((last + 1) * bytes)
  }
}
