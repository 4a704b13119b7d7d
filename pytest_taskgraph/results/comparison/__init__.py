"""Comparison of two runs: worse, not worse, better, inconclusive, or identical replies.

pairing.py pairs the questions, verdict.py decides. docs/how-to/comparing.md explains the verdicts.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import Any, Literal

from ...errors import UnknownNameError, UsageError
from ...trial import Json, Outcome, Trial
from ..case import COMPARISON_FAILURES, INCONCLUSIVE, is_worse
from ..descriptions import descriptions_of
from ..record import About, tally_of
from .aggregate_changes import AggregateChange
from .pairing import ChangedQuestion, MissingAnswer, Pairing, QuestionPair, mean_score, pair_questions
from .verdict import MARGIN, GroupChange, decide, group_change, group_pairs, separate_few_clusters, total_pairs

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
MOVED = 0.5  # change of its score from which a graded question counts as flipped
DIFFERENCE_LINES = 12  # most lines shown of a changed text
_LONGEST_DIFFERENCE = 400  # most lines of a text that are compared


@dataclass(frozen=True, slots=True)
class Flip:
    """A question whose verdict or graded score changed between the runs.

    It passed and no longer does, or the reverse; or its graded score moved by at least MOVED, or appeared or
    disappeared with the answer. With repetitions the majority counts; outcome and answer are those of the first
    repetition in the majority.
    """

    id: str
    group: str
    section: str
    model: str  # "" if each run has one model
    question: str
    form: str
    expected: Json
    before_outcome: Outcome
    before_score: float
    before_answer: Json  # as parsed; None if the reply was not parsed
    after_outcome: Outcome
    after_score: float
    after_answer: Json
    trials: tuple[Trial, Trial] | None = None  # those repetitions, before and after; in no JSON

    @property
    def lost(self) -> bool:
        """Return True if the question is worse than before."""
        accepted_before, accepted_after = (
            outcome in ("right", "graded") for outcome in (self.before_outcome, self.after_outcome)
        )
        return accepted_before if accepted_before != accepted_after else self.after_score < self.before_score


@dataclass(frozen=True, slots=True)
class Difference:
    """A change that many questions share, shown for one example: lines that begin with "-", "+" or "  "."""

    what: str  # as in ChangedQuestion
    questions: int
    paired: bool  # True if those questions are compared nevertheless
    id: str  # of the example
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunComparison:
    """The comparison of two runs, question by question."""

    before: dict[str, Any]  # facts of the run: the fields of record.About
    after: dict[str, Any]
    margin: float
    paired: int  # questions that both runs answered
    verdict: str  # a Verdict, possibly restricted to these clusters
    reason: str  # in one line
    needed: int | None  # about how many questions are needed for a decision, if the verdict is "inconclusive"
    p: float | None  # of the questions of `total`, one-sided towards worse; None without pairs
    p_better: float | None
    loss: float | None  # mean of the tested value over the same questions; above 0 is worse
    loss_at_most: float | None  # upper bound at 97.5 % confidence, by cluster; by question if clusters are few
    total: GroupChange | None  # all questions that are right or wrong; graded ones only if there are no others
    groups: tuple[GroupChange, ...]
    sections: tuple[GroupChange, ...]  # of the questions of `total`
    flips: tuple[Flip, ...]  # lost questions first
    changed: tuple[ChangedQuestion, ...]  # asked in another way; each states whether it is paired
    differences: tuple[Difference, ...]
    missing: tuple[MissingAnswer, ...]  # asked without an answer by one of the runs
    only_before: tuple[str, ...]  # ids of questions that the run after did not ask
    only_after: tuple[str, ...]
    notes: tuple[str, ...]  # remarks on what else changed, and what is not compared
    group_word: str = "group"  # what the compared families call a group
    section_word: str = "section"
    aggregates: tuple[AggregateChange, ...] = ()  # of the families that declare aggregates
    names: tuple[str, str] = ("", "")  # of the runs, as the user states them; "" if unknown

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as plain JSON values; without `aggregates` if no family has any.

        The trials of flipped questions are left out: the records of the runs hold them.
        """
        fields = asdict(replace(self, flips=tuple(replace(flip, trials=None) for flip in self.flips)))
        for flip in fields["flips"]:
            del flip["trials"]
        return fields if self.aggregates else {name: value for name, value in fields.items() if name != "aggregates"}


def compare(
    before: Mapping[str, Any], after: Mapping[str, Any], margin: float = MARGIN, names: tuple[str, str] = ("", "")
) -> RunComparison:
    """Compare a record with the record of a baseline.

    Args:
        before: The baseline.
        after: The record to be compared with it.
        margin: Non-inferiority margin, 0 to 1: the acceptable mean loss.
        names: Names of the runs.

    Raises:
        UsageError: if the margin is not from 0 to 1, a record is damaged, or the records have different versions of a
            question set.
    """
    if not 0.0 <= margin <= 1.0:
        raise UsageError(f"the margin of a comparison is {margin}; expected a number from 0 to 1")
    if mismatch := question_set_mismatch(before["question_sets"], after["question_sets"]):
        raise UsageError(f"the runs cannot be compared: {mismatch}; record the baseline again")
    pairing = pair_questions(tally_of(before), tally_of(after))
    described, families = descriptions_of(after), {pair.family for pair in pairing.pairs}
    words = described.word("group", families), described.word("section", families)
    decision = decide(pairing.pairs, margin, described)
    flips = sorted(chain.from_iterable(map(_flips, pairing.pairs)), key=lambda flip: not flip.lost)
    pairs = separate_few_clusters(pairing.pairs)
    counted = total_pairs(pairs)
    return RunComparison(
        before=_run_facts(before), after=_run_facts(after), margin=margin, paired=len(pairs), verdict=decision.verdict,
        reason=decision.reason, needed=decision.needed, p=decision.p, p_better=decision.p_better,
        loss=decision.loss.mean if pairs else None, loss_at_most=decision.loss.upper if pairs else None,
        total=replace(group_change(counted, "total", ""), p=decision.p) if pairs else None, groups=decision.groups,
        sections=tuple(
            group_change(same, name, name) for (_, name), same in group_pairs(counted, described, by_group=False)
        ),
        flips=tuple(flips), changed=pairing.changed, differences=tuple(_differences(pairing)), missing=pairing.missing,
        only_before=pairing.only_before, only_after=pairing.only_after,
        notes=tuple(_notes(pairing, before, after, words[0])),
        group_word=words[0], section_word=words[1], aggregates=decision.aggregates, names=names,
    )  # fmt: skip


def question_set_mismatch(before: Mapping[str, int], after: Mapping[str, int]) -> str:
    """Return why two runs with these question sets cannot be compared, "" if they can.

    Only families with a version in both runs can prevent a comparison.

    Args:
        before: Version of the questions by family, of the baseline.
        after: Version of the questions by family, of the run after.
    """
    changed_sets = [
        f"the baseline asked version {before[name]} of the questions of {name!r}, the run after version {after[name]}"
        for name in sorted(before.keys() & after.keys())
        if before[name] != after[name]
    ]
    return f"{'; '.join(changed_sets)}: the prompts differ" if changed_sets else ""


def parse_fail_on(texts: Iterable[str], option: str) -> frozenset[str]:
    """Parse the values of an option that states what a comparison fails on, separated by commas.

    Raises:
        UnknownNameError: if a value does not exist.
        UsageError: if there is no value.
    """
    parts = [part.strip() for text in texts for part in text.split(",")]
    chosen = frozenset(filter(None, parts))
    if not chosen:
        raise UsageError(f"{option}: no value; expected some of {', '.join(FAIL_ON)}")
    for name in sorted(chosen.difference(FAIL_ON)):
        raise UnknownNameError(f"value of {option}", name, FAIL_ON)
    return chosen


def comparison_case(
    comparison: RunComparison,
    fail_on: Collection[str] = frozenset({"regression"}),
    selection: str = "",
    left_out: Callable[[str], bool] = lambda _: False,
) -> tuple[Literal["passed", "failed", "skipped"], str]:
    """Return the outcome of the case `compare::NAME` and its reason in one line.

    "regression" fails on worse, on these clusters too; "inconclusive" on that verdict; "missing" on a question of the
    baseline without an answer now. A comparison without a pair fails in any case. Questions that the user left out are
    not missing; if there are some, an inconclusive verdict fails nothing. The case is then skipped unless it fails, as
    it is for any inconclusive verdict: no report may show it as passed.

    Args:
        comparison: The comparison.
        fail_on: Values of FAIL_ON; "regression" if empty.
        selection: How the user selected questions, in words.
        left_out: Returns True if the user's selection left out the question with the given id.
    """
    fail_on = fail_on or {"regression"}
    not_asked = [question for question in comparison.only_before if not left_out(question.partition(" ")[0])]
    left_out_count = len(comparison.only_before) - len(not_asked)
    missing = _describe_missing(comparison, len(not_asked)) if "missing" in fail_on else ""
    inconclusive = not comparison.paired or ("inconclusive" in fail_on and comparison.verdict == INCONCLUSIVE)
    worse = "regression" in fail_on and is_worse(comparison.verdict)
    description = "; ".join(filter(None, (f"{comparison.verdict}: {comparison.reason}", missing)))
    if worse or missing or (inconclusive and not left_out_count):
        return "failed", description
    if left_out_count:
        return "skipped", f"not decided: {left_out_count} of the baseline left out ({selection}); {description}"
    return "skipped" if comparison.verdict == INCONCLUSIVE else "passed", description


def _describe_missing(comparison: RunComparison, not_asked: int) -> str:
    unanswered = {(answer.id, answer.model) for answer in comparison.missing if answer.run == "after"}
    facts = [f"{len(unanswered)} of the questions got no answer"] if unanswered else []
    facts += [f"{not_asked} of the baseline were not asked"] if not_asked else []
    return "; ".join(facts)


def _run_facts(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: record[name] for name in About.__dataclass_fields__}


def _flips(pair: QuestionPair) -> Iterator[Flip]:
    accepted = [2 * sum(trial.accepted for trial in trials) > len(trials) for trials in (pair.before, pair.after)]
    if accepted[0] == accepted[1] and not (pair.graded and abs(pair.loss) >= MOVED):
        return
    before, after = _representative(pair.before, accepted[0]), _representative(pair.after, accepted[1])
    yield Flip(
        pair.id, pair.group, pair.section, pair.model, after.question.text, after.question.form,
        after.question.reference,
        before.outcome, mean_score(pair.before), before.score.given if before.score else None,
        after.outcome, mean_score(pair.after), after.score.given if after.score else None,
        (before, after),
    )  # fmt: skip


def _representative(trials: Sequence[Trial], accepted: bool) -> Trial:
    """Return the first repetition with the outcome of the majority."""
    return next(trial for trial in trials if trial.accepted == accepted)


def _differences(pairing: Pairing) -> Iterator[Difference]:
    for what, (before, after) in pairing.examples.items():
        changed = [question for question in pairing.changed if what in question.what]
        texts = (before.text, after.text) if what in ("case", "template") else (before.prompt, after.prompt)
        if what == "prompt" and before.system != after.system:
            texts = (before.system, after.system)
        if what == "reference":
            texts = (str(before.reference), str(after.reference))
        yield Difference(what, len(changed), any(question.paired for question in changed), after.once, _lines(*texts))


def _lines(before: str, after: str) -> tuple[str, ...]:
    """Return the lines that differ between two texts, in their order, at most DIFFERENCE_LINES."""
    both = [text.splitlines() for text in (before, after)]
    while both[0] and both[1] and both[0][0] == both[1][0]:
        both = [lines[1:] for lines in both]
    while both[0] and both[1] and both[0][-1] == both[1][-1]:
        both = [lines[:-1] for lines in both]
    old, new = (lines[:_LONGEST_DIFFERENCE] for lines in both)
    changed = [line for line in difflib.ndiff(old, new) if line[0] in "-+" and line[2:].strip()]
    more = len(changed) - DIFFERENCE_LINES
    return tuple(changed[:DIFFERENCE_LINES] + ([f"  … and {more} lines more"] if more > 0 else []))


def _notes(pairing: Pairing, before: Mapping[str, Any], after: Mapping[str, Any], word: str) -> Iterator[str]:
    """Yield what changed apart from the model, and what is not compared."""
    same_model = before.get("models") == after.get("models")
    pair_count = len(pairing.pairs)
    counts: dict[tuple[str, bool], int] = {}
    for changed in pairing.changed:
        for what in changed.what:
            counts[what, changed.paired] = counts.get((what, changed.paired), 0) + 1
    for (what, compared), count in counts.items():
        change_text = f"the {what} changed for {count} question{'' if count == 1 else 's'}"
        if compared and pair_count:
            yield f"{change_text}: this compares {f'the {what}' if same_model else f'{what} and model together'}"
        elif not compared:
            yield f"{change_text}: not compared, because the questions differ"
    if _model_options(before) != _model_options(after):
        yield "the model options changed: they are compared too"
    if before.get("version") != after.get("version"):
        yield f"the runs are of versions {before.get('version')} and {after.get('version')}"
    graded = len(pairing.pairs) - len(total_pairs(pairing.pairs))
    if graded:
        noun = "question stands" if graded == 1 else "questions stand"
        yield f"{graded} graded {noun} apart: tested by {word}, by score, and in no total"
    if pairing.missing:
        yield f"{len(pairing.missing)} without an answer in one of the runs: not compared"
    for ids, where in ((pairing.only_before, "before"), (pairing.only_after, "after")):
        if ids:
            yield f"{len(ids)} asked only in the run {where}: not compared"


def _model_options(record: Mapping[str, Any]) -> tuple[object, dict[str, object]]:
    """Return the model options of a run, and those set by its suites, by function."""
    settings = record.get("settings") or {}
    suites = settings.get("suites")
    suites = suites if isinstance(suites, Mapping) else {}
    stated = {name: suite.get("model_option") for name, suite in suites.items() if isinstance(suite, Mapping)}
    return settings.get("model_option") or {}, {name: options for name, options in stated.items() if options}
