import CSherpaOnnx
import Foundation
import Synchronization
import VoiceCore

/// The shared library of sherpa-onnx, loaded at run time; it stays loaded until the process ends.
// @unchecked: a C handle that is only read after it was made; the library's functions may be called on several threads.
final class SherpaOnnxLibrary: @unchecked Sendable {
  let version: String
  let handle: OpaquePointer

  private init(handle: OpaquePointer, version: String) {
    self.handle = handle
    self.version = version
  }

  private static let loaded = Mutex<[String: SherpaOnnxLibrary]>([:])

  /// Loads a library, or returns it if it was loaded before.
  ///
  /// - Throws: ``VoiceFailure`` with code `speech.engine.library-missing` or `speech.engine.library-unsupported`.
  static func load(_ path: String) throws(VoiceFailure) -> SherpaOnnxLibrary {
    let result = self.loaded.withLock { loaded in
      Result { () throws(VoiceFailure) in
        if let library = loaded[path] { return library }
        let library = try self.open(path)
        loaded[path] = library
        return library
      }
    }
    return try result.get()
  }

  private static func open(_ path: String) throws(VoiceFailure) -> SherpaOnnxLibrary {
    guard FileManager.default.isReadableFile(atPath: path) else {
      throw VoiceFailure(
        .engineLibraryMissing,
        message: "There is no library at \(path). Give the path of libsherpa-onnx-c-api.so, or set "
          + "\(SherpaOnnxEngine.libraryVariable).")
    }
    var report = vso_report()
    var opening = VSO_OPENED
    let handle = vso_open(path, &opening, &report)
    let version = CText.text(&report.version)
    guard let handle else {
      let reason = CText.text(&report.message)
      let advice = opening == VSO_OTHER_LIBRARY ? " Give the path of libsherpa-onnx-c-api.so." : ""
      throw VoiceFailure(
        .engineLibraryMissing, message: "The library \(path) cannot be used: \(reason).\(advice)",
        cause: CText.Reason(text: reason))
    }
    guard SherpaOnnxVersion(version).map(\.isSupported) == true else {
      throw VoiceFailure(
        .engineLibraryUnsupported,
        message: "The library \(path) is sherpa-onnx \(version), of which it is not known how it is called. "
          + "\(SherpaOnnxVersion.supportedText) work: `pip install sherpa-onnx-core==\(SherpaOnnxVersion.newest)`."
      )
    }
    return SherpaOnnxLibrary(handle: handle, version: version)
  }
}

/// A version of sherpa-onnx, whose structures change between versions.
struct SherpaOnnxVersion: Hashable, Sendable {
  let major: Int
  let minor: Int
  let patch: Int

  init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
    guard parts.count == 3, let major = parts[0], let minor = parts[1], let patch = parts[2] else {
      return nil
    }
    (self.major, self.minor, self.patch) = (major, minor, patch)
  }

  static let newest = "2.0.1"
  static let supportedText = "The versions 1.12.12 to 2.0.1"

  /// Whether the layout of its structures is the one that `CSherpaOnnx` declares.
  var isSupported: Bool {
    switch (self.major, self.minor) {
    case (1, 12): (12...40).contains(self.patch)
    case (1, 13): (0...8).contains(self.patch)
    case (2, 0): (0...1).contains(self.patch)
    default: false
    }
  }
}

/// Texts that come from C.
enum CText {
  struct Reason: Error, CustomStringConvertible {
    let text: String
    var description: String { self.text }
  }

  /// The text in the memory of an array of C.
  static func text<Memory>(_ memory: inout Memory) -> String {
    withUnsafeBytes(of: &memory) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }

  /// Calls a function of C that tells in a text what went wrong.
  static func reason(_ body: (UnsafeMutablePointer<CChar>, Int) -> Void) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1024) { buffer in
      buffer.initialize(repeating: 0)
      guard let base = buffer.baseAddress else { return "" }
      body(base, buffer.count)
      return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
  }
}
