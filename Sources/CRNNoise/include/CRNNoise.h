#pragma once

#include <stddef.h>

/// Suppresses noise with RNNoise, a library that is loaded at run time; nothing is linked.
/// https://gitlab.xiph.org/xiph/rnnoise/-/blob/v0.2/include/rnnoise.h
typedef struct vrn_library vrn_library;

/// One stream of audio.
typedef struct vrn_stream vrn_stream;

/// Results of `vrn_open`.
enum vrn_result {
  VRN_OK = 0,
  /// The library cannot be loaded.
  VRN_NO_LIBRARY = 1,
  /// The library is not RNNoise, or takes frames of another length.
  VRN_WRONG_LIBRARY = 2,
};

enum {
  /// The samples of one step, at 48 kHz.
  vrn_frame_length = 480,
};

/// Loads a library, which stays loaded. On failure `*library` is NULL and `message` says why.
int vrn_open(const char *path, vrn_library **library, char *message, size_t capacity);

/// Begins a stream; NULL if memory is short. A library may be used on several threads, a stream on one at a time.
vrn_stream *vrn_create(const vrn_library *library);

/// Replaces `vrn_frame_length` samples, in the range of 16-bit integers, by what the library makes of them.
void vrn_process(vrn_stream *stream, float *samples);

/// Ends a stream.
void vrn_free(vrn_stream *stream);
