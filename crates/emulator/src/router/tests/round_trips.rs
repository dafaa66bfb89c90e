//! What the router reads of senders' round trips.

use super::*;

#[test]
fn a_round_trip_lasts_from_the_segment_to_its_ack_and_counts_in_the_window() {
    let mut plan = plan(vec![link(10)], &[(&[0], &[])]);
    plan["flows"]["rtt_ps"] = json!([100 * MICRO]);
    plan["warmup_ps"] = json!(1000 * MICRO);
    let (mut router, mut seen) = (router(plan), Seen::default());
    for (begun, number) in [(0, 0_u32), (2000 * MICRO, 1448)] {
        let mut data = segment(to_right(0), 1500, 0);
        data[24..28].copy_from_slice(&number.to_be_bytes());
        send(&mut router, &mut seen, begun, Side::Left, &data);
        let mut ack = segment(Ipv4Addr::new(10, 64, 0, 0), 52, 0);
        ack[28..32].copy_from_slice(&(number + 1448).to_be_bytes());
        send(&mut router, &mut seen, begun + 180 * MICRO, Side::Right, &ack);
    }
    drain(&mut router, &mut seen);
    let RouterReadings { rtt, .. } = router.finish();
    assert_eq!(rtt[0].counts(), [1], "the first is before the window");
    let edges = rtt[0].edges();
    assert!(edges[0] <= 230 * MICRO && 230 * MICRO < edges[1], "{edges:?}");
}
