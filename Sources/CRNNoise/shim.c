#include "CRNNoise.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

struct vrn_library {
  // Versions before 2019 take no argument, and ignore one.
  void *(*create)(void *model);
  void (*destroy)(void *state);
  float (*process_frame)(void *state, float *out, const float *in);
};

struct vrn_stream {
  const vrn_library *library;
  void *state;
};

int vrn_open(const char *path, vrn_library **result, char *message, size_t capacity) {
  *result = NULL;
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = dlerror();
    snprintf(message, capacity, "%s", reason ? reason : "cannot be loaded");
    return VRN_NO_LIBRARY;
  }
  vrn_library library = {
    (void *(*)(void *))dlsym(handle, "rnnoise_create"),
    (void (*)(void *))dlsym(handle, "rnnoise_destroy"),
    (float (*)(void *, float *, const float *))dlsym(handle, "rnnoise_process_frame"),
  };
  int (*frame_size)(void) = (int (*)(void))dlsym(handle, "rnnoise_get_frame_size");
  if (!library.create || !library.destroy || !library.process_frame || !frame_size) {
    snprintf(message, capacity, "it is not RNNoise of version 0.1 or later");
    return VRN_WRONG_LIBRARY;
  }
  // The length of a frame is part of how the library is called.
  if (frame_size() != vrn_frame_length) {
    snprintf(message, capacity, "it takes frames of %d samples instead of %d", frame_size(), vrn_frame_length);
    return VRN_WRONG_LIBRARY;
  }
  vrn_library *made = malloc(sizeof *made);
  if (!made) {
    snprintf(message, capacity, "not enough memory");
    return VRN_NO_LIBRARY;
  }
  *made = library;
  *result = made;
  return VRN_OK;
}

vrn_stream *vrn_create(const vrn_library *library) {
  vrn_stream *stream = malloc(sizeof *stream);
  if (!stream) return NULL;
  stream->library = library;
  stream->state = library->create(NULL);
  if (!stream->state) {
    free(stream);
    return NULL;
  }
  return stream;
}

void vrn_process(vrn_stream *stream, float *samples) {
  stream->library->process_frame(stream->state, samples, samples);
}

void vrn_free(vrn_stream *stream) {
  if (!stream) return;
  stream->library->destroy(stream->state);
  free(stream);
}
