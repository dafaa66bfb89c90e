/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * CUBIC' of Yang et al. 2013, Table II: beta = 0.8, of Linux up to 2.6.25.
 */
#define BETA 819
#include "cubic.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

SEC(".struct_ops")
struct tcp_congestion_ops fb_cubic08 = {
	.cong_avoid = (void *)cubic_cong_avoid,
	.pkts_acked = (void *)cubic_pkts_acked,
	.ssthresh = (void *)cubic_ssthresh,
	.set_state = (void *)cubic_set_state,
	.undo_cwnd = (void *)cubic_undo_cwnd,
	.name = "fb_cubic08",
};
