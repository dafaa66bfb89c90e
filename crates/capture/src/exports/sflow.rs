//! sFlow v5: headers of randomly sampled packets.

use crate::frames::Frame;
use crate::packet::{Packet, decode};
use sflow_parser::models::core::{FlowData, FlowRecord, SFlowDatagram, SampleData};
use sflow_parser::models::record_flows::{HeaderProtocol, SampledHeader};

const ETHERNET: i32 = 1;
const RAW: i32 = 101;

/// Packets of a datagram, each with the number of packets that it represents.
pub fn samples(datagram: &SFlowDatagram, at_ns: u64) -> Vec<(Packet, u64)> {
    let mut all = Vec::new();
    for sample in &datagram.samples {
        let (records, rate): (&[FlowRecord], u32) = match &sample.sample_data {
            SampleData::FlowSample(one) => (&one.flow_records, one.sampling_rate),
            SampleData::FlowSampleExpanded(one) => (&one.flow_records, one.sampling_rate),
            _ => continue,
        };
        for record in records {
            if let FlowData::SampledHeader(header) = &record.flow_data {
                all.extend(packet(header, at_ns).map(|packet| (packet, u64::from(rate.max(1)))));
            }
        }
    }
    all
}

fn packet(header: &SampledHeader, at_ns: u64) -> Option<Packet> {
    let link_type = match header.protocol {
        HeaderProtocol::EthernetIso88023 => ETHERNET,
        HeaderProtocol::Ipv4 | HeaderProtocol::Ipv6 => RAW,
        _ => return None,
    };
    let kept = u32::try_from(header.header.len()).ok()?;
    decode(&Frame {
        at_ns,
        chosen: true,
        link_type,
        original_bytes: header.frame_length.saturating_sub(header.stripped).max(kept),
        data: &header.header,
    })
}
