use super::*;
use std::mem::offset_of;

#[test]
fn what_each_packet_of_a_plain_flow_touches_lies_in_three_lines() {
    let line = |offset: usize| offset / 64;
    let receiver = offset_of!(Flow, receiver);
    let sender = offset_of!(Flow, sender);
    let lines = [
        receiver + offset_of!(Receiver, rcv_nxt),
        offset_of!(Flow, ack_return_delay),
        offset_of!(Flow, last_ack_arrival),
        offset_of!(Flow, key),
        offset_of!(Flow, first_link) + 1,
        sender,
        sender + offset_of!(Sender, timer_at),
        sender + offset_of!(Sender, resend_first),
        sender + offset_of!(Sender, rtt),
    ]
    .map(line);
    let first = lines[0];
    assert_eq!(lines, [0, 0, 0, 0, 0, 1, 2, 2, 2].map(|line| first + line));
}
