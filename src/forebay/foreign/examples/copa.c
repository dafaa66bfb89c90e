/* SPDX-License-Identifier: 0BSD
 *
 * Copa (Arun and Balakrishnan 2018): the rate moves towards 1 / (delta dq), dq being the delay of the queue. It paces,
 * and sets cwnd itself: a loss is no decrease, but in competitive mode it halves 1 / delta. Section numbers are the
 * paper's.
 */
#include "forebay_cc.h"

#define SECOND 1000000000ull
#define DEFAULT_DELTA 0.5

/* The least of the last one to two `span`s. */
struct least {
	uint64_t before, now, since;
};

struct copa {
	struct least standing, propagation;
	uint64_t most_ns, most_since; /* largest round trip of the last four, for the mode */
	uint64_t round_end, emptied_round;
	double delta, velocity, cwnd_then;
	uint32_t rounds, same;
	uint8_t up, starts, lost;
};

static uint64_t seen(struct least *least, uint64_t now, uint64_t span, uint64_t value)
{
	if (now - least->since > span) {
		least->before = now - least->since > 2 * span ? value : least->now;
		least->now = value;
		least->since = now;
	} else if (value < least->now) {
		least->now = value;
	}
	return least->before < least->now ? least->before : least->now;
}

static void init(void *state, struct forebay_cc_window *window, const struct forebay_cc_flow *flow)
{
	struct copa *copa = state;

	(void)window;
	copa->standing = copa->propagation = (struct least){ UINT64_MAX, UINT64_MAX, flow->now_ns };
	copa->delta = DEFAULT_DELTA;
	copa->velocity = 1;
	copa->starts = copa->up = 1;
	copa->round_end = flow->snd_nxt;
}

/* Section 2.2: the queue is not nearly empty for five round trips if others fill it. */
static void choose_delta(struct copa *copa)
{
	if (copa->rounds - copa->emptied_round <= 5)
		copa->delta = DEFAULT_DELTA;
	else if (copa->lost)
		copa->delta = 2 * copa->delta < DEFAULT_DELTA ? 2 * copa->delta : DEFAULT_DELTA;
	else
		copa->delta = 1 / (1 + 1 / copa->delta);
	copa->lost = 0;
}

/* Section 2.1, step 4: the velocity doubles once the direction has held for three round trips. */
static void once_a_round(struct copa *copa, const struct forebay_cc_window *window)
{
	uint8_t up = window->cwnd > copa->cwnd_then;

	copa->same = up == copa->up ? copa->same + 1 : 0;
	copa->velocity = copa->same >= 3 ? 2 * copa->velocity : 1;
	if (copa->velocity > window->cwnd * copa->delta)
		copa->velocity = window->cwnd * copa->delta > 1 ? window->cwnd * copa->delta : 1;
	copa->up = up;
	copa->cwnd_then = window->cwnd;
	copa->rounds++;
	choose_delta(copa);
}

static void on_ack(void *state, struct forebay_cc_window *window, const struct forebay_cc_flow *flow)
{
	struct copa *copa = state;
	uint64_t standing, least;
	double queued, step;

	copa->lost |= flow->newly_lost > 0;
	if (!flow->rtt_ns || !flow->srtt_ns)
		return;
	least = seen(&copa->propagation, flow->now_ns, 5 * SECOND, flow->rtt_ns);
	standing = seen(&copa->standing, flow->now_ns, flow->srtt_ns / 4, flow->rtt_ns);
	if (flow->rtt_ns > copa->most_ns || flow->now_ns - copa->most_since > 4 * flow->srtt_ns) {
		copa->most_ns = flow->rtt_ns;
		copa->most_since = flow->now_ns;
	}
	queued = (double)(standing - least);
	if (queued <= 0.1 * (double)(copa->most_ns - least))
		copa->emptied_round = copa->rounds;
	step = flow->acked / (copa->delta * window->cwnd);
	/* cwnd / standing <= 1 / (delta dq), without a division by 0 */
	if (window->cwnd * copa->delta * queued <= (double)standing) {
		window->cwnd += copa->starts ? flow->acked : copa->velocity * step;
	} else {
		copa->starts = 0;
		window->cwnd -= copa->velocity * step;
	}
	if (window->cwnd < 2)
		window->cwnd = 2;
	if (window->cwnd > 1e6)
		window->cwnd = 1e6;
	window->pacing_rate = 2 * window->cwnd * 1e9 / (double)standing;
	if (flow->snd_una > copa->round_end) {
		copa->round_end = flow->snd_nxt;
		once_a_round(copa, window);
	}
}

static double ssthresh(void *state, const struct forebay_cc_window *window, const struct forebay_cc_flow *flow,
		       uint32_t event)
{
	struct copa *copa = state;

	(void)flow;
	copa->lost = 1;
	copa->starts = event == FOREBAY_CC_EVENT_TIMEOUT;
	return window->ssthresh;
}

const struct forebay_cc *forebay_cc(void)
{
	static const struct forebay_cc copa = {
		.abi = FOREBAY_CC_ABI,
		.size = sizeof(struct forebay_cc),
		.flags = FOREBAY_CC_PACES | FOREBAY_CC_CONTROLS_CWND,
		.state_bytes = sizeof(struct copa),
		.name = "copa",
		.init = init,
		.on_ack = on_ack,
		.ssthresh = ssthresh,
	};
	return &copa;
}
