"""The metrics of an Outcome: every field of it that is a metric has one record."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Literal

from forebay.catalogue.record import IncompleteRecord, Record, by_name
from forebay.words import Fact

Level = Literal["link", "class", "controller"]
Bounds = Literal["share", "not negative", "capacity", "buffer", "longest wait"]
Scaling = Literal["same", "rate", "queue", "delay", "loss", "omitted"]


@dataclass(frozen=True, kw_only=True)
class Metric(Record):
    """A metric, or the mean and quantiles of one.

    Attributes
    ----------
    name : level and key in JSON: "link.utilization".
    unit : "fraction", "bit/s", "packets", "s", or what it counts.
    reading : raw readings from which `forebay.outcome.metrics` computes it.
    bounds : what no value of it exceeds (`forebay.outcome.invariants`).
    scaling : how a value of a smaller link becomes that of the whole link. "same": a share;
        "rate": as the rate; "queue": as the buffer; "delay": as the buffer's time at line rate;
        "loss": as the inverse square of a flow's window, with the law's band where that differs;
        "omitted": unknown, such as a count or a sum of parts that scale in different ways.
    title : words before the value in a report, with the unit printed; "" if it is not in the table
        of its level.
    factor : the value printed over the value.
    form : how a report prints it; a distribution with quantiles, completion times with lower
        bounds of those that are not known.
    if_unknown : whether a report omits a metric that was not measured, or prints a dash.
    meaning : one sentence.
    """

    unit: str
    reading: str
    bounds: Bounds
    scaling: Scaling
    title: str
    factor: float
    form: Literal["2 decimals", "3 decimals", "significant", "quantiles", "completion"]
    if_unknown: Literal["dash", "omit", "omit also 0"]
    meaning: str

    @property
    def is_distribution(self) -> bool:
        """Whether it is the mean and quantiles of a distribution."""
        return self.form in ("quantiles", "completion")

    @property
    def level(self) -> str:
        """Part of an Outcome that has it."""
        return self.name.partition(".")[0]

    @property
    def key(self) -> str:
        """Field of that part, and its key in JSON."""
        return self.name.partition(".")[2]


CLASS_METRICS = (
    Metric(
        name="class.flows_active", unit="flows", reading="active",
        bounds="not negative", scaling="omitted",
        title="", factor=1.0, form="significant", if_unknown="omit",
        meaning="Flows that sent in the window.",
    ),
    Metric(
        name="class.throughput_bps", unit="bit/s", reading="throughput_bits",
        bounds="capacity", scaling="rate",
        title="throughput, Mbit/s", factor=1e-06, form="2 decimals", if_unknown="dash",
        meaning="Bits on the last link, headers included.",
    ),
    Metric(
        name="class.goodput_bps", unit="bit/s", reading="goodput_bits",
        bounds="capacity", scaling="rate",
        title="goodput, Mbit/s", factor=1e-06, form="2 decimals", if_unknown="dash",
        meaning="Bits that receivers got in order, each once.",
    ),
    Metric(
        name="class.jain", unit="fraction", reading="flow_goodput_bits",
        bounds="share", scaling="same",
        title="Jain's fairness", factor=1.0, form="3 decimals", if_unknown="dash",
        meaning="Jain's index of the active flows' goodput.",
    ),
    Metric(
        name="class.loss_rate", unit="fraction", reading="drops, passed",
        bounds="share", scaling="loss",
        title="loss, %", factor=100.0, form="significant", if_unknown="dash",
        meaning="Dropped data packets over those for which a queue decided.",
    ),
    Metric(
        name="class.timeouts", unit="timeouts", reading="timeouts",
        bounds="not negative", scaling="omitted",
        title="timeouts", factor=1.0, form="significant", if_unknown="dash",
        meaning="Retransmission timeouts in the window.",
    ),
    Metric(
        name="class.retransmissions", unit="segments", reading="retransmissions",
        bounds="not negative", scaling="omitted",
        title="segments sent again", factor=1.0, form="significant", if_unknown="omit",
        meaning="Segments retransmitted in the window.",
    ),
    Metric(
        name="class.rtt_s", unit="s", reading="rtt",
        bounds="not negative", scaling="omitted",
        title="round-trip time, ms", factor=1000.0, form="quantiles", if_unknown="dash",
        meaning="Round-trip time of a segment, with queueing.",
    ),
    Metric(
        name="class.queue_delay_s", unit="s", reading="class_delays",
        bounds="not negative", scaling="delay",
        title="queueing delay, ms", factor=1000.0, form="quantiles", if_unknown="omit",
        meaning="Waiting time of the class's packets at the link under study.",
    ),
    Metric(
        name="class.fct_s", unit="s", reading="fct_s, unfinished_s",
        bounds="not negative", scaling="omitted",
        title="completion time, ms", factor=1000.0, form="completion", if_unknown="omit",
        meaning="Completion time of a transfer.",
    ),
    Metric(
        name="class.request_s", unit="s", reading="requests_s, unfinished_requests_s",
        bounds="not negative", scaling="omitted",
        title="whole request, ms", factor=1000.0, form="completion", if_unknown="omit",
        meaning="From a request to the arrival of the last of its answers.",
    ),
    Metric(
        name="class.requests", unit="requests", reading="requests_s, unfinished_requests_s",
        bounds="not negative", scaling="omitted",
        title="", factor=1.0, form="significant", if_unknown="omit",
        meaning="Requests that were asked in the window or lasted through it.",
    ),
    Metric(
        name="class.request_least_s", unit="s", reading="requests_s, unfinished_requests_s",
        bounds="not negative", scaling="omitted",
        title="", factor=1000.0, form="quantiles", if_unknown="omit",
        meaning="Lower bounds of the times of requests that are not known.",
    ),
    Metric(
        name="class.unfinished", unit="fraction", reading="fct_s, unfinished_s",
        bounds="share", scaling="same",
        title="unfinished in the window, %", factor=100.0, form="significant", if_unknown="omit",
        meaning="Transfers that had not ended at the end of the window, over all.",
    ),
    Metric(
        name="class.transfers", unit="transfers", reading="fct_s, unfinished_s",
        bounds="not negative", scaling="omitted",
        title="", factor=1.0, form="significant", if_unknown="omit",
        meaning="Transfers that began in the window or lasted through it.",
    ),
    Metric(
        name="class.fct_least_s", unit="s", reading="fct_s, unfinished_s",
        bounds="not negative", scaling="omitted",
        title="", factor=1000.0, form="quantiles", if_unknown="omit",
        meaning="Lower bounds of completion times that are not known.",
    ),
)  # fmt: skip
"""Of a class."""

CONTROLLER_METRICS = (
    Metric(
        name="controller.goodput_bps", unit="bit/s", reading="flow_goodput_bits",
        bounds="capacity", scaling="omitted",
        title="goodput, Mbit/s", factor=1e-06, form="2 decimals", if_unknown="dash",
        meaning="Bits that receivers of its flows got in order.",
    ),
    Metric(
        name="controller.goodput_share", unit="fraction", reading="flow_goodput_bits",
        bounds="share", scaling="omitted",
        title="", factor=100.0, form="significant", if_unknown="omit",
        meaning="Its part of the class's goodput.",
    ),
    Metric(
        name="controller.jain", unit="fraction", reading="flow_goodput_bits",
        bounds="share", scaling="omitted",
        title="", factor=1.0, form="3 decimals", if_unknown="omit",
        meaning="Jain's index of its flows' goodput.",
    ),
    Metric(
        name="controller.loss_rate", unit="fraction", reading="drops, passed",
        bounds="share", scaling="omitted",
        title="loss, %", factor=100.0, form="significant", if_unknown="dash",
        meaning="Dropped data packets of its flows over those with a decision.",
    ),
)  # fmt: skip
"""Of the flows of one congestion control in a class that mixes several."""

LINK_METRICS = (
    Metric(
        name="link.utilization", unit="fraction", reading="bits, capacity_bps, window_s",
        bounds="share", scaling="same",
        title="utilization, %", factor=100.0, form="2 decimals", if_unknown="dash",
        meaning="Bits sent in the window over capacity times window.",
    ),
    Metric(
        name="link.loss_rate", unit="fraction", reading="drops, accepted",
        bounds="share", scaling="loss",
        title="loss, %", factor=100.0, form="significant", if_unknown="dash",
        meaning="Dropped packets over packets for which the queue decided.",
    ),
    Metric(
        name="link.marks", unit="packets", reading="marks",
        bounds="not negative", scaling="omitted",
        title="marks", factor=1.0, form="significant", if_unknown="omit also 0",
        meaning="Packets that the queue marked in the window.",
    ),
    Metric(
        name="link.lost", unit="packets", reading="lost",
        bounds="not negative", scaling="omitted",
        title="lost by the link", factor=1.0, form="significant", if_unknown="omit also 0",
        meaning="Packets that the link itself lost in the window, apart from its queue's drops.",
    ),
    Metric(
        name="link.queue_packets", unit="packets", reading="queue_s, queue_packet_s",
        bounds="buffer", scaling="queue",
        title="queue, packets", factor=1.0, form="quantiles", if_unknown="dash",
        meaning="Packets that wait, without the one on the wire, weighted by time.",
    ),
    Metric(
        name="link.queue_delay_s", unit="s", reading="delay, delay_sum_s",
        bounds="longest wait", scaling="delay",
        title="queueing delay, ms", factor=1000.0, form="quantiles", if_unknown="dash",
        meaning="Waiting time of an accepted packet.",
    ),
)  # fmt: skip
"""In the order of docs/reference/metrics.md."""

METRICS = by_name((*LINK_METRICS, *CLASS_METRICS, *CONTROLLER_METRICS))
"""All metrics, by name."""


@cache
def of_level(level: Level) -> tuple[Metric, ...]:
    """Return the metrics of one part of an Outcome, in the order of the catalogue."""
    return tuple(metric for metric in METRICS.values() if metric.level == level)


def check_stated(level: Level, keys: Iterable[str]) -> None:
    """Check that the metrics of a part of an Outcome are those of the catalogue.

    Raises IncompleteRecord: a metric has no record, or a record has no metric.
    """
    fields, stated = set(keys), {metric.key for metric in of_level(level)}
    for key in sorted(fields ^ stated):
        why = Fact("record.no-metric" if key in fields else "record.no-field")
        raise IncompleteRecord("metric", f"{level}.{key}", why)


BOTTLENECK = "bottleneck"
"""The link under study, whose buffer is sized."""

REVERSE = "reverse"
"""Its reverse direction, which exists if a class sends that way."""
