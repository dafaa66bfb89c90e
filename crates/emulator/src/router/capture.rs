//! The packets that leave the plan's links, as a pcapng file with one interface for each link.
//!
//! The router passes copies of their headers to a separate thread, which writes; it never waits.
//! Packets that this thread is too slow to write are missing in the file, and counted.

use crate::failure::Failure;
use forebay_sim::time::Picos;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::{DataLink, PcapError};
use std::borrow::Cow;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Captured bytes of a packet: all headers that the testbed's packets can have.
const SNAP: usize = 128;
/// Packets that may wait for the thread that writes.
const BACKLOG: usize = 1 << 14;
/// Timestamps count nanoseconds.
const NANOSECONDS: u8 = 9;

struct Frame {
    link: u32,
    at: Picos,
    bytes: u32,
    kept: usize,
    head: [u8; SNAP],
}

/// The router's end of the capture.
pub struct Capture {
    frames: SyncSender<Frame>,
    /// Number of the plan's links: later ones, of hosts, are not captured.
    links: usize,
    /// Packets missing in the file.
    pub lost: u64,
}

/// The thread that writes; its file is complete when it has ended.
pub struct CaptureWriter(JoinHandle<Result<(), String>>, String);

impl Capture {
    /// Begins a file for packets of links with these names; times count from now.
    pub fn begin(path: &Path, names: Vec<String>) -> Result<(Self, CaptureWriter), Failure> {
        let shown = path.display().to_string();
        let file = File::create(path).map_err(|error| Failure::Result(shown.clone(), error))?;
        let began = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let (frames, queue) = sync_channel(BACKLOG);
        let links = names.len();
        let thread = std::thread::spawn(move || {
            keep(file, names, &queue, began).map_err(|error| error.to_string())
        });
        Ok((Self { frames, links, lost: 0 }, CaptureWriter(thread, shown)))
    }

    /// Records a packet whose last bit leaves a link `at`.
    pub fn take(&mut self, link: usize, at: Picos, packet: &[u8]) {
        if link >= self.links {
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
    queue: &Receiver<Frame>,
    began: Duration,
) -> pcap_file::PcapResult<()> {
    let mut writer = PcapNgWriter::new(BufWriter::new(file))?;
    for name in names {
        writer.write_pcapng_block(InterfaceDescriptionBlock {
            linktype: DataLink::RAW,
            snaplen: SNAP as u32,
            options: vec![
                InterfaceDescriptionOption::IfName(name.into()),
                InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
            ],
        })?;
    }
    for frame in queue {
        writer.write_pcapng_block(EnhancedPacketBlock {
            interface_id: frame.link,
            timestamp: began + Duration::from_nanos(frame.at / 1_000),
            original_len: frame.bytes,
            data: Cow::Borrowed(&frame.head[..frame.kept]),
            options: Vec::new(),
        })?;
    }
    writer.into_inner().flush().map_err(PcapError::IoError)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pcap_file::pcapng::PcapNgReader;
    use pcap_file::pcapng::blocks::Block;

    #[test]
    fn times_to_the_nanosecond_and_heads_of_packets() {
        let name = format!("forebay-capture-{}.pcapng", std::process::id());
        let path = std::env::temp_dir().join(name);
        let names = vec!["bottleneck".into(), "reverse".into()];
        let (mut capture, writer) = Capture::begin(&path, names).unwrap();
        capture.take(0, 1_000, &[1; 52]);
        capture.take(1, 3_999_999_999_000, &[2; 1500]);
        capture.take(2, 5, &[3; 40]); // a host's own link
        assert_eq!(capture.lost, 0);
        drop(capture);
        writer.end().unwrap();
        let mut reader = PcapNgReader::new(File::open(&path).unwrap()).unwrap();
        let mut frames = Vec::new();
        let mut links = Vec::new();
        while let Some(block) = reader.next_block() {
            if let Block::EnhancedPacket(frame) = block.unwrap() {
                frames.push((frame.timestamp, frame.original_len, frame.data.to_vec()));
                links.push(frame.interface_id);
            }
        }
        assert_eq!(links, [0, 1]);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(frames[1].0 - frames[0].0, Duration::from_nanos(3_999_999_998));
        assert_eq!((frames[0].1, &frames[0].2[..]), (52, &[1; 52][..]));
        assert_eq!((frames[1].1, &frames[1].2[..]), (1500, &[2; SNAP][..]));
    }
}
