"""Scenarios for tests: the smallest one, and generated ones."""

from hypothesis import strategies as st

from forebay.scenario import DataSize, Duration, Rate

SMALLEST = '[link]\nrate = "155 Mbit/s"\n[[traffic]]\nflows = 100\n'

_durations = st.floats(1e-3, 1).map(Duration)


@st.composite
def _distributions(draw: st.DrawFn) -> object:
    low, high = sorted((draw(_durations), draw(_durations)))
    return draw(st.sampled_from([str(low), {"uniform": [str(low), str(high)]}]))


def _optional(**fields: st.SearchStrategy[object]) -> st.SearchStrategy[dict[str, object]]:
    return st.fixed_dictionaries({}, optional=fields)


_texts = _durations.map(str)
_traffic = st.builds(
    lambda flows, rest: {"flows": flows} | rest,
    st.integers(1, 100_000),
    _optional(
        rtt=_distributions(),
        start=_distributions(),
        sender=st.sampled_from(["linux", "ns2"]),
        congestion_control=st.sampled_from(["reno", {"reno": 1.0}]),
        initial_window=st.integers(1, 1000),
        sack=st.booleans(),
        delayed_ack=st.booleans(),
        min_rto=_texts,
        max_window=st.integers(1000, 100_000_000),
        packet=st.integers(64, 65_535).map(lambda n: str(DataSize(n))),
        access_rate=st.floats(1e9, 1e13).map(lambda x: str(Rate(x))),
    ),
)
_sizes = st.one_of(
    st.integers(1, 10**9).map(lambda n: f"{n} packets"),
    st.integers(65_535, 10**10).map(lambda n: f"{n} B"),
    st.integers(1, 40).map(lambda n: f"{n} bdp"),
)
trees = st.builds(
    lambda rate, traffic, rest: {"link": {"rate": str(rate)}, "traffic": traffic} | rest,
    st.floats(1e9, 1e10).map(Rate),
    st.lists(_traffic, min_size=1, max_size=3),
    _optional(
        name=st.text(st.characters(codec="utf-8"), min_size=1, max_size=20),
        queue=_optional(size=_sizes),
        measure=_optional(warmup=_texts),
        goals=_optional(loss_rate=st.floats(0, 1), queue_delay_mean=_texts),
    ),
)
