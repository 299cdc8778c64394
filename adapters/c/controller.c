/* A congestion controller in C, as a start for your own:
 *
 *   cc -O2 -shared -fPIC -o controller.so controller.c -lm && weir judge library:./controller.so
 *
 * It lowers its rate when packets are lost or wait longer than before, else raises it slowly. */
#include "weir_controller.h"

#include <math.h>
#include <stdlib.h>

struct controller {
  double rate, low, high;
  double base;    /* the smallest delay so far, with the offset of the receiver's clock */
  double changed; /* the time of the last decrease */
  struct weir_signal queued;
};

uint32_t weir_controller_version(void) { return WEIR_CONTROLLER_VERSION; }

static void decide(const struct controller *self, struct weir_answer *answer) {
  answer->target_rate = self->rate;
  answer->signals = &self->queued;
  answer->signal_count = 1;
}

void *weir_controller_new(const struct weir_configuration *call, struct weir_answer *answer) {
  struct controller *self = calloc(1, sizeof *self);
  if (!self) return NULL;
  self->rate = call->start_rate;
  self->low = call->min_rate;
  self->high = call->max_rate;
  self->base = INFINITY;
  self->queued.name = "queued";
  answer->when_sent = WEIR_NEVER; /* the feedback repeats when each packet left */
  decide(self, answer);
  return self;
}

static void feedback(struct controller *self, const struct weir_message *message) {
  double sum = 0;
  size_t arrived = 0;
  for (size_t i = 0; i < message->result_count; i++) {
    const struct weir_result *result = &message->results[i];
    if (isnan(result->arrival)) continue;
    double delay = result->arrival - result->packet.sent;
    self->base = fmin(self->base, delay);
    sum += delay;
    arrived++;
  }
  double lost = message->result_count ? 1 - (double)arrived / (double)message->result_count : 0;
  double queued = arrived ? sum / (double)arrived - self->base : 0;
  if ((lost > 0.1 || queued > 0.05) && message->now - self->changed > 0.3) {
    self->rate *= 0.85;
    self->changed = message->now;
  } else if (queued < 0.02 && lost <= 0.1) {
    self->rate *= 1.01;
  }
  self->rate = fmin(fmax(self->rate, self->low), self->high);
  self->queued.value = queued;
}

void weir_controller_handle(void *controller, const struct weir_message *message,
                            struct weir_answer *answer) {
  struct controller *self = controller;
  self->queued.value = 0;
  if (message->kind == WEIR_PACKETS) feedback(self, message);
  decide(self, answer);
}

void weir_controller_free(void *controller) { free(controller); }
