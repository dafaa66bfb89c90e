"""Bad values in a scenario: one line that names field, value and what to write instead."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import rows
from tests.refused import refused

from forebay.scenario import Duration, ScenarioError, loads

from .build import SMALLEST

VALUES = """
link.rate=0 bit/s | out-of-range | below the least, 1 kbit/s
link.rate=-5 Mbit/s | out-of-range | negative
link.rate=11 Tbit/s | out-of-range | above the most, 10 Tbit/s
goals.queue_delay=10 ms | wrong-type | its keys under [goals.queue_delay], or in braces
traffic.0.goals=5 | wrong-type | its keys under [traffic.goals], or in braces
queue.classes=[5] | wrong-type | its keys under [[queue.classes]], or in braces
queue.size=3 furlongs | unknown-unit | packets, B, kB
queue.size=129 | no-unit | "129 packets"
queue.size=0 packets | out-of-range | no buffer
queue.size=1.5 packets | out-of-range | whole number of packets
queue.size=100 B | out-of-range | 0 packets of 1500 B
queue.size=1e30 packets | out-of-range | 1 to 1000000000 packets
queue.size=1 packets/sqrt(n) | wrong-dimension | multiple of bdp
queue.size=1 Mbit/s | wrong-dimension | is a rate
traffic.0.name=my flows | wrong-type | write 1 to 64 of letters, digits
traffic.0.flows=1000000000 | out-of-range | 1 to 10000000
traffic.0.flows=0 | out-of-range | below the least, 1
traffic.0.flows=1.5 | wrong-type | whole number
traffic.0.flows=true | wrong-type | whole number
traffic.0.congestion_control=rneo | unknown-name | did you mean "reno"
traffic.0.congestion_control={reno=0.5} | out-of-range | sum to 0.5
traffic.0.congestion_control={reno=-1} | out-of-range | not a share
traffic.0.rtt={uniform=["90 ms", "30 ms"]} | out-of-range | smaller end first
traffic.0.rtt={unifrom=["30 ms", "90 ms"]} | unknown-key | uniform
traffic.0.rtt={uniform=["30 ms"]} | wrong-type | two ends
traffic.0.rtt={uniform=["0 s", "1 s"]} | out-of-range | 1 us to 60 s
traffic.0.rtt=61 s | out-of-range | 1 us to 60 s
traffic.0.rtt=1e30 s | out-of-range | is above the most, 60 s
traffic.0.packet=40 B | out-of-range | 64 B to 65535 B
traffic.0.sack=1 | wrong-type | true or false
traffic.0.start=60 s | contradiction | no flow starts
measure.duration=0 s | out-of-range | 1 ms to 86400 s
measure.duration=25 h | out-of-range | 1 ms to 86400 s
goals.utilization=1.2 | out-of-range | 0.001 to 1.0
goals.utilization=nan | out-of-range | nan
goals.loss_rate=-0.1 | out-of-range | below the least
name=3 | wrong-type | quotes
queue.sise=1 bdp | unknown-key | write "queue.size"
trafic.0.flows=3 | unknown-key | write "traffic"
traffic.1.flows=3 | bad-override | write traffic.0
traffic.first.flows=3 | bad-override | write traffic.0
link.rate.unit=3 | bad-override | link.rate is not a table
link.rate | bad-override | PATH=VALUE
=3 | bad-override | PATH=VALUE
link..rate=3 | bad-override | PATH=VALUE
traffic=[] | missing | at least one [[traffic]]
queue=3 | wrong-type | [queue]
traffic.0=3 | wrong-type | [[traffic]]
link.down=3 | wrong-type | 3 is neither a list nor a table; write a list of pairs
link.loss=x | wrong-type | "x" is neither a number nor a table; write a probability
link.loss=true | wrong-type | true is neither a number nor a table
link.jitter=true | wrong-type | true is not a quantity
link={rate_trace={steps=[["0 s", "9 bit/s"], ["1 s", "9 bit/s"]]}} | out-of-range | have a mean of
link={rate_trace=3} | wrong-type | 3 is no trace
traffic.0.flows=12..8 | out-of-range | smaller end first
traffic.0.flows=0..8 | out-of-range | below the least, 1
traffic.0.flows=8...12 | wrong-type | 8000..12000
"""
GOALS = """
goals.utilization={at_most=0.9, probability=0.9} | unknown-key | .utilization.at_most | = 0.98
goals.utilization={at_least=0.9} | missing | .utilization.probability | 0.99
goals.utilization={at_least=0.9, probability=0} | out-of-range | .utilization.probability | above 0
goals.utilization={at_least=2, probability=0.9} | out-of-range | .utilization | 0.001 to 1.0
goals.loss_rate=true | wrong-type | .loss_rate | 0.01
goals.queue_delay={quantile=0.9} | missing | .queue_delay | at_most
goals.queue_delay={} | missing | .queue_delay | maximum
goals.queue_delay={quantil=0.9} | unknown-key | .queue_delay.quantil | quantile
goals.fct_increase=0.1 | contradiction | .fct_increase | no flow ever completes
goals.realtime_loss=0.1 | contradiction | .realtime_loss | no class is
traffic.0.goals.fct_mean=1 s | contradiction | .fct_mean | completes
traffic.0.goals.loss=0.1 | unknown-key | .loss | loss_rate
"""
# Beside a class of each kind, the field of it that is written, without traffic.0 before it.
HEAD = 'queue.size = "100 packets"\nlink.rate = "100 Mbit/s"\n[[traffic]]\n'
CLASSES = {
    "long": 'flows = 100\nrtt = "50 ms"\n',
    "short": 'kind = "short"\nload = 0.5\nlength = "14 packets"\nrtt = "200 ms"\n',
    "session": 'kind = "session"\nflows = 30\nfile = "60 kB"\nrtt = "80 ms"\n',
    "udp": 'kind = "udp"\nflows = 10\nrate = "1 Mbit/s"\npacket = "200 B"\n',
    "onoff": 'kind = "onoff"\nflows = 10\npeak_rate = "1 Mbit/s"\non = "1 s"\noff = "3 s"\n',
    "video": 'kind = "video"\nflows = 2\nrate = "1.3 Mbit/s"\n',
}
KINDS = """
long | kind=vidoe | unknown-name | did you mean "video"
long | kind=3 | unknown-name | "long", "short"
long | load=0.5 | unknown-key | kinds with it: short, transfers, udp, video
short | flows=3 | unknown-key | traffic.0.
short | arrival_rate=3.0 | contradiction | either load or arrival_rate
short | load=0.0 | out-of-range | below the least
short | load=0.5 Mbit/s | wrong-type | number
short | length=14 | no-unit | "14 packets"
short | length=0 packets | out-of-range | more than 0
short | length=2e9 packets | out-of-range | 1000000000
short | length=3 s | wrong-dimension | a number of packets or a data size
short | length={geometrik="3 packets"} | unknown-key | did you mean "geometric"
short | length={pareto={mean="30 packets"}} | missing | shape
short | length={pareto={mean="30 packets",shape=0.0}} | out-of-range | 0.1 to 100
short | length={pareto={mean="30 packets",shape=2,high="40 packets"}} | out-of-range | half of high
short | length={pareto={mean="30 packets",shape=2,high="1 MB"}} | wrong-dimension | them in packets
short | length={lognormal={mean="9 packets",deviation="9e6 packets"}} | out-of-range | deviation
session | file={geometric="1500 B"} | out-of-range | a mean of 1 packets
session | file=3 | no-unit | packets
udp | load=0.3 | contradiction | either rate or load
udp | rate=3 | no-unit | bit/s
udp | rtt=1 s | unknown-key | traffic.0.
onoff | on={exponential="0 s"} | out-of-range | mean
video | hurst=1.0 | out-of-range | 0.5 to 0.99
video | spacing=odd | unknown-name | "burst" or "even"
long | direction=reverse | contradiction | forward
long | access_sharing=0 | out-of-range | below the least, 1
long | rtt={normal={mean="1 s"}} | missing | deviation
long | rtt={exponential="50 ms"} | out-of-range | 0 s is below the least, 1 us
long | rtt={pareto={mean="1 s",shape=1.2,high="1 s"}} | out-of-range | not below high
long | rtt={exponential={mean="1 s",low="2 s",high="1 s"}} | out-of-range | is not below high, 1 s
long | rtt={values=["1 s","2 s"],shares=[1.0]} | wrong-type | 1 are not a share for each value
long | rtt={values=[]} | wrong-type | list of 1 to
long | rtt={values=["1 s","2 s"],shares=[0.5,0.6]} | out-of-range | sum to 1.1
long | rtt={values=["1 s","x"]} | no-number | traffic.0.rtt.values.1
long | rtt={normal={mean="1 s",deviation="1 ms",low="3 s",high="4 s"}} | out-of-range | almost no
udp | access_rate="900 kbit/s" | contradiction | 0.rate: 1 Mbit/s is above access_rate
video | access_rate="1 Mbit/s" | contradiction | 0.rate: 1.3 Mbit/s is above access_rate
onoff | access_rate="900 kbit/s" | contradiction | 0.peak_rate: 1 Mbit/s is above access_rate
long | delayed_ack=false & delayed_ack_timeout="250 ms" | contradiction | delayed_ack = true
long | sender="ns2" & delayed_ack_timeout="250 ms" | contradiction | delayed_ack = true
long | delayed_ack_timeout="250 ms" | contradiction | 200 ms or less
"""
SHAPED = """
queue.size = "10 ms"
traffic = [{ flows = 10, rtt = "100 ms" }]
[link]
rate = "100 Mbit/s"
shaper = { rate = "21 Mbit/s", burst = "52.5 kB", refill = "interval" }
"""
BUCKETS = """
link.shaper.rate=1 Gbit/s | link.shaper.rate | above the rate of the link
link.shaper.burst=1 kB | link.shaper.burst | is smaller than a packet
link.shaper.burst=1 TB | link.shaper.burst | to fill
queue.transmit_ring=3 | queue.transmit_ring | never fills behind a shaper
link.policer={rate="1 Gbit/s", burst="9 kB"} | link.policer.rate | above
link.policer={rate="1 Mbit/s", burst="1 kB"} | link.policer.burst | 1500 B
"""


@pytest.mark.parametrize(("setting", "code", "said"), rows(VALUES))
def test_values(setting: str, code: str, said: str) -> None:
    with refused(rf"^overrides: .*{re.escape(said)}.*", code) as error:
        loads(SMALLEST, overrides=[setting])
    assert "; write " in str(error.value)


@pytest.mark.parametrize(("setting", "code", "field", "said"), rows(GOALS))
def test_goals(setting: str, code: str, field: str, said: str) -> None:
    with refused(re.escape(said), code) as error:
        loads(SMALLEST, overrides=[setting])
    assert error.value.field.endswith(f"goals{field}")


@pytest.mark.parametrize(("kind", "setting", "code", "said"), rows(KINDS))
def test_fields_of_a_kind(kind: str, setting: str, code: str, said: str) -> None:
    sets = [f"traffic.0.{each}" for each in setting.split(" & ")]
    with refused(re.escape(said), code) as error:
        loads(HEAD + CLASSES[kind], overrides=sets)
    assert "; write " in str(error.value)


@pytest.mark.parametrize(("setting", "field", "said"), rows(BUCKETS))
def test_token_buckets(setting: str, field: str, said: str) -> None:
    with refused(said, field=field):
        loads(SHAPED, overrides=[setting])


@pytest.mark.parametrize(
    ("sets", "field"),
    [
        (["goals.queue_delay_mean=20 ms", "goals.queue_delay_p99=10 ms"], "goals.queue_delay_p99"),
        (["goals.queue_delay_mean=4 ms", "goals.queue_delay.mean=5 ms"], "goals.queue_delay.mean"),
        # 100 flows at 1 Mbit/s, or with 10 packets an RTT of 100 ms, cannot fill 155 Mbit/s; nor
        # can they on 10 links of 10 Mbit/s.
        (["goals.utilization=0.98", "traffic.0.access_rate=1 Mbit/s"], "goals.utilization"),
        (["goals.utilization=0.98", "traffic.0.max_window=10"], "goals.utilization"),
        (["goals.utilization=0.98", "traffic.0.access_rate=10 Mbit/s",
          "traffic.0.access_sharing=10"], "goals.utilization"),
        (['memory="16 MB"'], "memory"),
        (["traffic.0.name=a b"], "traffic.0.name"),
        (["traffic.0.name="], "traffic.0.name"),
        ([f"traffic.0.name={65 * 'x'}"], "traffic.0.name"),
        (["traffic.0.name=up\x1b[31m"], "traffic.0.name"),
        (['name="two\\nlines"'], "name"),
        (["name=\x1b[31mred"], "name"),
        (["name=nul \0"], "name"),
        (["name=\u202eturned"], "name"),
    ],
)  # fmt: skip
def test_contradictions_and_names(sets: list[str], field: str) -> None:
    with refused(None, field=field) as error:
        loads(SMALLEST, overrides=sets)
    assert str(error.value).isprintable()


@pytest.mark.parametrize("kind", CLASSES)
def test_what_is_not_changed_is_right(kind: str) -> None:
    group = loads(HEAD + CLASSES[kind]).traffic[0]
    assert type(group).__name__.lower() == group.kind == kind


def test_one_of_two_is_needed() -> None:
    with refused(None, "missing", "traffic.0"):
        loads(HEAD + CLASSES["short"].replace("load = 0.5\n", ""))


PATHS = (
    "name link link.rate queue.size queue.discipline traffic traffic.0 traffic.0.flows "
    "traffic.0.rtt traffic.0.congestion_control traffic.0.sack measure.warmup goals.utilization "
    "goals.queue_delay_p99"
)


@given(
    st.sampled_from(PATHS.split()),
    st.text(max_size=20) | st.from_regex(r"-?[0-9.]{1,9} ?[a-zA-Z/]{0,6}"),
)
def test_any_override_is_taken_or_refused_in_one_line(path: str, value: str) -> None:
    try:
        loads(SMALLEST, overrides=[f"{path}={value}"])
    except ScenarioError as error:
        assert len(str(error).splitlines()) == 1


@given(st.text(max_size=60))
def test_any_text_is_refused_in_one_line(text: str) -> None:
    with refused("; write "):
        loads(text)
    try:
        assert Duration.parse(text) >= 0
    except ScenarioError as error:
        assert len(str(error).splitlines()) == 1
