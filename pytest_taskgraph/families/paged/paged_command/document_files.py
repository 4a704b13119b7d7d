"""A folder of documents with their graphs, written as --taskgraph-data=paged=PATH reads it."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from ....errors import UsageError
from ....notations.procedural_text import write_procedural_graph
from ....results.record import atomic_files
from ..document_sets.document_set import DocumentPair
from ..document_sets.documents_folder import DOCUMENTS, FORMAT, GRAPH
from ..document_sets.pair_texts import UnusableTextError, read_document_text, read_graph_text

ABOUT: Final = "about.txt"
"""The file that says how the folder was built; it is no data."""
_MOST_ENTRIES: Final = 100_000


def pair_files(pair: DocumentPair) -> dict[str, str]:
    """Return the texts of the two files of a pair, by their names below the folder.

    Raises:
        UnusableTextError: if a run could not read them.
    """
    graph, document = write_procedural_graph(pair.graph), read_document_text(pair.document)
    read_graph_text(graph)
    base = f"{pair.split}/{pair.id}"
    return {f"{base}{GRAPH}": graph.rstrip("\n") + "\n", f"{base}{DOCUMENTS[0]}": f"{document}\n"}


def files_of_pairs(pairs: Iterable[DocumentPair], problems: list[str]) -> dict[str, str]:
    """Return the texts of the files of all pairs, by their names; add a line for each pair that is left out."""
    files: dict[str, str] = {}
    for pair in pairs:
        try:
            files.update(pair_files(pair))
        except UnusableTextError as error:
            problems.append(f"{pair.id}: {error.fault}; the pair is left out")
    return files


def check_folder(folder: Path, force: bool) -> None:
    """Check that a folder may be written to: it is empty or new, or the user has it written to.

    Raises:
        UsageError: if it is not.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--out={folder}: it is no folder; name another one")
    first = next(_entries(folder), None)
    if first is not None and not force:
        raise UsageError(
            f"--out={folder}: the folder is not empty ({first}); state another one, or --force to replace the files of "
            "the same names"
        )


def check_beside(folder: Path, files: Collection[str]) -> None:
    """Check that a folder holds no data but files of these names, which would be read with them.

    Raises:
        UsageError: if it does.
    """
    strange = [name for name in _entries(folder) if FORMAT.holds(name) and name not in files]
    if strange:
        more = f" and {len(strange) - 1} more" if len(strange) > 1 else ""
        raise UsageError(
            f"--out={folder}: {strange[0]}{more} would be read as data, too, and is not of this build; remove it, or "
            "state another folder"
        )


def write_files(folder: Path, files: Mapping[str, str], about: Sequence[str]) -> None:
    """Write the files and what they are.

    Args:
        folder: The folder, which is made if it is missing.
        files: The texts by their names below it.
        about: The lines of ABOUT.

    Raises:
        UsageError: if the folder holds data that would be read with the files, or a file cannot be written.
    """
    check_beside(folder, files)
    for name, text in files.items():
        atomic_files.replace_file(folder / name, [text], "file of a document or graph")
    atomic_files.replace_file(folder / ABOUT, [f"{line}\n" for line in about], "file about the documents")


def _entries(folder: Path) -> Iterator[str]:
    """Yield the names of the files below a folder, sorted within each folder. Raises UsageError."""

    def fail(error: OSError) -> None:
        raise UsageError(f"--out={folder}: {error.strerror or error}; name another folder")

    number = 0
    for above, folders, names in os.walk(folder, onerror=fail if folder.exists() else None):
        folders.sort()
        links = (name for name in folders if (Path(above) / name).is_symlink())  # what they hold is not looked at
        for name in sorted([*names, *links]):
            number += 1
            if number > _MOST_ENTRIES:
                raise UsageError(f"--out={folder}: more than {_MOST_ENTRIES} files; state a folder of its own")
            yield (Path(above) / name).relative_to(folder).as_posix()
