//! What happens to a packet, in its order.
//!
//! `sender_events`: an ACK or a timer reaches the sender. `sending`: its segments cross the access link. `bursts`: the same with segmentation offload. `runs`: several of them
//! reach queue and receiver in one step. `forwarding`:
//! a packet is enqueued at a link, departs and goes on. `receiving`: the receiver's ACK is put on the way back.
//! `delayed_ack`: an ACK that was held back is sent. `sources`: datagrams, and users who write.

mod bursts;
mod delayed_ack;
mod forwarding;
mod receiving;
mod runs;
mod sender_events;
mod sending;
mod sources;
