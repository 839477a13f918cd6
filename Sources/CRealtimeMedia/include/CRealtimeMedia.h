#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// What real-time media needs of OpenSSL, libsrtp2 and libopus. No function blocks, waits or calls back; an object is
/// for one thread at a time, except certificates, which any number of threads may use at once.

/// Makes the libraries ready, once for the process; may be called from any thread, any number of times. Every function
/// that creates something calls it. Returns whether they are ready.
bool crm_prepare(void);

/// Overwrites a secret in a way that the compiler does not leave out.
void crm_wipe(void *bytes, size_t count);

// DTLS 1.2 (RFC 6347) with use_srtp (RFC 5764).

typedef enum {
  CRM_SHA256 = 0,
  CRM_SHA384 = 1,
  CRM_SHA512 = 2,
} crm_hash;

typedef enum {
  CRM_PROFILE_NONE = 0,
  CRM_PROFILE_AES128_CM_SHA1_80 = 1,
  CRM_PROFILE_AEAD_AES_128_GCM = 7,
  CRM_PROFILE_AEAD_AES_256_GCM = 8,
} crm_profile;

enum {
  /// The longest hash of `crm_hash`.
  CRM_HASH_MAX = 64,
  /// Room for the largest datagram that DTLS makes.
  CRM_DATAGRAM_MAX = 1200,
};

/// A self-signed certificate of ECDSA on P-256 with its private key. It is never changed.
typedef struct crm_certificate crm_certificate;

/// Makes a certificate, or returns NULL.
crm_certificate *crm_certificate_create(void);
void crm_certificate_free(crm_certificate *certificate);
/// Writes a hash of its DER form and returns its length; 0 on an error.
size_t crm_certificate_fingerprint(const crm_certificate *certificate, crm_hash function,
                                   uint8_t hash[CRM_HASH_MAX]);

typedef struct crm_dtls crm_dtls;

typedef enum {
  CRM_DTLS_NEW = 0,
  CRM_DTLS_HANDSHAKING,
  CRM_DTLS_ESTABLISHED,
  /// The other side ended it, or this one.
  CRM_DTLS_CLOSED,
  CRM_DTLS_FAILED,
} crm_dtls_state_value;

typedef enum {
  CRM_DTLS_NO_FAILURE = 0,
  /// A flight was sent as often as may be, and no answer came.
  CRM_DTLS_TIMED_OUT,
  /// The other side's certificate has none of the fingerprints.
  CRM_DTLS_WRONG_FINGERPRINT,
  /// The other side sent a fatal alert.
  CRM_DTLS_ALERTED,
  /// There is no SRTP profile that both know.
  CRM_DTLS_NO_PROFILE,
  /// The other side broke the protocol.
  CRM_DTLS_PROTOCOL,
  /// There was no memory, or a library failed.
  CRM_DTLS_INTERNAL,
} crm_dtls_failure_value;

/// Makes a connection that keeps the certificate alive, or returns NULL. The profiles are values of `crm_profile`,
/// the most wanted one first. Times are in microseconds of real time, which OpenSSL reads by itself.
crm_dtls *crm_dtls_create(const crm_certificate *certificate, bool is_client, const crm_profile *profiles,
                          size_t profile_count, uint32_t first_timeout, uint32_t longest_timeout);
void crm_dtls_free(crm_dtls *dtls);

/// Adds a fingerprint that the other side's certificate may have. Without one no certificate is accepted. Returns
/// false without memory, or if the length does not fit the function.
bool crm_dtls_accept(crm_dtls *dtls, crm_hash function, const uint8_t *hash, size_t count);

/// Begins the handshake; the client sends its first flight.
void crm_dtls_start(crm_dtls *dtls);
/// Takes in a datagram. What is no DTLS record is dropped.
void crm_dtls_receive(crm_dtls *dtls, const uint8_t *datagram, size_t count);
/// Sends the last flight again if it is due.
void crm_dtls_handle_timeout(crm_dtls *dtls);
/// The microseconds until `crm_dtls_handle_timeout` is due; -1 if nothing is awaited.
int64_t crm_dtls_timeout(crm_dtls *dtls);
/// Sends close_notify, if there is a connection, and ends it.
void crm_dtls_close(crm_dtls *dtls);

/// Takes out the next datagram to send; 0 if there is none.
size_t crm_dtls_take(crm_dtls *dtls, uint8_t datagram[CRM_DATAGRAM_MAX]);

crm_dtls_state_value crm_dtls_state(const crm_dtls *dtls);
crm_dtls_failure_value crm_dtls_failure(const crm_dtls *dtls);
/// The description of the other side's fatal alert; -1 if none came.
int crm_dtls_alert(const crm_dtls *dtls);
/// What the library says of the failure, or NULL; a constant text without anything of the peer in it.
const char *crm_dtls_reason(const crm_dtls *dtls);

/// The keys of both directions; each is followed by its salt.
typedef struct {
  crm_profile profile;
  size_t key_count;
  size_t salt_count;
  uint8_t local[32 + 14];
  uint8_t remote[32 + 14];
} crm_dtls_keys;

/// Exports the keys of SRTP (RFC 5764 section 4.2) of a connection that was established, after the certificate was
/// compared. The caller wipes them.
bool crm_dtls_export(crm_dtls *dtls, crm_dtls_keys *keys);

// SRTP (RFC 3711, RFC 7714).

typedef struct crm_srtp crm_srtp;

typedef enum {
  CRM_SRTP_OK = 0,
  /// It is no packet of RTP or RTCP, or too short for its trailer.
  CRM_SRTP_MALFORMED,
  CRM_SRTP_UNAUTHENTIC,
  CRM_SRTP_REPLAYED,
  /// It is older than the replay window.
  CRM_SRTP_OLD,
  CRM_SRTP_KEY_EXPIRED,
  /// There are already as many sources as may be.
  CRM_SRTP_TOO_MANY_SOURCES,
  CRM_SRTP_NO_MEMORY,
  CRM_SRTP_INTERNAL,
} crm_srtp_status;

enum {
  /// The bytes that a protected packet may have more than the plain one.
  CRM_SRTP_OVERHEAD = 16 + 4,
  /// Packets below the newest one that are still accepted.
  CRM_SRTP_WINDOW = 1024,
  /// The most sources in one direction.
  CRM_SRTP_SOURCES_MAX = 256,
};

/// Makes a context for one direction, with any number of sources up to the limit; NULL without memory or if the length
/// is not that of the profile. The library copies the key, and wipes its copy.
crm_srtp *crm_srtp_create(crm_profile profile, const uint8_t *key_and_salt, size_t count, bool is_outbound);
void crm_srtp_free(crm_srtp *srtp);

/// Change a packet in place. The buffer starts at a multiple of four bytes; to protect, it has room for
/// `CRM_SRTP_OVERHEAD` bytes more. After a failure its contents mean nothing.
crm_srtp_status crm_srtp_protect(crm_srtp *srtp, uint8_t *packet, size_t *count, bool is_rtcp);
crm_srtp_status crm_srtp_unprotect(crm_srtp *srtp, uint8_t *packet, size_t *count, bool is_rtcp);

// Opus (RFC 6716), one channel at 48 kHz.

typedef struct crm_opus_encoder crm_opus_encoder;
typedef struct crm_opus_decoder crm_opus_decoder;

/// Results below zero.
enum {
  CRM_OPUS_BAD_ARGUMENT = -1,
  CRM_OPUS_BUFFER_TOO_SMALL = -2,
  CRM_OPUS_INTERNAL = -3,
  CRM_OPUS_INVALID_PACKET = -4,
  CRM_OPUS_NO_MEMORY = -7,
};

/// Makes an encoder for speech, or returns NULL.
crm_opus_encoder *crm_opus_encoder_create(void);
void crm_opus_encoder_free(crm_opus_encoder *encoder);
/// Each returns 0 or an error.
int crm_opus_encoder_set_bitrate(crm_opus_encoder *encoder, int32_t bits_per_second);
int crm_opus_encoder_set_expected_loss(crm_opus_encoder *encoder, int32_t percent);
int crm_opus_encoder_set_fec(crm_opus_encoder *encoder, bool is_on);
int crm_opus_encoder_set_dtx(crm_opus_encoder *encoder, bool is_on);
int crm_opus_encoder_set_complexity(crm_opus_encoder *encoder, int32_t complexity);
/// Forgets the audio so far, not the settings.
int crm_opus_encoder_reset(crm_opus_encoder *encoder);
/// Returns the length of the payload or an error; a payload of up to two bytes need not be sent.
int crm_opus_encode(crm_opus_encoder *encoder, const int16_t *samples, int32_t count, uint8_t *payload,
                    int32_t capacity);

/// Makes a decoder, or returns NULL.
crm_opus_decoder *crm_opus_decoder_create(void);
void crm_opus_decoder_free(crm_opus_decoder *decoder);
int crm_opus_decoder_reset(crm_opus_decoder *decoder);
/// The samples in a payload, or an error.
int crm_opus_sample_count(const uint8_t *payload, int32_t count);
/// Decodes a payload; with `is_recovery`, the `capacity` samples before it from what it holds of them. Without a
/// payload, makes up `capacity` samples. Returns the number of samples or an error.
int crm_opus_decode(crm_opus_decoder *decoder, const uint8_t *payload, int32_t count, int16_t *samples,
                    int32_t capacity, bool is_recovery);
