"""A data set in the layout of the Hugging Face Hub: a card, and a Parquet file for each split, one split a family."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from ...errors import UsageError
from ...results.record.atomic_files import replace_file
from .data_formats import NOUN, ParquetFile, require_pyarrow
from .data_set_card import card_text
from .row_spool import RowSpool

_UNNAMED = "rows"
_RESERVED = frozenset({"all"})  # names every split together


def write_data_set(folder: Path, spool: RowSpool, command: Sequence[str]) -> None:
    """Write the card, and a Parquet file for each family.

    Args:
        folder: The folder, which is made if it does not exist.
        spool: The rows.
        command: The words of the command that writes it, for the card.

    Raises:
        UsageError: if pyarrow is not installed, the folder holds other data, or a file cannot be written.
    """
    require_pyarrow()
    splits = split_names(sorted(spool.rows_by_family))
    files = {split: folder / "data" / f"{split}-00000-of-00001.parquet" for split in splits.values()}
    _check_folder(folder, files)
    columns = spool.columns
    with ExitStack() as stack:
        writers = {family: stack.enter_context(ParquetFile(files[split], columns)) for family, split in splits.items()}
        for row in spool.rows():
            writers[row.get("family", "")].add(row)
    counts = {split: spool.rows_by_family[family] for family, split in splits.items()}
    replace_file(folder / "README.md", card_text(spool.runs, columns, counts, command), NOUN)


def split_names(families: Sequence[str]) -> dict[str, str]:
    """Return the name of the split of each family: letters, digits and underscores, each name once."""
    names: dict[str, str] = {}
    taken: Counter[str] = Counter()
    for family in families:
        name = re.sub(r"\W+", "_", family, flags=re.ASCII).strip("_") or _UNNAMED
        name = f"{name}_" if name in _RESERVED else name
        while taken[name]:
            name += "_"
        taken[name] += 1
        names[family] = name
    return names


def _check_folder(folder: Path, files: Mapping[str, Path]) -> None:
    """Check that the folder holds no data but that which is replaced.

    Raises:
        UsageError: if it is no folder, or holds other data.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--out {folder}: found a file, expected a folder; name another path")
    others = sorted({*(folder / "data").glob("*")} - {*files.values()})
    if others:
        raise UsageError(f"--out {folder}: found other data, such as {others[0]}; name an empty folder")
