"""Adapters of local models, as peft saves them: soft prompts and LoRA, each in a folder that names its base model.

A soft prompt is read from its safetensors, without peft. LoRA is merged into the base model when it is loaded.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any, Final

from .errors import UsageError

ADAPTER_CONFIG: Final = "adapter_config.json"
ADAPTER_WEIGHTS: Final = "adapter_model.safetensors"
SOFT_PROMPT: Final = "PROMPT_TUNING"  # as peft names the kind
LORA: Final = "LORA"
_BASE: Final = "base_model_name_or_path"


def adapter_kind(folder: Path) -> str:
    """Return the kind of the adapter in a folder, `SOFT_PROMPT` or `LORA`; empty if the folder holds none.

    Raises:
        UsageError: if it holds another kind, or its configuration cannot be read.
    """
    if not (folder / ADAPTER_CONFIG).is_file():
        return ""
    kind = str(_config(folder).get("peft_type"))
    if kind not in (SOFT_PROMPT, LORA):
        raise UsageError(
            f"{folder / ADAPTER_CONFIG}: peft_type: found {kind!r}, expected {SOFT_PROMPT} or {LORA}; merge other "
            "adapters into their model, and save the result"
        )
    return kind


def stated_base(folder: Path) -> str:
    """Return the base model that the adapter in a folder names: a folder, which may be relative to it, or a name.

    Raises:
        UsageError: if it names none.
    """
    base = _config(folder).get(_BASE)
    if not isinstance(base, str) or not base.strip():
        raise UsageError(f"{folder / ADAPTER_CONFIG}: {_BASE}: found {base!r}, expected the folder of the base model")
    beside = folder / base
    return str(beside) if beside.exists() else base


def _config(folder: Path) -> dict[str, Any]:
    path = folder / ADAPTER_CONFIG
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None
    if not isinstance(config, dict):
        raise UsageError(f"{path}: found {type(config).__name__}, expected an object")
    return config


def read_soft_prompt(folder: Path, model: Any) -> Any:  # noqa: ANN401 - of packages without types here
    """Return the embeddings of a soft prompt, a row a token, in the precision and on the device of its base model.

    Raises:
        UsageError: if they are missing, or of another width than those of the model.
    """
    from safetensors.torch import load_file

    path = folder / ADAPTER_WEIGHTS
    try:
        rows = load_file(str(path))["prompt_embeddings"]
    except (OSError, KeyError, ValueError) as error:
        raise UsageError(f"{path}: the soft prompt cannot be read: {type(error).__name__}: {error}") from None
    words = model.get_input_embeddings().weight
    if rows.shape[-1] != words.shape[-1]:
        raise UsageError(
            f"{path}: found embeddings of {rows.shape[-1]} numbers, but the base model has {words.shape[-1]}; name the "
            f"base model that it was tuned with in {ADAPTER_CONFIG}, {_BASE}"
        )
    return rows.to(device=words.device, dtype=words.dtype)


def merge_lora(folder: Path, model: Any) -> Any:  # noqa: ANN401
    """Return the base model with the LoRA weights of a folder merged into it.

    Raises:
        UsageError: if peft is missing, or the weights do not fit the model.
    """
    try:
        from peft import PeftModel
    except ImportError:
        raise UsageError(
            f"{folder}: LoRA weights need peft, which this extra installs: pip install pytest-taskgraph-bench[local]"
        ) from None
    try:
        with warnings.catch_warnings(action="ignore"):  # such as of what newer versions of transformers deprecate
            return PeftModel.from_pretrained(model, str(folder)).merge_and_unload()
    except (OSError, RuntimeError, ValueError) as error:
        reason = " ".join(str(error).split())[:300]
        raise UsageError(f"{folder}: the LoRA weights do not fit the base model: {reason}") from error
