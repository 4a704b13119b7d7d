"""Pairing of the questions of two runs by what was asked.

Two questions are the same if their cluster, presentation labels, right answer, wording and scoring are the same. The
prompt template, the system prompt and the presentation may differ, as these are what a comparison is about: such pairs
are compared, and the difference is reported. Any other difference makes another question, which is reported and never
paired. Questions with several prompt templates in one of the runs are paired within each template.
docs/how-to/comparing.md has the details.
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

AROUND = (
    "prompt template",
    "presentation",
    "wording",
    "prompt",
)  # may change; any other change makes a different question


@dataclass(frozen=True, slots=True)
class ChangedQuestion:
    """A question that the two runs asked differently."""

    id: str  # in the run after
    model: str
    what: tuple[str, ...]  # as `find_changes` returns it
    paired: bool  # True if it is compared nevertheless: all of `what` is in AROUND


@dataclass(frozen=True, slots=True)
class MissingAnswer:
    """A question, or a repetition of it, without an answer in one of the runs."""

    id: str
    model: str
    run: str  # "before" or "after"
    outcome: Outcome  # "error" or "skipped"
    reason: str


@dataclass(frozen=True, slots=True)
class QuestionPair:
    """A question that both runs answered, with its answered repetitions, at least one in each."""

    id: str  # of the question, without the repetition, in the run after
    model: str  # "" if each run has one model
    prompt: str  # "" if each run asks the group with one prompt template
    family: str
    group: str
    section: str
    cluster: str
    unit: str  # shared with the same question with other demonstrations
    graded: bool  # True if its score is compared instead of whether it passes
    before: tuple[Trial, ...]
    after: tuple[Trial, ...]

    @property
    def loss(self) -> float:
        """Return the score before less the score after, means of the repetitions, -1 to 1."""
        return self.value(self.before) - self.value(self.after)

    @property
    def identical(self) -> bool:
        """Return True if replies and mean score are the same in both runs, repetition by repetition."""
        return self.loss == 0 and list(map(_replies_of, self.before)) == list(map(_replies_of, self.after))

    def value(self, trials: Sequence[Trial]) -> float:
        """Return the mean score of a graded question, else the share of repetitions that pass."""
        return mean_score(trials) if self.graded else pass_share(trials)


@dataclass(frozen=True, slots=True)
class Pairing:
    """The questions that two runs have in common and those they do not, sorted by id, then model."""

    pairs: tuple[QuestionPair, ...]
    changed: tuple[ChangedQuestion, ...]
    missing: tuple[MissingAnswer, ...]
    only_before: tuple[str, ...]  # ids; with the model if there are several
    only_after: tuple[str, ...]
    examples: dict[str, tuple[Question, Question]]  # kind of change -> first question with it, before and after


def _replies_of(trial: Trial) -> Hashable:
    """Return everything that the model under test replied; a unique object if its reply is unknown."""
    if trial.reply is None:
        return object()
    return json.dumps(model_replies(trial))


QuestionKey = tuple[str, str, str]  # of a question: id without repetition, model, prompt template
PromptGroups = frozenset[tuple[str, str]]  # family and group of questions with several prompt templates
TrialsByQuestion = Mapping[QuestionKey, list[Trial]]
Signature = tuple[Hashable, ...] | None  # identifies a question; None if nothing does


def pass_share(trials: Sequence[Trial]) -> float:
    """Return the share of the trials, at least one, that pass."""
    return sum(trial.passed for trial in trials) / len(trials)


def mean_score(trials: Sequence[Trial]) -> float:
    """Return the mean main score of the trials, at least one; a reply without a score counts as 0."""
    return fsum(0.0 if trial.score is None else trial.score.value for trial in trials) / len(trials)


def pair_questions(before: Tally, after: Tally) -> Pairing:
    """Pair the questions of both runs, varied questions left out.

    Models are paired by name; if each run has a single model, the two are paired whatever their names. So are prompt
    templates, within each group of questions.

    Args:
        before: The trials of the baseline.
        after: The trials of the run compared with it.
    """
    single = len(_models(before)) <= 1 and len(_models(after)) <= 1
    prompt_groups = _asked_with_several_prompts(before) | _asked_with_several_prompts(after)
    old, new = _trials_by_question(before, single, prompt_groups), _trials_by_question(after, single, prompt_groups)
    partner = _find_partners(old, new, after.descriptions)
    pairs: list[QuestionPair] = []
    changed: list[ChangedQuestion] = []
    missing: list[MissingAnswer] = []
    examples: dict[str, tuple[Question, Question]] = {}
    for key in sorted(partner):
        old_trials, new_trials = old[partner[key]], new[key]
        all_changes = find_changes(
            old_trials[0].question, new_trials[0].question, after.descriptions[new_trials[0].question.family]
        )
        comparable = set(all_changes) <= set(AROUND)
        if all_changes:
            changed.append(ChangedQuestion(key[0], new_trials[0].model, all_changes, comparable))
            for change in all_changes:
                examples.setdefault(change, (old_trials[0].question, new_trials[0].question))
        if comparable:
            missing += [*_missing_answers(old_trials, "before"), *_missing_answers(new_trials, "after")]
            pairs += _make_pair(key, old_trials, new_trials)
    return Pairing(
        tuple(pairs),
        tuple(changed),
        tuple(missing),
        tuple(_describe_key(key) for key in sorted(old.keys() - set(partner.values()))),
        tuple(_describe_key(key) for key in sorted(new.keys() - partner.keys())),
        examples,
    )


def find_changes(before: Question, after: Question, family: FamilyDescription) -> tuple[str, ...]:
    """Return what differs between two questions that are meant to be the same; members of AROUND last.

    A change of the cluster is named by the family's word for a cluster, a change of presentation by the label. "case"
    is another sentence of the same template about the same cluster, whatever its right answer. "wording" is another
    template with the same sentence. "prompt" is reported alone, if nothing else explains a different prompt or system
    prompt.

    Args:
        before: The question of the baseline.
        after: The question of the run compared with it.
        family: The description of their family.
    """
    other_cluster = _digest(before, family.cluster) != _digest(after, family.cluster)
    other_case = not other_cluster and _another_case(before, after)
    all_changes = [
        *([family.cluster] if other_cluster else []),
        *(["case"] if other_case else []),
        *(["reference"] if not other_case and _reference_json(before) != _reference_json(after) else []),
        *(label for label in family.presented_by if before.labels.get(label) != after.labels.get(label)),
        *(["scoring"] if _scoring(before) != _scoring(after) else []),
    ]
    reworded = _digest(before, "template") != _digest(after, "template")
    if before.text != after.text:
        all_changes += ["template"] if reworded or not all_changes else []
    elif reworded:
        all_changes += ["wording"]
    templates = [
        _digest(question, "prompt_template") + str(question.labels.get(PROMPT, "")) for question in (before, after)
    ]
    all_changes += ["prompt template"] if templates[0] != templates[1] else []
    all_changes += ["presentation"] if before.episode != after.episode else []
    prompts = [(question.system, question.prompt) for question in (before, after)]
    return tuple(all_changes or (["prompt"] if prompts[0] != prompts[1] else []))


def _another_case(before: Question, after: Question) -> bool:
    templates = {_digest(question, "template") for question in (before, after)}
    return before.text != after.text and len(templates) == 1 and templates != {""}


def _digest(question: Question, part: str) -> str:
    return question.digests.get(part, "")


def _reference_json(question: Question) -> str:
    return json.dumps(question.reference, sort_keys=True)


def _scoring(question: Question) -> tuple[Hashable, ...]:
    return (question.form, question.metric, question.pass_threshold, question.parsing, question.aggregate)


def _models(tally: Tally) -> set[str]:
    return {trial.model for trial in tally if not trial.question.relation}


def _asked_with_several_prompts(tally: Tally) -> PromptGroups:
    """Return family and group of the questions that a run asks with several prompt templates."""
    prompts: dict[tuple[str, str], set[str]] = {}
    for question in (trial.question for trial in tally if not trial.question.relation):
        if PROMPT in question.labels:
            prompts.setdefault((question.family, question.group), set()).add(str(question.labels[PROMPT]))
    return frozenset(group for group, names in prompts.items() if len(names) > 1)


def _trials_by_question(tally: Tally, single: bool, prompt_groups: PromptGroups) -> dict[QuestionKey, list[Trial]]:
    """Return the trials of each question, by repetition.

    Args:
        tally: The trials of one run.
        single: True if each run has a single model.
        prompt_groups: Groups with several prompt templates in one of the runs.
    """
    by_question: dict[QuestionKey, list[Trial]] = {}
    for trial in sorted(tally, key=lambda trial: trial.question.repetition):
        question = trial.question
        prompt = str(question.labels.get(PROMPT, "")) if (question.family, question.group) in prompt_groups else ""
        if not question.relation:
            by_question.setdefault((question.once, "" if single else trial.model, prompt), []).append(trial)
    return by_question


def _find_partners(
    old: TrialsByQuestion, new: TrialsByQuestion, descriptions: Descriptions
) -> dict[QuestionKey, QuestionKey]:
    """Return the key of the question before for each question after that has a partner.

    A partner has the same content and presentation; else the same id; else the same content. Ambiguous questions have
    no partner. Content precedes ids because in the user's own files another seed can ask something else under the same
    id.
    """
    partners: dict[QuestionKey, QuestionKey] = {}
    signatures = (
        partial(_presented_content, descriptions=descriptions),
        partial(_content_signature, descriptions=descriptions),
    )
    for match in (
        partial(_match_by, signature_of=signatures[0]),
        _match_by_id,
        partial(_match_by, signature_of=signatures[1]),
    ):
        taken = set(partners.values())
        left = {key: old[key] for key in old if key not in taken}
        partners |= match(left, {key: new[key] for key in new if key not in partners})
    return partners


def _match_by_id(old: TrialsByQuestion, new: TrialsByQuestion) -> dict[QuestionKey, QuestionKey]:
    return {key: key for key in new if key in old}


def _match_by(
    old: TrialsByQuestion, new: TrialsByQuestion, signature_of: Callable[[Question], Signature]
) -> dict[QuestionKey, QuestionKey]:
    """Return the question before for each question after if both are the only ones with their signature."""
    old_keys = _unique_signatures(old, signature_of)
    return {
        key: old_keys[signature]
        for signature, key in _unique_signatures(new, signature_of).items()
        if signature in old_keys
    }


def _unique_signatures(
    trials_by_question: TrialsByQuestion, signature_of: Callable[[Question], Signature]
) -> dict[Hashable, QuestionKey]:
    """Return the questions that have a signature of their own, by signature."""
    keys_by_signature: dict[Hashable, list[QuestionKey]] = {}
    for key, trials in trials_by_question.items():
        if (signature := signature_of(trials[0].question)) is not None:
            keys_by_signature.setdefault((*key[1:], *signature), []).append(key)
    return {signature: keys[0] for signature, keys in keys_by_signature.items() if len(keys) == 1}


def _content_signature(question: Question, descriptions: Descriptions) -> Signature:
    """Return what the question asks; None if it has no digest of its cluster."""
    cluster_digest = _digest(question, descriptions[question.family].cluster)
    return (
        (question.family, question.group, cluster_digest, _reference_json(question), question.text)
        if cluster_digest
        else None
    )


def _presented_content(question: Question, descriptions: Descriptions) -> Signature:
    """Return what the question asks, how it is presented, and how answers are scored."""
    labels = (str(question.labels.get(label, "")) for label in descriptions[question.family].presented_by)
    content = _content_signature(question, descriptions)
    return (*content, *labels, *_scoring(question)) if content is not None else None


def _make_pair(key: QuestionKey, before: Sequence[Trial], after: Sequence[Trial]) -> Iterator[QuestionPair]:
    answered_before, answered_after = (
        tuple(trial for trial in trials if trial.outcome in ANSWERED) for trials in (before, after)
    )
    question = after[0].question
    if answered_before and answered_after:
        cluster = question.cluster or question.once
        kinds = (question.family, question.group, question.section)
        yield QuestionPair(*key, *kinds, cluster, question.unit, question.graded, answered_before, answered_after)


def _missing_answers(trials: Sequence[Trial], run: str) -> Iterator[MissingAnswer]:
    for trial in trials:
        if trial.outcome not in ANSWERED:
            yield MissingAnswer(trial.question.id, trial.model, run, trial.outcome, trial.failure_text)


def _describe_key(key: QuestionKey) -> str:
    return f"{key[0]} {key[1]}".rstrip()
