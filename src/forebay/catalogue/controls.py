"""The congestion controls; docs/reference/congestion-controls.md has their differences.

Those from outside are records too: what is not known of one is None, and no law covers it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from forebay import foreign
from forebay.catalogue.record import Record, by_name


@dataclass(frozen=True, kw_only=True)
class Control(Record):
    """A congestion control.

    Attributes
    ----------
    name : name in a scenario, and in the simulator.
    source : RFC, draft or paper.
    in_core : its type in crates/sim/src/cc, in a Box if it is larger than a few words. The list of
        the simulator is generated from it (`make generated`).
    in_kernel : name on the testbed, at most 15 characters; None if no kernel can have it.
    bpf_program : our program of that control, without ".o"; None if Linux's own is used.
    paced : whether its sender spaces packets by a rate, and so takes a rate sample of each.
    kept_after_loss : share of the window after a loss; None if that is no fixed share.
    sawtooth : the law of its period between losses, "cubic" or "reno"; None if its window follows a
        model of the path and has no sawtooth. A loss-based control without a law has Reno's.
    response : response function, window by loss rate; None if none is known.
    growth : growth function of the laws of Yang et al. 2013; None if they have none.
    single_flow : closed form of one flow's utilization; None if there is none.
    population : law that gives the number of flows of a loss rate; None if there is none.
    answers_marks : "in proportion" to their share; "as a loss"; or "no".
    needs_ecn : whether it sends ECN-capable packets whatever the scenario says.
    packet_cost : row of the table of the cost of a packet, "loss" or "model".
    probe_rtt_s : seconds between two probes of the round trip without a queue; None if it has none.
    does_at_loss : what a capture shows of it; None if a capture cannot tell it from another one.
    """

    source: str
    in_core: str
    in_kernel: str | None
    bpf_program: str | None
    paced: bool
    kept_after_loss: float | None
    sawtooth: Literal["reno", "cubic"] | None
    response: str | None
    growth: str | None
    single_flow: str | None
    population: str | None
    answers_marks: Literal["in proportion", "as a loss", "no"]
    needs_ecn: bool
    packet_cost: Literal["loss", "model"]
    probe_rtt_s: float | None
    does_at_loss: str | None

    @property
    def is_model_based(self) -> bool:
        """Whether it follows a model of the path, so that a loss is no decrease."""
        return self.sawtooth is None


OURS = by_name((
    Control(
        name="reno", source="RFC 5681", paced=False,
        in_core="reno::Reno", in_kernel="reno", bpf_program=None,
        kept_after_loss=0.5, sawtooth="reno", does_at_loss="halves its window",
        response="reno", growth="reno", single_flow="reno", population="reno",
        answers_marks="as a loss", needs_ecn=False, packet_cost="loss", probe_rtt_s=None,
    ),
    Control(
        name="scalable", source="Kelly 2003", paced=False,
        in_core="scalable::Scalable", in_kernel="fb_scalable", bpf_program="scalable",
        kept_after_loss=0.875, sawtooth="reno", does_at_loss=None,
        response="scalable", growth="scalable", single_flow="scalable", population=None,
        answers_marks="as a loss", needs_ecn=False, packet_cost="loss", probe_rtt_s=None,
    ),
    Control(
        name="bic", source="Xu et al. 2004", paced=False,
        in_core="Box<bic::Bic>", in_kernel="fb_bic", bpf_program="bic",
        kept_after_loss=0.8, sawtooth="reno", does_at_loss=None,
        response=None, growth="bic", single_flow=None, population=None,
        answers_marks="as a loss", needs_ecn=False, packet_cost="loss", probe_rtt_s=None,
    ),
    Control(
        name="cubic", source="RFC 9438", paced=False,
        in_core="Box<cubic::Cubic<717, true>>", in_kernel="cubic", bpf_program=None,
        kept_after_loss=0.7, sawtooth="cubic", does_at_loss="reduces its window to 0.7",
        response="cubic", growth="cubic", single_flow="cubic", population="cubic",
        answers_marks="as a loss", needs_ecn=False, packet_cost="loss", probe_rtt_s=None,
    ),
    Control(
        name="cubic-beta-0.8", source="Yang et al. 2013, CUBIC'", paced=False,
        in_core="Box<cubic::Cubic<819, false>>", in_kernel="fb_cubic08",
        bpf_program="cubic_beta_08",
        kept_after_loss=0.8, sawtooth="reno", does_at_loss=None,
        response="cubic-beta-0.8", growth=None, single_flow=None, population=None,
        answers_marks="as a loss", needs_ecn=False, packet_cost="loss", probe_rtt_s=None,
    ),
    Control(
        name="cubic-beta-0.7", source="Yang et al. 2013, CUBIC''", paced=False,
        in_core="Box<cubic::Cubic<717, false>>", in_kernel="fb_cubic07",
        bpf_program="cubic_beta_07",
        kept_after_loss=0.7, sawtooth="reno", does_at_loss=None,
        response="cubic-beta-0.7", growth=None, single_flow=None, population=None,
        answers_marks="as a loss", needs_ecn=False, packet_cost="loss", probe_rtt_s=None,
    ),
    Control(
        name="compound", source="draft-sridharan-tcpm-ctcp-02", paced=False,
        in_core="Box<compound::Compound>", in_kernel="fb_compound", bpf_program="compound",
        kept_after_loss=0.5, sawtooth="reno", does_at_loss=None,
        # A standing queue reduces its delay window to zero.
        response="reno", growth="compound", single_flow="compound", population=None,
        answers_marks="as a loss", needs_ecn=False, packet_cost="loss", probe_rtt_s=None,
    ),
    Control(
        name="dctcp", source="RFC 8257", paced=False,
        in_core="Box<dctcp::Dctcp>", in_kernel="dctcp", bpf_program=None,
        kept_after_loss=0.5, sawtooth="reno", does_at_loss=None,
        # Without marks, RFC 8257, section 3.5.
        response="reno", growth=None, single_flow=None, population=None,
        answers_marks="in proportion", needs_ecn=True, packet_cost="loss", probe_rtt_s=None,
    ),
    Control(
        name="bbr", source="Cardwell et al. 2016", paced=True,
        in_core="Box<bbr::Bbr>", in_kernel="bbr", bpf_program=None,
        kept_after_loss=None, sawtooth=None, does_at_loss="does not respond to a loss",
        response=None, growth=None, single_flow="bbr", population=None,
        answers_marks="no", needs_ecn=False, packet_cost="model", probe_rtt_s=10.0,
    ),
    Control(
        name="bbr3", source="draft-ietf-ccwg-bbr; google/bbr, branch v3, net/ipv4/tcp_bbr.c",
        paced=True,
        in_core="Box<bbr3::Bbr3>", in_kernel=None, bpf_program=None,
        kept_after_loss=None, sawtooth=None, does_at_loss=None,
        response=None, growth=None, single_flow=None, population=None,
        answers_marks="no", needs_ecn=False, packet_cost="model", probe_rtt_s=5.0,
    ),
    Control(
        name="westwood", source="Grieco and Mascolo 2004", paced=False,
        in_core="Box<westwood::Westwood>", in_kernel="westwood", bpf_program=None,
        kept_after_loss=None, sawtooth="reno", does_at_loss=None,
        response=None, growth=None, single_flow=None, population=None,
        answers_marks="as a loss", needs_ecn=False, packet_cost="loss", probe_rtt_s=None,
    ),
    Control(
        name="prague", source="draft-briscoe-iccrg-prague-congestion-control", paced=True,
        in_core="Box<prague::Prague>", in_kernel=None, bpf_program=None,
        kept_after_loss=0.5, sawtooth="reno", does_at_loss=None,
        # As dctcp.
        response="reno", growth=None, single_flow=None, population=None,
        answers_marks="in proportion", needs_ecn=True, packet_cost="loss", probe_rtt_s=None,
    ),
))  # fmt: skip
"""The congestion controls of the simulator, which has the same list, by name."""


class Controls(dict[str, Control]):
    """Records by name. Iterating gives ours; a name of a control from outside is found, too."""

    def __init__(self, ours: Iterable[Control]) -> None:
        super().__init__((our.name, our) for our in ours)

    def __missing__(self, name: str) -> Control:
        control = foreign.find(name)
        if control is None:
            raise KeyError(name)
        return _record(control)

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or (
            isinstance(name, str) and foreign.find(name) is not None
        )


def is_ours(name: str) -> bool:
    """Whether the simulator has a control of that name itself."""
    return name in OURS


def _record(control: foreign.Installed) -> Control:
    marks: Literal["in proportion", "as a loss", "no"]
    if control.ecn or control.l4s:
        marks = "in proportion"
    else:
        marks = "no" if control.controls_cwnd else "as a loss"
    return Control(
        name=control.name, source=control.source, paced=control.paces,
        in_core="", in_kernel=None, bpf_program=None,
        kept_after_loss=None, sawtooth=None if control.controls_cwnd else "reno", does_at_loss=None,
        response=None, growth=None, single_flow=None, population=None,
        answers_marks=marks, needs_ecn=control.ecn or control.l4s,
        packet_cost="model" if control.paces else "loss", probe_rtt_s=None,
    )  # fmt: skip


CONTROLS = Controls(OURS.values())
"""All congestion controls of a scenario, by name."""
