//! What is known of each flow from the configuration while a run goes on.

use crate::config::Config;
use crate::fast::flow_kind::{FlowKind, GeneralKind};
use crate::flow::Flow;
use crate::packet::{Packet, Payload};
use crate::tcp::profile::Profile;

/// The configuration of all flows, and by flow its traffic class.
pub(crate) struct Traffic<'a> {
    pub(crate) config: &'a Config,
    /// Empty where there is one class, so that its number costs no look into memory.
    classes: Vec<u16>,
}

impl<'a> Traffic<'a> {
    pub(crate) fn of(config: &'a Config) -> Self {
        let one = config.profiles.len() == 1;
        let classes = config.flows.iter().filter(|_| !one).map(|flow| flow.class).collect();
        Self { config, classes }
    }

    /// A sender has a scoreboard: it has SACK, or paces.
    pub(crate) fn has_scoreboards(&self) -> bool {
        self.config.profiles.iter().any(|profile| profile.sack) || self.config.paces()
    }

    /// The traffic class of a flow by its number.
    #[inline(always)]
    pub(crate) fn class(&self, flow: u32) -> usize {
        self.classes.get(flow as usize).map_or(0, |&class| class as usize)
    }

    /// What kind of TCP a flow is.
    #[inline(always)]
    pub(crate) fn profile<K: FlowKind>(&self, flow: &Flow) -> &'a Profile {
        K::PROFILE.unwrap_or_else(|| &self.config.profiles[self.class(flow.index())])
    }

    /// A packet of a flow, at a link whose meter gives its class the number `class`.
    #[inline]
    pub(crate) fn packet(&self, flow: &Flow, class: u16, payload: Payload) -> Packet {
        let bytes = if payload.is_ack() {
            self.profile::<GeneralKind>(flow).ack_bytes
        } else {
            flow.data_bytes(payload.seq(), self.config)
        };
        Packet { flow: flow.index(), bytes, class, payload }
    }
}
