"""Sentence models on this machine, by whose vectors two steps are compared: the extra `sentence-transformers`.

A model is a folder, or a name in the local cache of Hugging Face; nothing is downloaded. Weights are read only from
safetensors, and no code that comes with a model runs. References name a model by its name and a digest of its files,
`NAME@DIGEST`, and not by its path, so that records of two machines agree, and that no other model takes its place.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from ...errors import UsageError
from ...local_weights import find_weights, fingerprint_weights, quiet_transformers

DEFAULT_MODEL: Final = "sentence-transformers/all-mpnet-base-v2"
EXTRA: Final = "pip install pytest-taskgraph-bench[sentence-transformers]"
_DIGEST: Final = re.compile(r"(.+)@([0-9a-f]{16})")
_MODULES: Final = "modules.json"
_PICKLES: Final = ("*.bin", "*.pt", "*.pth", "*.pkl")
_PLACES: Final[dict[str, Path]] = {}  # by digest: the folders of the models that this process was told of


def model_label(name: str) -> str:
    """Return what reports call a model: the last part of the path of a folder, or the name in the cache."""
    folder = Path(name).expanduser()
    return folder.resolve().name if folder.is_dir() else name


def add_sentence_model(name: str) -> str:
    """Find a sentence model, and return what references call it: NAME@DIGEST. It is not loaded.

    Args:
        name: The path of a folder, a name in the local cache, or NAME@DIGEST.

    Raises:
        UsageError: if the extra is not installed, or the model is not there, is not one of sentence-transformers, has
            weights other than safetensors, or code of its own.
    """
    if find_spec("sentence_transformers") is None:
        raise UsageError(f"the similarity 'sentence-transformers' needs an extra: {EXTRA}")
    stated = _DIGEST.fullmatch(name)
    if stated and stated[2] in _PLACES:
        return name
    if stated is None:
        folder, found = _open(name, Path.cwd())
        _PLACES[found] = folder
        return f"{model_label(name)}@{found}"
    try:
        folder, found = _open(stated[1], Path.cwd())
        what = f"found the digest {found} in {folder}"
    except UsageError:
        found, what = "", "it is not on this machine under that name"
    if found != stated[2]:
        raise UsageError(
            f"the sentence model {stated[1]!r} with the digest {stated[2]}, by which steps are compared: {what}; name "
            "its folder with --sentence-model"
        )
    _PLACES[found] = folder
    return name


@lru_cache(maxsize=8)  # each question asks for the digest, for which all files are read
def _open(name: str, start: Path) -> tuple[Path, str]:
    """Return the folder of a model, checked, and its digest; `start` is where a relative path begins."""
    advice = f"download it there before the run: hf download {name}"
    folder = find_weights(name, otherwise=advice).resolve()
    _check_modules(folder)
    return folder, fingerprint_weights(folder, nested=True)


def _check_modules(folder: Path) -> None:
    """Check that the modules of a model are those of the package, and that none has only weights that can run code."""
    inner = sorted(path for path in folder.iterdir() if path.is_dir())
    try:
        names = [str(module["type"]) for module in json.loads((folder / _MODULES).read_text(encoding="utf-8"))]
        if not names:
            raise ValueError("no modules")
        configs = [json.loads(path.read_text(encoding="utf-8")) for each in inner for path in each.glob("config.json")]
        functions = [str(config["activation_function"]) for config in configs if "activation_function" in config]
    except (OSError, ValueError, RecursionError, TypeError, KeyError) as error:
        raise UsageError(
            f"the sentence model {folder}: {_MODULES}, or what it names, cannot be read ({type(error).__name__}); "
            "expected a folder that sentence-transformers saved"
        ) from None
    foreign = [name for name in names if not name.startswith("sentence_transformers.")]
    foreign += [name for name in functions if not name.startswith("torch.nn.")]
    if foreign:
        raise UsageError(
            f"the sentence model {folder}: it names {foreign[0]}, code that is not of sentence-transformers and is not "
            "run; name another model"
        )
    for each in inner:
        pickles = [path for pattern in _PICKLES for path in sorted(each.glob(pattern))]
        if pickles and not any(each.glob("*.safetensors")):
            raise UsageError(
                f"the sentence model {folder}: {pickles[0].relative_to(folder)} can run code; save the model where you "
                "trust it, with safetensors"
            )


@lru_cache(maxsize=2)
def sentence_encoder(name: str) -> Any:  # noqa: ANN401 - of a package that is not typed
    """Return the encoder of a model, which is loaded once.

    Args:
        name: As for `add_sentence_model`.

    Raises:
        UsageError: as `add_sentence_model` does, and if the model cannot be loaded.
    """
    folder = _PLACES[add_sentence_model(name).rpartition("@")[2]]
    from sentence_transformers import SentenceTransformer

    loading: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    try:
        with quiet_transformers():
            return SentenceTransformer(str(folder), model_kwargs={"use_safetensors": True}, **loading)
    except Exception as error:
        reason = " ".join(str(error).split())[:300]
        raise UsageError(f"the sentence model {folder} cannot be loaded: {type(error).__name__}: {reason}") from error
