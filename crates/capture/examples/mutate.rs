//! Mutation fuzzing of the readers on stable Rust: `mutate SECONDS CORPUS_DIR [SEED]`.
//!
//! Every input of the corpus is damaged like real files, and read. A panic ends the run and
//! leaves the input in `crash.bin`. Inputs of the corpus that are not captures are read too.

use forebay_capture::exports::collector::Collector;
use forebay_capture::meter::{Meter, Options};
use forebay_capture::reading::Reading;
use forebay_capture::source::{Progress, unpacked};
use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

/// SplitMix64 (Steele, Lea and Flood 2014): a separate stream for each seed.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// Numbers at which lengths and offsets often have errors.
const EDGES: [u32; 9] = [0, 1, 4, 0x7f, 0xff, 0xffff, 0x7fff_ffff, 0x8000_0000, u32::MAX];

fn damage(input: &mut Vec<u8>, corpus: &[Vec<u8>], chance: &mut Chance) {
    for _ in 0..=chance.below(8) {
        let at = chance.below(input.len());
        match chance.below(6) {
            0 if !input.is_empty() => input[at] = chance.next() as u8,
            1 if !input.is_empty() => input[at] ^= 1 << chance.below(8),
            2 if input.len() >= at + 4 => {
                let edge = EDGES[chance.below(EDGES.len())];
                let bytes =
                    if chance.below(2) == 0 { edge.to_le_bytes() } else { edge.to_be_bytes() };
                input[at..at + 4].copy_from_slice(&bytes);
            }
            3 => input.truncate(at),
            4 => {
                let other = &corpus[chance.below(corpus.len())];
                let from = chance.below(other.len());
                input.splice(at..at, other[from..].iter().copied().take(256));
            }
            _ => {
                let end = (at + chance.below(64)).min(input.len());
                input.drain(at..end);
            }
        }
    }
}

fn read(input: Vec<u8>) {
    let kept = input.clone();
    let progress = Progress::default();
    let Ok(bytes) = unpacked(Cursor::new(input), &progress) else { return };
    let Ok(mut reading) = Reading::new(bytes, progress, None) else { return };
    let mut meter = Meter::new(Options { most_flows: 64, ..Options::default() });
    while reading.advance(10_000, &mut meter) {}
    meter.finish();
    exports(kept);
}

/// The same input as a capture of exports, and as an export by itself.
fn exports(input: Vec<u8>) {
    let mut collector = Collector::default();
    for skipped in [0, 52] {
        collector.datagram([0; 16], 1, input.get(skipped..).unwrap_or_default());
    }
    let progress = Progress::default();
    let Ok(bytes) = unpacked(Cursor::new(input), &progress) else { return };
    let Ok(mut reading) = Reading::new(bytes, progress, None) else { return };
    while reading.collect(10_000, &mut collector) {}
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let [_, seconds, folder, rest @ ..] = words.as_slice() else {
        eprintln!("mutate SECONDS CORPUS_DIR [SEED]");
        std::process::exit(2);
    };
    let seconds = seconds.parse().unwrap_or(60);
    let corpus = corpus(Path::new(folder));
    let mut chance = Chance(rest.first().and_then(|seed| seed.parse().ok()).unwrap_or(1));
    let (until, mut runs) = (Instant::now() + Duration::from_secs(seconds), 0u64);
    while Instant::now() < until {
        let mut input = corpus[chance.below(corpus.len())].clone();
        damage(&mut input, &corpus, &mut chance);
        let kept = input.clone();
        if catch_unwind(AssertUnwindSafe(|| read(input))).is_err() {
            std::fs::write("crash.bin", &kept).unwrap_or_else(|error| eprintln!("{error}"));
            eprintln!("a panic after {runs} inputs: see crash.bin");
            std::process::exit(1);
        }
        runs += 1;
    }
    println!("{runs} inputs in {seconds} s, no panic");
}

fn corpus(folder: &Path) -> Vec<Vec<u8>> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        eprintln!("{}: no such folder", folder.display());
        std::process::exit(2);
    };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let inputs: Vec<_> = paths.into_iter().flat_map(std::fs::read).collect();
    assert!(!inputs.is_empty(), "the corpus is empty");
    inputs
}
