import Foundation

extension StandardErrorLogger {
  static func write(_ line: String) {
    FileHandle.standardError.write(Data(line.utf8))
  }
}
