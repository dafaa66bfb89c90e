/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * Scalable TCP (Kelly 2003, section 3): cwnd + 0.01 an ACK, cwnd - 0.125 cwnd a loss.
 */
#include "kernel.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#define SEGMENTS_AN_INCREASE 100u /* 1 / a */

/* Below 100 segments Reno grows faster, and so do we (Linux). */
SEC("struct_ops")
void BPF_PROG(scalable_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = TCP(sk);

	acked = beyond_slow_start(tp, acked);
	if (acked)
		tcp_cong_avoid_ai(tp, min_of(tp->snd_cwnd, SEGMENTS_AN_INCREASE), acked);
}

/* b = 1/8; the part taken away is rounded down. */
SEC("struct_ops")
u32 BPF_PROG(scalable_ssthresh, struct sock *sk)
{
	u32 cwnd = TCP(sk)->snd_cwnd;

	return max_of(cwnd - cwnd / 8, 2u);
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
	.undo_cwnd = (void *)scalable_undo_cwnd,
	.name = "fb_scalable",
};
