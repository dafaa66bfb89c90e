//! A run from its plan to its result.

use crate::clock::Clock;
use crate::drive::{DriveReadings, Driver};
use crate::event;
use crate::failure::Failure;
use crate::namespace::{lost_before, open_tun};
use crate::plan::{Plan, Side};
use crate::result;
use crate::router::capture::{Capture, CaptureWriter};
use crate::router::channels::{FarEndChannels, Progress};
use crate::router::far_end::FarEnd;
use crate::router::router_loop::{RouterLoop, RouterResult};
use crate::router::tun_ports::TunPort;
use crate::router::wake_policy::WakePolicy;
use crate::router::{Router, Side as RouterSide};
use crate::stop::Stop;
use forebay_sim::time::SECOND;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// Time between two checks of the stop flag.
const LOOK: Duration = Duration::from_millis(50);
/// Checks between two progress events.
const LOOKS_A_SECOND: u32 = 20;

/// Runs the plan in the file at `path`.
pub fn run(path: &str, stop: &Stop) -> Result<(), Failure> {
    let plan = Plan::read(path)?;
    let router =
        Router::new(&plan).map_err(|error| Failure::Plan(path.into(), error.to_string()))?;
    let open = |side: &Side| open_tun(&side.netns, &side.tun, side.offload);
    let devices = [open(&plan.sender)?, open(&plan.receiver)?];
    let (capture, writer) = begin_capture(&plan)?;
    let progress = Progress::default();
    let link_infos: Vec<_> = router.link_infos().take(plan.links.len()).collect();
    let lost_at_first = lost(&plan)?;
    let clock = Clock::start();
    let wake_policy = WakePolicy::of(&plan, &router);
    let (post, far) = far_end(&plan, &devices, wake_policy, clock, &progress);
    let router_loop =
        RouterLoop::new(&plan, router, &devices, (capture, post), wake_policy, clock, &progress);
    let began = Instant::now();
    let (mut router_result, driven, delivered) = thread::scope(|scope| {
        let delivering = far.map(|far| scope.spawn(|| far.run()));
        let routing = scope.spawn(|| router_loop.run());
        event::ready(&link_infos, clock);
        let attended = supervise(&plan, clock, &progress, routing, stop);
        let delivered = delivering.map(ScopedJoinHandle::join).transpose();
        let delivered = delivered.map_err(|_| Failure::Thread("far end"));
        attended.and_then(|(router_result, driven)| Ok((router_result, driven, delivered?)))
    })?;
    router_result.lost_before -= lost_at_first;
    if let Some(delivered) = delivered {
        router_result.join(&delivered, plan.window_ps);
    }
    writer.map_or(Ok(()), CaptureWriter::end)?;
    write(&plan.result, &result::readings(&router_result, &driven, began.elapsed().as_secs_f64()))?;
    event::done();
    Ok(())
}

/// The right end's own thread, if it is needed and possible.
fn far_end<'a>(
    plan: &Plan,
    [_, right]: &'a [OwnedFd; 2],
    wake_policy: WakePolicy,
    clock: Clock,
    progress: &'a Progress,
) -> (Option<FarEndChannels>, Option<FarEnd<'a>>) {
    if !wake_policy.two_threads {
        return (None, None);
    }
    let ((out, inbox), (outbox, back)) = (channel(), channel());
    let port = TunPort::new(RouterSide::Right, right, plan.receiver.offload);
    let far = FarEnd::new(
        port,
        (clock, progress),
        (inbox, outbox),
        wake_policy,
        plan.warmup_ps..plan.end_ps(),
    );
    (Some(FarEndChannels { out, back }), Some(far))
}

fn begin_capture(plan: &Plan) -> Result<(Option<Capture>, Option<CaptureWriter>), Failure> {
    let names = || plan.links.iter().map(|link| link.name.clone()).collect();
    let window = plan.warmup_ps..plan.end_ps();
    let begin = |path| Capture::begin(path, names(), window);
    let begun = plan.capture.as_deref().map(begin).transpose()?;
    Ok(begun.map_or((None, None), |(capture, writer)| (Some(capture), Some(writer))))
}

type Routing<'a> = ScopedJoinHandle<'a, Result<Option<RouterResult>, Failure>>;

/// Drives the flows while the router runs.
fn supervise(
    plan: &Plan,
    clock: Clock,
    progress: &Progress,
    routing: Routing<'_>,
    stop: &Stop,
) -> Result<(RouterResult, DriveReadings), Failure> {
    let driver = Driver::start(plan, clock);
    if let Ok(driver) = &driver {
        wait(plan, progress, &routing, || stop.asked() || driver.has_failed());
    } else {
        progress.stop.store(true, Ordering::Relaxed);
    }
    let router_result = routing.join().map_err(|_| Failure::Thread("router"))?;
    let lost_before = lost(plan)?;
    let driven = driver?.stop()?;
    match router_result? {
        Some(router_result) => Ok((RouterResult { lost_before, ..router_result }, driven)),
        None => Err(stop.failure()),
    }
}

/// Packets that the kernel has dropped before the router since the devices were made.
fn lost(plan: &Plan) -> Result<u64, Failure> {
    let of = |side: &Side| lost_before(&side.netns, &side.tun);
    Ok(of(&plan.sender)? + of(&plan.receiver)?)
}

/// Reports progress until the router ends, or until it is stopped because the run is `over`.
fn wait(plan: &Plan, progress: &Progress, routing: &Routing<'_>, over: impl Fn() -> bool) {
    let mut bytes = (0, Instant::now());
    for look in 1_u32.. {
        thread::sleep(LOOK);
        if routing.is_finished() {
            return;
        }
        if over() {
            progress.stop.store(true, Ordering::Relaxed);
        } else if look % LOOKS_A_SECOND == 0 {
            let now = (progress.first_link_bytes.load(Ordering::Relaxed), Instant::now());
            let rate_bps = (now.0 - bytes.0) as f64 * 8.0 / (now.1 - bytes.1).as_secs_f64();
            bytes = now;
            event::progress(
                progress.reached.load(Ordering::Relaxed) as f64 / plan.end_ps() as f64,
                rate_bps / plan.links[0].rate_bps,
                progress.lateness_p99.load(Ordering::Relaxed) as f64 / SECOND as f64,
            );
        }
    }
}

/// Writes a temporary file and renames it, so that readers never see a partial file.
fn write(path: &Path, value: &serde_json::Value) -> Result<(), Failure> {
    let refused = |error: io::Error| Failure::Result(path.display().to_string(), error);
    let beside = path.with_extension("part");
    let text = serde_json::to_vec(value).map_err(|error| refused(error.into()))?;
    fs::write(&beside, text).and_then(|()| fs::rename(&beside, path)).map_err(refused)
}
