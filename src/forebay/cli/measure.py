"""``forebay measure``: estimates of the traffic and a scenario from an operator's records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import forebay
from forebay import report
from forebay.cli import options
from forebay.cli.output import progress, show, write
from forebay.files.atomic import write_text

if TYPE_CHECKING:
    from forebay.measure import Measured

_SCENARIO = {"congestion_control", "buffer", "goal"}
_COUNTED = {"rtt", "packet"}
_READ = {
    "captures": {"interface", "toward", "overhead", "at", *_SCENARIO},
    "--counters": {"busy_hour", *_COUNTED, *_SCENARIO},
    "--snmp": {"interface", "community", *_COUNTED, *_SCENARIO},
    "--exports": {"exports"},
    "--listen": set[str](),
    "--ss": {"ss", "nstat"},
    "--answer": set[str](),
}
"""What each kind of records is read with, beside the rate."""
_NAMES = {"--exports": "flow records", "--listen": "flow records", "--ss": "a host's own flows"}
_LISTEN_S, _EVERY_S = 300.0, 10.0


def _read(records: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return what these records are read with; refuse what is written and nothing would read."""
    if flag := options.first_written(set().union(*_READ.values()) - _READ[records]):
        what = _NAMES.get(records, records)
        raise click.UsageError(f"{flag} is not read with {what}; leave it out")
    return {name: given[name] for name in ("rate", *_READ[records])}


@options.as_command("measure")
def command(
    records: tuple[str, ...] = options.argument("[RECORDS]...", nargs=-1),
    given: dict[str, Any] = options.together(
        rate=options.text("RATE", 'The link\'s rate, "155 Mbit/s".'),
        counters=options.text(
            "FILE.csv", "Interface counters instead of packets: columns time_s, octets, drops."),
        answer=options.text(
            "ANSWER.json", "Judge the size of this answer of `forebay size --json` by the counters "
            "of the port that has it: too small, too large, or as answered."),
        busy_hour=options.flag("Counters: use the hour with the most octets alone."),
        snmp=options.text(
            "HOST[:PORT]",
            "Poll the counters of --interface at a router by SNMPv2c; needs forebay[counters]."),
        community=options.text(
            "TEXT", "Community of the router at --snmp; better set FOREBAY_SNMP_COMMUNITY.  "
            "[default: public]", envvar="FOREBAY_SNMP_COMMUNITY"),
        every=options.above_zero("SECONDS", "How often to poll --snmp.  [default: 10]"),
        keep=options.file(
            ".csv OUT.csv", "Save the counters of --snmp; --counters reads the file."),
        exports=options.flag(
            "RECORDS are flow records: captures of NetFlow v5, v9, IPFIX, sFlow v5; nfdump's .csv; "
            "goflow2's .json."),
        listen=options.text(
            "ADDRESS:PORT", "Flow records that routers send to a UDP socket here; a port alone is "
            "on 127.0.0.1."),
        seconds=options.above_zero(
            "SECONDS", "How long to --listen, or to poll --snmp.  [default: 300]"),
        ss=options.text("FILE", "The text of `ss -tin` on a host that sends."),
        nstat=options.text("FILE", "The text of `nstat` on a host that sends."),
        rtt=options.text(
            "TIME[..TIME]", 'Counters: the mean round trip without queueing, "100 ms" or "50 '
            'ms..150 ms".'),
        packet=options.text("SIZE", "Counters: the size of a full packet.", default="1500 B"),
        interface=options.text(
            "NAME", "The link's interface: of a pcapng file, others give round trips only; or of "
            "--snmp."),
        toward=options.text(
            "NETWORK", "Only packets to this network cross the link, e.g. 10.0.0.0/8. May be "
            "repeated.", multiple=True),
        overhead=options.number(
            "BYTES", 0, 1000, "Bytes that a packet takes on the link in addition to its IP packet; "
            "38 on Ethernet.", default=0),
        at=options.text(
            "", "Whether the packets were captured after the queue or before it.",
            type=click.Choice(["egress", "ingress"]), default="egress")),
    scenario: Path | None = options.file(
        ".toml OUT.toml", "Write a scenario from the estimates; `forebay size OUT.toml` reads it."),
    replay: Path | None = options.file(
        ".csv OUT.csv", 'Write the UDP packets except port 443, for kind = "replay".'),
    chosen: dict[str, Any] = options.together(
        congestion_control=options.text(
            "NAME", "Congestion control of the scenario; for counters, the one whose response is "
            "inverted."),
        buffer=options.text("SIZE", 'For the scenario: the queue, "64 packets".'),
        goal=options.number(
            "", 0.001, 1.0, "For the scenario: the utilization to reach.  [default: 0.98 if it has "
            "long flows]")),
    html: Path | None = options.file(
        ".html OUT.html", "Write estimates and pictures into one .html page."),
    figure: Path | None = options.figure,
    as_json: bool = options.as_json,
) -> int | None:  # fmt: skip
    """Estimates of the traffic, and a scenario, from captures, counters or flow records.

    RECORDS are captures in pcap or pcapng, plain, .gz or .zst, in the order of their packets.

    The number of flows is that of TCP flows in congestion avoidance which cross this link at one
    time. It is neither the number of five-tuples in a capture nor that of open connections.
    """
    given |= chosen
    if given["answer"] is not None:
        return _judge(given, (*records, scenario, html, figure, replay), as_json)
    places = {"scenario": scenario, "html": html, "figure": figure, "replay": replay}
    options.check_places((*records, given["counters"]), **places, keep=given["keep"])
    if replay is not None:
        others = ("counters", "exports", "listen", "snmp", "ss", "nstat")
        if not records or any(given[name] for name in others):
            raise click.UsageError("--replay needs captures; name captures, or leave it out")
    measured = _measure(records, given, replay is not None)
    document = measured.to_dict()
    text = None if scenario is None else measured.scenario_toml()
    show(document, as_json, report.print_measurement)
    write("scenario", scenario, lambda path: write_text(text or "", path))
    write("packets", replay, lambda path: write_text(measured.packet_list(), path))
    write("page", html, lambda path: write_text(report.measurement_page(document), path))
    write("picture", figure, lambda path: report.figures.draw_measurement(document, path))
    return None


def _measure(records: tuple[str, ...], given: dict[str, Any], replay: bool) -> Measured:
    if not records and (given["ss"] or given["nstat"]):
        of_host = _read("--ss", given)
        return forebay.measure.host(ss=of_host["ss"], nstat=of_host["nstat"])
    if given["rate"] is None:
        raise click.UsageError('--rate is missing; write the link\'s rate, --rate "155 Mbit/s"')
    seconds = _LISTEN_S if given["seconds"] is None else given["seconds"]
    if given["snmp"] is not None:
        return _poll(seconds, bool(records), given)
    if given["every"] is not None or given["keep"] is not None:
        raise click.UsageError("--every and --keep need --snmp; write --snmp HOST")
    if given["listen"] is not None:
        if records or given["counters"]:
            raise click.UsageError("records and --listen exclude each other; leave one out")
        how = _read("--listen", given)
        with progress("listening") as update:
            return forebay.measure.listen(given["listen"], seconds, progress=update, **how)
    if given["seconds"] is not None:
        raise click.UsageError("--seconds needs --listen or --snmp; write --listen 127.0.0.1:2055")
    table = given["counters"]
    if (table is None) == (not records):
        both = "captures and --counters exclude each other"
        wrong = both if records else "nothing to measure"
        raise click.UsageError(f"{wrong}; name captures, or --counters FILE.csv")
    if not records:
        return forebay.measure.counters(table, **_read("--counters", given))
    if given["exports"]:
        rate = _read("--exports", given)["rate"]
        with progress("reading") as update:
            return forebay.measure.exports(records, rate=rate, progress=update)
    how = _read("captures", given)
    with progress("reading") as update:
        return forebay.measure.capture(records, replay=replay, progress=update, **how)


def _poll(seconds: float, has_records: bool, given: dict[str, Any]) -> Measured:
    if has_records or given["listen"] or given["counters"] or given["exports"]:
        raise click.UsageError("records and --snmp exclude each other; leave one out")
    if given["interface"] is None:
        raise click.UsageError("--interface is missing; write the router's name of the link's")
    how = _read("--snmp", given) | {"community": given["community"] or "public"}
    every = given["every"] or _EVERY_S
    with progress("polling") as update:
        return forebay.measure.snmp(
            given["snmp"], seconds=seconds, every=every, keep=given["keep"], progress=update, **how
        )


def _judge(given: dict[str, Any], others: Sequence[object], as_json: bool) -> int:
    """Print the verdict; return 1 if the size should be changed."""
    _read("--answer", given)
    if given["counters"] is None or any(others):
        needed = given["counters"] is None
        wrong = "--answer needs --counters FILE.csv" if needed else "--answer only judges"
        raise click.UsageError(f"{wrong}; leave captures and outputs out")
    answer = forebay.SizeResult.load(given["answer"])
    judgement = forebay.measure.judge(given["counters"], answer, rate=given["rate"])
    show(judgement.to_dict(), as_json, report.print_judgement)
    return judgement.exit_status
