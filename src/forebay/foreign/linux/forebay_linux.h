/* SPDX-License-Identifier: 0BSD
 *
 * What a congestion control of Linux's net/ipv4 needs of the kernel, over forebay_cc.h: `forebay controls build
 * tcp_x.c --linux VERSION` compiles a module's unchanged source against this file, in place of every header that it
 * names. FOREBAY_LINUX is the version, 0x060c for 6.12; HZ its clock. The first file that is built has FOREBAY_MAIN.
 *
 * What is not as in the kernel: sequence numbers start at 0, and all segments have one size; min_rtt is that of the
 * whole connection; tcp_enter_cwr reduces the window at once; the receiver's clock (rx_opt) has a constant way back.
 */
#ifndef FOREBAY_LINUX_H
#define FOREBAY_LINUX_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "forebay_cc.h"

#define FOREBAY_VERSION(major, minor) (((major) << 8) + (minor))

typedef uint8_t u8, __u8;
typedef uint16_t u16, __u16, __be16;
typedef uint32_t u32, __u32, __be32;
typedef uint64_t u64, __u64;
typedef int8_t s8, __s8;
typedef int16_t s16, __s16;
typedef int32_t s32, __s32;
typedef int64_t s64, __s64;
typedef s64 ktime_t;
typedef unsigned int gfp_t;

/* --- the compiler's and the module's words ---------------------------------------------------------------------- */

#define __init
#define __exit
#define __read_mostly
#define __ro_after_init
#define __pure __attribute__((pure))
#define __maybe_unused __attribute__((unused))
#define __always_inline inline __attribute__((always_inline))
#define __bpf_kfunc
#define noinline __attribute__((noinline))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define fallthrough __attribute__((fallthrough))
#define READ_ONCE(x) (x)
#define WRITE_ONCE(x, value) ((x) = (value))
#define BUILD_BUG_ON(condition) ((void)sizeof(char[1 - 2 * !!(condition)]))
#define WARN_ON(condition) (!!(condition))
#define WARN_ON_ONCE(condition) (!!(condition))
#define WARN_ONCE(condition, ...) (!!(condition))
#define BUG_ON(condition) ((void)(condition))
#define pr_debug(...) ((void)0)
#define pr_info(...) ((void)0)
#define pr_warn(...) ((void)0)
#define pr_err(...) ((void)0)
#define printk(...) ((void)0)
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define BIT(n) (1UL << (n))
#define BITS_PER_TYPE(type) (8 * sizeof(type))
#define __stringify(x) #x
#define INFINITY __builtin_inf()
#define U32_MAX UINT32_MAX
#define U16_MAX UINT16_MAX
#define U8_MAX UINT8_MAX
#define S32_MAX INT32_MAX
#define U64_MAX UINT64_MAX

#define THIS_MODULE NULL
#define EXPORT_SYMBOL(x)
#define EXPORT_SYMBOL_GPL(x)
#define MODULE_AUTHOR(x)
#define MODULE_DESCRIPTION(x)
#define MODULE_LICENSE(x)
#define MODULE_VERSION(x)
#define MODULE_ALIAS(x)
#define MODULE_PARM_DESC(name, text)
#define module_param(name, type, mode)
#define module_param_named(name, variable, type, mode)
#define module_param_cb(name, ops, variable, mode)
#define module_exit(f) __attribute__((unused)) static void *forebay_exit = (void *)f;
#ifdef FOREBAY_MAIN
#define module_init(f) int forebay_module_init(void) { return f(); }
#else
#define module_init(f) __attribute__((unused)) static void *forebay_other_init = (void *)f;
#endif
int forebay_module_init(void);
struct kernel_param;
struct kernel_param_ops {
	unsigned int flags;
	int (*set)(const char *value, const struct kernel_param *parameter);
	int (*get)(char *text, const struct kernel_param *parameter);
};
#define param_set_uint_minmax(...) 0
#define param_get_uint NULL
#define param_set_int NULL
#define param_get_int NULL

#define BTF_KFUNCS_START(name) static int name;
#define BTF_KFUNCS_END(name)
#define BTF_SET8_START(name) static int name;
#define BTF_SET8_END(name)
#define BTF_SET_START(name) static int name;
#define BTF_SET_END(name)
#define BTF_ID_FLAGS(...)
#define BTF_ID(...)
#define BPF_PROG_TYPE_STRUCT_OPS 0
struct btf_kfunc_id_set {
	void *owner;
	void *set;
};
#define register_btf_kfunc_id_set(type, set) 0

/* --- numbers ---------------------------------------------------------------------------------------------------- */

#define min(a, b) ({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); _a < _b ? _a : _b; })
#define max(a, b) ({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); _a > _b ? _a : _b; })
#define min_t(type, a, b) min((type)(a), (type)(b))
#define max_t(type, a, b) max((type)(a), (type)(b))
#define min3(a, b, c) min(min(a, b), c)
#define max3(a, b, c) max(max(a, b), c)
#define clamp(value, low, high) min((__typeof__(value))max(value, low), high)
#define clamp_t(type, value, low, high) clamp((type)(value), (type)(low), (type)(high))
#define clamp_val(value, low, high) clamp_t(__typeof__(value), value, low, high)
#define min_not_zero(a, b) ({ __typeof__(a) _x = (a); __typeof__(b) _y = (b); !_x ? _y : !_y ? _x : min(_x, _y); })
#define cmpxchg(at, old, new) ({ __typeof__(*(at)) _was = *(at); if (_was == (old)) *(at) = (new); _was; })
#define xchg(at, new) ({ __typeof__(*(at)) _was = *(at); *(at) = (new); _was; })
#define U32_C(x) UINT32_C(x)
#define U64_C(x) UINT64_C(x)
#define swap(a, b) do { __typeof__(a) _t = (a); (a) = (b); (b) = _t; } while (0)
/* Of an unsigned difference, too. */
#define abs(x) ({ __typeof__(__builtin_choose_expr(sizeof(x) <= 4, (s32)0, (s64)0)) _s = (x); _s < 0 ? -_s : _s; })
#define do_div(n, by) ({ u32 _by = (by); u32 _rest = (n) % _by; (n) /= _by; _rest; })
#define div_u64(n, by) ((u64)(n) / (u32)(by))
#define div64_u64(n, by) ((u64)(n) / (u64)(by))
#define div64_ul(n, by) ((u64)(n) / (unsigned long)(by))
#define div64_long(n, by) ((s64)(n) / (long)(by))
#define div_s64(n, by) ((s64)(n) / (s32)(by))
#define div64_s64(n, by) ((s64)(n) / (s64)(by))
#define DIV_ROUND_UP(n, by) (((n) + (by) - 1) / (by))
#define DIV_ROUND_UP_ULL(n, by) DIV_ROUND_UP((unsigned long long)(n), (by))
#define DIV_ROUND_CLOSEST(n, by) ({ __typeof__(n) _n = (n); __typeof__(by) _by = (by); \
	((_n < 0) == (_by < 0) ? _n + _by / 2 : _n - _by / 2) / _by; })
#define ilog2(x) (63 - __builtin_clzll((u64)(x)))
static inline int fls64(u64 x) { return x ? 64 - __builtin_clzll(x) : 0; }
static inline int fls(u32 x) { return x ? 32 - __builtin_clz(x) : 0; }
static inline u64 mul_u64_u32_shr(u64 a, u32 b, unsigned int shift) { return (u64)(((unsigned __int128)a * b) >> shift); }
static inline unsigned long int_sqrt(unsigned long x)
{
	unsigned long root = 0;

	for (int bit = 31; bit >= 0; bit--)
		if ((root | 1ul << bit) * (root | 1ul << bit) <= x)
			root |= 1ul << bit;
	return root;
}
static inline bool is_power_of_2(unsigned long x) { return x && !(x & (x - 1)); }
#define int_sqrt64(x) ((u32)int_sqrt(x))

#define kmalloc(bytes, how) malloc(bytes)
#define kzalloc(bytes, how) calloc(1, bytes)
#define kmalloc_array(n, bytes, how) calloc(n, bytes)
#define kcalloc(n, bytes, how) calloc(n, bytes)
#define kfree(pointer) free((void *)(pointer))
#define GFP_NOWAIT 0
#define GFP_ATOMIC 0
#define GFP_KERNEL 0
#define __GFP_NOWARN 0

/* --- TCP -------------------------------------------------------------------------------------------------------- */

enum tcp_ca_state { TCP_CA_Open, TCP_CA_Disorder, TCP_CA_CWR, TCP_CA_Recovery, TCP_CA_Loss };
#define TCPF_CA_Open (1 << TCP_CA_Open)
#define TCPF_CA_Disorder (1 << TCP_CA_Disorder)
#define TCPF_CA_CWR (1 << TCP_CA_CWR)
#define TCPF_CA_Recovery (1 << TCP_CA_Recovery)
#define TCPF_CA_Loss (1 << TCP_CA_Loss)

enum tcp_ca_event {
	CA_EVENT_TX_START, CA_EVENT_CWND_RESTART, CA_EVENT_COMPLETE_CWR, CA_EVENT_LOSS, CA_EVENT_ECN_NO_CE,
	CA_EVENT_ECN_IS_CE, CA_EVENT_TLP_RECOVERY
};
enum tcp_ca_ack_event_flags { CA_ACK_SLOWPATH = 1, CA_ACK_WIN_UPDATE = 2, CA_ACK_ECE = 4 };
enum sk_pacing { SK_PACING_NONE, SK_PACING_NEEDED, SK_PACING_FQ };
enum { TCP_ESTABLISHED = 1, TCP_CLOSE = 7, TCP_LISTEN = 10 };
enum { ICSK_ACK_SCHED = 1, ICSK_ACK_TIMER = 2, ICSK_ACK_PUSHED = 4, ICSK_ACK_NOW = 16 };

#define TCP_INFINITE_SSTHRESH 0x7fffffff
#define TCP_INIT_CWND 10
#define TCP_CA_NAME_MAX 16
#define TCP_CONG_NON_RESTRICTED 1
#define TCP_CONG_NEEDS_ECN 2
#define TCP_CONG_WANTS_CE_EVENTS 4
#define TCP_ECN_LOW 16
#define TCP_ECN_ECT_PERMANENT 32
#define TCP_ECN_OK 1
#define TCP_ECN_QUEUE_CWR 2
#define TCP_ECN_DEMAND_CWR 4
#define TCP_TS_HZ 1000
#define MAX_TCP_HEADER 320
#define GSO_LEGACY_MAX_SIZE 65536u
#define GSO_MAX_SIZE 65536u
#define ICSK_CA_PRIV_SIZE 192 /* 104; more for BBRv3 */
#define NSEC_PER_USEC 1000L
#define NSEC_PER_MSEC 1000000L
#define NSEC_PER_SEC 1000000000L
#define USEC_PER_MSEC 1000L
#define USEC_PER_SEC 1000000L
#define MSEC_PER_SEC 1000L
#define INET_DIAG_VEGASINFO 3
#define INET_DIAG_DCTCPINFO 9
#define INET_DIAG_BBRINFO 16
#define BPF_SOCK_OPS_BASE_RTT 0
#define TCP_PLB_SCALE 8

struct sock {
	unsigned long sk_pacing_rate, sk_max_pacing_rate;
	u32 sk_pacing_status;
	u8 sk_pacing_shift, sk_state;
	u32 sk_gso_max_size, sk_gso_max_segs;
};

struct ack_sample {
	u32 pkts_acked;
	s32 rtt_us;
	u32 in_flight;
};

struct rate_sample {
	u64 prior_mstamp;
	u32 prior_delivered, prior_delivered_ce;
	s32 delivered, delivered_ce;
	long interval_us;
	u32 snd_interval_us, rcv_interval_us;
	long rtt_us;
	int losses;
	u32 acked_sacked, prior_in_flight, last_end_seq;
	bool is_app_limited, is_retrans, is_ack_delayed;
	/* of google's BBRv3 */
	u32 tx_in_flight, lost;
	bool is_acking_tlp_retrans_seq, is_ece;
};

/* A segment that is judged lost, as BBRv3 asks for it. */
struct tcp_skb_cb {
	u32 seq, end_seq;
	u8 sacked;
	struct {
		u32 in_flight, lost;
		u64 delivered_mstamp;
		bool is_app_limited;
	} tx;
};
struct sk_buff {
	struct tcp_skb_cb cb;
};
#define TCP_SKB_CB(skb) ((struct tcp_skb_cb *)&(skb)->cb)
#define tcp_skb_pcount(skb) 1u
#define tcp_skb_tx_in_flight_is_suspicious(...) false

struct tcpvegas_info {
	u32 tcpv_enabled, tcpv_rttcnt, tcpv_rtt, tcpv_minrtt;
};
struct tcp_dctcp_info {
	u16 dctcp_enabled, dctcp_ce_state;
	u32 dctcp_alpha, dctcp_ab_ecn, dctcp_ab_tot;
};
enum tcp_bbr_phase {
	BBR_PHASE_INVALID, BBR_PHASE_STARTUP, BBR_PHASE_DRAIN, BBR_PHASE_PROBE_RTT, BBR_PHASE_PROBE_BW_UP,
	BBR_PHASE_PROBE_BW_DOWN, BBR_PHASE_PROBE_BW_CRUISE, BBR_PHASE_PROBE_BW_REFILL
};
struct tcp_bbr_info {
	u32 bbr_bw_lo, bbr_bw_hi, bbr_min_rtt, bbr_pacing_gain, bbr_cwnd_gain;
	u32 bbr_bw_hi_lsb, bbr_bw_hi_msb, bbr_bw_lo_lsb, bbr_bw_lo_msb;
	u8 bbr_mode, bbr_phase, unused1, bbr_version;
	u32 bbr_inflight_lo, bbr_inflight_hi, bbr_extra_acked;
};
union tcp_cc_info {
	struct tcpvegas_info vegas;
	struct tcp_dctcp_info dctcp;
	struct tcp_bbr_info bbr;
};

struct module;
struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	void (*set_state)(struct sock *sk, u8 new_state);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event event);
	void (*in_ack_event)(struct sock *sk, u32 flags);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	u32 (*min_tso_segs)(struct sock *sk);
	u32 (*tso_segs)(struct sock *sk, unsigned int mss);
	void (*skb_marked_lost)(struct sock *sk, const struct sk_buff *skb);
#if FOREBAY_LINUX >= FOREBAY_VERSION(6, 10)
	void (*cong_control)(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs);
#else
	void (*cong_control)(struct sock *sk, const struct rate_sample *rs);
#endif
	u32 (*undo_cwnd)(struct sock *sk);
	u32 (*sndbuf_expand)(struct sock *sk);
	size_t (*get_info)(struct sock *sk, u32 ext, int *attr, union tcp_cc_info *info);
	char name[TCP_CA_NAME_MAX];
	struct module *owner;
	u32 key, flags;
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
};

/* Kathleen Nichols' windowed filter: the best sample, the best after it, and the best after that. */
struct minmax_sample {
	u32 t, v;
};
struct minmax {
	struct minmax_sample s[3];
};

struct inet_connection_sock {
	struct sock sk;
	u8 icsk_ca_state, icsk_retransmits, icsk_ca_initialized;
	struct {
		u8 pending;
	} icsk_ack;
	const struct tcp_congestion_ops *icsk_ca_ops;
	u64 icsk_ca_priv[ICSK_CA_PRIV_SIZE / sizeof(u64)];
};

struct tcp_sock {
	struct inet_connection_sock inet_conn; /* first: a sock is a tcp_sock */
	u32 snd_cwnd, snd_ssthresh, snd_cwnd_cnt, snd_cwnd_clamp, snd_cwnd_used, snd_cwnd_stamp;
	u32 prior_cwnd, prior_ssthresh, lsndtime;
	u32 mss_cache, snd_una, snd_nxt, rcv_nxt, write_seq, high_seq, undo_marker;
	u32 packets_out, sacked_out, lost_out, retrans_out, max_packets_out, reordering;
	u32 delivered, delivered_ce, lost, app_limited, srtt_us, mdev_us, total_retrans;
	u64 tcp_mstamp, delivered_mstamp, first_tx_mstamp, tcp_clock_cache, tcp_wstamp_ns, bytes_acked;
	bool is_cwnd_limited, is_sack_reneg, fast_ack_mode, tlp_orig_data_app_limited;
	u8 ecn_flags;
	struct {
		u32 rcv_tsval, rcv_tsecr;
		bool saw_tstamp;
	} rx_opt;
	struct minmax rtt_min;
	/* the shim's own */
	u64 forebay_now_ns, forebay_seed, forebay_drawn, forebay_una;
	u32 forebay_limited_from, forebay_limited_to; /* what was sent between was app-limited */
	bool forebay_limited;
};

static inline struct tcp_sock *tcp_sk(const struct sock *sk) { return (struct tcp_sock *)sk; }
static inline struct inet_connection_sock *inet_csk(const struct sock *sk) { return (struct inet_connection_sock *)sk; }
static inline void *inet_csk_ca(const struct sock *sk) { return inet_csk(sk)->icsk_ca_priv; }

/* The connection whose hook runs in this thread: clocks and random numbers are of it. */
extern __thread struct tcp_sock *forebay_current;

#define FOREBAY_BOOT_S 1000ul /* clocks have run for as long: 0 is no time to a module */
#define jiffies ((unsigned long)(FOREBAY_BOOT_S * HZ + forebay_current->forebay_now_ns / (NSEC_PER_SEC / HZ)))
#define tcp_jiffies32 ((u32)jiffies)
#define get_jiffies_64() ((u64)jiffies)
#define usecs_to_jiffies(us) ((unsigned long)DIV_ROUND_UP((u64)(us) * HZ, (u64)USEC_PER_SEC))
#define msecs_to_jiffies(ms) ((unsigned long)DIV_ROUND_UP((u64)(ms) * HZ, (u64)MSEC_PER_SEC))
#define jiffies_to_usecs(j) ((unsigned int)((u64)(j) * USEC_PER_SEC / HZ))
#define jiffies_to_msecs(j) ((unsigned int)((u64)(j) * MSEC_PER_SEC / HZ))
#define time_after(a, b) ((long)((b) - (a)) < 0)
#define time_before(a, b) time_after(b, a)
#define time_after_eq(a, b) ((long)((a) - (b)) >= 0)
#define time_before_eq(a, b) time_after_eq(b, a)
#define time_after32(a, b) ((s32)((u32)(b) - (u32)(a)) < 0)
#define time_before32(a, b) time_after32(b, a)
static inline u64 forebay_clock_us(void) { return FOREBAY_BOOT_S * USEC_PER_SEC + forebay_current->forebay_now_ns / NSEC_PER_USEC; }
#define tcp_clock_us() forebay_clock_us()
#define tcp_clock_ns() (1000 * forebay_clock_us())
#define local_clock() tcp_clock_ns()
#define ktime_get_ns() tcp_clock_ns()
#define ktime_get() ((ktime_t)tcp_clock_ns())
#define ktime_get_real() ktime_get()
#define ktime_to_us(t) ((t) / 1000)
#define tcp_time_stamp(tp) ((u32)((tp)->tcp_mstamp / 1000))
#define tcp_time_stamp_ts(tp) tcp_time_stamp(tp)
#define tcp_time_stamp_ms(tp) tcp_time_stamp(tp)
static inline u32 tcp_stamp_us_delta(u64 later, u64 earlier) { return (s64)(later - earlier) > 0 ? later - earlier : 0; }

static inline bool before(u32 a, u32 b) { return (s32)(a - b) < 0; }
#define after(a, b) before(b, a)
static inline bool between(u32 seq, u32 low, u32 high) { return high - low >= seq - low; }

/* As crates/sim/src/cc/hash_choice.rs: the simulator's own BBR makes the same choices. */
static inline u32 get_random_u32(void)
{
	u64 count = ++forebay_current->forebay_drawn;
	u64 z = forebay_current->forebay_now_ns ^ forebay_current->forebay_seed ^ (count * 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return (u32)((z ^ (z >> 31)) >> 32);
}
#define get_random_u32_below(end) ((u32)(((u64)get_random_u32() * (u32)(end)) >> 32))
#define prandom_u32_max(end) get_random_u32_below(end)
#define prandom_u32() get_random_u32()
#define get_random_u8() ((u8)get_random_u32())
#define get_random_u16() ((u16)get_random_u32())
static inline void get_random_bytes(void *place, size_t bytes)
{
	for (u8 *at = place; bytes; bytes--)
		*at++ = get_random_u8();
}

static inline u32 minmax_get(const struct minmax *m) { return m->s[0].v; }
static inline u32 minmax_reset(struct minmax *m, u32 t, u32 value)
{
	m->s[0] = m->s[1] = m->s[2] = (struct minmax_sample){ .t = t, .v = value };
	return value;
}
/* As crates/sim/src/cc/max_filter.rs; `low` looks for the least. */
static inline u32 forebay_running(struct minmax *m, u32 window, u32 t, u32 value, bool low)
{
	struct minmax_sample new = { .t = t, .v = value };
	u32 age;
#define FOREBAY_NO_WORSE(than) (low ? value <= (than) : value >= (than))
	if (FOREBAY_NO_WORSE(m->s[0].v) || t - m->s[2].t > window)
		return minmax_reset(m, t, value);
	if (FOREBAY_NO_WORSE(m->s[1].v))
		m->s[1] = m->s[2] = new;
	else if (FOREBAY_NO_WORSE(m->s[2].v))
		m->s[2] = new;
#undef FOREBAY_NO_WORSE
	age = t - m->s[0].t;
	if (age > window) {
		m->s[0] = m->s[1];
		m->s[1] = m->s[2];
		m->s[2] = new;
		if (t - m->s[0].t > window) {
			m->s[0] = m->s[1];
			m->s[1] = m->s[2];
		}
	} else if (m->s[1].t == m->s[0].t && age > window / 4) {
		m->s[1] = m->s[2] = new;
	} else if (m->s[2].t == m->s[1].t && age > window / 2) {
		m->s[2] = new;
	}
	return m->s[0].v;
}
#define minmax_running_max(m, window, t, value) forebay_running(m, window, t, value, false)
#define minmax_running_min(m, window, t, value) forebay_running(m, window, t, value, true)

static inline u32 tcp_snd_cwnd(const struct tcp_sock *tp) { return tp->snd_cwnd; }
static inline void tcp_snd_cwnd_set(struct tcp_sock *tp, u32 cwnd) { tp->snd_cwnd = cwnd; }
static inline bool tcp_in_slow_start(const struct tcp_sock *tp) { return tp->snd_cwnd < tp->snd_ssthresh; }
static inline bool tcp_in_initial_slowstart(const struct tcp_sock *tp) { return tp->snd_ssthresh >= TCP_INFINITE_SSTHRESH; }
static inline u32 tcp_left_out(const struct tcp_sock *tp) { return tp->sacked_out + tp->lost_out; }
static inline u32 tcp_packets_in_flight(const struct tcp_sock *tp) { return tp->packets_out - tcp_left_out(tp) + tp->retrans_out; }
static inline u32 tcp_min_rtt(const struct tcp_sock *tp) { return minmax_get(&tp->rtt_min); }
static inline u32 tcp_max_tso_deferred_mss(const struct tcp_sock *tp) { return 3; }
static inline bool tcp_is_cwnd_limited(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (tp->is_cwnd_limited)
		return true;
	return tcp_in_slow_start(tp) && tp->snd_cwnd < 2 * tp->max_packets_out; /* RFC 7661 */
}
static inline u32 tcp_current_ssthresh(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u8 state = inet_csk(sk)->icsk_ca_state;
	u32 most = (tp->snd_cwnd >> 1) + (tp->snd_cwnd >> 2);

	if (state == TCP_CA_CWR || state == TCP_CA_Recovery)
		return tp->snd_ssthresh;
	return max(tp->snd_ssthresh, most);
}

/* RFC 5681, section 3.1: up to ssthresh; returns the segments beyond. */
static inline u32 tcp_slow_start(struct tcp_sock *tp, u32 acked)
{
	u32 room = tp->snd_ssthresh - tp->snd_cwnd, used = acked < room ? acked : room;

	tp->snd_cwnd = min(tp->snd_cwnd + used, tp->snd_cwnd_clamp);
	return acked - used;
}
/* As crates/sim/src/cc/ai_counter.rs. */
static inline void tcp_cong_avoid_ai(struct tcp_sock *tp, u32 every, u32 acked)
{
	if (tp->snd_cwnd_cnt >= every) {
		tp->snd_cwnd_cnt = 0;
		tp->snd_cwnd++;
	}
	tp->snd_cwnd_cnt += acked;
	if (tp->snd_cwnd_cnt >= every) {
		tp->snd_cwnd += tp->snd_cwnd_cnt / every;
		tp->snd_cwnd_cnt %= every;
	}
	tp->snd_cwnd = min(tp->snd_cwnd, tp->snd_cwnd_clamp);
}
static inline void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp))
		acked = tcp_slow_start(tp, acked);
	if (acked)
		tcp_cong_avoid_ai(tp, tp->snd_cwnd, acked);
}
static inline u32 tcp_reno_ssthresh(struct sock *sk) { return max(tcp_sk(sk)->snd_cwnd >> 1, 2u); }
static inline u32 tcp_reno_undo_cwnd(struct sock *sk) { return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd); }

/* The segments of a burst of a millisecond, at least `least`. */
static inline u32 tcp_tso_autosize(const struct sock *sk, unsigned int mss, int least)
{
	unsigned long bytes = sk->sk_pacing_rate >> sk->sk_pacing_shift;
	u32 halvings = tcp_min_rtt(tcp_sk(sk)) >> 9;

	if (halvings < 32)
		bytes += sk->sk_gso_max_size >> halvings;
	bytes = min_t(unsigned long, bytes, sk->sk_gso_max_size);
	return max_t(u32, bytes / mss, least);
}

static inline void tcp_enter_cwr(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (inet_csk(sk)->icsk_ca_state >= TCP_CA_CWR)
		return;
	tp->prior_cwnd = tp->snd_cwnd;
	tp->snd_cwnd_cnt = 0;
	tp->snd_ssthresh = inet_csk(sk)->icsk_ca_ops->ssthresh(sk);
	tp->snd_cwnd = max(1u, min(tp->snd_cwnd, tp->snd_ssthresh));
}

struct net {
	struct {
		u32 sysctl_tcp_min_tso_segs, sysctl_tcp_plb_enabled;
	} ipv4;
};
static struct net forebay_net = { .ipv4.sysctl_tcp_min_tso_segs = 2 };
#define sock_net(sk) (&forebay_net)
#define NET_INC_STATS(net, what) ((void)0)
#define NET_ADD_STATS(net, what, by) ((void)0)
#define tcp_call_bpf(...) (-1)
#define INET_ECN_xmit(sk) ((void)(sk))
#define INET_ECN_dontxmit(sk) ((void)(sk))
#define __tcp_send_ack(sk, ...) ((void)(sk))
#define tcp_send_ack(sk) ((void)(sk))

struct tcp_plb_state {
	u8 consec_cong_rounds;
	u32 pause_until;
};
#define tcp_plb_init(sk, plb) ((void)(plb))
#define tcp_plb_update_state(sk, plb, ratio) ((void)(plb))
#define tcp_plb_check_rehash(sk, plb) ((void)(plb))
#define tcp_plb_update_state_upon_rto(sk, plb) ((void)(plb))

int tcp_register_congestion_control(struct tcp_congestion_ops *ops);
void tcp_unregister_congestion_control(struct tcp_congestion_ops *ops);

#ifdef FOREBAY_MAIN
#include "forebay_linux_hooks.h"
#endif

#endif
