"""``forebay trace``: one replication traced over time."""

from pathlib import Path
from typing import Any

import click

import forebay
from forebay import report
from forebay.cli import options
from forebay.cli.output import progress, show, write


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


@options.as_command("trace")
def command(
    source: options.Source = options.scenario,
    step: str = options.text("TIME", 'Time between two samples, e.g. "1 ms".', default="10 ms"),
    flows: tuple[int, ...] = options.text(
        "I,J,…", "Flows whose window, round-trip time and state are sampled.  [default: 0]",
        type=FlowNumbers(), default=(0,), show_default=False),
    effort: dict[str, Any] = options.effort("engine seed memory_limit"),
    output: Path | None = options.file(
        ".csv .npz PATH", "Write the samples: .csv, or .npz with all arrays."),
    histograms: Path | None = options.file(
        ".csv PATH",
        "Write the links' histograms: queue by time and by arrival, delay, busy, idle."),
    figure: Path | None = options.figure,
    as_json: bool = options.as_json,
) -> None:  # fmt: skip
    """One replication over time: windows, queue, synchronization.

    SCENARIO is a TOML file such as scenarios/oc3-gsr.toml.
    """
    scenario = source.load()
    source.check_outputs(scenario, output=output, histograms=histograms, figure=figure)
    with progress(effort["engine"]) as update:
        trace = forebay.trace(scenario, step=step, flows=flows, progress=update, **effort)
    show(trace, as_json, report.print_trace, indent=None)
    is_csv = output is not None and output.suffix.lower() == ".csv"
    write("samples", output, trace.to_csv if is_csv else trace.to_npz)
    write("histograms", histograms, trace.histograms_to_csv)
    write("picture", figure, lambda path: report.draw_answer(trace, path))
