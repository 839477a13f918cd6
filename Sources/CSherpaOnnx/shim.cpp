#include "CSherpaOnnx.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

namespace {

// The order of the fields that sherpa-onnx reads, as in its versions 1.12.12 to 2.0.1.
// https://k2-fsa.github.io/sherpa/onnx/c-api/index.html
struct model_fields {
  const char *encoder, *decoder, *joiner;
  const char *paraformer[2];
  const char *zipformer_ctc;
  const char *tokens_file;
  int32_t threads;
  const char *provider;
  int32_t debug;
  const char *model_type, *modeling_unit, *bpe_vocabulary;
  const char *tokens;
  int32_t tokens_length;
  const char *nemo_ctc, *t_one_ctc;
};

struct recognizer_fields {
  int32_t sample_rate, feature_count;
  model_fields model;
  const char *decoding_method;
  int32_t beam_width;
  int32_t detects_endpoints;
  float endpoint_rules[3];
  const char *phrases_file;
  float phrase_bonus;
  const char *graph;
  int32_t graph_states;
  const char *rule_files[2];
  float blank_penalty;
  const char *phrases;
  int32_t phrases_length;
  const char *homophones[3];
};

// Larger than what is known, so that a library that reads further reads zeros.
union recognizer_memory {
  recognizer_fields fields;
  char bytes[4096];
};

struct result_fields {
  const char *text;
  const char *joined_tokens;
  const char *const *tokens;
  const float *times;
  int32_t count;
  const char *json;
};

static_assert(sizeof(void *) != 8 || sizeof(recognizer_fields) == 272, "the layout of sherpa-onnx");

template <typename Function>
bool find(void *library, const char *name, Function *&function) {
  function = reinterpret_cast<Function *>(dlsym(library, name));
  return function != nullptr;
}

void say(char *message, size_t capacity, const char *text) { snprintf(message, capacity, "%s", text); }

/// Runs a body in which the library may throw.
template <typename Body>
bool guarded(char *message, size_t capacity, Body body) noexcept {
  try {
    body();
    return true;
  } catch (const std::exception &error) {
    say(message, capacity, error.what());
  } catch (...) {
    say(message, capacity, "an unknown exception");
  }
  return false;
}

}  // namespace

struct vso_library {
  const void *(*create_recognizer)(const void *);
  void (*destroy_recognizer)(const void *);
  const void *(*create_stream)(const void *);
  const void *(*create_stream_with_phrases)(const void *, const char *);
  void (*destroy_stream)(const void *);
  void (*accept)(const void *, int32_t, const float *, int32_t);
  int32_t (*is_ready)(const void *, const void *);
  void (*decode)(const void *, const void *);
  const result_fields *(*result)(const void *, const void *);
  void (*destroy_result)(const void *);
};

struct vso_model {
  const vso_library *library;
  const void *recognizer;
  int32_t sample_rate;
};

struct vso_stream {
  const vso_model *model;
  const void *stream;
};

vso_library *vso_open(const char *path, enum vso_opening *result, vso_report *report) {
  *report = {};
  *result = VSO_NOT_LOADABLE;
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = dlerror();
    say(report->message, sizeof report->message, reason ? reason : "cannot be loaded");
    return nullptr;
  }
  *result = VSO_OTHER_LIBRARY;
  const char *(*version)() = nullptr;
  vso_library found = {};
  if (!find(handle, "SherpaOnnxGetVersionStr", version) || !version()) {
    say(report->message, sizeof report->message, "is not sherpa-onnx");
    return nullptr;
  }
  say(report->version, sizeof report->version, version());
  if (!find(handle, "SherpaOnnxCreateOnlineRecognizer", found.create_recognizer) ||
      !find(handle, "SherpaOnnxDestroyOnlineRecognizer", found.destroy_recognizer) ||
      !find(handle, "SherpaOnnxCreateOnlineStream", found.create_stream) ||
      !find(handle, "SherpaOnnxCreateOnlineStreamWithHotwords", found.create_stream_with_phrases) ||
      !find(handle, "SherpaOnnxDestroyOnlineStream", found.destroy_stream) ||
      !find(handle, "SherpaOnnxOnlineStreamAcceptWaveform", found.accept) ||
      !find(handle, "SherpaOnnxIsOnlineStreamReady", found.is_ready) ||
      !find(handle, "SherpaOnnxDecodeOnlineStream", found.decode) ||
      !find(handle, "SherpaOnnxGetOnlineStreamResult", found.result) ||
      !find(handle, "SherpaOnnxDestroyOnlineRecognizerResult", found.destroy_result)) {
    say(report->message, sizeof report->message, "lacks functions of sherpa-onnx for streaming recognition");
    return nullptr;
  }
  auto *library = new (std::nothrow) vso_library(found);
  if (!library) {
    say(report->message, sizeof report->message, "not enough memory");
    return nullptr;
  }
  *result = VSO_OPENED;
  return library;
}

vso_model *vso_model_create(vso_library *library, const vso_options *options, char *message, size_t capacity) {
  recognizer_memory memory;
  memset(&memory, 0, sizeof memory);
  recognizer_fields &fields = memory.fields;
  fields.sample_rate = options->sample_rate;
  fields.feature_count = options->feature_count;
  fields.model.encoder = options->encoder;
  fields.model.decoder = options->decoder;
  fields.model.joiner = options->joiner;
  fields.model.tokens = options->tokens;
  fields.model.tokens_length = options->tokens_length;
  fields.model.threads = options->threads;
  fields.model.provider = "cpu";
  fields.model.model_type = options->model_type;
  fields.model.modeling_unit = options->modeling_unit;
  fields.model.bpe_vocabulary = options->bpe_vocabulary;
  fields.decoding_method = options->beam_width > 0 ? "modified_beam_search" : "greedy_search";
  fields.beam_width = options->beam_width;
  auto *model = new (std::nothrow) vso_model{library, nullptr, options->sample_rate};
  if (!model) {
    say(message, capacity, "not enough memory");
    return nullptr;
  }
  bool worked = guarded(message, capacity, [&] { model->recognizer = library->create_recognizer(&memory); });
  if (worked && model->recognizer) return model;
  if (worked) say(message, capacity, "the library refuses the model");
  delete model;
  return nullptr;
}

void vso_model_free(vso_model *model) {
  if (!model) return;
  char ignored[8];
  guarded(ignored, sizeof ignored, [&] { model->library->destroy_recognizer(model->recognizer); });
  delete model;
}

vso_stream *vso_stream_create(vso_model *model, const char *phrases, char *message, size_t capacity) {
  const void *stream = nullptr;
  bool worked = guarded(message, capacity, [&] {
    stream = phrases ? model->library->create_stream_with_phrases(model->recognizer, phrases)
                     : model->library->create_stream(model->recognizer);
  });
  if (!worked) return nullptr;
  auto *result = stream ? new (std::nothrow) vso_stream{model, stream} : nullptr;
  if (!result) say(message, capacity, "the library makes no stream");
  return result;
}

/// Hears samples and decodes what can be decoded.
static void hear(vso_stream *stream, const float *samples, size_t count) {
  const vso_model *model = stream->model;
  model->library->accept(stream->stream, model->sample_rate, samples, static_cast<int32_t>(count));
  while (model->library->is_ready(model->recognizer, stream->stream)) {
    model->library->decode(model->recognizer, stream->stream);
  }
}

static constexpr size_t block_length = 4096;

int vso_stream_hear(vso_stream *stream, const int16_t *samples, size_t count, char *message, size_t capacity) {
  return guarded(message, capacity, [&] {
    float block[block_length];
    while (count > 0) {
      size_t length = std::min(count, block_length);
      for (size_t index = 0; index < length; index++) block[index] = static_cast<float>(samples[index]) / 32768;
      hear(stream, block, length);
      samples += length;
      count -= length;
    }
  });
}

int vso_stream_hear_silence(vso_stream *stream, size_t count, char *message, size_t capacity) {
  return guarded(message, capacity, [&] {
    const float block[block_length] = {};
    for (; count > 0; count -= std::min(count, block_length)) hear(stream, block, std::min(count, block_length));
  });
}

void vso_stream_free(vso_stream *stream) {
  if (!stream) return;
  char ignored[8];
  guarded(ignored, sizeof ignored, [&] { stream->model->library->destroy_stream(stream->stream); });
  delete stream;
}

int vso_stream_result(vso_stream *stream, vso_result *result, char *message, size_t capacity) {
  *result = {};
  const vso_model *model = stream->model;
  const result_fields *fields = nullptr;
  bool worked =
      guarded(message, capacity, [&] { fields = model->library->result(model->recognizer, stream->stream); });
  if (!worked) return 0;
  if (!fields) {
    say(message, capacity, "the library gives no result");
    return 0;
  }
  *result = {fields->count, fields->tokens, fields->times, fields->json, fields};
  return 1;
}

void vso_result_free(vso_stream *stream, vso_result *result) {
  if (!result->owner) return;
  char ignored[8];
  guarded(ignored, sizeof ignored, [&] { stream->model->library->destroy_result(result->owner); });
  *result = {};
}
