"""Who was to be asked what, against what came of it, and the names that gates are made of.

Which questions a gate is about, its parts say: names of a group, a section or a family, and values of labels.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher, get_close_matches
from itertools import pairwise
from typing import Literal

from ..errors import BUDGET_KINDS
from ..trial import Question, Trial
from .tally import ANSWERED

_SHOWN = 10  # names that a reason of one line tells
_ENDING = re.compile(r"""^["']|[.<>@]|\s=|=\s""")


def quote_part(part: str) -> str:
    """A part of a gate's name as it is written: in quotes what holds a sign that would end it."""
    words = part.split("=", 1)
    bare = [one == one.strip() and not _ENDING.search(one) for one in words]
    return "=".join(
        one if as_is else '"{}"'.format(one.replace('"', '""')) for one, as_is in zip(words, bare, strict=True)
    )


def suggest_names(word: str, names: Iterable[str], what: str = "known") -> str:
    """The names, the most like first, and no more than fit a line; and whether one of them is likely to be meant."""
    every = list(dict.fromkeys(names))
    every.sort(key=lambda name: (-SequenceMatcher(None, word, name).ratio(), name))
    more = f" and {len(every) - _SHOWN} more" if len(every) > _SHOWN else ""
    meant = get_close_matches(word, every, 1)
    best = next((repr(one) if quote_part(one) == one else quote_part(one) for one in meant), "")
    asked = f"did you mean {best}? " if meant and not word.isdecimal() else ""
    return f"{asked}{what}: {', '.join(map(quote_part, every[:_SHOWN])) or 'none'}{more}"


LOST_WITH_WORKER = "were lost with their worker"
_TYPO = 0.8  # how like a known name one is that can only be meant for it


@dataclass(frozen=True, slots=True)
class DeclaredQuestion:
    """A question that a suite holds, before it is built: what is known of it without building it."""

    id: str
    family: str
    group: str
    section: str
    labels: Mapping[str, str | int | None] = field(default_factory=dict)  # None: it will not have the label
    metrics: Sequence[str] | None = None  # those that its answer may be scored by; None: not known
    graded: bool = False  # as Question.graded


@dataclass(frozen=True, slots=True)
class AbsenceReasons:
    """Why questions have no trial: by question id, and for all the others.

    `reasons`: what is known of single questions. `lost`: those whose worker died before their trial came. `chosen`: how
    the user selected, "-k" and the like; none where the user did not, and then `otherwise` tells why the others are not
    there. `ended`: what ended the run before its time, in a few words.
    """

    reasons: Mapping[str, str] = field(default_factory=dict)
    lost: frozenset[str] = frozenset()
    selected_by: Sequence[str] = ()
    default: str = "did not run, though nothing on the command line left them out"
    stop_reason: str = ""


@dataclass(frozen=True, slots=True)
class Population:
    """The questions of one model that have something in common: those that were answered, and why the others not."""

    answered: tuple[Trial, ...]
    errors: tuple[Trial, ...]
    not_asked: Mapping[str, int]  # reason -> how many questions
    left_out: int  # by the user's own selection
    selection: str = ""  # how the user selected
    stop_reason: str = ""  # what ended the run before its time, where that kept some from being asked
    graded_left_out: int = 0  # graded questions that are not among them, for the others are right or wrong
    noun: str = "cluster"  # what the families of the questions call a cluster

    @property
    def size(self) -> int:
        """How many questions there are."""
        return len(self.answered) + len(self.errors) + sum(self.not_asked.values()) + self.left_out


def build_population(
    trials: Iterable[Trial], declared: Iterable[DeclaredQuestion], where: AbsenceReasons, known: Callable[[str], bool]
) -> Population:
    """The trials and the declared questions of one model, put together. `known`: whether a question has a trial."""
    found = list(trials)
    unasked = Counter(_why(one) for one in found if one.outcome == "skipped")
    left_out = 0
    for one in declared:
        if known(one.id):
            continue
        reason = LOST_WITH_WORKER if one.id in where.lost else where.reasons.get(one.id)
        if reason is None and where.selected_by:
            left_out += 1
        else:
            unasked[reason or where.default] += 1
    answered = tuple(one for one in found if one.outcome in ANSWERED)
    errors = tuple(one for one in found if one.outcome == "error")
    ended = where.stop_reason if unasked[where.default] else ""
    return Population(answered, errors, dict(sorted(unasked.items())), left_out, ", ".join(where.selected_by), ended)


def _why(trial: Trial) -> str:
    """The reason of a question that was not asked, the same for all that a budget stopped."""
    if trial.failure is not None and trial.failure.kind in BUDGET_KINDS:
        return f"were not asked: {trial.failure.kind} is spent"
    return f"were not asked: {trial.failure_text}"


Subject = Question | DeclaredQuestion  # what a name can fit


@dataclass(frozen=True, slots=True)
class GateVocabulary:
    """The names that there are, whatever was collected."""

    names: Sequence[str] = ()  # of families, sections and groups
    built_in: frozenset[str] = frozenset()  # those of built-in sections and groups: no group of a user's is one
    metrics: Sequence[str] = ()
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)  # their values, as far as they can be listed
    closed_labels: frozenset[str] = frozenset()  # labels that have no other values than those
    aggregates: Sequence[str] = ()  # of all families


@dataclass(frozen=True, slots=True)
class GateMistake:
    """Why a gate is about none of the questions.

    absent: its names are good, but nothing of the kind was collected. unknown: what was not collected may be called so.
    wrong: nothing can be.
    """

    text: str
    kind: Literal["absent", "unknown", "wrong"]


def matches_parts(parts: Iterable[str], one: Subject) -> bool:
    """Whether all names are the question's; of a declared one, labels that are not known yet may be."""
    return all(_fits(part, one) for part in parts)


def _fits(part: str, one: Subject) -> bool:
    label, equals, value = part.partition("=")
    if not equals:
        return part in (one.group, one.section, one.family)
    if label not in one.labels:
        return isinstance(one, DeclaredQuestion)
    found = one.labels[label]
    return found is not None and str(found) == value


def find_gate_mistake(
    parts: Sequence[str], declared: Sequence[DeclaredQuestion], known: GateVocabulary, metric: str = ""
) -> GateMistake | None:
    """Why no question is of all the parts and has the metric, as far as that is known before anything is asked; None
    where some may be.
    """
    about = [one for one in declared if matches_parts(parts, one)]
    for part in parts:
        label, equals, _ = part.partition("=")
        if equals and (found := _label_mistake(label, parts, about or declared, declared, known)):
            return found
        if not any(_fits(part, one) for one in declared):
            said = _value_mistake if equals else _name_mistake
            return said(part, parts, declared, known)
    if not about:
        return GateMistake(f"no question is of all of {', '.join(parts)}", "absent")
    return _metric_mistake(metric, parts, about)


def _metric_mistake(metric: str, parts: Sequence[str], about: Sequence[DeclaredQuestion]) -> GateMistake | None:
    if not metric or any(one.metrics is None or metric in one.metrics for one in about):
        return None
    found = sorted({name for one in about for name in one.metrics or ()})
    name = ".".join(map(quote_part, parts))
    return GateMistake(
        f"no question of {name!r} has the metric {metric!r}; {suggest_names(metric, found, 'they have')}", "absent"
    )


def _name_mistake(
    part: str, parts: Sequence[str], declared: Sequence[DeclaredQuestion], known: GateVocabulary
) -> GateMistake:
    collected = question_names(declared)
    if part in known.names:
        return GateMistake(
            f"no question of {part!r} was collected; {suggest_names(part, collected, 'collected')}", "absent"
        )
    if part in known.metrics:
        return GateMistake(f"{part!r} is a metric, and stands after a name: {_first(collected)}.{part}", "wrong")
    if part in known.aggregates:
        return GateMistake(f"{part!r} is an aggregate, and stands after a name: {_first(collected)}.{part}", "wrong")
    last = len(parts) > 1 and part == parts[-1]
    meant = [*collected, *known.names, *((*known.metrics, *known.aggregates) if last else ())]
    measures = "no metric or aggregate" if known.aggregates else "no metric"
    what = f"no question is of {part!r}{f', and {measures} is called so' if last else ''}"
    if not get_close_matches(part, meant, 1):
        what += next((_in_quotes(one, part) for one, then in pairwise(parts) if then == part and "=" in one), "")
    alone = known.built_in.isdisjoint(one for one in parts if one != part)  # what is ours is not a user's as well
    kind: Literal["unknown", "wrong"] = "unknown" if alone and not get_close_matches(part, meant, 1, _TYPO) else "wrong"
    return GateMistake(f"{what}; {suggest_names(part, meant)}", kind)


def _first(names: Sequence[str]) -> str:
    return names[0] if names else "NAME"


def _label_mistake(
    label: str,
    parts: Sequence[str],
    about: Sequence[DeclaredQuestion],
    declared: Sequence[DeclaredQuestion],
    known: GateVocabulary,
) -> GateMistake | None:
    """What is wrong with the name of a label; nothing that is certain, where some of the questions that the gate may be
    `about` are of a group of the user, which may bring labels of any name.
    """
    labels = [*known.labels, *(name for one in declared for name in one.labels)]
    if label in labels or not labels:
        return None
    if label == "model":
        return GateMistake("'model' is no label: every gate decides on each model by itself", "wrong")
    if any(one.section not in known.built_in for one in about):
        return None
    elsewhere = known.built_in.isdisjoint(parts) and not get_close_matches(label, labels, 1, _TYPO)
    told = f"{label!r} is no label; {suggest_names(label, labels, 'known labels')}"
    return GateMistake(told, "unknown" if elsewhere else "wrong")


def _value_mistake(
    part: str, parts: Sequence[str], declared: Sequence[DeclaredQuestion], known: GateVocabulary
) -> GateMistake:
    label, _, value = part.partition("=")
    found, listed = _values(label, declared), known.labels.get(label, ())
    cut = next((then for one, then in pairwise(parts) if one == part and f"{value}.{then}" in (*found, *listed)), "")
    typo = not value.isdecimal() and get_close_matches(value, [*found, *listed], 1, _TYPO)
    kind: Literal["absent", "unknown", "wrong"] = "wrong" if label in known.closed_labels or typo or cut else "unknown"
    told = f"no question is of {part!r}{_in_quotes(part, cut) if cut else ''}"
    told += f"; {suggest_names(value, found, f'known values of {label}')}"
    return GateMistake(told, "absent" if value in listed else kind)


def _in_quotes(part: str, then: str) -> str:
    """How the value of a label is written, where its dot was taken for the end of it."""
    return f" (a value with a dot stands in quotes: {quote_part(f'{part}.{then}')})"


def _values(label: str, ones: Iterable[Subject]) -> list[str]:
    return sorted({str(found) for one in ones if (found := one.labels.get(label)) is not None})


def question_names(ones: Iterable[Subject]) -> list[str]:
    """The names of families, then of sections, then of groups."""
    subjects = list(ones)
    kinds = [sorted({str(getattr(one, kind)) for one in subjects}) for kind in ("family", "section", "group")]
    return [name for kind in kinds for name in kind if name]


def suggest_parts(part: str, ones: Iterable[Subject]) -> str:
    """The names that a part of a gate could have been, among these questions, the nearest first."""
    subjects, (label, equals, value) = list(ones), part.partition("=")
    if not equals:
        return suggest_names(part, question_names(subjects))
    if values := _values(label, subjects):
        return suggest_names(value, values, f"known values of {label}")
    return suggest_names(label, sorted({name for one in subjects for name in one.labels}), "known labels")
