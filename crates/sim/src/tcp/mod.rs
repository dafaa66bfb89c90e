//! TCP endpoints. Sequence numbers count segments, all of one size within a flow.

pub mod ack_packet;
mod cc_feedback;
pub mod cwnd_limited;
mod delivery_rate;
pub mod frto;
mod highest_sacked;
pub mod newreno;
pub mod offload;
pub mod pacer;
pub mod profile;
mod prr;
pub mod rack;
mod reassembly;
pub mod receive_window;
pub mod receiver;
mod recovery;
mod recovery_state;
mod retransmission_order;
pub mod rtt;
pub mod sack;
pub mod scoreboard;
mod segment;
pub mod send_times;
pub mod sender;
mod sequence;
pub mod tlp;
mod usual_ack;
