//! A simulation's packets as a pcapng file: headers only, an interface for each link, or for the link and ACKs.

use forebay_sim::capture::{CapturedKind, CapturedPacket};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::{DataLink, Endianness, PcapError, PcapResult};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use std::borrow::Cow;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// IPv4's header, and TCP's with twelve bytes of options: timestamps (RFC 7323, section 3.2) after two NOPs, or NOPs.
const IP: usize = 20;
const TCP: usize = 32;
const UDP: usize = 8;
const TIMESTAMPS: [u8; 4] = [1, 1, 8, 10];
const NO_OPTIONS: [u8; 12] = [1; 12];
/// First addresses of senders and receivers; each flow has its own.
const SENDERS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 0);
const RECEIVERS: Ipv4Addr = Ipv4Addr::new(11, 0, 0, 0);
const SERVICE: u16 = 5001;
/// First port of a flow's consecutive connections.
const FIRST_PORT: u16 = 1024;
const PROTOCOL_TCP: u8 = 6;
const PROTOCOL_UDP: u8 = 17;
const NANOSECONDS: u8 = 9;

const FIN: u8 = 1;
const SYN: u8 = 2;
const ACK: u8 = 16;
const ECE: u8 = 64;
const CWR: u8 = 128;

/// The packets of the measured window that crossed links.
#[pyclass(frozen, module = "forebay._core")]
pub struct Packets {
    packets: Vec<CapturedPacket>,
    /// By flow: bytes of a segment, including headers.
    sizes: Vec<u32>,
    /// Whether segments and ACKs have timestamps.
    stamped: bool,
}

impl Packets {
    /// Packets of flows whose segments have these sizes.
    pub fn new(packets: Vec<CapturedPacket>, sizes: Vec<u32>, stamped: bool) -> Self {
        Self { packets, sizes, stamped }
    }
}

#[pymethods]
impl Packets {
    /// Writes them to a file with these interfaces and a comment; times count from the start of the run. Raises OSError.
    pub fn write(
        &self,
        py: Python<'_>,
        path: PathBuf,
        interfaces: Vec<String>,
        comment: String,
    ) -> PyResult<()> {
        py.detach(|| self.keep(&path, interfaces, comment)).map_err(|error| match error {
            // PyO3's own conversion keeps the text and loses the number.
            PcapError::IoError(error) => match error.raw_os_error() {
                Some(number) => PyOSError::new_err((number, error.to_string())),
                None => error.into(),
            },
            other => PyOSError::new_err(other.to_string()),
        })
    }

    fn __len__(&self) -> usize {
        self.packets.len()
    }
}

impl Packets {
    fn keep(&self, path: &Path, interfaces: Vec<String>, comment: String) -> PcapResult<()> {
        let file = File::create(path).map_err(PcapError::IoError)?;
        let header = SectionHeaderBlock {
            endianness: Endianness::native(),
            options: vec![SectionHeaderOption::Comment(comment.into())],
            ..SectionHeaderBlock::default()
        };
        let mut writer = PcapNgWriter::with_section_header(BufWriter::new(file), header)?;
        for name in interfaces {
            writer.write_pcapng_block(InterfaceDescriptionBlock {
                linktype: DataLink::RAW,
                snaplen: (IP + TCP) as u32,
                options: vec![
                    InterfaceDescriptionOption::IfName(name.into()),
                    InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
                ],
            })?;
        }
        for packet in &self.packets {
            let (head, bytes) = self.head(packet);
            writer.write_pcapng_block(EnhancedPacketBlock {
                interface_id: packet.interface,
                timestamp: Duration::from_nanos(packet.at / 1000),
                original_len: bytes,
                data: Cow::Borrowed(&head[..head.len().min(bytes as usize)]),
                options: Vec::new(),
            })?;
        }
        writer.into_inner().flush().map_err(PcapError::IoError)
    }

    /// The headers of a packet, and its length on the link.
    fn head(&self, packet: &CapturedPacket) -> (Vec<u8>, u32) {
        let datagram = packet.kind == CapturedKind::Datagram;
        let headers = IP + if datagram { UDP } else { TCP };
        let bytes = if packet.bytes > 0 { packet.bytes } else { headers as u32 };
        let mut head = Vec::with_capacity(headers);
        self.ip(packet, bytes, &mut head);
        if datagram {
            udp(packet, &mut head)
        } else {
            self.tcp(packet, &mut head)
        }
        (head, bytes)
    }

    /// Checksums are zero, as if the network card computed them.
    fn ip(&self, packet: &CapturedPacket, bytes: u32, head: &mut Vec<u8>) {
        let protocol =
            if packet.kind == CapturedKind::Datagram { PROTOCOL_UDP } else { PROTOCOL_TCP };
        head.extend([0x45, packet.congestion.ecn as u8]);
        head.extend((bytes as u16).to_be_bytes());
        head.extend([0, 0, 0, 0, 64, protocol, 0, 0]);
        let hosts = [SENDERS, RECEIVERS].map(|first| u32::from(first) + packet.flow);
        let [from, to] = if packet.kind.is_forward() { hosts } else { [hosts[1], hosts[0]] };
        head.extend(from.to_be_bytes());
        head.extend(to.to_be_bytes());
    }

    fn tcp(&self, packet: &CapturedPacket, head: &mut Vec<u8>) {
        let payload = u64::from(self.sizes[packet.flow as usize]).saturating_sub((IP + TCP) as u64);
        // The SYN has number 0, and each side's data begins with 1.
        let reached = (1 + packet.number.wrapping_mul(payload)) as u32;
        let (seq, ack, flags) = match packet.kind {
            CapturedKind::Syn => (0, 0, SYN),
            CapturedKind::SynAck => (0, 1, SYN | ACK),
            CapturedKind::HandshakeAck => (1, 1, ACK),
            CapturedKind::LastData => (reached, 1, ACK | FIN),
            CapturedKind::Ack => (1, reached, ACK),
            CapturedKind::Data | CapturedKind::Datagram => (reached, 1, ACK),
        };
        let flags = flags
            | if packet.congestion.ece { ECE } else { 0 }
            | if packet.congestion.cwr { CWR } else { 0 };
        let client = FIRST_PORT.wrapping_add(packet.connection);
        let forward = packet.kind.is_forward();
        let [from, to] = if forward { [client, SERVICE] } else { [SERVICE, client] };
        head.extend(from.to_be_bytes());
        head.extend(to.to_be_bytes());
        head.extend(seq.to_be_bytes());
        head.extend(ack.to_be_bytes());
        head.extend([(TCP as u8 / 4) << 4, flags, 0xff, 0xff, 0, 0, 0, 0]);
        if !self.stamped {
            return head.extend(NO_OPTIONS);
        }
        head.extend(TIMESTAMPS);
        head.extend(packet.stamp.to_be_bytes());
        head.extend(packet.echo.to_be_bytes());
    }
}

fn udp(packet: &CapturedPacket, head: &mut Vec<u8>) {
    let length = packet.bytes.saturating_sub(IP as u32) as u16;
    head.extend(FIRST_PORT.to_be_bytes());
    head.extend(SERVICE.to_be_bytes());
    head.extend(length.to_be_bytes());
    head.extend([0, 0]);
}
