import Foundation
import VoiceTesting

/// A library that is called like RNNoise, and does nothing but delay what it hears.
enum DelayLibrary {
  /// Compiles it; Swift needs a C compiler on Linux for its own linking.
  ///
  /// - Parameters:
  ///   - frames: By how many frames it delays.
  ///   - frameSize: What it says the length of a frame is.
  ///   - gain: What it multiplies samples by.
  static func make(in folder: URL, frames: Int = 2, frameSize: Int = 480, gain: Int = 1) throws -> String {
    let source = """
      #include <stdlib.h>
      #include <string.h>
      enum { length = 480, count = \(frames) };
      typedef struct { float kept[(count + 1) * length]; } state;
      void *rnnoise_create(void *model) { return calloc(1, sizeof(state)); }
      void rnnoise_destroy(void *s) { free(s); }
      int rnnoise_get_frame_size(void) { return \(frameSize); }
      float rnnoise_process_frame(void *pointer, float *out, const float *in) {
        state *s = pointer;
        memcpy(s->kept + count * length, in, length * sizeof(float));
        for (int i = 0; i < length; i++) out[i] = s->kept[i] * \(gain);
        memmove(s->kept, s->kept + length, count * length * sizeof(float));
        return 1;
      }
      """
    let file = folder.appending(path: "delay.c")
    let library = folder.appending(path: "libdelay.so")
    try source.write(to: file, atomically: false, encoding: .utf8)
    let compiler = try RunningProgram(
      "/usr/bin/env", ["cc", "-shared", "-fPIC", "-O1", "-o", library.path, file.path])
    guard compiler.wait() == 0 else { throw Failure.notCompiled }
    return library.path
  }

  enum Failure: Error {
    case notCompiled
  }
}
