"""Conflicts of conditions as a model of natural language inference sees them (Du et al. 2024, section 4.3).

The paper asks a model for "conflict" or "no conflict", and does not state which of two conditions is the premise. That
two conditions contradict each other holds both ways or not at all, and branches have no order. So both directions are
asked, and one contradiction is a conflict: branches that change places get the same verdict.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from ....errors import UsageError
from ..entailment_models.entailment_scores import EntailmentModel, judge_texts
from ..entailment_models.entailment_weights import check_nli_extra, find_entailment_weights, load_entailment_model
from ..paged_options import NLI
from .conflict_rules import ConflictVerdict, bare_condition, find_plain_conflict

MOST_PAIRS: Final = 100
"""Pairs of conditions of one question that the model judges; about others nothing is known."""
_MOST_KEPT: Final = 10_000  # verdicts
_EXAMPLE: Final = ("need dishes", "need drinks")  # of the paper


class ContradictionJudge:
    """A model of natural language inference that judges each pair of texts once.

    Args:
        model: The model.

    Raises:
        UsageError: if the model does not give probabilities for two short texts.
    """

    def __init__(self, model: EntailmentModel) -> None:
        self._model = model
        self._contradicts(*_EXAMPLE)
        self.judge_pair = lru_cache(maxsize=_MOST_KEPT)(self._judge_pair)

    def _judge_pair(self, first: str, second: str) -> ConflictVerdict:
        """Return "conflict" if one of two texts contradicts the other; "unknown" if the model cannot take them."""
        try:
            conflict = self._contradicts(first, second) or self._contradicts(second, first)
        except UsageError:  # of the texts, which are a model's: they may have more tokens than this model takes
            return "unknown"
        return "conflict" if conflict else "no conflict"

    def _contradicts(self, premise: str, hypothesis: str) -> bool:
        """Return True if contradiction is the most probable of the three labels."""
        (scores,) = judge_texts(self._model, premise, [hypothesis])
        return scores.contradiction > max(scores.entailment, scores.neutral)


class EntailmentConflictRule:
    """Decides by a model, except where two conditions state ranges of numbers, are one, or one means all other cases.

    It is made for one question, and judges a bounded number of pairs.

    Args:
        judge: The model.
    """

    def __init__(self, judge: ContradictionJudge) -> None:
        self._judge = judge
        self._pairs: set[tuple[str, str]] = set()

    def find_conflict(self, first: str, second: str) -> ConflictVerdict:
        """Return whether one of two conditions contradicts the other."""
        bare, other_bare = bare_condition(first), bare_condition(second)
        if (plain := find_plain_conflict(bare, other_bare)) is not None:
            return plain
        pair = (min(bare, other_bare), max(bare, other_bare))
        if pair not in self._pairs and len(self._pairs) >= MOST_PAIRS:
            return "unknown"
        self._pairs.add(pair)
        return self._judge.judge_pair(*pair)


def check_entailment_rule(name: str) -> None:
    """Check that the extra is installed, and that a model of natural language inference is there; it is not loaded.

    Args:
        name: The path of a folder, or a name that the local cache holds.

    Raises:
        UsageError: if not.
    """
    try:
        check_nli_extra()
    except UsageError as error:
        raise UsageError(f"{NLI.flag}: {error}") from None
    try:
        find_entailment_weights(name)
    except UsageError as error:
        raise UsageError(f"{NLI.flag}: {error}") from None


def entailment_rule(name: str) -> EntailmentConflictRule:
    """Return the rule of a model, which is loaded once.

    Args:
        name: The path of a folder, or a name that the local cache holds.

    Raises:
        UsageError: if the model cannot be loaded, or gives no probabilities.
    """
    return EntailmentConflictRule(_loaded_judge(name))


@lru_cache(maxsize=2)
def _loaded_judge(name: str) -> ContradictionJudge:
    try:
        return ContradictionJudge(load_entailment_model(name))
    except UsageError as error:
        raise UsageError(f"{NLI.flag}: {error}") from None
