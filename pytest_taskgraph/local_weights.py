"""Language models on this machine: a folder in transformers' format, a GGUF file, or a name in the local cache.

Weights are read only from safetensors and GGUF, which hold numbers and texts and no code; code that comes with a model
never runs; the network is used only if allowed. torch and transformers are imported when a model is loaded, not before.
"""

from __future__ import annotations

import hashlib
import json
import logging
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from .errors import UsageError
from .local_adapters import ADAPTER_CONFIG, LORA, adapter_kind, merge_lora, read_soft_prompt, stated_base

EXTRA: Final = "pip install pytest-taskgraph-bench[local]"
PRECISIONS: Final = ("auto", "float32", "bfloat16", "float16")
_PACKAGES: Final = ("torch", "transformers")
_GGUF: Final = ".gguf"
_GGUF_PACKAGES: Final = ("gguf", "accelerate")  # what transformers needs to read a GGUF file
_FILES: Final = ("*.json", "*.safetensors", "*.txt", "*.model", "*.jinja")  # of a model; neither code nor pickles
_CONFIG: Final = "config.json"
_SERVE: Final = "transformers reads some kinds of GGUF only; name a folder with safetensors, or serve it with llama.cpp"
_ALLOW: Final = "allow the download with the model option network=true"
_NO_LENGTH: Final = 10**9  # transformers writes a larger number for a tokenizer without a limit
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LocalWeights:
    """A language model in memory, with its tokenizer: causal, or an encoder with a decoder.

    Args:
        model: The transformers model, in evaluation mode.
        tokenizer: Its tokenizer, which returns the offsets of each token in the text.
        device: The device of the model, such as "cpu".
        longest: The maximum number of tokens in its input; None if it states no limit.
        ends: The tokens that end a text.
        start: The token that the reply of an encoder with a decoder begins with; None for a causal model.
        prefix: The embeddings of a soft prompt, which stand before each input; None without one.
    """

    model: Any
    tokenizer: Any
    device: str
    longest: int | None
    ends: frozenset[int]
    start: int | None = None
    prefix: Any = None


def check_local_extra(further: Iterable[str] = ()) -> None:
    """Check that torch and transformers are installed, and further packages, without importing them.

    Raises:
        UsageError: if one of them is missing.
    """
    _check_packages("local models need", (*_PACKAGES, *further))


def _check_packages(subject: str, packages: tuple[str, ...]) -> None:
    if missing := [name for name in packages if find_spec(name) is None]:
        raise UsageError(f"{subject} {' and '.join(missing)}, which this extra installs: {EXTRA}")


def find_language_model(name: str, *, network: bool = False) -> Path:
    """Return the folder of a language model, or its GGUF file.

    Args:
        name: The path of a file that ends in .gguf, or what `find_weights` takes.
        network: True if a named model may be downloaded.

    Raises:
        UsageError: if there is no such file, it is no GGUF file, or a package that reads it is missing; and as
            `find_weights` does.
    """
    path = Path(name).expanduser()
    if path.is_dir() and not (path / _CONFIG).is_file() and (files := sorted(path.glob(f"*{_GGUF}"))):
        more = f", or one of {len(files) - 1} more" if len(files) > 1 else ""
        raise UsageError(f"the local model {name!r}: a folder of GGUF files; name a file: {files[0]}{more}")
    if path.is_dir() or path.suffix.lower() != _GGUF:
        return find_weights(name, network=network)
    try:
        with path.open("rb") as file:
            start = file.read(4)
    except OSError as error:
        raise UsageError(
            f"the local model {name!r} cannot be read: {error.strerror or error}; name a GGUF file"
        ) from None
    if start != b"GGUF":
        raise UsageError(f"the local model {name!r}: no GGUF file: it starts with {start!r}, expected b'GGUF'")
    _check_packages("GGUF files need", _GGUF_PACKAGES)
    return path


def find_weights(name: str, *, network: bool = False, otherwise: str = _ALLOW) -> Path:
    """Return the folder of a model.

    Args:
        name: The path of a folder, or a name such as "openai-community/gpt2" that is in the local cache.
        network: True if a named model may be downloaded; a folder never needs it.
        otherwise: The advice in the error about a name that is not in the local cache, beside naming a folder.

    Raises:
        UsageError: if neither a folder nor a model of that name exists, or it has no safetensors.
    """
    folder = Path(name).expanduser()
    if not folder.is_dir():
        folder = _cached(name, network, otherwise)
    if adapter_kind(folder):
        _base_of(folder)
        return folder
    if not (folder / _CONFIG).is_file():
        raise UsageError(
            f"the local model {name!r}: {folder} has no {_CONFIG}; expected a folder that transformers saved"
        )
    if not any(folder.glob("*.safetensors")):
        raise UsageError(
            f"the local model {name!r}: {folder} has no *.safetensors, and no other weights are read: they can run "
            "code; load them where you trust them, and save them with save_pretrained"
        )
    return folder


def _base_of(folder: Path) -> Path:
    """Return the place of the base model of an adapter. Raises UsageError."""
    base = stated_base(folder)
    try:
        if (Path(base) / ADAPTER_CONFIG).is_file():
            raise UsageError(f"{base} holds an adapter as well")
        return find_language_model(base)
    except UsageError as error:
        raise UsageError(
            f"the local model {str(folder)!r} is an adapter of {base!r}, which cannot be used: {error}; if the base "
            f"model was moved, name its place in {ADAPTER_CONFIG}, base_model_name_or_path"
        ) from None


def _cached(name: str, network: bool, otherwise: str) -> Path:
    """Return the folder of a named model in the local cache. Raises UsageError."""
    check_local_extra()
    from huggingface_hub import snapshot_download

    try:
        snapshot = snapshot_download(
            name, local_files_only=not network, allow_patterns=list(_FILES), ignore_patterns=["*/*"]
        )
    except Exception as error:
        _log.info("%s is not in the local cache: %s", name, error)
        if network:
            reason = " ".join(str(error).split())[:200]
            raise UsageError(
                f"the local model {name!r} cannot be downloaded: {type(error).__name__}: {reason}"
            ) from None
        raise UsageError(
            f"the local model {name!r}: there is no such folder, and the local cache holds no model of that name; name "
            f"a folder that transformers saved, or {otherwise}"
        ) from None
    return Path(snapshot)


def fingerprint_weights(place: Path, *, nested: bool = False) -> str:
    """Return a digest of the weights, tokenizer and configuration of a model: 16 hexadecimal digits.

    That of an adapter covers its base model. The files are read completely.

    Args:
        place: The folder of the model, or its GGUF file.
        nested: True if the files of folders in the folder belong to the model.

    Raises:
        UsageError: if a file cannot be read.
    """
    digest = hashlib.sha256()
    if adapter_kind(place):
        digest.update(f"{fingerprint_weights(_base_of(place))}\n".encode())
    patterns = [*_FILES, *(f"*/{pattern}" for pattern in _FILES if nested)]
    names = {path.relative_to(place).as_posix() for pattern in patterns for path in place.glob(pattern)}
    for name, path in [(place.name, place)] if place.is_file() else [(name, place / name) for name in sorted(names)]:
        try:
            with path.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None
        digest.update(f"{name}\0{content}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()[:16]


def is_paired(place: Path) -> bool:
    """Return True if the configuration of a model says that it is an encoder with a decoder, such as T5."""
    try:
        config = json.loads((place / _CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(config, dict) and bool(config.get("is_encoder_decoder"))


def load_weights(place: Path, *, precision: str = "auto", device: str = "") -> LocalWeights:
    """Load a language model.

    Args:
        place: The folder or GGUF file, as `find_language_model` returns it.
        precision: One of PRECISIONS; "auto" keeps the precision of the files.
        device: A torch device; if empty, the first CUDA GPU if there is one, else "cpu".

    Raises:
        UsageError: if torch or transformers are missing, or the place holds no complete causal language model with a
            tokenizer in tokenizer.json or in the GGUF file, or in files that can be converted to tokenizer.json.
    """
    if kind := adapter_kind(place):
        return _adapted(place, kind, load_weights(_base_of(place), precision=precision, device=device))
    check_local_extra()
    import torch

    paired = is_paired(place)
    try:
        tokenizer, model, missing = _read_model(place, precision, paired)
        placed = device or ("cuda" if torch.cuda.is_available() else "cpu")
        model = model.to(placed).eval()
    except Exception as error:
        reason = " ".join(str(error).split())[:300]
        advice = f"; {_SERVE}" if place.is_file() else ""
        raise UsageError(
            f"the local model {place} cannot be loaded: {type(error).__name__}: {reason}{advice}"
        ) from error
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise UsageError(f"the local model {place}: the weights lack {missing[0]}{more}; expected those of this model")
    if not getattr(tokenizer, "is_fast", False):
        raise UsageError(
            f"the local model {place}: its tokenizer has no offsets of tokens; save a tokenizer with tokenizer.json"
        )
    if paired:
        start = model.generation_config.decoder_start_token_id
        start = model.config.decoder_start_token_id if start is None else start
        return LocalWeights(model, tokenizer, placed, _longest(model, tokenizer), _ends(model, tokenizer), start)
    if not _is_causal(model, placed):
        raise UsageError(
            f"the local model {place}: {type(model).__name__} reads ahead; expected a causal language model"
        )
    return LocalWeights(model, tokenizer, placed, _longest(model, tokenizer), _ends(model, tokenizer))


def _read_model(place: Path, precision: str, paired: bool) -> tuple[Any, Any, list[str]]:
    """Return the tokenizer, the model, and the names of tensors that the weights lack."""
    import transformers

    options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    of_model: dict[str, Any] = {"use_safetensors": True, "output_loading_info": True}
    of_model["dtype" if int(transformers.__version__.partition(".")[0]) >= 5 else "torch_dtype"] = precision
    with quiet_transformers(), tempfile.TemporaryDirectory() as empty:
        where = str(place)
        if place.is_file():
            where, options["gguf_file"] = empty, str(place.resolve())  # files beside it are not read
            if hasattr(transformers, "GgufConfig"):  # otherwise it may look for compiled code, and cannot be saved
                of_model["quantization_config"] = transformers.GgufConfig(dequantize=True)
        tokenizer = transformers.AutoTokenizer.from_pretrained(where, use_fast=True, **options)
        of_kind = transformers.AutoModelForSeq2SeqLM if paired else transformers.AutoModelForCausalLM
        model, loading = of_kind.from_pretrained(where, **options, **of_model)
    return tokenizer, model, sorted(map(str, loading["missing_keys"]))


def _adapted(folder: Path, kind: str, base: LocalWeights) -> LocalWeights:
    """Return the base model with the adapter of a folder. Raises UsageError."""
    if kind == LORA:
        with quiet_transformers():
            return replace(base, model=merge_lora(folder, base.model).eval())
    rows = read_soft_prompt(folder, base.model)
    return replace(base, prefix=rows, longest=None if base.longest is None else base.longest - len(rows))


def _is_causal(model: Any, device: str) -> bool:  # noqa: ANN401 - of a package without types here
    """Return True if the last token of a text does not change the logits of the tokens before it."""
    import torch

    first, second = ([1, 2, 3, last] for last in (4, 5))
    if getattr(_text_config(model), "vocab_size", 0) <= max(second):
        return True
    with torch.inference_mode():
        logits = [model(torch.tensor([ids], device=device)).logits[0, :-1] for ids in (first, second)]
    return bool(torch.allclose(*logits, rtol=1e-3, atol=1e-3))


def _text_config(model: Any) -> Any:  # noqa: ANN401
    """Return the configuration of the text part of a model; a text-only model has a single configuration."""
    return getattr(model.config, "get_text_config", lambda: model.config)()


def _longest(model: Any, tokenizer: Any) -> int | None:  # noqa: ANN401
    config = _text_config(model)
    stated = [getattr(config, "max_position_embeddings", None)]
    if not getattr(config, "is_encoder_decoder", False):  # T5's tokenizer states 512, and its model takes any length
        stated.append(getattr(tokenizer, "model_max_length", None))
    return min((int(length) for length in stated if isinstance(length, int) and 0 < length < _NO_LENGTH), default=None)


def _ends(model: Any, tokenizer: Any) -> frozenset[int]:  # noqa: ANN401
    stated = [getattr(model.generation_config, "eos_token_id", None), tokenizer.eos_token_id]
    tokens = [token for entry in stated for token in (entry if isinstance(entry, list) else [entry])]
    return frozenset(token for token in tokens if isinstance(token, int))


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Keep transformers from printing progress and warnings within the context."""
    from transformers.utils import logging as transformers_logging

    with suppress(ImportError):  # the bar of this reader cannot be switched off
        from transformers import modeling_gguf_pytorch_utils as gguf_reader

        gguf_reader.tqdm = transformers_logging.tqdm
    verbosity, has_progress_bar = transformers_logging.get_verbosity(), transformers_logging.is_progress_bar_enabled()
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    try:
        yield
    finally:
        transformers_logging.set_verbosity(verbosity)
        if has_progress_bar:
            transformers_logging.enable_progress_bar()


def save_weights(weights: LocalWeights, folder: Path) -> None:
    """Save a model and its tokenizer to an existing folder, the weights as safetensors."""
    with quiet_transformers():
        weights.model.save_pretrained(str(folder))
        weights.tokenizer.save_pretrained(str(folder))
