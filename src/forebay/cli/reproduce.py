"""``forebay reproduce``: the papers' tables and figures against the published values."""

from functools import partial
from pathlib import Path
from typing import Any

import click

import forebay
from forebay import reproduction
from forebay.cli import options
from forebay.cli.output import answered, in_line, progress, say, show, to_be_continued, write
from forebay.errors import ForebayError
from forebay.reproduction import Cache, CachedResult, Effort, Entry, Reproduction

_CANNOT = 3


def _measure(entry: Entry, seeds: int | None, again: bool) -> int:
    """Run what is not recorded yet, by default as often as it declares; return the exit status."""
    artefact = entry.load()
    if not isinstance(artefact, reproduction.MeasuredArtefact):
        raise click.UsageError(f"{entry.name} has no testbed part; leave out --testbed")
    where = f" in {entry.folder}" if entry.folder else ""
    record = artefact.measure if seeds is None else partial(artefact.measure, seeds=seeds)
    try:
        with progress(f"{entry.name}, testbed") as update:
            failed = record(progress=update, again=again)
    except KeyboardInterrupt:
        raise to_be_continued(f"finished runs are recorded{where}") from None
    for line in failed:
        say(f"not recorded: {line}")
    say(f"recorded{where}; `forebay reproduce {entry.name}` shows it")
    return _CANNOT if failed else 0


def _reproduce(
    entry: Entry, label: str, cache: Cache | None, effort: Effort, *, quick: bool
) -> CachedResult:
    """Return the artefact's cached result; without one, reproduce it and cache it at once."""
    # The key is that of the files before the run.
    key = None if cache is None else reproduction.digest(entry, effort.seeds, quick)
    cached = None if cache is None or key is None else cache.get(entry, key)
    if cached is not None:
        say(f"{label}: from the cache, {cached.wall_s:.1f} s when it was computed")
        return cached
    with progress(label) as update:
        result = reproduction.make(entry, effort.telling(update), quick=quick)
    if cache is not None:
        if key is not None:
            cache.put(entry, key, result)
        say(f"{label}: {result.wall_s:.1f} s")
    return result


@options.as_command("reproduce")
def command(
    name: str | None = options.argument("[ARTEFACT]"),
    only_list: bool = options.flag("List the artefacts and exit.", "--list"),
    every: bool = options.flag("Every artefact, one after another.", "--all"),
    quick: bool = options.flag("Fewer seeds and shorter windows, for the same claims."),
    testbed: bool = options.flag(
        "Run ARTEFACT on this machine's own TCP and record the runs (root; real time)."),
    again: bool = options.flag("With --testbed: repeat recorded runs too."),
    effort: dict[str, Any] = options.effort(
        "seeds jobs store",
        seeds=options.number(
            "K", 1, 100_000, f"Replications, with seeds 1, 2, …  [default: {reproduction.SEEDS}; "
            f"{reproduction.QUICK_SEEDS} with --quick, with --testbed what the artefact declares, "
            "usually 3]"),
        store=options.store(
            "Save the results in this store, and reuse those saved before.  [default: with several "
            "artefacts forebay/store.sqlite in the user's cache]")),
    figure: Path | None = options.figure,
    report: Path | None = options.file(".html .htm", "Write everything into one .html page."),
    as_json: bool = options.as_json,
) -> int:  # fmt: skip
    """The papers' tables and figures, compared with the published values.

    ARTEFACT is paper and place, such as appenzeller-2004/fig15 or, short, A.fig15. A paper, such
    as A, means all of its artefacts. Without it, or with --all, all artefacts are reproduced. If a
    row is out of its band, the exit status is 1. An interrupted run of several artefacts continues
    where it stopped. If one of several cannot be reproduced, the others still are, and the exit
    status is that of its error.

    With --testbed the runs are only recorded, in the artefact's folder; without it they are shown
    as recorded.
    """
    if name is not None and not name.strip():
        raise click.UsageError("ARTEFACT is empty; write one, such as A.fig15, or --all")
    if every and name:
        raise click.UsageError(f"--all runs every artefact; leave out {name} or --all")
    chosen = reproduction.choose(name) if name else reproduction.entries()
    if only_list:
        _list(chosen, as_json)
        return 0
    several = name is None or chosen[0].name != reproduction.full_name(name)
    if again and not testbed:
        raise click.UsageError("--again repeats recorded runs; it needs --testbed")
    if testbed:
        if several:
            raise click.UsageError("--testbed runs one artefact; name it, e.g. A.fig15")
        return _measure(chosen[0], effort["seeds"], again)
    if figure is not None and several:
        raise click.UsageError("--figure draws one artefact; name it, e.g. A.fig15")
    cache = _cache(effort["store"], several)
    times = reproduction.replications(effort["seeds"], quick)
    own = Effort(seeds=times, jobs=effort["jobs"])
    results: list[CachedResult] = []
    failed: dict[str, ForebayError] = {}
    for place, entry in enumerate(chosen, start=1):
        label = f"{place}/{len(chosen)} {entry.name}" if several else entry.name
        try:
            result = _reproduce(entry, label, cache, own, quick=quick)
        except KeyboardInterrupt:
            if cache is None or not cache.has_any:
                raise
            raise to_be_continued(f"finished artefacts are kept in {cache.path}") from None
        except ForebayError as error:
            if not several:
                raise
            failed[entry.name] = error
            say(f"{label}: not reproduced: {in_line(error)}")
            continue
        results.append(result)
        if not as_json:
            reproduction.print_reproduction(result.made)
            answered()
    answers = [result.made for result in results]
    if as_json or several:
        document = answers[0].to_dict() if not several else _document(answers, failed)
        show(document, as_json, lambda _: _sum_up(answers, failed))
    if figure is not None or report is not None:
        from forebay.reproduction import page

        write("picture", figure, lambda path: page.draw_reproduction(answers[0], path))
        version = forebay.__version__
        write("report", report, lambda path: page.write_page(results, path, version=version))
    agrees = all(answer.agrees for answer in answers)
    return max((error.exit_status for error in failed.values()), default=0 if agrees else 1)


def _cache(store: Path | None, several: bool) -> Cache | None:
    """Open the store of results; it is closed when the command ends, also by a signal."""
    if store is None and not several:
        return None
    opened = Cache(reproduction.default_store() if store is None else store)
    return click.get_current_context().with_resource(opened)


def _document(answers: list[Reproduction], failed: dict[str, ForebayError]) -> dict[str, Any]:
    return {
        "schema": 1,
        "artefacts": [answer.to_dict() for answer in answers],
        "counts": [count.to_dict() for count in reproduction.count(answers)],
        "out_of_band_by_cause": reproduction.by_cause(answers),
        "not_reproduced": {name: in_line(error) for name, error in failed.items()},
    }


def _sum_up(answers: list[Reproduction], failed: dict[str, ForebayError]) -> None:
    """List, after all the tables, the rows that are out of their band."""
    rows = [verdict for answer in answers for verdict in answer.verdicts]
    click.echo(f"\n{len(answers)} artefacts: {sum(rows)} of {len(rows)} rows are in their band.")
    counts = reproduction.in_words(reproduction.count(answers))
    for line in [*counts, *reproduction.causes_in_words(answers)]:
        click.echo(f"  {line}")
    unjudged = sum(len(answer.unjudged) for answer in answers)
    if unjudged:
        click.echo(f"  Shown without a verdict, because they cannot fail: {unjudged}.")
    for answer in answers:
        for row, verdict, reason in zip(answer.rows, answer.verdicts, answer.reasons, strict=True):
            if not verdict:
                click.echo(f"OUT {answer.artefact} {reproduction.row_name(answer, row)}: {reason}")
    for name, error in failed.items():
        click.echo(f"NOT REPRODUCED {name}: {in_line(error)}")


def _list(listed: list[Entry], as_json: bool) -> None:
    names = [entry.name for entry in listed]
    short = {entry.alias: entry.name for entry in listed if entry.alias is not None}
    width = max(map(len, names))
    lines = (f"{entry.name:{width}}  {entry.alias or ''}".rstrip() for entry in listed)
    document = {"schema": 1, "artefacts": names, "aliases": short}
    show(document, as_json, lambda _: click.echo("\n".join(lines)))
