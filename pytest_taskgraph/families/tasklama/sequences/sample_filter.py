"""Sample and filter (S&F): of several sequences the best one is taken, or the best ones are put together.

A sequence is ranked by the linear model of `--taskgraph-data=tasklama-filter=FILE`, or by the model under test itself:
by the mean log-probability of its tokens behind the prompt. Yuan et al. (2024) train a separate model for it.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from math import fsum, inf
from typing import TYPE_CHECKING, Final

from ....asking import Transcript, Turns, one_turn
from ....errors import ProviderError, UsageError
from ....scoring.forms.task_graph_form import write_graph
from ....scoring.metrics.texts import f_beta
from ....scoring.task_graphs.step_matching import hungarian_scores, similarity_matrix
from ....trial import Json, Question, Reply, Request
from .filter_model import FilterModel, read_filter
from .multiple_sequences import (
    compose_answer,
    merge_sequences,
    read_sequence,
    sample_requests,
    unparseable_reply,
    whole_setting,
)

if TYPE_CHECKING:
    from ..tasklama_settings import TaskLamaSettings

FILTERED: Final = ("filter", "multseq_filter")
"""The methods that need the file of coefficients."""
MERGED: Final = ("multseq_filter", "multseq_filter_logprob")
"""The methods that put the best sequences together."""
EPISODE_METRICS: Final = ("best_sample_f1", "mean_sample_f1")
"""What these methods measure beside the answer: the Hungarian F1 of the best sample, which no filter can exceed, and
the mean of all samples, which a random choice has. Undefined unless the similarity is lexical."""
_DIGITS: Final = 6  # of a rank in the record


def check_filter(settings: TaskLamaSettings, methods: Sequence[str] = ()) -> None:
    """Check that the methods of the run that filter sequences have what they need.

    Args:
        settings: The settings.
        methods: The names of the methods; those of the settings if there is none.

    Raises:
        UsageError: if the file of coefficients is missing or cannot be used, or more of the best sequences are to be
            put together than are sampled.
    """
    names = methods or settings.methods
    if needing := [name for name in names if name in FILTERED]:
        load_filter(settings, needing[0])
    if (merging := [name for name in names if name in MERGED]) and settings.sequences > settings.samples:
        raise UsageError(
            f"--taskgraph-tasklama-sequences: {settings.sequences}; expected at most the number of samples, "
            f"{settings.samples} (--taskgraph-tasklama-samples), of which {merging[0]} takes the best"
        )


def load_filter(settings: TaskLamaSettings, method: str) -> FilterModel:
    """Return the linear model that the file of coefficients states.

    Args:
        settings: The settings; they name the file.
        method: The method that needs it, for messages.

    Raises:
        UsageError: if no file is named, or it cannot be used.
    """
    if not settings.filter:
        raise UsageError(
            f"--taskgraph-data=tasklama-filter=FILE: the method {method} needs a file of coefficients; write it with "
            f"python -m pytest_taskgraph tasklama fit, or ask {method}_logprob, which needs none"
        )
    return read_filter(settings.filter)


@one_turn
def filter_best(question: Question) -> Turns:
    """Take the sample that the linear model ranks first."""
    return (yield from _filter_samples(question, by_model=True, merging=False))


def filter_best_logprob(question: Question) -> Turns:
    """Take the sample that is most probable to the model under test."""
    return (yield from _filter_samples(question, by_model=False, merging=False))


@one_turn
def multseq_filter(question: Question) -> Turns:
    """Merge the samples that the linear model ranks first, as many as `sequences` states."""
    return (yield from _filter_samples(question, by_model=True, merging=True))


def multseq_filter_logprob(question: Question) -> Turns:
    """Merge the samples that are most probable to the model under test, as many as `sequences` states."""
    return (yield from _filter_samples(question, by_model=False, merging=True))


def _filter_samples(question: Question, *, by_model: bool, merging: bool) -> Turns:
    """Ask for all samples side by side, rank those that can be read, and take the best, or merge them, best first.

    The note of each sample says how many steps it has, by what it is ranked (`filter_score`) and whether it was taken
    (`kept`).
    """
    keep = whole_setting(question, "sequences") if merging else 1
    model = _stated_model(question) if by_model else None
    replies = yield sample_requests(question, whole_setting(question, "samples"))
    sequence_of = {
        at: steps for at, reply in enumerate(replies) if (steps := read_sequence(question, reply)) is not None
    }
    metrics = _sample_scores(question, list(sequence_of.values()), len(replies))
    if not sequence_of:
        return Transcript(unparseable_reply(replies), metrics, notes=[{"kept": False, "steps": 0} for _ in replies])
    sequences = list(sequence_of.values())
    values = _predict(question, model, sequences) if model else (yield from _logprobs(question, sequences))
    ranks = dict(zip(sequence_of, values, strict=True))
    best = sorted(sequence_of, key=lambda at: (-inf if ranks[at] is None else ranks[at], -at), reverse=True)[:keep]
    steps = merge_sequences(sequence_of[at] for at in best) if merging else sequence_of[best[0]]
    notes = [_note(sequence_of.get(at), ranks.get(at), at in best) for at in range(len(replies))]
    reply = yield from compose_answer(question, replies[best[0]], steps)
    return Transcript(reply, metrics, notes=notes)


def _stated_model(question: Question) -> FilterModel:
    return FilterModel.from_json(question.episode_settings.get("filter"), f"question {question.id}: filter")


def _note(steps: Sequence[str] | None, rank: float | None, is_kept: bool) -> dict[str, Json]:
    score = None if rank is None else round(rank, _DIGITS)
    return {"kept": is_kept, "steps": len(steps or ()), "filter_score": score}


def _predict(question: Question, model: FilterModel, sequences: Sequence[Sequence[str]]) -> list[float | None]:
    title, context = stated_task(question)
    return [*model.scores(title, context, sequences)]


def stated_task(question: Question) -> tuple[str, list[str]]:
    """Return the title and the context of the task, as the settings of the episode state them.

    Raises:
        UsageError: if they state none.
    """
    title, context = (question.episode_settings.get(name) for name in ("title", "context"))
    if (
        not isinstance(title, str)
        or not isinstance(context, list)
        or not all(isinstance(text, str) for text in context)
    ):
        raise UsageError(f"question {question.id}: episode_settings has no title and list of context")
    return title, [str(text) for text in context]


def _logprobs(
    question: Question, sequences: Sequence[Sequence[str]]
) -> Generator[list[Request], list[Reply], list[float | None]]:
    """Ask the model under test how probable each sequence is behind the prompt, in one request.

    Returns:
        The mean log-probability of a token of each sequence, written as numbered lines; None if it has no value.

    Raises:
        ProviderError: if the reply has not a score for each text.
    """
    texts = ["\n" + write_graph({"steps": [*steps]}) for steps in sequences]
    distinct = list(dict.fromkeys(texts))
    context = "\n\n".join(filter(None, (question.system, question.prompt)))
    right, wrong = _simulated_logprobs(question, dict(zip(texts, sequences, strict=True)))
    (reply,) = yield [Request(kind="score", context=context, texts=distinct, right=right, wrong=wrong)]
    if len(reply.scores) != len(distinct):
        raise ProviderError(
            "malformed", f"expected log-probabilities of {len(distinct)} texts, got {len(reply.scores)}"
        )
    means = dict(zip(distinct, (_mean_logprob(score.logprob, score.tokens) for score in reply.scores), strict=True))
    return [means[text] for text in texts]


def _mean_logprob(total: float | None, tokens: int) -> float | None:
    return None if total is None or not tokens else total / tokens


def _simulated_logprobs(question: Question, sequences: dict[str, Sequence[str]]) -> tuple[list[Json], list[Json]]:
    """Return what simulated models reply: rightly, the sequence nearest to gold is the most probable one."""
    reference = question.reference if isinstance(question.reference, dict) else {}
    near = [sequence_f1(steps, {**reference, "similarity": "lexical"}) for steps in sequences.values()]
    words = [len(text.split()) for text in sequences]
    return (
        [(value - 1) * number for value, number in zip(near, words, strict=True)],
        [0.0 - value * number for value, number in zip(near, words, strict=True)],
    )


def _sample_scores(question: Question, sequences: Sequence[Sequence[str]], samples: int) -> dict[str, float | None]:
    """Return EPISODE_METRICS; a sample that cannot be read counts 0."""
    reference = question.reference
    if not isinstance(reference, dict) or reference.get("similarity", "lexical") != "lexical":
        return dict.fromkeys(EPISODE_METRICS)
    values = [sequence_f1(steps, reference) for steps in sequences]
    return dict(zip(EPISODE_METRICS, (max(values, default=0.0), fsum(values) / samples), strict=True))


def sequence_f1(steps: Sequence[str], reference: Json) -> float:
    """Return the Hungarian F1 of a sequence of steps against a gold graph.

    Raises:
        UsageError: if the reference is malformed, or a package that its similarity needs is missing.
        UnmeasuredError: if its similarity is measured by an embedder.
    """
    return f_beta(*hungarian_scores(similarity_matrix({"steps": [*steps]}, reference)))
