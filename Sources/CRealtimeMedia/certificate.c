#include "library.h"

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <stdlib.h>

struct crm_certificate {
  // Its reference count is atomic, and nothing else of it changes once a connection uses it.
  SSL_CTX *context;
};

enum { day = 24 * 60 * 60 };

/// The names say nothing about the machine or the user. The other side does not look at the dates, only at the
/// fingerprint; those are for stacks that do, on machines with clocks that are not right.
static bool describe(X509 *x509, EVP_PKEY *key) {
  uint64_t serial;
  if (RAND_bytes((unsigned char *)&serial, sizeof serial) != 1) return false;
  X509_NAME *name = X509_get_subject_name(x509);
  return X509_set_version(x509, X509_VERSION_3) == 1 &&
         ASN1_INTEGER_set_uint64(X509_get_serialNumber(x509), (serial >> 1) | 1) == 1 &&
         X509_gmtime_adj(X509_getm_notBefore(x509), -day) &&
         X509_gmtime_adj(X509_getm_notAfter(x509), 365L * day) &&
         X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"WebRTC", -1, -1, 0) == 1 &&
         X509_set_issuer_name(x509, name) == 1 && X509_set_pubkey(x509, key) == 1 &&
         X509_sign(x509, key, EVP_sha256()) > 0;
}

/// RFC 8827 section 6.5: perfect forward secrecy and authenticated encryption. The suites with RSA are for a server
/// that has such a certificate.
static const char suites[] = "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305:"
                             "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES128-GCM-SHA256:"
                             "ECDHE-RSA-CHACHA20-POLY1305:ECDHE-RSA-AES256-GCM-SHA384";

static bool configure(SSL_CTX *context, X509 *x509, EVP_PKEY *key) {
  SSL_CTX_set_options(context, SSL_OP_NO_QUERY_MTU | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET |
                                   SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_cert_verify_callback(context, crm_dtls_verify, NULL);
  return SSL_CTX_set_min_proto_version(context, DTLS1_2_VERSION) == 1 &&
         SSL_CTX_set_max_proto_version(context, DTLS1_2_VERSION) == 1 &&
         SSL_CTX_set_cipher_list(context, suites) == 1 &&
         SSL_CTX_set1_groups_list(context, "X25519:P-256:P-384") == 1 &&
         SSL_CTX_use_certificate(context, x509) == 1 && SSL_CTX_use_PrivateKey(context, key) == 1 &&
         SSL_CTX_check_private_key(context) == 1;
}

crm_certificate *crm_certificate_create(void) {
  if (!crm_prepare()) return NULL;
  crm_certificate *certificate = calloc(1, sizeof *certificate);
  EVP_PKEY *key = EVP_EC_gen("P-256");
  X509 *x509 = X509_new();
  bool is_made = certificate && key && x509 && describe(x509, key) &&
                 (certificate->context = SSL_CTX_new(DTLS_method())) != NULL &&
                 configure(certificate->context, x509, key);
  X509_free(x509);
  EVP_PKEY_free(key);
  ERR_clear_error();
  if (is_made) return certificate;
  crm_certificate_free(certificate);
  return NULL;
}

void crm_certificate_free(crm_certificate *certificate) {
  if (!certificate) return;
  SSL_CTX_free(certificate->context);
  free(certificate);
}

size_t crm_certificate_fingerprint(const crm_certificate *certificate, crm_hash function,
                                   uint8_t hash[CRM_HASH_MAX]) {
  return crm_hash_certificate(SSL_CTX_get0_certificate(certificate->context), function, hash);
}

size_t crm_hash_certificate(const X509 *certificate, crm_hash function, uint8_t hash[CRM_HASH_MAX]) {
  const EVP_MD *digest = crm_digest(function);
  unsigned int count = 0;
  if (!certificate || !digest || X509_digest(certificate, digest, hash, &count) != 1) return 0;
  return count;
}

const EVP_MD *crm_digest(crm_hash function) {
  switch (function) {
  case CRM_SHA256: return EVP_sha256();
  case CRM_SHA384: return EVP_sha384();
  case CRM_SHA512: return EVP_sha512();
  }
  return NULL;
}

SSL_CTX *crm_certificate_context(const crm_certificate *certificate) { return certificate->context; }
