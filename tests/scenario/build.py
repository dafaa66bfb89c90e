"""Scenarios for tests: the smallest one, and generated ones of every kind of traffic."""

from hypothesis import strategies as st

from forebay.scenario import DataSize, Duration, Rate

SMALLEST = '[link]\nrate = "155 Mbit/s"\n[[traffic]]\nflows = 100\n'

_durations = st.floats(1e-3, 1).map(Duration)
_texts = _durations.map(str)


@st.composite
def _distributions(draw: st.DrawFn) -> object:
    low, middle, high = sorted(draw(st.tuples(_durations, _durations, _durations)))
    ends = {"low": str(low), "high": str(Duration(high + 0.1))}
    spread = {"mean": str(middle), "deviation": str(Duration(middle / 3))}
    return draw(
        st.sampled_from(
            [
                str(low),
                {"uniform": [str(low), str(high)]},
                {"exponential": {"mean": str(middle)} | ends},
                {"normal": spread | {"low": str(low), "high": str(Duration(middle + high))}},
                {"lognormal": spread},
                {"pareto": {"mean": str(middle), "shape": 1.5, "high": str(Duration(2 * high))}},
                {"values": [str(high), str(low)]},
                {"values": [str(high), str(low)], "shares": [0.25, 0.75]},
            ]
        )
    )


@st.composite
def _lengths(draw: st.DrawFn) -> object:
    mean = draw(st.integers(2, 1000))
    unit = draw(st.sampled_from(["packets", "kB"]))
    mean = mean if unit == "packets" else mean + 70
    text = f"{mean} {unit}"
    return draw(
        st.sampled_from(
            [
                text,
                {"geometric": text},
                {"pareto": {"mean": text, "shape": 1.3}},
                {"pareto": {"mean": text, "shape": 0.9, "high": f"{mean * 9} {unit}"}},
                {"lognormal": {"mean": text, "deviation": f"{mean / 2} {unit}"}},
            ]
        )
    )


_names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20).filter(str.isprintable)


def _optional(**fields: st.SearchStrategy[object]) -> st.SearchStrategy[dict[str, object]]:
    return st.fixed_dictionaries({}, optional=fields)


def _needs(**fields: st.SearchStrategy[object]) -> st.SearchStrategy[dict[str, object]]:
    return st.fixed_dictionaries(fields)


def _join(*parts: st.SearchStrategy[dict[str, object]]) -> st.SearchStrategy[dict[str, object]]:
    return st.tuples(*parts).map(lambda all_: {k: v for one in all_ for k, v in one.items()})


_rates = st.floats(1e3, 1e6).map(lambda x: str(Rate(x)))
_flows = _needs(flows=st.integers(1, 1000))
_sized = _optional(packet=st.integers(64, 65_535).map(lambda n: str(DataSize(n))))
_any = _optional(
    access_rate=st.floats(1e9, 1e13).map(lambda x: str(Rate(x))), direction=st.just("forward")
)
_standing = _join(_flows, _any, _optional(start=_distributions(), access_sharing=st.integers(1, 9)))
_tcp = _optional(
    rtt=_distributions(),
    jitter=_texts,
    timer_tick=_texts,
    sender=st.sampled_from(["linux", "ns2"]),
    congestion_control=st.sampled_from(["reno", {"reno": 1.0}]),
    initial_window=st.integers(1, 1000),
    sack=st.booleans(),
    delayed_ack=st.booleans(),
    min_rto=_texts,
    max_window=st.integers(1000, 100_000_000),
)
_offered = _needs(load=st.floats(1e-4, 0.01)) | _needs(rate=_rates)

kinds = {
    "long": _join(_standing, _tcp, _sized),
    "short": _join(
        _any,
        _tcp,
        _sized,
        _needs(kind=st.just("short"), length=_lengths()),
        _needs(load=st.floats(1e-4, 0.1)) | _needs(arrival_rate=st.floats(1e-3, 1e3)),
    ),
    "session": _join(
        _standing,
        _tcp,
        _sized,
        _needs(kind=st.just("session"), file=_lengths()),
        _optional(think=_distributions()),
    ),
    "requests": _join(
        _standing,
        _tcp,
        _sized,
        _needs(kind=st.just("requests"), response=_lengths()),
        _optional(think=_distributions(), service_time=_distributions(), fan_in=st.integers(1, 50)),
    ),
    "transfers": _join(
        _any,
        _tcp,
        _sized,
        _needs(kind=st.just("transfers"), size=st.sampled_from(["web-search", "hadoop", "90 kB"])),
        _needs(load=st.floats(1e-4, 0.1)) | _needs(arrival_rate=st.floats(1e-3, 1e3)),
    ),
    "udp": _join(
        _standing,
        _sized,
        _offered,
        _needs(kind=st.just("udp")),
        _optional(arrivals=st.sampled_from(["constant", "poisson"])),
    ),
    "onoff": _join(
        _standing,
        _sized,
        _needs(kind=st.just("onoff"), peak_rate=_rates, on=_distributions(), off=_distributions()),
    ),
    "video": _join(
        _standing,
        _offered,
        _needs(kind=st.just("video")),
        _optional(
            hurst=st.floats(0.5, 0.99),
            frame_rate=st.floats(1, 100),
            variation=st.floats(0, 3),
            spacing=st.sampled_from(["burst", "even"]),
        ),
    ),
}
_sizes = st.one_of(
    st.integers(1, 10**9).map(lambda n: f"{n} packets"),
    st.integers(65_535, 10**10).map(lambda n: f"{n} B"),
    st.integers(1, 40).map(lambda n: f"{n} ms"),
)
trees = st.builds(
    lambda rate, traffic, rest: {"link": {"rate": str(rate)}, "traffic": traffic} | rest,
    st.floats(1e9, 1e10).map(Rate),
    st.lists(st.one_of(*kinds.values()), min_size=1, max_size=3),
    _join(
        _needs(
            queue=_needs(size=_sizes),
            measure=_needs(warmup=st.just("1 s"), duration=st.just("1 s")),
        ),
        _optional(
            name=st.text(st.characters(codec="utf-8"), min_size=1, max_size=20).filter(
                str.isprintable
            ),
            goals=_optional(loss_rate=st.floats(0, 1), queue_delay_mean=_texts),
        ),
    ),
)
