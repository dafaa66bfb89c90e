use super::{ms, parse, plan, play, steadily};
use crate::clock::Clock;
use crate::drive::counters::Counters;
use crate::drive::drive_plan::{DrivePlan, Side};
use crate::drive::emitter::Emitter;
use crate::drive::readings::Stream;
use crate::drive::sockets::udp_sink;
use crate::drive::stop::Stop;
use crate::drive::udp_sink::UdpSink;
use crate::drive::{DriveReadings, Driver};
use crate::failure::Failure;
use serde_json::{Value, json};

/// Two flows: packets of the first at these times, of the second none.
fn packets(at_ms: &[u64], bytes: u32) -> Value {
    let mut plan = plan("udp", &[0, 0], 0);
    plan["packets"] = json!({
        "offsets": [0, at_ms.len(), at_ms.len()], "at_ps": ms(at_ms), "bytes": vec![bytes; at_ms.len()]
    });
    plan
}

#[test]
fn datagrams_arrive_at_their_times() {
    steadily(|| {
        let read: DriveReadings = play(packets(&[20, 110, 110, 160, 190, 270, 295], 1500)).unwrap();
        let rows = |of: &[Vec<u64>]| of.iter().map(|row| row[0]).collect::<Vec<_>>();
        assert_eq!(rows(&read.sent), [2, 2, 0, 2]);
        assert_eq!(rows(&read.delivered_bytes), [3_000, 3_000, 0, 3_000]);
        assert_eq!(read.flow_bytes, [9_000, 0]);
        // The last two were sent too late to be judged: a packet may take 1 ms + 20 ms + 12 ms.
        assert_eq!(read.streams[0], Stream { flow: 0, sent: 4, received: 4 });
        assert_eq!(read.streams[1], Stream { flow: 1, sent: 0, received: 0 });
        assert_eq!(read.refused, 0);
        assert_eq!(read.lateness.counts().iter().sum::<u64>(), 7);
    });
}

#[test]
fn reverse_datagrams_arrive_on_the_left() {
    steadily(|| {
        let mut plan = packets(&[150], 200);
        plan["classes"][0]["reverse"] = json!(true);
        assert_eq!(play(plan).unwrap().flow_bytes, [200, 0]);
    });
}

#[test]
fn what_a_socket_drops_is_lost() {
    let drive_plan = DrivePlan::new(&parse(packets(&[101; 300], 1000))).unwrap();
    let (socket, port) = udp_sink(0).unwrap();
    // Room for a few of the 300.
    rustix::net::sockopt::set_socket_recv_buffer_size(&socket, 20_000).unwrap();
    let (clock, stop) = (Clock::start(), Stop::new().unwrap());
    let emitter = Emitter::new(&drive_plan, clock, Side::Left, port).unwrap().unwrap();
    let emitted = emitter.run(&stop).unwrap();
    let mut counters = Counters::new(1, 2, 4);
    let mut udp_sink = UdpSink::new(socket, 2);
    udp_sink.collect(&drive_plan, &mut counters).unwrap();
    assert_eq!((emitted.judged[0], emitted.refused), (300, 0));
    assert!((5..100).contains(&udp_sink.received[0]), "{} of 300", udp_sink.received[0]);
}

#[test]
fn a_datagram_without_room_for_its_stamp_is_refused() {
    let started = Driver::start(&parse(packets(&[1], 35)), Clock::start());
    assert!(matches!(started, Err(Failure::Plan(..))));
}
