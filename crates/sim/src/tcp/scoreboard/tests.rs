use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::mem::offset_of;

proptest! {
    #[test]
    fn the_three_highest_are_kept(edges in prop::collection::vec(1_u64..400, 1..40)) {
        let (mut board, mut seen) = (Scoreboard::default(), BTreeSet::new());
        for edge in edges {
            if seen.insert(edge) {
                board.rank(edge);
            }
            let expected: Vec<u64> = seen.iter().rev().copied().chain([0, 0]).take(3).collect();
            let below = board.next_highest.map(|below| board.highest - u64::from(below));
            prop_assert_eq!(vec![board.highest, below[0], below[1]], expected);
        }
    }
}

#[test]
fn what_every_ack_touches_lies_in_two_lines() {
    let rack = offset_of!(Scoreboard, rack);
    let lines = [
        offset_of!(Scoreboard, segments),
        offset_of!(Scoreboard, probe) + size_of::<Tlp>() - 1,
        offset_of!(Scoreboard, receive_window),
        offset_of!(Scoreboard, pacing_exempt),
        rack + Rack::RETRANSMISSIONS - 1,
        rack + Rack::RETRANSMISSIONS,
        offset_of!(Scoreboard, resend_from),
    ]
    .map(|offset| offset / 64);
    assert_eq!(lines, [0, 0, 1, 1, 1, 2, 2]);
}
