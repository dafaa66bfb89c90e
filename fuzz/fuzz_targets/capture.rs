//! Any bytes as a capture: unpacked, taken apart and measured.
#![no_main]

use forebay_capture::meter::{Meter, Options};
use forebay_capture::reading::Reading;
use forebay_capture::source::{Progress, unpacked};
use libfuzzer_sys::fuzz_target;
use std::io::Cursor;

fuzz_target!(|data: &[u8]| {
    let progress = Progress::default();
    let Ok(bytes) = unpacked(Cursor::new(data.to_vec()), &progress) else { return };
    let Ok(mut reading) = Reading::new(bytes, progress, None) else { return };
    let mut meter = Meter::new(Options { most_flows: 64, ..Options::default() });
    while reading.advance(10_000, &mut meter) {}
    meter.finish();
});
