#include "CRealtimeMedia.h"

#include <opus.h>

// The library's objects under names of this module.
static OpusEncoder *encoder_of(crm_opus_encoder *encoder) { return (OpusEncoder *)encoder; }
static OpusDecoder *decoder_of(crm_opus_decoder *decoder) { return (OpusDecoder *)decoder; }

enum { rate = 48000 };

crm_opus_encoder *crm_opus_encoder_create(void) {
  int error = OPUS_OK;
  OpusEncoder *encoder = opus_encoder_create(rate, 1, OPUS_APPLICATION_VOIP, &error);
  return error == OPUS_OK ? (crm_opus_encoder *)encoder : NULL;
}

void crm_opus_encoder_free(crm_opus_encoder *encoder) {
  if (encoder) opus_encoder_destroy(encoder_of(encoder));
}

int crm_opus_encoder_set_bitrate(crm_opus_encoder *encoder, int32_t bits_per_second) {
  return opus_encoder_ctl(encoder_of(encoder), OPUS_SET_BITRATE(bits_per_second));
}

int crm_opus_encoder_set_expected_loss(crm_opus_encoder *encoder, int32_t percent) {
  return opus_encoder_ctl(encoder_of(encoder), OPUS_SET_PACKET_LOSS_PERC(percent));
}

int crm_opus_encoder_set_fec(crm_opus_encoder *encoder, bool is_on) {
  return opus_encoder_ctl(encoder_of(encoder), OPUS_SET_INBAND_FEC(is_on ? 1 : 0));
}

int crm_opus_encoder_set_dtx(crm_opus_encoder *encoder, bool is_on) {
  return opus_encoder_ctl(encoder_of(encoder), OPUS_SET_DTX(is_on ? 1 : 0));
}

int crm_opus_encoder_set_complexity(crm_opus_encoder *encoder, int32_t complexity) {
  return opus_encoder_ctl(encoder_of(encoder), OPUS_SET_COMPLEXITY(complexity));
}

int crm_opus_encoder_reset(crm_opus_encoder *encoder) {
  return opus_encoder_ctl(encoder_of(encoder), OPUS_RESET_STATE);
}

int crm_opus_encode(crm_opus_encoder *encoder, const int16_t *samples, int32_t count, uint8_t *payload,
                    int32_t capacity) {
  return opus_encode(encoder_of(encoder), samples, count, payload, capacity);
}

crm_opus_decoder *crm_opus_decoder_create(void) {
  int error = OPUS_OK;
  OpusDecoder *decoder = opus_decoder_create(rate, 1, &error);
  return error == OPUS_OK ? (crm_opus_decoder *)decoder : NULL;
}

void crm_opus_decoder_free(crm_opus_decoder *decoder) {
  if (decoder) opus_decoder_destroy(decoder_of(decoder));
}

int crm_opus_decoder_reset(crm_opus_decoder *decoder) {
  return opus_decoder_ctl(decoder_of(decoder), OPUS_RESET_STATE);
}

int crm_opus_sample_count(const uint8_t *payload, int32_t count) {
  return opus_packet_get_nb_samples(payload, count, rate);
}

int crm_opus_decode(crm_opus_decoder *decoder, const uint8_t *payload, int32_t count, int16_t *samples,
                    int32_t capacity, bool is_recovery) {
  return opus_decode(decoder_of(decoder), payload, count, samples, capacity, is_recovery ? 1 : 0);
}
