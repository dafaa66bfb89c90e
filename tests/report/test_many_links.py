"""A report of very many links shows those that lose most, and says so."""

from forebay.outcome import Metric, Outcome
from forebay.report import print_outcome
from forebay.report.outcome import _MOST


def _with_links(outcome: Outcome, many: int) -> Outcome:
    (link,) = outcome.links.values()
    losses = [Metric(value=i / (10 * many), low=None, high=None, n=1) for i in range(many)]
    links = {f"l{i}": link.model_copy(update={"loss_rate": loss}) for i, loss in enumerate(losses)}
    return outcome.model_copy(update={"links": links})


def test_all_links_are_shown_unless_they_are_very_many(outcome, capsys):
    print_outcome(_with_links(outcome(129), _MOST))
    assert capsys.readouterr().out.count("Link l") == _MOST
    print_outcome(_with_links(outcome(129), 400))
    text = capsys.readouterr().out
    assert f"The {_MOST} of 400 links that lose most; --json has each" in text
    assert text.count("Link l") == _MOST
    assert text.index("Link l399") < text.index("Link l398")
    assert "Link l5:" not in text
