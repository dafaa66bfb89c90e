"""Emitting and then linting gives back the size, within what the notation rounds."""

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
PORTS = st.builds(
    Port,
    st.one_of(st.sampled_from([155e6, 1e9, 1e10, 4e11]), st.floats(1e6, 1e12, allow_nan=False)),
    packet_bytes=st.integers(64, 9216),
    header_bytes=st.integers(0, 64),
    pool_bytes=st.just(64_000_000),
)
RATES = st.one_of(
    st.sampled_from([1e6, 1e7, 155e6, 1e9, 1e10, 1e11, 4e11, 8e11]),
    st.floats(1e6, 8e11, allow_nan=False),
)
COUNTS = st.one_of(st.integers(1, 200), st.integers(1, 1_000_000))
SHAPED = st.builds(
    lambda rate, share, burst: Port(
        float(rate), line_bps=float(rate * share), burst_bytes=burst, pool_bytes=2_000_000_000
    ),
    st.integers(64, 10**7).map(lambda kbits: 1000 * kbits),
    st.integers(2, 100),
    st.one_of(st.none(), st.integers(1500, 10**7)),
)
PLATFORMS = pytest.mark.parametrize("name", names())


def emitted(data: st.DataObject, size: int, port: Port, name: str) -> tuple[Emission, str]:
    """Return an emission in a form and for a model, if the platform can have that size."""
    platform = get(name)
    form, model = (data.draw(st.sampled_from(each)) for each in (platform.forms, platform.models))
    asked = Wanted(size, size // port.packet_bytes, f"{size} B")
    try:
        return emit(asked, port, name, form=form, model=model), model
    except PlatformError as error:
        assert error.code in ("too-large", "too-small", "too-coarse")
        assume(False)
        raise


@PLATFORMS
@settings(max_examples=examples(200), suppress_health_check=list(HealthCheck))
@given(data=st.data(), port=PORTS, packets=st.integers(1, 6000), extra=st.integers(0, 9215))
def test_any_packet_and_header_is_read_back(name, data, port, packets, extra):
    """Sizes that a platform can have: what it refuses is not counted."""
    size = packets * port.packet_bytes + extra
    made, model = emitted(data, size, port, name)
    reading = lint(made.text, port, platform=name, model=model).readings[0]
    assert (reading.bytes, reading.packets) == (made.given.bytes, made.given.packets)
    assert 0 <= reading.bytes - size <= made.rounding_bytes
    assert reading.packets >= packets


@PLATFORMS
@settings(max_examples=examples(100))
@given(data=st.data(), rate=RATES, packets=COUNTS, extra=st.integers(0, 1499))
def test_what_is_emitted_is_enough_and_passes_its_own_lint(name, data, rate, packets, extra):
    """1 to a million packets and some bytes, 1 Mbit/s to 800 Gbit/s; nothing shapes to less."""
    port = Port(rate, pool_bytes=2_000_000_000)
    size = packets * port.packet_bytes + extra
    made, model = emitted(data, size, port, name)
    assert size <= made.given.bytes <= size + made.rounding_bytes
    found = lint(made.text, port, platform=name, model=model, wanted=made.wanted)
    reading = found.readings[0]
    assert found.exit_status == 0 and found.verdict(reading) == "as asked" and not found.unread
    assert reading.bytes == made.given.bytes
    # Junos writes network-control's share too, which a map of one's own would take away.
    assert len(found.readings) == (2 if name == "junos" else 1)
    assert any(each.text.startswith("rounding: ") for each in made.notes)
    # A pipe of dummynet has its rate in any case.
    assert reading.served is None or reading.served.rate_bps == pytest.approx(rate)
    assert reading.seconds(port) == pytest.approx(8 * reading.bytes / rate)


@PLATFORMS
@settings(max_examples=examples(50))
@given(data=st.data(), port=SHAPED, packets=COUNTS)
def test_the_lines_of_a_shaped_port_are_read_back(name, data, port, packets):
    """The size, and the rate that it is served at; times count at the shaper's rate."""
    made, model = emitted(data, packets * 1500, port, name)
    # Only the text says that the port is shaped: lint knows the line rate alone.
    plain = Port(port.line, pool_bytes=port.pool_bytes)
    found = lint(made.text, plain, platform=name, model=model, wanted=made.wanted)
    reading = found.readings[0]
    assert found.verdict(reading) == "as asked" and not found.unread
    assert reading.served.rate_bps == pytest.approx(port.rate_bps, rel=1e-3)
    assert reading.bytes >= packets * 1500
    assert "Ethernet port known" not in "\n".join(made.comments)


@pytest.mark.parametrize("pool", [4_000_000, 64_000_000, 2_000_000_000])
@pytest.mark.parametrize("packets", [1, 64, 129, 1000, 10_000, 100_000])
def test_sonic_dynamic_is_what_its_own_lint_expects(pool, packets):
    port = Port(155e6, pool_bytes=pool)
    asked = Wanted(packets * 1500, packets, f"{packets} packets")
    try:
        made = emit(asked, port, "sonic", form="dynamic")
    except PlatformError as error:
        assert error.code in ("too-coarse", "too-large")
        return
    assert asked.bytes <= made.given.bytes <= 2 * asked.bytes
    assert lint(made.text, port, platform="sonic", wanted=asked).exit_status == 0
    twice = Wanted(2 * made.given.bytes, 2 * packets, "twice as much")
    assert lint(made.text, port, platform="sonic", wanted=twice).exit_status == 1


@pytest.mark.parametrize(("name", "form", "model"), CHOICES)
def test_its_own_output_is_recognised(name, form, model):
    port = Port(155e6, pool_bytes=4_000_000)
    asked = Wanted(193_500, 129, "129 packets")
    made = emit(asked, port, name, form=form, model=model)
    found = lint(made.text, port, model=model, wanted=asked)
    assert (found.platform, found.exit_status) == (name, 0)


def test_the_comment_says_bytes_time_packets_and_rounding():
    made = emit(Wanted(193_500, 129, "129 packets", "oc3-gsr.toml"), Port(155e6), "junos")
    said = "\n".join(line for line in made.text.splitlines() if line.startswith("#"))
    assert "193500 B = 9.987 ms at 155 Mbit/s = 129 packets of 1500 B" in said
    assert "193517 B" in said  # 9988 us: whole microseconds, rounded up
    assert "uncertain: rounding: an MX MPC has 256 sizes" in said
    assert "oc3-gsr.toml" in said
