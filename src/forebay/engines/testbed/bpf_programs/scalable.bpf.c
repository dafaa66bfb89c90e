/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * Scalable TCP (Kelly 2003, section 3): cwnd + 0.01 an ACK, cwnd - 0.125 cwnd a loss.
 */
#include "kernel.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#define SEGMENTS_AN_INCREASE 100u /* 1 / a */

/* b = 1/8; the part taken away is rounded down. */
static u32 cut(u32 cwnd)
{
	return max_of(cwnd - cwnd / 8, 2u);
}

/* Makes up for a loss whose answer was lost. */
static void repair(struct tcp_sock *tp)
{
	if (!cut_is_lost(tp))
		return;
	tp->snd_ssthresh = cut(tp->prior_cwnd);
	tp->snd_cwnd = min_of(tp->snd_cwnd, max_of(tp->prior_cwnd, 2u));
}

/* Below 100 segments Reno grows faster, and so do we (Linux). */
SEC("struct_ops")
void BPF_PROG(scalable_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = TCP(sk);

	repair(tp);
	acked = beyond_slow_start(tp, acked);
	if (acked)
		tcp_cong_avoid_ai(tp, min_of(tp->snd_cwnd, SEGMENTS_AN_INCREASE), acked);
}

SEC("struct_ops")
u32 BPF_PROG(scalable_ssthresh, struct sock *sk)
{
	return cut(TCP(sk)->snd_cwnd);
}

SEC("struct_ops")
void BPF_PROG(scalable_set_state, struct sock *sk, u8 state)
{
	repair(TCP(sk));
}

SEC("struct_ops")
u32 BPF_PROG(scalable_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops")
struct tcp_congestion_ops fb_scalable = {
	.cong_avoid = (void *)scalable_cong_avoid,
	.ssthresh = (void *)scalable_ssthresh,
	.set_state = (void *)scalable_set_state,
	.undo_cwnd = (void *)scalable_undo_cwnd,
	.name = "fb_scalable",
};
