use super::*;
use std::mem::offset_of;

#[test]
fn what_every_ack_touches_lies_in_two_lines() {
    let rack = offset_of!(Scoreboard, rack);
    let lines = [
        offset_of!(Scoreboard, segments),
        offset_of!(Scoreboard, apart),
        offset_of!(Scoreboard, receive_window),
        offset_of!(Scoreboard, pacing_exempt),
        rack + Rack::RETRANSMISSIONS - 1,
        rack + Rack::RETRANSMISSIONS,
        offset_of!(Scoreboard, retransmission_order) + size_of::<RetransmissionOrder>() - 1,
    ]
    .map(|offset| offset / 64);
    assert_eq!(lines, [0, 0, 1, 1, 1, 2, 2]);
}
