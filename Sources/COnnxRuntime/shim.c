#include "COnnxRuntime.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ONNX Runtime exports one function, OrtGetApiBase, which leads to a table of function pointers. The table only
// ever grows at its end, so the places of the first version's functions hold for every later version.
// https://onnxruntime.ai/docs/api/c/struct_ort_api.html
typedef struct {
  const void *(*get_api)(uint32_t version);
  const char *(*get_version)(void);
} api_base;

enum place {
  get_error_message = 2,
  create_env = 3,
  create_session = 7,
  run_session = 9,
  create_session_options = 10,
  set_log_severity = 22,
  set_intra_op_threads = 24,
  set_inter_op_threads = 25,
  create_tensor_with_data = 49,
  get_tensor_data = 51,
  create_cpu_memory_info = 69,
  get_element_count = 64,
  get_tensor_shape = 65,
  release_env = 92,
  release_status = 93,
  release_memory_info = 94,
  release_session = 95,
  release_value = 96,
  release_shape = 99,
  release_session_options = 100,
};

enum { log_fatal = 4, type_float = 1, type_int64 = 7, device_allocator = 0, default_memory = 0 };

typedef void *status;
typedef void (*release_function)(void *);

enum { context_length = 64, state_length = 2 * 128, input_length = context_length + vort_frame_length };

struct vort_detector {
  void *const *api;
  void *env;
  void *session;
  void *memory;
  void *inputs[3];
  float input[input_length];
  float state[state_length];
  int64_t rate;
};

static void release(vort_detector *detector, enum place place, void *object) {
  if (object) ((release_function)detector->api[place])(object);
}

/// Takes a status; returns whether it is a failure, and copies its message.
static int failed(vort_detector *detector, status result, char *message, size_t capacity) {
  if (!result) return 0;
  const char *text = ((const char *(*)(status))detector->api[get_error_message])(result);
  snprintf(message, capacity, "%s", text ? text : "unknown error");
  release(detector, release_status, result);
  return 1;
}

static int make_tensor(
    vort_detector *detector, int index, void *data, size_t bytes, const int64_t *shape, size_t rank, int type,
    char *message, size_t capacity) {
  typedef status (*function)(const void *, void *, size_t, const int64_t *, size_t, int, void **);
  return !failed(
      detector,
      ((function)detector->api[create_tensor_with_data])(
          detector->memory, data, bytes, shape, rank, type, &detector->inputs[index]),
      message, capacity);
}

static int open_model(vort_detector *detector, const char *model, char *message, size_t capacity) {
  void *const *api = detector->api;
  if (failed(detector, ((status(*)(int, const char *, void **))api[create_env])(log_fatal, "voice", &detector->env),
             message, capacity)) return 0;
  void *options = NULL;
  if (failed(detector, ((status(*)(void **))api[create_session_options])(&options), message, capacity)) return 0;
  typedef status (*set_function)(void *, int);
  // A step takes a fraction of a millisecond: threads of its own would only cost.
  int ok = !failed(detector, ((set_function)api[set_intra_op_threads])(options, 1), message, capacity)
      && !failed(detector, ((set_function)api[set_inter_op_threads])(options, 1), message, capacity)
      && !failed(detector, ((set_function)api[set_log_severity])(options, log_fatal), message, capacity)
      && !failed(detector,
                 ((status(*)(void *, const char *, const void *, void **))api[create_session])(
                     detector->env, model, options, &detector->session),
                 message, capacity)
      && !failed(detector,
                 ((status(*)(int, int, void **))api[create_cpu_memory_info])(
                     device_allocator, default_memory, &detector->memory),
                 message, capacity);
  release(detector, release_session_options, options);
  if (!ok) return 0;
  const int64_t input_shape[2] = {1, input_length};
  const int64_t state_shape[3] = {2, 1, 128};
  return make_tensor(
             detector, 0, detector->input, sizeof detector->input, input_shape, 2, type_float, message, capacity)
      && make_tensor(
             detector, 1, detector->state, sizeof detector->state, state_shape, 3, type_float, message, capacity)
      && make_tensor(
             detector, 2, &detector->rate, sizeof detector->rate, NULL, 0, type_int64, message, capacity);
}

int vort_create(const char *library, const char *model, vort_detector **result, char *message, size_t capacity) {
  *result = NULL;
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = dlerror();
    snprintf(message, capacity, "%s", reason ? reason : "cannot be loaded");
    return VORT_NO_LIBRARY;
  }
  const api_base *(*get_base)(void) = (const api_base *(*)(void))dlsym(handle, "OrtGetApiBase");
  const api_base *base = get_base ? get_base() : NULL;
  void *const *api = base ? base->get_api(1) : NULL;
  if (!api) {
    snprintf(message, capacity, "%s", base ? "does not offer version 1 of its interface" : "is not ONNX Runtime");
    return VORT_WRONG_LIBRARY;
  }
  vort_detector *detector = calloc(1, sizeof *detector);
  if (!detector) {
    snprintf(message, capacity, "not enough memory");
    return VORT_BAD_MODEL;
  }
  detector->api = api;
  detector->rate = 16000;
  // One step shows whether the model takes and gives what is expected.
  const float silence[vort_frame_length] = {0};
  if (!open_model(detector, model, message, capacity) || vort_hear(detector, silence, message, capacity) < 0) {
    vort_free(detector);
    return VORT_BAD_MODEL;
  }
  vort_reset(detector);
  *result = detector;
  return VORT_OK;
}

void vort_reset(vort_detector *detector) {
  memset(detector->input, 0, sizeof detector->input);
  memset(detector->state, 0, sizeof detector->state);
}

/// Copies `count` numbers out of a tensor that must have exactly as many.
static int copy_out(
    vort_detector *detector, void *value, float *target, size_t count, char *message, size_t capacity) {
  void *shape = NULL;
  size_t elements = 0;
  void *data = NULL;
  typedef status (*get_function)(const void *, void **);
  typedef status (*count_function)(const void *, size_t *);
  void *const *api = detector->api;
  if (failed(detector, ((get_function)api[get_tensor_shape])(value, &shape), message, capacity)) return 0;
  int ok = !failed(detector, ((count_function)api[get_element_count])(shape, &elements), message, capacity);
  release(detector, release_shape, shape);
  if (!ok) return 0;
  if (elements != count) {
    snprintf(message, capacity, "an output has %zu numbers instead of %zu", elements, count);
    return 0;
  }
  if (failed(detector, ((get_function)api[get_tensor_data])(value, &data), message, capacity)) return 0;
  memcpy(target, data, count * sizeof *target);
  return 1;
}

float vort_hear(vort_detector *detector, const float *samples, char *message, size_t capacity) {
  static const char *const input_names[3] = {"input", "state", "sr"};
  static const char *const output_names[2] = {"output", "stateN"};
  typedef status (*function)(
      void *, const void *, const char *const *, void *const *, size_t, const char *const *, size_t, void **);
  // The model wants the end of the frame before in front of each frame.
  memmove(detector->input, detector->input + vort_frame_length, context_length * sizeof(float));
  memcpy(detector->input + context_length, samples, vort_frame_length * sizeof(float));
  void *outputs[2] = {NULL, NULL};
  if (failed(detector,
             ((function)detector->api[run_session])(
                 detector->session, NULL, input_names, detector->inputs, 3, output_names, 2, outputs),
             message, capacity)) return -1;
  float probability = -1;
  int ok = copy_out(detector, outputs[0], &probability, 1, message, capacity)
      && copy_out(detector, outputs[1], detector->state, state_length, message, capacity);
  release(detector, release_value, outputs[0]);
  release(detector, release_value, outputs[1]);
  return ok ? probability : -1;
}

void vort_free(vort_detector *detector) {
  if (!detector) return;
  for (int index = 0; index < 3; index++) release(detector, release_value, detector->inputs[index]);
  release(detector, release_memory_info, detector->memory);
  release(detector, release_session, detector->session);
  release(detector, release_env, detector->env);
  free(detector);
}
