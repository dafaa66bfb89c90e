//! A record of every flow and file.

use crate::testbench::{dumbbell, flow, link, simulate, spread};
use forebay_sim::config::{Config, File, FlowSpec, Source, TraceSpec};
use forebay_sim::meters::flow_records::FlowRecord;
use forebay_sim::report::Report;
use forebay_sim::tcp::profile::Profile;
use forebay_sim::time::{MILLISECOND, NEVER, SECOND};

fn recorded(config: Config) -> (Report, Vec<FlowRecord>) {
    let mut report = simulate(&Config { flow_records: true, ..config });
    let records = report.flow_records.take().expect("asked for");
    (report, records)
}

fn transfer(start: u64, segments: u64) -> FlowSpec {
    FlowSpec { source: Source::Segments(segments), ..flow(100 * MILLISECOND, start) }
}

#[test]
fn what_is_not_asked_for_is_not_kept() {
    let report = simulate(&dumbbell(link(1e7, 50), Profile::linux(), spread(3)));
    assert!(report.flow_records.is_none());
}

/// Over links slower and faster than the access link, and with one window: nothing waits for an ACK.
#[test]
fn a_transfer_alone_takes_its_ideal_time() {
    for (rate, segments) in [(1e7, 1), (1e7, 10), (2e9, 7)] {
        let flows = vec![transfer(6 * SECOND, segments)];
        let (_, records) = recorded(dumbbell(link(rate, 50), Profile::linux(), flows));
        let [record] = &records[..] else { panic!("one flow") };
        assert_eq!(record.last_byte - record.start, record.ideal, "{rate} {segments}");
        assert_eq!((record.segments, record.sent, record.lost), (Some(segments), segments, 0));
        assert_eq!(record.window_bytes, 1500 * segments);
        assert!(record.min_rtt >= 100 * MILLISECOND && record.rtt_samples > 0);
    }
}

#[test]
fn records_change_nothing_and_add_up_to_the_readings() {
    for profile in [Profile::linux(), Profile::ns2()] {
        let mut flows = spread(20);
        flows.push(transfer(7 * SECOND, 30));
        flows.push(transfer(15 * SECOND - 1, 30)); // begins, and cannot end
        flows.push(transfer(16 * SECOND, 30)); // never begins
        let config = dumbbell(link(2e7, 30), profile, flows);
        let plain = simulate(&config);
        let (report, records) = recorded(config);
        assert_eq!(report.classes, plain.classes);
        assert_eq!(report.completions, plain.completions);
        assert_eq!(report.flow_bytes, plain.flow_bytes);
        assert_eq!(records.len(), 22, "one never begins");
        let bytes: Vec<u64> = records.iter().map(|record| record.window_bytes).collect();
        assert_eq!(bytes, plain.flow_bytes[..22]);
        let lost = |record: &FlowRecord| record.lost;
        let in_window: u64 = plain.flow_packets.iter().map(|each| each.0).sum();
        assert!(records.iter().map(lost).sum::<u64>() >= in_window && in_window > 0);
        assert!(records[0].segments.is_none() && records[0].last_byte == NEVER);
        assert_eq!(records[20].last_byte - records[20].start, plain.completions[0][0]);
        assert_eq!(records[21].last_byte, NEVER);
    }
}

#[test]
fn a_user_has_a_record_for_each_file() {
    let files = vec![File { segments: 20, think: 100 * MILLISECOND }; 100];
    let user = FlowSpec { source: Source::Files(0, 100), ..flow(50 * MILLISECOND, 0) };
    let config = Config { files, ..dumbbell(link(1e7, 5), Profile::linux(), vec![user]) };
    let (report, records) = recorded(config);
    let begun_and_ended =
        records.iter().filter(|each| each.start >= 5 * SECOND && each.last_byte != NEVER);
    let times: Vec<u64> = begun_and_ended.map(|each| each.last_byte - each.start).collect();
    assert_eq!(times, report.completions[0]);
    assert!(records.iter().map(|each| each.transfer).eq(0..records.len() as u32));
    let sum = |read: fn(&FlowRecord) -> u64| records.iter().map(read).sum::<u64>();
    assert_eq!(sum(|each| each.window_bytes), report.flow_bytes[0]);
    assert!(sum(|each| each.retransmissions) > 0, "a buffer of 5 packets loses some of 10");
    assert!(records.iter().all(|each| each.sent >= each.retransmissions));
}

/// A trace keeps every flow to the end.
#[test]
fn transfers_that_are_freed_are_read_as_those_that_are_kept() {
    for (profile, jitter) in
        [(Profile::linux(), 0), (Profile::ns2(), 0), (Profile::linux(), MILLISECOND)]
    {
        let mut flows = spread(3);
        let short = |at: u64| transfer(at * 1_500_000_000, 1 + at % 9);
        flows.extend((0..12_000).map(short));
        let profile = Profile { jitter, ..profile };
        for flow_records in [false, true] {
            let freeing =
                Config { flow_records, ..dumbbell(link(4e7, 30), profile.clone(), flows.clone()) };
            let keeping = Config {
                trace: Some(TraceSpec { step: SECOND, ..TraceSpec::default() }),
                ..freeing.clone()
            };
            let (freed, kept) = (simulate(&freeing), simulate(&keeping));
            assert!(freed.completions[0].len() > 6000);
            assert_eq!(freed.classes, kept.classes);
            assert_eq!(freed.completions, kept.completions);
            assert_eq!(freed.unfinished, kept.unfinished);
            assert_eq!(
                (freed.flow_bytes, freed.flow_packets),
                (kept.flow_bytes, kept.flow_packets)
            );
            assert_eq!(freed.flow_records, kept.flow_records);
        }
    }
}
