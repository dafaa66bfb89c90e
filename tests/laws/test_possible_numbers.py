"""For any scenario, theory returns possible numbers in finite time and memory, or an error."""

import itertools
import subprocess
import sys
import time

import pytest
from tests.cases import cases

import forebay
from forebay.engines.errors import NoLaw
from forebay.outcome import Outcome
from forebay.scenario import loads

LOADS = (0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0, 1.001, 2.0)
BUFFERS = (1, 3, 10, 100, 3000, 100_000)
LENGTHS = (
    '"1 packets"', '"14 packets"', '"39 packets"', '"80 packets"', '"5000 packets"',
    '{ geometric = "20 packets" }', '{ pareto = { mean = "14 packets", shape = 1.2 } }',
)  # fmt: skip
GROUPS = {
    "short": 'kind = "short"\nload = {load}\nlength = {length}\nrtt = "50 ms"',
    "held": 'kind = "short"\nload = {load}\nlength = {length}\nmax_window = 43',
    "udp": 'kind = "udp"\nflows = 3\nload = {load}',
    "mix": 'flows = 40\nrtt = {{ uniform = ["20 ms", "80 ms"] }}\n'
    '[[traffic]]\nkind = "short"\nload = {load}\nlength = {length}',
    "both": 'kind = "udp"\nflows = 3\nload = 0.3\n'
    '[[traffic]]\nkind = "short"\nload = {load}\nlength = {length}',
    "beside": 'flows = 40\nrtt = {{ uniform = ["20 ms", "80 ms"] }}\n'
    '[[traffic]]\nkind = "udp"\nflows = 2\nload = {load}',
}


def told(kind: str, load: float, buffer: int, length: str) -> Outcome | None:
    group = GROUPS[kind].format(load=load, length=length)
    text = f'link.rate = "100 Mbit/s"\nqueue.size = "{buffer} packets"\n[[traffic]]\n{group}\n'
    short_run = ["measure.warmup=1 s", "measure.duration=1 s"]  # so that no count is refused
    try:
        return forebay.run(loads(text, overrides=short_run), "theory")
    except NoLaw:
        return None


def check(outcome: Outcome, buffer: int) -> tuple[float, float | None]:
    """Utilization and loss rate of an outcome that is possible."""
    link = outcome.links["bottleneck"]
    assert 0.0 <= link.utilization.value <= 1.0
    for metric in (link.loss_rate, *(each.loss_rate for each in outcome.classes)):
        if metric is not None:
            assert 0.0 <= metric.low <= metric.value <= metric.high <= 1.0
    got = sum(each.throughput_bps.value for each in outcome.classes if each.throughput_bps)
    assert 0.0 <= got <= 100e6 * link.utilization.value * (1 + 1e-6)
    if link.queue_packets is not None and link.queue_packets.mean is not None:
        parts = (link.queue_packets.p50, link.queue_packets.p95, link.queue_packets.p99)
        values = [each.value for each in parts if each is not None]
        assert 0.0 <= values[0] <= values[1] <= values[2] <= buffer + 1e-6
        assert 0.0 <= link.queue_packets.mean.value <= buffer + 1e-6
    return link.utilization.value, None if link.loss_rate is None else link.loss_rate.value


@pytest.mark.parametrize(
    "length", cases(LENGTHS, (LENGTHS[0], LENGTHS[2], LENGTHS[6]).__contains__)
)
@pytest.mark.parametrize("kind", GROUPS)
def test_every_number_is_possible_and_goes_the_right_way(kind, length):
    if kind in ("udp", "beside") and length != LENGTHS[0]:
        return
    seen: dict[tuple[float, int], tuple[float, float | None]] = {}
    for load, buffer in itertools.product(LOADS, BUFFERS):
        started = time.process_time()
        outcome = told(kind, load, buffer, length)
        assert time.process_time() - started < 20
        if outcome is not None:
            seen[load, buffer] = check(outcome, buffer)
    for (load, buffer), (_, lost) in seen.items():
        more = [seen[load, b][1] for b in BUFFERS if b > buffer and (load, b) in seen]
        assert lost is None or all(x is None or x <= lost + 1e-9 for x in more)
        if kind in ("short", "held", "udp"):
            later = [seen[x, buffer][0] for x in LOADS if x > load and (x, buffer) in seen]
            assert all(used >= seen[load, buffer][0] - 1e-9 for used in later)


def test_short_flows_at_a_load_of_99_percent_fill_the_link():
    """A bound said 22 % and 78 % lost; simulation has 98 % and some 9 %."""
    outcome = told("short", 0.99, 100, '"14 packets"')
    assert outcome is not None
    used, lost = check(outcome, 100)
    assert used == pytest.approx(0.99, abs=0.005)
    assert 0.02 < lost < 0.2


@pytest.mark.parametrize("length", range(1, 40))
def test_full_load_has_no_steady_state_and_says_so(length):
    assert told("short", 1.0, 100, f'"{length} packets"') is None


def test_a_mix_above_the_link_s_rate_has_no_law():
    """A load of 2 gave the short class 800 Mbit/s of a link of 400."""
    assert told("mix", 2.0, 100, '"14 packets"') is None


MEMORY = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
import forebay
from forebay.engines.errors import NoLaw
from forebay.scenario import loads
for text in sys.argv[1:]:
    try:
        forebay.run(loads(text), "theory")
    except NoLaw:
        pass
    peak = next(line for line in open('/proc/self/status') if line.startswith('VmHWM'))
    print(int(peak.split()[1]) // 1024)
"""
LARGE = [
    'kind = "short"\nlength = { pareto = { mean = "14 packets", shape = 1.2 } }\nload = 0.5\n'
    "max_window = 43",
    'kind = "short"\nlength = "10000000 packets"\nload = 0.5\nmax_window = 1',
    'kind = "short"\nlength = { geometric = "1000 packets" }\nload = 0.9\ninitial_window = 1000',
    'kind = "video"\nflows = 1\nrate = "10 Mbit/s"\nframe_rate = 1.0',
]  # fmt: skip


def test_memory_is_bounded():
    """Megabytes at most, after each of them."""
    texts = [
        f'link.rate = "100 Mbit/s"\nqueue.size = "100 packets"\n[[traffic]]\n{group}\n'
        '[measure]\nduration = "1 s"\nwarmup = "1 s"\n'
        for group in LARGE
    ]
    command = [sys.executable, "-c", MEMORY, *texts]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    peaks = [int(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, (peaks, done.stderr[-500:])
    assert len(peaks) == len(LARGE) and max(peaks) < 1000


def test_thousands_of_classes_take_a_time_in_proportion():
    """Per class it compared every other one; 2000 classes did not end within minutes."""
    group = '[[traffic]]\nflows = 5\nrtt = {{ uniform = ["20 ms", "{} ms"] }}\n'
    text = 'link.rate = "10 Gbit/s"\n' + "".join(group.format(40 + i % 50) for i in range(1500))
    scenario = loads(text)
    started = time.process_time()
    outcome = forebay.run(scenario, "theory")
    assert time.process_time() - started < 20
    assert len(outcome.classes) == 1500
