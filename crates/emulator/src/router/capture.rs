//! The packets that leave the plan's links in the measured window, and ACKs that cross no link, as a
//! pcapng file with one interface for each link and one for these ACKs.
//!
//! The router passes copies of their headers to a separate thread, which writes; it never waits.
//! Packets that this thread is too slow to write are missing in the file, and counted.

use crate::failure::Failure;
use forebay_sim::time::{Picos, SECOND};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::{DataLink, Endianness, PcapError};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Captured bytes of a packet: all headers that the testbed's packets can have.
const SNAP: usize = 128;
/// Packets that may wait for the thread that writes.
const BACKLOG: usize = 1 << 14;
/// Packets that wait until those before them are known; a link may be as far ahead of the clock.
const AHEAD: usize = 1 << 16;
/// Interface of ACKs that cross no link.
const ACKS: &str = "acks";
/// Timestamps count nanoseconds.
const NANOSECONDS: u8 = 9;

struct Frame {
    link: u32,
    at: Picos,
    bytes: u32,
    kept: usize,
    head: [u8; SNAP],
}

impl Ord for Frame {
    /// The earliest is the greatest, because a heap gives the greatest first.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.link).cmp(&(self.at, self.link))
    }
}

impl PartialOrd for Frame {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Frame {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Frame {}

/// The router's end of the capture.
pub struct Capture {
    frames: SyncSender<Frame>,
    /// Number of the plan's links: later ones, of hosts, are not captured.
    links: usize,
    window: Range<Picos>,
    /// Packets missing in the file.
    pub lost: u64,
}

/// The thread that writes; its file is complete when it has ended.
pub struct CaptureWriter(JoinHandle<Result<(), String>>, String);

impl Capture {
    /// Begins a file for packets of links with these names in the window; times count from now.
    pub fn begin(
        path: &Path,
        names: Vec<String>,
        window: Range<Picos>,
    ) -> Result<(Self, CaptureWriter), Failure> {
        let shown = path.display().to_string();
        let file = File::create(path).map_err(|error| Failure::Result(shown.clone(), error))?;
        let began = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let (frames, queue) = sync_channel(BACKLOG);
        let links = names.len();
        let [from, to] = [window.start, window.end].map(|at| at as f64 / SECOND as f64);
        let comment = format!("forebay: the measured window, {from} s to {to} s");
        let thread = std::thread::spawn(move || {
            keep(file, names, comment, &queue, began).map_err(|error| error.to_string())
        });
        Ok((Self { frames, links, window, lost: 0 }, CaptureWriter(thread, shown)))
    }

    /// Records a packet whose last bit leaves a link `at`.
    pub fn take(&mut self, link: usize, at: Picos, packet: &[u8]) {
        if link < self.links {
            self.keep(link, at, packet);
        }
    }

    /// Records a packet that comes back over a route without links.
    pub fn take_returning(&mut self, at: Picos, packet: &[u8]) {
        self.keep(self.links, at, packet);
    }

    fn keep(&mut self, link: usize, at: Picos, packet: &[u8]) {
        if !self.window.contains(&at) {
            return;
        }
        let kept = packet.len().min(SNAP);
        let link = link as u32;
        let mut frame = Frame { link, at, bytes: packet.len() as u32, kept, head: [0; SNAP] };
        frame.head[..kept].copy_from_slice(&packet[..kept]);
        self.lost += u64::from(self.frames.try_send(frame).is_err());
    }
}

impl CaptureWriter {
    /// Waits until the file is complete, after its `Capture` is dropped.
    pub fn end(self) -> Result<(), Failure> {
        match self.0.join() {
            Ok(written) => {
                written.map_err(|why| Failure::Result(self.1, std::io::Error::other(why)))
            }
            Err(_) => Err(Failure::Thread("capture")),
        }
    }
}

fn keep(
    file: File,
    names: Vec<String>,
    comment: String,
    queue: &Receiver<Frame>,
    began: Duration,
) -> pcap_file::PcapResult<()> {
    let header = SectionHeaderBlock {
        endianness: Endianness::native(),
        options: vec![SectionHeaderOption::Comment(comment.into())],
        ..SectionHeaderBlock::default()
    };
    let mut writer = PcapNgWriter::with_section_header(BufWriter::new(file), header)?;
    let acks = names.len() as u32;
    for name in names.into_iter().chain([ACKS.to_owned()]) {
        writer.write_pcapng_block(InterfaceDescriptionBlock {
            linktype: DataLink::RAW,
            snaplen: SNAP as u32,
            options: vec![
                InterfaceDescriptionOption::IfName(name.into()),
                InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
            ],
        })?;
    }
    let mut write = |frame: Frame| {
        writer.write_pcapng_block(EnhancedPacketBlock {
            interface_id: frame.link,
            timestamp: began + Duration::from_nanos(frame.at / 1_000),
            original_len: frame.bytes,
            data: Cow::Borrowed(&frame.head[..frame.kept]),
            options: Vec::new(),
        })
    };
    let mut waiting = BinaryHeap::new();
    for frame in queue {
        // A link tells of a departure when it is known, an ACK is of now: nothing later is before it.
        let now = if frame.link == acks { frame.at } else { 0 };
        waiting.push(frame);
        while waiting.len() > AHEAD || waiting.peek().is_some_and(|first| first.at <= now) {
            waiting.pop().map_or(Ok(0), &mut write)?;
        }
    }
    for frame in waiting.into_sorted_vec().into_iter().rev() {
        write(frame)?;
    }
    writer.into_inner().flush().map_err(PcapError::IoError)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pcap_file::pcapng::PcapNgReader;
    use pcap_file::pcapng::blocks::Block;

    /// Writes frames of link 0, of ACKs (link 1), and returns what the file has.
    fn written(take: impl Fn(&mut Capture)) -> Vec<(u32, Duration, u32, Vec<u8>)> {
        static FILES: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = FILES.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let name = format!("forebay-capture-{}-{number}.pcapng", std::process::id());
        let path = std::env::temp_dir().join(name);
        let names = vec!["bottleneck".into(), "reverse".into()];
        let (mut capture, writer) = Capture::begin(&path, names, 1_000..10u64.pow(13)).unwrap();
        take(&mut capture);
        assert_eq!(capture.lost, 0);
        drop(capture);
        writer.end().unwrap();
        let mut reader = PcapNgReader::new(File::open(&path).unwrap()).unwrap();
        let mut frames = Vec::new();
        while let Some(block) = reader.next_block() {
            if let Block::EnhancedPacket(frame) = block.unwrap() {
                let data = frame.data.to_vec();
                frames.push((frame.interface_id, frame.timestamp, frame.original_len, data));
            }
        }
        std::fs::remove_file(&path).unwrap();
        frames
    }

    #[test]
    fn times_to_the_nanosecond_and_heads_of_packets() {
        let frames = written(|capture| {
            capture.take(0, 1_000, &[1; 52]);
            capture.take(1, 3_999_999_999_000, &[2; 1500]);
            capture.take(2, 5_000, &[3; 40]); // a host's own link
        });
        assert_eq!(frames.len(), 2);
        assert_eq!(frames[1].1 - frames[0].1, Duration::from_nanos(3_999_999_998));
        assert_eq!((frames[0].0, frames[0].2, &frames[0].3[..]), (0, 52, &[1; 52][..]));
        assert_eq!((frames[1].0, frames[1].2, &frames[1].3[..]), (1, 1500, &[2; SNAP][..]));
    }

    #[test]
    fn acks_are_between_the_departures_that_a_link_told_of_before() {
        let frames = written(|capture| {
            capture.take(0, 4_000, &[1; 52]);
            capture.take(0, 9_000, &[2; 52]);
            capture.take_returning(6_000, &[3; 52]);
            capture.take(0, 7_000_000, &[4; 52]);
        });
        let seen: Vec<_> = frames.iter().map(|frame| (frame.0, frame.3[0])).collect();
        assert_eq!(seen, [(0, 1), (2, 3), (0, 2), (0, 4)]);
    }

    #[test]
    fn only_the_window_is_kept() {
        let frames = written(|capture| {
            capture.take(0, 999, &[1; 52]);
            capture.take_returning(999, &[1; 52]);
            capture.take(0, 1_000, &[2; 52]);
            capture.take(0, 10u64.pow(13), &[3; 52]);
        });
        assert_eq!(frames.len(), 1);
        assert_eq!(frames[0].3, [2; 52]);
    }
}
