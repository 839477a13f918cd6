/* Preloaded (LD_PRELOAD) into a program, loses a share of the media packets that it sends: LOSS_PERCENT of those that RFC 7983
   tells as RTP or RTCP, chosen by LOSS_SEED and their number. Handshakes pass, so that calls come about as without loss. The
   same object is used for every program that is compared. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>

static atomic_uint_fast64_t count;

static int is_lost(const uint8_t *bytes, size_t length) {
  if (length < 12 || bytes[0] < 128 || bytes[0] > 191) return 0;
  const char *percent = getenv("LOSS_PERCENT"), *seed = getenv("LOSS_SEED");
  if (!percent) return 0;
  /* SplitMix64 of the packet's number: losses are independent and the same in each run. */
  uint64_t z = (atomic_fetch_add(&count, 1) + (seed ? strtoull(seed, NULL, 10) : 1) * 1000003) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  z ^= z >> 31;
  return (double)(z >> 11) / (double)(1ull << 53) < atof(percent) / 100;
}

static int message_is_lost(const struct msghdr *message) {
  return message->msg_iovlen > 0 && is_lost(message->msg_iov[0].iov_base, message->msg_iov[0].iov_len);
}

static ssize_t length_of(const struct msghdr *message) {
  ssize_t length = 0;
  for (size_t i = 0; i < message->msg_iovlen; i++) length += message->msg_iov[i].iov_len;
  return length;
}

#define REAL(name) \
  static __typeof__(name) *real; \
  if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

ssize_t sendto(int fd, const void *bytes, size_t length, int flags, const struct sockaddr *to, socklen_t size) {
  REAL(sendto);
  if (is_lost(bytes, length)) return (ssize_t)length;
  return real(fd, bytes, length, flags, to, size);
}

ssize_t send(int fd, const void *bytes, size_t length, int flags) {
  REAL(send);
  /* Streams pass: only a datagram may be lost. */
  int type = 0;
  socklen_t size = sizeof type;
  getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size);
  if (type == SOCK_DGRAM && is_lost(bytes, length)) return (ssize_t)length;
  return real(fd, bytes, length, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
  REAL(sendmsg);
  if (message->msg_name && message_is_lost(message)) return length_of(message);
  return real(fd, message, flags);
}

int sendmmsg(int fd, struct mmsghdr *messages, unsigned int number, int flags) {
  REAL(sendmmsg);
  /* One after the other: a lost one in the middle must look sent. */
  for (unsigned int i = 0; i < number; i++) {
    if (messages[i].msg_hdr.msg_name && message_is_lost(&messages[i].msg_hdr)) {
      messages[i].msg_len = (unsigned int)length_of(&messages[i].msg_hdr);
      continue;
    }
    int sent = real(fd, &messages[i], 1, flags);
    if (sent != 1) return i > 0 ? (int)i : sent;
  }
  return (int)number;
}
