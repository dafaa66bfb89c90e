/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * BIC (Xu, Harfoush, Rhee 2004) with the defaults of Linux 2.6.19: BIC of Yang et al. 2013.
 * That kernel counted ACKs and corrected for delayed ones; acknowledged segments need no correction.
 */
#include "kernel.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#define BETA 819u         /* of 1024, the share kept on loss */
#define LOW_WINDOW 14u    /* up to here BIC is Reno */
#define MAX_INCREMENT 16u /* S_max, segments a round trip */
#define SEARCH 4u         /* the part of the way to the target that a round trip goes, inverted */
#define SMOOTH_PART 20u   /* slowest: SEARCH / SMOOTH_PART = 0.2 segments a round trip */
#define INITIAL_SSTHRESH 100u
#define BEFORE_LOSS 20u   /* until the first loss: 5 % a round trip at least */
#define REFRESH_US 31250u /* 1/32 s: with an unchanged window the increase is found anew */

struct bic {
	u64 found_at;
	u32 found_for; /* the window */
	u32 per;       /* segments an increase; 0: to be found */
	u32 last_max;
	u32 lost_once;
};

/* Binary search increase below the last maximum (Xu 2004, section III.A). */
static u32 search(u32 cwnd, u32 last_max)
{
	u32 step = (last_max - cwnd) / SEARCH;

	if (step > MAX_INCREMENT)
		return cwnd / MAX_INCREMENT;
	return step <= 1 ? cwnd * SMOOTH_PART / SEARCH : cwnd / step;
}

/* Max probing beyond it (section III.C). */
static u32 max_probing(u32 cwnd, u32 last_max)
{
	u32 beyond = cwnd - last_max;

	if (beyond < SEARCH)
		return cwnd * SMOOTH_PART / SEARCH;
	if (beyond < MAX_INCREMENT * (SEARCH - 1))
		return cwnd * (SEARCH - 1) / beyond;
	return cwnd / MAX_INCREMENT;
}

static u32 segments_an_increase(const struct bic *bic, u32 cwnd)
{
	u32 per;

	if (cwnd <= LOW_WINDOW)
		return max_of(cwnd, 1u);
	per = cwnd < bic->last_max ? search(cwnd, bic->last_max) : max_probing(cwnd, bic->last_max);
	return max_of(bic->lost_once ? per : min_of(per, BEFORE_LOSS), 1u);
}

SEC("struct_ops")
void BPF_PROG(bic_init, struct sock *sk)
{
	TCP(sk)->snd_ssthresh = min_of(TCP(sk)->snd_ssthresh, INITIAL_SSTHRESH);
}

/* Fast convergence (Xu 2004, section IV.B): a flow whose maximum falls gives way. */
static u32 cut(struct bic *bic, u32 cwnd)
{
	u64 halfway = (u64)cwnd * (1024 + BETA) / 2048;

	bic->per = 0;
	bic->lost_once = 1;
	bic->last_max = cwnd < bic->last_max ? halfway : cwnd;
	if (cwnd <= LOW_WINDOW)
		return max_of(cwnd / 2, 2u);
	return max_of((u32)((u64)cwnd * BETA / 1024), 2u);
}

/* Makes up for a loss whose answer was lost. */
static void repair(struct bic *bic, struct tcp_sock *tp)
{
	if (!cut_is_lost(tp))
		return;
	tp->snd_ssthresh = cut(bic, tp->prior_cwnd);
	tp->snd_cwnd = min_of(tp->snd_cwnd, max_of(tp->prior_cwnd, 2u));
}

SEC("struct_ops")
void BPF_PROG(bic_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct bic *bic = STATE(struct bic, sk);
	struct tcp_sock *tp = TCP(sk);

	repair(bic, tp);
	acked = beyond_slow_start(tp, acked);
	if (!acked)
		return;
	if (!bic->per || bic->found_for != tp->snd_cwnd ||
	    tp->tcp_mstamp - bic->found_at > REFRESH_US) {
		bic->found_for = tp->snd_cwnd;
		bic->found_at = tp->tcp_mstamp;
		bic->per = segments_an_increase(bic, tp->snd_cwnd);
	}
	tcp_cong_avoid_ai(tp, bic->per, acked);
}

SEC("struct_ops")
u32 BPF_PROG(bic_ssthresh, struct sock *sk)
{
	return cut(STATE(struct bic, sk), TCP(sk)->snd_cwnd);
}

/* A timeout forgets everything. */
SEC("struct_ops")
void BPF_PROG(bic_set_state, struct sock *sk, u8 state)
{
	struct bic *bic = STATE(struct bic, sk);
	struct tcp_sock *tp = TCP(sk);

	repair(bic, tp);
	if (state == AFTER_TIMEOUT)
		bic->per = bic->last_max = bic->lost_once = 0;
}

SEC("struct_ops")
u32 BPF_PROG(bic_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops")
struct tcp_congestion_ops fb_bic = {
	.init = (void *)bic_init,
	.cong_avoid = (void *)bic_cong_avoid,
	.ssthresh = (void *)bic_ssthresh,
	.set_state = (void *)bic_set_state,
	.undo_cwnd = (void *)bic_undo_cwnd,
	.name = "fb_bic",
};
