//! Scenarios as passed by Python.

use crate::foreign::{AnyForeign, list_of, name_of};
use crate::sender::Profile;
use forebay_sim::config::{
    Barrier, Config, Datagram, File, FlowSpec, LinkPlan, LinkSpec, Route, Source, TraceSpec,
};
use forebay_sim::time::Picos;
use numpy::{PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pythonize::depythonize;

/// A link and its queue.
#[pyclass(frozen, module = "forebay._core")]
pub struct Link(LinkSpec);

#[pymethods]
impl Link {
    #[new]
    fn new(plan: &Bound<'_, PyDict>) -> PyResult<Self> {
        let plan: LinkPlan = depythonize(plan)?;
        let spec = plan.spec().map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self(spec))
    }
}

/// The drawn flows, one entry each; times in picoseconds, `segments` 0 for a flow without end, `stop_ps` the most
/// where its application does not stop.
///
/// The run takes ownership of them, because there may be gigabytes of them.
#[pyclass(module = "forebay._core")]
pub struct Flows(Option<Vec<FlowSpec>>);

#[pymethods]
impl Flows {
    #[new]
    #[pyo3(signature = (*, traffic_class, route, congestion_control, rtt_ps, start_ps, segments,
        packet_bytes, access_bps, open_loop, packet_offsets=None, file_offsets=None, stop_ps=None, foreign=vec![]))]
    #[allow(clippy::too_many_arguments)] // keywords of a Python call
    fn new(
        traffic_class: PyReadonlyArray1<'_, i32>,
        route: PyReadonlyArray1<'_, i32>,
        congestion_control: PyReadonlyArray1<'_, i32>,
        rtt_ps: PyReadonlyArray1<'_, i64>,
        start_ps: PyReadonlyArray1<'_, i64>,
        segments: PyReadonlyArray1<'_, i64>,
        packet_bytes: PyReadonlyArray1<'_, i32>,
        access_bps: PyReadonlyArray1<'_, f64>,
        open_loop: PyReadonlyArray1<'_, bool>,
        packet_offsets: Option<PyReadonlyArray1<'_, i64>>,
        file_offsets: Option<PyReadonlyArray1<'_, i64>>,
        stop_ps: Option<PyReadonlyArray1<'_, i64>>,
        foreign: Vec<AnyForeign<'_>>,
    ) -> PyResult<Self> {
        let n = traffic_class.len();
        let narrow = [route.len(), congestion_control.len(), packet_bytes.len()];
        let wide =
            [rtt_ps.len(), start_ps.len(), segments.len(), access_bps.len(), open_loop.len()];
        if narrow.iter().chain(&wide).any(|&len| len != n) {
            return Err(PyValueError::new_err("flow arrays differ in length"));
        }
        let (class, route) = (traffic_class.as_array(), route.as_array());
        let (control, bytes) = (congestion_control.as_array(), packet_bytes.as_array());
        let (rtt, start) = (rtt_ps.as_array(), start_ps.as_array());
        let (length, access) = (segments.as_array(), access_bps.as_array());
        let open_loop = open_loop.as_array();
        let part = |offsets: &Option<PyReadonlyArray1<'_, i64>>, i: usize| {
            let offsets = offsets.as_ref()?.as_array();
            let (from, to) = (*offsets.get(i)?, *offsets.get(i + 1)?);
            Some((u32::try_from(from).ok()?, u32::try_from(to).ok()?)).filter(|(a, b)| a < b)
        };
        let source = |i: usize| -> Option<Source> {
            if let Some((from, to)) = part(&packet_offsets, i) {
                return Some(Source::Datagrams(from, to));
            }
            let stop = stop_ps.as_ref().and_then(|stops| stops.as_array().get(i).copied());
            let stop = stop.filter(|&stop| stop < i64::MAX);
            if let Some((from, to)) = part(&file_offsets, i) {
                return Some(match stop {
                    Some(stop) => Source::FilesUntil(from, to, stop.try_into().ok()?),
                    None => Source::Files(from, to),
                });
            }
            match (length[i], stop) {
                (0, _) if open_loop[i] => Some(Source::Datagrams(0, 0)),
                (0, Some(stop)) => Some(Source::Until(stop.try_into().ok()?)),
                (0, _) => Some(Source::Segments(u64::MAX)),
                (segments, _) => Some(Source::Segments(segments.try_into().ok()?)),
            }
        };
        let flow = |i: usize| -> Option<FlowSpec> {
            Some(FlowSpec {
                class: class[i].try_into().ok()?,
                route: route[i].try_into().ok()?,
                congestion_control: name_of(usize::try_from(control[i]).ok()?, &foreign)?,
                rtt: rtt[i].try_into().ok()?,
                start: start[i].try_into().ok()?,
                source: source(i)?,
                packet_bytes: bytes[i].try_into().ok()?,
                access_bps: access[i],
            })
        };
        let out_of_range = |i| PyValueError::new_err(format!("flow {i} is out of range"));
        (0..n)
            .map(|i| flow(i).ok_or_else(|| out_of_range(i)))
            .collect::<PyResult<_>>()
            .map(Some)
            .map(Self)
    }
}

/// Packets of open-loop sources, and files of users: what `Flows`' offsets point into. The run that
/// they are given to takes them.
#[pyclass(module = "forebay._core")]
pub struct Sources(Option<(Vec<Datagram>, Vec<File>)>);

#[pymethods]
impl Sources {
    #[new]
    #[pyo3(signature = (*, packet_at_ps, packet_bytes, file_segments, file_think_ps))]
    fn new(
        packet_at_ps: PyReadonlyArray1<'_, i64>,
        packet_bytes: PyReadonlyArray1<'_, i32>,
        file_segments: PyReadonlyArray1<'_, i64>,
        file_think_ps: PyReadonlyArray1<'_, i64>,
    ) -> PyResult<Self> {
        let (at, bytes) = (packet_at_ps.as_array(), packet_bytes.as_array());
        let (segments, think) = (file_segments.as_array(), file_think_ps.as_array());
        if at.len() != bytes.len() || segments.len() != think.len() {
            return Err(PyValueError::new_err("arrays of packets or files differ in length"));
        }
        let packet = |(&at, &bytes): (&i64, &i32)| {
            Some(Datagram { at: at.try_into().ok()?, bytes: bytes.try_into().ok()? })
        };
        let file = |(&segments, &think): (&i64, &i64)| {
            Some(File { segments: segments.try_into().ok()?, think: think.try_into().ok()? })
        };
        let negative = || PyValueError::new_err("a packet or file has a negative field");
        let packets: Option<Vec<_>> = at.iter().zip(bytes).map(packet).collect();
        let files: Option<Vec<_>> = segments.iter().zip(think).map(file).collect();
        Ok(Self(Some((packets.ok_or_else(negative)?, files.ok_or_else(negative)?))))
    }
}

/// One replication, ready to run.
#[pyclass(frozen, module = "forebay._core")]
pub struct Run(pub Config);

#[pymethods]
impl Run {
    #[new]
    #[pyo3(signature = (*, links, routes, profiles, flows, seed, warmup_ps, window_ps, batches,
        sources=None, barriers=vec![], memory_bytes=None, trace_step_ps=None, trace_flows=vec![], capture=false,
        flow_records=false, logged_links=0, foreign=vec![]))]
    #[allow(clippy::too_many_arguments)] // keywords of a Python call
    fn new(
        links: Vec<PyRef<'_, Link>>,
        routes: Vec<(Vec<u32>, Vec<u32>)>,
        profiles: Vec<PyRef<'_, Profile>>,
        mut flows: PyRefMut<'_, Flows>,
        seed: u64,
        warmup_ps: Picos,
        window_ps: Picos,
        batches: u32,
        sources: Option<PyRefMut<'_, Sources>>,
        barriers: Vec<(u32, u32, Picos, Vec<Picos>)>,
        memory_bytes: Option<u64>,
        trace_step_ps: Option<Picos>,
        trace_flows: Vec<u32>,
        capture: bool,
        flow_records: bool,
        logged_links: u32,
        foreign: Vec<AnyForeign<'_>>,
    ) -> PyResult<Self> {
        let route = |(forward, backward)| Route { forward, backward };
        let trace = |step| TraceSpec {
            step,
            flows: trace_flows,
            window_sum: true,
            every_flow: true,
            link_details: true,
        };
        let taken = || PyValueError::new_err("another run has taken the flows");
        let (datagrams, files) = match sources {
            Some(mut sources) => sources.0.take().ok_or_else(taken)?,
            None => Default::default(),
        };
        let barrier = |(first, end, asked, thinks)| Barrier { flows: first..end, asked, thinks };
        let config = Config {
            links: links.iter().map(|link| link.0.clone()).collect(),
            pools: memory_bytes.into_iter().collect(),
            seed,
            routes: routes.into_iter().map(route).collect(),
            profiles: profiles.iter().map(|profile| profile.0.clone()).collect(),
            flows: flows.0.take().ok_or_else(taken)?,
            datagrams,
            files,
            barriers: barriers.into_iter().map(barrier).collect(),
            warmup: warmup_ps,
            window: window_ps,
            batches,
            trace: trace_step_ps.map(trace),
            capture,
            flow_records,
            logged_links,
            foreign: list_of(&foreign),
        };
        config.check().map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self(config))
    }
}
