//! Any bytes as datagrams of flow records, each after its length in two bytes.
#![no_main]

use forebay_capture::exports::collector::Collector;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut collector = Collector::default();
    let mut rest = data;
    while let [high, low, after @ ..] = rest {
        let length = usize::from(u16::from_be_bytes([*high, *low])).min(after.len());
        let (datagram, next) = after.split_at(length);
        collector.datagram([0; 16], 1, datagram);
        rest = next;
    }
});
