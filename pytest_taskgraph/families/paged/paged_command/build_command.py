"""`paged build`: generated documents, or documents for the user's graphs, written to a folder that a run reads."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from ....benchmarks.asked_models import add_model_arguments
from ....benchmarks.option import SPLITS
from ....errors import UsageError
from ....notations.procedural_text import write_procedural_graph
from ....redaction import public_name
from ....reports.escape import one_line
from ....results.record import atomic_files
from ....version import __version__
from ..document_quality.paraphrase import Paraphrase, sentence_groups
from ..document_sets.document_set import DocumentPair, deal_splits
from ..document_sets.documents_folder import DOCUMENTS, FORMAT, GRAPH
from ..document_sets.pair_texts import UnusableTextError, read_document_text, read_graph_text
from ..documents.written_document import write_document
from ..paged_options import DATA, QUALITIES, DocumentQuality
from .document_paraphrases import ParaphraseTask, add_template_argument, failure_lines, loss_line, paraphrase_documents
from .stated_documents import add_generation_arguments, amount, generated_documents, warn

ABOUT: Final = "about.txt"
"""The file that says how the folder was built; it is no data."""
_MOST_ENTRIES: Final = 100_000
SUMMARY: Final = "write documents with their graphs to a folder that runs read as a data set"
SHOWN_LOSSES: Final = 20
_WIDTH: Final = 300


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


@dataclass(slots=True)
class BuiltDocuments:
    """What is to be written.

    Args:
        source: Where graphs and documents come from, for the user.
        pairs: The documents with their graphs.
        problems: A line each on what is left out.
        losses: A line each on what paraphrases lost.
        usage: A line on what the model was asked; empty if none was.
        is_whole: False if a document could not be paraphrased.
    """

    source: str
    pairs: list[DocumentPair]
    problems: list[str]
    losses: tuple[str, ...] = ()
    usage: str = ""
    is_whole: bool = True


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    parser.add_argument(
        "--out", metavar="DIR", type=Path, required=True, help="the folder that the files are written to"
    )
    parser.add_argument("--force", action="store_true", help="replace files of the same names in the folder")
    parser.add_argument(
        "--from",
        dest="graphs",
        metavar="PATH",
        type=Path,
        help="graphs of your own for which documents are written: a folder of NAME.graph.txt or .jsonl files",
    )
    add_generation_arguments(parser)
    parser.add_argument("--paraphrase", action="store_true", help="have the model paraphrase the documents")
    add_model_arguments(parser, "that paraphrases")
    add_template_argument(parser)


def run(options: argparse.Namespace) -> int:
    """Build the documents, have them paraphrased if that is asked for, and write them.

    Returns:
        0; 1 if a document has no paraphrase.

    Raises:
        UsageError: if the folder may not be written to, or documents or paraphrases cannot be made.
    """
    check_folder(options.out, options.force)
    if options.model is not None and not options.paraphrase:
        raise UsageError(f"--model={public_name(options.model)}: it is asked for paraphrases alone; add --paraphrase")
    built = _own_graphs(options) if options.graphs is not None else _generate(options)
    check_beside(options.out, files_of_pairs(built.pairs, []))
    if options.paraphrase:
        _paraphrase(options, built)
    files = files_of_pairs(built.pairs, built.problems)
    if files:
        write_files(options.out, files, [*_about(options, built)])
        print("\n".join(map(one_line, _report(options, built, files))))
    else:
        built.problems.append("no document is written")
    for line in built.losses[:SHOWN_LOSSES]:
        print(f"  {one_line(line, _WIDTH)}")
    if len(built.losses) > SHOWN_LOSSES:
        print(f"  and {len(built.losses) - SHOWN_LOSSES} more ({ABOUT} lists all)")
    warn(built.problems)
    return 0 if files and built.is_whole else 1


def _generate(options: argparse.Namespace) -> BuiltDocuments:
    generated = generated_documents(options)
    return BuiltDocuments(generated.source, [*generated.pairs], [*generated.problems])


def _own_graphs(options: argparse.Namespace) -> BuiltDocuments:
    """Return the documents that are written for the user's graphs. Raises UsageError."""
    from ..document_sets.documents_folder import read_graphs

    if options.documents is not None:
        raise UsageError("--documents: --from is stated, and a document is written for each graph; leave it out")
    graphs, problems = read_graphs(options.graphs)
    quality, seed = _quality(options), _seed(options)
    pairs = [
        DocumentPair(graph.id, graph.title, graph.graph, write_document(graph.graph, quality, seed).text)
        for graph in graphs
    ]
    stated = {graph.id: graph.split for graph in graphs if graph.split is not None}
    dealt = {pair.id: pair for pair in deal_splits([pair for pair in pairs if pair.id not in stated], seed)}
    placed = [dealt.get(pair.id) or replace(pair, split=stated[pair.id]) for pair in pairs]
    return BuiltDocuments(f"graphs of {options.graphs} (seed {seed}, {quality})", placed, [*problems])


def _quality(options: argparse.Namespace) -> DocumentQuality:
    return options.quality or QUALITIES[0]


def _seed(options: argparse.Namespace) -> int:
    return options.seed or 0


def _paraphrase(options: argparse.Namespace, built: BuiltDocuments) -> None:
    """Put the paraphrases in place of the documents; those without one are left out. Raises UsageError."""
    tasks = [
        ParaphraseTask(pair, sentence_groups(write_document(pair.graph, _quality(options), _seed(options))))
        for pair in built.pairs
    ]
    answers = paraphrase_documents(options, tasks)
    failures = failure_lines(tasks, answers.results)
    paraphrases = [
        (task.pair, result)
        for task, result in zip(tasks, answers.results, strict=True)
        if isinstance(result, Paraphrase)
    ]
    built.pairs = [replace(pair, document=result.text) for pair, result in paraphrases]
    built.losses = tuple(filter(None, (loss_line(pair.id, result) for pair, result in paraphrases)))
    built.usage, built.is_whole = answers.usage, not failures
    built.problems += failures
    if failures:
        built.problems.append(
            f"{amount(len(failures), 'document')} of {len(tasks)} left out; the same command with --force asks for "
            "these again, and takes the others from the store"
        )


def _report(options: argparse.Namespace, built: BuiltDocuments, files: Mapping[str, str]) -> Iterator[str]:
    """Yield what was written, and how it is used."""
    files_by_split = Counter(name.partition("/")[0] for name in files)
    splits = ", ".join(f"{split} {files_by_split[split] // 2}" for split in SPLITS)
    yield f"{amount(len(files) // 2, 'document')} with graphs written to {options.out}: {splits}"
    yield f"run: pytest suites/paged --taskgraph-data={DATA}={options.out}"
    if built.usage:
        yield f"model: {built.usage}"
        lost = len(built.losses)
        yield f"paraphrases that lost something: {lost} of {len(built.pairs)}" + ":" * bool(lost)


def _about(options: argparse.Namespace, built: BuiltDocuments) -> Iterator[str]:
    """Yield the lines of the file about the folder, which are the same for the same documents."""
    yield f"{amount(len(built.pairs), 'document')} of pytest-taskgraph {__version__}: {built.source}"
    if options.paraphrase:
        yield f"paraphrased by {public_name(options.model)}"
        yield from (f"lost by the paraphrase: {one_line(line)}" for line in built.losses)
