"""What laws say of links of every regime, at the edges of thresholds too; and their formulas.

Kept whole, sentences included. The theory engine's outcomes are checked for what is possible when
they are made.
"""

import math
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
from tests.kept import Kept, plain
from tests.laws.test_regime import CASES as REGIMES
from tests.laws.test_regime import OTHER, link, long, short, udp, video
from tests.laws.test_short_flows import PORT

import forebay
from forebay import laws
from forebay.engines.errors import NoLaw, Unsupported
from forebay.laws import (
    LAWS,
    arrays,
    bursts,
    completion_time,
    desynchronized,
    effective_bandwidth,
    fractional_brownian,
    general_decrease,
    incast,
    loss,
    partial_synchrony,
    quantities,
    response,
    rule_of_thumb,
    sawtooth,
    sqrt_n,
    tcp_and_link,
    tiny_buffers,
    utilization,
)
from forebay.laws import heterogeneous as many
from forebay.laws.bursts import Bursts, of_flow
from forebay.laws.effective_bandwidth import Order
from forebay.laws.finite_queue import exact_queue, finite_queue, with_repeats
from forebay.laws.hashed_members import Group
from forebay.laws.heterogeneous.protocols import EPOCH_AS_PRINTED, TABLE_3_AS_PRINTED
from forebay.laws.uncertainty import Box, gradient, interval
from forebay.scenario import Scenario, ScenarioError, loads

GOALS = ("goals.utilization=0.98", "goals.loss_rate=0.01")


def told(asked: Scenario) -> dict[str, Any]:
    """Return all that laws say of a link."""
    found: dict[str, Any] = {"regime": laws.regime_of(asked)}
    for answer in laws.for_scenario(asked):
        assert (answer.packets or 0.0) >= 0.0 and 0.0 <= (answer.utilization or 0.0) <= 1.0 + 1e-9
        kept = {key: part for key, part in plain(answer).items() if key not in ("law", "source")}
        found[answer.law] = kept | {"whole": answer.packets_whole}
    of = LAWS if asked.n_flows else laws.BURST_LAWS
    found["broken"] = sorted({line for law in of for line in law.broken(asked)})
    if asked.n_flows:
        found["windows"] = [quantities.average_window(asked), quantities.path_window(asked)]
        found["sawtooths"] = [laws.assumptions.sawtooths_s(asked, size) for size in (1, 99, 2000)]
    found["windows of workers"] = incast.first_windows(asked)
    try:
        outcome = forebay.run(asked, "theory")
    except (NoLaw, Unsupported):
        return found
    classes = [plain(each) for each in outcome.classes]
    return found | {"theory": outcome.links["bottleneck"], "classes": classes}


def asked(*groups: str, top: str = "", sets: tuple[str, ...] = GOALS) -> Callable[[], Any]:
    return lambda: told(link(*groups, top=top, sets=sets))


def of(text: str, *sets: str) -> Callable[[], Any]:
    return lambda: told(loads(text, overrides=sets))


def sized(scenario: Scenario) -> Callable[[], Any]:
    """Return the answers of a regime's case, with goals that laws of sizes need."""
    with suppress(ScenarioError):  # it cannot be used so much
        scenario = scenario.replace({"goals.utilization": 0.98, "goals.loss_rate": 0.01})
    return lambda: told(scenario)


SURE = (
    "goals.utilization={at_least=0.98, probability=0.95}",
    "goals.loss_rate={at_most=0.01, probability=0.9}",
    "goals.queue_delay={quantile=0.999, at_most='9 ms', maximum='10 ms'}",
)
PEERS = '{ uniform = ["60 ms", "89 ms"] }'
CLASSES = (
    'queue.discipline = "classes"\nqueue.classes = [{ name = "a", default = true }, '
    '{ name = "b", traffic = ["long-1"], weight = 2.0 }]'
)
SCENARIOS: dict[str, Callable[[], Any]] = {
    **{name: sized(scenario) for name, scenario, *_ in REGIMES},
    **{f"{n} flows": asked(long(n)) for n in (8, 9, 10, 11, 100, 249, 250, 251, 500, 501, 2324)},
    **{f"{n} flows of ns-2": asked(long(n, more='sender = "ns2"\ndelayed_ack = true'))
       for n in (1, 5, 300)},
    **{f"{n} flows, surely": asked(long(n), sets=SURE) for n in (1, 5, 60, 400)},
    **{f"{n} {name}, no goal": asked(long(n, f'"{name}"'), sets=())
       for n, name in ((1, "compound"), (4, "scalable"), (60, "bic"), (60, "cubic"))},
    **{f"{n} of {name}": asked(long(n, f'"{name}"')) for n in (11, 16, 24) for name in (
        "cubic", "compound", "scalable")},
    "slow access beside datagrams": asked(
        long(15, more='access_rate = "10 Mbit/s"'), udp(0.03), sets=()),
    "access that is just fast enough beside datagrams": asked(
        long(16, more='access_rate = "10 Mbit/s"'), udp(0.03), sets=()),
    "access of just the link's rate": of(
        'link.rate = "10 Mbit/s"\n[[traffic]]\nflows = 10\nrtt = "80 ms"\n',
        "traffic.0.access_rate=1 Mbit/s"),
    **{f"windows of {100 / n:g} packets": of(
        'link.rate = "12 Mbit/s"\n[[traffic]]\nrtt = { uniform = ["60 ms", "140 ms"] }\n',
        f"traffic.0.flows={n}") for n in (199, 200, 201)},
    "a range": asked(long(100).replace("100", '"50..200"', 1)),
    "round trips 1.49 apart": asked(long(60, rtt=PEERS)),
    "round trips 1.5 apart": asked(long(60, rtt=PEERS.replace("89", "90"))),
    "long and 20 % udp": asked(long(60), udp(0.2)),
    "long and 21 % udp": asked(long(60), udp(0.21)),
    "long and 40 % short": asked(long(60), short(0.4)),
    "long and 41 % short": asked(long(60), short(0.41)),
    "long and 89 % short": asked(long(60), short(0.89)),
    "long and 91 % short": asked(long(60), short(0.91)),
    "long, short and udp": asked(long(60), short(0.1), udp(0.05)),
    "long and two videos": asked(long(60), video(0.05), video(0.06)),
    **{f"short of {n}": asked(short(0.5, f'"{n} packets"')) for n in (1, 2, 10, 11, 89, 90, 91)},
    "short of two lengths": asked(short(0.3, '"5 packets"'), short(0.4, '"40 packets"')),
    "short, at 99.9 %": asked(short(0.999)),
    "short, one in slow start": asked(short(0.81, '"14 packets"'), short(0.09, '"90 packets"')),
    "short, one that is not": asked(short(0.79, '"14 packets"'), short(0.11, '"90 packets"')),
    **{f"short by {kind}": asked(short(0.6, f"{{ {kind} = {of_length} }}")) for kind, of_length in (
        ("geometric", '"9 packets"'),
        ("pareto", '{ mean = "9 packets", shape = 1.5, high = "60 packets" }'),
        ("lognormal", '{ mean = "9 packets", deviation = "5 packets", high = "60 packets" }'))},
    **{f"short over {rate}": asked(short(0.5, more=f'access_rate = "{rate}"'))
       for rate in ("155 Mbit/s", "156 Mbit/s", "1 Gbit/s", "1.55 Gbit/s")},
    "short, in 10 packets": asked(short(0.8), sets=(*GOALS, "queue.size=10 packets")),
    **{f"short, {said}": asked(short(0.8), sets=sets) for said, sets in (
        ("nothing lost", ("goals.loss_rate=0.0",)), ("anything lost", ("goals.loss_rate=1.0",)),
        ("a fifth longer", ("goals.fct_increase=0.2", "goals.loss_rate=1.0")))},
    "short and video": asked(short(0.3), video(0.1)),
    "always busy": asked(long(60), sets=("goals.utilization=1.0",)),
    "lossless": asked(long(60), sets=("goals.loss_rate=0.0",)),
    "short of ns-2": asked(short(0.5, more='sender = "ns2"\ndelayed_ack = true')),
    "short, an eighth longer": asked(
        short(0.8), sets=("goals.fct_increase=0.125", "goals.loss_rate=0.1")),
    **{f"short, an eighth longer at {load}": asked(
        short(load), sets=("goals.fct_increase=0.125",)) for load in (0.794, 0.796, 0.804, 0.806)},
    **{f"short with a window of {window}": asked(
        short(0.5, '"20 packets"', f"max_window = {window}")) for window in (9, 10)},
    "datagrams at random": asked(udp(0.6, 'arrivals = "poisson"'), sets=("goals.loss_rate=0.01",)),
    "small datagrams": asked(udp(0.6, 'packet = "300 B"'), short(0.1)),
    **{f"slow access of {rate}": asked(long(15, more=f'access_rate = "{rate} kbit/s"'))
       for rate in (10_333, 10_334)},
    **{f"windows of {window}": asked(long(83, more=f"max_window = {window}"))
       for window in (13, 14, 15, 16)},
    "flows of 1 packet": asked(long(1162)),
    "windows of 2 packets": asked(long(631)),
    "windows just above 2 packets": asked(long(630)),
    "late": asked(long(60, more='start = "21 s"')),
    "measured shortly": asked(long(60), sets=(*GOALS, "measure.duration=1 s")),
    "switched": asked(long(60, more='schedule = { on = "2 s", off = "2 s" }')),
    "stopped": asked(long(60, more='stop = "45 s"')),
    "stopped in the warm-up": asked(long(60), long(9, more='stop = "5 s"')),
    "a policer": asked(long(60), top='link.policer = { rate = "99 Mbit/s", burst = "9 kB" }'),
    "a wide policer": asked(long(60), top='link.policer = { rate = "155 Mbit/s", burst = "9 kB" }'),
    "a shaper": asked(long(60), top='link.shaper = { rate = "99 Mbit/s", burst = "9 kB" }'),
    "losses": asked(long(60), top="link.loss = 0.001"),
    "jitter": asked(long(60), top='link.jitter = { most = "1 ms" }'),
    "pauses": asked(long(60), top='link.down = { period = "9 s", times = [["1 s", "2 s"]] }'),
    "shared memory": asked(long(60), top='memory = "300 kB"\nqueue.alpha = 1.0'),
    "class queues": asked(long(60), long(9), top=CLASSES),
    **{f"{size} transfers": of(
        'link.rate = "1 Gbit/s"\nqueue.size = "100 packets"\n'
        'measure = { warmup = "1 s", duration = "1 s" }\n'
        f'[[traffic]]\nkind = "transfers"\nload = 0.5\nsize = "{size}"\nrtt = "5 ms"\n')
       for size in ("web-search", "20 kB", "130 kB", "131 kB")},
    **{f"answers of {n} packets": of(PORT.format(response=n), *sets) for n, sets in (
        (1, ()), (3, ()), (10, ()), (11, ()), (50, ("traffic.0.access_rate=3 Gbit/s",)),
        (12, ("traffic.0.initial_window=4", "traffic.0.rtt={uniform=['200 us', '300 us']}")),
        (9, ("traffic.0.sender=ns2", "traffic.0.flows=40")), (8, ("traffic.0.max_window=5",)))},
    "answers beside long flows": of(PORT.format(response=9) + "[[traffic]]\nflows = 9\n"),
    "over two links": asked(
        long(60, more='route = ["bottleneck", "other"]'), udp(0.3, 'route = ["other"]'), top=OTHER),
}  # fmt: skip

SIZES, BDP, FLOWS = np.array([0.0, 3.0, 40.0, 900.0]), 500.0, np.array([[2.0], [30.0], [700.0]])
TIMES = np.array([0.0, 0.1, 0.7, 2.0])
SHARES = np.array([0.001, 0.3, 0.55, 0.9, 0.999])
TARGETS = np.array([0.5, 0.76, 0.9, 0.98, 0.9999])
LOADS, MIXED = np.array([0.05, 0.4, 0.8, 0.97]), Bursts.given([1, 4, 9, 30], [4, 3, 2, 1])
EACH_ORDER = list(Order)
PRINTED = (False, True)


def each(law: Callable[..., Any], *cases: tuple[Any, ...]) -> Callable[[], Any]:
    return lambda: [law(*case) for case in cases]


def printed(law: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
    return lambda: [law(*arguments, as_printed=as_printed) for as_printed in PRINTED]


def protocol(name: str) -> dict[str, Any]:
    growth, windows, rtts = many.PROTOCOLS[name], np.array([2.0, 9.0, 60.0, 4e4]), (0.002, 0.1, 0.6)
    return {
        str(rtt): [
            growth.epoch(windows, rtt), growth.mean(windows, rtt), growth.deviation(windows, rtt),
            growth.characteristic_value(windows, rtt),
            growth.window(0.3 * growth.epoch(windows, rtt), windows, rtt),
            many.sample_sum(name, 3, 2, w_max=20.0, rtt=rtt), growth.beta, growth.scale_free,
        ]
        for rtt in rtts
    }  # fmt: skip


def queue(load: float, of_sizes: Bursts, buffer: int) -> list[Any]:
    """Return an endless queue, one that ends, and one with repeats; with waits."""
    endless, ends = exact_queue(load, of_sizes), finite_queue(load, of_sizes, buffer)
    again = with_repeats(load, of_sizes, buffer)
    waits = [bursts.quantile(ends, of_sizes, float(p), buffer) for p in SHARES]
    return [
        endless.mean_waiting, endless.tail([0, 1, 5, 20.5]), endless.buffer_for([0.3, 1e-3, 1e-9]),
        ends.utilization, ends.loss_rate, ends.waiting[:6], waits,
        bursts.mean(ends, of_sizes, buffer), again and [again.arriving, again.loss_rate],
        bursts.quantile(endless, of_sizes, 0.9, 10**9), bursts.mean(endless, of_sizes, 10**9),
        endless.in_system.size,
    ]  # fmt: skip


def balances() -> list[Any]:
    """Return links at rest, with and without a queue, and some that are none."""
    capacity, delay = np.array([[900.0], [12_917.0]]), 0.1
    cases = product((20.0, 300.0), (3, 40, 4000), (0.0, 0.4), (0.1, 0.7))
    return [
        plain(tcp_and_link.balance(capacity, delay, b, n, sigma=wide * b, timeouts=late))
        for b, n, late, wide in cases
    ]


def flows(count: float, control: str, most: float = math.inf) -> response.Flows:
    return response.Flows(count, control, 0.08, 0.3, 1.0, most)


FORMULAS: dict[str, Callable[[], Any]] = {
    "sawtooth.window": printed(sawtooth.window, TIMES, 1000.0, 142.0),
    "sawtooth.queue": each(sawtooth.queue, (TIMES, 1000.0, 142.0)),
    "sawtooth.fill_time": each(sawtooth.fill_time, (SIZES, 1000.0, 142.0),
                               (SIZES, 1000.0, 142.0, 3.0)),
    "sawtooth.period": each(sawtooth.period, (SIZES, 1000.0, BDP), (SIZES, 1000.0, BDP, 0.5)),
    "sawtooth.utilization": each(sawtooth.utilization, (SIZES, BDP)),
    "sawtooth.buffer_for": each(sawtooth.buffer_for, (TARGETS, BDP), (1.0, BDP)),
    "sawtooth.loss_rate": each(sawtooth.loss_rate, (SIZES, BDP, FLOWS), (SIZES, BDP, 1, 0.5)),
    "sawtooth.queue_mean": each(sawtooth.queue_mean, (SIZES, BDP)),
    "sawtooth.queue_seen_mean": each(sawtooth.queue_seen_mean, (SIZES, BDP)),
    "sawtooth.queue_quantile": each(sawtooth.queue_quantile, (SHARES, 40.0, BDP),
                                    (SHARES, 900.0, BDP)),
    "sawtooth.queue_seen_quantile": each(sawtooth.queue_seen_quantile, (SHARES, 40.0, BDP),
                                         (SHARES, 900.0, BDP)),
    "sqrt_n.buffer": each(sqrt_n.buffer, (BDP, FLOWS)),
    "loss": lambda: [loss.window(SIZES, BDP, FLOWS), loss.loss_rate(SIZES[1:]),
                     loss.buffer_for([[1e-4], [0.01], [0.2]], BDP, [2.0, 300.0, 9000.0])],
    "utilization": lambda: [utilization.utilization(SIZES, BDP, FLOWS),
                            utilization.buffer_for(TARGETS, BDP, FLOWS), utilization.table(),
                            utilization.table(as_printed=True)],
    "desynchronized": lambda: [
        desynchronized.sigma(SIZES, BDP, FLOWS), desynchronized.queue_mean(SIZES),
        desynchronized.sigma_of_constant_hazard([3.0, 90.0], 30.0),
        desynchronized.sigma_of_constant_hazard([3.0, 90.0], 30.0, 0.5),
        desynchronized.queue_quantile(SHARES, 40.0, BDP, FLOWS)],
    "general_decrease": lambda: [
        [general_decrease.utilization(SIZES, BDP, beta, power)
         for beta, power in ((0.5, 0.0), (0.7, 0.75), (0.875, 1.0))],
        general_decrease.lowest_utilization(SIZES, BDP, 0.7),
        general_decrease.buffer_for_lowest(TARGETS, BDP, 0.7),
        general_decrease.cubic_utilization(SIZES, BDP),
        general_decrease.cubic_utilization(SIZES, BDP, 0.8),
        general_decrease.bbr1_lowest_utilization(SIZES, BDP),
        general_decrease.bbr1_utilization(SIZES, BDP)],
    **{f"protocol {name}": partial(protocol, name) for name in many.PROTOCOLS},
    "as printed": lambda: [
        {name: law(400.0, 0.1) for name, law in EPOCH_AS_PRINTED.items()}, TABLE_3_AS_PRINTED],
    "rule_of_thumb": each(rule_of_thumb.buffer, (1e6, 0.2)),
    "mixed": lambda: [many.mixed({"reno": 3, "cubic": 1, "bic": 2}, 40.0, 0.1),
                      many.mixed({"reno": 3, "bic": 1}, as_printed=True)],
    "uneven": lambda: [many.effective_flows([1.0, 2.0, 9.0]), many.sawtooth_value([0.5, 0.8]),
                       many.uneven([0.1, 0.2, 0.3], [1.0, 2.0, 9.0])],
    "z_score": printed(many.z_score, TARGETS),
    "probability": printed(many.probability, np.array([-1.0, 0.0, 1.5])),
    "mean_needed": printed(many.mean_needed, 12.0, BDP, TARGETS),
    "for_utilization": printed(many.for_utilization, BDP, 0.19, FLOWS, TARGETS),
    "probability_of_full_link": printed(many.probability_of_full_link, SIZES, BDP, 0.19, FLOWS),
    "for_drops": printed(many.for_drops, BDP, 0.19, FLOWS, 560.0, 0.01, TARGETS),
    "drops_hold": printed(many.drops_hold_for_any_buffer, 0.19, FLOWS, 0.01, TARGETS),
    "flows_for_drops": printed(many.flows_for_drops, 0.19, 0.01, TARGETS),
    "drop_rate_of_any_buffer": printed(many.drop_rate_of_any_buffer, 0.19, FLOWS, TARGETS[1:4]),
    "for_both": printed(many.for_utilization_and_drops, BDP, 0.19, FLOWS, 0.98, 0.01, 0.9),
    "increase": printed(many.increase_for_drops, 0.19, FLOWS, 0.98, 0.001, 0.99),
    "kept": lambda: [
        many.share_kept(SIZES, 40.0, BDP), many.drop_rate_added(SIZES, 40.0, BDP),
        [many.z_kept([0.9, 0.99], 0.19, 60.0, 0.98, as_printed=printed) for printed in PRINTED],
        [many.probability_kept([0.9, 0.99], 0.19, 60.0, 0.98, as_printed=p) for p in PRINTED],
        [many.reduction_at_zero_delay(0.98, as_printed=printed) for printed in PRINTED]],
    "fractional_brownian": lambda: [
        fractional_brownian.overflow(SIZES, 100.0, 70.0, 2.0, 0.8),
        fractional_brownian.buffer_for([1e-6, 0.01], 100.0, 70.0, 2.0, 0.8)],
    "partial_synchrony": lambda: [
        partial_synchrony.buffer_for_full_link(BDP, FLOWS, [0.0, 0.2, 0.9, 1.0]),
        partial_synchrony.harmonic_rtt([0.01, 0.09, 0.3])],
    "tiny_buffers": lambda: [
        tiny_buffers.loss_bound([2.0, 20.0], 0.8), tiny_buffers.buffer_for(TARGETS, 0.8, 64.0),
        tiny_buffers.throughput_bound([2.0, 36.0, 60.0], 0.8, 64.0)],
    "completion_time": lambda: [
        completion_time.increase([0.0, 0.01, 0.025]), completion_time.buffer(LOADS, MIXED),
        completion_time.buffer(LOADS, MIXED, Order.FULL)],
    "effective_bandwidth": lambda: [
        [effective_bandwidth.kappa(LOADS, MIXED, order), effective_bandwidth.prefactor(
            LOADS, MIXED, order), effective_bandwidth.tail([0, 9, 90, 300], LOADS, MIXED, order),
         effective_bandwidth.buffer_for(1e-3, LOADS, MIXED, order)] for order in EACH_ORDER],
    "arrays": lambda: [arrays.erfinv(SHARES), arrays.erfc(SHARES), arrays.quantile(SHARES),
                       arrays.erfinv(0.3), arrays.quantile(0.9), arrays.erf(0.2)],
    "bursts": lambda: [
        of_flow(1), of_flow(99), of_flow(99, 10), of_flow(99, 4, 9),
        plain(Bursts.of_lengths([3, 40, 99], [5, 2, 1], 10, 16)),
        [bursts.workload(LOADS, MIXED, as_printed=printed) for printed in PRINTED],
        [bursts.mean_waiting(LOADS, MIXED, as_printed=printed) for printed in PRINTED],
        bursts.mean_in_system(LOADS, MIXED)],
    **{f"queue at {load} of {buffer}": partial(queue, load, MIXED, buffer)
       for load, buffer in ((0.3, 1), (0.6, 20), (0.9, 60))},
    "overload": lambda: plain(finite_queue(1.7, MIXED, 20).in_system),
    "response": lambda: [
        [[response.window([1e-6, 1e-3, 0.05], name, 0.08, growth), response.rate(
            [1e-6, 1e-3, 0.05], flows(1.0, name))] for growth in (1.0, 0.5)]
        for name in response.CONTROLS],
    "loss of flows": lambda: [
        response.loss_rate([flows(9.0, "reno"), flows(20.0, "cubic")], pps)
        for pps in (20.0, 900.0, 9e4, 1e12)],
    "flows that a window holds": lambda: response.loss_rate([flows(9.0, "reno", 5.0)], 99.0),
    "balances": balances,
    "what is not said": lambda: [
        many.sample_sum("reno", 2, 2), many.PROTOCOLS["cubic"].window([0.1, 0.4]),
        [law.epoch() for law in many.PROTOCOLS.values()],
        [law.mean() for law in many.PROTOCOLS.values()],
        [law.deviation() for law in many.PROTOCOLS.values()],
        many.characteristic_value("scalable"), many.characteristic_value("compound", 40.0, 0.1),
        tcp_and_link.window([1e-3, 0.1]), tcp_and_link.loss_rate_of_window([3.0, 40.0]),
        plain(tcp_and_link.balance(900.0, 0.1, 50.0, 9, sigma=5.0)),
        effective_bandwidth.kappa(0.7, MIXED), effective_bandwidth.prefactor(0.7, MIXED),
        effective_bandwidth.tail(20.0, 0.7, MIXED),
        effective_bandwidth.buffer_for(0.01, 0.7, MIXED),
        plain(Bursts.given([1, 1, 5])), plain(Bursts.of_lengths([3, 99])), of_flow(40),
        response.window(1e-3, "reno", 0.1),
        response.rate(1e-3, response.Flows(1, "reno", 0.1, 0.3)),
        exact_queue(0.7, MIXED).mass, Group(4).load(0.5), plain(Group(4).flows(9, 9)),
        incast.FirstWindows(5, 10, 2.0, 30.0).lost_share(20),
        plain(interval(lambda x: (x - 0.3) ** 2, Box(0, 1), monotone=False)),
        sawtooth.loss_rate(40.0, BDP, 3), sawtooth.period(40.0, 1000.0, BDP),
        many.effective_flows([[1.0, 2.0], [3.0, 9.0]]), partial_synchrony.harmonic_rtt([[1, 2], [3,
            9]]),
        many.uneven([[0.1, 0.2], [0.3, 0.4]], [[1.0, 2.0], [3.0, 9.0]]),
        many.PROTOCOLS["cubic"].mean([[20.0], [60.0]], [0.01, 0.2, 0.5]),
        many.PROTOCOLS["reno"].deviation([[20.0], [60.0]], [0.01, 0.2, 0.5]),
        general_decrease.utilization(40.0, BDP, 0.6)],
    "members of a group": lambda: [
        [Group(k, largest, share).flows(*between), Group(k, largest, share).load(0.7)]
        for k, largest, share in ((2, 0, 0.0), (3, 5, 0.4), (16, 40, 0.9))
        for between in ((1, 3), (90, 2000))],
    "source of a loss": lambda: [response.LAW.source, response.LAW.broken(link(long(9000)))],
    "uncertainty": lambda: [
        plain(interval(sqrt_n.buffer, Box(100.0, 300.0), Box(9.0, 40.0))),
        plain(interval(lambda x, y: (x - 1.0) ** 2 + (y - 2.0) ** 2 + x * y, Box(0, 3), Box(0, 3),
                       monotone=False)),
        plain(interval(sqrt_n.buffer, np.ones((2, 1)), Box(np.array([4.0, 9.0]), 16.0))),
        gradient(utilization.utilization, 40.0, BDP, 60.0),
        gradient(sawtooth.utilization, 0.0, BDP, with_respect_to=[0])],
}  # fmt: skip
CASES = {**SCENARIOS, **{f"formula: {name}": law for name, law in FORMULAS.items()}}
KEPT = Kept(__file__.replace("test_kept.py", "kept.json"), CASES)


@pytest.mark.parametrize("name", CASES)
def test_an_answer_of_laws_is_kept(name: str) -> None:
    KEPT.check(name)
