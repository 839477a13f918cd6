#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Runs streaming transducers with a sherpa-onnx library that is loaded at run time; nothing is linked.
///
/// Whatever the library throws becomes a message. It also ends the process on some inputs, which cannot be caught: whoever
/// calls this must have checked the model.
typedef struct vso_library vso_library;
typedef struct vso_model vso_model;
typedef struct vso_stream vso_stream;

/// Results of `vso_open`.
enum vso_opening {
  VSO_OPENED = 0,
  /// The file cannot be loaded.
  VSO_NOT_LOADABLE = 1,
  /// The library is not sherpa-onnx.
  VSO_OTHER_LIBRARY = 2,
};

/// What is read from the library when it is opened.
typedef struct {
  char version[32];
  char message[512];
} vso_report;

/// Loads a library, which stays loaded. On failure the result is NULL.
vso_library *vso_open(const char *path, enum vso_opening *result, vso_report *report);

typedef struct {
  const char *encoder, *decoder, *joiner;
  /// The text of `tokens.txt`.
  const char *tokens;
  int32_t tokens_length;
  const char *model_type;
  int32_t sample_rate, feature_count, threads;
  /// How many hypotheses a beam search keeps; 0 for a greedy search, which knows no phrases.
  int32_t beam_width;
  /// How words are cut into tokens, with the file that says how; both NULL for whatever the library does by itself.
  const char *modeling_unit, *bpe_vocabulary;
} vso_options;

/// Loads a model; NULL with a message on failure. Only for versions with the layout that shim.cpp declares.
vso_model *vso_model_create(vso_library *library, const vso_options *options, char *message, size_t capacity);
void vso_model_free(vso_model *model);

/// Begins an utterance; NULL with a message on failure. `phrases` may be NULL and must be without a beam search.
///
/// Streams of one model may be used on several threads at a time, each stream on one.
vso_stream *vso_stream_create(vso_model *model, const char *phrases, char *message, size_t capacity);

/// Hears samples and decodes what can be decoded. Returns 0 with a message on failure.
int vso_stream_hear(vso_stream *stream, const int16_t *samples, size_t count, char *message, size_t capacity);

/// Hears silence. Returns 0 with a message on failure.
int vso_stream_hear_silence(vso_stream *stream, size_t count, char *message, size_t capacity);

void vso_stream_free(vso_stream *stream);

/// What was understood so far, to be freed.
typedef struct {
  int32_t count;
  const char *const *tokens;
  /// In seconds from the beginning of the utterance; NULL if the model gives none.
  const float *times;
  const char *json;
  const void *owner;
} vso_result;

/// Returns 0 with a message on failure.
int vso_stream_result(vso_stream *stream, vso_result *result, char *message, size_t capacity);
void vso_result_free(vso_stream *stream, vso_result *result);

#ifdef __cplusplus
}
#endif
