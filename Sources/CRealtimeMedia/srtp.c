#include "library.h"

#include <srtp2/srtp.h>
#include <stdlib.h>
#include <string.h>

struct crm_srtp {
  srtp_t session;
  bool is_outbound;
  size_t tag_count;
  size_t source_count;
  uint32_t sources[CRM_SRTP_SOURCES_MAX];
};

static bool set_policy(crm_profile profile, srtp_policy_t *policy, size_t *key_count, size_t *tag_count) {
  switch (profile) {
  case CRM_PROFILE_AES128_CM_SHA1_80:
    srtp_crypto_policy_set_aes_cm_128_hmac_sha1_80(&policy->rtp);
    srtp_crypto_policy_set_aes_cm_128_hmac_sha1_80(&policy->rtcp);
    *key_count = SRTP_AES_ICM_128_KEY_LEN_WSALT;
    *tag_count = 10;
    return true;
  case CRM_PROFILE_AEAD_AES_128_GCM:
    srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy->rtp);
    srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy->rtcp);
    *key_count = SRTP_AES_GCM_128_KEY_LEN_WSALT;
    *tag_count = 16;
    return true;
  case CRM_PROFILE_AEAD_AES_256_GCM:
    srtp_crypto_policy_set_aes_gcm_256_16_auth(&policy->rtp);
    srtp_crypto_policy_set_aes_gcm_256_16_auth(&policy->rtcp);
    *key_count = SRTP_AES_GCM_256_KEY_LEN_WSALT;
    *tag_count = 16;
    return true;
  case CRM_PROFILE_NONE: break;
  }
  return false;
}

crm_srtp *crm_srtp_create(crm_profile profile, const uint8_t *key_and_salt, size_t count, bool is_outbound) {
  if (!crm_prepare()) return NULL;
  srtp_policy_t policy;
  memset(&policy, 0, sizeof policy);
  size_t key_count, tag_count;
  if (!set_policy(profile, &policy, &key_count, &tag_count) || count != key_count) return NULL;
  // The library takes the key without const.
  uint8_t key[SRTP_MAX_KEY_LEN] = {0};
  memcpy(key, key_and_salt, count);
  policy.key = key;
  policy.ssrc.type = is_outbound ? ssrc_any_outbound : ssrc_any_inbound;
  policy.window_size = CRM_SRTP_WINDOW;
  crm_srtp *srtp = calloc(1, sizeof *srtp);
  if (srtp) {
    srtp->is_outbound = is_outbound;
    srtp->tag_count = tag_count;
    if (srtp_create(&srtp->session, &policy) != srtp_err_status_ok) {
      free(srtp);
      srtp = NULL;
    }
  }
  crm_wipe(key, sizeof key);
  return srtp;
}

void crm_srtp_free(crm_srtp *srtp) {
  if (!srtp) return;
  srtp_dealloc(srtp->session);
  free(srtp);
}

static uint32_t read_ssrc(const uint8_t *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/// Whether the header is all there (RFC 3550 section 5.1), with at least `trailer` bytes behind it.
static bool is_rtp_packet(const uint8_t *bytes, size_t count, size_t trailer) {
  if (count < 12 + trailer || bytes[0] >> 6 != 2) return false;
  size_t header = 12 + 4 * (size_t)(bytes[0] & 0x0f);
  if (bytes[0] & 0x10) {
    if (count < header + 4 + trailer) return false;
    header += 4 + 4 * ((size_t)bytes[header + 2] << 8 | bytes[header + 3]);
  }
  return count >= header + trailer;
}

static bool is_rtcp_packet(const uint8_t *bytes, size_t count, size_t trailer) {
  return count >= 8 + trailer && bytes[0] >> 6 == 2;
}

static size_t find_source(const crm_srtp *srtp, uint32_t ssrc) {
  size_t i = 0;
  while (i < srtp->source_count && srtp->sources[i] != ssrc) i++;
  return i;
}

static crm_srtp_status status_of(srtp_err_status_t status) {
  switch (status) {
  case srtp_err_status_ok: return CRM_SRTP_OK;
  case srtp_err_status_replay_fail: return CRM_SRTP_REPLAYED;
  case srtp_err_status_replay_old:
  case srtp_err_status_pkt_idx_old: return CRM_SRTP_OLD;
  case srtp_err_status_auth_fail: return CRM_SRTP_UNAUTHENTIC;
  case srtp_err_status_key_expired: return CRM_SRTP_KEY_EXPIRED;
  case srtp_err_status_alloc_fail: return CRM_SRTP_NO_MEMORY;
  case srtp_err_status_bad_param:
  case srtp_err_status_parse_err: return CRM_SRTP_MALFORMED;
  default: return CRM_SRTP_INTERNAL;
  }
}

/// Which sources there are is known only after authentication: an attacker cannot fill the list.
static crm_srtp_status run(crm_srtp *srtp, uint8_t *packet, size_t *count, bool is_rtcp,
                           srtp_err_status_t (*change)(srtp_t, void *, int *)) {
  uint32_t ssrc = read_ssrc(packet + (is_rtcp ? 4 : 8));
  size_t place = find_source(srtp, ssrc);
  if (place == CRM_SRTP_SOURCES_MAX) return CRM_SRTP_TOO_MANY_SOURCES;
  int length = (int)*count;
  srtp_err_status_t result = change(srtp->session, packet, &length);
  if (!srtp->is_outbound) {
    // A cipher of NSS does not tell a wrong tag from other failures; and a report that says of itself that it is not
    // encrypted is not looked at further.
    if (result == srtp_err_status_cipher_fail || result == srtp_err_status_cant_check) return CRM_SRTP_UNAUTHENTIC;
  }
  if (result != srtp_err_status_ok) return status_of(result);
  if (place == srtp->source_count) srtp->sources[srtp->source_count++] = ssrc;
  *count = (size_t)length;
  return CRM_SRTP_OK;
}

enum { packet_max = 65535 };

crm_srtp_status crm_srtp_protect(crm_srtp *srtp, uint8_t *packet, size_t *count, bool is_rtcp) {
  if (!srtp->is_outbound) return CRM_SRTP_INTERNAL;
  if (*count > packet_max) return CRM_SRTP_MALFORMED;
  if (is_rtcp) {
    if (!is_rtcp_packet(packet, *count, 0)) return CRM_SRTP_MALFORMED;
    return run(srtp, packet, count, true, srtp_protect_rtcp);
  }
  if (!is_rtp_packet(packet, *count, 0)) return CRM_SRTP_MALFORMED;
  return run(srtp, packet, count, false, srtp_protect);
}

crm_srtp_status crm_srtp_unprotect(crm_srtp *srtp, uint8_t *packet, size_t *count, bool is_rtcp) {
  if (srtp->is_outbound) return CRM_SRTP_INTERNAL;
  if (*count > packet_max) return CRM_SRTP_MALFORMED;
  if (is_rtcp) {
    // Behind the tag of AES-CM, or before that of GCM, are four bytes of an index.
    if (!is_rtcp_packet(packet, *count, srtp->tag_count + 4)) return CRM_SRTP_MALFORMED;
    return run(srtp, packet, count, true, srtp_unprotect_rtcp);
  }
  if (!is_rtp_packet(packet, *count, srtp->tag_count)) return CRM_SRTP_MALFORMED;
  return run(srtp, packet, count, false, srtp_unprotect);
}
