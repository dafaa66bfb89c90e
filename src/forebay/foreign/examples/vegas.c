/* SPDX-License-Identifier: 0BSD
 *
 * Vegas (Brakmo and Peterson 1995): once a round trip it compares the rate with that of an empty path, and holds
 * ALPHA to BETA segments in the queue. Losses are Reno's. Thresholds are those of Linux, as is that slow start doubles
 * every round trip, where the paper has every other.
 */
#include "forebay_cc.h"

#define ALPHA 2
#define BETA 4
#define GAMMA 1 /* slow start ends with more than this in the queue */
#define LEAST_SAMPLES 3

struct vegas {
	uint64_t round_end; /* the segment whose acknowledgement ends this round trip */
	uint64_t base_ns;   /* least round trip of the connection */
	uint64_t least_ns;  /* of this round trip */
	uint32_t samples, counted;
	uint8_t on; /* nothing is lost, marked or out of order */
};

static double larger(double one, double other) { return one > other ? one : other; }
static double smaller(double one, double other) { return one < other ? one : other; }

static void begin_round(struct vegas *vegas, const struct forebay_cc_flow *flow)
{
	vegas->round_end = flow->snd_nxt;
	vegas->least_ns = UINT64_MAX;
	vegas->samples = 0;
}

static void init(void *state, struct forebay_cc_window *window, const struct forebay_cc_flow *flow)
{
	struct vegas *vegas = state;

	(void)window;
	vegas->base_ns = UINT64_MAX;
	vegas->on = 1;
	begin_round(vegas, flow);
}

static void on_ack(void *state, struct forebay_cc_window *window, const struct forebay_cc_flow *flow)
{
	struct vegas *vegas = state;

	(void)window;
	if (!flow->rtt_ns)
		return;
	if (flow->rtt_ns < vegas->base_ns)
		vegas->base_ns = flow->rtt_ns;
	if (flow->rtt_ns < vegas->least_ns)
		vegas->least_ns = flow->rtt_ns;
	vegas->samples++;
}

/* RFC 5681, counted in whole segments. */
static void reno(struct vegas *vegas, struct forebay_cc_window *window, const struct forebay_cc_flow *flow)
{
	if (window->cwnd < window->ssthresh) {
		window->cwnd = smaller(window->cwnd + flow->acked, larger(window->ssthresh, window->cwnd));
		return;
	}
	vegas->counted += flow->acked;
	if (vegas->counted >= window->cwnd) {
		vegas->counted -= (uint32_t)window->cwnd;
		window->cwnd += 1;
	}
}

/* The segments of cwnd that wait in the queue: what the empty path would hold less is not in it. */
static double queued(const struct vegas *vegas, double cwnd)
{
	return cwnd - cwnd * (double)vegas->base_ns / (double)vegas->least_ns;
}

static void once_a_round(struct vegas *vegas, struct forebay_cc_window *window, const struct forebay_cc_flow *flow)
{
	double diff = queued(vegas, window->cwnd);

	if (window->cwnd < window->ssthresh) {
		if (diff <= GAMMA) {
			reno(vegas, window, flow);
			return;
		}
		window->cwnd = smaller(window->cwnd, (double)(uint32_t)(window->cwnd - diff) + 1);
		window->ssthresh = smaller(window->ssthresh, larger(window->cwnd - 1, 2));
	} else if (diff > BETA) {
		window->cwnd -= 1;
		window->ssthresh = smaller(window->ssthresh, larger(window->cwnd - 1, 2));
	} else if (diff < ALPHA) {
		window->cwnd += 1;
	}
	window->cwnd = larger(window->cwnd, 2);
}

static void cong_avoid(void *state, struct forebay_cc_window *window, const struct forebay_cc_flow *flow)
{
	struct vegas *vegas = state;

	if (!vegas->on) {
		reno(vegas, window, flow);
	} else if (flow->snd_una > vegas->round_end) {
		if (vegas->samples < LEAST_SAMPLES)
			reno(vegas, window, flow);
		else
			once_a_round(vegas, window, flow);
		begin_round(vegas, flow);
	} else if (window->cwnd < window->ssthresh) {
		reno(vegas, window, flow);
	}
}

static double ssthresh(void *state, const struct forebay_cc_window *window, const struct forebay_cc_flow *flow,
		       uint32_t event)
{
	(void)state;
	(void)flow;
	(void)event;
	return larger((uint32_t)window->cwnd / 2, 2);
}

static void on_loss_state(void *state, struct forebay_cc_window *window, const struct forebay_cc_flow *flow)
{
	struct vegas *vegas = state;

	(void)window;
	vegas->on = flow->phase == FOREBAY_CC_OPEN;
	if (vegas->on)
		begin_round(vegas, flow);
}

static void on_transmit_start(void *state, struct forebay_cc_window *window, const struct forebay_cc_flow *flow)
{
	struct vegas *vegas = state;

	(void)window;
	vegas->on = 1;
	begin_round(vegas, flow);
}

const struct forebay_cc *forebay_cc(void)
{
	static const struct forebay_cc vegas = {
		.abi = FOREBAY_CC_ABI,
		.size = sizeof(struct forebay_cc),
		.state_bytes = sizeof(struct vegas),
		.name = "vegas",
		.init = init,
		.on_ack = on_ack,
		.cong_avoid = cong_avoid,
		.ssthresh = ssthresh,
		.on_loss_state = on_loss_state,
		.on_transmit_start = on_transmit_start,
	};
	return &vegas;
}
