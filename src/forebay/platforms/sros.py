"""Nokia SR OS: mbs of a queue in a sap-egress policy."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from forebay.platforms.notes import note, trap, uncertain
from forebay.platforms.reading import ConfiguredQueue, Place, Port, Served
from forebay.platforms.registry import Order, Platform, Written, matching
from forebay.platforms.snippet import PlatformError, Snippet, Statement, decimal, short, whole

KILOBYTE = 1000
_MOST_BYTES = 2**30
_USUAL_BYTES = 131_072 * KILOBYTE
_BUFFERS = {"7705-512": 512, "7705-2304": 2304}
_CHAIN_HEADER = 64  # stored in the first of a chain of 512-B buffers
_OF_NETWORK = ("network-queue", "shared-queue")
_POLICIES = ("sap-egress", "sap-ingress", "queue-group-templates", *_OF_NETWORK)
_LEVELS = (_POLICIES, ("ingress", "egress"), ("queue-group",), ("queue", "policer", "fc"))
_CREATE = ("create", "best-effort", "expedite", "auto-expedite", "multipoint")


def _per_packet(model: str, port: Port) -> int:
    """Bytes of buffers for one full packet on a 7705."""
    unit = _BUFFERS[model]
    held = port.packet_bytes + (_CHAIN_HEADER if unit == 512 else 0)
    return unit * -(-held // unit)


def _write(order: Order) -> Written:
    port, size, number = order.port, order.wanted.bytes, order.number
    chained = order.model in _BUFFERS
    if chained:
        size = order.wanted.whole_packets(port) * _per_packet(order.model, port)
    if size > _MOST_BYTES:
        raise PlatformError("too-large.sros", value=size, most=_MOST_BYTES)
    given = f"give it to the SAP with egress qos {number}"
    attach = note(f"{number} is a policy number to change; {given}")
    percent = trap("network queues take mbs in percent of a pool: these lines are for a SAP")
    burst = "" if chained else port.burst_bytes or ""
    left = port.burst_unwritten("no burst-limit of a 7705 is known") if chained else ()
    if order.form == "md-cli":
        queue = f'/configure qos sap-egress "{number}" queue 1'
        lines = (
            *((f"{queue} rate pir {port.rate_in(1000)}",) if port.is_shaped else ()),
            *((f"{queue} burst-limit {burst}",) if burst else ()),
            f"{queue} mbs {size}",
        )
    else:
        lines = (
            f"/configure qos sap-egress {number} create",
            "    queue 1 create",
            *((f"        rate {port.rate_in(1000)}",) if port.is_shaped else ()),
            *((f"        burst-limit {burst} byte",) if burst else ()),
            f"        mbs {size} bytes",
            "    exit",
            "exit",
        )
    return Written(lines, port.packet_bytes if chained else 0, (attach, percent, *left))


@dataclass(slots=True)
class _Queue:
    """A queue of a policy: the words after each of its statements, and the lines read for it."""

    name: str
    in_network: bool
    mbs: tuple[int, list[str]] | None = None
    rate: list[str] = field(default_factory=list)
    cbs: str = ""
    lines: set[int] = field(default_factory=set)

    def add(self, line: int, words: list[str]) -> None:
        """Add a statement of the queue."""
        key, rest = words[0], words[1:]
        if key == "mbs" and rest:
            self.mbs = line, rest[:2]
            self.lines.add(line)
        elif key in ("rate", "percent-rate") and rest:
            if not (rest[0] == "cir" and self.rate):  # the guaranteed rate, on its own line
                self.rate = [key, *rest[:2]]
        elif key == "cbs" and rest:
            self.cbs = rest[0]
            self.lines.add(line)

    def served(self, port: Port) -> Served | None:
        """Return the rate of "rate 200000", "rate pir 200000" or "percent-rate 20.50"."""
        words = [word for word in self.rate if word != "pir"]
        if not words or "max" in words or words[1:2] == ["cir"]:
            return None
        number = "".join(words[1:2])
        share = decimal(number, 100) if words[0] == "percent-rate" else None
        value = whole(number, 10**10) if words[0] == "rate" else None
        if share:
            return Served(port.line * float(share) / 100, "the queue's percent-rate")
        if value:
            return Served(1000.0 * value, "the queue's own rate, in kbit/s")
        return Served.untold(" ".join(self.rate))


def _read(snippet: Snippet, port: Port, model: str) -> Iterator[ConfiguredQueue]:
    every = list(statements(snippet))
    model_driven = "{" in snippet.text or any(map(_is_model_driven, every))
    for queue in _queues(every):
        if queue.mbs is not None:
            line, words = queue.mbs
            place = Place.of(line, queue.name, f"mbs {' '.join(words)}", port)
            cbs = (note(f"cbs {short(queue.cbs, 20)}: a part of it is reserved"),)
            reading = _mbs(place, words, queue, model, model_driven)
            yield reading.serving(queue.served(port), *(cbs * bool(queue.cbs)), also=queue.lines)


def _is_model_driven(statement: Statement) -> bool:
    """Whether a line is of the model-driven CLI: a quoted policy in one line, or "rate pir"."""
    words = statement.path
    named = "sap-egress" in words[:-1] and words[words.index("sap-egress") + 1].startswith('"')
    return ("rate", "pir") in pairwise(words) or (named and "create" not in words)


def statements(snippet: Snippet) -> Iterator[Statement]:
    """Return the sections of the classic CLI, or the paths through the braces of the other."""
    if "{" in snippet.text:
        return snippet.statements()
    return snippet.sections(_LEVELS, ends=("exit",), last="create")


def _queues(every: list[Statement]) -> list[_Queue]:
    """Return every queue of a policy that is known; a policer's statements are no queue's."""
    queues: dict[str, _Queue] = {}
    for statement in every:
        words = [word.strip('"/') for word in statement.path]
        while words and words[0] in ("configure", "qos"):
            del words[0]
        policy = words[: 4 if words[:1] == ["queue-group-templates"] else 2]
        words = words[len(policy) :]
        if words[:1] == ["name"]:
            del words[:2]
        words = [word for word in words if word not in _CREATE]
        if policy[:1] and policy[0] in _POLICIES and words[:1] == ["queue"] and len(words) > 2:
            name = f"{' '.join(policy)}, queue {words[1]}"
            in_network = policy[0] in _OF_NETWORK
            queues.setdefault(name, _Queue(name, in_network)).add(statement.line, words[2:])
    return list(queues.values())


def _mbs(
    place: Place, rest: list[str], queue: _Queue, model: str, model_driven: bool
) -> ConfiguredQueue:
    if queue.in_network:
        return place.unknown(trap("percent of the network pool, whose size is not in this text"))
    value = whole(rest[0], 2**40)
    if not value:
        return place.unknown(trap("mbs default depends on the card; 0 or default is no size here"))
    unit = rest[1] if rest[1:] else ""
    if unit.endswith("bytes") and unit not in ("bytes", "kilobytes"):
        return place.unknown(trap(f"mbs takes bytes or kilobytes, not {short(unit, 20)}"))
    unit = unit if unit in ("bytes", "kilobytes") else ""
    in_bytes = unit == "bytes" or (model_driven and not unit)
    size, port = value if in_bytes else value * KILOBYTE, place.port
    if model in _BUFFERS:
        one, cost = _BUFFERS[model], _per_packet(model, port)
        buffers = size // one
        said = trap(
            f"{buffers} buffers of {one} B, and a packet of {port.packet_bytes} B takes "
            f"{cost // one}: bytes that are asked for are not bytes of packets"
        )
        doubt = uncertain("whether a part of a buffer rounds up or down was not verified")
        return place.of_packets(buffers * one // cost, said, doubt, rounding=port.packet_bytes)
    notes = []
    if not unit:
        taken = "bytes (MD-CLI)" if model_driven else "kilobytes (classic CLI); MD-CLI takes bytes"
        notes.append(trap(f"no unit: taken as {taken}"))
    if not in_bytes:
        notes.append(note("1 kilobyte is 1000 B here"))
    if size > _USUAL_BYTES:
        notes.append(uncertain(f"many releases stop at {_USUAL_BYTES} B (131072 kilobytes)"))
    return place.of_bytes(size, *notes)


SROS = Platform(
    name="sros",
    title="Nokia SR OS",
    forms=("bytes", "md-cli"),
    models=("7750", *_BUFFERS),
    interface="1/1/1",
    tells=(r"\bsap-(egress|ingress)\b", r"\bmbs\s+(\d+|default)\b", r"\bnetwork-queue\b"),
    source="Nokia 7705 SAR and 7750 SR quality of service guides: mbs, buffer unit allocation",
    rounds=uncertain(
        "rounding: a 7705 counts whole buffers of 512 or 2304 B (models 7705-512 and "
        "7705-2304); a 7750's own steps are not published"
    ),
    write=_write,
    read=_read,
    unread=matching(
        r"\b(mbs|cbs|high-prio-only|drop-tail|wred-queue|slope-policy|queue-delay|pool)\b",
        statements,
    ),
)
