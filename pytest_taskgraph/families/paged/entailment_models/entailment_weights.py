"""Entailment models on this machine, behind the extra `nli`: a folder in transformers' format, or a name in the cache.

Weights are read from safetensors alone, which hold numbers and nothing that runs; code that comes with a model is never
run, and no network is used. torch and transformers are imported when a model is loaded, not before.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from itertools import starmap
from pathlib import Path
from typing import Any, Final

from ....errors import UsageError
from ....local_weights import find_weights, quiet_transformers
from .entailment_scores import EntailmentScores

NLI_EXTRA: Final = "pip install pytest-taskgraph-bench[nli]"
_PACKAGES: Final = ("torch", "transformers")
_LABELS: Final = ("entailment", "neutral", "contradiction")
_NO_LENGTH: Final = 100_000  # transformers writes a larger number where a tokenizer knows none
_LEAST_ROOM: Final = 16  # tokens of a premise, below which its parts say nothing


def check_nli_extra() -> None:
    """Check that torch and transformers are installed; they are not imported.

    Raises:
        UsageError: if one is not.
    """
    if missing := [name for name in _PACKAGES if find_spec(name) is None]:
        raise UsageError(f"entailment models need {' and '.join(missing)}, which this extra installs: {NLI_EXTRA}")


def find_entailment_weights(name: str) -> Path:
    """Return the folder of an entailment model, which is not loaded; it has the labels of one.

    Args:
        name: The path of a folder that transformers saved, or a name that the local cache holds.

    Raises:
        UsageError: if torch or transformers are missing, the model is not there, has no safetensors, or has other
            labels.
    """
    check_nli_extra()
    folder = find_weights(name, otherwise=f"download it there before the run: hf download {name}")
    path = folder / "config.json"
    try:
        stated = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"the entailment model {folder}: {path} cannot be read: {str(error)[:200]}") from None
    labels = stated.get("id2label") if isinstance(stated, dict) else None
    _label_places(f"local:{folder}", labels if isinstance(labels, dict) else {})
    return folder


def load_entailment_model(name: str) -> LocalEntailmentModel:
    """Load an entailment model, such as the paper's FacebookAI/roberta-large-mnli, from this machine.

    Args:
        name: The path of a folder that transformers saved, or a name that the local cache holds.

    Raises:
        UsageError: if torch or transformers are missing, the model is not there, has no safetensors, cannot be loaded,
            or is not one of natural language inference.
    """
    folder = find_entailment_weights(name)
    import transformers

    loading: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    try:
        with quiet_transformers():
            tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder), use_fast=True, **loading)
            model, loading_info = transformers.AutoModelForSequenceClassification.from_pretrained(
                str(folder), use_safetensors=True, output_loading_info=True, **loading
            )
    except Exception as error:
        reason = " ".join(str(error).split())[:300]
        raise UsageError(f"the entailment model {folder} cannot be loaded: {type(error).__name__}: {reason}") from error
    if missing := sorted(map(str, loading_info["missing_keys"])):
        raise UsageError(
            f"the entailment model {folder}: the weights lack {missing[0]}; expected a model that was trained to judge "
            "entailment, such as roberta-large-mnli"
        )
    if not getattr(tokenizer, "is_fast", False):
        raise UsageError(
            f"the entailment model {folder}: its tokenizer cannot cut long texts; save one with tokenizer.json"
        )
    return LocalEntailmentModel(folder, model.eval(), tokenizer)


class LocalEntailmentModel:
    """An entailment model in memory.

    A premise that is too long is split into parts that overlap by half. What a part entails or contradicts, the whole
    does, so the part with the highest probability of either counts.

    Args:
        folder: Where the model was loaded from.
        model: A sequence classification model of transformers with the labels of natural language inference.
        tokenizer: Its fast tokenizer.

    Raises:
        UsageError: if the model has other labels.
    """

    def __init__(self, folder: Path, model: Any, tokenizer: Any) -> None:  # noqa: ANN401 - of a package without types
        self.name = f"local:{folder}"
        self._model, self._tokenizer = model, tokenizer
        self._places = _label_places(self.name, model.config.id2label)
        self._longest = _longest(model, tokenizer)

    def judge(self, premise: str, hypotheses: Sequence[str]) -> list[EntailmentScores]:
        """Return the scores of each hypothesis behind the premise.

        Raises:
            UsageError: if a hypothesis is too long for the model.
        """
        return [self._scores(premise, hypothesis) for hypothesis in hypotheses]

    def _scores(self, premise: str, hypothesis: str) -> EntailmentScores:
        by_window = list(starmap(self._probabilities, self._windows(premise, hypothesis)))
        return max(by_window, key=lambda scores: max(scores.entailment, scores.contradiction))

    def _windows(self, premise: str, hypothesis: str) -> list[tuple[list[int], list[int] | None]]:
        """Return the tokens of premise and hypothesis with the types that the model needs, part by part."""
        cut: dict[str, Any] = {}
        if self._longest is not None:
            marks = self._tokenizer.num_special_tokens_to_add(pair=True)
            own = len(self._tokenizer(hypothesis, add_special_tokens=False, verbose=False)["input_ids"])
            room = self._longest - marks - own
            if room < _LEAST_ROOM:
                raise UsageError(
                    f"the entailment model {self.name}: a sentence of {own} tokens leaves no room for a document; it "
                    f"takes {self._longest} tokens in all; choose a model that takes more, or split the sentence"
                )
            cut = {"truncation": "only_first", "max_length": self._longest, "stride": room // 2}
        tokens = self._tokenizer(premise, hypothesis, return_overflowing_tokens=bool(cut), verbose=False, **cut)
        ids, types = tokens["input_ids"], tokens.get("token_type_ids")
        if not cut:
            return [(ids, types)]
        return list(zip(ids, types or [None] * len(ids), strict=True))

    def _probabilities(self, ids: list[int], types: list[int] | None) -> EntailmentScores:
        import torch

        more = {} if types is None else {"token_type_ids": torch.tensor([types])}
        with torch.inference_mode():
            logits = self._model(input_ids=torch.tensor([ids]), attention_mask=torch.ones(1, len(ids)), **more).logits[
                0
            ]
            values = torch.softmax(logits.float(), dim=-1).tolist()
        return EntailmentScores(*(values[self._places[label]] for label in _LABELS))


def _label_places(name: str, labels: Mapping[Any, Any]) -> dict[str, int]:
    """Return the place of each label of natural language inference. Raises UsageError if there are others."""
    places = {str(label).strip().lower(): str(place) for place, label in labels.items()}
    if sorted(places) != sorted(_LABELS) or sorted(places.values()) != ["0", "1", "2"]:
        labels_found = ", ".join(sorted(places))[:100] or "none"
        raise UsageError(
            f"the entailment model {name}: found the labels {labels_found}; expected {', '.join(_LABELS)}; set "
            "id2label in its config.json, or name another model"
        )
    return {label: int(place) for label, place in places.items()}


def _longest(model: Any, tokenizer: Any) -> int | None:  # noqa: ANN401
    """Return the number of tokens that the model takes; None if neither it nor the tokenizer states one.

    Models of the kind of RoBERTa have places for padding among their positions; their tokenizers state fewer tokens.
    """
    padding = model.config.pad_token_id if "roberta" in str(model.config.model_type) else None
    positions = getattr(model.config, "max_position_embeddings", None)
    if isinstance(positions, int) and isinstance(padding, int):
        positions -= padding + 1
    stated = [positions, getattr(tokenizer, "model_max_length", None)]
    return min((size for size in stated if isinstance(size, int) and 0 < size < _NO_LENGTH), default=None)
