// The peer of the evaluation: libpocketsphinx with a JSGF grammar and its default settings, in the obvious way.
//
//   bare_engine GRAMMAR FOLDER < LIST
//
// Each line of the list is a group, a tab and a WAV file of 16 kHz mono samples, relative to the folder. What is learned of the
// channel is kept from one file of a group to the next; a group starts as a new decoder would. Prints a line of JSON for each.
// Words of the grammar that the dictionary lacks must have been taken out of it before.
#include <pocketsphinx.h>
#include <sphinxbase/cmn.h>
#include <sphinxbase/err.h>
#include <sphinxbase/feat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { block_length = 1600, header_length = 44, line_length = 4096, dimension_limit = 64 };

static void fail(const char *what) {
  fprintf(stderr, "bare_engine: %s\n", what);
  exit(1);
}

static ps_decoder_t *load(char *grammar) {
  char *options[] = {
    "bare_engine",
    "-hmm", "/usr/share/pocketsphinx/model/en-us/en-us",
    "-dict", "/usr/share/pocketsphinx/model/en-us/cmudict-en-us.dict",
    "-jsgf", grammar,
    "-logfn", "/dev/null",
  };
  cmd_ln_t *config = cmd_ln_parse_r(NULL, ps_args(), sizeof options / sizeof *options, options, TRUE);
  ps_decoder_t *decoder = config ? ps_init(config) : NULL;
  if (!decoder) fail("the model or the grammar cannot be loaded");
  return decoder;
}

static void decode(ps_decoder_t *decoder, const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, header_length, SEEK_SET)) fail(path);
  short block[block_length];
  size_t count;
  ps_start_utt(decoder);
  while ((count = fread(block, 2, block_length, file)) > 0) ps_process_raw(decoder, block, count, FALSE, FALSE);
  ps_end_utt(decoder);
  fclose(file);
}

int main(int count, char **arguments) {
  if (count != 3) fail("usage: bare_engine GRAMMAR FOLDER < LIST");
  err_set_logfp(NULL);
  static char line[line_length], group[line_length], path[2 * line_length];
  ps_decoder_t *decoder = load(arguments[1]);
  // Loading a large grammar takes long: the state of the channel is set back instead.
  cmn_t *normalization = ps_get_feat(decoder)->cmn_struct;
  mfcc_t initial_mean[dimension_limit];
  if (normalization->veclen > dimension_limit) fail("the model is too large");
  memcpy(initial_mean, normalization->cmn_mean, normalization->veclen * sizeof(mfcc_t));
  while (fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\n")] = 0;
    char *file = strchr(line, '\t');
    if (!file) fail("a line of the list has no tab");
    *file++ = 0;
    if (strcmp(line, group)) {
      cmn_live_set(normalization, initial_mean);
      strcpy(group, line);
    }
    snprintf(path, sizeof path, "%s/%s", arguments[2], file);
    decode(decoder, path);
    const char *words = ps_get_hyp(decoder, NULL);
    printf("{\"file\": \"%s\", \"text\": \"%s\"}\n", file, words ? words : "");
  }
  ps_free(decoder);
  return 0;
}
