import CRNNoise
import Foundation
import Synchronization
import VoiceCore

/// The shared library of RNNoise, loaded at run time; it stays loaded until the process ends.
// @unchecked: a C handle that is only read after it was made; the library's functions may be called on several threads.
final class RNNoiseLibrary: @unchecked Sendable {
  let handle: OpaquePointer
  /// By how many samples of 48 kHz what comes out is late; versions differ in it.
  let delay: Int

  private init(handle: OpaquePointer, delay: Int) {
    self.handle = handle
    self.delay = delay
  }

  private static let loaded = Mutex<[String: RNNoiseLibrary]>([:])

  /// Loads a library, or returns it if it was loaded before.
  ///
  /// - Throws: ``VoiceFailure`` with code `speech.engine.library-missing` or `speech.engine.library-unsupported`.
  static func load(_ path: String) throws(VoiceFailure) -> RNNoiseLibrary {
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

  private static func open(_ path: String) throws(VoiceFailure) -> RNNoiseLibrary {
    let variable = PocketSphinxEngine.noiseLibraryVariable
    guard FileManager.default.isReadableFile(atPath: path) else {
      throw VoiceFailure(
        .engineLibraryMissing,
        message: "There is no library at \(path). Let \(variable) name RNNoise's shared library, or unset it."
      )
    }
    var message = [CChar](repeating: 0, count: 1024)
    var handle: OpaquePointer?
    _ = vrn_open(path, &handle, &message, message.count)
    guard let handle else {
      let reason = String(decoding: message.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      throw VoiceFailure(
        .engineLibraryMissing, message: "The library \(path) cannot be used: \(reason).",
        cause: RNNoiseReason(text: reason))
    }
    guard let delay = RNNoiseProbe.delay(of: handle) else {
      throw VoiceFailure(
        .engineLibraryUnsupported,
        message:
          "The library \(path) does not give back the speech that it is given. RNNoise 0.1 and 0.2 do: "
          + "`make setup-noise` installs one.")
    }
    return RNNoiseLibrary(handle: handle, delay: delay)
  }
}

/// What the dynamic linker said.
struct RNNoiseReason: Error, CustomStringConvertible {
  let text: String
  var description: String { self.text }
}

/// Finds out how late the library is, with a sound like a vowel that rises.
enum RNNoiseProbe {
  /// The sound, at 48 kHz: it is never like itself a frame earlier or later, as its pitch changes.
  static let sound: [Float] = (0..<48_000).map { index in
    let time = Double(index) / 48_000
    let phase = 2 * Double.pi * (110 * time + 30 * time * time)
    let tones = (1...24).reduce(0.0) { $0 + sin(phase * Double($1)) / Double($1) }
    return Float(3000 * tones * (0.6 - 0.4 * cos(8 * Double.pi * time)))
  }

  private static let frame = Int(vrn_frame_length)
  private static let mostFrames = 4
  /// How like the sound must be what comes out. RNNoise 0.2 has 0.60, and 0.15 at any other delay.
  private static let leastLikeness: Float = 0.4

  static func delay(of library: OpaquePointer) -> Int? {
    guard let stream = vrn_create(library) else { return nil }
    defer { vrn_free(stream) }
    var output = self.sound
    output.withUnsafeMutableBufferPointer { output in
      guard let base = output.baseAddress else { return }
      for start in stride(from: 0, through: output.count - self.frame, by: self.frame) {
        vrn_process(stream, base + start)
      }
    }
    return self.delay(of: output)
  }

  /// - Parameter output: What a library made of ``sound``.
  static func delay(of output: [Float]) -> Int? {
    guard output.allSatisfy(\.isFinite) else { return nil }
    let delays = (0...self.mostFrames).map { $0 * self.frame }
    let likeness = delays.map { self.likeness(of: output.dropFirst($0), to: self.sound) }
    guard let best = likeness.indices.max(by: { likeness[$0] < likeness[$1] }),
      likeness[best] >= self.leastLikeness
    else { return nil }
    return delays[best]
  }

  private static func likeness(of output: ArraySlice<Float>, to sound: [Float]) -> Float {
    var product: Float = 0
    var squares: (Float, Float) = (0, 0)
    for (one, other) in zip(output, sound) {
      product += one * other
      squares.0 += one * one
      squares.1 += other * other
    }
    let scale = (squares.0 * squares.1).squareRoot()
    return scale > 0 ? product / scale : 0
  }
}
