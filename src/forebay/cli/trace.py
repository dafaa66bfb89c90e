"""``forebay trace``: one replication traced over time."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

import forebay
from forebay import report
from forebay.cli import options
from forebay.cli.output import answered, print_json, progress, write


class FlowNumbers(click.ParamType[tuple[int, ...]]):
    """Numbers separated by commas."""

    name = "numbers"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        """Read "0,1,7"; empty text means no flow."""
        if isinstance(value, tuple):
            return value
        try:
            return tuple(int(part) for part in str(value).split(",") if part.strip())
        except ValueError:
            self.fail(f"{value!r}: write whole numbers with commas between, 0,1,7", param, ctx)


@click.command("trace")
@options.scenario
@click.option(
    "--step", default="10 ms", show_default=True, metavar="TIME",
    help='Time between two samples, e.g. "1 ms".',
)  # fmt: skip
@click.option(
    "--flows", type=FlowNumbers(), default=(0,), metavar="I,J,…",
    help="Flows whose window, round-trip time and state are sampled.  [default: 0]",
)  # fmt: skip
@options.effort("engine", "seed", "memory_limit")
@click.option(
    "--output", type=options.OutputPath(".csv", ".npz"), metavar="PATH",
    help="Write the samples: .csv, or .npz with all arrays.",
)  # fmt: skip
@click.option(
    "--histograms", type=options.OutputPath(".csv"), metavar="PATH",
    help="Write the links' histograms: queue by time and by arrival, delay, busy, idle.",
)  # fmt: skip
@options.figure
@options.as_json
def command(
    path: str,
    overrides: tuple[str, ...],
    step: str,
    flows: tuple[int, ...],
    effort: dict[str, Any],
    output: Path | None,
    histograms: Path | None,
    figure: Path | None,
    as_json: bool,
) -> None:
    """One replication over time: windows, queue, synchronization.

    SCENARIO is a TOML file such as scenarios/oc3-gsr.toml.
    """
    scenario = forebay.load(path, overrides)
    options.check_outputs(path, scenario, output=output, histograms=histograms, figure=figure)
    with progress(effort["engine"]) as update:
        trace = forebay.trace(scenario, step=step, flows=flows, progress=update, **effort)
    if as_json:
        print_json(trace.to_dict(), indent=None)
    else:
        report.print_trace(trace)
        answered()
    if output is not None:
        as_csv = output.suffix.lower() == ".csv"
        write("samples", output, trace.to_csv if as_csv else trace.to_npz)
    if histograms is not None:
        write("histograms", histograms, trace.histograms_to_csv)
    if figure is not None:
        write("picture", figure, partial(report.draw_answer, trace))
