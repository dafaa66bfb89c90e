//! Refuses an invalid plan. Python has checked the scenario, so such a plan is
//! of another version or written by hand.

use super::{Flows, Plan};
use forebay_sim::config::{BucketSpec, JitterSpec, LinkPlan, LossSpec, Refill};
use forebay_sim::time::Picos;

/// The version of the plan's format that this binary reads.
const SCHEMA: u32 = 1;
/// Longer than any run: sums of shorter times cannot overflow.
const LONGEST: Picos = 1 << 60;

impl Plan {
    pub(super) fn check(&self) -> Result<(), String> {
        if self.schema != SCHEMA {
            return Err(format!("schema {}, but this binary reads {SCHEMA}", self.schema));
        }
        if self.batches == 0 || self.window_ps < u64::from(self.batches) {
            return Err("no batch, or no window to divide".into());
        }
        if self.warmup_ps.saturating_add(self.window_ps) > LONGEST {
            return Err("the run is longer than the clock's 13 days".into());
        }
        if self.trace.as_ref().is_some_and(|trace| trace.step_ps == 0) || self.sample_ps == 0 {
            return Err("no time between two samples".into());
        }
        self.links.iter().try_for_each(|link| self.check_link(link))?;
        self.check_routes()?;
        self.check_flows()?;
        self.check_lists()
    }

    fn check_link(&self, link: &LinkPlan) -> Result<(), String> {
        positive(link.rate_bps, "link rate")?;
        link.alpha.map_or(Ok(()), |alpha| positive(alpha, "alpha"))?;
        [&link.shaper, &link.policer].into_iter().flatten().try_for_each(check_bucket)?;
        link.loss.as_ref().map_or(Ok(()), check_loss)?;
        link.jitter.as_ref().map_or(Ok(()), check_jitter)?;
        if link.framing.is_some() {
            return Err(format!("{} has framing", link.name));
        }
        let varies = link.loss.is_some() || link.rate_trace.is_some() || link.jitter.is_some();
        if varies && link.transmit_ring > 0 || link.rate_trace.is_some() && link.shaper.is_some() {
            return Err(format!("{} has a ring or a shaper and is no plain wire", link.name));
        }
        match (link.alpha, self.memory_bytes) {
            (Some(_), None) => Err(format!("{} shares a memory that is not there", link.name)),
            _ if link.delay_ps > LONGEST => Err(format!("{} is too long", link.name)),
            _ => Ok(()),
        }
    }

    fn check_routes(&self) -> Result<(), String> {
        for (forward, backward) in &self.routes {
            within("link", forward, self.links.len())?;
            within("link", backward, self.links.len())?;
            if forward.is_empty() || forward.len() + backward.len() > usize::from(u8::MAX) - 1 {
                return Err("a route without a link, or with too many".into());
            }
        }
        Ok(())
    }

    fn check_flows(&self) -> Result<(), String> {
        let (flows, n) = (&self.flows, self.flows.len());
        if flows.lengths().iter().any(|&len| len != n) {
            return Err("flow arrays differ in length".into());
        }
        within("class", &flows.class, self.classes.len())?;
        within("route", &flows.route, self.routes.len())?;
        flows.access_bps.iter().try_for_each(|&rate| positive(rate, "access rate"))?;
        let last = |first: std::net::Ipv4Addr| first.to_bits().checked_add(n as u32);
        match (last(self.first_sender), last(self.first_receiver)) {
            (Some(_), Some(_)) if flows.rtt_ps.iter().all(|&rtt| rtt < LONGEST) => Ok(()),
            _ => Err("addresses or round trips beyond their range".into()),
        }
    }

    fn check_lists(&self) -> Result<(), String> {
        let n = self.flows.len();
        let lists = [
            self.packets.as_ref().map(|list| (&list.offsets, list.at_ps.len(), list.bytes.len())),
            self.sessions
                .as_ref()
                .map(|list| (&list.offsets, list.segments.len(), list.think_ps.len())),
        ];
        for (offsets, first, second) in lists.into_iter().flatten() {
            let ends_inside = offsets.last().is_some_and(|&last| last <= first);
            if offsets.len() != n + 1 || !offsets.is_sorted() || !ends_inside || first != second {
                return Err("offsets that do not fit their packets or files".into());
            }
        }
        Ok(())
    }
}

impl Flows {
    fn lengths(&self) -> [usize; 8] {
        [
            self.route.len(),
            self.congestion_control.len(),
            self.packet_bytes.len(),
            self.rtt_ps.len(),
            self.start_ps.len(),
            self.segments.len(),
            self.access_bps.len(),
            self.access_group.len(),
        ]
    }
}

fn check_bucket(bucket: &BucketSpec) -> Result<(), String> {
    positive(bucket.rate_bps, "rate of a token bucket")?;
    match bucket.refill {
        Refill::Deficit => Ok(()),
        _ => positive(bucket.burst_bytes as f64, "burst of a token bucket"),
    }
}

fn check_loss(loss: &LossSpec) -> Result<(), String> {
    let all = [loss.in_good, loss.in_bad, loss.good_to_bad, loss.bad_to_good];
    all.into_iter().try_for_each(|value| probability(value, "probability of a loss"))
}

fn check_jitter(jitter: &JitterSpec) -> Result<(), String> {
    if jitter.reorders {
        return Err("jitter in which packets overtake".into());
    }
    if jitter.most > LONGEST {
        return Err("jitter longer than the clock's 13 days".into());
    }
    probability(jitter.share, "share of packets with jitter")
}

fn probability(value: f64, what: &str) -> Result<(), String> {
    if (0.0..=1.0).contains(&value) { Ok(()) } else { Err(format!("{what} must be from 0 to 1")) }
}

fn within(what: &str, indexes: &[u16], count: usize) -> Result<(), String> {
    match indexes.iter().find(|&&index| usize::from(index) >= count) {
        Some(index) => Err(format!("there is no {what} number {index}")),
        None => Ok(()),
    }
}

fn positive(value: f64, what: &str) -> Result<(), String> {
    if value > 0.0 && value.is_finite() { Ok(()) } else { Err(format!("{what} must be positive")) }
}
