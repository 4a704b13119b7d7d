"""The validation of a fine-tuning: which of Yes and No is more probable behind the query of each sample."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any, Final

from ....local_weights import LocalWeights
from ....results.aggregates import geometric_mean
from ..next_step_samples import NextStepSample, query_of
from .training_samples import ANSWERS

_AT_ONCE: Final = 16  # sequences


@dataclass(frozen=True, slots=True)
class AnswerScores:
    """What a validation found.

    Args:
        loss: The mean of the negative natural logarithms of the probability of the right answer.
        sensitivity: The share of the Yes samples to which Yes is more probable; None if there are none.
        specificity: The share of the No samples to which No is more probable; None if there are none.
        g_mean: The geometric mean of both; None if one is not defined.
        ties: The samples to which both are as probable, which are wrong.
        cut: The samples whose query is longer than the model takes; its first tokens are left out.
    """

    loss: float
    sensitivity: float | None
    specificity: float | None
    g_mean: float | None
    ties: int
    cut: int

    @property
    def rank(self) -> tuple[float, float]:
        """What a better validation has more of: G-mean first, and of the same G-mean a lower loss."""
        return (-1.0 if self.g_mean is None else self.g_mean, -self.loss)


def validate(weights: LocalWeights, samples: Sequence[NextStepSample]) -> AnswerScores:
    """Compare P(Yes) with P(No) for each sample.

    Args:
        weights: The model, in its mode of evaluation.
        samples: At least one.
    """
    sequences = [_sequences(weights, query_of(sample)) for sample in samples]
    values = _logprobs(weights, (ids for pair, _ in sequences for ids in pair))
    right: dict[bool, list[bool]] = {True: [], False: []}
    losses, ties = [], 0
    for at, sample in enumerate(samples):
        yes, no = values[2 * at : 2 * at + 2]
        right[sample.label].append(yes > no if sample.label else no > yes)
        losses.append(-(yes if sample.label else no))
        ties += yes == no
    sensitivity, specificity = (sum(group) / len(group) if group else None for group in (right[True], right[False]))
    defined = [share for share in (sensitivity, specificity) if share is not None]
    g_mean = geometric_mean(defined) if len(defined) == 2 else None
    cut = sum(shortened for _, shortened in sequences)
    return AnswerScores(fsum(losses) / len(losses), sensitivity, specificity, g_mean, ties, cut)


_Tail = tuple[tuple[int, ...], int]  # the tokens of a query with an answer, and where the answers part


def _sequences(weights: LocalWeights, query: str) -> tuple[tuple[_Tail, _Tail], bool]:
    """Return both sequences of a query, and whether tokens were left out.

    What both begin with has the same probability, so only what comes after it is compared.
    """
    yes, no = (weights.tokenizer(query + answer, verbose=False)["input_ids"] for answer in ANSWERS)
    shorter = min(len(yes), len(no))
    border = next((at for at in range(shorter) if yes[at] != no[at]), shorter)
    excess = 0 if weights.longest is None else max(0, max(len(yes), len(no)) - 1 - weights.longest)
    start = max(border - excess, 1)  # the first token has no probability
    return ((tuple(yes[excess:]), start), (tuple(no[excess:]), start)), excess > 0


def _logprobs(weights: LocalWeights, tails: Iterable[_Tail]) -> list[float]:
    """Return the log-probability of each tail behind what stands before it.

    Sequences that differ in their last token alone are computed once, and those of about one length together.
    """
    import torch

    sequences = list(tails)
    places: dict[tuple[int, ...], list[int]] = {}
    for at, (ids, _) in enumerate(sequences):
        places.setdefault(ids[:-1], []).append(at)
    inputs = sorted(places, key=lambda ids: (len(ids), ids))
    values = [0.0] * len(sequences)
    with torch.inference_mode():
        for start in range(0, len(inputs), _AT_ONCE):
            batch = inputs[start : start + _AT_ONCE]
            for logits, ids in zip(_padded_logits(weights, batch), batch, strict=True):
                for at in places[ids]:
                    whole, border = sequences[at]
                    every = torch.log_softmax(logits[border - 1 : len(ids)].double(), dim=-1)
                    values[at] = float(sum(row[token] for row, token in zip(every, whole[border:], strict=True)))
    return values


def _padded_logits(weights: LocalWeights, sequences: Sequence[Sequence[int]]) -> Any:  # noqa: ANN401
    """Return the logits of sequences, filled up behind to one length; the model does not attend to the filling."""
    import torch

    width = max(map(len, sequences))
    padded = torch.tensor([[*ids, *[0] * (width - len(ids))] for ids in sequences], device=weights.device)
    mask = torch.tensor([[1] * len(ids) + [0] * (width - len(ids)) for ids in sequences], device=weights.device)
    return weights.model(padded, attention_mask=mask, use_cache=False).logits.cpu()
