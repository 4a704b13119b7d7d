"""The questions of two runs, paired by what was asked.

Questions are the same where workflow, notation, right answer, wording and marking are. What stands around them, frame,
system prompt, presentation, may have changed: that is what a comparison is about. Such pairs count, and are told.
Whatever else changed makes another question: told, never paired. docs/comparing.md says it at length.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import fsum

from ..trial import Outcome, Question, Trial
from .exchanges import spoken
from .tally import ANSWERED, Tally

ANOTHER = ("workflow", "case", "reference", "notation", "template", "marking")  # what makes another question
AROUND = ("frame", "presentation", "wording", "prompt")  # what does not


@dataclass(frozen=True, slots=True)
class Changed:
    """A question that both runs asked, but not in the same way."""

    id: str  # in the run after
    model: str
    what: tuple[str, ...]  # of ANOTHER and AROUND
    paired: bool  # whether it is compared all the same: nothing of ANOTHER is in `what`


@dataclass(frozen=True, slots=True)
class Missing:
    """A question, or a repetition of it, that one run asked about without an answer."""

    id: str
    model: str
    run: str  # "before" or "after"
    outcome: Outcome  # "error" or "skipped"
    reason: str


@dataclass(frozen=True, slots=True)
class Pair:
    """A question that both runs answered. Trials are its answered repetitions, at least one."""

    id: str  # of the question, without the repetition, in the run after
    model: str  # "" where each run has one model
    group: str
    section: str
    cluster: str
    graded: bool  # its score counts, for none is right or wrong; else whether it passes
    before: tuple[Trial, ...]
    after: tuple[Trial, ...]

    @property
    def loss(self) -> float:
        """What it scored before less what it scores now, means of the repetitions, -1 to 1."""
        return self.value(self.before) - self.value(self.after)

    @property
    def identical(self) -> bool:
        """True if the model said the same in both runs, repetition by repetition, and it came to the same score."""
        return self.loss == 0 and list(map(_said, self.before)) == list(map(_said, self.after))

    def value(self, trials: Sequence[Trial]) -> float:
        """The mean score of a graded question, else the share of repetitions that pass."""
        return mean_score(trials) if self.graded else pass_share(trials)


@dataclass(frozen=True, slots=True)
class Pairing:
    """What two runs have in common, and what not. All in the order of ids, then models."""

    pairs: tuple[Pair, ...]
    changed: tuple[Changed, ...]
    missing: tuple[Missing, ...]
    only_before: tuple[str, ...]  # ids; with the model where there are several
    only_after: tuple[str, ...]
    examples: dict[str, tuple[Question, Question]]  # what changed -> the first question where it did


def _said(trial: Trial) -> Hashable:
    """Return all that the model under test said; what equals nothing where its reply is not known."""
    if trial.reply is None:
        return object()
    return json.dumps(spoken(trial))


Key = tuple[str, str]  # of a question: id without repetition, model
Asked = Mapping[Key, list[Trial]]


def pass_share(trials: Sequence[Trial]) -> float:
    """The share of the trials that pass; at least one trial."""
    return sum(one.passed for one in trials) / len(trials)


def mean_score(trials: Sequence[Trial]) -> float:
    """The mean main score of the trials, 0 for a reply without one; at least one trial."""
    return fsum(0.0 if one.score is None else one.score.value for one in trials) / len(trials)


def paired(before: Tally, after: Tally) -> Pairing:
    """The questions of both runs, those varied left out.

    Models are paired by their names; where each run has only one, it is paired with the other whatever they are called.
    """
    single = len(_models(before)) <= 1 and len(_models(after)) <= 1
    old, new = _asked(before, single), _asked(after, single)
    partner = _partners(old, new)
    pairs: list[Pair] = []
    changed: list[Changed] = []
    missing: list[Missing] = []
    examples: dict[str, tuple[Question, Question]] = {}
    for key in sorted(partner):
        once, now = old[partner[key]], new[key]
        what = changes(once[0].question, now[0].question)
        same = not set(what) & set(ANOTHER)
        if what:
            changed.append(Changed(key[0], now[0].model, what, same))
            for one in what:
                examples.setdefault(one, (once[0].question, now[0].question))
        if same:
            missing += [*_missing(once, "before"), *_missing(now, "after")]
            pairs += _pair(key, once, now)
    return Pairing(
        tuple(pairs),
        tuple(changed),
        tuple(missing),
        tuple(_title(key) for key in sorted(old.keys() - set(partner.values()))),
        tuple(_title(key) for key in sorted(new.keys() - partner.keys())),
        examples,
    )


def changes(before: Question, after: Question) -> tuple[str, ...]:
    """What is not the same about two questions that are meant to be: of ANOTHER and AROUND, in that order.

    "case" is another sentence of the same template about the same workflow, whatever its right answer; "wording" is a
    template whose sentence came out the same; "prompt" stands alone, where nothing else tells why prompt or system
    prompt differ.
    """
    other = _digest(before, "workflow") != _digest(after, "workflow")
    case = not other and _another_case(before, after)
    found = [
        *(["workflow"] if other else []),
        *(["case"] if case else []),
        *(["reference"] if not case and _plain(before) != _plain(after) else []),
        *(["notation"] if before.labels.get("notation") != after.labels.get("notation") else []),
        *(["marking"] if _marking(before) != _marking(after) else []),
    ]
    reworded = _digest(before, "template") != _digest(after, "template")
    if before.text != after.text:
        found += ["template"] if reworded or not found else []
    elif reworded:
        found += ["wording"]
    framed = [_digest(one, "frame") + str(one.labels.get("frame", "")) for one in (before, after)]
    found += ["frame"] if framed[0] != framed[1] else []
    found += ["presentation"] if before.episode != after.episode else []
    told = [(one.system, one.prompt) for one in (before, after)]
    return tuple(found or (["prompt"] if told[0] != told[1] else []))


def _another_case(before: Question, after: Question) -> bool:
    templates = {_digest(one, "template") for one in (before, after)}
    return before.text != after.text and len(templates) == 1 and templates != {""}


def _digest(question: Question, of: str) -> str:
    return question.digests.get(of, "")


def _plain(question: Question) -> str:
    return json.dumps(question.reference, sort_keys=True)


def _marking(question: Question) -> tuple[Hashable, ...]:
    return (question.form, question.metric, question.pass_mark, question.reading, question.aggregate)


def _models(tally: Tally) -> set[str]:
    return {one.model for one in tally if not one.question.relation}


def _asked(tally: Tally, single: bool) -> dict[Key, list[Trial]]:
    """The trials of each question, by repetition."""
    found: dict[Key, list[Trial]] = {}
    for one in sorted(tally, key=lambda trial: trial.question.repetition):
        if not one.question.relation:
            found.setdefault((one.question.once, "" if single else one.model), []).append(one)
    return found


def _partners(old: Asked, new: Asked) -> dict[Key, Key]:
    """The question before for each question after that has one: the same in all but the way of asking; else the same
    id; else the same in all but the notation. Where two look alike none is chosen.

    What was asked goes first: in the user's own files another seed asks something else under the same id.
    """
    found: dict[Key, Key] = {}
    for match in (partial(_alike, sign=_substance), _same_id, partial(_alike, sign=_content)):
        taken = set(found.values())
        left = {key: old[key] for key in old if key not in taken}
        found |= match(left, {key: new[key] for key in new if key not in found})
    return found


def _same_id(old: Asked, new: Asked) -> dict[Key, Key]:
    return {key: key for key in new if key in old}


def _alike(old: Asked, new: Asked, sign: Callable[[Question], tuple[Hashable, ...]]) -> dict[Key, Key]:
    """The question before for each question after that alone has its sign, where one question before has it."""
    left = _unique(old, sign)
    return {key: left[mark] for mark, key in _unique(new, sign).items() if mark in left}


def _unique(asked: Asked, sign: Callable[[Question], tuple[Hashable, ...]]) -> dict[Hashable, Key]:
    """The questions that can be told by the sign. Those without a digest of their workflow have none."""
    found: dict[Hashable, list[Key]] = {}
    for key, trials in asked.items():
        if _digest(trials[0].question, "workflow"):
            found.setdefault((key[1], *sign(trials[0].question)), []).append(key)
    return {mark: keys[0] for mark, keys in found.items() if len(keys) == 1}


def _content(question: Question) -> tuple[Hashable, ...]:
    return (question.family, question.group, _digest(question, "workflow"), _plain(question), question.text)


def _substance(question: Question) -> tuple[Hashable, ...]:
    return (*_content(question), str(question.labels.get("notation", "")), *_marking(question))


def _pair(key: Key, before: Sequence[Trial], after: Sequence[Trial]) -> Iterator[Pair]:
    once, now = (tuple(one for one in trials if one.outcome in ANSWERED) for trials in (before, after))
    asked = after[0].question
    if once and now:
        cluster = asked.cluster or asked.once
        yield Pair(key[0], key[1], asked.group, asked.section, cluster, asked.graded, once, now)


def _missing(trials: Sequence[Trial], run: str) -> Iterator[Missing]:
    for one in trials:
        if one.outcome not in ANSWERED:
            yield Missing(one.question.id, one.model, run, one.outcome, one.error)


def _title(key: Key) -> str:
    return f"{key[0]} {key[1]}".rstrip()
