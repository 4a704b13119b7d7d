"""Questions a run declares, what became of each, and the names a gate can select them by.

A gate selects questions by parts: names of a group, a section or a family, and values of labels.
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

_MOST_NAMES = 10  # names listed in a reason of one line
_ENDING = re.compile(r"""^["']|[.<>@]|\s=|=\s""")


def quote_part(part: str) -> str:
    """Return a part of a gate's name as users write it, quoted where it holds a character that would end it."""
    words = part.split("=", 1)
    bare = [word == word.strip() and not _ENDING.search(word) for word in words]
    return "=".join(
        word if as_is else '"{}"'.format(word.replace('"', '""')) for word, as_is in zip(words, bare, strict=True)
    )


def suggest_names(word: str, names: Iterable[str], what: str = "known") -> str:
    """Return the names in words, most similar first and cut to a line, after a suggestion if one is similar enough.

    Args:
        word: What the user wrote.
        names: The possible names.
        what: What the names are called in the text.
    """
    candidates = list(dict.fromkeys(names))
    candidates.sort(key=lambda name: (-SequenceMatcher(None, word, name).ratio(), name))
    more = f" and {len(candidates) - _MOST_NAMES} more" if len(candidates) > _MOST_NAMES else ""
    close_names = get_close_matches(word, candidates, 1)
    suggestion = next((repr(name) if quote_part(name) == name else quote_part(name) for name in close_names), "")
    question = f"did you mean {suggestion}? " if close_names and not word.isdecimal() else ""
    return f"{question}{what}: {', '.join(map(quote_part, candidates[:_MOST_NAMES])) or 'none'}{more}"


LOST_WITH_WORKER = "were lost with their worker"
_TYPO = 0.8  # similarity from which a name counts as a misspelling of a known name


@dataclass(frozen=True, slots=True)
class DeclaredQuestion:
    """A question of a suite, described without building it."""

    id: str
    family: str
    group: str
    section: str
    labels: Mapping[str, str | int | None] = field(default_factory=dict)  # None: the question has no such label
    metrics: Sequence[str] | None = None  # metrics that may score its answer; None: unknown
    graded: bool = False  # as Question.graded


@dataclass(frozen=True, slots=True)
class AbsenceReasons:
    """Why questions have no trial.

    Args:
        reasons: The reason of single questions, by question id.
        lost: Ids of questions whose worker died before it reported their trial.
        selected_by: How the user selected tests, such as "-k"; empty if the user did not.
        default: Reason of all other questions; used if the user selected nothing.
        stop_reason: What ended the run early, in a few words; "" if nothing did.
    """

    reasons: Mapping[str, str] = field(default_factory=dict)
    lost: frozenset[str] = frozenset()
    selected_by: Sequence[str] = ()
    default: str = "did not run, though nothing on the command line left them out"
    stop_reason: str = ""


@dataclass(frozen=True, slots=True)
class Population:
    """The questions of one model that a gate is about: the answered ones, and why the others have no answer."""

    answered: tuple[Trial, ...]
    errors: tuple[Trial, ...]
    not_asked: Mapping[str, int]  # reason -> how many questions
    left_out: int  # questions outside the user's own selection
    selection: str = ""  # how the user selected
    stop_reason: str = ""  # what ended the run early, if questions were not asked because of it
    graded_left_out: int = 0  # graded questions that are not included because the others are right or wrong
    noun: str = "cluster"  # what the families of the questions call a cluster

    @property
    def size(self) -> int:
        """Return the number of questions, answered or not."""
        return len(self.answered) + len(self.errors) + sum(self.not_asked.values()) + self.left_out


def build_population(
    trials: Iterable[Trial],
    declared: Iterable[DeclaredQuestion],
    absences: AbsenceReasons,
    has_trial: Callable[[str], bool],
) -> Population:
    """Sort the trials and the declared questions of one model by what became of them.

    Args:
        trials: The model's trials.
        declared: The questions that were to be asked.
        absences: Why questions have no trial.
        has_trial: Returns True if the question of the given id has a trial.
    """
    all_trials = list(trials)
    not_asked = Counter(_skip_reason(trial) for trial in all_trials if trial.outcome == "skipped")
    left_out = 0
    for question in declared:
        if has_trial(question.id):
            continue
        reason = LOST_WITH_WORKER if question.id in absences.lost else absences.reasons.get(question.id)
        if reason is None and absences.selected_by:
            left_out += 1
        else:
            not_asked[reason or absences.default] += 1
    answered = tuple(trial for trial in all_trials if trial.outcome in ANSWERED)
    errors = tuple(trial for trial in all_trials if trial.outcome == "error")
    stop_reason = absences.stop_reason if not_asked[absences.default] else ""
    return Population(
        answered, errors, dict(sorted(not_asked.items())), left_out, ", ".join(absences.selected_by), stop_reason
    )


def _skip_reason(trial: Trial) -> str:
    """Return why the question was not asked; the same text for all that a budget stopped."""
    if trial.failure is not None and trial.failure.kind in BUDGET_KINDS:
        return f"were not asked: {trial.failure.kind} is spent"
    return f"were not asked: {trial.failure_text}"


AnyQuestion = Question | DeclaredQuestion  # whose names and labels a gate can match


@dataclass(frozen=True, slots=True)
class GateVocabulary:
    """All existing names that a gate can use, whether questions of that name were collected or not."""

    names: Sequence[str] = ()  # of families, sections and groups
    built_in: frozenset[str] = frozenset()  # names of built-in sections and groups, which no user's group has
    metrics: Sequence[str] = ()
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)  # values of each label, as far as they are known
    closed_labels: frozenset[str] = frozenset()  # labels without values beside those in `labels`
    aggregates: Sequence[str] = ()  # of all families


@dataclass(frozen=True, slots=True)
class GateMistake:
    """Why no question matches a gate.

    Args:
        text: The reason, in words.
        kind: "absent": the names exist, but no question of that kind was collected. "unknown": questions that were not
            collected may have the name. "wrong": no question can have it.
    """

    text: str
    kind: Literal["absent", "unknown", "wrong"]


def matches_parts(parts: Iterable[str], question: AnyQuestion) -> bool:
    """Return True if the question has every name and label value; an undeclared label of a declared one matches."""
    return all(_matches_part(part, question) for part in parts)


def _matches_part(part: str, question: AnyQuestion) -> bool:
    label, equals, value = part.partition("=")
    if not equals:
        return part in (question.group, question.section, question.family)
    if label not in question.labels:
        return isinstance(question, DeclaredQuestion)
    label_value = question.labels[label]
    return label_value is not None and str(label_value) == value


def find_gate_mistake(
    parts: Sequence[str], declared: Sequence[DeclaredQuestion], vocabulary: GateVocabulary, metric: str = ""
) -> GateMistake | None:
    """Return why no question has all the parts and the metric; None if there may be one.

    The answer rests on what is known before anything is asked.

    Args:
        parts: Names and label values of the gate.
        declared: The collected questions.
        vocabulary: All existing names.
        metric: The gate's metric; "" if it has none.
    """
    possible = [question for question in declared if matches_parts(parts, question)]
    for part in parts:
        label, equals, _ = part.partition("=")
        if equals and (label_mistake := _label_mistake(label, parts, possible or declared, declared, vocabulary)):
            return label_mistake
        if not any(_matches_part(part, question) for question in declared):
            find_mistake = _value_mistake if equals else _name_mistake
            return find_mistake(part, parts, declared, vocabulary)
    if not possible:
        return GateMistake(f"no question matches all of {', '.join(parts)}", "absent")
    return _metric_mistake(metric, parts, possible)


def _metric_mistake(metric: str, parts: Sequence[str], possible: Sequence[DeclaredQuestion]) -> GateMistake | None:
    if not metric or any(question.metrics is None or metric in question.metrics for question in possible):
        return None
    metrics = sorted({name for question in possible for name in question.metrics or ()})
    name = ".".join(map(quote_part, parts))
    return GateMistake(
        f"no question of {name!r} has the metric {metric!r}; {suggest_names(metric, metrics, 'available')}", "absent"
    )


def _name_mistake(
    part: str, parts: Sequence[str], declared: Sequence[DeclaredQuestion], vocabulary: GateVocabulary
) -> GateMistake:
    collected = question_names(declared)
    if part in vocabulary.names:
        return GateMistake(
            f"no question of {part!r} was collected; {suggest_names(part, collected, 'collected')}", "absent"
        )
    if part in vocabulary.metrics:
        return GateMistake(f"{part!r} is a metric; write it after a name: {_example_name(collected)}.{part}", "wrong")
    if part in vocabulary.aggregates:
        return GateMistake(
            f"{part!r} is an aggregate; write it after a name: {_example_name(collected)}.{part}", "wrong"
        )
    last = len(parts) > 1 and part == parts[-1]
    candidates = [*collected, *vocabulary.names, *((*vocabulary.metrics, *vocabulary.aggregates) if last else ())]
    measures = "no metric or aggregate" if vocabulary.aggregates else "no metric"
    problem = f"no question matches {part!r}{f', and there is {measures} of that name' if last else ''}"
    if not get_close_matches(part, candidates, 1):
        problem += next(
            (_quotes_hint(name, part) for name, following in pairwise(parts) if following == part and "=" in name), ""
        )
    users_name_possible = vocabulary.built_in.isdisjoint(
        name for name in parts if name != part
    )  # a built-in group is no user's group
    kind: Literal["unknown", "wrong"] = (
        "unknown" if users_name_possible and not get_close_matches(part, candidates, 1, _TYPO) else "wrong"
    )
    return GateMistake(f"{problem}; {suggest_names(part, candidates)}", kind)


def _example_name(names: Sequence[str]) -> str:
    return names[0] if names else "NAME"


def _label_mistake(
    label: str,
    parts: Sequence[str],
    possible: Sequence[DeclaredQuestion],
    declared: Sequence[DeclaredQuestion],
    vocabulary: GateVocabulary,
) -> GateMistake | None:
    """Return why the label does not exist, None if that is not certain.

    Questions of a user's own group may have labels of any name.

    Args:
        label: Name of the label.
        parts: All parts of the gate.
        possible: Questions that the gate may be about.
        declared: The collected questions.
        vocabulary: All existing names.
    """
    labels = [*vocabulary.labels, *(name for question in declared for name in question.labels)]
    if label in labels or not labels:
        return None
    if label == "model":
        return GateMistake("'model' is not a label: every gate is evaluated for each model", "wrong")
    if any(question.section not in vocabulary.built_in for question in possible):
        return None
    users_label_possible = vocabulary.built_in.isdisjoint(parts) and not get_close_matches(label, labels, 1, _TYPO)
    text = f"{label!r} is not a label; {suggest_names(label, labels, 'known labels')}"
    return GateMistake(text, "unknown" if users_label_possible else "wrong")


def _value_mistake(
    part: str, parts: Sequence[str], declared: Sequence[DeclaredQuestion], vocabulary: GateVocabulary
) -> GateMistake:
    label, _, value = part.partition("=")
    collected_values, listed_values = _label_values(label, declared), vocabulary.labels.get(label, ())
    rest_of_value = next(
        (
            following
            for name, following in pairwise(parts)
            if name == part and f"{value}.{following}" in (*collected_values, *listed_values)
        ),
        "",
    )
    typo = not value.isdecimal() and get_close_matches(value, [*collected_values, *listed_values], 1, _TYPO)
    kind: Literal["absent", "unknown", "wrong"] = (
        "wrong" if label in vocabulary.closed_labels or typo or rest_of_value else "unknown"
    )
    text = f"no question matches {part!r}{_quotes_hint(part, rest_of_value) if rest_of_value else ''}"
    text += f"; {suggest_names(value, collected_values, f'known values of {label}')}"
    return GateMistake(text, "absent" if value in listed_values else kind)


def _quotes_hint(part: str, rest_of_value: str) -> str:
    """Return a hint how to write a label value whose dot was taken for the end of the part."""
    return f" (quote a value with a dot: {quote_part(f'{part}.{rest_of_value}')})"


def _label_values(label: str, questions: Iterable[AnyQuestion]) -> list[str]:
    return sorted({str(value) for question in questions if (value := question.labels.get(label)) is not None})


def question_names(questions: Iterable[AnyQuestion]) -> list[str]:
    """Return the names of families, then of sections, then of groups, each kind sorted."""
    all_questions = list(questions)
    kinds = [
        sorted({str(getattr(question, kind)) for question in all_questions}) for kind in ("family", "section", "group")
    ]
    return [name for kind in kinds for name in kind if name]


def suggest_parts(part: str, questions: Iterable[AnyQuestion]) -> str:
    """Return in words which names or values the part of a gate could have among these questions, most similar first."""
    all_questions, (label, equals, value) = list(questions), part.partition("=")
    if not equals:
        return suggest_names(part, question_names(all_questions))
    if values := _label_values(label, all_questions):
        return suggest_names(value, values, f"known values of {label}")
    return suggest_names(
        label, sorted({name for question in all_questions for name in question.labels}), "known labels"
    )
