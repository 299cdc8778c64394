/* A congestion controller as a shared library: controller = "library:PATH.so".
 *
 * Weir loads the library in a child process, one per direction of a call, and calls it from one
 * thread. Every message is answered, and the simulation waits for the answer. Times are seconds since
 * the start of the run, rates bit/s, sizes bytes. The library must not take the time or random
 * numbers from anywhere else, or runs cannot be repeated. The messages are described in
 * docs/guides/judge.md.
 *
 * Fields are only added with a new version. */
#ifndef WEIR_CONTROLLER_H
#define WEIR_CONTROLLER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_CONTROLLER_VERSION 1

/* The call. The text lives as long as the controller. */
struct weir_configuration {
  const char *call; /* its name and direction: main, or main.back from the callee */
  uint64_t seed;    /* of the run, for a controller that draws random numbers */
  double start_rate, min_rate, max_rate;
};

/* A packet that left the pacer. */
struct weir_packet {
  uint64_t sequence; /* transport-wide sequence number, unwrapped */
  double sent;       /* on the sender's clock */
  uint64_t size;     /* RTP header and payload */
  int64_t probe;     /* the probe cluster that it belongs to; -1: none */
};

/* The ECN field with which a packet arrived (RFC 3168). */
enum weir_ecn { WEIR_NOT_ECT, WEIR_ECT0, WEIR_ECT1, WEIR_CE };

/* A sent packet and the feedback about it. */
struct weir_result {
  struct weir_packet packet;
  double arrival; /* on the receiver's clock; not-a-number: lost */
  uint32_t ecn;   /* enum weir_ecn */
};

enum weir_kind {
  WEIR_SENT,    /* packets left; only after when_sent = WEIR_AT_ONCE */
  WEIR_PACKETS, /* transport-wide feedback or RFC 8888: results, rtt */
  WEIR_REPORT,  /* receiver report: fraction_lost, expected, rtt */
  WEIR_REMB,    /* the maximum rate that the receiver allows: remb */
  WEIR_TIMEOUT, /* next_timeout of the last answer is reached */
  WEIR_ALLOCATION /* the rates that the media can use: min_rate, max_rate; also at the begin */
};

/* A message. Fields of other kinds are zero, or not-a-number for rtt. Pointers are valid during the
 * call only. */
struct weir_message {
  uint32_t kind; /* enum weir_kind */
  double now;
  const struct weir_packet *sent; /* packets that left since the message before */
  size_t sent_count;
  const struct weir_result *results; /* in order of sequence number, each packet once */
  size_t result_count;
  double rtt;           /* the newest known round-trip time; not-a-number: unknown */
  double fraction_lost; /* 0 to 1, since the last report */
  uint64_t expected;    /* packets expected since the last report */
  double remb;
  double min_rate, max_rate; /* of all streams; max_rate 0: unknown */
};

/* A cluster of probe packets. */
struct weir_probe {
  uint32_t id;          /* greater than that of every cluster before */
  uint32_t min_packets; /* libwebrtc: 5 */
  double rate;
  double min_duration; /* libwebrtc: 0.015 */
};

/* An internal value, which is recorded. Use at most 100 names. */
struct weir_signal {
  const char *name;
  double value;
};

/* When the controller learns the packets that leave. */
enum weir_when_sent { WEIR_WITH_NEXT, WEIR_AT_ONCE, WEIR_NEVER };

/* The answer. Before each call, Weir sets target_rate, pacing_rate and next_timeout to not-a-number
 * and the rest to zero. Pointers must stay valid until the next call. */
struct weir_answer {
  double target_rate;  /* required */
  double pacing_rate;  /* not-a-number: 2.5 times the target */
  double next_timeout; /* later than now; not-a-number: none */
  const struct weir_probe *probes;
  size_t probe_count;
  const struct weir_signal *signals;
  size_t signal_count;
  uint32_t when_sent; /* enum weir_when_sent; read after weir_controller_new only */
};

/* The library exports these four functions. */

/* Returns WEIR_CONTROLLER_VERSION. */
uint32_t weir_controller_version(void);
/* Makes the controller; NULL if it cannot. */
void *weir_controller_new(const struct weir_configuration *, struct weir_answer *);
void weir_controller_handle(void *controller, const struct weir_message *, struct weir_answer *);
void weir_controller_free(void *controller);

#ifdef __cplusplus
}
#endif

#endif
