//! NetFlow v5, v9 and IPFIX (RFC 3954, RFC 7011): records by the fields' numbers, which the two
//! that have templates share.

use super::FlowRecord;
use crate::packet::FlowKey;
use netflow_parser::FieldValue;
use netflow_parser::static_versions::v5;
use netflow_parser::variable_versions::ipfix::lookup::IPFixField;
use netflow_parser::variable_versions::ipfix::{FlowSetBody as IpfixBody, IPFix};
use netflow_parser::variable_versions::v9::{FlowSetBody as V9Body, V9};
use netflow_parser::variable_versions::{ipfix::lookup::IANAIPFixField, v9::lookup::V9Field};
use std::net::IpAddr;

/// Contents of a datagram.
#[derive(Default)]
pub struct Told {
    /// Its records.
    pub records: Vec<FlowRecord>,
    /// Sampling rate, if given.
    pub sampling: Option<u64>,
    /// Sets of records without a template so far.
    pub without_template: u64,
    /// Records that lack bytes, times or addresses.
    pub incomplete: u64,
    /// Active and inactive timeout in seconds.
    pub timeouts_s: (Option<u64>, Option<u64>),
}

/// The fields that matter, of any of the protocols.
#[derive(Default)]
struct Fields {
    from: Option<IpAddr>,
    to: Option<IpAddr>,
    from_port: u16,
    to_port: u16,
    protocol: u8,
    bytes: Option<u64>,
    packets: Option<u64>,
    first_ms: Option<u64>,
    last_ms: Option<u64>,
}

/// Version 5: times count from the router's start.
pub fn v5(datagram: &v5::V5) -> Told {
    let header = &datagram.header;
    let now_ms = u64::from(header.unix_secs) * 1000 + u64::from(header.unix_nsecs) / 1_000_000;
    let at = |uptime: u32| epoch(now_ms, header.sys_up_time, u64::from(uptime));
    let record = |flow: &v5::FlowSet| FlowRecord {
        key: FlowKey {
            from: flow.src_addr.to_ipv6_mapped().octets(),
            to: flow.dst_addr.to_ipv6_mapped().octets(),
            from_port: flow.src_port,
            to_port: flow.dst_port,
            protocol: flow.protocol_number,
        },
        first_ms: at(flow.first),
        last_ms: at(flow.last),
        bytes: flow.d_octets.into(),
        packets: flow.d_pkts.into(),
    };
    // The upper two bits are the mode.
    let sampling = u64::from(header.sampling_interval & 0x3fff);
    Told {
        records: datagram.flowsets.iter().map(record).collect(),
        sampling: (sampling > 0).then_some(sampling),
        ..Told::default()
    }
}

/// Version 9; its times also count from the router's start.
pub fn v9(datagram: &V9) -> Told {
    let header = &datagram.header;
    let now_ms = u64::from(header.unix_secs) * 1000;
    let mut told = Told::default();
    for set in &datagram.flowsets {
        match &set.body {
            V9Body::Data(data) => {
                for record in &data.fields {
                    let fields = record.iter().map(|(field, value)| (number_v9(*field), value));
                    told.record(fields, now_ms, header.sys_up_time);
                }
            }
            V9Body::OptionsData(data) => {
                for record in &data.fields {
                    for (field, value) in &record.options_fields {
                        told.option(number_v9(*field), value);
                    }
                }
            }
            V9Body::NoTemplate(_) => told.without_template += 1,
            _ => {}
        }
    }
    told
}

/// IPFIX; if times count from the router's start, which is unknown, the last one is the reference.
pub fn ipfix(datagram: &IPFix) -> Told {
    let now_ms = u64::from(datagram.header.export_time) * 1000;
    let mut told = Told::default();
    for set in &datagram.flowsets {
        match &set.body {
            IpfixBody::Data(data) => {
                for record in &data.fields {
                    let fields = record.iter().filter_map(|(f, v)| Some((number_ipfix(f)?, v)));
                    told.record(fields, now_ms, 0);
                }
            }
            IpfixBody::OptionsData(data) => {
                for (field, value) in data.fields.iter().flatten() {
                    if let Some(number) = number_ipfix(field) {
                        told.option(number, value);
                    }
                }
            }
            IpfixBody::NoTemplate(_) => told.without_template += 1,
            _ => {}
        }
    }
    told
}

fn number_v9(field: V9Field) -> u16 {
    field.into()
}

/// Fields of IANA's registry that are read here. The parser has names, but not the numbers.
const READ: [u16; 27] = [
    1, 2, 4, 7, 8, 11, 12, 21, 22, 27, 28, 34, 36, 37, 50, 85, 86, 150, 151, 152, 153, 154, 155,
    156, 157, 305, 306,
];

fn number_ipfix(field: &IPFixField) -> Option<u16> {
    let IPFixField::IANA(field) = field else { return None };
    READ.into_iter().find(|&number| IANAIPFixField::from(number) == *field)
}

/// A time by the router's own clock, whose 32 bits of milliseconds wrap after 49 days.
fn epoch(now_ms: u64, uptime: u32, at: u64) -> u64 {
    now_ms.saturating_sub(u64::from(uptime.wrapping_sub(at as u32)))
}

impl Told {
    fn record<'a>(
        &mut self,
        values: impl Iterator<Item = (u16, &'a FieldValue)>,
        now_ms: u64,
        uptime: u32,
    ) {
        let mut fields = Fields::default();
        let (mut first_up, mut last_up) = (None, None);
        for (number, value) in values {
            match number {
                21 => last_up = amount(value),
                22 => first_up = amount(value),
                _ => {
                    fields.take(number, value);
                    self.option(number, value);
                }
            }
        }
        if let (Some(first), Some(last)) = (first_up, last_up) {
            let uptime = if uptime == 0 { last as u32 } else { uptime };
            fields.first_ms = Some(epoch(now_ms, uptime, first));
            fields.last_ms = Some(epoch(now_ms, uptime, last));
        }
        match fields.record() {
            Some(record) => self.records.push(record),
            None => self.incomplete += 1,
        }
    }

    /// Sampling and timeouts, from options or from the records themselves.
    fn option(&mut self, number: u16, value: &FieldValue) {
        const SAMPLING: [u16; 3] = [34, 50, 305];
        const ACTIVE: u16 = 36;
        const INACTIVE: u16 = 37;
        match number {
            number if SAMPLING.contains(&number) => {
                self.sampling = amount(value).filter(|&n| n > 0).or(self.sampling);
            }
            ACTIVE => self.timeouts_s.0 = amount(value),
            INACTIVE => self.timeouts_s.1 = amount(value),
            _ => {}
        }
    }
}

impl Fields {
    fn take(&mut self, number: u16, value: &FieldValue) {
        let counted = amount(value);
        match number {
            1 | 85 => self.bytes = counted,
            2 | 86 => self.packets = counted,
            4 => self.protocol = counted.unwrap_or(0) as u8,
            7 => self.from_port = counted.unwrap_or(0) as u16,
            11 => self.to_port = counted.unwrap_or(0) as u16,
            8 | 27 => self.from = address(value),
            12 | 28 => self.to = address(value),
            150 | 152 | 154 | 156 => self.first_ms = moment_ms(value),
            151 | 153 | 155 | 157 => self.last_ms = moment_ms(value),
            _ => {}
        }
    }

    fn record(&self) -> Option<FlowRecord> {
        let octets = |address: IpAddr| match address {
            IpAddr::V4(four) => four.to_ipv6_mapped().octets(),
            IpAddr::V6(six) => six.octets(),
        };
        let (first_ms, last_ms) = (self.first_ms?, self.last_ms?);
        Some(FlowRecord {
            key: FlowKey {
                from: octets(self.from?),
                to: octets(self.to?),
                from_port: self.from_port,
                to_port: self.to_port,
                protocol: self.protocol,
            },
            first_ms: first_ms.min(last_ms),
            last_ms,
            bytes: self.bytes?,
            packets: self.packets.unwrap_or(1),
        })
    }
}

fn amount(value: &FieldValue) -> Option<u64> {
    match value {
        FieldValue::DataNumber(number) => number.as_u64(),
        FieldValue::Duration(duration) => u64::try_from(duration.as_duration().as_millis()).ok(),
        FieldValue::ProtocolType(protocol) => Some(u64::from(u8::from(*protocol))),
        FieldValue::Vec(bytes) if bytes.len() <= 8 => {
            Some(bytes.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte)))
        }
        _ => None,
    }
}

fn moment_ms(value: &FieldValue) -> Option<u64> {
    /// NTP counts from 1900 (RFC 5905, section 6).
    const NTP_S: u64 = 2_208_988_800;
    use netflow_parser::variable_versions::field_value::DurationValue;
    let ms = amount(value)?;
    match value {
        FieldValue::Duration(DurationValue::MicrosNtp { .. } | DurationValue::NanosNtp { .. }) => {
            Some(ms.saturating_sub(NTP_S * 1000))
        }
        _ => Some(ms),
    }
}

fn address(value: &FieldValue) -> Option<IpAddr> {
    match value {
        FieldValue::Ip4Addr(four) => Some((*four).into()),
        FieldValue::Ip6Addr(six) => Some((*six).into()),
        _ => None,
    }
}
