//! Any bytes as a capture of exported flow records.
#![no_main]

use forebay_capture::exports::collector::Collector;
use forebay_capture::reading::Reading;
use forebay_capture::source::{Progress, unpacked};
use libfuzzer_sys::fuzz_target;
use std::io::Cursor;

fuzz_target!(|data: &[u8]| {
    let progress = Progress::default();
    let Ok(bytes) = unpacked(Cursor::new(data.to_vec()), &progress) else { return };
    let Ok(mut reading) = Reading::new(bytes, progress, None) else { return };
    let mut collector = Collector::default();
    while reading.collect(10_000, &mut collector) {}
});
