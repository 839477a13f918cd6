#include "library.h"

#include <stdlib.h>
#include <string.h>

/// A handshake has some five datagrams at once. What nobody takes out must not grow without end.
enum { queue_max = 32 };

typedef struct {
  size_t count;
  uint8_t bytes[CRM_DATAGRAM_MAX];
} datagram;

struct crm_datagrams {
  const uint8_t *incoming;
  size_t incoming_count;
  size_t first;
  size_t count;
  datagram *queue[queue_max];
};

crm_datagrams *crm_datagrams_create(void) { return calloc(1, sizeof(crm_datagrams)); }

void crm_datagrams_free(crm_datagrams *datagrams) {
  if (!datagrams) return;
  for (size_t i = 0; i < queue_max; i++) free(datagrams->queue[i]);
  free(datagrams);
}

void crm_datagrams_offer(crm_datagrams *datagrams, const uint8_t *bytes, size_t count) {
  datagrams->incoming = bytes;
  datagrams->incoming_count = count;
}

size_t crm_datagrams_take(crm_datagrams *datagrams, uint8_t bytes[CRM_DATAGRAM_MAX]) {
  if (datagrams->count == 0) return 0;
  datagram *next = datagrams->queue[datagrams->first];
  datagrams->queue[datagrams->first] = NULL;
  datagrams->first = (datagrams->first + 1) % queue_max;
  datagrams->count--;
  size_t count = next->count;
  memcpy(bytes, next->bytes, count);
  free(next);
  return count;
}

static int datagram_write(BIO *bio, const char *bytes, int count) {
  crm_datagrams *datagrams = BIO_get_data(bio);
  BIO_clear_retry_flags(bio);
  if (!datagrams || count <= 0 || count > CRM_DATAGRAM_MAX) return -1;
  // As on a network, what does not fit is lost.
  if (datagrams->count == queue_max) return count;
  datagram *last = malloc(sizeof(datagram));
  if (!last) return -1;
  last->count = (size_t)count;
  memcpy(last->bytes, bytes, (size_t)count);
  datagrams->queue[(datagrams->first + datagrams->count) % queue_max] = last;
  datagrams->count++;
  return count;
}

static int datagram_read(BIO *bio, char *bytes, int capacity) {
  crm_datagrams *datagrams = BIO_get_data(bio);
  BIO_clear_retry_flags(bio);
  if (!datagrams || !datagrams->incoming || capacity <= 0) {
    BIO_set_retry_read(bio);
    return -1;
  }
  size_t count = datagrams->incoming_count;
  if (count > (size_t)capacity) count = (size_t)capacity;
  memcpy(bytes, datagrams->incoming, count);
  crm_datagrams_offer(datagrams, NULL, 0);
  return (int)count;
}

static long datagram_control(BIO *bio, int command, long number, void *pointer) {
  (void)bio;
  (void)number;
  (void)pointer;
  switch (command) {
  case BIO_CTRL_FLUSH: return 1;
  case BIO_CTRL_DGRAM_QUERY_MTU:
  case BIO_CTRL_DGRAM_GET_FALLBACK_MTU: return CRM_DATAGRAM_MAX;
  // The limit is that of the payload of UDP.
  case BIO_CTRL_DGRAM_GET_MTU_OVERHEAD:
  default: return 0;
  }
}

BIO_METHOD *crm_datagram_method_create(void) {
  int type = BIO_get_new_index();
  if (type == -1) return NULL;
  BIO_METHOD *method = BIO_meth_new(type | BIO_TYPE_SOURCE_SINK, "datagrams in memory");
  if (!method) return NULL;
  if (BIO_meth_set_write(method, datagram_write) != 1 || BIO_meth_set_read(method, datagram_read) != 1 ||
      BIO_meth_set_ctrl(method, datagram_control) != 1) {
    BIO_meth_free(method);
    return NULL;
  }
  return method;
}

BIO *crm_datagrams_bio(crm_datagrams *datagrams) {
  BIO *bio = BIO_new(crm_datagram_method());
  if (!bio) return NULL;
  BIO_set_data(bio, datagrams);
  BIO_set_init(bio, 1);
  return bio;
}
