"""The verdict over paired questions: all of them tested, and each group; the loss that may still be there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Literal

from ..case import IDENTICAL, INCONCLUSIVE, restrict_verdict
from ..descriptions import Descriptions
from ..statistics.intervals import ENOUGH_CLUSTERS, describe_restriction
from ..statistics.paired import LossEstimate, estimate_loss, holm, mcnemar, needed_clusters, needed_questions, sign_flip
from .aggregate_changes import AggregateChange, aggregate_changes
from .pairing import QuestionPair, mean_score, pass_share

Verdict = Literal["worse", "not worse", "better", "inconclusive", "identical replies"]


LEVEL = 0.025  # one-sided, of the test of all questions, and again of the family of the groups
MARGIN = 0.05


@dataclass(frozen=True, slots=True)
class GroupChange:
    """The paired questions of one group, or section, before and after."""

    name: str
    section: str
    n: int  # questions
    rate_before: float | None  # share that pass; None for graded questions
    rate_after: float | None
    mean_before: float  # main score
    mean_after: float
    p: float | None  # one-sided, towards worse; None for a section, which is shown, not tested
    adjusted_p: float | None  # by Holm, over all groups; None for a section and for the total
    verdict: str  # a Verdict, but never "not worse" or "identical replies"; "" for a section and for the total
    model: str = ""  # where there are several
    prompt: str = ""  # where it was asked with several prompt templates
    lost: int = 0  # questions with less than before
    won: int = 0  # questions with more
    graded: bool = False  # the score is what is tested
    before: float = 0.0  # mean of what is tested: whether a question passes, or the score where it is graded
    after: float = 0.0

    @property
    def title(self) -> str:
        """Its name, with the prompt template where there are several."""
        return f"{self.name} with {self.prompt}" if self.prompt else self.name

    @property
    def change(self) -> float:
        """What is tested, after less before: below 0 is worse."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class Decision:
    """Verdict over paired questions, with its reason, tests and groups; nothing else of the comparison."""

    verdict: str  # a Verdict, perhaps restricted to these clusters
    reason: str
    needed: int | None
    p: float | None
    p_better: float | None
    loss: LossEstimate
    groups: tuple[GroupChange, ...]
    aggregates: tuple[AggregateChange, ...] = ()


def decide(pairs: Sequence[QuestionPair], margin: float = MARGIN, descriptions: Descriptions | None = None) -> Decision:
    """Return the verdict over paired questions, those of `pooled`; graded ones beside others enter by their groups.

    Identical replies: each question was answered with the same texts in both runs, which says nothing about chance.
    Worse: the test of all of them, or that of any group or aggregate, adjusted by Holm over all groups or over all
    aggregates, gives at most 0.025. Without a difference that happens in at most 1 of 20 comparisons, in at most 3 of
    40 where families have aggregates. Better: the test of all gives as little the other way. Not worse: the upper bound
    of the loss is below the margin.

    Fewer than ENOUGH_CLUSTERS clusters tell nothing of others. Of themselves they do, where chance is another one in
    every question: there each question, with all draws of its demonstrations, is a case of its own, and the verdict
    says that it is about these clusters.
    """
    known = descriptions or Descriptions()
    noun = known.word("cluster", (one.family for one in pairs))
    clusters = len({one.cluster for one in pairs})
    only = clusters if clusters < ENOUGH_CLUSTERS else 0
    if only:
        pairs = [replace(one, cluster=f"{one.unit} {one.model}") for one in pairs]
    groups, counted = _changes(pairs, known), total_pairs(pairs)
    aggregates = aggregate_changes(pairs, known, LEVEL)
    by_cluster: dict[str, list[float]] = {}
    for one in counted:
        by_cluster.setdefault(one.cluster, []).append(one.loss)
    found = estimate_loss(by_cluster)
    p, p_better = (_test(counted), _test(counted, -1)) if counted else (None, None)
    if pairs and all(one.identical for one in pairs):
        told = f"{describe_count(found.n)} got the same replies in both runs"
        return Decision(IDENTICAL, told, None, p, p_better, found, groups, aggregates)
    tested: tuple[GroupChange | AggregateChange, ...] = (*groups, *aggregates)
    worse = [one for one in tested if one.verdict == "worse"]
    verdict = _verdict(p, p_better, found, bool(worse), margin)
    number, more = _needed(found, margin, "" if only else noun) if verdict == INCONCLUSIVE else (None, "")
    reason = _reason(verdict, found, p if verdict != "better" else p_better, worse, margin) + more
    if not only:
        return Decision(verdict, reason, number, p, p_better, found, groups, aggregates)
    return Decision(
        restrict_to_clusters(verdict, noun),
        f"{reason}; {describe_restriction(only, noun)}, tested question by question", number, p, p_better, found,
        tuple(replace(one, verdict=restrict_to_clusters(one.verdict, noun)) for one in groups),
        tuple(replace(one, verdict=one.verdict and restrict_to_clusters(one.verdict, noun)) for one in aggregates),
    )  # fmt: skip


def restrict_to_clusters(verdict: str, noun: str) -> str:
    """Return the verdict, restricted to the clusters that were asked about."""
    return verdict if verdict == INCONCLUSIVE else restrict_verdict(verdict, noun)


def describe_count(questions: int) -> str:
    """Return how many paired questions there are, in words."""
    return f"{questions} paired question{'' if questions == 1 else 's'}"


def total_pairs(pairs: Sequence[QuestionPair]) -> list[QuestionPair]:
    """Return the pairs that a total is about: those that are right or wrong; graded ones where there are no others."""
    return [one for one in pairs if not one.graded] or list(pairs)


def _verdict(p: float | None, p_better: float | None, found: LossEstimate, worse: bool, margin: float) -> Verdict:
    if p is None or p_better is None:
        return INCONCLUSIVE
    if p <= LEVEL or worse:
        return "worse"
    if p_better <= LEVEL:
        return "better"
    return "not worse" if found.upper < margin else INCONCLUSIVE


def _reason(
    verdict: Verdict,
    found: LossEstimate,
    p: float | None,
    worse: Sequence[GroupChange | AggregateChange],
    margin: float,
) -> str:
    if p is None:
        return "no question was answered in both runs and asked alike"
    moved = f"{0.0 - found.mean:+.3f} over {describe_count(found.n)}"
    titles = [one.title if isinstance(one, GroupChange) else one.name for one in worse]
    names = [f"{title}{f' of {one.model}' if one.model else ''}" for title, one in zip(titles, worse, strict=True)]
    if verdict in ("worse", "better"):
        overall = [f"p = {p:.2g}" if p >= 0.0001 else "p < 0.0001"] if p <= LEVEL else []
        return ", ".join([moved, *overall, *([f"worse in {', '.join(names)}"] if names else [])])
    bound = f"the loss may be up to {found.upper:.3f}"
    if verdict == "not worse":
        return f"{moved}; the loss is at most {max(found.upper, 0.0):.3f}, below the margin of {margin:g}"
    return f"{moved}; {bound}, the margin is {margin:g}"


def _needed(found: LossEstimate, margin: float, noun: str) -> tuple[int | None, str]:
    """About how many questions would decide, if that can be told, and what is said of it."""
    if found.variance is None or margin <= 0:
        return None, ""
    number = needed_questions(found, margin)
    if number is None:
        return None, "; more questions than can be asked would decide"
    about = f" on {needed_clusters(found, margin):,} {noun}s" if noun and found.clusters < found.n else ""
    return number, f"; about {number:,} questions{about} would decide"


def _changes(pairs: Sequence[QuestionPair], known: Descriptions) -> tuple[GroupChange, ...]:
    """Each group, of each model and prompt template where there are several, tested both ways, by Holm each way."""
    groups = group_pairs(pairs, known)
    tests = [(_test(same), _test(same, -1)) for _, same in groups]
    worse, better = (holm([both[side] for both in tests]) for side in (0, 1))
    return tuple(
        group_change(same, name, same[0].section, tests[at][0], worse[at], better[at])
        for at, ((_, name), same) in enumerate(groups)
    )


def group_pairs(
    pairs: Iterable[QuestionPair], known: Descriptions, by_group: bool = True
) -> list[tuple[tuple[str, str], list[QuestionPair]]]:
    """The pairs of each model, prompt template and group, or section, under model and name; sections in order."""
    found: dict[tuple[tuple[int, str], tuple[int, str], str, str, str], list[QuestionPair]] = {}
    for one in pairs:
        family, section = known.family_place(one.family), known.section_place(one.family, one.section)
        name = one.group if by_group else one.section
        found.setdefault((family, section, name, one.model, one.prompt), []).append(one)
    return [((key[3], key[2]), found[key]) for key in sorted(found)]


def _test(pairs: Sequence[QuestionPair], sign: int = 1) -> float:
    """The one-sided p-value towards worse (`sign` 1) or better (-1): McNemar's test where each cluster has one
    question that passes or not, else the flips of the clusters' summed losses.
    """
    sums: dict[str, float] = {}
    for one in pairs:
        sums[one.cluster] = sums.get(one.cluster, 0.0) + sign * one.loss
    if len(sums) == len(pairs) and not any(one.graded or abs(one.loss) not in (0, 1) for one in pairs):
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
    """The pairs, at least one, counted before and after, with the p-values and the verdict that they give: one-sided,
    and adjusted towards worse and towards better.
    """
    count = len(pairs)
    both = [[one.before for one in pairs], [one.after for one in pairs]]
    graded = all(one.graded for one in pairs)
    rates = [None if graded else fsum(map(pass_share, trials)) / count for trials in both]
    means = [fsum(map(mean_score, trials)) / count for trials in both]
    tested = [fsum(map(QuestionPair.value, pairs, trials)) / count for trials in both]
    verdict = INCONCLUSIVE if p is not None else ""
    if worse is not None and better is not None and min(worse, better) <= LEVEL:
        verdict = "worse" if worse <= LEVEL else "better"
    model = pairs[0].model if len({one.model for one in pairs}) == 1 else ""
    prompt = pairs[0].prompt if len({one.prompt for one in pairs}) == 1 else ""
    return GroupChange(
        name, section, count, rates[0], rates[1], means[0], means[1], p, worse, verdict, model, prompt,
        sum(one.loss > 0 for one in pairs), sum(one.loss < 0 for one in pairs), graded, tested[0], tested[1],
    )  # fmt: skip
