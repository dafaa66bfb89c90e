"""The verb `size`."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike

from forebay import laws
from forebay.api import arguments
from forebay.api.run import run
from forebay.catalogue.metrics import BOTTLENECK
from forebay.effort import DEFAULT, Effort
from forebay.engines.base import Decorator, Engine
from forebay.outcome import Cheaper, Outcome, SizeResult
from forebay.outcome.size_result import expect_answer
from forebay.progress import Progress
from forebay.scenario import Scenario, ScenarioError, expect_scenario
from forebay.search.budget import OutOfTime, TimeLimit
from forebay.search.cost import Speed, TooLittleTime
from forebay.search.goals import goals_of
from forebay.search.level import Options
from forebay.search.parameter import parameter_of
from forebay.search.problem import LawContext, Problem, problem_of_links
from forebay.search.recommended import parse_sizes
from forebay.search.run_within import routed
from forebay.search.search import search
from forebay.words import Fact, argument

_OF_NETWORKS = ("network", "simulation")


def size(
    scenario: Scenario,
    engine: str = "simulation",
    *,
    seeds: int = 5,
    seed: int = 1,
    max_seeds: int | None = None,
    jobs: int = 0,
    memory_limit: str | None = None,
    progress: Progress | None = None,
    budget: str | None = None,
    store: str | PathLike[str] | None = None,
    expect: Callable[[float], None] | None = None,
    observe: Callable[[Outcome], None] | None = None,
    link: str | None = None,
    link_class: str | None = None,
    sizes: str | None = None,
    of: str | None = None,
) -> SizeResult:
    """Find the smallest buffer that meets the scenario's goals.

    Parameters
    ----------
    seeds : replications of every buffer tried, on common random numbers.
    max_seeds : maximum number of replications of a buffer whose intervals do not decide a goal; by
        default four times ``seeds``, of a simulation sixteen times, as far as its budget goes. The
        other parameters are those of `run`.
    budget : wall time of a simulation, such as ``"2 min"``; ``"60 s"`` by default. If the whole
        search takes longer, the answer comes from fewer and longer runs near the crossing, or is
        extrapolated from smaller links of the same kind (docs/explanation/scaled-links.md). See
        ``cost`` and ``scaled`` of the result.
    store : an SQLite file that keeps every replication, by scenario, seed and code. A sizing that
        was stopped continues from it, and several processes may share it.
    expect : called once, before the first simulation, with the expected seconds.
    observe : called with the Outcome of every buffer that is run, as it ends; also of smaller links
        that stand for a large one. Not for links of a network.
    link, link_class : for a scenario with a topology: the name of the link to size, as in an
        Outcome (``"Denver->Seattle"``), or a class of links, whose buffers all get the same size;
        goals then apply to every link of the class. The simulator runs the whole network for each
        buffer: no smaller network replaces it.
    sizes : the only sizes that can be configured, such as ``"64,128,256 packets"``: the recommended
        one is then one of them.
    of : the field of what is sized in place of the queue: ``"link.policer.burst"`` or
        ``"link.shaper.burst"``.

    Returns
    -------
    SizeResult
        The buffer in packets, bytes and seconds at line rate; the values reached; all sizes that
        meet the goals, and the binding goal at each end, or how far each goal must be relaxed; the
        law that governs and why; the size by each law; every Outcome of the search. If the number
        of flows is a range, the buffer meets the goals at both ends.

    Raises
    ------
    UnknownEngine, EngineUnavailable
        See `forebay.engines`.
    ScenarioError
        `scenario` is not a Scenario; seeds or jobs out of range; an invalid budget, or a budget of
        an engine without one.

    >>> forebay.size(forebay.load("oc3-gsr"), "theory").buffer.packets
    128
    """
    started_at = time.monotonic()
    expect_scenario(scenario)
    chosen = arguments.get_engine(engine, memory_limit)
    allowed = arguments.budget_seconds(engine, budget)
    counted = arguments.seed_range(seed, seeds)
    most = (16 if engine == "simulation" else 4) * seeds
    if max_seeds is not None:
        most = len(arguments.seed_range(seed, max_seeds, "max_seeds", seeds))
    effort = Effort(jobs=arguments.threads(jobs), progress=progress)
    options = Options(
        counted, most, effort, expect=expect, started_at=started_at,
        budget_s=allowed if engine == "simulation" else None,
    )  # fmt: skip
    if link is not None or link_class is not None or scenario.topology is not None:
        if scenario.topology is None:
            field = argument("link_class" if link is None else "link")
            raise ScenarioError("contradiction.link-without-network", field=field)
        _check_of_links(engine, link, link_class, store=store, sizes=sizes, observe=observe)
        return _size_links(chosen, scenario, link, link_class, options)
    only: tuple[int, ...] = ()
    if sizes is not None:
        if not parameter_of(scenario, engine, scenario.buffer_packets).is_limit:
            discipline, field = scenario.queue.discipline, argument("sizes")
            raise ScenarioError("contradiction.sizes", field=field, discipline=discipline)
        only = parse_sizes(sizes, scenario)
    with arguments.storing(chosen, store) as chosen:
        watched = chosen if observe is None else _Observed(chosen, scenario, observe)
        return size_link(watched, scenario, options, of or "", only)


def size_link(
    engine: Engine, scenario: Scenario, options: Options, of: str = "", sizes: tuple[int, ...] = ()
) -> SizeResult:
    """Size a link."""
    known = laws.for_scenario(scenario), laws.regime_of(scenario)
    context = LawContext(*known, laws.assumptions.sawtooths_s)
    buffers = engine.capabilities.buffers
    least, most = (1, None) if buffers is None else buffers(scenario)
    goals = goals_of(scenario)
    problem = Problem(
        scenario, engine.name, goals, context, of=of, sizes=sizes, smallest=least, largest=most
    )
    return search(problem, engine, options)


def _size_links(
    engine: Engine, scenario: Scenario, link: str | None, link_class: str | None, options: Options
) -> SizeResult:
    """Size links of a network together. Raises TooLittleTime if not even routes are found in it."""
    if options.budget_s is not None:
        limit, effort = TimeLimit.begin(options.budget_s, options.clock), options.effort
        try:
            routed(engine, scenario, Speed(effort.threads), limit, effort.progress)
        except OutOfTime:
            why = Fact("too-little-time.no-routes")
            raise TooLittleTime(why, limit.seconds, limit.seconds, of_network=True) from None
    size_links = engine.capabilities.size_links
    assert size_links is not None, "every engine of _OF_NETWORKS has it"
    sized = size_links(scenario, link=link, link_class=link_class)
    if engine.name == "network":  # a steady state is the same for every seed
        options = options.with_seeds(options.seeds[:1])
    return search(problem_of_links(sized, of_class=link_class is not None), sized, options)


def _check_of_links(
    engine: str, link: str | None, link_class: str | None, **of_one_link: object
) -> None:
    """Refuse arguments that do not fit links of a network: an engine, a store, no single link."""
    if engine not in _OF_NETWORKS:
        raise ScenarioError("contradiction.engine-of-links", field=argument("engine"), value=engine)
    if (link is None) == (link_class is None):
        raise ScenarioError("contradiction.one-at-a-time", field=argument("link"))
    for name, given in of_one_link.items():
        if given is not None:
            raise ScenarioError("contradiction.of-a-link-alone", field=argument(name))


class _Observed(Decorator):
    """Tells ``observe`` of every run but that of other hosts, which is none of the search."""

    def __init__(
        self, engine: Engine, scenario: Scenario, observe: Callable[[Outcome], None]
    ) -> None:
        super().__init__(engine)
        self._hosts = [getattr(group, "offload", None) for group in scenario.traffic]
        self._observe = observe

    def run(self, scenario: Scenario, seeds: Sequence[int], effort: Effort = DEFAULT) -> Outcome:
        """Run the wrapped engine, and tell what it found."""
        outcome = self.engine.run(scenario, seeds, effort)
        if [getattr(group, "offload", None) for group in outcome.asked.traffic] == self._hosts:
            self._observe(outcome)
        return outcome


SHARES = (1.0, 0.5, 0.25, 0.125)


def with_cheaper(
    scenario: Scenario,
    result: SizeResult,
    *,
    seeds: int = 5,
    seed: int = 1,
    jobs: int = 0,
    progress: Progress | None = None,
) -> SizeResult:
    """Return a sizing with the link at 1, 1/2, 1/4 and 1/8 of its size, on the same seeds.

    The size is the recommended one, or else the least. Each is run, so a link that was too large
    for its budget is refused.

    Raises
    ------
    ScenarioError
        The answer is of smaller links, of a network or of an AQM; of another scenario; or there is
        none.

    >>> link = forebay.load("oc3-gsr")
    >>> cheaper = forebay.with_cheaper(link, forebay.size(link, "theory")).cheaper
    >>> [each.packets for each in cheaper]
    [128, 64, 32, 16]
    """
    expect_scenario(scenario)
    expect_answer(result)
    chosen = result.recommended or result.buffer
    why = None if chosen is not None else Fact("shares.no-answer")
    if result.scaled is not None:
        why = Fact("shares.scaled")
    elif result.aqm is not None:
        why = Fact("shares.aqm", discipline=result.aqm.discipline)
    elif scenario.topology is not None or scenario.flows_uncertain:
        why = Fact("shares.one-link")
    elif result.asked and Scenario.from_dict(result.asked) != scenario:
        why = Fact("shares.other-link")
    if chosen is None or why is not None:
        raise ScenarioError("contradiction.shares", why=why)
    sizes = {share: max(1, round(share * chosen.packets)) for share in SHARES}
    outcomes: dict[int, Outcome] = {}
    tried = list(dict.fromkeys(sizes.values()))
    for place, packets in enumerate(tried):
        smaller = scenario.with_buffer(packets)
        outcomes[packets] = run(smaller, result.engine, seeds=seeds, seed=seed, jobs=jobs)
        if progress is not None:
            progress((place + 1) / len(tried))
    rows = (_row(share, packets, outcomes[packets]) for share, packets in sizes.items())
    return result.model_copy(update={"cheaper": tuple(rows)})


def _row(share: float, packets: int, outcome: Outcome) -> Cheaper:
    link = outcome.links[BOTTLENECK]
    delay = link.queue_delay_s
    return Cheaper(
        share=share, packets=packets, utilization=link.utilization, loss_rate=link.loss_rate,
        queue_delay_mean_s=None if delay is None else delay.mean,
        queue_delay_p99_s=None if delay is None else delay.p99,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Again:
    """Buffers that were run once more, and those whose metrics were not the same."""

    packets: tuple[int, ...]
    different: tuple[int, ...]


def again(
    answer: SizeResult, *, jobs: int = 0, told: Callable[[float], None] | None = None
) -> Again:
    """Run every buffer of a sizing once more, on its seeds, and compare all metrics.

    Raises
    ------
    ScenarioError
        The answer is extrapolated, of a network's links, or has no runs.

    >>> forebay.again(forebay.size(forebay.load("oc3-gsr"), "theory")).different
    ()
    """
    expect_answer(answer)
    why = None
    if answer.scaled is not None:
        why = Fact("again.scaled")
    elif not answer.curve:
        why = Fact("again.no-runs")
    elif answer.curve[0].outcome.scenario.get("topology"):
        why = Fact("again.of-a-network")
    if why is not None:
        raise ScenarioError("again", why=why)
    different = []
    for place, point in enumerate(answer.curve):
        before = point.outcome
        engine, scenario = arguments.get_engine(before.engine, None), arguments.scenario_of(before)
        effort = Effort(jobs=arguments.threads(jobs))
        after = engine.run(scenario, before.provenance.seeds, effort).to_dict()
        if any(after[part] != before.to_dict()[part] for part in ("links", "classes")):
            different.append(point.packets)
        if told is not None:
            told((place + 1) / len(answer.curve))
    return Again(tuple(point.packets for point in answer.curve), tuple(different))
