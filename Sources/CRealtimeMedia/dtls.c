#include "library.h"

#include <openssl/err.h>
#include <openssl/srtp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

typedef struct {
  crm_hash function;
  uint8_t bytes[CRM_HASH_MAX];
} fingerprint;

struct crm_dtls {
  SSL *ssl;
  crm_datagrams *datagrams;
  crm_dtls_state_value state;
  crm_dtls_failure_value failure;
  int alert;
  const char *reason;
  bool is_client;
  /// Whether the other side's certificate was compared and is the right one.
  bool is_peer_known;
  bool was_established;
  uint32_t first_timeout;
  uint32_t longest_timeout;
  fingerprint *fingerprints;
  size_t fingerprint_count;
};

static bool is_expected(const crm_dtls *dtls, const X509 *certificate) {
  for (size_t i = 0; i < dtls->fingerprint_count; i++) {
    const fingerprint *expected = &dtls->fingerprints[i];
    uint8_t actual[CRM_HASH_MAX];
    size_t count = crm_hash_certificate(certificate, expected->function, actual);
    if (count > 0 && CRYPTO_memcmp(actual, expected->bytes, count) == 0) return true;
  }
  return false;
}

int crm_dtls_verify(X509_STORE_CTX *store, void *unused) {
  (void)unused;
  SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
  crm_dtls *dtls = ssl ? SSL_get_app_data(ssl) : NULL;
  const X509 *certificate = X509_STORE_CTX_get0_cert(store);
  if (dtls && certificate && is_expected(dtls, certificate)) {
    dtls->is_peer_known = true;
    X509_STORE_CTX_set_error(store, X509_V_OK);
    return 1;
  }
  if (dtls) dtls->failure = CRM_DTLS_WRONG_FINGERPRINT;
  // Becomes the alert bad_certificate (RFC 8122 section 6.2).
  X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED);
  return 0;
}

static void noticed(const SSL *ssl, int place, int value) {
  crm_dtls *dtls = SSL_get_app_data(ssl);
  if (dtls && place == SSL_CB_READ_ALERT && (value >> 8) == SSL3_AL_FATAL) dtls->alert = value & 0xff;
}

static unsigned int next_timeout(SSL *ssl, unsigned int previous) {
  const crm_dtls *dtls = SSL_get_app_data(ssl);
  if (!dtls) return 1000000;
  if (previous == 0) return dtls->first_timeout;
  return previous > dtls->longest_timeout / 2 ? dtls->longest_timeout : previous * 2;
}

static const char *profile_name(crm_profile profile) {
  switch (profile) {
  case CRM_PROFILE_AES128_CM_SHA1_80: return "SRTP_AES128_CM_SHA1_80";
  case CRM_PROFILE_AEAD_AES_128_GCM: return "SRTP_AEAD_AES_128_GCM";
  case CRM_PROFILE_AEAD_AES_256_GCM: return "SRTP_AEAD_AES_256_GCM";
  case CRM_PROFILE_NONE: break;
  }
  return NULL;
}

static bool offer_profiles(SSL *ssl, const crm_profile *profiles, size_t count) {
  char names[128] = "";
  if (count == 0 || count > 4) return false;
  for (size_t i = 0; i < count; i++) {
    const char *name = profile_name(profiles[i]);
    if (!name) return false;
    if (i > 0) strcat(names, ":");
    strcat(names, name);
  }
  // This one function returns 0 if all is well.
  return SSL_set_tlsext_use_srtp(ssl, names) == 0;
}

crm_dtls *crm_dtls_create(const crm_certificate *certificate, bool is_client, const crm_profile *profiles,
                          size_t profile_count, uint32_t first_timeout, uint32_t longest_timeout) {
  if (!crm_prepare()) return NULL;
  crm_dtls *dtls = calloc(1, sizeof *dtls);
  if (!dtls) return NULL;
  dtls->alert = -1;
  dtls->is_client = is_client;
  // Without a time OpenSSL would take the timer for switched off.
  dtls->first_timeout = first_timeout > 0 ? first_timeout : 1;
  dtls->longest_timeout = longest_timeout > dtls->first_timeout ? longest_timeout : dtls->first_timeout;
  dtls->datagrams = crm_datagrams_create();
  dtls->ssl = SSL_new(crm_certificate_context(certificate));
  BIO *bio = dtls->datagrams ? crm_datagrams_bio(dtls->datagrams) : NULL;
  if (!dtls->ssl || !bio || !offer_profiles(dtls->ssl, profiles, profile_count) ||
      SSL_set_app_data(dtls->ssl, dtls) != 1) {
    BIO_free(bio);
    crm_dtls_free(dtls);
    ERR_clear_error();
    return NULL;
  }
  SSL_set_bio(dtls->ssl, bio, bio);
  SSL_set_verify(dtls->ssl, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
  SSL_set_info_callback(dtls->ssl, noticed);
  DTLS_set_timer_cb(dtls->ssl, next_timeout);
  SSL_set_mtu(dtls->ssl, CRM_DATAGRAM_MAX);
  if (is_client) {
    SSL_set_connect_state(dtls->ssl);
  } else {
    SSL_set_accept_state(dtls->ssl);
  }
  return dtls;
}

void crm_dtls_free(crm_dtls *dtls) {
  if (!dtls) return;
  SSL_free(dtls->ssl);
  crm_datagrams_free(dtls->datagrams);
  free(dtls->fingerprints);
  free(dtls);
}

bool crm_dtls_accept(crm_dtls *dtls, crm_hash function, const uint8_t *hash, size_t count) {
  const EVP_MD *md = crm_digest(function);
  if (!md || count != (size_t)EVP_MD_get_size(md) || count > CRM_HASH_MAX) return false;
  fingerprint *more = realloc(dtls->fingerprints, (dtls->fingerprint_count + 1) * sizeof *more);
  if (!more) return false;
  dtls->fingerprints = more;
  fingerprint *last = &more[dtls->fingerprint_count++];
  last->function = function;
  memcpy(last->bytes, hash, count);
  return true;
}

/// Ends the connection by what the library reports of its last step.
static void fail(crm_dtls *dtls) {
  unsigned long error = ERR_peek_error();
  dtls->state = CRM_DTLS_FAILED;
  if (dtls->failure == CRM_DTLS_NO_FAILURE) {
    if (dtls->alert >= 0) {
      dtls->failure = CRM_DTLS_ALERTED;
    } else if (ERR_GET_LIB(error) != ERR_LIB_SSL) {
      dtls->failure = error == 0 || ERR_GET_REASON(error) == ERR_R_MALLOC_FAILURE ? CRM_DTLS_INTERNAL
                                                                                  : CRM_DTLS_PROTOCOL;
    } else {
      dtls->failure =
          ERR_GET_REASON(error) == SSL_R_READ_TIMEOUT_EXPIRED ? CRM_DTLS_TIMED_OUT : CRM_DTLS_PROTOCOL;
    }
  }
  dtls->reason = error ? ERR_reason_error_string(error) : NULL;
}

static void handshake_ended(crm_dtls *dtls) {
  if (!dtls->is_peer_known) {
    dtls->failure = CRM_DTLS_WRONG_FINGERPRINT;
    dtls->state = CRM_DTLS_FAILED;
  } else if (!SSL_get_selected_srtp_profile(dtls->ssl)) {
    SSL_shutdown(dtls->ssl);
    dtls->failure = CRM_DTLS_NO_PROFILE;
    dtls->state = CRM_DTLS_FAILED;
  } else {
    dtls->was_established = true;
    dtls->state = CRM_DTLS_ESTABLISHED;
  }
}

/// Looks at what a step of the library returned. Returns whether there may be more to read.
static bool look(crm_dtls *dtls, int result) {
  switch (SSL_get_error(dtls->ssl, result)) {
  case SSL_ERROR_NONE: return true;
  case SSL_ERROR_WANT_READ:
  case SSL_ERROR_WANT_WRITE: return false;
  case SSL_ERROR_ZERO_RETURN:
    // The answer to close_notify.
    if (dtls->state == CRM_DTLS_ESTABLISHED) SSL_shutdown(dtls->ssl);
    dtls->state = CRM_DTLS_CLOSED;
    return false;
  default: fail(dtls); return false;
  }
}

static void advance(crm_dtls *dtls) {
  ERR_clear_error();
  if (dtls->state == CRM_DTLS_HANDSHAKING) {
    int result = SSL_do_handshake(dtls->ssl);
    if (result == 1) {
      handshake_ended(dtls);
    } else {
      look(dtls, result);
    }
  }
  // Application data has no use here. Reading it answers repeated flights and finds alerts.
  uint8_t ignored[2048];
  bool is_more = dtls->state == CRM_DTLS_ESTABLISHED;
  while (is_more) is_more = look(dtls, SSL_read(dtls->ssl, ignored, sizeof ignored));
  crm_datagrams_offer(dtls->datagrams, NULL, 0);
  ERR_clear_error();
}

static bool is_open(const crm_dtls *dtls) {
  return dtls->state == CRM_DTLS_HANDSHAKING || dtls->state == CRM_DTLS_ESTABLISHED;
}

void crm_dtls_start(crm_dtls *dtls) {
  if (dtls->state != CRM_DTLS_NEW) return;
  dtls->state = CRM_DTLS_HANDSHAKING;
  advance(dtls);
}

/// OpenSSL reads a warning over and over, and then ends the connection because of so many. One that is not encrypted
/// can be left out.
static bool is_plain_warning(const uint8_t *record, size_t length) {
  return record[0] == SSL3_RT_ALERT && record[3] == 0 && record[4] == 0 && length == DTLS1_RT_HEADER_LENGTH + 2 &&
         record[13] == SSL3_AL_WARNING && record[14] != SSL_AD_CLOSE_NOTIFY;
}

/// RFC 6347 section 4.1: whether a datagram is made of records, by their types, versions and lengths. OpenSSL ends a
/// handshake over a record of a type that it does not know.
static bool is_acceptable(const uint8_t *bytes, size_t count) {
  if (count == 0) return false;
  while (count > 0) {
    if (count < DTLS1_RT_HEADER_LENGTH) return false;
    if (bytes[0] < SSL3_RT_CHANGE_CIPHER_SPEC || bytes[0] > SSL3_RT_APPLICATION_DATA) return false;
    if (bytes[1] != 0xfe || (bytes[2] != 0xff && bytes[2] != 0xfd)) return false;
    size_t length = DTLS1_RT_HEADER_LENGTH + ((size_t)bytes[11] << 8 | bytes[12]);
    if (length > count || is_plain_warning(bytes, length)) return false;
    bytes += length;
    count -= length;
  }
  return true;
}

void crm_dtls_receive(crm_dtls *dtls, const uint8_t *datagram, size_t count) {
  if (!is_open(dtls) || !is_acceptable(datagram, count)) return;
  crm_datagrams_offer(dtls->datagrams, datagram, count);
  advance(dtls);
}

void crm_dtls_handle_timeout(crm_dtls *dtls) {
  if (dtls->state != CRM_DTLS_HANDSHAKING) return;
  ERR_clear_error();
  if (DTLSv1_handle_timeout(dtls->ssl) < 0) fail(dtls);
  ERR_clear_error();
}

int64_t crm_dtls_timeout(crm_dtls *dtls) {
  struct timeval left;
  if (dtls->state != CRM_DTLS_HANDSHAKING || DTLSv1_get_timeout(dtls->ssl, &left) != 1) return -1;
  int64_t time = (int64_t)left.tv_sec * 1000000 + left.tv_usec;
  return time > 0 ? time : 0;
}

void crm_dtls_close(crm_dtls *dtls) {
  if (dtls->state == CRM_DTLS_ESTABLISHED) {
    ERR_clear_error();
    SSL_shutdown(dtls->ssl);
    ERR_clear_error();
  }
  if (dtls->state != CRM_DTLS_FAILED) dtls->state = CRM_DTLS_CLOSED;
}

size_t crm_dtls_take(crm_dtls *dtls, uint8_t datagram[CRM_DATAGRAM_MAX]) {
  return crm_datagrams_take(dtls->datagrams, datagram);
}

crm_dtls_state_value crm_dtls_state(const crm_dtls *dtls) { return dtls->state; }
crm_dtls_failure_value crm_dtls_failure(const crm_dtls *dtls) { return dtls->failure; }
int crm_dtls_alert(const crm_dtls *dtls) { return dtls->alert; }
const char *crm_dtls_reason(const crm_dtls *dtls) { return dtls->reason; }

bool crm_dtls_export(crm_dtls *dtls, crm_dtls_keys *keys) {
  memset(keys, 0, sizeof *keys);
  if (!dtls->was_established || !dtls->is_peer_known) return false;
  const SRTP_PROTECTION_PROFILE *profile = SSL_get_selected_srtp_profile(dtls->ssl);
  if (!profile) return false;
  switch (profile->id) {
  case SRTP_AES128_CM_SHA1_80: keys->key_count = 16, keys->salt_count = 14; break;
  case SRTP_AEAD_AES_128_GCM: keys->key_count = 16, keys->salt_count = 12; break;
  case SRTP_AEAD_AES_256_GCM: keys->key_count = 32, keys->salt_count = 12; break;
  default: return false;
  }
  keys->profile = (crm_profile)profile->id;
  static const char label[] = "EXTRACTOR-dtls_srtp";
  uint8_t material[2 * (32 + 14)];
  size_t key = keys->key_count, salt = keys->salt_count;
  ERR_clear_error();
  bool is_exported = SSL_export_keying_material(dtls->ssl, material, 2 * (key + salt), label, sizeof label - 1,
                                                NULL, 0, 0) == 1;
  ERR_clear_error();
  if (is_exported) {
    // In the order client's key, server's key, client's salt, server's salt.
    uint8_t *client = dtls->is_client ? keys->local : keys->remote;
    uint8_t *server = dtls->is_client ? keys->remote : keys->local;
    memcpy(client, material, key);
    memcpy(server, material + key, key);
    memcpy(client + key, material + 2 * key, salt);
    memcpy(server + key, material + 2 * key + salt, salt);
  }
  crm_wipe(material, sizeof material);
  return is_exported;
}
