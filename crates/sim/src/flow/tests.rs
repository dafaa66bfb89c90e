use super::*;
use std::mem::offset_of;

#[test]
fn what_each_packet_of_a_plain_flow_touches_lies_in_three_lines() {
    let line = |offset: usize| offset / 64;
    let (access, receiver) = (offset_of!(Flow, access), offset_of!(Flow, receiver));
    let sender = offset_of!(Flow, sender);
    let lines = [
        access + offset_of!(AccessLink, packet_time),
        offset_of!(Flow, ack_path),
        offset_of!(Flow, key),
        offset_of!(Flow, first_hop),
        receiver + offset_of!(Receiver, rcv_nxt),
        receiver + Receiver::HOT_BYTES - 1,
        sender,
        sender + offset_of!(Sender, timer_at),
        sender + offset_of!(Sender, retransmit_first),
        sender + offset_of!(Sender, rtt),
    ]
    .map(line);
    let [common, first, second] = [lines[0], lines[6], lines[7]];
    assert_eq!(
        lines,
        [common, common, common, common, common, common, first, second, second, second]
    );
    assert_ne!(common, first);
    assert_ne!(first, second);
}
