//! The fuzzer's corpus, complete and truncated: no reader may panic.

use forebay_capture::exports::collector::Collector;
use forebay_capture::meter::{Meter, Options};
use forebay_capture::reading::Reading;
use forebay_capture::source::{Progress, unpacked};
use std::fs::{read, read_dir};
use std::io::Cursor;
use std::path::Path;

/// Inputs of a folder, each with its first half and all but its last byte.
fn inputs(folder: &str) -> Vec<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(folder);
    let files = read_dir(path).expect("the corpus is in the repository");
    let whole: Vec<_> = files.map(|file| read(file.unwrap().path()).unwrap()).collect();
    assert!(whole.len() >= 4);
    let parts = |bytes: &Vec<u8>| [bytes.len() / 2, bytes.len().saturating_sub(1), bytes.len()];
    whole.iter().flat_map(|bytes| parts(bytes).map(|end| bytes[..end].to_vec())).collect()
}

fn reading(bytes: Vec<u8>) -> Option<Reading> {
    let progress = Progress::default();
    let bytes = unpacked(Cursor::new(bytes), &progress).ok()?;
    Reading::new(bytes, progress, None).ok()
}

#[test]
fn captures_are_measured() {
    for mut reading in inputs("capture").into_iter().filter_map(reading) {
        let mut meter = Meter::new(Options { most_flows: 64, ..Options::default() });
        while reading.advance(10_000, &mut meter) {}
        meter.finish();
    }
}

#[test]
fn captures_are_read_as_flow_records() {
    for mut reading in inputs("capture").into_iter().filter_map(reading) {
        let mut collector = Collector::default();
        while reading.collect(10_000, &mut collector) {}
    }
}

#[test]
fn datagrams_are_flow_records() {
    for bytes in inputs("datagram") {
        let (mut collector, mut rest) = (Collector::default(), bytes.as_slice());
        while let [high, low, after @ ..] = rest {
            let length = usize::from(u16::from_be_bytes([*high, *low])).min(after.len());
            let (datagram, next) = after.split_at(length);
            collector.datagram([0; 16], 1, datagram);
            rest = next;
        }
    }
}
