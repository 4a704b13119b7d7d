"""The verdict over paired questions: tests of all questions and of each group, and the bound of the loss."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Literal

from ..case import IDENTICAL, INCONCLUSIVE, restrict_verdict
from ..descriptions import Descriptions
from ..statistics.intervals import ENOUGH_CLUSTERS, describe_restriction
from ..statistics.paired import (
    LossEstimate,
    assumed_loss,
    estimate_loss,
    holm,
    loss_interval,
    mcnemar,
    needed_clusters,
    needed_questions,
    sign_flip,
)
from .aggregate_changes import AggregateChange, aggregate_changes
from .pairing import QuestionPair, mean_score, pass_share

Verdict = Literal["worse", "not worse", "better", "inconclusive", "identical replies"]


LEVEL = 0.025  # one-sided level of the test of all questions, and again of the tests of all groups together
MARGIN = 0.05


@dataclass(frozen=True, slots=True)
class GroupChange:
    """The paired questions of a group or a section, before and after."""

    name: str
    section: str
    n: int  # questions
    rate_before: float | None  # share of questions that pass; None for graded questions
    rate_after: float | None
    mean_before: float  # mean of the main score
    mean_after: float
    p: float | None  # one-sided, towards worse; None for a section, which is not tested
    adjusted_p: float | None  # by Holm, over all groups; None for a section and for the total
    verdict: str  # a Verdict, but never "not worse" or "identical replies"; "" for a section and for the total
    model: str = ""  # "" if there is a single model
    prompt: str = ""  # "" if the group was asked with a single prompt template
    lost: int = 0  # questions that score less than before
    won: int = 0  # questions that score more
    graded: bool = False  # True if scores are tested
    before: float = 0.0  # mean of the tested value: 1 if a question passes, else 0; the score if graded
    after: float = 0.0
    ends: tuple[float, float] | None = None  # 95 % interval of `change`, by cluster; None for fewer than two

    @property
    def title(self) -> str:
        """Return the name of the group, with the prompt template if there are several."""
        return f"{self.name} with {self.prompt}" if self.prompt else self.name

    @property
    def change(self) -> float:
        """Return the tested value after less that before: below 0 is worse."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class Decision:
    """Verdict over paired questions, with its reason, tests and groups."""

    verdict: str  # a Verdict, possibly restricted to these clusters
    reason: str
    needed: int | None
    p: float | None
    p_better: float | None
    loss: LossEstimate
    groups: tuple[GroupChange, ...]
    aggregates: tuple[AggregateChange, ...] = ()


def decide(pairs: Sequence[QuestionPair], margin: float = MARGIN, descriptions: Descriptions | None = None) -> Decision:
    """Return the verdict over paired questions.

    The verdict is about the pairs of `total_pairs`; graded questions beside others enter by their groups.

    Identical replies: each question has the same reply texts in both runs, so there is no chance to test. Worse: the
    test of all pairs, or that of any group or aggregate, adjusted by Holm over all groups or over all aggregates, gives
    at most 0.025. Without a difference that happens in at most 1 of 20 comparisons, in at most 3 of 40 if families have
    aggregates. Better: the test of all pairs gives at most 0.025 the other way. Not worse: the upper bound of the loss
    is below the margin.

    Fewer than ENOUGH_CLUSTERS clusters do not represent others. They represent themselves if chance differs between
    questions: then each question, with all draws of its demonstrations, is a case of its own, and the verdict is
    restricted to these clusters.

    Args:
        pairs: The paired questions.
        margin: Non-inferiority margin, 0 to 1.
        descriptions: The descriptions of the families.
    """
    described = descriptions or Descriptions()
    noun = described.word("cluster", (pair.family for pair in pairs))
    clusters = len({pair.cluster for pair in pairs})
    few_clusters = clusters if clusters < ENOUGH_CLUSTERS else 0
    pairs = separate_few_clusters(pairs)
    groups, counted = _group_changes(pairs, described), total_pairs(pairs)
    aggregates = aggregate_changes(pairs, described, LEVEL)
    by_cluster: dict[str, list[float]] = {}
    for pair in counted:
        by_cluster.setdefault(pair.cluster, []).append(pair.loss)
    loss = estimate_loss(by_cluster)
    p, p_better = (_p_value(counted), _p_value(counted, -1)) if counted else (None, None)
    if pairs and all(pair.identical for pair in pairs):
        identical = f"{describe_count(loss.n)} got the same replies in both runs"
        return Decision(IDENTICAL, identical, None, p, p_better, loss, groups, aggregates)
    tested: tuple[GroupChange | AggregateChange, ...] = (*groups, *aggregates)
    worse = [change for change in tested if change.verdict == "worse"]
    verdict = _verdict(p, p_better, loss, bool(worse), margin)
    number, needed_text = None, ""
    if verdict == INCONCLUSIVE:
        number, needed_text = _describe_needed(loss, margin, "" if few_clusters else noun)
    reason = _reason(verdict, loss, p if verdict != "better" else p_better, worse, margin) + needed_text
    if not few_clusters:
        return Decision(verdict, reason, number, p, p_better, loss, groups, aggregates)
    return Decision(
        restrict_to_clusters(verdict, noun),
        f"{reason}; {describe_restriction(few_clusters, noun)}, tested question by question", number, p, p_better, loss,
        tuple(replace(change, verdict=restrict_to_clusters(change.verdict, noun)) for change in groups),
        tuple(
            replace(change, verdict=change.verdict and restrict_to_clusters(change.verdict, noun))
            for change in aggregates
        ),
    )  # fmt: skip


def separate_few_clusters(pairs: Sequence[QuestionPair]) -> list[QuestionPair]:
    """Return the pairs, each question a cluster of its own if there are fewer than ENOUGH_CLUSTERS clusters."""
    if len({pair.cluster for pair in pairs}) >= ENOUGH_CLUSTERS:
        return list(pairs)
    return [replace(pair, cluster=f"{pair.unit} {pair.model}") for pair in pairs]


def restrict_to_clusters(verdict: str, noun: str) -> str:
    """Return the verdict, restricted to the compared clusters unless it is inconclusive."""
    return verdict if verdict == INCONCLUSIVE else restrict_verdict(verdict, noun)


def describe_count(questions: int) -> str:
    """Return the number of paired questions in words."""
    return f"{questions} paired question{'' if questions == 1 else 's'}"


def total_pairs(pairs: Sequence[QuestionPair]) -> list[QuestionPair]:
    """Return the pairs that a total is about: right or wrong questions, graded ones only if there are no others."""
    return [pair for pair in pairs if not pair.graded] or list(pairs)


def _verdict(p: float | None, p_better: float | None, loss: LossEstimate, worse: bool, margin: float) -> Verdict:
    if p is None or p_better is None:
        return INCONCLUSIVE
    if p <= LEVEL or worse:
        return "worse"
    if p_better <= LEVEL:
        return "better"
    return "not worse" if loss.upper < margin else INCONCLUSIVE


def _reason(
    verdict: Verdict,
    loss: LossEstimate,
    p: float | None,
    worse: Sequence[GroupChange | AggregateChange],
    margin: float,
) -> str:
    if p is None:
        return "no question was asked alike and answered in both runs"
    change_text = f"{0.0 - loss.mean:+.3f} over {describe_count(loss.n)}"
    titles = [change.title if isinstance(change, GroupChange) else change.name for change in worse]
    names = [
        f"{title}{f' of {change.model}' if change.model else ''}" for title, change in zip(titles, worse, strict=True)
    ]
    if verdict in ("worse", "better"):
        overall = [f"p = {p:.2g}" if p >= 0.0001 else "p < 0.0001"] if p <= LEVEL else []
        return ", ".join([change_text, *overall, *([f"worse in {', '.join(names)}"] if names else [])])
    if verdict == "not worse":
        return f"{change_text}; the loss is at most {max(loss.upper, 0.0):.3f}, below the margin of {margin:g}"
    bound = f"it may be up to {loss.upper:.3f}, the margin is {margin:g}"
    return f"{change_text}; a loss is neither shown nor excluded: {bound}"


def _describe_needed(loss: LossEstimate, margin: float, noun: str) -> tuple[int | None, str]:
    """Return about how many questions a decision needs, None if unknown, and the words about it for the reason."""
    if loss.variance is None or margin <= 0:
        return None, ""
    number = needed_questions(loss, margin)
    if number is None:
        return None, "; a decision needs more questions than can be asked"
    on_clusters = f" on {needed_clusters(loss, margin):,} {noun}s" if noun and loss.clusters < loss.n else ""
    assumed = assumed_loss(loss, margin)
    stays = f"the change stays {0.0 - assumed:+.3f}" if assumed else "nothing is lost"
    return number, f"; about {number:,} questions{on_clusters} needed for a decision if {stays}"


def _group_changes(pairs: Sequence[QuestionPair], described: Descriptions) -> tuple[GroupChange, ...]:
    """Return the change of each group, by model and prompt template if there are several, adjusted by Holm each way."""
    groups = group_pairs(pairs, described)
    tests = [(_p_value(same), _p_value(same, -1)) for _, same in groups]
    worse, better = (holm([both[side] for both in tests]) for side in (0, 1))
    return tuple(
        group_change(same, name, same[0].section, tests[at][0], worse[at], better[at])
        for at, ((_, name), same) in enumerate(groups)
    )


def group_pairs(
    pairs: Iterable[QuestionPair], described: Descriptions, by_group: bool = True
) -> list[tuple[tuple[str, str], list[QuestionPair]]]:
    """Return the pairs of each model, prompt template and group or section, under model and name; sections in order.

    Args:
        pairs: The paired questions.
        described: The descriptions of the families.
        by_group: False to group by section.
    """
    by_group_key: dict[tuple[tuple[int, str], tuple[int, str], str, str, str], list[QuestionPair]] = {}
    for pair in pairs:
        family, section = described.family_place(pair.family), described.section_place(pair.family, pair.section)
        name = pair.group if by_group else pair.section
        by_group_key.setdefault((family, section, name, pair.model, pair.prompt), []).append(pair)
    return [((key[3], key[2]), by_group_key[key]) for key in sorted(by_group_key)]


def _p_value(pairs: Sequence[QuestionPair], sign: int = 1) -> float:
    """Return a one-sided p-value, towards worse (`sign` 1) or better (-1).

    McNemar's test is used if each cluster has one question that passes or fails, else the sign flips of the clusters'
    summed losses.
    """
    sums: dict[str, float] = {}
    for pair in pairs:
        sums[pair.cluster] = sums.get(pair.cluster, 0.0) + sign * pair.loss
    if len(sums) == len(pairs) and not any(pair.graded or abs(pair.loss) not in (0, 1) for pair in pairs):
        return mcnemar(sum(each > 0 for each in sums.values()), sum(each < 0 for each in sums.values()))
    return sign_flip(list(sums.values()))


def group_change(
    pairs: Sequence[QuestionPair],
    name: str,
    section: str,
    p: float | None = None,
    worse: float | None = None,
    better: float | None = None,
) -> GroupChange:
    """Return the counts and means of the pairs before and after, and the verdict that the p-values give.

    Args:
        pairs: The paired questions, at least one.
        name: Name of the group or section.
        section: Section of the group.
        p: One-sided p-value towards worse; None if it is not tested.
        worse: Adjusted p-value towards worse.
        better: Adjusted p-value towards better.
    """
    count = len(pairs)
    both = [[pair.before for pair in pairs], [pair.after for pair in pairs]]
    graded = all(pair.graded for pair in pairs)
    rates = [None if graded else fsum(map(pass_share, trials)) / count for trials in both]
    means = [fsum(map(mean_score, trials)) / count for trials in both]
    tested = [fsum(map(QuestionPair.value, pairs, trials)) / count for trials in both]
    verdict = INCONCLUSIVE if p is not None else ""
    if worse is not None and better is not None and min(worse, better) <= LEVEL:
        verdict = "worse" if worse <= LEVEL else "better"
    model = pairs[0].model if len({pair.model for pair in pairs}) == 1 else ""
    prompt = pairs[0].prompt if len({pair.prompt for pair in pairs}) == 1 else ""
    return GroupChange(
        name, section, count, rates[0], rates[1], means[0], means[1], p, worse, verdict, model, prompt,
        sum(pair.loss > 0 for pair in pairs), sum(pair.loss < 0 for pair in pairs), graded, tested[0], tested[1],
        _change_interval(pairs),
    )  # fmt: skip


def _change_interval(pairs: Sequence[QuestionPair]) -> tuple[float, float] | None:
    """Return the 95 % interval of the mean change: t standard errors either way, by cluster."""
    losses = dict[str, list[float]]()
    for pair in pairs:
        losses.setdefault(pair.cluster, []).append(pair.loss)
    interval = loss_interval(estimate_loss(losses))
    return None if interval is None else (0.0 - interval[1], 0.0 - interval[0])
