"""Two runs compared: worse, not worse, better, inconclusive, or identical replies.

How questions are paired: pairing.py. The verdict: verdict.py. docs/how-to/comparing.md says what the verdicts mean.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import Any, Literal

from ...errors import UnknownNameError, UsageError
from ...retired import check_value
from ...trial import Json, Outcome, Trial
from ..case import COMPARISON_FAILURES, INCONCLUSIVE, is_worse
from ..descriptions import descriptions_of
from ..record import About, question_sets_of, tally_of
from .aggregate_changes import AggregateChange
from .pairing import ChangedQuestion, MissingAnswer, Pairing, QuestionPair, mean_score, pair_questions
from .verdict import MARGIN, GroupChange, decide, group_change, group_pairs, total_pairs

__all__ = [
    "FAIL_ON",
    "MARGIN",
    "Difference",
    "Flip",
    "GroupChange",
    "RunComparison",
    "compare",
    "comparison_case",
    "parse_fail_on",
    "question_set_mismatch",
]  # fmt: skip

FAIL_ON = COMPARISON_FAILURES
MOVED = 0.5  # a graded question whose score moves by as much is told as flipped
DIFFERENCE_LINES = 12  # of the text of an example that changed
_LONGEST_DIFFERENCE = 400  # lines of a text that are set beside others


@dataclass(frozen=True, slots=True)
class Flip:
    """A question that passed and does not any more, or the other way round; or whose graded score moved far, or came
    or went with the answer.

    Of a question with repetitions, the majority; outcome and answer are those of the first that stands for it.
    """

    id: str
    group: str
    section: str
    model: str  # where there are several
    question: str
    form: str
    expected: Json
    before_outcome: Outcome
    before_score: float
    before_answer: Json  # as it was read; None for one that was not
    after_outcome: Outcome
    after_score: float
    after_answer: Json

    @property
    def lost(self) -> bool:
        """Whether it is worse than before."""
        accepted, now = (one in ("right", "graded") for one in (self.before_outcome, self.after_outcome))
        return accepted if accepted != now else self.after_score < self.before_score


@dataclass(frozen=True, slots=True)
class Difference:
    """What changed about many questions, at the example of one: lines that begin with "-", "+" or "  "."""

    what: str  # as in Changed
    questions: int
    paired: bool  # whether those questions are compared all the same
    id: str  # of the example
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunComparison:
    """What two runs come to, question by question."""

    before: dict[str, Any]  # what the runs were: the fields of record.About
    after: dict[str, Any]
    margin: float
    paired: int  # questions that both answered
    verdict: str  # a Verdict, perhaps restricted to these clusters
    reason: str  # in one line
    needed: int | None  # about how many questions would decide, where the verdict is "inconclusive"
    p: float | None  # of the questions of `total`, one-sided towards worse; None for no pair
    p_better: float | None
    loss: float | None  # mean over the same, of what is tested; above 0 is worse
    loss_at_most: float | None  # upper bound of its 97.5 % confidence, by cluster; by question where these are few
    total: GroupChange | None  # all questions that are right or wrong; graded ones only where there are no others
    groups: tuple[GroupChange, ...]
    sections: tuple[GroupChange, ...]  # of the questions of `total`
    flips: tuple[Flip, ...]  # those that lost first
    changed: tuple[ChangedQuestion, ...]  # asked in another way; paired only where that is said
    differences: tuple[Difference, ...]
    missing: tuple[MissingAnswer, ...]  # asked without an answer, by one of the runs
    only_before: tuple[str, ...]  # ids of questions that the run after did not ask
    only_after: tuple[str, ...]
    notes: tuple[str, ...]  # what must be known to read it
    group_word: str = "group"  # what the families that were compared call a group
    section_word: str = "section"
    aggregates: tuple[AggregateChange, ...] = ()  # of the families that declare some

    def to_json(self) -> dict[str, Any]:
        """The comparison as plain JSON values; without aggregates where no family has any."""
        found = asdict(self)
        return found if self.aggregates else {name: value for name, value in found.items() if name != "aggregates"}


def compare(before: Mapping[str, Any], after: Mapping[str, Any], margin: float = MARGIN) -> RunComparison:
    """The comparison of two records, `after` with the baseline `before`.

    `margin`, 0 to 1: a mean loss below it is not worth speaking of. Raises UsageError for a margin outside, for a
    damaged record, and for records of different versions of a question set.
    """
    if not 0.0 <= margin <= 1.0:
        raise UsageError(f"the margin of a comparison is {margin}; expected a number from 0 to 1")
    if why := question_set_mismatch(question_sets_of(before), question_sets_of(after)):
        raise UsageError(f"the runs cannot be compared: {why}; record the baseline anew")
    found = pair_questions(tally_of(before), tally_of(after))
    known, families = descriptions_of(after), {one.family for one in found.pairs}
    words = known.word("group", families), known.word("section", families)
    decision = decide(found.pairs, margin, known)
    flips = sorted(chain.from_iterable(map(_flip, found.pairs)), key=lambda flip: not flip.lost)
    pairs, counted = found.pairs, total_pairs(found.pairs)
    return RunComparison(
        before=_about(before), after=_about(after), margin=margin, paired=len(pairs), verdict=decision.verdict,
        reason=decision.reason, needed=decision.needed, p=decision.p, p_better=decision.p_better,
        loss=decision.loss.mean if pairs else None, loss_at_most=decision.loss.upper if pairs else None,
        total=replace(group_change(counted, "total", ""), p=decision.p) if pairs else None, groups=decision.groups,
        sections=tuple(
            group_change(same, name, name) for (_, name), same in group_pairs(counted, known, by_group=False)
        ),
        flips=tuple(flips), changed=found.changed, differences=tuple(_differences(found)), missing=found.missing,
        only_before=found.only_before, only_after=found.only_after, notes=tuple(_notes(found, before, after, words[0])),
        group_word=words[0], section_word=words[1], aggregates=decision.aggregates,
    )  # fmt: skip


def question_set_mismatch(before: Mapping[str, int], after: Mapping[str, int]) -> str:
    """Return why two runs with these question sets cannot be compared, "" if they can.

    A family in only one of them, or without a version in one of them, keeps nothing from being compared.
    """
    found = [
        f"the baseline asked version {before[name]} of the questions of {name!r}, the run after version {after[name]}"
        for name in sorted(before.keys() & after.keys())
        if before[name] != after[name]
    ]
    return f"{'; '.join(found)}: the prompts are not the same" if found else ""


def parse_fail_on(texts: Iterable[str], option: str) -> frozenset[str]:
    """Return what a comparison is to fail on, as the option names it, with commas between.

    Raises:
        UnknownNameError: if there is no such thing.
        UsageError: if the option names nothing, or by an old name.
    """
    parts = [part.strip() for text in texts for part in text.split(",")]
    found = frozenset(filter(None, parts))
    for one in sorted(found):
        check_value(option, "fail-on", one)
    if not found:
        raise UsageError(f"{option}: nothing to fail on; expected some of {', '.join(FAIL_ON)}")
    for one in sorted(found.difference(FAIL_ON)):
        raise UnknownNameError(f"thing for {option}", one, FAIL_ON)
    return found


def comparison_case(
    comparison: RunComparison,
    fail_on: Collection[str] = frozenset({"regression"}),
    chosen: str = "",
    left_out: Callable[[str], bool] = lambda _: False,
) -> tuple[Literal["passed", "failed", "skipped"], str]:
    """How the case `compare::NAME` ends, and why, in one line.

    It fails on what is asked of FAIL_ON, on "regression" where nothing is: "regression" is worse, on these clusters
    too, "inconclusive" is that verdict, "missing" is a question of the baseline without an answer now. A comparison
    without a single pair decides nothing, and fails whatever is asked.

    `chosen` is how the user selected, `left_out` tells of the id of a question whether it was not asked for that. Such
    questions are not missing; and where there are some, an inconclusive rest fails nothing, and the case is
    skipped unless it fails.
    """
    fail_on = fail_on or {"regression"}
    unasked = [one for one in comparison.only_before if not left_out(one.partition(" ")[0])]
    without = len(comparison.only_before) - len(unasked)
    missing = _missing(comparison, len(unasked)) if "missing" in fail_on else ""
    inconclusive = not comparison.paired or ("inconclusive" in fail_on and comparison.verdict == INCONCLUSIVE)
    worse = "regression" in fail_on and is_worse(comparison.verdict)
    told = "; ".join(filter(None, (f"{comparison.verdict}: {comparison.reason}", missing)))
    if worse or missing or (inconclusive and not without):
        return "failed", told
    if without:
        return "skipped", f"not decided: {without} of the baseline left out ({chosen}); {told}"
    return "passed", told


def _missing(comparison: RunComparison, unasked: int) -> str:
    lost = {(one.id, one.model) for one in comparison.missing if one.run == "after"}
    facts = [f"{len(lost)} of the questions got no answer"] if lost else []
    facts += [f"{unasked} of the baseline were not asked"] if unasked else []
    return "; ".join(facts)


def _about(record: Mapping[str, Any]) -> dict[str, Any]:
    known = {"question_sets": question_sets_of(record), **record}
    return {name: known[name] for name in About.__dataclass_fields__ if name in known}


def _flip(pair: QuestionPair) -> Iterator[Flip]:
    accepted = [2 * sum(one.accepted for one in trials) > len(trials) for trials in (pair.before, pair.after)]
    if accepted[0] == accepted[1] and not (pair.graded and abs(pair.loss) >= MOVED):
        return
    once, now = _standing(pair.before, accepted[0]), _standing(pair.after, accepted[1])
    yield Flip(
        pair.id, pair.group, pair.section, pair.model, now.question.text, now.question.form,
        now.question.reference,
        once.outcome, mean_score(pair.before), once.score.given if once.score else None,
        now.outcome, mean_score(pair.after), now.score.given if now.score else None,
    )  # fmt: skip


def _standing(trials: Sequence[Trial], accepted: bool) -> Trial:
    """The first of the repetitions that ended as most of them did."""
    return next(one for one in trials if one.accepted == accepted)


def _differences(found: Pairing) -> Iterator[Difference]:
    for what, (before, after) in found.examples.items():
        same = [one for one in found.changed if what in one.what]
        texts = (before.text, after.text) if what in ("case", "template") else (before.prompt, after.prompt)
        if what == "prompt" and before.system != after.system:
            texts = (before.system, after.system)
        if what == "reference":
            texts = (str(before.reference), str(after.reference))
        yield Difference(what, len(same), any(one.paired for one in same), after.once, _lines(*texts))


def _lines(before: str, after: str) -> tuple[str, ...]:
    """The lines of one text that are not in the other, in their order, at most DIFFERENCE_LINES."""
    both = [text.splitlines() for text in (before, after)]
    while both[0] and both[1] and both[0][0] == both[1][0]:
        both = [lines[1:] for lines in both]
    while both[0] and both[1] and both[0][-1] == both[1][-1]:
        both = [lines[:-1] for lines in both]
    old, new = (lines[:_LONGEST_DIFFERENCE] for lines in both)
    changed = [line for line in difflib.ndiff(old, new) if line[0] in "-+" and line[2:].strip()]
    more = len(changed) - DIFFERENCE_LINES
    return tuple(changed[:DIFFERENCE_LINES] + ([f"  … and {more} lines more"] if more > 0 else []))


def _notes(found: Pairing, before: Mapping[str, Any], after: Mapping[str, Any], word: str) -> Iterator[str]:
    """What is said loudly: what else than the model changed, and what is not compared."""
    same_model = before.get("models") == after.get("models")
    asked = len(found.pairs)
    counts: dict[tuple[str, bool], int] = {}
    for one in found.changed:
        for what in one.what:
            counts[what, one.paired] = counts.get((what, one.paired), 0) + 1
    for (what, compared), count in counts.items():
        told = f"the {what} changed for {count} question{'' if count == 1 else 's'}"
        if compared and asked:
            yield f"{told}: this compares {f'the {what}' if same_model else f'{what} and model together'}"
        elif not compared:
            yield f"{told}: not compared, for they are other questions"
    if _model_options(before) != _model_options(after):
        yield "the options of the model changed: this compares them too"
    if before.get("version") != after.get("version"):
        yield f"the runs are of versions {before.get('version')} and {after.get('version')}"
    graded = len(found.pairs) - len(total_pairs(found.pairs))
    if graded:
        noun = "question stands" if graded == 1 else "questions stand"
        yield f"{graded} graded {noun} apart: tested by {word}, by score, and in no total"
    if found.missing:
        yield f"{len(found.missing)} without an answer in one of the runs: not compared"
    for ids, where in ((found.only_before, "before"), (found.only_after, "after")):
        if ids:
            yield f"{len(ids)} asked only in the run {where}: not compared"


def _model_options(record: Mapping[str, Any]) -> tuple[object, dict[str, object]]:
    """Return the model options of a run, and those that its suites set, by function."""
    settings = record.get("settings") or {}
    suites = settings.get("suites")
    suites = suites if isinstance(suites, Mapping) else {}
    stated = {name: one.get("model_option") for name, one in suites.items() if isinstance(one, Mapping)}
    return settings.get("model_option") or {}, {name: options for name, options in stated.items() if options}
