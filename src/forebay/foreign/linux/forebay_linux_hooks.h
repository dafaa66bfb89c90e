/* SPDX-License-Identifier: 0BSD
 *
 * The hooks of forebay_cc.h over those of a module of the kernel.
 */
__thread struct tcp_sock *forebay_current;
static struct tcp_congestion_ops *forebay_ops;

int tcp_register_congestion_control(struct tcp_congestion_ops *ops)
{
	/* A module may register a fallback besides: the first is the one. */
	if (!forebay_ops)
		forebay_ops = ops;
	return 0;
}

void tcp_unregister_congestion_control(struct tcp_congestion_ops *ops) { (void)ops; }

static u32 forebay_whole(double segments)
{
	return segments >= TCP_INFINITE_SSTHRESH ? TCP_INFINITE_SSTHRESH : (u32)segments;
}

/* The kernel's fields of what Forebay says. */
static struct sock *forebay_take(void *state, const struct forebay_cc_window *window, const struct forebay_cc_flow *flow)
{
	struct tcp_sock *tp = state;
	u32 mss = flow->segment_bytes;

	forebay_current = tp;
	tp->forebay_now_ns = flow->now_ns;
	tp->tcp_mstamp = forebay_clock_us();
	tp->tcp_clock_cache = FOREBAY_BOOT_S * NSEC_PER_SEC + flow->now_ns;
	tp->tcp_wstamp_ns = FOREBAY_BOOT_S * NSEC_PER_SEC + flow->next_departure_ns;
	tp->snd_cwnd = forebay_whole(window->cwnd);
	tp->snd_ssthresh = forebay_whole(window->ssthresh);
	tp->prior_cwnd = forebay_whole(flow->prior_cwnd);
	tp->prior_ssthresh = forebay_whole(flow->prior_ssthresh);
	tp->mss_cache = mss;
	tp->snd_una = (u32)(flow->snd_una * mss);
	tp->snd_nxt = tp->write_seq = (u32)(flow->snd_nxt * mss);
	tp->bytes_acked = flow->snd_una * mss;
	tp->packets_out = flow->packets_out;
	tp->sacked_out = flow->sacked_out;
	tp->lost_out = flow->lost_out;
	tp->retrans_out = flow->retrans_out;
	tp->max_packets_out = flow->max_packets_out;
	tp->lost = (u32)flow->lost_total;
	tp->srtt_us = (u32)(8 * flow->srtt_ns / NSEC_PER_USEC);
	minmax_reset(&tp->rtt_min, tcp_jiffies32, flow->min_rtt_ns == UINT64_MAX ? ~0u : (u32)(flow->min_rtt_ns / NSEC_PER_USEC));
	tp->is_cwnd_limited = flow->ack_flags & FOREBAY_CC_CWND_LIMITED;
	return state;
}

static void forebay_give(struct sock *sk, struct forebay_cc_window *window)
{
	struct tcp_sock *tp = tcp_sk(sk);

	window->cwnd = tp->snd_cwnd;
	window->ssthresh = tp->snd_ssthresh >= TCP_INFINITE_SSTHRESH ? INFINITY : tp->snd_ssthresh;
	/* The first ten segments are not paced: none goes before a round trip is known. */
	if (forebay_ops->cong_control && tp->srtt_us)
		window->pacing_rate = sk->sk_pacing_rate == ~0ul ? 0 : (double)sk->sk_pacing_rate / tp->mss_cache;
}

/* TCP's own pacing rate (net.ipv4.tcp_pacing_ss_ratio 200, _ca_ratio 120), as the ACK before left it. It paces nothing here. */
static void forebay_rate_of_window(struct tcp_sock *tp, const struct forebay_cc_window *window)
{
	u64 percent = window->cwnd < window->ssthresh / 2 ? 200 : 120;
	u32 segments = max((u32)window->cwnd, tp->packets_out);

	if (tp->srtt_us)
		tp->inet_conn.sk.sk_pacing_rate = 8 * 10000 * percent * segments * tp->mss_cache / tp->srtt_us;
}

static void forebay_event(struct sock *sk, enum tcp_ca_event event)
{
	if (forebay_ops->cwnd_event)
		forebay_ops->cwnd_event(sk, event);
}

static void forebay_enter(struct sock *sk, u8 phase)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	u8 was = icsk->icsk_ca_state;

	if ((was == TCP_CA_CWR || was == TCP_CA_Recovery) && phase < TCP_CA_CWR)
		forebay_event(sk, CA_EVENT_COMPLETE_CWR);
	if (forebay_ops->set_state)
		forebay_ops->set_state(sk, phase);
	icsk->icsk_ca_state = phase;
}

static void forebay_init(void *state, struct forebay_cc_window *window, const struct forebay_cc_flow *flow)
{
	struct tcp_sock *tp = state;
	struct sock *sk = state;

	sk->sk_pacing_rate = sk->sk_max_pacing_rate = ~0ul;
	sk->sk_pacing_shift = 10;
	sk->sk_state = TCP_ESTABLISHED;
	sk->sk_gso_max_size = GSO_LEGACY_MAX_SIZE - (MAX_TCP_HEADER + 1);
	tp->snd_cwnd_clamp = ~0u;
	tp->reordering = 3;
	tp->ecn_flags = forebay_ops->flags & TCP_CONG_NEEDS_ECN ? TCP_ECN_OK : 0;
	tp->rx_opt.saw_tstamp = true;
	tp->forebay_seed = flow->seed;
	inet_csk(sk)->icsk_ca_ops = forebay_ops;
	forebay_take(state, window, flow);
	tp->delivered_mstamp = tp->tcp_mstamp;
	inet_csk(sk)->icsk_ca_initialized = 1;
	if (forebay_ops->init)
		forebay_ops->init(sk);
	forebay_give(sk, window);
}

static u32 forebay_ack_flags(const struct forebay_cc_flow *flow)
{
	u32 flags = flow->ack_flags & FOREBAY_CC_SLOW_PATH ? CA_ACK_SLOWPATH : 0;

	if (flow->snd_una != forebay_current->forebay_una)
		flags |= CA_ACK_WIN_UPDATE;
	return flow->marked ? flags | CA_ACK_ECE : flags;
}

static void forebay_rate(struct rate_sample *rs, const struct tcp_sock *tp, const struct forebay_cc_flow *flow, s32 rtt_us)
{
	rs->delivered = rs->interval_us = -1;
	rs->rtt_us = rtt_us;
	rs->losses = flow->newly_lost;
	rs->acked_sacked = flow->acked;
	rs->prior_in_flight = flow->prior_in_flight;
	rs->last_end_seq = tp->snd_una;
	rs->is_ece = flow->marked;
	rs->is_ack_delayed = flow->ack_flags & FOREBAY_CC_ACK_DELAYED;
	if (!(flow->ack_flags & FOREBAY_CC_HAS_RATE))
		return;
	rs->delivered = (s32)flow->rate_delivered;
	rs->interval_us = (long)(flow->rate_interval_ns / NSEC_PER_USEC);
	rs->prior_delivered = (u32)flow->rate_prior_delivered;
	rs->tx_in_flight = (u32)flow->rate_tx_in_flight;
	rs->lost = (u32)(flow->lost_total - flow->rate_prior_lost);
	rs->prior_mstamp = tp->tcp_mstamp - rs->interval_us;
	rs->is_app_limited = (flow->ack_flags & FOREBAY_CC_APP_LIMITED) ||
		(tp->forebay_limited && between(rs->prior_delivered, tp->forebay_limited_from, tp->forebay_limited_to));
	if ((u32)rs->interval_us < tcp_min_rtt(tp))
		rs->interval_us = -1; /* faster than any round trip: an ACK of something else */
}

/* Segments are judged lost: with one of them too much of its flight, or with none. */
static void forebay_lose(struct sock *sk, const struct forebay_cc_flow *flow)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!forebay_ops->skb_marked_lost)
		return;
	for (u32 each = 0; each < flow->newly_lost || (!each && flow->lost_flight); each++) {
		struct sk_buff skb = { .cb.tx.in_flight = ~0u >> 1, .cb.tx.lost = tp->lost, .cb.tx.delivered_mstamp = 1 };

		if (!each && flow->lost_flight) {
			skb.cb.tx.in_flight = (u32)flow->lost_flight;
			skb.cb.tx.lost = tp->lost - skb.cb.tx.in_flight * 5 / 256 - 1;
		}
		forebay_ops->skb_marked_lost(sk, &skb);
	}
}

static void forebay_on_ack(void *state, struct forebay_cc_window *window, const struct forebay_cc_flow *flow)
{
	struct tcp_sock *tp = state;
	struct sock *sk = state;
	s32 rtt_us = flow->rtt_ns ? (s32)(flow->rtt_ns / NSEC_PER_USEC) : -1;
	struct rate_sample rs = { 0 };
	struct ack_sample sample = { .pkts_acked = (u32)(flow->snd_una - tp->forebay_una), .rtt_us = rtt_us };

	if (!forebay_ops->cong_control)
		forebay_rate_of_window(tp, window);
	forebay_take(state, window, flow);
	if (flow->acked)
		tp->delivered_mstamp = tp->tcp_mstamp;
	tp->rx_opt.rcv_tsval = (u32)(FOREBAY_BOOT_S * 1000 + flow->ts_val_ns / NSEC_PER_MSEC);
	tp->rx_opt.rcv_tsecr = (u32)(FOREBAY_BOOT_S * 1000 + flow->ts_ecr_ns / NSEC_PER_MSEC);
	forebay_rate(&rs, tp, flow, rtt_us);
#if FOREBAY_LINUX < FOREBAY_VERSION(6, 12)
	/* The event came before what was delivered was counted. */
	if (forebay_ops->in_ack_event)
		forebay_ops->in_ack_event(sk, forebay_ack_flags(flow));
#endif
	tp->delivered = (u32)flow->delivered_total;
	tp->delivered_ce = (u32)flow->delivered_ce_total;
	sample.in_flight = tp->mss_cache * (tp->delivered - rs.prior_delivered);
	if (forebay_ops->pkts_acked)
		forebay_ops->pkts_acked(sk, &sample);
#if FOREBAY_LINUX >= FOREBAY_VERSION(6, 12)
	if (forebay_ops->in_ack_event)
		forebay_ops->in_ack_event(sk, forebay_ack_flags(flow));
#endif
	tp->forebay_una = flow->snd_una;
	if (inet_csk(sk)->icsk_ca_state != flow->phase)
		forebay_enter(sk, flow->phase);
	forebay_lose(sk, flow);
	if (tp->app_limited && after(tp->delivered, tp->app_limited))
		tp->app_limited = 0;
	if (forebay_ops->cong_control) {
#if FOREBAY_LINUX >= FOREBAY_VERSION(6, 10)
		forebay_ops->cong_control(sk, tp->snd_una, 0, &rs);
#else
		forebay_ops->cong_control(sk, &rs);
#endif
	}
	if (tp->app_limited) { /* a module says so of what it sends from now on */
		if (!tp->forebay_limited || after(tp->delivered, tp->forebay_limited_to))
			tp->forebay_limited_from = tp->delivered;
		tp->forebay_limited_to = tp->app_limited;
		tp->forebay_limited = true;
	}
	forebay_give(sk, window);
}

static void forebay_cong_avoid(void *state, struct forebay_cc_window *window, const struct forebay_cc_flow *flow)
{
	struct tcp_sock *tp = state;

	/* The ACK is that of on_ack, just before. */
	forebay_current = tp;
	tp->snd_cwnd = forebay_whole(window->cwnd);
	tp->snd_ssthresh = forebay_whole(window->ssthresh);
	if (forebay_ops->cong_avoid)
		forebay_ops->cong_avoid(state, tp->snd_una, flow->acked);
	forebay_give(state, window);
}

static double forebay_ssthresh(void *state, const struct forebay_cc_window *window, const struct forebay_cc_flow *flow,
			       uint32_t event)
{
	struct sock *sk = forebay_take(state, window, flow);
	struct tcp_sock *tp = tcp_sk(sk);

	tp->snd_cwnd_cnt = 0;
	tp->prior_cwnd = tp->snd_cwnd;
	tp->high_seq = tp->snd_nxt;
	tp->snd_ssthresh = forebay_ops->ssthresh(sk);
	if (event == FOREBAY_CC_EVENT_TIMEOUT)
		forebay_event(sk, CA_EVENT_LOSS);
	else
		forebay_enter(sk, event == FOREBAY_CC_EVENT_MARK ? TCP_CA_CWR : TCP_CA_Recovery);
	return tp->snd_ssthresh >= TCP_INFINITE_SSTHRESH ? INFINITY : tp->snd_ssthresh;
}

/* A timeout acts at once; recovery and CWR began with ssthresh, and other phases begin in forebay_on_ack. */
static void forebay_on_loss_state(void *state, struct forebay_cc_window *window, const struct forebay_cc_flow *flow)
{
	if (flow->phase == FOREBAY_CC_LOSS) {
		forebay_lose(forebay_take(state, window, flow), flow);
		forebay_enter(state, TCP_CA_Loss);
		forebay_give(state, window);
	}
}

static double forebay_undo(void *state, const struct forebay_cc_window *window, const struct forebay_cc_flow *flow)
{
	struct sock *sk = forebay_take(state, window, flow);

	return forebay_ops->undo_cwnd ? forebay_ops->undo_cwnd(sk) : tcp_reno_undo_cwnd(sk);
}

static void forebay_release(void *state)
{
	forebay_current = state;
	if (forebay_ops->release)
		forebay_ops->release(state);
}

static void forebay_on_transmit_start(void *state, struct forebay_cc_window *window, const struct forebay_cc_flow *flow)
{
	struct sock *sk = forebay_take(state, window, flow);

	tcp_sk(sk)->lsndtime = (u32)(FOREBAY_BOOT_S * HZ + flow->last_sent_ns / (NSEC_PER_SEC / HZ));
	forebay_event(sk, CA_EVENT_TX_START);
	forebay_give(sk, window);
}

const struct forebay_cc *forebay_cc(void)
{
	static struct forebay_cc control = {
		.abi = FOREBAY_CC_ABI,
		.size = sizeof(struct forebay_cc),
		.flags = FOREBAY_CC_UNLIMITED,
		.state_bytes = sizeof(struct tcp_sock),
		.init = forebay_init,
		.on_ack = forebay_on_ack,
		.cong_avoid = forebay_cong_avoid,
		.ssthresh = forebay_ssthresh,
		.on_loss_state = forebay_on_loss_state,
		.undo = forebay_undo,
		.release = forebay_release,
		.on_transmit_start = forebay_on_transmit_start,
	};

	if (!forebay_ops && (forebay_module_init() || !forebay_ops))
		return NULL;
	control.name = forebay_ops->name;
	if (forebay_ops->cong_control)
		control.flags |= FOREBAY_CC_PACES | FOREBAY_CC_CONTROLS_CWND;
	if (forebay_ops->flags & TCP_CONG_NEEDS_ECN)
		control.flags |= FOREBAY_CC_ECN;
	return &control;
}
