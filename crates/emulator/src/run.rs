//! A run from its plan to its result.

use crate::clock::Clock;
use crate::drive::{DriveReadings, Driver};
use crate::event;
use crate::failure::Failure;
use crate::namespace::{lost_before, open_tun};
use crate::plan::{Plan, Side};
use crate::result;
use crate::router::capture::{Capture, Writing};
use crate::router::ends::Door;
use crate::router::far_end::{FarEnd, Post};
use crate::router::pump::{Pump, Routed, Watch};
use crate::router::rhythm::Rhythm;
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

/// Between two looks at whether the run is to stop.
const LOOK: Duration = Duration::from_millis(50);
/// Looks between two events of progress.
const LOOKS_A_SECOND: u32 = 20;

/// Plays the plan in the file at `path`.
pub fn run(path: &str, stop: &Stop) -> Result<(), Failure> {
    let plan = Plan::read(path)?;
    let router =
        Router::new(&plan).map_err(|error| Failure::Plan(path.into(), error.to_string()))?;
    let open = |side: &Side| open_tun(&side.netns, &side.tun);
    let devices = [open(&plan.sender)?, open(&plan.receiver)?];
    let (capture, writing) = begin_capture(&plan)?;
    let watch = Watch::default();
    let built: Vec<_> = router.built().take(plan.links.len()).collect();
    let lost_at_first = lost(&plan)?;
    let clock = Clock::start();
    let rhythm = Rhythm::of(&plan, &router);
    let (post, far) = far_end(&plan, &devices, rhythm, clock, &watch);
    let pump = Pump::new(&plan, router, &devices, (capture, post), rhythm, clock, &watch);
    let began = Instant::now();
    let (mut routed, driven, delivered) = thread::scope(|scope| {
        let delivering = far.map(|far| scope.spawn(|| far.run()));
        let routing = scope.spawn(|| pump.run());
        event::ready(&built, clock);
        let attended = attend(&plan, clock, &watch, routing, stop);
        let delivered = delivering.map(ScopedJoinHandle::join).transpose();
        let delivered = delivered.map_err(|_| Failure::Thread("far end"));
        attended.and_then(|(routed, driven)| Ok((routed, driven, delivered?)))
    })?;
    routed.lost_before -= lost_at_first;
    if let Some(delivered) = delivered {
        routed.join(&delivered, plan.window_ps);
    }
    writing.map_or(Ok(()), Writing::end)?;
    write(&plan.result, &result::readings(&routed, &driven, began.elapsed().as_secs_f64()))?;
    event::done();
    Ok(())
}

/// The right end's own thread, where one is needed and can do its work.
fn far_end<'a>(
    plan: &Plan,
    [_, right]: &'a [OwnedFd; 2],
    rhythm: Rhythm,
    clock: Clock,
    watch: &'a Watch,
) -> (Option<Post>, Option<FarEnd<'a>>) {
    if !rhythm.two {
        return (None, None);
    }
    let ((out, inbox), (outbox, back)) = (channel(), channel());
    let door = Door::new(RouterSide::Right, right);
    let far =
        FarEnd::new(door, (clock, watch), (inbox, outbox), rhythm, plan.warmup_ps..plan.end_ps());
    (Some(Post { out, back }), Some(far))
}

fn begin_capture(plan: &Plan) -> Result<(Option<Capture>, Option<Writing>), Failure> {
    let names = || plan.links.iter().map(|link| link.name.clone()).collect();
    let begun = plan.capture.as_deref().map(|path| Capture::begin(path, names())).transpose()?;
    Ok(begun.map_or((None, None), |(capture, writing)| (Some(capture), Some(writing))))
}

type Routing<'a> = ScopedJoinHandle<'a, Result<Option<Routed>, Failure>>;

/// Drives the flows while the router runs.
fn attend(
    plan: &Plan,
    clock: Clock,
    watch: &Watch,
    routing: Routing<'_>,
    stop: &Stop,
) -> Result<(Routed, DriveReadings), Failure> {
    let driver = Driver::start(plan, clock);
    if let Ok(driver) = &driver {
        wait(plan, watch, &routing, || stop.asked() || driver.has_failed());
    } else {
        watch.stop.store(true, Ordering::Relaxed);
    }
    let routed = routing.join().map_err(|_| Failure::Thread("router"))?;
    let lost_before = lost(plan)?;
    let driven = driver?.stop()?;
    match routed? {
        Some(routed) => Ok((Routed { lost_before, ..routed }, driven)),
        None => Err(stop.failure()),
    }
}

/// Packets that the kernel has lost before the router since the devices were made.
fn lost(plan: &Plan) -> Result<u64, Failure> {
    let of = |side: &Side| lost_before(&side.netns, &side.tun);
    Ok(of(&plan.sender)? + of(&plan.receiver)?)
}

/// Tells of progress until the router ends, or is told to because it is `over`.
fn wait(plan: &Plan, watch: &Watch, routing: &Routing<'_>, over: impl Fn() -> bool) {
    let mut bytes = (0, Instant::now());
    for look in 1_u32.. {
        thread::sleep(LOOK);
        if routing.is_finished() {
            return;
        }
        if over() {
            watch.stop.store(true, Ordering::Relaxed);
        } else if look % LOOKS_A_SECOND == 0 {
            let now = (watch.first_link_bytes.load(Ordering::Relaxed), Instant::now());
            let rate_bps = (now.0 - bytes.0) as f64 * 8.0 / (now.1 - bytes.1).as_secs_f64();
            bytes = now;
            event::progress(
                watch.reached.load(Ordering::Relaxed) as f64 / plan.end_ps() as f64,
                rate_bps / plan.links[0].rate_bps,
                watch.lateness_p99.load(Ordering::Relaxed) as f64 / SECOND as f64,
            );
        }
    }
}

/// Beside its place first: whoever finds the file finds it whole.
fn write(path: &Path, value: &serde_json::Value) -> Result<(), Failure> {
    let refused = |error: io::Error| Failure::Result(path.display().to_string(), error);
    let beside = path.with_extension("part");
    let text = serde_json::to_vec(value).map_err(|error| refused(error.into()))?;
    fs::write(&beside, text).and_then(|()| fs::rename(&beside, path)).map_err(refused)
}
