/* SPDX-License-Identifier: 0BSD
 *
 * Additive increase, multiplicative decrease (RFC 5681), as Linux counts it: whole segments. The simulator's
 * `reno` gives the same numbers. Build it with: forebay controls build aimd.c
 */
#include "forebay_cc.h"

struct aimd {
	uint32_t counted; /* segments acknowledged towards the next increase */
};

static void cong_avoid(void *state, struct forebay_cc_window *window, const struct forebay_cc_flow *flow)
{
	struct aimd *aimd = state;
	uint32_t acked = flow->acked, every;

	if (window->cwnd < window->ssthresh) { /* slow start: RFC 5681, section 3.1 */
		double room = window->ssthresh - window->cwnd;

		if (acked <= room) {
			window->cwnd += acked;
			return;
		}
		window->cwnd = window->ssthresh;
		acked -= (uint32_t)room;
	}
	every = (uint32_t)window->cwnd; /* equation 3 */
	if (aimd->counted >= every) {
		aimd->counted = 0;
		window->cwnd += 1;
	}
	aimd->counted += acked;
	if (aimd->counted >= every) {
		window->cwnd += aimd->counted / every;
		aimd->counted %= every;
	}
}

/* Equation 4, of the window. */
static double ssthresh(void *state, const struct forebay_cc_window *window, const struct forebay_cc_flow *flow,
		       uint32_t event)
{
	struct aimd *aimd = state;

	(void)flow;
	(void)event;
	aimd->counted = 0;
	return window->cwnd / 2 > 2 ? window->cwnd / 2 : 2;
}

const struct forebay_cc *forebay_cc(void)
{
	static const struct forebay_cc aimd = {
		.abi = FOREBAY_CC_ABI,
		.size = sizeof(struct forebay_cc),
		.state_bytes = sizeof(struct aimd),
		.name = "aimd",
		.cong_avoid = cong_avoid,
		.ssthresh = ssthresh,
	};
	return &aimd;
}
