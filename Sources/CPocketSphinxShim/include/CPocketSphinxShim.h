#pragma once

#include <pocketsphinx.h>
#include <stddef.h>

/// What the library may not do to its host: print, and end the process. Every function here collects the library's
/// warnings and errors of the calling thread, and turns the library's "fatal error, exit" into a return value.

/// One word of a transcription; frames count from the first frame that the decoder was given.
typedef struct {
  /// Owned by the decoder's dictionary.
  const char *text;
  int first_frame;
  int last_frame;
  /// The acoustic score, in steps of 1024 of the decoder's logarithms.
  int acoustic_score;
  /// From 0 to 1; means nothing before the end of the utterance, without a lattice search, or in an alternative.
  double posterior;
} vps_word;

/// Results below zero.
enum {
  /// The library reported an error.
  VPS_FAILED = -1,
  /// The library wanted to end the process: nothing may be done with the decoder any more, not even freeing it.
  VPS_FATAL = -2,
};

/// Takes over the process-wide log of the library and silences it. Call once, before anything else.
void vps_silence_log(void);

/// Copies the messages that the library reported on this thread since the last call here; returns their length.
size_t vps_take_messages(char *buffer, size_t capacity);

/// Makes a decoder from command-line arguments (the first of which is ignored), or returns NULL.
ps_decoder_t *vps_create(int argc, char **argv);

/// Makes a front end like that of a decoder, but one that neither removes noise nor leaves out silence; NULL on an error.
/// It is freed with fe_free().
fe_t *vps_make_plain_front_end(ps_decoder_t *decoder);

/// An arc of a word network.
typedef struct {
  int from;
  int to;
  /// The index of the word; -1 for an arc without a word.
  int word;
  /// The negative natural logarithm of its probability.
  float cost;
} vps_arc;

/// Makes the decoder search a word network. All words must be in its dictionary. Returns 0 or an error.
int vps_set_network(ps_decoder_t *decoder, const char *const *words, int word_count, const vps_arc *arcs,
                    int arc_count, int state_count, int start, int end);

/// Makes the decoder search phones in any order, after a phone language model. Returns 0 or an error.
int vps_set_phone_loop(ps_decoder_t *decoder, const char *language_model);

/// Begins an utterance. Returns 0 or an error.
int vps_begin(ps_decoder_t *decoder);

/// Searches cepstral frames. Returns 0 or an error.
int vps_search(ps_decoder_t *decoder, mfcc_t **frames, int count);

/// Searches all cepstral frames of an utterance at once, normalised by their own mean. Returns 0 or an error.
int vps_search_all(ps_decoder_t *decoder, mfcc_t **frames, int count);

/// Ends an utterance. Returns 0 or an error.
int vps_end(ps_decoder_t *decoder);

/// Writes up to `capacity` words of the best transcription so far. Returns their number or an error.
int vps_words(ps_decoder_t *decoder, vps_word *words, int capacity);

/// Other transcriptions of an ended utterance, best first.
typedef struct ps_astar_s vps_alternatives;

/// Begins to list transcriptions; language-model searches only. NULL if there are none or on an error.
vps_alternatives *vps_alternatives_begin(ps_decoder_t *decoder);

/// Writes up to `capacity` words of the current transcription. Returns their number or an error.
int vps_alternatives_words(vps_alternatives *list, ps_decoder_t *decoder, vps_word *words, int capacity);

/// Goes to the next transcription; at the end, or on an error, returns NULL and the list is gone.
vps_alternatives *vps_alternatives_next(vps_alternatives *list);

/// Drops the list.
void vps_alternatives_end(vps_alternatives *list);
