"""The metrics of a link."""

from __future__ import annotations

from forebay.catalogue.metric import Metric

LINK_METRICS = (
    Metric(
        name="link.utilization",
        unit="fraction",
        reading="bits, capacity_bps, window_s",
        bounds="share",
        scaling="same",
        title="utilization, %",
        factor=100.0,
        form="2 decimals",
        if_unknown="dash",
        meaning="Bits sent in the window over capacity times window.",
    ),
    Metric(
        name="link.loss_rate",
        unit="fraction",
        reading="drops, accepted",
        bounds="share",
        scaling="same",
        title="loss, %",
        factor=100.0,
        form="significant",
        if_unknown="dash",
        meaning="Dropped packets over packets for which the queue decided.",
    ),
    Metric(
        name="link.marks",
        unit="packets",
        reading="marks",
        bounds="not negative",
        scaling="omitted",
        title="marks",
        factor=1.0,
        form="significant",
        if_unknown="omit also 0",
        meaning="Packets that the queue marked in the window.",
    ),
    Metric(
        name="link.queue_packets",
        unit="packets",
        reading="queue_s, queue_packet_s",
        bounds="buffer",
        scaling="queue",
        title="queue, packets",
        factor=1.0,
        form="quantiles",
        if_unknown="dash",
        meaning="Packets that wait, without the one on the wire, weighted by time.",
    ),
    Metric(
        name="link.queue_delay_s",
        unit="s",
        reading="delay, delay_sum_s",
        bounds="longest wait",
        scaling="delay",
        title="queueing delay, ms",
        factor=1000.0,
        form="quantiles",
        if_unknown="dash",
        meaning="Waiting time of an accepted packet.",
    ),
)
"""In the order of docs/reference/metrics.md."""
