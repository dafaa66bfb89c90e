"""Shapes of scenarios for the estimate of memory, with sizes over three orders of magnitude.

As a program it runs those named on standard input, each in a process of its own, and prints a line
for each: the growth of the peak and the estimate, in bytes.
"""

import json
import os
import sys
from pathlib import Path

from forebay.effort import Effort
from forebay.engines.footprint import Limit
from forebay.engines.simulation import SimulationEngine
from forebay.scenario import loads

WINDOW = '[measure]\nwarmup = "{warmup}"\nduration = "{duration}"\n'


def link(
    rate: str, queue: str, traffic: str, warmup: str = "200 ms", duration: str = "300 ms"
) -> str:
    window = WINDOW.format(warmup="200 ms", duration=duration)
    return f'[link]\nrate = "{rate}"\n[queue]\n{queue}\n[[traffic]]\n{traffic}\n{window}'


def long(flows: int, control: str = "cubic", more: str = "") -> str:
    return (
        f'flows = {flows}\ncongestion_control = "{control}"\nrtt = "50 ms"\nstart = "0 s"\n{more}'
    )


def chain(links: int, queue: str, classes: int, flows: int) -> str:
    """Return links in a row; every class crosses one of them."""
    names = [f"l{each}" for each in range(1, links)]
    text = f'[link]\nrate = "1 Gbit/s"\n[queue]\n{queue}\n'
    for name in names:
        text += f'[[links]]\nname = "{name}"\nrate = "1 Gbit/s"\n[links.queue]\n{queue}\n'
    for each in range(classes):
        place = names[each % len(names)] if names and each else "bottleneck"
        text += f'[[traffic]]\nflows = {flows}\nrtt = "50 ms"\nstart = "0 s"\nroute = ["{place}"]\n'
    return text + WINDOW.format(warmup="20 ms", duration="30 ms")


def network(topology: str, delay: str, flows: int, latest: str, window: str) -> str:
    """Return a provider's network, or a data centre."""
    return (
        f'[link]\nrate = "1 Gbit/s"\ndelay = "{delay}"\n[queue]\nsize = "100 packets"\n'
        f"[topology.{topology}\n[[traffic]]\nflows = {flows}\n"
        f'start = {{ uniform = ["0 s", "{latest}"] }}\n'
        + WINDOW.format(warmup=window, duration=window)
    )


LARGE = ((100_000, 1000, 1000), (1_000_000, 10_000, 5000))
"""Hosts, edge routers and flows of providers that take half a minute each."""
DROP_TAIL = 'size = "1000 packets"'
SHAPES: dict[str, str] = {
    **{f"{n} flows of {control}": link("10 Gbit/s", DROP_TAIL, long(n, control))
       for control in ("reno", "cubic", "bbr", "bbr3", "dctcp") for n in (10, 1000, 30_000)},
    **{f"initial window {window}, {n} flows":
       link("10 Gbit/s", 'size = "1 bdp"', long(n, more=f"initial_window = {window}\n"), "2 s")
       for window, n in ((10, 20_000), (100, 20_000), (1000, 200), (1000, 20_000))},
    **{f"{rate} of {control}, 2000 flows": link(rate, 'size = "1 bdp"', long(2000, control))
       for control in ("cubic", "bbr") for rate in ("1 Gbit/s", "10 Gbit/s", "100 Gbit/s")},
    **{f"{queue} with {n} flows": link("10 Gbit/s", f'discipline = "{queue}"\n{DROP_TAIL}', long(n))
       for queue in ("red", "codel", "fq_codel", "pie", "cake") for n in (100, 10_000)},
    **{f"a queue of {size}": link("10 Gbit/s", f'size = "{size}"', long(1000), "2 s")
       for size in ("100 packets", "3000 packets", "100000 packets")},
    **{f"{n} links": chain(n, DROP_TAIL, 1, 100) for n in (1, 30, 1000)},
    **{f"{n} links of fq_codel": chain(n, 'discipline = "fq_codel"\nsize = "1000 packets"', 1, 100)
       for n in (10, 300)},
    "30 links of fq_codel with 65536 buckets":
        chain(30, 'discipline = "fq_codel"\nsize = "1000 packets"\nbuckets = 65536', 1, 100),
    "500 links of a million packets": chain(500, 'size = "1000000 packets"', 1, 100),
    **{f"{n} links with {n} classes": chain(n, DROP_TAIL, n, 50) for n in (10, 100, 1000)},
    **{f"isp of {hosts} hosts":
       network(f"isp]\nhosts = {hosts}\nedges = {edges}", "1 ms", flows, "10 ms", "20 ms")
       for hosts, edges, flows in ((1000, 100, 100), *LARGE)},
    **{f"fat tree of {k}": network(f"fat_tree]\nk = {k}", "10 us", flows, "100 ms", "5 ms")
       for k, flows in ((4, 100), (8, 1000), (16, 5000))},
    **{f"datagrams at {rate}": link(rate, 'discipline = "bfifo"\nsize = "1 MB"',
       f'kind = "udp"\nflows = 10\nrate = "{rate}"\npacket = "64 B"\nstart = "0 s"')
       for rate in ("1 Mbit/s", "30 Mbit/s", "1 Gbit/s")},
    **{f"video of {n}": link("10 Gbit/s", DROP_TAIL,
       f'kind = "video"\nflows = {n}\nrate = "2 Mbit/s"\nstart = "0 s"')
       for n in (10, 300)},
    **{f"short flows at load {load}": link("10 Gbit/s", DROP_TAIL,
       f'kind = "short"\nload = {load}\nlength = "14 packets"\nrtt = "50 ms"')
       for load in (0.01, 0.3, 0.9)},
    **{f"{n} flows without SACK": link("10 Gbit/s", 'size = "1 bdp"',
       long(n, "reno", 'sender = "ns2"\n')) for n in (1000, 100_000, 1_000_000)},
    **{f"few short flows on {rate}": link(rate, DROP_TAIL,
       'kind = "short"\narrival_rate = 10.0\nlength = "14 packets"\nrtt = "50 ms"')
       for rate in ("10 Gbit/s", "10 Tbit/s")},
}  # fmt: skip
SMALL = '[link]\nrate = "1 Mbit/s"\n[[traffic]]\nflows = 1\nstart = "0 s"\n'


def status(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return 1024 * int(line.split()[1])
    raise LookupError(name)


def engine() -> SimulationEngine:
    made = SimulationEngine()
    made.limit_memory(10**11)
    return made


def measure(shape: str) -> tuple[float, float]:
    estimates: list[float] = []
    check = Limit.check

    def recorded(self, estimated, seeds):
        estimates.append(estimated.least(seeds))
        check(self, estimated, seeds)

    Limit.check = recorded  # type: ignore[method-assign]
    engine().run(loads(SMALL), [1])  # touches what every run needs
    scenario = loads(SHAPES[shape])
    Path("/proc/self/clear_refs").write_text("5")
    before = status("VmRSS")
    engine().run(scenario, [1], Effort(jobs=1))
    return status("VmHWM") - before, estimates[-1]


def main() -> None:
    engine().run(loads(SMALL), [1], Effort(jobs=1))  # imports, without a thread that stays
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            print(json.dumps(measure(line.strip())), flush=True)
            os._exit(0)
        if os.waitpid(child, 0)[1]:
            print(json.dumps(None), flush=True)  # the test waits for a line


if __name__ == "__main__":
    main()
