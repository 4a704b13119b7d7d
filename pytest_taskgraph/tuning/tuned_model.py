"""The model of a tuning: which of its weights change, what it needs of memory, how it is asked and saved."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..errors import UsageError
from ..local_weights import LocalWeights, quiet_transformers, save_weights

if TYPE_CHECKING:
    from ..benchmarks.tuning_task import TuningMethod, TuningParameters

_GIB: Final = 2**30
_PER_LAYER: Final = 70  # bytes of activations for a token, a layer and a number of the hidden state, about
_PER_WORD: Final = 12  # bytes for a token and a word of the vocabulary: logits, their softmax and its gradient


@dataclass(frozen=True, slots=True)
class TunedModel:
    """A model of which some weights change.

    Args:
        model: What the Trainer trains: the model itself, or peft's around it.
        base: The model with its tokenizer.
        method: Which weights change.
    """

    model: Any
    base: LocalWeights
    method: TuningMethod

    @classmethod
    def of(
        cls, base: LocalWeights, place: Path, method: TuningMethod, stated: TuningParameters, opening: Sequence[int]
    ) -> TunedModel:
        """Return the model, for which the same arguments give the same initial weights.

        Args:
            base: The model that the tuning begins with.
            place: Its folder or GGUF file, which an adapter names.
            method: Which weights change.
            stated: The parameters; of several lengths of a soft prompt, the first one counts.
            opening: The tokens whose embeddings a soft prompt begins with, again and again until it is full.

        Raises:
            UsageError: if peft cannot tune the model so.
        """
        if method == "full":
            return cls(base.model, base, method)
        import torch

        torch.manual_seed(stated.seed)
        with quiet_training():
            from peft import get_peft_model

            try:
                model = get_peft_model(base.model, _adapter_config(base, method, stated))
            except ValueError as error:
                raise UsageError(f"--method={method}: {' '.join(str(error).split())[:300]}") from error
        # peft names the folder that transformers read, which for a GGUF file is an empty one that no longer exists.
        model.peft_config["default"].base_model_name_or_path = str(place.resolve())
        if method == "soft-prompt":
            words, rows = base.model.get_input_embeddings(), model.prompt_encoder["default"].embedding.weight
            places = torch.tensor([opening[at % len(opening)] for at in range(len(rows))], device=words.weight.device)
            with torch.no_grad():
                rows.copy_(words(places))
        return cls(model, base, method)

    @property
    def asked(self) -> LocalWeights:
        """Return the model as a run asks it, with its weights of now."""
        if self.method == "full":
            return self.base
        if self.method == "lora":
            return replace(self.base, model=self.model.get_base_model())
        rows = self.model.prompt_encoder["default"].embedding.weight.detach()
        longest = None if self.base.longest is None else self.base.longest - len(rows)
        return replace(self.base, prefix=rows, longest=longest)

    def save(self, folder: Path) -> None:
        """Save what changed to an existing folder: all weights with the tokenizer, or the adapter."""
        with quiet_training():
            if self.method == "full":
                save_weights(self.base, folder)
                return
            self.model.save_pretrained(str(folder), save_embedding_layers=False)
            (folder / "README.md").unlink(missing_ok=True)  # a form to be filled in, for a hub

    def memory_line(self, tokens: int) -> str:
        """Return what an update takes of memory, roughly.

        Args:
            tokens: The tokens that are computed at a time.
        """
        config = getattr(self.base.model.config, "get_text_config", lambda: self.base.model.config)()
        layers = int(getattr(config, "num_hidden_layers", 0) or 0) * (2 if self.base.start is not None else 1)
        width = int(getattr(config, "hidden_size", 0) or 0)
        parameters = [*self.model.parameters()]
        weights = sum(each.numel() * each.element_size() for each in parameters)
        changing = sum(each.numel() for each in parameters if each.requires_grad)
        activations = tokens * (layers * width * _PER_LAYER + int(getattr(config, "vocab_size", 0) or 0) * _PER_WORD)
        parts = {"weights": weights, "gradients and Adam": 12 * changing, "activations": activations}
        listed = ", ".join(f"{name} {size / _GIB:.2f}" for name, size in parts.items())
        return f"estimated memory: {sum(parts.values()) / _GIB:.2f} GiB ({listed}); {changing:,} weights change"


def _adapter_config(base: LocalWeights, method: TuningMethod, stated: TuningParameters) -> Any:  # noqa: ANN401
    import peft
    from peft.utils.constants import TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING as KNOWN

    kind = peft.TaskType.CAUSAL_LM if base.start is None else peft.TaskType.SEQ_2_SEQ_LM
    if method == "soft-prompt":
        (length, *_) = stated.prompt_tokens
        return peft.PromptTuningConfig(task_type=kind, num_virtual_tokens=length, num_transformer_submodules=1)
    known = base.model.config.model_type in KNOWN
    return peft.LoraConfig(
        task_type=kind,
        r=stated.rank,
        lora_alpha=stated.alpha,
        lora_dropout=stated.dropout,
        target_modules=None if known else "all-linear",  # the matrices of attention that peft names for a known model
    )


@contextmanager
def quiet_training() -> Iterator[None]:
    """Keep transformers, peft and torch from printing and warning within the context."""
    with quiet_transformers(), warnings.catch_warnings(action="ignore"):
        yield
