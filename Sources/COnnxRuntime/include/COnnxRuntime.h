#pragma once

#include <stddef.h>
#include <stdint.h>

/// Runs the Silero voice activity model with an ONNX Runtime library that is loaded at run time; nothing is linked.
typedef struct vort_detector vort_detector;

/// Results of `vort_create`.
enum vort_result {
  VORT_OK = 0,
  /// The library cannot be loaded.
  VORT_NO_LIBRARY = 1,
  /// The library is not ONNX Runtime, or does not offer the first version of its interface.
  VORT_WRONG_LIBRARY = 2,
  /// The model cannot be loaded.
  VORT_BAD_MODEL = 3,
};

enum {
  /// The samples of one step.
  vort_frame_length = 512,
};

/// Loads library and model. On failure `*detector` is NULL and `message` says why.
int vort_create(const char *library, const char *model, vort_detector **detector, char *message, size_t capacity);

/// Forgets what was heard.
void vort_reset(vort_detector *detector);

/// Hears `vort_frame_length` samples between -1 and 1. Returns the probability of speech, or a negative number on
/// failure.
float vort_hear(vort_detector *detector, const float *samples, char *message, size_t capacity);

/// Frees the detector; the library stays loaded.
void vort_free(vort_detector *detector);
