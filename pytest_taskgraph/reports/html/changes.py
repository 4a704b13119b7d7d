"""Comparison of two runs as the page shows it."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from ...results.case import base_verdict
from ...results.record import About, about_of
from ...scoring.forms import show_answer
from ...scoring.trial_explanation import explain_trial
from ...trial import Json, Question, Trial
from ..comparison_lines import aggregate_rows, aggregate_titles, group_p_value, interruption_notes
from ..escape import one_line
from ..headline import provenance_facts
from ..wording import count, model_name, number, signed, signed_interval
from .embedded_data import permalink, printable_text

if TYPE_CHECKING:
    from ...results.comparison import Difference, Flip, GroupChange, RunComparison

SHORT = 200  # columns of an answer
MOST_REASONS = 5
MOST_LINES = 80  # lines of a changed prompt
LONGEST_PROMPT = 2_000  # lines of a prompt that are compared
MOST = 200  # rows of a list, and questions of each direction; the filter of the questions shows the rest
_STATES = {"worse": "failed", "better": "passed", "not worse": "passed"}
_SIGNS = {"worse": "▼", "better": "▲", "inconclusive": "?"}
_ALWAYS = ("name", "models", "prompts", "seed", "date", "question sets")  # facts that are shown side by side anyway
# Facts that have a row of their own, and results, which are no facts of how a run was made.
_APART = (
    *("settings", "gates", "lost", "families", "usage", "provenance"),
    *("version", "models", "seed", "prompts", "question_sets", "questions"),
)


@dataclass(frozen=True, slots=True)
class FlipSide:
    """What one of the runs got."""

    run: str  # "Before" or "After"
    outcome: str
    score: str
    answer: str
    reasons: list[str]  # what is wrong with the answer, in words
    reply: str
    reasoning: str


@dataclass(frozen=True, slots=True)
class FlipView:
    """A question with another outcome than before; what few questions show is computed when it is read."""

    flip: Flip
    id: str
    model: str  # "" if each run has one model
    change: str  # "worse" or "better"

    @property
    def question(self) -> str:
        """Return the question alone."""
        return self.flip.question

    @property
    def expected(self) -> str:
        """Return the expected answer in a line."""
        return _answer_text(self.flip.form, self.flip.expected)

    @property
    def before(self) -> FlipSide:
        """Return what the run before got."""
        flip, trial = self.flip, self.flip.trials and self.flip.trials[0]
        return _side("Before", flip, flip.before_outcome, flip.before_score, flip.before_answer, trial)

    @property
    def after(self) -> FlipSide:
        """Return what the run after got."""
        flip, trial = self.flip, self.flip.trials and self.flip.trials[1]
        return _side("After", flip, flip.after_outcome, flip.after_score, flip.after_answer, trial)

    @property
    def prompt_lines(self) -> list[str]:
        """Return what changed in the prompt: lines that begin with "-", "+" or " "; empty if nothing did."""
        return _prompt_lines(*(trial.question for trial in self.flip.trials)) if self.flip.trials else []

    @property
    def link(self) -> str:
        """Return the address of the question in the list of the page."""
        after = self.flip.trials[1] if self.flip.trials else None
        question, model = (after.question.id, after.model) if after else (self.id, self.model)
        return permalink(printable_text(question), printable_text(model))

    @property
    def before_text(self) -> str:
        """Return the former outcome and answer in a line."""
        flip = self.flip
        answer = _answer_text(flip.form, flip.before_answer)
        return f"{flip.before_outcome}, score {number(flip.before_score)}: {answer}"


def flip_view(flip: Flip) -> FlipView:
    """Return what the page shows of a flipped question."""
    return FlipView(flip, flip.id, flip.model, "worse" if flip.lost else "better")


def _side(run: str, flip: Flip, outcome: str, score: float, answer: Json, trial: Trial | None) -> FlipSide:
    reasons = [] if trial is None else explain_trial(trial)
    if trial is not None and trial.score is not None and trial.score.remark:
        reasons = [*reasons, trial.score.remark]
    if len(reasons) > MOST_REASONS:
        reasons = [*reasons[:MOST_REASONS], f"{count(len(reasons) - MOST_REASONS, 'further reason')}."]
    reply = None if trial is None else trial.reply
    text = "" if reply is None else reply.text or "(an empty reply)"
    reasoning = "" if reply is None else reply.reasoning
    shown_score = number(score)
    if trial is not None and trial.score is not None and number(trial.score.value) != shown_score:
        shown_score += ", the mean of the repetitions"  # the reply is one of them
    return FlipSide(run, outcome, shown_score, _answer_text(flip.form, answer), reasons, text, reasoning)


def _answer_text(form: str, answer: Json) -> str:
    return "no answer" if answer is None else one_line(show_answer(form, answer), SHORT)


def _prompt_lines(before: Question, after: Question) -> list[str]:
    """Return the lines that changed in the system prompt and in the prompt, with a line around each change."""
    texts = {"system prompt": (before.system, after.system), "prompt": (before.prompt, after.prompt)}
    changed = {name: _changed_lines(*both) for name, both in texts.items() if both[0] != both[1]}
    titled = "system prompt" in changed
    lines = [line for name, part in changed.items() for line in ([f" {name}:", *part] if titled else part)]
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], f" … and {count(len(lines) - MOST_LINES, 'line')} more"]
    return lines


def _changed_lines(before: str, after: str) -> list[str]:
    old, new = (text.splitlines()[:LONGEST_PROMPT] for text in (before, after))
    both = difflib.unified_diff(old, new, lineterm="", n=1)
    lines = [" …" if line.startswith("@@") else line for line in both][2:]  # without the names of files
    return lines[1:] if lines[:1] == [" …"] else lines


@dataclass(frozen=True, slots=True)
class RunFact:
    """A fact of both runs."""

    name: str
    before: str
    after: str

    @property
    def differs(self) -> bool:
        """Return True if the runs differ in it."""
        return self.before != self.after


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """A group, a section or the total, before and after."""

    kind: str  # "group", "section" or "total"
    name: str
    model: str  # "" if there is a single one
    n: str
    before: str
    after: str
    change: str
    interval: str
    bar: tuple[float, float, float] | None  # change and ends of its interval, 0 to 100; 50 is no change
    lost: str
    won: str
    p: str
    sign: str
    verdict: str


@dataclass(frozen=True, slots=True)
class Changes:
    """A comparison, all its values as texts."""

    state: str
    verdict: str
    reason: str
    notes: list[str]
    facts: list[RunFact]  # those that tell the runs apart
    shared: list[tuple[str, str]]  # names and values of the other facts, the same in both runs
    words: tuple[str, str]  # what a group and a section are called
    groups: list[ChangeRow]
    sections: list[ChangeRow]  # the total as its last row
    aggregates: list[list[str]]  # titles first; empty where no family has any
    flips: list[FlipView]  # the first MOST of each direction
    worse: int  # of all that flipped
    better: int
    differences: list[tuple[str, list[str]]]  # what changed at the example of one question, lines of a diff
    changed: list[tuple[str, str]]  # what changed, the questions' ids
    only: list[tuple[str, str]]  # in which run alone, or without an answer, ids
    by_key: dict[tuple[str, str], FlipView]

    def flip(self, question: str, model: str) -> FlipView | None:
        """Return the change of a question's outcome; None if it is the same."""
        return self.by_key.get((question, model)) or self.by_key.get((question, ""))

    @property
    def models(self) -> bool:
        """Return True if rows are of several models."""
        return any(row.model for row in (*self.groups, *self.sections))


def changes(comparison: RunComparison) -> Changes:
    """Return the comparison; lists are cut after MOST entries, with a note of how many are left out."""
    flips = [flip_view(flip) for flip in comparison.flips]
    totals = [comparison.total] if comparison.total else []
    rows = aggregate_rows(comparison.aggregates)
    facts = _run_facts(comparison)
    models = len({group.model for group in (*comparison.groups, *comparison.sections)}) > 1
    return Changes(
        state=_STATES.get(base_verdict(comparison.verdict), "neutral"),
        verdict=comparison.verdict,
        reason=comparison.reason,
        notes=[*_notes(comparison), *interruption_notes(comparison), *comparison.notes],
        facts=[fact for fact in facts if fact.differs or fact.name in _ALWAYS],
        shared=[(fact.name, fact.before) for fact in facts if not (fact.differs or fact.name in _ALWAYS)],
        words=(comparison.group_word, comparison.section_word),
        groups=[_change_row(group, "group", models) for group in comparison.groups],
        sections=[
            *(_change_row(group, "section", models) for group in comparison.sections),
            *(_change_row(group, "total", models) for group in totals),
        ],
        aggregates=[aggregate_titles(comparison.aggregates), *rows] if rows else [],
        flips=[flip for change in ("worse", "better") for flip in _first_of(flips, change)],
        worse=sum(flip.change == "worse" for flip in flips),
        better=sum(flip.change == "better" for flip in flips),
        differences=[(_difference_title(difference), list(difference.lines)) for difference in comparison.differences],
        changed=_ids_by_change(comparison),
        only=_ids_of_one_run(comparison),
        by_key={(flip.id, flip.model): flip for flip in flips},
    )


def _first_of(flips: Iterable[FlipView], change: str) -> Iterator[FlipView]:
    return islice((flip for flip in flips if flip.change == change), MOST)


def _notes(comparison: RunComparison) -> Iterator[str]:
    flips = comparison.flips
    lost = sum(flip.lost for flip in flips)
    yield f"{count(comparison.paired, 'question')} paired: {lost:,} worse than before, {len(flips) - lost:,} better."
    if comparison.needed:
        yield f"About {count(comparison.needed, 'paired question')} needed for a decision."
    for number_of, name in ((lost, "worse"), (len(flips) - lost, "better")):
        if number_of > MOST:
            yield f"The first {MOST} of {number_of:,} that are {name} are listed."


def _difference_title(difference: Difference) -> str:
    paired = "still paired" if difference.paired else "not paired"
    return (
        f"{difference.what} changed: {count(difference.questions, 'question')}, {paired}; for example {difference.id}"
    )


def _change_row(group: GroupChange, kind: str, models: bool) -> ChangeRow:
    verdict, ends = base_verdict(group.verdict), group.ends
    bar = None if ends is None else tuple(round(50 + 50 * value, 1) for value in (group.change, *ends))
    return ChangeRow(
        kind,
        f"{group.title} (graded)" if group.graded and kind != "total" else group.title,
        model_name(group.model) if models else "",
        f"{group.n:,}",
        number(group.before),
        number(group.after),
        signed(group.change),
        signed_interval(ends),
        None if bar is None else (bar[0], bar[1], bar[2]),
        f"{group.lost:,}",
        f"{group.won:,}",
        group_p_value(group) or "-",
        _SIGNS.get(verdict, ""),
        group.verdict or "not tested",
    )


def _run_facts(comparison: RunComparison) -> list[RunFact]:
    """Return the facts of both runs; settings only if they differ."""
    abouts = about_of(comparison.before), about_of(comparison.after)
    first, second = (_named_facts(name, about) for name, about in zip(comparison.names, abouts, strict=True))
    shared = {name: RunFact(name, first.get(name, "-"), second.get(name, "-")) for name in (*first, *second)}
    others = _other_facts(comparison.before), _other_facts(comparison.after)
    further = [
        RunFact(name.replace("_", " "), *(facts.get(name, "-") for facts in others))
        for name in dict.fromkeys((*others[0], *others[1]))
    ]
    return [*shared.values(), *(fact for fact in further if fact.differs)]


def _named_facts(name: str, about: About) -> dict[str, str]:
    facts = {
        "name": name,
        "models": ", ".join(map(model_name, about.models)),
        "prompts": ", ".join(about.prompts),
        "seed": about.seeds,
        **dict(provenance_facts(about)),
        **about.facts,
        "questions": "" if about.questions is None else f"{about.questions:,}",
        "cost": "" if about.usage is None else f"${about.usage.live.cost or 0:,.4f}",
    }
    return {title: value for title, value in facts.items() if value}


def _other_facts(about: Mapping[str, Any]) -> dict[str, str]:
    settings = about.get("settings") or {}
    return {name: _fact(value) for name, value in {**about, **settings}.items() if name not in _APART}


def _fact(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) or "none"
    return "-" if value is None else value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)


def _ids_by_change(comparison: RunComparison) -> list[tuple[str, str]]:
    ids_by_change: dict[str, list[str]] = {}
    for question in comparison.changed:
        ids_by_change.setdefault(" and ".join(question.what), []).append(question.id)
    return [
        (f"{what} changed: {count(len(ids), 'question')}", _id_list(ids)) for what, ids in sorted(ids_by_change.items())
    ]


def _ids_of_one_run(comparison: RunComparison) -> list[tuple[str, str]]:
    sides = (
        ("asked before alone", comparison.only_before),
        ("asked after alone", comparison.only_after),
        ("without an answer in one of the runs", [trial.id for trial in comparison.missing]),
    )
    return [(f"{side}: {count(len(ids), 'question')}", _id_list(ids)) for side, ids in sides if ids]


def _id_list(ids: Iterable[str]) -> str:
    listed_ids = list(ids)
    more = f" and {len(listed_ids) - MOST:,} more" if len(listed_ids) > MOST else ""
    return ", ".join(listed_ids[:MOST]) + more
