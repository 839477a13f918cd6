#include "library.h"

#include <openssl/crypto.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <srtp2/srtp.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_ready;
static BIO_METHOD *datagram_method;
// Where libsrtp uses NSS, NSS shuts down with the last cipher and starts anew with the next one. This one stays.
static srtp_t permanent;

static void prepare(void) {
  // Threads may still be at work while the process exits: the library must not be taken down under them.
  if (OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, NULL) != 1) return;
  datagram_method = crm_datagram_method_create();
  if (!datagram_method || srtp_init() != srtp_err_status_ok) return;
  static uint8_t nothing[SRTP_AES_GCM_128_KEY_LEN_WSALT];
  srtp_policy_t policy = {.ssrc = {.type = ssrc_any_outbound}, .key = nothing};
  srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtp);
  srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtcp);
  is_ready = srtp_create(&permanent, &policy) == srtp_err_status_ok;
}

bool crm_prepare(void) { return pthread_once(&once, prepare) == 0 && is_ready; }

const BIO_METHOD *crm_datagram_method(void) { return datagram_method; }

void crm_wipe(void *bytes, size_t count) { OPENSSL_cleanse(bytes, count); }
