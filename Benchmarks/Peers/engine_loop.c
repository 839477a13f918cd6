// The peer of the pipeline: libpocketsphinx called in the obvious way, with blocks of 1,600 samples, an utterance that ends when
// the library says that speech has ended, and a hypothesis for every block in speech.
//
//   engine_loop cpu FILE             the CPU time of the decoding of one raw file
//   engine_loop final ROUNDS FILE…   for each file how long the end of the utterance takes
//
// The options of the decoder come from the environment variable ENGINE_OPTIONS, separated by spaces. Prints one line of JSON.
#include <pocketsphinx.h>
#include <sphinxbase/cmn.h>
#include <sphinxbase/err.h>
#include <sphinxbase/feat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { block_length = 1600, most_options = 64, dimension_limit = 64 };

static ps_decoder_t *decoder;
static mfcc_t initial_mean[dimension_limit];
static cmn_t *normalization;

static double now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

static void fail(const char *what) {
  fprintf(stderr, "engine_loop: %s\n", what);
  exit(1);
}

static void load(void) {
  static char *options[most_options] = {"engine_loop"};
  int count = 1;
  const char *text = getenv("ENGINE_OPTIONS");
  if (!text) fail("ENGINE_OPTIONS is missing");
  char *copy = strdup(text);
  for (char *word = strtok(copy, " "); word && count < most_options; word = strtok(NULL, " ")) options[count++] = word;
  err_set_logfp(NULL);
  cmd_ln_t *config = cmd_ln_parse_r(NULL, ps_args(), count, options, TRUE);
  decoder = config ? ps_init(config) : NULL;
  if (!decoder) fail("the model cannot be loaded");
  normalization = ps_get_feat(decoder)->cmn_struct;
  if (normalization->veclen > dimension_limit) fail("the model is too large");
  memcpy(initial_mean, normalization->cmn_mean, normalization->veclen * sizeof(mfcc_t));
}

static short *read_samples(const char *path, size_t *count) {
  FILE *file = fopen(path, "rb");
  if (!file) fail(path);
  fseek(file, 0, SEEK_END);
  *count = (size_t)ftell(file) / 2;
  rewind(file);
  short *samples = malloc(*count * 2 + 2);
  if (fread(samples, 2, *count, file) != *count) fail(path);
  fclose(file);
  return samples;
}

// Decodes until the last sample; the utterance that it is in stays open.
static void decode(const short *samples, size_t count) {
  int was_speaking = 0;
  ps_start_stream(decoder);
  ps_start_utt(decoder);
  for (size_t position = 0; position < count; position += block_length) {
    size_t length = count - position < block_length ? count - position : block_length;
    ps_process_raw(decoder, samples + position, length, FALSE, FALSE);
    int is_speaking = ps_get_in_speech(decoder);
    if (is_speaking) {
      ps_get_hyp(decoder, NULL);
      was_speaking = 1;
    } else if (was_speaking) {
      was_speaking = 0;
      ps_end_utt(decoder);
      ps_get_hyp(decoder, NULL);
      ps_start_utt(decoder);
    }
  }
}

int main(int count, char **arguments) {
  alarm(200);
  if (count == 3 && !strcmp(arguments[1], "cpu")) {
    load();
    size_t length;
    short *samples = read_samples(arguments[2], &length);
    double start = now(CLOCK_PROCESS_CPUTIME_ID);
    decode(samples, length);
    ps_end_utt(decoder);
    ps_get_hyp(decoder, NULL);
    printf("{\"cpu\":%.6f}\n", now(CLOCK_PROCESS_CPUTIME_ID) - start);
  } else if (count > 3 && !strcmp(arguments[1], "final")) {
    load();
    printf("{\"files\":[");
    for (int index = 3; index < count; ++index) {
      size_t length;
      short *samples = read_samples(arguments[index], &length);
      printf("%s[", index > 3 ? "," : "");
      for (int round = 0; round < atoi(arguments[2]); ++round) {
        cmn_live_set(normalization, initial_mean);
        decode(samples, length);
        double start = now(CLOCK_MONOTONIC);
        ps_end_utt(decoder);
        ps_get_hyp(decoder, NULL);
        printf("%s%.3f", round ? "," : "", (now(CLOCK_MONOTONIC) - start) * 1e6);
      }
      printf("]");
      free(samples);
    }
    printf("]}\n");
  } else {
    fail("usage: engine_loop cpu FILE | final ROUNDS FILE…");
  }
  return 0;
}
