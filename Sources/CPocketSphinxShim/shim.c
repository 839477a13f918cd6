#include "CPocketSphinxShim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sphinxbase/err.h>
#include <sphinxbase/fsg_model.h>

enum { message_capacity = 4096 };

static const char network_name[] = "network";

static _Thread_local char messages[message_capacity];
static _Thread_local size_t message_length;
// Where to go instead of exit(); set only while a call of the library is running on the thread.
static _Thread_local jmp_buf *escape;

static void collect(void *user, err_lvl_t level, const char *format, ...) {
  (void)user;
  if (level < ERR_WARN) return;
  size_t room = message_capacity - message_length;
  if (room > 1) {
    va_list arguments;
    va_start(arguments, format);
    int written = vsnprintf(messages + message_length, room, format, arguments);
    va_end(arguments);
    if (written > 0) message_length += (size_t)written < room ? (size_t)written : room - 1;
  }
  // The library calls exit() right after a fatal message. Leaving here leaks what it was making, and saves the process.
  if (level == ERR_FATAL && escape) longjmp(*escape, 1);
}

void vps_silence_log(void) {
  err_set_logfp(NULL);
  err_set_callback(collect, NULL);
}

size_t vps_take_messages(char *buffer, size_t capacity) {
  if (capacity == 0) return 0;
  size_t count = message_length < capacity - 1 ? message_length : capacity - 1;
  memcpy(buffer, messages, count);
  buffer[count] = 0;
  message_length = 0;
  return count;
}

/// Runs `call`; if the library gives up, returns `otherwise` from the surrounding function.
#define GUARDED(call, otherwise) \
  jmp_buf place;                 \
  if (setjmp(place)) {           \
    escape = NULL;               \
    return otherwise;            \
  }                              \
  escape = &place;               \
  call;                          \
  escape = NULL

ps_decoder_t *vps_create(int argc, char **argv) {
  ps_decoder_t *volatile decoder = NULL;
  GUARDED({
    cmd_ln_t *config = cmd_ln_parse_r(NULL, ps_args(), argc, argv, TRUE);
    if (config) {
      decoder = ps_init(config);
      // The decoder keeps a reference of its own.
      cmd_ln_free_r(config);
    }
  }, NULL);
  return decoder;
}

fe_t *vps_make_plain_front_end(ps_decoder_t *decoder) {
  static const char *const options[] = {"-remove_noise", "-remove_silence"};
  cmd_ln_t *config = ps_get_config(decoder);
  fe_t *volatile front_end = NULL;
  long before[2];
  // The front end reads its options while it is made only, so the decoder's can be lent to it.
  for (int i = 0; i < 2; i++) {
    before[i] = cmd_ln_int_r(config, options[i]);
    cmd_ln_set_int_r(config, options[i], 0);
  }
  GUARDED(front_end = fe_init_auto_r(config), NULL);
  for (int i = 0; i < 2; i++) cmd_ln_set_int_r(config, options[i], before[i]);
  return front_end;
}

static int set_network(ps_decoder_t *decoder, const char *const *words, int word_count, const vps_arc *arcs,
                       int arc_count, int state_count, int start, int end) {
  logmath_t *logs = ps_get_logmath(decoder);
  float weight = cmd_ln_float32_r(ps_get_config(decoder), "-lw");
  fsg_model_t *network = fsg_model_init(network_name, logs, weight, state_count);
  if (!network) return VPS_FAILED;
  network->start_state = start;
  network->final_state = end;
  // The library numbers equal words alike, so the numbers are those of the array only if no word comes twice.
  for (int i = 0; i < word_count; i++) fsg_model_word_add(network, words[i]);
  for (int i = 0; i < arc_count; i++) {
    int32 score = (int32)(logmath_ln_to_log(logs, -arcs[i].cost) * weight);
    if (arcs[i].word >= 0) {
      fsg_model_trans_add(network, arcs[i].from, arcs[i].to, score, arcs[i].word);
    } else if (arcs[i].from != arcs[i].to) {
      fsg_model_null_trans_add(network, arcs[i].from, arcs[i].to, score);
    }
  }
  glist_free(fsg_model_null_trans_closure(network, NULL));
  int result = ps_set_fsg(decoder, network_name, network);
  // The decoder keeps a reference of its own.
  fsg_model_free(network);
  if (result == 0) result = ps_set_search(decoder, network_name);
  return result < 0 ? VPS_FAILED : 0;
}

int vps_set_network(ps_decoder_t *decoder, const char *const *words, int word_count, const vps_arc *arcs,
                    int arc_count, int state_count, int start, int end) {
  volatile int result = VPS_FAILED;
  GUARDED(result = set_network(decoder, words, word_count, arcs, arc_count, state_count, start, end), VPS_FATAL);
  return result;
}

int vps_set_phone_loop(ps_decoder_t *decoder, const char *language_model) {
  volatile int result = VPS_FAILED;
  GUARDED({
    result = ps_set_allphone_file(decoder, network_name, language_model);
    if (result == 0) result = ps_set_search(decoder, network_name);
  }, VPS_FATAL);
  return result < 0 ? VPS_FAILED : 0;
}

int vps_begin(ps_decoder_t *decoder) {
  volatile int result = VPS_FAILED;
  GUARDED(result = ps_start_utt(decoder) < 0 ? VPS_FAILED : 0, VPS_FATAL);
  return result;
}

int vps_search(ps_decoder_t *decoder, mfcc_t **frames, int count) {
  volatile int result = VPS_FAILED;
  // The decoder's queue of features holds this many at a time beside those that its look-ahead still needs; given
  // more, it overwrites those and an assertion ends the process.
  const int most = 2 * feat_window_size(ps_get_feat(decoder)) + 1;
  volatile int done = 0;
  GUARDED({
    while (done < count) {
      int step = count - done < most ? count - done : most;
      if (ps_process_cep(decoder, frames + done, step, FALSE, FALSE) < 0) break;
      done += step;
    }
    if (done == count) result = 0;
  }, VPS_FATAL);
  return result;
}

int vps_search_all(ps_decoder_t *decoder, mfcc_t **frames, int count) {
  volatile int result = VPS_FAILED;
  GUARDED(result = ps_process_cep(decoder, frames, count, FALSE, TRUE) < 0 ? VPS_FAILED : 0, VPS_FATAL);
  return result;
}

int vps_end(ps_decoder_t *decoder) {
  volatile int result = VPS_FAILED;
  GUARDED(result = ps_end_utt(decoder) < 0 ? VPS_FAILED : 0, VPS_FATAL);
  return result;
}

static int copy_words(ps_seg_t *segment, ps_decoder_t *decoder, vps_word *words, int capacity) {
  int count = 0;
  for (; segment; segment = ps_seg_next(segment)) {
    if (count == capacity) {
      ps_seg_free(segment);
      break;
    }
    vps_word *word = &words[count++];
    word->text = ps_seg_word(segment);
    ps_seg_frames(segment, &word->first_frame, &word->last_frame);
    int32 acoustic = 0;
    word->posterior =
        logmath_exp(ps_get_logmath(decoder), ps_seg_prob(segment, &acoustic, NULL, NULL));
    word->acoustic_score = acoustic;
  }
  return count;
}

int vps_words(ps_decoder_t *decoder, vps_word *words, int capacity) {
  volatile int count = 0;
  GUARDED(count = copy_words(ps_seg_iter(decoder), decoder, words, capacity), VPS_FATAL);
  return count;
}

vps_alternatives *vps_alternatives_begin(ps_decoder_t *decoder) {
  vps_alternatives *volatile list = NULL;
  GUARDED(list = ps_nbest(decoder), NULL);
  return list;
}

int vps_alternatives_words(vps_alternatives *list, ps_decoder_t *decoder, vps_word *words, int capacity) {
  volatile int count = 0;
  GUARDED(count = copy_words(ps_nbest_seg(list), decoder, words, capacity), VPS_FATAL);
  return count;
}

vps_alternatives *vps_alternatives_next(vps_alternatives *list) {
  vps_alternatives *volatile next = NULL;
  GUARDED(next = ps_nbest_next(list), NULL);
  return next;
}

void vps_alternatives_end(vps_alternatives *list) {
  ps_nbest_free(list);
}
