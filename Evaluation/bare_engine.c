// The peer of the evaluation: libpocketsphinx with a JSGF grammar and its default settings, in the obvious way.
//
//   bare_engine GRAMMAR FOLDER < LIST
//
// Each line of the list is a group, a tab and a WAV file of 16 kHz mono samples, relative to the folder. A group has a
// decoder of its own, which keeps what it learned of the channel from one file to the next. Prints a line of JSON for each.
// Words of the grammar that the dictionary lacks must have been taken out of it before.
#include <pocketsphinx.h>
#include <sphinxbase/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { block_length = 1600, header_length = 44, line_length = 4096 };

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
  ps_decoder_t *decoder = NULL;
  while (fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\n")] = 0;
    char *file = strchr(line, '\t');
    if (!file) fail("a line of the list has no tab");
    *file++ = 0;
    if (!decoder || strcmp(line, group)) {
      if (decoder) ps_free(decoder);
      decoder = load(arguments[1]);
      strcpy(group, line);
    }
    snprintf(path, sizeof path, "%s/%s", arguments[2], file);
    decode(decoder, path);
    const char *words = ps_get_hyp(decoder, NULL);
    printf("{\"file\": \"%s\", \"text\": \"%s\"}\n", file, words ? words : "");
  }
  if (decoder) ps_free(decoder);
  return 0;
}
