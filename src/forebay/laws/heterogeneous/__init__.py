"""Many flows of many protocols on one link: all of Yang, Zhang, Xu 2013 ("paper D").

`PROTOCOLS` gives growth functions with epoch, mean and deviation; `characteristic_value` and
`mixed` reduce a protocol or a mix to one number a; `for_utilization`, `for_drops` and
`for_utilization_and_drops` size the buffer; `z_kept` and `drop_rate_added` give the cost of a bound
on the delay. Results are correct by default; `as_printed=True` gives the paper's own figures.
"""

from typing import TYPE_CHECKING

from forebay.laws.heterogeneous.constraints import (
    LAW,
    aggregate_deviation,
    characteristic_value,
    drop_rate_of_any_buffer,
    drops_hold_for_any_buffer,
    effective_flows,
    flows_for_drops,
    for_drops,
    for_utilization,
    for_utilization_and_drops,
    increase_for_drops,
    mean_needed,
    mean_of_mix,
    mixed,
    probability,
    probability_of_full_link,
    sawtooth_value,
    uneven,
    z_score,
)
from forebay.laws.heterogeneous.growth import Growth
from forebay.laws.heterogeneous.protocols import (
    EPOCH_AS_PRINTED,
    PAPER_D,
    PROTOCOLS,
    TABLE_3_AS_PRINTED,
)
from forebay.lazy import attributes

if TYPE_CHECKING:
    from forebay.laws.heterogeneous.constraints import (
        drop_rate_added,
        probability_kept,
        reduction_at_zero_delay,
        sample_sum,
        share_kept,
        z_kept,
    )

__all__ = [
    "EPOCH_AS_PRINTED",
    "LAW",
    "PAPER_D",
    "PROTOCOLS",
    "TABLE_3_AS_PRINTED",
    "Growth",
    "aggregate_deviation",
    "characteristic_value",
    "drop_rate_added",
    "drop_rate_of_any_buffer",
    "drops_hold_for_any_buffer",
    "effective_flows",
    "flows_for_drops",
    "for_drops",
    "for_utilization",
    "for_utilization_and_drops",
    "increase_for_drops",
    "mean_needed",
    "mean_of_mix",
    "mixed",
    "probability",
    "probability_kept",
    "probability_of_full_link",
    "reduction_at_zero_delay",
    "sample_sum",
    "sawtooth_value",
    "share_kept",
    "uneven",
    "z_kept",
    "z_score",
]

# No sizing needs these; they are imported at first use.
_COMPROMISES = (
    "drop_rate_added", "probability_kept", "reduction_at_zero_delay", "share_kept", "z_kept",
)  # fmt: skip
__getattr__ = attributes(__name__, dict.fromkeys(("sample_sum", *_COMPROMISES), "constraints"))
