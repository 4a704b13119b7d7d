"""The validation of a tuned model: its dev samples, answered by the code that answers in a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, fsum
from threading import Event
from typing import TYPE_CHECKING, Final

from ..models.clients.local_model import WritingSettings, score_sequences, write_reply
from .learned_tokens import sample_tokens

if TYPE_CHECKING:
    from ..benchmarks.tuning_task import TuningSample, TuningTask
    from ..local_weights import LocalWeights

TIE: Final = ""  # the reply where two choices are as probable
_SPARE: Final = 32  # tokens that a written reply may have beyond the longest target
Part = tuple["TuningTask", Sequence["TuningSample"]]


@dataclass(frozen=True, slots=True)
class DevScores:
    """What a validation found.

    Args:
        loss: The mean negative natural logarithm of the probability of the target: of the whole target where choices
            are compared, of its tokens where a reply is written.
        scores: The scores of each task by name; of several tasks, each behind the name of its task.
        score: What decides: the mean of the first score of each task; None if one is not defined.
        cut: The samples of which tokens were left out.
        ties: The samples whose choices are equally probable.
    """

    loss: float
    scores: Mapping[str, float | None]
    score: float | None
    cut: int = 0
    ties: int = 0

    @property
    def rank(self) -> tuple[float, float]:
        """What a better validation has more of: the score first, and of the same score a lower loss."""
        return (-1.0 if self.score is None else self.score, exp(-min(self.loss, 700.0)))


def validate(weights: LocalWeights, parts: Sequence[Part], most: int) -> DevScores:
    """Answer the dev samples of each task, and score the replies.

    Args:
        weights: The model, in its mode of evaluation.
        parts: The tasks, each with at least one sample.
        most: The most tokens of a sample.
    """
    scores: dict[str, float | None] = {}
    losses, deciding, cut, ties = list[float](), list[float | None](), 0, 0
    for task, samples in parts:
        longest = max(len(_target_tokens(weights, sample)) for sample in samples) + _SPARE
        answers = [_answer(weights, task, sample, most, longest) for sample in samples]
        losses += [answer.loss for answer in answers]
        cut += sum(answer.cut for answer in answers)
        ties += sum(
            bool(sample.choices) and answer.reply == TIE for sample, answer in zip(samples, answers, strict=True)
        )
        own = task.score(samples, [answer.reply for answer in answers])
        deciding.append(next(iter(own.values())))
        scores |= {name if len(parts) == 1 else f"{task.name}.{name}": value for name, value in own.items()}
    defined = [value for value in deciding if value is not None]
    score = fsum(defined) / len(defined) if len(defined) == len(deciding) else None
    return DevScores(fsum(losses) / len(losses), scores, score, cut, ties)


@dataclass(frozen=True, slots=True)
class _Answer:
    reply: str
    loss: float
    cut: bool


def _answer(weights: LocalWeights, task: TuningTask, sample: TuningSample, most: int, longest: int) -> _Answer:
    """Return the reply to a sample: the most probable choice, or the one that is written."""
    texts = sample.choices or (sample.target,)
    tokens = [sample_tokens(weights, task, sample.prompt, text, most) for text in texts]
    rows = score_sequences(weights, [(each.ids, each.border) for each in tokens])
    probabilities = dict(zip(texts, (row[0] for row in rows), strict=True))
    loss = -probabilities[sample.target]
    if sample.choices:
        best = max(probabilities.values())
        chosen = [text for text, value in probabilities.items() if value == best]
        return _Answer(chosen[0] if len(chosen) == 1 else TIE, loss, any(each.cut for each in tokens))
    prompt = sample_tokens(
        weights, task, sample.prompt, "", most if weights.start is not None else max(most // 2, most - longest)
    )
    reply, _, _ = write_reply(weights, prompt.ids, WritingSettings(max_tokens=longest), 1, Event())
    return _Answer(reply, loss / max(1, rows[0][1]), prompt.cut or tokens[0].cut)


def _target_tokens(weights: LocalWeights, sample: TuningSample) -> Sequence[int]:
    tokens: Sequence[int] = weights.tokenizer(sample.target, add_special_tokens=False, verbose=False)["input_ids"]
    return tokens
