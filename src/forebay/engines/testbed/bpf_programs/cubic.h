/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * CUBIC (RFC 9438) without HyStart, C = 0.4, with the BETA of 1024 that the including file defines: CUBIC'
 * (819) and CUBIC'' (717) of Yang et al. 2013, Table II.
 *
 * As Linux does it where the RFC differs: the curve is read one least round trip ahead, the Reno-friendly
 * window keeps its pace beyond the last maximum, the window grows by one for two acknowledged at most.
 * Times in milliseconds: C t^3 = t^3 / CUBED segments. Cube root and Reno's pace are exact to rounding, where
 * Linux looks the root up (0.2 %) and rounds the pace in eighths (up to 4 %).
 */
#pragma once
#include "kernel.h"

#define CUBED 2500000000ull    /* 1000^3 / C */
#define LONGEST_MS 2000000u    /* its cube fits 64 bits */
#define BEFORE_LOSS 20u        /* until the first loss: 5 % a round trip at least */
#define STANDSTILL 100u        /* beyond the curve's reach: a segment for 100 windows */
#define NEVER 0xffffffffu
#define REFRESH_US 31250u      /* 1/32 s: with an unchanged window the curve is read anew */
#define TICK_US 1000u          /* it is read once a tick at most */
#define NEW_EPOCH_US 1000000u  /* round-trip times of its beginning do not count */

struct cubic {
	u64 epoch;   /* its start, microseconds; 0: none */
	u64 read_at;
	u32 read_cwnd;
	u32 curve_per; /* what the curve said; 0: not read yet */
	u32 per;       /* segments an increase */
	u32 last_max;  /* W_max; 0 before the first loss and after a timeout */
	u32 plateau;
	u32 k_ms;
	u32 delay_min; /* microseconds; 0: none yet */
	u32 reno;      /* W_est */
	u32 reno_credit;
};

/* Rounded down; of 2^63 - 1 at most. Without branches: the verifier would follow each of them. */
static u32 cube_root(u64 x)
{
	u64 root = 0;

	x = min_of(x, ~0ull >> 1);
	for (int bit = 20; bit >= 0; bit--) {
		u64 larger = root | 1ull << bit;

		root |= fits(larger * larger * larger, x) << bit;
	}
	return root;
}

/* RFC 9438, section 4.2, equation 2: K = cbrt((W_max - cwnd) / C). */
static void begin(struct cubic *cubic, u32 cwnd, u64 now)
{
	cubic->epoch = cubic->read_at = now;
	cubic->plateau = max_of(cubic->last_max, cwnd);
	cubic->k_ms = cube_root((cubic->plateau - cwnd) * CUBED);
	cubic->read_cwnd = cubic->curve_per = cubic->reno_credit = 0;
	cubic->reno = cwnd;
}

/* Equation 1: W(t) = C (t - K)^3 + W_max, with the distance from W_max rounded down, as Linux has it. */
static u32 curve(const struct cubic *cubic, u64 t_ms)
{
	u64 off = t_ms < cubic->k_ms ? cubic->k_ms - t_ms : t_ms - cubic->k_ms;

	off = min_of(off, LONGEST_MS);
	off = off * off * off;
	if (t_ms < cubic->k_ms)
		return cubic->plateau - off / CUBED;
	return min_of(cubic->plateau + off / CUBED, NEVER);
}

static void read_curve(struct cubic *cubic, u32 cwnd, u64 now)
{
	u32 target = curve(cubic, (now - cubic->epoch + cubic->delay_min) / 1000);

	cubic->read_cwnd = cwnd;
	cubic->read_at = now;
	cubic->curve_per = target > cwnd ? cwnd / (target - cwnd) : STANDSTILL * cwnd;
	if (!cubic->last_max)
		cubic->curve_per = min_of(cubic->curve_per, BEFORE_LOSS);
}

/* Section 4.3, equation 4: W_est rises by one for cwnd / alpha acknowledged, alpha = 3 (1 - beta) / (1 + beta). */
static u32 reno_friendly(struct cubic *cubic, u32 cwnd)
{
	u32 per_reno = (u64)cwnd * (1024 + BETA) / (3 * (1024 - BETA));
	u32 steps = cubic->reno_credit / max_of(per_reno, 1u);

	cubic->reno += steps;
	cubic->reno_credit -= steps * per_reno;
	return cubic->reno > cwnd ? cwnd / (cubic->reno - cwnd) : NEVER;
}

static void update(struct cubic *cubic, u32 cwnd, u32 acked, u64 now)
{
	u64 waited;

	if (!cubic->epoch)
		begin(cubic, cwnd, now);
	cubic->reno_credit += acked;
	waited = now - cubic->read_at;
	if (cubic->read_cwnd == cwnd && waited <= REFRESH_US)
		return;
	if (!cubic->curve_per || waited >= TICK_US)
		read_curve(cubic, cwnd, now);
	cubic->per = max_of(min_of(cubic->curve_per, reno_friendly(cubic, cwnd)), 2u);
}

/* Section 4.6, and fast convergence, section 4.7. */
static u32 cut(struct cubic *cubic, u64 cwnd)
{
	cubic->epoch = 0;
	cubic->last_max = cwnd < cubic->last_max ? cwnd * (1024 + BETA) / 2048 : cwnd;
	return max_of((u32)(cwnd * BETA / 1024), 2u);
}

/* Makes up for a loss whose answer was lost. */
static void repair(struct cubic *cubic, struct tcp_sock *tp)
{
	if (!cut_is_lost(tp))
		return;
	tp->snd_ssthresh = cut(cubic, tp->prior_cwnd);
	tp->snd_cwnd = min_of(tp->snd_cwnd, max_of(tp->prior_cwnd, 2u));
}

SEC("struct_ops")
void BPF_PROG(cubic_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct cubic *cubic = STATE(struct cubic, sk);
	struct tcp_sock *tp = TCP(sk);

	repair(cubic, tp);
	acked = beyond_slow_start(tp, acked);
	if (!acked)
		return;
	update(cubic, tp->snd_cwnd, acked, tp->tcp_mstamp);
	tcp_cong_avoid_ai(tp, cubic->per, acked);
}

SEC("struct_ops")
void BPF_PROG(cubic_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct cubic *cubic = STATE(struct cubic, sk);
	s32 rtt = sample->rtt_us;

	if (rtt < 0 || (cubic->epoch && TCP(sk)->tcp_mstamp - cubic->epoch < NEW_EPOCH_US))
		return;
	if (!cubic->delay_min || rtt < cubic->delay_min)
		cubic->delay_min = max_of(rtt, 1);
}

SEC("struct_ops")
u32 BPF_PROG(cubic_ssthresh, struct sock *sk)
{
	return cut(STATE(struct cubic, sk), TCP(sk)->snd_cwnd);
}

/* A timeout forgets everything. */
SEC("struct_ops")
void BPF_PROG(cubic_set_state, struct sock *sk, u8 state)
{
	struct cubic *cubic = STATE(struct cubic, sk);
	struct tcp_sock *tp = TCP(sk);

	repair(cubic, tp);
	if (state == AFTER_TIMEOUT)
		cubic->epoch = cubic->last_max = cubic->delay_min = cubic->per = 0;
}

SEC("struct_ops")
u32 BPF_PROG(cubic_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}
