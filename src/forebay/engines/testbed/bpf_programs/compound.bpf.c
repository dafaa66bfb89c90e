/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * Compound TCP (draft-sridharan-tcpm-ctcp-02; Tan et al. 2006): Reno's window plus one that grows while the
 * path shows no queue and gives way when it does. CTCP of Yang et al. 2013.
 *
 * Windows in 1/1024 segments where the name ends in _f; the kernel's cwnd is their whole part.
 */
#include "kernel.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#define F 1024u
#define GAMMA_LOW (5 * F)
#define GAMMA_HIGH (30 * F)

struct compound {
	u32 delay_f;  /* dwnd; Reno's part of the window is the rest */
	u32 part_f;   /* what the whole window is above cwnd, below one segment */
	u32 gamma_f;  /* own segments in the queue that count as congestion */
	u32 reno_queue_f;
	u32 reno_queue_known;
	u32 round_end;
	u32 in_round;
	u32 min_rtt;  /* microseconds; 0: none yet */
};

/* Rounded down; x below 2^62. Without branches: the verifier would follow each of them. */
static u64 square_root(u64 x)
{
	u64 root = 0;

	for (int bit = 30; bit >= 0; bit--) {
		u64 larger = root | 1ull << bit;

		root |= fits(larger * larger, x) << bit;
	}
	return root;
}

/* (alpha win^k - 1)+, alpha = 1/8, k = 3/4 (draft, section 4): both roots in 1/65536. */
static u32 delay_increase(u64 win_f)
{
	u64 half = square_root(win_f << 22);
	u64 quarter = square_root(half << 16);
	u64 grown_f = (half * quarter >> 22) / 8;

	return grown_f > F ? grown_f - F : 0;
}

/* diff = win - win baseRTT / RTT, segments in the queue: below gamma dwnd grows, above it shrinks by
 * zeta diff, zeta = 1 (draft, section 4). */
static void end_round(struct compound *compound, struct tcp_sock *tp)
{
	u64 rtt = tp->srtt_us, base = (u64)compound->min_rtt * 8, win_f, before, queue_f, after, whole_f;

	if (!rtt || !base)
		return;
	base = min_of(base, rtt);
	win_f = (u64)tp->snd_cwnd * F + compound->part_f;
	before = min_of(compound->delay_f, win_f - F);
	queue_f = win_f * (rtt - base) / rtt;
	compound->reno_queue_f = (win_f - before) * (rtt - base) / rtt;
	compound->reno_queue_known = 1;
	if (queue_f < compound->gamma_f)
		after = before + delay_increase(win_f);
	else
		after = before > queue_f ? before - queue_f : 0;
	compound->delay_f = after;
	whole_f = win_f - before + after;
	compound->part_f = whole_f % F;
	tp->snd_cwnd = min_of((u32)(whole_f / F), tp->snd_cwnd_clamp);
}

/* gamma moves to 3/4 of the queue that Reno alone had made, lambda = 0.8. */
static void tune(struct compound *compound)
{
	u32 moved = (compound->gamma_f + 3 * compound->reno_queue_f) / 5;

	if (compound->reno_queue_known)
		compound->gamma_f = min_of(max_of(moved, GAMMA_LOW), GAMMA_HIGH);
	compound->reno_queue_known = 0;
}

SEC("struct_ops")
void BPF_PROG(compound_init, struct sock *sk)
{
	STATE(struct compound, sk)->gamma_f = GAMMA_HIGH;
}

/* win / 2, of which dwnd / 2 is the delay window's. */
static u32 cut(struct compound *compound, u32 cwnd)
{
	compound->delay_f /= 2;
	compound->part_f = 0;
	compound->in_round = 0;
	tune(compound);
	return max_of(cwnd / 2, 2u);
}

/* Makes up for a loss whose answer was lost. */
static void repair(struct compound *compound, struct tcp_sock *tp)
{
	if (!cut_is_lost(tp))
		return;
	tp->snd_ssthresh = cut(compound, tp->prior_cwnd);
	tp->snd_cwnd = min_of(tp->snd_cwnd, max_of(tp->prior_cwnd, 2u));
}

/* cwnd grows by 1 / win an ACK; dwnd once a round trip. */
SEC("struct_ops")
void BPF_PROG(compound_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct compound *compound = STATE(struct compound, sk);
	struct tcp_sock *tp = TCP(sk);

	repair(compound, tp);
	acked = beyond_slow_start(tp, acked);
	if (!acked)
		return;
	tcp_cong_avoid_ai(tp, max_of(tp->snd_cwnd, 1u), acked);
	if (!compound->in_round || (s32)(tp->snd_una - compound->round_end) >= 0) {
		compound->in_round = 1;
		compound->round_end = tp->snd_nxt;
		end_round(compound, tp);
	}
}

SEC("struct_ops")
void BPF_PROG(compound_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct compound *compound = STATE(struct compound, sk);
	s32 rtt = sample->rtt_us;

	if (rtt > 0 && (!compound->min_rtt || rtt < compound->min_rtt))
		compound->min_rtt = rtt;
}

SEC("struct_ops")
u32 BPF_PROG(compound_ssthresh, struct sock *sk)
{
	return cut(STATE(struct compound, sk), TCP(sk)->snd_cwnd);
}

/* The delay window starts afresh after a timeout. */
SEC("struct_ops")
void BPF_PROG(compound_set_state, struct sock *sk, u8 state)
{
	struct compound *compound = STATE(struct compound, sk);
	struct tcp_sock *tp = TCP(sk);

	repair(compound, tp);
	if (state == AFTER_TIMEOUT)
		compound->delay_f = 0;
}

SEC("struct_ops")
u32 BPF_PROG(compound_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops")
struct tcp_congestion_ops fb_compound = {
	.init = (void *)compound_init,
	.cong_avoid = (void *)compound_cong_avoid,
	.pkts_acked = (void *)compound_pkts_acked,
	.ssthresh = (void *)compound_ssthresh,
	.set_state = (void *)compound_set_state,
	.undo_cwnd = (void *)compound_undo_cwnd,
	.name = "fb_compound",
};
