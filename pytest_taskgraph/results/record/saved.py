"""Records saved under names below the store: `--taskgraph-save main`, `--taskgraph-compare main`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ...errors import UnknownNameError, UsageError
from .. import record

LAST = "last"  # name under which every run of an explicit model is saved

_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}", re.ASCII)
_ENDING = ".json"
_DIGIT = re.compile("[0-9]")
_LONG_ENOUGH = 3  # letters; shorter names are not compared


def records_folder(store: Path) -> Path:
    """Return the folder of the saved records of a store, existing or not."""
    return store / "runs"


def save(record_json: Mapping[str, Any] | record.RecordBuilder, store: Path, name: str) -> Path:
    """Write the record under the name, replacing an earlier one, and return its path.

    Raises:
        UsageError: if the name is invalid or the record cannot be written.
    """
    path = _path(store, check_name(name))
    record.save(path, record_json)
    return path


def saved_names(store: Path) -> tuple[str, ...]:
    """Return the names under which a record is saved, sorted."""
    files = records_folder(store).glob(f"*{_ENDING}") if records_folder(store).is_dir() else ()
    return tuple(sorted(path.name.removesuffix(_ENDING) for path in files if _is_name(path.name.removesuffix(_ENDING))))


def find(store: Path, name_or_path: str) -> Path | None:
    """Return the path of a record; None if there is no such record.

    A text with a slash, or with ".json" at its end, is a path; any other text is a name first.
    """
    if _is_name(name_or_path) and (path := _path(store, name_or_path)).is_file():
        return path
    path = Path(name_or_path)
    return path if is_path(name_or_path) and path.is_file() else None


def load(store: Path, name_or_path: str) -> dict[str, Any]:
    """Return the record of a name or a path.

    Raises:
        UnknownNameError: if no record is saved under the name; the message lists the saved names.
        UsageError: if the file does not exist or the record is damaged.
    """
    path = find(store, name_or_path)
    if path is not None:
        return record.load_whole(path)
    if is_path(name_or_path):
        raise UsageError(f"{name_or_path}: there is no such record; saved: {', '.join(saved_names(store)) or 'none'}")
    if not store.is_dir():
        raise UsageError(f"there is no store at {store}, so there is no saved run {name_or_path!r}; name its folder")
    raise UnknownNameError("saved run", name_or_path, saved_names(store))


def check_name(name: str) -> str:
    """Return the name if it is valid.

    Raises:
        UsageError: if a shell or a file system may interpret the name otherwise.
    """
    if not _is_name(name):
        raise UsageError(
            f"a run cannot be saved as {name!r:.120}; expected up to 100 letters, digits, '.', '_' and '-', "
            "not starting with '.' or '-'"
        )
    return name


def find_similar_name(name: str, known_names: Iterable[str]) -> str:
    """Return the first known name that differs from the name by a typing error only; "" if there is none.

    A typing error is one letter added, removed or replaced, or two letters exchanged. Names that differ in digits are
    different: run-1, run-2.
    """
    return next((known_name for known_name in known_names if _differ_by_a_typo(name, known_name)), "")


def _differ_by_a_typo(a: str, b: str) -> bool:
    start = _common_start(a, b)
    end = _common_start(a[start:][::-1], b[start:][::-1])
    rest, other_rest = a[start : len(a) - end], b[start : len(b) - end]
    longest = max(len(rest), len(other_rest))
    if start + end + longest < _LONG_ENOUGH or _DIGIT.search(rest + other_rest):
        return False
    return longest == 1 or (longest == 2 and rest == other_rest[::-1])


def _common_start(a: str, b: str) -> int:
    """Return the number of characters at the start of both texts that are equal."""
    return next((at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def is_path(name_or_path: str) -> bool:
    """Return True if the text names a file rather than a saved run."""
    return "/" in name_or_path or "\\" in name_or_path or name_or_path.endswith(_ENDING)


def _is_name(name: str) -> bool:
    return _NAME.fullmatch(name) is not None and name[0] not in ".-" and not name.endswith(_ENDING)


def _path(store: Path, name: str) -> Path:
    return records_folder(store) / f"{name}{_ENDING}"
