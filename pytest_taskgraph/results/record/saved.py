"""Records kept under names, below the store: `--taskgraph-save main`, `--taskgraph-compare main`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ...errors import UnknownNameError, UsageError
from .. import record

LAST = "last"  # the name of the run before, which runs of an explicit model leave

_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}", re.ASCII)
_ENDING = ".json"
_DIGIT = re.compile("[0-9]")
_LONG_ENOUGH = 3  # letters; of shorter names all are alike


def records_folder(store: Path) -> Path:
    """Where the saved records of a store stand, whether the folder is there or not."""
    return store / "runs"


def save(kept: Mapping[str, Any] | record.RecordBuilder, store: Path, name: str) -> Path:
    """Where the record now stands, whole; what stood there under that name is replaced.

    Raises UsageError for a name that is none and for a place that cannot be written.
    """
    path = _path(store, check_name(name))
    record.save(path, kept)
    return path


def saved_names(store: Path) -> tuple[str, ...]:
    """The names under which a record is saved, sorted."""
    found = records_folder(store).glob(f"*{_ENDING}") if records_folder(store).is_dir() else ()
    return tuple(sorted(path.name.removesuffix(_ENDING) for path in found if _legal(path.name.removesuffix(_ENDING))))


def find(store: Path, name_or_path: str) -> Path | None:
    """Where the record of a name, else of a path, stands; None where there is none.

    What holds a slash or ends in ".json" is a path; anything else is a name first.
    """
    if _legal(name_or_path) and (path := _path(store, name_or_path)).is_file():
        return path
    path = Path(name_or_path)
    return path if is_path(name_or_path) and path.is_file() else None


def load(store: Path, name_or_path: str) -> dict[str, Any]:
    """The record of a name or a path. Raises UnknownNameError, which tells the saved names, and UsageError, also for a
    record that is damaged.
    """
    path = find(store, name_or_path)
    if path is not None:
        return record.load_whole(path)
    if is_path(name_or_path):
        raise UsageError(f"{name_or_path}: there is no such record; saved: {', '.join(saved_names(store)) or 'none'}")
    if not store.is_dir():
        raise UsageError(f"there is no store at {store}, and so no saved run {name_or_path!r}; name its folder")
    raise UnknownNameError("saved run", name_or_path, saved_names(store))


def check_name(name: str) -> str:
    """The name. Raises UsageError for one that a shell or a file system may take for something else."""
    if not _legal(name):
        raise UsageError(
            f"a run cannot be saved as {name!r:.120}; expected up to 100 letters, digits, '.', '_' and '-', "
            "the first of them no '.' and no '-'"
        )
    return name


def find_similar_name(name: str, known: Iterable[str]) -> str:
    """The first of the known names that the name may be a slip of the pen for; "" for none.

    One letter too many, too few or another, or two that changed places; digits tell names apart: run-1, run-2.
    """
    return next((one for one in known if _one_slip(name, one)), "")


def _one_slip(a: str, b: str) -> bool:
    start = _alike(a, b)
    end = _alike(a[start:][::-1], b[start:][::-1])
    one, other = a[start : len(a) - end], b[start : len(b) - end]
    most = max(len(one), len(other))
    if start + end + most < _LONG_ENOUGH or _DIGIT.search(one + other):
        return False
    return most == 1 or (most == 2 and one == other[::-1])


def _alike(a: str, b: str) -> int:
    """How many letters both texts begin with."""
    return next((at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def is_path(name_or_path: str) -> bool:
    """Whether it names a file rather than a saved run."""
    return "/" in name_or_path or "\\" in name_or_path or name_or_path.endswith(_ENDING)


def _legal(name: str) -> bool:
    return _NAME.fullmatch(name) is not None and name[0] not in ".-" and not name.endswith(_ENDING)


def _path(store: Path, name: str) -> Path:
    return records_folder(store) / f"{name}{_ENDING}"
