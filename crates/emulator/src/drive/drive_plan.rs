//! The plan in the driver's form: what each flow sends, from which side, and when readings are
//! taken.

use crate::failure::Failure;
use crate::plan::{Kind, Plan};
use forebay_sim::time::{MILLISECOND, Picos, serialization};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};

/// Headers of a TCP segment: IPv4, TCP, and timestamps with their padding.
const TCP_HEADERS: u32 = 52;
/// The MSS option excludes the two headers, but includes the timestamps (RFC 6691).
pub(super) const TIMESTAMPS: u32 = 12;
/// Headers of a datagram: IPv4 and UDP.
pub(super) const UDP_HEADERS: u32 = 28;
/// Bytes of a datagram's flow and number.
pub(super) const STAMP: usize = 8;
/// Linux's TCP_MIN_MSS, and the largest MSS that TCP_MAXSEG takes.
const MSS: std::ops::RangeInclusive<u32> = 88..=32767;
/// Linux does not clamp a window below half its SOCK_MIN_RCVBUF; half a window must hold a segment.
const LEAST_WINDOW: u32 = 1152;
const LARGEST_WINDOW: u32 = 1 << 29;
/// Handshakes begin earlier than their queues require by this time.
const SPARE: Picos = 20 * MILLISECOND;
/// Longest queueing delay for which handshakes allow.
const LONGEST_QUEUE: Picos = 500 * MILLISECOND;
/// Unsent bytes in the buffers of all senders together.
const READY: usize = 64 << 20;

/// Ports on which a class's receivers listen; classes without users need only the first.
pub(super) const PORTS_PER_CLASS: usize = 2;

/// Where an endpoint is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// In the plan's `sender` namespace.
    Left,
    /// In its `receiver` namespace.
    Right,
}

/// Data of a flow; ranges are indices into `DrivePlan::files` or `DrivePlan::packets`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// Unlimited segments.
    Endless,
    /// This many segments, once.
    Once(u64),
    /// File after file.
    Files(usize, usize),
    /// Datagrams.
    Packets(usize, usize),
}

/// A flow.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    pub(super) class: u16,
    pub(super) control: u16,
    pub(super) start: Picos,
    /// Upper bound of a handshake without loss, and of a packet's one-way delay.
    pub(super) one_way_bound: Picos,
    pub(super) packet_bytes: u32,
    pub(super) source: Source,
}

/// A class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Class {
    /// The side of its senders.
    pub(super) from: Side,
    /// Whether it uses TCP.
    pub(super) tcp: bool,
    /// Whether its flows have more than one connection.
    pub(super) users: bool,
    pub(super) max_window: Option<u32>,
    /// Size of its packets; of the first flow.
    pub(super) packet_bytes: u32,
}

/// The plan's flows, classes, files and packets, with the state that both sides share.
pub(super) struct DrivePlan {
    pub(super) flows: Vec<Flow>,
    pub(super) classes: Vec<Class>,
    /// Kernel names.
    pub(super) controls: Vec<String>,
    /// Segments of each file, and the pause after it.
    pub(super) files: Vec<(u64, Picos)>,
    /// When each packet is sent, and its size on the link.
    pub(super) packets: Vec<(Picos, u32)>,
    first: [Ipv4Addr; 2],
    /// Boundaries of batches.
    pub(super) cuts: Vec<Picos>,
    /// Time between two samples.
    pub(super) step: Picos,
    /// Whether moments and reductions of every flow's window are recorded.
    pub(super) traces: bool,
    /// Flows with samples of their own.
    pub(super) traced: Vec<u32>,
    /// TCP_NOTSENT_LOWAT.
    pub(super) lowat: u32,
    /// By flow: planned start of its connection, or the actual one after it began.
    pub(super) begun: Vec<AtomicU64>,
    /// By flow: the file that its user fetches now or next.
    pub(super) file: Vec<AtomicU32>,
    /// By flow: one past the last complete file.
    pub(super) files_ended: Vec<AtomicU32>,
}

impl Side {
    pub(super) fn other(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }
}

impl Class {
    /// The window in bytes; without a limit the largest.
    pub(super) fn window_bytes(&self) -> u32 {
        let payload = self.packet_bytes.saturating_sub(TCP_HEADERS);
        self.max_window
            .map_or(LARGEST_WINDOW, |window| window.saturating_mul(payload).min(LARGEST_WINDOW))
    }
}

impl Flow {
    /// Payload bytes of a full segment.
    pub(super) fn payload(&self) -> u32 {
        self.packet_bytes - TCP_HEADERS
    }
}

impl DrivePlan {
    /// Makes the driver's plan; refuses what sockets cannot do.
    pub(super) fn new(plan: &Plan) -> Result<Self, Failure> {
        let flows: Vec<Flow> = (0..plan.flows.len()).map(|i| flow(plan, i)).collect();
        let drive_plan = Self {
            classes: (0..plan.classes.len()).map(|i| class(plan, i, &flows)).collect(),
            controls: plan.congestion_controls.clone(),
            files: plan.sessions.as_ref().map_or(vec![], |sessions| {
                sessions.segments.iter().copied().zip(sessions.think_ps.iter().copied()).collect()
            }),
            packets: plan.packets.as_ref().map_or(vec![], |packets| {
                packets.at_ps.iter().copied().zip(packets.bytes.iter().copied()).collect()
            }),
            first: [plan.first_sender, plan.first_receiver],
            cuts: cuts(plan),
            step: plan.trace.as_ref().map_or(plan.sample_ps, |trace| trace.step_ps).max(1),
            traces: plan.trace.is_some(),
            traced: plan.trace.as_ref().map_or(vec![], |trace| trace.flows.clone()),
            lowat: lowat(&flows),
            begun: flows.iter().map(|flow| AtomicU64::new(flow.start)).collect(),
            file: flows.iter().map(|_| AtomicU32::new(0)).collect(),
            files_ended: flows.iter().map(|_| AtomicU32::new(0)).collect(),
            flows,
        };
        drive_plan.check()?;
        Ok(drive_plan)
    }

    /// The side of a flow's sender.
    pub(super) fn from(&self, flow: u32) -> Side {
        self.class_of(flow).from
    }

    /// A flow's class.
    pub(super) fn class_of(&self, flow: u32) -> &Class {
        &self.classes[usize::from(self.flows[flow as usize].class)]
    }

    /// Age of a flow's transfer at `now`; none without a transfer. A transfer that was planned to
    /// begin by then counts, because a late handshake is part of its delay.
    pub(super) fn under_way(&self, flow: u32, now: Picos) -> Option<Picos> {
        let at = flow as usize;
        let file = self.file[at].load(SeqCst);
        self.segments(flow, file)?;
        let begun = self.begun[at].load(SeqCst);
        (begun < now && self.files_ended[at].load(SeqCst) <= file).then(|| now - begun)
    }

    /// Segments of a flow's file; none for an unlimited flow.
    pub(super) fn segments(&self, flow: u32, file: u32) -> Option<u64> {
        match self.flows[flow as usize].source {
            Source::Once(segments) => Some(segments),
            Source::Files(from, _) => Some(self.files[from + file as usize].0),
            Source::Endless | Source::Packets(..) => None,
        }
    }

    /// Think time after a file, if there is a next one.
    pub(super) fn think(&self, flow: u32, file: u32) -> Option<Picos> {
        match self.flows[flow as usize].source {
            Source::Files(from, to) if from + (file as usize) + 1 < to => {
                Some(self.files[from + file as usize].1)
            }
            _ => None,
        }
    }

    /// The file of a connection by its listener: a user has at most one for the file being fetched,
    /// and one for the next.
    pub(super) fn file_at(&self, flow: u32, listen_port: usize) -> u32 {
        let file = self.file[flow as usize].load(SeqCst);
        if self.listen_port(flow, file) == listen_port { file } else { file + 1 }
    }

    /// A class has two listeners, for files of even and odd numbers.
    pub(super) fn listen_port(&self, flow: u32, file: u32) -> usize {
        usize::from(self.flows[flow as usize].class) * PORTS_PER_CLASS
            + file as usize % PORTS_PER_CLASS
    }

    /// A flow's address on one side.
    pub(super) fn address(&self, side: Side, flow: u32, port: u16) -> SocketAddrV4 {
        let first = u32::from(self.first[side as usize]);
        SocketAddrV4::new(Ipv4Addr::from(first.wrapping_add(flow)), port)
    }

    /// The flow that has this address on one side.
    pub(super) fn flow_at(&self, side: Side, address: Ipv4Addr) -> Option<u32> {
        let flow = u32::from(address).wrapping_sub(u32::from(self.first[side as usize]));
        ((flow as usize) < self.flows.len()).then_some(flow)
    }

    /// Whether a packet was sent in the window, and early enough to have arrived before its end.
    pub(super) fn counts_in_window(&self, flow: u32, packet: usize) -> bool {
        let (begin, end) = (self.cuts[0], self.cuts[self.cuts.len() - 1]);
        let at = self.packets[packet].0;
        at >= begin && at + self.flows[flow as usize].one_way_bound < end
    }

    fn check(&self) -> Result<(), Failure> {
        let refuse = |why| Err(Failure::Plan("the plan's flows".into(), why));
        for class in self.classes.iter().filter(|class| class.tcp) {
            if let Some(window) = class.max_window.filter(|_| class.window_bytes() < LEAST_WINDOW) {
                return refuse(format!("a window of {window} packets is less than Linux's least"));
            }
        }
        for (i, flow) in self.flows.iter().enumerate() {
            let (from, to) = match flow.source {
                Source::Packets(from, to) => (from, to),
                _ if MSS.contains(&flow.packet_bytes.saturating_sub(TCP_HEADERS - TIMESTAMPS)) => {
                    continue;
                }
                _ => return refuse(format!("flow {i}: packets of {} B", flow.packet_bytes)),
            };
            let least = UDP_HEADERS + STAMP as u32;
            let odd = |&(_, bytes): &(Picos, u32)| bytes < least || bytes > 65535;
            if let Some((_, bytes)) = self.packets[from..to].iter().find(|packet| odd(packet)) {
                return refuse(format!(
                    "flow {i}: a datagram of {bytes} B; write {least} to 65535"
                ));
            }
        }
        Ok(())
    }
}

fn flow(plan: &Plan, i: usize) -> Flow {
    let (flows, class) = (&plan.flows, &plan.classes[usize::from(plan.flows.class[i])]);
    let part = |offsets: &[usize]| (offsets[i], offsets[i + 1]);
    let source = match class.kind {
        Kind::Long | Kind::Short if flows.segments[i] == 0 => Source::Endless,
        Kind::Long | Kind::Short => Source::Once(flows.segments[i]),
        Kind::Session => {
            let (from, to) = plan.sessions.as_ref().map_or((0, 0), |files| part(&files.offsets));
            Source::Files(from, to)
        }
        Kind::Udp | Kind::OnOff | Kind::Video | Kind::Replay => {
            let (from, to) = plan.packets.as_ref().map_or((0, 0), |all| part(&all.offsets));
            Source::Packets(from, to)
        }
    };
    Flow {
        class: flows.class[i],
        control: flows.congestion_control[i],
        start: flows.start_ps[i],
        one_way_bound: flows.rtt_ps[i] + longest_queue(plan, flows.route[i]) + SPARE,
        packet_bytes: flows.packet_bytes[i],
        source,
    }
}

fn longest_queue(plan: &Plan, route: u16) -> Picos {
    let (forward, backward) = &plan.routes[usize::from(route)];
    let drain = |&link: &u16| {
        let link = &plan.links[usize::from(link)];
        let packet = serialization(link.packet_bytes, link.rate_bps);
        packet.saturating_mul(u64::from(link.buffer_packets + link.transmit_ring + 1))
    };
    let all = forward.iter().chain(backward).map(drain);
    all.fold(0, Picos::saturating_add).min(LONGEST_QUEUE)
}

fn class(plan: &Plan, index: usize, flows: &[Flow]) -> Class {
    let class = &plan.classes[index];
    let first = flows.iter().find(|flow| usize::from(flow.class) == index);
    Class {
        from: if class.reverse { Side::Right } else { Side::Left },
        tcp: matches!(class.kind, Kind::Long | Kind::Short | Kind::Session),
        users: class.kind == Kind::Session,
        max_window: class.max_window,
        packet_bytes: first.map_or(1500, |flow| flow.packet_bytes),
    }
}

/// Batch boundaries, as in the simulator.
fn cuts(plan: &Plan) -> Vec<Picos> {
    let share = |k| (u128::from(plan.window_ps) * k / u128::from(plan.batches)) as Picos;
    (0..=u128::from(plan.batches)).map(|k| plan.warmup_ps + share(k)).collect()
}

/// Unsent bytes at each sender: enough that none waits for the driver, within the memory.
fn lowat(flows: &[Flow]) -> u32 {
    let open = |flow: &&Flow| matches!(flow.source, Source::Endless | Source::Files(..));
    (READY / flows.iter().filter(open).count().max(1)).clamp(16 << 10, 1 << 20) as u32
}
