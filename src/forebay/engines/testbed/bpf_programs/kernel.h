/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * What the programs here use of the kernel. The structs name the members that are read; the loader finds
 * their places in the running kernel's type information, so one object fits every kernel.
 */
#pragma once

typedef unsigned char __u8;
typedef unsigned short __u16, __be16;
typedef unsigned int __u32, __be32, __wsum;
typedef unsigned long long __u64;
typedef int __s32;
typedef long long __s64;
typedef __u8 u8;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#define IN_KERNEL __attribute__((preserve_access_index))

struct sock {
	int sk_rcvbuf; /* not read; the loader wants the type whole */
} IN_KERNEL;

struct inet_connection_sock {
	u64 icsk_ca_priv[13];
} IN_KERNEL;

struct tcp_sock {
	u32 snd_cwnd;
	u32 snd_cwnd_clamp;
	u32 snd_ssthresh;
	u32 prior_cwnd; /* before the last cut */
	u32 prior_ssthresh;
	u32 snd_una;
	u32 snd_nxt;
	u32 srtt_us; /* eighths of a microsecond */
	u32 max_packets_out;
	u64 tcp_mstamp; /* microseconds */
	u8 is_cwnd_limited : 1;
} IN_KERNEL;

struct ack_sample {
	s32 rtt_us;
} IN_KERNEL;

struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	void (*set_state)(struct sock *sk, u8 state);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	u32 (*undo_cwnd)(struct sock *sk);
	void (*init)(struct sock *sk);
	char name[16];
};

extern u32 tcp_slow_start(struct tcp_sock *tp, u32 acked) __ksym;
extern void tcp_cong_avoid_ai(struct tcp_sock *tp, u32 per, u32 acked) __ksym;
extern u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;

enum { AFTER_TIMEOUT = 4 }; /* TCP_CA_Loss */
#define NO_SSTHRESH 0x7fffffffu /* TCP_INFINITE_SSTHRESH */

/* The state that a flow's congestion control may keep; the kernel hands it over zeroed. */
#define STATE(type, sk)                                                                    \
	({                                                                                 \
		_Static_assert(sizeof(type) <= 13 * sizeof(u64), "no room for the state"); \
		(type *)((struct inet_connection_sock *)(sk))->icsk_ca_priv;               \
	})
#define TCP(sk) ((struct tcp_sock *)(sk))

#define min_of(a, b) ((a) < (b) ? (a) : (b))
#define max_of(a, b) ((a) > (b) ? (a) : (b))

/* 1 if x <= limit, both below 2^63, else 0: the sign of the difference. */
static inline u64 fits(u64 x, u64 limit)
{
	return (limit - x) >> 63 ^ 1;
}

/* Whether the answer to the last loss was lost. A kernel may go on without having run any program (one was
 * seen that runs none while it has interrupted process 1), and take what lies where ssthresh's answer would be:
 * hundreds of millions of segments, with which the flow then fills every queue. A threshold is never
 * above window and threshold before the cut, nor below two. */
static inline int cut_is_lost(struct tcp_sock *tp)
{
	u32 ssthresh = tp->snd_ssthresh, most = max_of(tp->prior_cwnd, 2u);

	if (tp->prior_ssthresh < NO_SSTHRESH)
		most = max_of(most, tp->prior_ssthresh);
	return tp->prior_cwnd && ssthresh != NO_SSTHRESH && (ssthresh < 2 || ssthresh > most);
}

static inline int in_slow_start(struct tcp_sock *tp)
{
	return tp->snd_cwnd < tp->snd_ssthresh;
}

/* RFC 7661: a window that is not used does not grow; in slow start it may reach twice what was sent. */
static inline int window_is_used(struct tcp_sock *tp)
{
	if (BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited))
		return 1;
	return in_slow_start(tp) && tp->snd_cwnd < 2 * tp->max_packets_out;
}

/* Slow start, where it applies; gives the segments that are left for congestion avoidance. */
static inline u32 beyond_slow_start(struct tcp_sock *tp, u32 acked)
{
	if (!window_is_used(tp))
		return 0;
	return in_slow_start(tp) ? tcp_slow_start(tp, acked) : acked;
}
