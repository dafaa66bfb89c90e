"""What the paper calculates: Tables II and III, Figures 1 and 4 to 7, the numbers in its text."""

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np

import forebay
from forebay.report import Line, Panel, Picture
from forebay.reproduction import (
    FORMULA,
    OURS,
    Check,
    Reproduction,
    Row,
    Work,
    artefact,
    bars,
    chart,
)

h = forebay.laws.heterogeneous


def _row(cells: list[Any], reason: str, published: bool, kind: str = FORMULA) -> Row:
    return Row(cells, reason, [Check(kind, not reason, published)])


def against_print(cells: list[Any], wrong: Any, reason: str) -> Row:
    """Return a row whose last cell says whether the print is wrong, with its check."""
    kind, said = (OURS, "wrong") if wrong else (FORMULA, "right")
    check = Check(kind, not reason, published=not wrong)
    return Row([*cells, said], reason, [check], prints_wrong=bool(wrong))


def value(name: str, as_printed: bool = False) -> float:
    """Return a protocol's characteristic value, of Table III as printed or integrated."""
    return float(h.characteristic_value(name, as_printed=as_printed))


W_MAX, RTT = 400.0, 0.1  # an example; the comparison does not depend on it


@artefact()
def table2(work: Work) -> Reproduction:
    """Growth functions, beta and epochs, checked against each other."""
    rows = work.toml("published.toml")["rows"]
    epochs, lines, share = [_epoch(row) for row in rows], [], [i / 100 for i in range(101)]
    for row in rows:
        growth = h.PROTOCOLS[row["protocol"]]
        epoch = float(growth.epoch(W_MAX, RTT))
        windows = [float(growth.window(s * epoch, W_MAX, RTT)) / W_MAX for s in share]
        lines.append(Line(share, windows, row["name"]))
    return work.table(epochs, picture=chart(lines, "t / T", "w(t) / w_max"))


def _epoch(row: dict[str, Any]) -> Row:
    growth, beta = h.PROTOCOLS[row["protocol"]], row["beta"]
    scale = W_MAX ** row["power"] * RTT ** row["rtt_power"]
    printed, ours = row["coefficient"] * scale, float(growth.epoch(W_MAX, RTT))
    start, end = (float(growth.window(t, W_MAX, RTT)) / W_MAX for t in (0.0, ours))
    same = abs(printed - ours) <= row["half"] * scale + 1e-9
    # As printed, CUBIC's 0.4 (t - T)^3 + w_max at t = 0, over w_max.
    as_printed = start if same else 1.0 - 0.4 * printed**3 / W_MAX
    wrong = abs(as_printed - beta) > 0.01
    reason = ""
    if abs(start - beta) > 1e-9:
        reason = "our growth function does not start at β w_max"
    elif not same and not wrong:
        reason = "our epoch is not the printed one, and the print contradicts itself nowhere"
    return against_print([row["name"], beta, end, printed, ours, as_printed], wrong, reason)


@artefact()
def table3(work: Work) -> Reproduction:
    """Mean and standard deviation of a window, by integrating Table II's growth functions."""
    wrong = work.toml("errata.toml")
    rows = work.toml("published.toml")["rows"]
    return work.table(
        [_moments(row, wrong.get(row["protocol"])) for row in rows],
        notes=[f"{name.upper()} is printed wrong: {note['why']}." for name, note in wrong.items()],
    )


def _moments(row: dict[str, Any], wrong: dict[str, Any] | None) -> Row:
    growth = h.PROTOCOLS[row["protocol"]]
    mean, deviation = float(growth.mean()), float(growth.characteristic_value())
    known, of = (wrong, "half") if wrong else (row, "half_deviation")
    right, half = known["deviation"], known[of]
    reason = ""
    if abs(mean - row["mean"]) > row["half_mean"] + 1e-12:
        reason = f"mean {mean:.4f} does not round to {row['mean']}"
    elif abs(deviation - right) > half + 1e-12:
        reason = f"deviation {deviation:.4f} does not round to {right}"
    cells = [row["name"], row["mean"], mean, row["deviation"], deviation, right]
    return against_print(cells, wrong, reason)


SKEWED = "cubic_beta_0_7"
DRAWS, PIECE = 100_000, 10_000
SKEWNESS = -1.0581  # of one such window, as derived in README.md
NOISE = 1.95 / math.sqrt(DRAWS)  # Kolmogorov: exceeded with probability 0.001


@artefact()
def fig1(work: Work) -> Reproduction:
    """The sum of n windows approaches the normal distribution; the draws are always the same."""
    stated = work.toml("published.toml")
    bdp = stated["rate_bps"] * stated["rtt_s"] / 8 / stated["packet_bytes"]

    def total(part: Work, n: int) -> Any:
        w_max, tell = bdp / n / float(h.PROTOCOLS[SKEWED].mean()), part.effort.progress
        pieces = [  # in pieces, to limit memory
            h.sample_sum(SKEWED, n, PIECE, w_max=w_max, rtt=stated["rtt_s"], seed=seed)
            for seed in range(DRAWS // PIECE)
        ]
        if tell is not None:
            tell(1.0)
        return np.concatenate(pieces)

    sums = work.over(stated["flows"], total)
    return work.table(
        [_normal(n, sample) for n, sample in sums.items()],
        picture=Picture([_bell(n, sample) for n, sample in sums.items()], columns=2),
    )


def _normal(n: int, total: Any) -> Row:
    mean, deviation = float(total.mean()), float(total.std())
    standard = np.sort((total - mean) / deviation)
    distance = from_normal(standard)
    expected = abs(SKEWNESS) / (6.0 * math.sqrt(2.0 * math.pi * n))
    spread, law = deviation / mean, value(SKEWED) / math.sqrt(n)
    reason = ""
    if abs(distance - expected) > NOISE:
        reason = f"distance {distance:.4f}, expected {expected:.4f} ±{NOISE:.4f}"
    elif abs(spread / law - 1.0) > 0.01:
        reason = f"deviation over mean {spread:.5f}, eq. 6 {law:.5f}"
    cells = [n, distance, expected, float((standard**3).mean()), spread, law]
    return _row(cells, reason, False, OURS)


def from_normal(standard: Any) -> float:
    """Kolmogorov-Smirnov distance of sorted standardized draws from the normal."""
    normal = h.probability(standard)
    steps = np.arange(len(standard) + 1) / len(standard)
    return float(max(np.max(steps[1:] - normal), np.max(normal - steps[:-1])))


def _bell(n: int, total: Any) -> Panel:
    middles, density = bars(total, 60, "sum of n windows")
    fit = NormalDist(float(total.mean()), float(total.std()))
    normal = Line(middles.tolist(), [fit.pdf(x) for x in middles], "normal")
    return Panel([density, normal], "W, packets", "density", title=f"{n} flows")


MIX = "mix"


@artefact()
def fig4(work: Work) -> Reproduction:
    """The smallest buffer for a full link against the number of flows."""
    stated = work.toml("published.toml")
    bdp = stated["rate_bps"] * stated["rtt_s"] / 8 / stated["packet_bytes"]

    def a(name: str, as_printed: bool = False) -> float:
        flows = stated["mix"] if name == MIX else {name: 1}
        return float(h.mixed(flows, as_printed=as_printed))

    def buffer(name: str, n: Any, as_printed: bool = False) -> Any:
        of = a(name, as_printed)
        return h.for_utilization(bdp, of, n, stated["tau"], as_printed=as_printed)

    rows = []
    for name in (*stated["protocols"], MIX):
        few, many = (buffer(name, n) for n in stated["flows"])
        label, paper = stated["protocols"].get(name, name), buffer(name, stated["flows"][0], True)
        rows.append([label, a(name), few, many, few / many / math.sqrt(5.0), paper])
    rows.sort(key=lambda cells: cells[1])
    judged = [
        _row(cells, _falls(cells, before), False)
        for cells, before in zip(rows, [None, *rows], strict=False)
    ]
    x = np.arange(200, 1001, 10)
    names = {**stated["protocols"], MIX: "mix of section VIII"}
    lines = [
        Line(x.tolist(), buffer(name, x).tolist(), label, "dashes" if name == MIX else "line")
        for name, label in names.items()
    ]
    return work.table(judged, picture=chart(lines, "flows", "buffer, packets"))


def _falls(cells: list[Any], before: list[Any] | None) -> str:
    if abs(cells[4] - 1.0) > 0.05:
        return f"falls by {cells[4] * math.sqrt(5.0):.3f} from 200 to 1000 flows, √5 is 2.236"
    if before is not None and not before[2] < cells[2]:
        return f"no more buffer than {before[0]}, though its a is larger"
    return ""


def _curves(stated: dict[str, Any], x: Sequence[float], of: Callable[[str], Any]) -> list[Line]:
    """Return a line for each protocol; CTCP's curve lies on RENO's."""
    return [
        Line(x, of(name).tolist(), label, "dashes" if name == "ctcp" else "line")
        for name, label in stated["protocols"].items()
    ]


def _twice(
    stated: dict[str, Any],
    ours: Callable[[str, bool], Any],
    printed: dict[str, Any],
    reason: Callable[[str, Any, Any], str],
) -> list[Row]:
    """Return a row for each protocol: printed, ours as printed, and right."""
    rows = []
    for name, label in stated["protocols"].items():
        as_printed, right, print_ = ours(name, True), ours(name, False), printed.get(name)
        why = reason(name, as_printed, right)
        rows.append(_row([label, print_, as_printed, right], why, print_ is not None))
    return rows


@artefact()
def fig5(work: Work) -> Reproduction:
    """Drop rates and numbers of flows for which the drops need no buffer."""
    stated = work.toml("published.toml")
    printed = stated["flows"]

    def flows(name: str, as_printed: bool) -> int:
        return _flows(value(name, as_printed), as_printed, stated["phi"], stated["rho"])

    def reason(name: str, ours: int, right: int) -> str:
        if name in printed and ours != printed[name]:
            return f"{ours} flows, printed {printed[name]}"
        if not printed["bic"] <= ours <= printed["reno"]:
            return f"{ours} flows: not between BIC and RENO"
        expected = stated["right"][name]
        return "" if right == expected else f"right {right}, not {expected}"

    n = np.arange(10, 2001, 10)
    lines = _curves(
        stated, n.tolist(), lambda p: 100.0 * h.drop_rate_of_any_buffer(value(p), n, stated["rho"])
    )
    lines.append(Line(list(printed.values()), [100 * stated["phi"]] * 2, "printed", "dots"))
    return work.table(
        _twice(stated, flows, printed, reason),
        picture=chart(lines, "flows", "drop rate φ, % (holds above a curve)"),
    )


def _flows(a: float, as_printed: bool, phi: float = 0.01, rho: float = 0.99) -> int:
    return math.ceil(float(h.flows_for_drops(a, phi, rho, as_printed=as_printed)))


@artefact()
def fig6(work: Work) -> Reproduction:
    """The increase of the buffer by a bound on the drop rate."""
    stated = work.toml("published.toml")
    printed, half = stated["increase_percent"], stated["half"]

    def increase(name: str, phi: Any, as_printed: bool = False) -> Any:
        level, a = stated["rho"], value(name, as_printed)
        return 100.0 * h.increase_for_drops(
            a, stated["flows"], level, phi, level, as_printed=as_printed
        )

    def reason(name: str, ours: float, right: float) -> str:
        if name in printed and abs(ours - printed[name]) > half:
            return f"{ours:.1f} % more, printed {printed[name]}"
        if not printed["bic"] - half <= ours <= printed["reno"] + half:
            return f"{ours:.1f} % more: not between BIC and RENO"
        expected = stated["right"][name]
        return "" if abs(right - expected) <= 0.05 + 1e-9 else f"right {right:.2f}, not {expected}"

    phi = np.linspace(0.001, 0.01, 91)
    lines = _curves(stated, (100 * phi).tolist(), lambda p: increase(p, phi))
    lines.append(Line([100 * stated["phi"]] * 2, list(printed.values()), "printed", "dots"))
    return work.table(
        _twice(stated, lambda p, how: float(increase(p, stated["phi"], how)), printed, reason),
        picture=chart(lines, "bound on the drop rate φ, %", "more buffer, %"),
    )


@artefact()
def fig7(work: Work) -> Reproduction:
    """The z-score that remains if a delay bound limits the buffer."""
    stated = work.toml("published.toml")
    n, tau = stated["flows"], stated["tau"]

    def z(name: str, gamma: Any) -> Any:
        return h.z_kept(gamma, value(name), n, tau)

    def lost(name: str, as_printed: bool) -> float:
        a, gamma = value(name, as_printed), _lowest(name, n, tau, as_printed)
        return float(tau - h.probability_kept(gamma, a, n, tau, as_printed=as_printed))

    rows, lines = [], []
    for name, label in stated["protocols"].items():
        lowest = _lowest(name, n, tau)
        axis = np.linspace(lowest, 1.0, 51)
        lines.append(Line(axis.tolist(), z(name, axis).tolist(), label))
        ends = [round(float(z(name, gamma)), 9) + 0.0 for gamma in (lowest, 1.0)]
        cells = [label, lowest, *ends, lost(name, True), lost(name, False)]
        rows.append(_row(cells, _kept(cells, stated), True))
    return work.table(rows, picture=chart(lines, "γ, share of BDP + B", "z-score left"))


def _lowest(name: str, n: int, tau: float, as_printed: bool = False) -> float:
    """γ without a buffer: BDP / (BDP + B_l)."""
    needed = h.for_utilization(1.0, value(name, as_printed), n, tau, as_printed=as_printed)
    return float(h.share_kept(0.0, needed, 1.0))


def _kept(row: list[Any], stated: dict[str, Any]) -> str:
    _, _, bare, whole, ours, right = row
    if abs(bare - stated["z_at_no_delay"]) > stated["z_half"]:
        return f"z = {bare:.3f} without a buffer"
    if abs(whole - float(h.z_score(stated["tau"]))) > 1e-6:
        return f"z = {whole:.3f} with the whole buffer"
    for lost, expected in ((ours, "reduction_at_no_delay"), (right, "right_reduction")):
        if abs(lost - stated[expected]) > stated["half"]:
            return f"τ falls by {lost:.3f}, not {stated[expected]}"
    return ""


N, TAU, RHO = 200, 0.99, 0.99
PHIS = np.linspace(0.001, 0.01, 91)
STEPS = np.linspace(0.0, 1.0, 101)


@artefact()
def curves(work: Work) -> Reproduction:
    """Figures 6 and 7 between and beyond their printed points."""
    printed, right = ({p: _increase(p, how) for p in h.PAPER_D} for how in (True, False))
    left = []
    for name in h.PAPER_D:
        lowest = _lowest(name, N, TAU)
        gammas = lowest + STEPS * (1.0 - lowest)  # from no buffer to the full one
        left.append(np.array([float(h.z_kept(g, value(name), N, TAU)) for g in gammas]))
    return work.judge(
        {
            "falls": max(float(np.diff(curve).max()) for curve in printed.values()),
            "free": float(PHIS[np.argmax(printed["bic"] <= 0)]),
            "between": _outside(printed),
            "between-right": _outside(right),
            "rises": min(float(np.diff(curve).min()) for curve in left),
            "never-below": min(float(curve.min()) for curve in left),
        }
    )


def _increase(name: str, as_printed: bool) -> np.ndarray:
    """Increase of the buffer in percent, by φ."""
    a = value(name, as_printed)
    increases = [h.increase_for_drops(a, N, TAU, phi, RHO, as_printed=as_printed) for phi in PHIS]
    return 100.0 * np.array([float(increase) for increase in increases])


def _outside(curves: dict[str, np.ndarray]) -> float:
    """Largest distance of any curve from the range between BIC's and RENO's, in points."""
    below = max(float((curves["bic"] - curve).max()) for curve in curves.values())
    above = max(float((curve - curves["reno"]).max()) for curve in curves.values())
    return max(below, above, 0.0)


UNITS = {"flows": "flows", "increase %": "more buffer, %", "τ lost at no delay": "share of τ lost"}


@artefact()
def text(work: Work) -> Reproduction:
    """The numbers in the paper's text, each twice: as printed and corrected."""
    stated = work.toml("published.toml")
    return work.table(
        [_number(entry, stated["mix"]) for entry in stated["number"]],
        unjudged=[_bdp(entry) for entry in stated["bdp"]],
    )


def _number(entry: dict[str, Any], mix: dict[str, int]) -> Row:
    ours, right = _calculate(entry["name"], mix)
    reason = ""
    if abs(ours - entry["printed"]) > entry["half"] + 1e-9:
        reason = f"as printed {ours:.6g}, not {entry['printed']}"
    elif abs(right - entry["right"]) > entry["half_right"] + 1e-9:
        reason = f"right {right:.6g}, not {entry['right']}"
    cells = [f"{entry['name']} ({entry['where']})", entry["printed"], ours, right]
    check, unit = Check(FORMULA, not reason, published=True), entry["name"].partition(", ")[0]
    return Row(cells, reason, [check], unit=UNITS[unit])


def _calculate(name: str, mix: dict[str, int]) -> tuple[float, float]:
    """Return one of the numbers as printed and corrected."""
    what, _, of = name.partition(", ")
    if what == "flows":
        protocol, _, rest = of.lower().partition(", ")
        printed = value(protocol, True)
        return _flows(printed, True), _flows(printed if rest else value(protocol), False)

    def calculated(how: bool) -> float:
        if what != "increase %":
            return float(h.reduction_at_zero_delay(TAU, as_printed=how))
        if of == MIX:
            a, n, phi = float(h.mixed(mix, as_printed=how)), sum(mix.values()), 0.01
        else:
            a, n, phi = value(of.lower(), how), N, 0.0035
        return 100.0 * float(h.increase_for_drops(a, n, TAU, phi, RHO, as_printed=how))

    return calculated(True), calculated(False)


def _bdp(entry: dict[str, Any]) -> str:
    ours = 622e6 * entry["rtt_ms"] * 1e-3 / 8 / 1e6
    return (
        f"BDP at {entry['rtt_ms']} ms (Table IV): {ours:.2f} MB, printed {entry['printed']:g}; "
        "rate × RTT has no other reading, and nothing of ours stands behind it"
    )
