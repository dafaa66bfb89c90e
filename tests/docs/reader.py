"""What a reader brings to the pages: files, names for placeholders, programs of others."""

import shutil
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

import tomli_w

from .blocks import Block

HERE = Path(__file__).parent / "reader"
ROOT = Path(__file__).parents[2]

WORDS = {
    "congestion_control=<name>": "congestion_control=scalable",
    "discipline=<name>": "discipline=codel",
    "SCENARIO": "net.toml",
    "HERE": "127.0.0.1",
    "forebay serve": "exec forebay serve",
    "192.0.2.7": "127.0.0.1",
    "FOREBAY_TOKEN=...": "FOREBAY_TOKEN=a-secret-of-the-reader",
    "--seconds 600": "--seconds 2",
    "192.0.2.1 ": "127.0.0.1:16161 ",
    "--seconds 3600 --every 30": "--seconds 3 --every 0.5",
}
"""Placeholders of the pages, what a reader writes for them, and waits that a test cuts short."""

ROUTER = "rm -f router.up; router > router.up & until test -s router.up; do sleep 0.1; done"
"""Start the reader's router, and wait until it runs."""

BEFORE = {
    ("docs/how-to/configure-a-router.md", "forebay platforms lint router.cfg --scenario"): (
        "forebay platforms emit --answer answer.json --platform junos > router.cfg"
    ),
    ("docs/how-to/incast.md", "forebay platforms lint leaf.cfg"): (
        "forebay platforms emit --answer answer.json --platform sonic > leaf.cfg"
    ),
    ("docs/how-to/measure.md", 'forebay measure link.pcap --rate "155 Mbit/s" --scenario'): (
        "forebay run link.toml --capture own.pcapng; mv own.pcapng link.pcap"
    ),
    ("docs/how-to/measure.md", "forebay measure --snmp"): ROUTER,
    ("docs/how-to/measure.md", "forebay measure --listen"): ROUTER,
}
"""What the reader's own network does before a block, by its page and its first words."""


def settle(folder: Path) -> None:
    """Put into a folder what the reader has, and where the repository's own files are."""
    shutil.copytree(HERE, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("bin"))
    (folder / "day.csv").write_text(_counters(lambda hour: 0.97 if hour == 20 else 0.4))
    (folder / "link.csv").write_text(_counters(lambda hour: 0.99))
    _studies(folder / "docs" / "sizes")
    for name, place in {".venv": ".venv", "scenarios": "scenarios", "forebay": ".venv"}.items():
        (folder / name).symlink_to(ROOT / place)  # ~/forebay is at the other end of ssh


def _counters(load: Callable[[int], float]) -> str:
    """Return a day's polls of 155 Mbit/s; where they are full, one packet in 300 is lost."""
    rows, octets, drops = ["time_s,octets,drops", "0,0,0"], 0.0, 0.0
    for minute in range(5, 24 * 60 + 1, 5):
        share = load((minute - 1) // 60)
        octets += share * 155e6 / 8 * 300
        drops += share * 155e6 / 12_000 if share > 0.9 else 0
        rows.append(f"{60 * minute},{octets:.0f},{drops:.0f}")
    return "\n".join(rows) + "\n"


def _studies(folder: Path) -> None:
    """Copy the studies of docs/sizes, each with the first of its twelve cells alone."""
    folder.mkdir(parents=True)
    for study in (ROOT / "docs" / "sizes").glob("*.toml"):
        table = tomllib.loads(study.read_text("utf-8"))
        for path, values in table.get("axes", {}).items():
            table["axes"][path] = values[:1]
        (folder / study.name).write_text(tomli_w.dumps(table))


def begun(block: Block, words: Mapping[tuple[str, str], str]) -> str | None:
    """Return what a table has for a block, by its page and its first words."""
    for (page, begin), word in words.items():
        if block.page == page and block.text.startswith(begin):
            return word
    return None


def filled(text: str) -> str:
    """Return a block with the reader's words in place of placeholders."""
    for placeholder, word in WORDS.items():
        text = text.replace(placeholder, word)
    return text
