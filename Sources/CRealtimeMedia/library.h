#pragma once

#include <openssl/bio.h>
#include <openssl/ssl.h>
#include "CRealtimeMedia.h"

/// Makes the method of a BIO that keeps the borders of datagrams; NULL without memory.
BIO_METHOD *crm_datagram_method_create(void);
/// The one that `crm_prepare` made.
const BIO_METHOD *crm_datagram_method(void);

/// Datagrams between OpenSSL and its user.
typedef struct crm_datagrams crm_datagrams;

crm_datagrams *crm_datagrams_create(void);
void crm_datagrams_free(crm_datagrams *datagrams);
/// Makes the BIO of a connection, which does not own the datagrams; or returns NULL.
BIO *crm_datagrams_bio(crm_datagrams *datagrams);
/// Sets what is read next; the bytes are borrowed until the next call. NULL takes back what was not read.
void crm_datagrams_offer(crm_datagrams *datagrams, const uint8_t *bytes, size_t count);
size_t crm_datagrams_take(crm_datagrams *datagrams, uint8_t bytes[CRM_DATAGRAM_MAX]);

/// The settings for all connections with a certificate.
SSL_CTX *crm_certificate_context(const crm_certificate *certificate);

/// Replaces the check of the other side's chain: who it is follows from the session description alone (RFC 5763
/// section 5). The handshake proves that it has the certificate's private key.
int crm_dtls_verify(X509_STORE_CTX *store, void *unused);

/// NULL if there is no such function.
const EVP_MD *crm_digest(crm_hash function);
/// Writes a hash of a certificate and returns its length; 0 on an error.
size_t crm_hash_certificate(const X509 *certificate, crm_hash function, uint8_t hash[CRM_HASH_MAX]);
