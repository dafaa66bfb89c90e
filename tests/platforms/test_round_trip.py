"""Emitting and then linting gives back the size, within what the notation rounds."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.cases import examples

from forebay.platforms import Emission, PlatformError, Port, Wanted, emit, get, lint, names

CHOICES = [
    (name, form, model)
    for name in names()
    for form in get(name).forms
    for model in get(name).models
]
ports = st.builds(
    Port,
    st.one_of(st.sampled_from([155e6, 1e9, 1e10, 4e11]), st.floats(1e6, 1e12, allow_nan=False)),
    packet_bytes=st.integers(64, 9216),
    header_bytes=st.integers(0, 64),
    pool_bytes=st.just(64_000_000),
)


def emitted(size: int, port: Port, name: str, form: str, model: str) -> Emission:
    asked = Wanted(size, size // port.packet_bytes, f"{size} B")
    try:
        return emit(asked, port, name, form=form, model=model)
    except PlatformError as error:
        assert error.code in ("too-large", "too-small", "too-coarse")
        assume(False)
        raise


@settings(deadline=None)
@given(choice=st.sampled_from(CHOICES), port=ports, size=st.integers(64, 60_000_000))
def test_linting_what_was_emitted_gives_the_size_back(
    choice: tuple[str, str, str], port: Port, size: int
) -> None:
    name, form, model = choice
    assume(size >= port.packet_bytes)
    made = emitted(size, port, name, form, model)
    found = lint(made.text, port, platform=name, model=model)
    reading = found.readings[0]
    assert reading.bytes == made.given.bytes
    assert reading.bytes is not None
    assert 0 <= reading.bytes - size <= made.rounding_bytes


RATES = st.one_of(
    st.sampled_from([1e6, 1e7, 155e6, 1e9, 1e10, 1e11, 4e11, 8e11]),
    st.floats(1e6, 8e11, allow_nan=False),
)
COUNTS = st.one_of(st.integers(1, 200), st.integers(1, 1_000_000))


@settings(deadline=None, max_examples=examples(400))
@given(choice=st.sampled_from(CHOICES), rate=RATES, packets=COUNTS, extra=st.integers(0, 1499))
def test_what_is_emitted_is_enough_and_passes_its_own_lint(
    choice: tuple[str, str, str], rate: float, packets: int, extra: int
) -> None:
    """Over all platforms, 1 to a million packets and some bytes, 1 Mbit/s to 800 Gbit/s."""
    name, form, model = choice
    port = Port(rate, pool_bytes=2_000_000_000)
    size = packets * port.packet_bytes + extra
    made = emitted(size, port, name, form, model)
    assert made.given.bytes is not None
    assert size <= made.given.bytes <= size + made.rounding_bytes
    found = lint(made.text, port, platform=name, model=model, wanted=made.wanted)
    assert found.exit_status == 0
    assert found.readings[0].bytes == made.given.bytes and not found.unread
    # Junos writes network-control's share too, which a map of one's own would take away.
    assert len(found.readings) == (2 if name == "junos" else 1)
    assert any(each.text.startswith("rounding: ") for each in made.notes)


@pytest.mark.parametrize(
    ("name", "form", "least"), [("sonic", "dynamic", 249_027), ("junos", "percent", 125_000)]
)
def test_a_form_that_gives_many_times_more_is_refused(name: str, form: str, least: int) -> None:
    port = Port(1e9, pool_bytes=64_000_000)
    with pytest.raises(PlatformError, match=f"gives {least} B.*times what is wanted; write"):
        emit(Wanted(1500, 1, "1 packet"), port, name, form=form)


def test_a_time_beyond_what_ios_xr_takes_is_refused() -> None:
    asked = Wanted(536_871_000, 357_914, "357914 packets")
    with pytest.raises(PlatformError, match="4294968000 us is more than the 4294967295"):
        emit(asked, Port(1e6), "ios-xr", form="time")
    assert emit(asked, Port(1e6), "ios-xr", form="bytes").given.bytes == 536_871_000


@pytest.mark.parametrize("pool", [4_000_000, 64_000_000, 2_000_000_000])
@pytest.mark.parametrize("packets", [1, 64, 129, 1000, 10_000, 100_000])
def test_sonic_dynamic_is_what_its_own_lint_expects(pool: int, packets: int) -> None:
    port = Port(155e6, pool_bytes=pool)
    asked = Wanted(packets * 1500, packets, f"{packets} packets")
    try:
        made = emit(asked, port, "sonic", form="dynamic")
    except PlatformError as error:
        assert error.code in ("too-coarse", "too-large")
        return
    assert made.given.bytes is not None and asked.bytes <= made.given.bytes <= 2 * asked.bytes
    assert lint(made.text, port, platform="sonic", wanted=asked).exit_status == 0
    twice = Wanted(2 * made.given.bytes, 2 * packets, "twice as much")
    assert lint(made.text, port, platform="sonic", wanted=twice).exit_status == 1


@settings(deadline=None)
@given(choice=st.sampled_from(CHOICES), port=ports, packets=st.integers(1, 6000))
def test_whole_packets_are_never_fewer_than_asked_for(
    choice: tuple[str, str, str], port: Port, packets: int
) -> None:
    name, form, model = choice
    made = emitted(packets * port.packet_bytes, port, name, form, model)
    assert made.given.packets is not None
    assert made.given.packets >= packets


@pytest.mark.parametrize(("name", "form", "model"), CHOICES)
def test_its_own_output_is_recognised_and_is_what_was_asked(
    name: str, form: str, model: str, oc3: Port
) -> None:
    port = Port(oc3.rate_bps, pool_bytes=4_000_000)
    asked = Wanted(193_500, 129, "129 packets")
    made = emit(asked, port, name, form=form, model=model)
    found = lint(made.text, port, model=model, wanted=asked)
    assert found.platform == name
    assert found.exit_status == 0
    assert found.verdict(found.readings[0]) == "as asked"


def test_the_comment_says_bytes_time_packets_and_rounding(oc3: Port) -> None:
    made = emit(Wanted(193_500, 129, "129 packets", "oc3-gsr.toml"), oc3, "junos")
    said = "\n".join(line for line in made.text.splitlines() if line.startswith("#"))
    assert "193500 B = 9.987 ms at 155 Mbit/s = 129 packets of 1500 B" in said
    assert "193517 B" in said  # 9988 us: whole microseconds, rounded up
    assert "uncertain: rounding: an MX MPC has 256 sizes" in said
    assert "oc3-gsr.toml" in said


@pytest.mark.parametrize("name", names())
def test_every_platform_says_what_it_rounds_to(name: str, oc3: Port) -> None:
    made = emit(Wanted(193_500, 129, "129 packets"), oc3, name)
    assert any(each.text.startswith("rounding: ") for each in made.notes)


SHAPERS = st.builds(
    lambda rate, share, burst: Port(
        float(rate), line_bps=float(rate * share), burst_bytes=burst, pool_bytes=2_000_000_000
    ),
    st.integers(64, 10**7).map(lambda kbits: 1000 * kbits),
    st.integers(2, 100),
    st.one_of(st.none(), st.integers(1500, 10**7)),
)


@pytest.mark.parametrize("name", names())
@settings(deadline=None, max_examples=examples(50))
@given(data=st.data())
def test_fifty_answers_of_a_shaped_port_are_read_back(name: str, data: st.DataObject) -> None:
    """The size, and the rate that it is served at; times count at the shaper's rate."""
    platform = get(name)
    form = data.draw(st.sampled_from(platform.forms))
    port, packets = data.draw(SHAPERS), data.draw(COUNTS)
    made = emitted(packets * 1500, port, name, form, platform.models[0])
    # Only the text says that the port is shaped: lint knows the line rate alone.
    plain = Port(port.line, pool_bytes=port.pool_bytes)
    found = lint(made.text, plain, platform=name, wanted=made.wanted)
    reading = found.readings[0]
    assert found.verdict(reading) == "as asked" and not found.unread
    assert reading.served is not None
    assert reading.served.rate_bps == pytest.approx(port.rate_bps, rel=1e-3)
    assert reading.bytes is not None and reading.bytes >= packets * 1500


@pytest.mark.parametrize("name", names())
@settings(deadline=None, max_examples=examples(50))
@given(data=st.data(), rate=RATES, packets=COUNTS)
def test_fifty_answers_of_a_plain_port_are_read_back(
    name: str, data: st.DataObject, rate: float, packets: int
) -> None:
    """The size, and that nothing shapes to another rate: times count at the port's rate."""
    platform = get(name)
    form = data.draw(st.sampled_from(platform.forms))
    port = Port(rate, pool_bytes=2_000_000_000)
    made = emitted(packets * 1500, port, name, form, platform.models[0])
    found = lint(made.text, port, platform=name, wanted=made.wanted)
    reading = found.readings[0]
    assert found.verdict(reading) == "as asked" and not found.unread
    # A pipe of dummynet has its rate in any case.
    assert reading.served is None or reading.served.rate_bps == pytest.approx(rate)
    assert reading.bytes == made.given.bytes
    assert reading.seconds(port) == pytest.approx(8 * reading.bytes / rate)


@pytest.mark.parametrize("name", names())
def test_a_shaped_port_is_written_at_the_shapers_rate(name: str) -> None:
    port = Port(2e8, line_bps=1e9, burst_bytes=250_000)
    made = emit(Wanted(500_000, 333, "20 ms"), port, name)
    assert made.given.bytes is not None and 500_000 <= made.given.bytes <= 501_000
    assert made.given.seconds(port) == pytest.approx(0.02, rel=0.003)
    assert "no port runs at" not in "\n".join(made.comments)


@pytest.mark.long
@pytest.mark.parametrize("platform", names())
@settings(deadline=None, max_examples=examples(200), suppress_health_check=list(HealthCheck))
@given(data=st.data(), port=ports, size=st.integers(64, 60_000_000))
def test_two_hundred_of_each_platform_read_back(
    platform: str, data: st.DataObject, port: Port, size: int
) -> None:
    """Sizes that a platform can have: what it refuses is not counted among the 200."""
    chosen = get(platform)
    form = data.draw(st.sampled_from(chosen.forms))
    model = data.draw(st.sampled_from(chosen.models))
    assume(size >= port.packet_bytes)
    made = emitted(size, port, platform, form, model)
    reading = lint(made.text, port, platform=platform, model=model).readings[0]
    assert (reading.bytes, reading.packets) == (made.given.bytes, made.given.packets)
    assert reading.bytes is not None and 0 <= reading.bytes - size <= made.rounding_bytes
