"""``forebay measure``: estimates of the traffic and a scenario from an operator's records."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click
from click.core import ParameterSource

import forebay
from forebay import report
from forebay.cli import options
from forebay.cli.output import answered, print_json, progress, write
from forebay.files.atomic import write_text

if TYPE_CHECKING:
    from forebay.measure import Measured


Records = Literal["captures", "--counters", "--snmp", "--exports", "--listen", "--ss", "--answer"]

_SCENARIO = {"congestion_control", "buffer", "goal"}
_COUNTED = {"rtt", "packet"}
_READ: dict[Records, set[str]] = {
    "captures": {"interface", "toward", "overhead", "at", *_SCENARIO},
    "--counters": {"busy_hour", *_COUNTED, *_SCENARIO},
    "--snmp": {"interface", *_COUNTED, *_SCENARIO},
    "--exports": set(),
    "--listen": set(),
    "--ss": set(),
    "--answer": set(),
}
_NARROW = set().union(*_READ.values()) | {"ss", "nstat", "exports", "community"}
_OWN = {"--snmp": {"community"}, "--exports": {"exports"}, "--ss": {"ss", "nstat"}}
_NAMES = {"--exports": "flow records", "--listen": "flow records", "--ss": "a host's own flows"}


def refuse_unread(records: Records) -> None:
    """Raise UsageError for an option that was written and that nothing would read."""
    context = click.get_current_context()
    read = _READ[records] | _OWN.get(records, set())
    for option in context.command.params:
        name = option.name or ""
        written = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if written and name in _NARROW - read:
            what = _NAMES.get(records, records)
            raise click.UsageError(f"{option.opts[0]} is not read with {what}; leave it out")


_LISTEN_S = 300.0
_EVERY_S = 10.0


@click.command("measure")
@click.argument("records", metavar="[RECORDS]...", nargs=-1)
@click.option("--rate", metavar="RATE", help='The link\'s rate, "155 Mbit/s".')
@click.option(
    "--counters", "counters", metavar="FILE.csv",
    help="Interface counters instead of packets: columns time_s, octets, drops.",
)  # fmt: skip
@click.option(
    "--answer", metavar="ANSWER.json",
    help="Judge the size of this answer of `forebay size --json` by the counters of the port that "
    "has it: too small, too large, or as answered.",
)  # fmt: skip
@click.option(
    "--busy-hour", is_flag=True, help="Counters: use the hour with the most octets alone."
)
@click.option(
    "--snmp", metavar="HOST[:PORT]",
    help="Poll the counters of --interface at a router by SNMPv2c; needs forebay[counters].",
)  # fmt: skip
@click.option(
    "--community", metavar="TEXT", envvar="FOREBAY_SNMP_COMMUNITY",
    help="Community of the router at --snmp; better set FOREBAY_SNMP_COMMUNITY.  [default: public]",
)  # fmt: skip
@click.option(
    "--every", type=options.Number(0, min_open=True), metavar="SECONDS",
    help="How often to poll --snmp.  [default: 10]",
)  # fmt: skip
@click.option(
    "--keep", type=options.OutputPath(".csv"), metavar="OUT.csv",
    help="Save the counters of --snmp; --counters reads the file.",
)  # fmt: skip
@click.option(
    "--exports", is_flag=True,
    help="RECORDS are flow records: captures of NetFlow v5, v9, IPFIX, sFlow v5; nfdump's .csv; "
    "goflow2's .json.",
)  # fmt: skip
@click.option(
    "--listen", metavar="ADDRESS:PORT",
    help="Flow records that routers send to a UDP socket here; a port alone is on 127.0.0.1.",
)  # fmt: skip
@click.option(
    "--seconds", type=options.Number(0, min_open=True), metavar="SECONDS",
    help="How long to --listen, or to poll --snmp.  [default: 300]",
)  # fmt: skip
@click.option("--ss", metavar="FILE", help="The text of `ss -tin` on a host that sends.")
@click.option("--nstat", metavar="FILE", help="The text of `nstat` on a host that sends.")
@click.option(
    "--rtt", metavar="TIME[..TIME]",
    help='Counters: the mean round trip without queueing, "100 ms" or "50 ms..150 ms".',
)  # fmt: skip
@click.option(
    "--packet", default="1500 B", show_default=True, metavar="SIZE",
    help="Counters: the size of a full packet.",
)  # fmt: skip
@click.option(
    "--interface", metavar="NAME",
    help="The link's interface: of a pcapng file, others give round trips only; or of --snmp.",
)  # fmt: skip
@click.option(
    "--toward", metavar="NETWORK", multiple=True,
    help="Only packets to this network cross the link, e.g. 10.0.0.0/8. May be repeated.",
)  # fmt: skip
@click.option(
    "--overhead", type=options.WholeNumber(0, 1000), default=0, show_default=True, metavar="BYTES",
    help="Bytes that a packet takes on the link in addition to its IP packet; 38 on Ethernet.",
)  # fmt: skip
@click.option(
    "--at", type=click.Choice(["egress", "ingress"]), default="egress", show_default=True,
    help="Whether the packets were captured after the queue or before it.",
)  # fmt: skip
@click.option(
    "--scenario", "scenario", type=options.OutputPath(".toml"), metavar="OUT.toml",
    help="Write a scenario from the estimates; `forebay size OUT.toml` reads it.",
)  # fmt: skip
@click.option(
    "--replay", type=options.OutputPath(".csv"), metavar="OUT.csv",
    help='Write the UDP packets except port 443, for kind = "replay".',
)  # fmt: skip
@click.option(
    "--congestion-control", metavar="NAME",
    help="Congestion control of the scenario; for counters, the one whose response is inverted.",
)  # fmt: skip
@click.option("--buffer", metavar="SIZE", help='For the scenario: the queue, "64 packets".')
@click.option(
    "--goal", type=options.Number(0.001, 1.0),
    help="For the scenario: the utilization to reach.  [default: 0.98 if it has long flows]",
)  # fmt: skip
@click.option(
    "--html", "html", type=options.OutputPath(".html"), metavar="OUT.html",
    help="Write estimates and pictures into one .html page.",
)  # fmt: skip
@options.figure
@options.as_json
def command(
    records: tuple[str, ...],
    scenario: Path | None,
    html: Path | None,
    figure: Path | None,
    replay: Path | None,
    as_json: bool,
    **given: Any,
) -> int | None:
    """Estimates of the traffic, and a scenario, from captures, counters or flow records.

    RECORDS are captures in pcap or pcapng, plain, .gz or .zst, in the order of their packets.

    The number of flows is that of TCP flows in congestion avoidance which cross this link at one
    time. It is neither the number of five-tuples in a capture nor that of open connections.
    """
    judged = given.pop("answer")
    if judged is not None:
        refuse_unread("--answer")
        others = (*records, scenario, html, figure, replay)
        return judge(judged, given["counters"], given["rate"], others, as_json=as_json)
    read = (*records, given["counters"])
    places = {"scenario": scenario, "html": html, "figure": figure, "replay": replay}
    options.check_places(read, **places, keep=given["keep"])
    if replay is not None:
        others = ("counters", "exports", "listen", "snmp", "ss", "nstat")
        if not records or any(given[name] for name in others):
            raise click.UsageError("--replay needs captures; name captures, or leave it out")
    measured = _measure(records, given | {"replay": replay is not None})
    document = measured.to_dict()
    text = None if scenario is None else measured.scenario_toml()
    if as_json:
        print_json(document)
    else:
        report.print_measurement(document)
        answered()
    if scenario is not None and text is not None:
        write("scenario", scenario, partial(write_text, text))
    if replay is not None:
        write("packets", replay, partial(write_text, measured.packet_list()))
    if html is not None:
        write("page", html, partial(write_text, report.measurement_page(document)))
    if figure is not None:
        write("picture", figure, partial(report.figures.draw_measurement, document))
    return None


def _measure(records: tuple[str, ...], given: dict[str, Any]) -> Measured:
    replay = given.pop("replay")
    hosts = {name: given.pop(name) for name in ("ss", "nstat")}
    if not records and any(hosts.values()):
        refuse_unread("--ss")
        return forebay.measure.host(**hosts)
    if given["rate"] is None:
        raise click.UsageError('--rate is missing; write the link\'s rate, --rate "155 Mbit/s"')
    at, seconds = (given.pop(name) for name in ("listen", "seconds"))
    polled = {name: given.pop(name) for name in ("snmp", "community", "every", "keep")}
    if polled["snmp"] is not None:
        return _poll(polled, seconds, (*records, at), given)
    if any(value is not None for name, value in polled.items() if name != "community"):
        raise click.UsageError("--every and --keep need --snmp; write --snmp HOST")
    if at is not None:
        return _listen(at, seconds, records, given)
    if seconds is not None:
        raise click.UsageError("--seconds needs --listen or --snmp; write --listen 127.0.0.1:2055")
    by_counters = {name: given.pop(name) for name in ("counters", "rtt", "packet", "busy_hour")}
    if (by_counters["counters"] is None) == (not records):
        both = "captures and --counters exclude each other"
        wrong = both if records else "nothing to measure"
        raise click.UsageError(f"{wrong}; name captures, or --counters FILE.csv")
    exports = given.pop("exports")
    if exports and records:
        refuse_unread("--exports")
        with progress("reading") as update:
            return forebay.measure.exports(records, rate=given["rate"], progress=update)
    refuse_unread("captures" if records else "--counters")
    if records:
        with progress("reading") as update:
            return forebay.measure.capture(records, replay=replay, progress=update, **given)
    fields = ("rate", "congestion_control", "buffer", "goal")
    table = by_counters.pop("counters")
    chosen = {name: given[name] for name in fields}
    return forebay.measure.counters(table, **by_counters, **chosen)


_OF_COUNTERS = ("rate", "rtt", "packet", "congestion_control", "buffer", "goal")


def _poll(
    polled: dict[str, Any],
    seconds: float | None,
    others: tuple[str | None, ...],
    given: dict[str, Any],
) -> Measured:
    if any(others) or given["counters"] or given["exports"]:
        raise click.UsageError("records and --snmp exclude each other; leave one out")
    if given["interface"] is None:
        raise click.UsageError("--interface is missing; write the router's name of the link's")
    refuse_unread("--snmp")
    with progress("polling") as update:
        return forebay.measure.snmp(
            polled["snmp"],
            interface=given["interface"],
            seconds=_LISTEN_S if seconds is None else seconds,
            every=polled["every"] or _EVERY_S,
            community=polled["community"] or "public",
            keep=polled["keep"],
            progress=update,
            **{name: given[name] for name in _OF_COUNTERS},
        )


def _listen(
    at: str, seconds: float | None, records: tuple[str, ...], given: dict[str, Any]
) -> Measured:
    if records or given["counters"]:
        raise click.UsageError("records and --listen exclude each other; leave one out")
    refuse_unread("--listen")
    with progress("listening") as update:
        long = _LISTEN_S if seconds is None else seconds
        return forebay.measure.listen(at, long, rate=given["rate"], progress=update)


def judge(
    path: str, table: str | None, rate: str | None, others: Sequence[object], *, as_json: bool
) -> int:
    """Print the verdict; return 1 if the size should be changed."""
    if table is None or any(others):
        wrong = "--answer needs --counters FILE.csv" if table is None else "--answer only judges"
        raise click.UsageError(f"{wrong}; leave captures and outputs out")
    answer = forebay.SizeResult.load(path)
    found = forebay.measure.judge(table, answer, rate=rate)
    if as_json:
        print_json(found.to_dict())
    else:
        report.print_judgement(found.to_dict())
        answered()
    return found.exit_status
