/* SPDX-License-Identifier: 0BSD
 *
 * A congestion control for Forebay's simulator, in any language that can export a C function.
 * The library exports `forebay_cc`, which returns its hooks. `forebay controls build FILE.c` compiles it;
 * docs/how-to/bring-a-congestion-control.md is the guide.
 *
 * Times are in nanoseconds of simulated time, windows in segments of `segment_bytes` bytes of payload, sequence
 * numbers count segments from 0. All structures only ever grow at their end: `size` says how far one reaches.
 */
#ifndef FOREBAY_CC_H
#define FOREBAY_CC_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FOREBAY_CC_ABI 1

/* What a control asks for: forebay_cc.flags. */
#define FOREBAY_CC_PACES 1u         /* it sets pacing_rate, and gets rate samples; else ACKs clock the sender */
#define FOREBAY_CC_CONTROLS_CWND 2u /* it sets cwnd on every ACK, in recovery too: no halving, no PRR */
#define FOREBAY_CC_ECN 4u           /* packets are ECN-capable whatever the scenario says */
#define FOREBAY_CC_L4S 8u           /* packets are ECT(1); marks are left to on_ack */
#define FOREBAY_CC_UNLIMITED 16u    /* cong_avoid is called, too, where cwnd is not what limits the sender */

/* Where a sender stands: forebay_cc_flow.phase. */
enum forebay_cc_phase {
	FOREBAY_CC_OPEN = 0,     /* nothing is missing */
	FOREBAY_CC_DISORDER = 1, /* something was SACKed beyond a gap; nothing is judged lost yet */
	FOREBAY_CC_CWR = 2,      /* the window yields to a congestion mark */
	FOREBAY_CC_RECOVERY = 3, /* fast recovery */
	FOREBAY_CC_LOSS = 4      /* after a retransmission timeout */
};

/* Why ssthresh is asked for. */
enum forebay_cc_event {
	FOREBAY_CC_EVENT_LOSS = 0,
	FOREBAY_CC_EVENT_MARK = 1,
	FOREBAY_CC_EVENT_TIMEOUT = 2
};

/* What a control steers. It may write it in the hooks that get it without `const`. */
struct forebay_cc_window {
	double cwnd;        /* congestion window, 1 to 2^31 */
	double ssthresh;    /* slow-start threshold; INFINITY until the first loss */
	double pacing_rate; /* segments a second; 0: not paced. Read with FOREBAY_CC_PACES alone */
};

/* forebay_cc_flow.ack_flags */
#define FOREBAY_CC_CWND_LIMITED 1u /* cwnd is what holds the sender back (RFC 7661, section 4.3) */
#define FOREBAY_CC_SLOW_PATH 2u    /* the ACK reports something beyond a gap, or takes nothing off */
#define FOREBAY_CC_HAS_RATE 4u     /* the rate sample is valid */
#define FOREBAY_CC_APP_LIMITED 8u  /* the sample is a lower bound: there was nothing to send */
#define FOREBAY_CC_GROWS 16u       /* the window may grow with this ACK: cong_avoid follows, if there is room */
#define FOREBAY_CC_ACK_DELAYED 32u /* the ACK was probably delayed (a single short segment) */

/* What is known of the connection. What is marked + is of the ACK in hand; in the hooks without an ACK it is 0. */
struct forebay_cc_flow {
	uint32_t size;
	uint32_t segment_bytes;
	uint64_t seed; /* differs for each connection and follows from the run's: random numbers follow from it */
	uint64_t now_ns;

	uint64_t snd_una;           /* oldest segment not acknowledged */
	uint64_t snd_nxt;           /* next new segment */
	uint64_t delivered_total;   /* segments delivered so far, in order or SACKed */
	uint64_t delivered_ce_total; /* of these with a congestion mark */
	uint64_t lost_total;        /* segments judged lost so far; with FOREBAY_CC_PACES */
	uint64_t srtt_ns;           /* smoothed round trip; 0 before the first sample */
	uint64_t min_rtt_ns;        /* least round trip; UINT64_MAX before the first sample */
	uint64_t next_departure_ns; /* when the pacer lets the next segment go */
	uint64_t last_sent_ns;      /* when a segment was last sent; kept for on_transmit_start alone */
	uint32_t phase;
	uint32_t in_flight;
	uint32_t packets_out; /* sent, not acknowledged in order */
	uint32_t sacked_out;
	uint32_t lost_out;
	uint32_t retrans_out;
	uint32_t max_packets_out; /* most packets_out of this round trip, where the window was not full */
	uint32_t reserved;
	double prior_cwnd; /* before the last reduction */
	double prior_ssthresh;

	uint32_t ack_flags;       /* + */
	uint32_t acked;           /* + segments that count towards growth: newly delivered */
	uint32_t newly_lost;      /* + */
	uint32_t marked;          /* + of `acked`, those whose ACK echoes a congestion mark */
	uint32_t prior_in_flight; /* + in flight before this ACK */
	uint32_t reserved2;
	uint64_t rtt_ns;          /* + round trip of the last segment that it covers; 0: none */
	uint64_t ts_val_ns;       /* + receiver's clock when it answered, and the sender's when it sent what is */
	uint64_t ts_ecr_ns;       /* + answered (RFC 7323); the way back is taken as constant. 0: none */

	uint64_t rate_delivered;       /* + rate sample: segments delivered ... */
	uint64_t rate_interval_ns;     /* + ... in this time */
	uint64_t rate_prior_delivered; /* + delivered_total when the newest segment it covers was sent */
	uint64_t rate_prior_lost;      /* + lost_total then */
	uint64_t rate_tx_in_flight;    /* + in_flight then, itself included */
	uint64_t lost_flight; /* + in_flight when a segment was sent that is lost, the first since the last ACK with whose loss
			       * more than 5/256 of that flight are (BBRv3); 0: none */
};

/*
 * The hooks. `state` is `state_bytes` bytes of the connection, zeroed before init and owned by Forebay. A hook that
 * is NULL does nothing, or what it says here. Each may be called on any thread, but for one connection on one at a
 * time: what is not in `state` must be constant.
 */
struct forebay_cc {
	uint32_t abi;  /* FOREBAY_CC_ABI */
	uint32_t size; /* sizeof(struct forebay_cc) */
	uint32_t flags;
	uint32_t state_bytes;
	const char *name; /* what `forebay controls build` calls it */

	/* The first segment is about to be sent. */
	void (*init)(void *state, struct forebay_cc_window *window, const struct forebay_cc_flow *flow);
	/* With every ACK, and, where the flag says so, all that sets cwnd. */
	void (*on_ack)(void *state, struct forebay_cc_window *window, const struct forebay_cc_flow *flow);
	/* With an ACK with which the window may grow, after on_ack. */
	void (*cong_avoid)(void *state, struct forebay_cc_window *window, const struct forebay_cc_flow *flow);
	/* Something was lost or marked, or the timer expired: returns the new ssthresh. NULL: half of cwnd, at least 2. */
	double (*ssthresh)(void *state, const struct forebay_cc_window *window, const struct forebay_cc_flow *flow,
			   uint32_t event);
	/* flow->phase has changed; after a timeout once what was outstanding is judged lost. */
	void (*on_loss_state)(void *state, struct forebay_cc_window *window, const struct forebay_cc_flow *flow);
	/* What was repaired was not lost: returns cwnd. NULL: the larger of cwnd and prior_cwnd. */
	double (*undo)(void *state, const struct forebay_cc_window *window, const struct forebay_cc_flow *flow);
	/* The connection has ended. */
	void (*release)(void *state);
	/* A segment is sent while none is in flight. */
	void (*on_transmit_start)(void *state, struct forebay_cc_window *window, const struct forebay_cc_flow *flow);
};

/* What the library exports. */
const struct forebay_cc *forebay_cc(void);

#ifdef __cplusplus
}
#endif

#endif
