"""The questions of two runs, paired by what was asked.

Questions are the same where what they are about, how it is presented, right answer, wording and scoring are. What
stands around them, prompt template, system prompt, presentation, may have changed: that is what a comparison is
about. Such pairs count, and are told. Whatever else changed makes another question: told, never paired.
What one run asks with several prompt templates is paired within each of them.
docs/how-to/comparing.md says it at length.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import fsum

from ...family_description import FamilyDescription
from ...trial import PROMPT, Outcome, Question, Trial
from ..descriptions import Descriptions
from ..record.exchanges import model_replies
from ..tally import ANSWERED, Tally

AROUND = ("prompt template", "presentation", "wording", "prompt")  # what may change; all else makes another question


@dataclass(frozen=True, slots=True)
class ChangedQuestion:
    """A question that both runs asked, but not in the same way."""

    id: str  # in the run after
    model: str
    what: tuple[str, ...]  # as `changes` names it
    paired: bool  # whether it is compared all the same: all of `what` is in AROUND


@dataclass(frozen=True, slots=True)
class MissingAnswer:
    """A question, or a repetition of it, that one run asked about without an answer."""

    id: str
    model: str
    run: str  # "before" or "after"
    outcome: Outcome  # "error" or "skipped"
    reason: str


@dataclass(frozen=True, slots=True)
class QuestionPair:
    """A question that both runs answered. Trials are its answered repetitions, at least one."""

    id: str  # of the question, without the repetition, in the run after
    model: str  # "" where each run has one model
    prompt: str  # "" where each run asks the group with one prompt template
    family: str
    group: str
    section: str
    cluster: str
    unit: str  # what it shares with the same question behind other demonstrations
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

    pairs: tuple[QuestionPair, ...]
    changed: tuple[ChangedQuestion, ...]
    missing: tuple[MissingAnswer, ...]
    only_before: tuple[str, ...]  # ids; with the model where there are several
    only_after: tuple[str, ...]
    examples: dict[str, tuple[Question, Question]]  # what changed -> the first question where it did


def _said(trial: Trial) -> Hashable:
    """Return all that the model under test said; what equals nothing where its reply is not known."""
    if trial.reply is None:
        return object()
    return json.dumps(model_replies(trial))


QuestionKey = tuple[str, str, str]  # of a question: id without repetition, model, prompt template
PromptGroups = frozenset[tuple[str, str]]  # family and group of what is asked with several prompt templates
TrialsByQuestion = Mapping[QuestionKey, list[Trial]]
Signature = tuple[Hashable, ...] | None  # by which a question is told from others; None where it cannot be


def pass_share(trials: Sequence[Trial]) -> float:
    """The share of the trials that pass; at least one trial."""
    return sum(one.passed for one in trials) / len(trials)


def mean_score(trials: Sequence[Trial]) -> float:
    """The mean main score of the trials, 0 for a reply without one; at least one trial."""
    return fsum(0.0 if one.score is None else one.score.value for one in trials) / len(trials)


def pair_questions(before: Tally, after: Tally) -> Pairing:
    """The questions of both runs, those varied left out.

    Models are paired by their names; where each run has only one, it is paired with the other whatever they are called.
    So are prompt templates, those of each group of questions by themselves.
    """
    single = len(_models(before)) <= 1 and len(_models(after)) <= 1
    grid = _asked_with_several_prompts(before) | _asked_with_several_prompts(after)
    old, new = _asked(before, single, grid), _asked(after, single, grid)
    partner = _partners(old, new, after.descriptions)
    pairs: list[QuestionPair] = []
    changed: list[ChangedQuestion] = []
    missing: list[MissingAnswer] = []
    examples: dict[str, tuple[Question, Question]] = {}
    for key in sorted(partner):
        once, now = old[partner[key]], new[key]
        what = find_changes(once[0].question, now[0].question, after.descriptions[now[0].question.family])
        same = set(what) <= set(AROUND)
        if what:
            changed.append(ChangedQuestion(key[0], now[0].model, what, same))
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


def find_changes(before: Question, after: Question, family: FamilyDescription) -> tuple[str, ...]:
    """Return what is not the same about two questions that are meant to be: what of AROUND comes last.

    What they are about has the family's word for a cluster, and how it is presented the name of a label. "case" is
    another sentence of the same template about the same, whatever its right answer; "wording" is a template whose
    sentence came out the same; "prompt" stands alone, where nothing else tells why prompt or system prompt differ.
    """
    other = _digest(before, family.cluster) != _digest(after, family.cluster)
    case = not other and _another_case(before, after)
    found = [
        *([family.cluster] if other else []),
        *(["case"] if case else []),
        *(["reference"] if not case and _plain(before) != _plain(after) else []),
        *(label for label in family.presented_by if before.labels.get(label) != after.labels.get(label)),
        *(["scoring"] if _scoring(before) != _scoring(after) else []),
    ]
    reworded = _digest(before, "template") != _digest(after, "template")
    if before.text != after.text:
        found += ["template"] if reworded or not found else []
    elif reworded:
        found += ["wording"]
    templates = [_digest(one, "prompt_template") + str(one.labels.get(PROMPT, "")) for one in (before, after)]
    found += ["prompt template"] if templates[0] != templates[1] else []
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


def _scoring(question: Question) -> tuple[Hashable, ...]:
    return (question.form, question.metric, question.pass_threshold, question.parsing, question.aggregate)


def _models(tally: Tally) -> set[str]:
    return {one.model for one in tally if not one.question.relation}


def _asked_with_several_prompts(tally: Tally) -> PromptGroups:
    """Return family and group of the questions that a run asks with several prompt templates."""
    prompts: dict[tuple[str, str], set[str]] = {}
    for question in (trial.question for trial in tally if not trial.question.relation):
        if PROMPT in question.labels:
            prompts.setdefault((question.family, question.group), set()).add(str(question.labels[PROMPT]))
    return frozenset(group for group, names in prompts.items() if len(names) > 1)


def _asked(tally: Tally, single: bool, grid: PromptGroups) -> dict[QuestionKey, list[Trial]]:
    """Return the trials of each question, by repetition.

    Args:
        tally: The trials of one run.
        single: True if each run has one model.
        grid: What is asked with several prompt templates by one of the runs.
    """
    found: dict[QuestionKey, list[Trial]] = {}
    for one in sorted(tally, key=lambda trial: trial.question.repetition):
        question = one.question
        prompt = str(question.labels.get(PROMPT, "")) if (question.family, question.group) in grid else ""
        if not question.relation:
            found.setdefault((question.once, "" if single else one.model, prompt), []).append(one)
    return found


def _partners(old: TrialsByQuestion, new: TrialsByQuestion, known: Descriptions) -> dict[QuestionKey, QuestionKey]:
    """The question before for each question after that has one: the same in all but the way of asking; else the same
    id; else the same in all but how it is presented. Where two look alike none is chosen.

    What was asked goes first: in the user's own files another seed asks something else under the same id.
    """
    found: dict[QuestionKey, QuestionKey] = {}
    signs = partial(_substance, known=known), partial(_content, known=known)
    for match in (partial(_alike, sign=signs[0]), _same_id, partial(_alike, sign=signs[1])):
        taken = set(found.values())
        left = {key: old[key] for key in old if key not in taken}
        found |= match(left, {key: new[key] for key in new if key not in found})
    return found


def _same_id(old: TrialsByQuestion, new: TrialsByQuestion) -> dict[QuestionKey, QuestionKey]:
    return {key: key for key in new if key in old}


def _alike(
    old: TrialsByQuestion, new: TrialsByQuestion, sign: Callable[[Question], Signature]
) -> dict[QuestionKey, QuestionKey]:
    """The question before for each question after that alone has its sign, where one question before has it."""
    left = _unique(old, sign)
    return {key: left[mark] for mark, key in _unique(new, sign).items() if mark in left}


def _unique(asked: TrialsByQuestion, sign: Callable[[Question], Signature]) -> dict[Hashable, QuestionKey]:
    """The questions that can be told by the sign."""
    found: dict[Hashable, list[QuestionKey]] = {}
    for key, trials in asked.items():
        if (mark := sign(trials[0].question)) is not None:
            found.setdefault((*key[1:], *mark), []).append(key)
    return {mark: keys[0] for mark, keys in found.items() if len(keys) == 1}


def _content(question: Question, known: Descriptions) -> Signature:
    """Return what the question asks; None for one without a digest of what it is about."""
    about = _digest(question, known[question.family].cluster)
    return (question.family, question.group, about, _plain(question), question.text) if about else None


def _substance(question: Question, known: Descriptions) -> Signature:
    """Return what the question asks, how it is presented, and how answers are scored."""
    labels = (str(question.labels.get(label, "")) for label in known[question.family].presented_by)
    found = _content(question, known)
    return (*found, *labels, *_scoring(question)) if found is not None else None


def _pair(key: QuestionKey, before: Sequence[Trial], after: Sequence[Trial]) -> Iterator[QuestionPair]:
    once, now = (tuple(one for one in trials if one.outcome in ANSWERED) for trials in (before, after))
    asked = after[0].question
    if once and now:
        cluster = asked.cluster or asked.once
        kinds = (asked.family, asked.group, asked.section)
        yield QuestionPair(*key, *kinds, cluster, asked.unit, asked.graded, once, now)


def _missing(trials: Sequence[Trial], run: str) -> Iterator[MissingAnswer]:
    for one in trials:
        if one.outcome not in ANSWERED:
            yield MissingAnswer(one.question.id, one.model, run, one.outcome, one.failure_text)


def _title(key: QuestionKey) -> str:
    return f"{key[0]} {key[1]}".rstrip()
