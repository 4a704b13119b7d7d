"""Commands `replies export`, `import`, `prune` and `stats` on the store of replies.

An export is JSON lines sorted by key. Claims, owners and the ledger of calls and cost belong to the runs of one
machine and stay in the store.
"""

from __future__ import annotations

import argparse
import json
import math
import sqlite3
import sys
import tempfile
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Final

from ...errors import UsageError
from ...models.store_folder import FILE
from ...reports.escape import one_line
from ...reports.table import table
from ...source import bounded_lines
from ...usage import TOKENS
from .lines import StoredEntry, format_line, read_line
from .rows import (
    MergeResult,
    decode_stored,
    entries,
    json_object,
    merge,
    open_replies,
    parse_time,
    prunable_replies,
    prune,
    read_replies,
    shrink,
    stage_entries,
    store_folder,
)


@dataclass(slots=True)
class PartialSum:
    """A sum of the known values, and the number of unknown ones."""

    values: list[float] = field(default_factory=list)
    unknown: int = 0

    def add(self, value: float | None) -> None:
        """Add a value; None counts as unknown."""
        if value is None:
            self.unknown += 1
        else:
            self.values.append(value)

    @property
    def total(self) -> float:
        """Return the sum, the same in any order; whole numbers give a whole number."""
        whole = all(isinstance(value, int) for value in self.values)
        return sum(self.values) if whole else math.fsum(self.values)


_SUMMED: Final = (*TOKENS, "cost")
_SHOWN: Final = {"tokens_in": ",d", "tokens_out": ",d", "cost": ".4f"}  # and their formats


@dataclass(slots=True)
class StoredReplies:
    """The replies of one model in a store, as counts and sums."""

    replies: int = 0
    sums: dict[str, PartialSum] = field(default_factory=lambda: {name: PartialSum() for name in _SUMMED})
    first: str = ""  # the times of the first and the last reply, as they are stored
    last: str = ""

    def add(self, at: str, reply: dict[str, Any]) -> None:
        """Count an entry."""
        self.replies += 1
        for name, partial in self.sums.items():
            value = reply.get(name)
            partial.add(value if isinstance(value, int | float) else None)
        self.first = min(self.first or at, at, key=parse_time)
        self.last = max(self.last or at, at, key=parse_time)


def stored_replies(connection: sqlite3.Connection) -> dict[str, StoredReplies]:
    """Return what the store holds, by model, sorted.

    Raises:
        UsageError: if a reply is no JSON object.
    """
    by_model: dict[str, StoredReplies] = {}
    for model, at, reply in connection.execute("SELECT model, at, reply FROM replies ORDER BY key"):
        by_model.setdefault(model, StoredReplies()).add(at, json_object(reply))
    return dict(sorted(by_model.items()))


SUMMARY = "export, import, prune and count the stored replies"
STORE: Final = Path(".taskgraph")
STANDARD_STREAM: Final = "-"
MOST_CONFLICTS: Final = 5  # conflicts whose keys are listed

_GLOB = "only models whose name matches, such as 'openai/*'"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to the parser."""
    steps = parser.add_subparsers(dest="step", required=True, metavar="export|import|prune|stats")
    out = steps.add_parser("export", help="write the replies as JSON lines, sorted by key")
    out.add_argument("file", metavar="FILE", help="the file to write, replaced if it exists; - is the standard output")
    back = steps.add_parser("import", help="add the replies of exports to the store, which is made if it is missing")
    back.add_argument("files", metavar="FILE", nargs="+", help="exports; - is the standard input")
    back.add_argument("--replace", action="store_true", help="replace stored replies by imported ones")
    less = steps.add_parser("prune", help="remove the replies that match all filters, and shrink the file")
    less.add_argument("--older-than", metavar="DAYS", type=float, help="only replies that are older")
    less.add_argument("--dry-run", action="store_true", help="show what would be removed, and remove nothing")
    count = steps.add_parser("stats", help="count the replies of each model in the store")
    count.add_argument("--json", action="store_true", help="print JSON")
    for step in (out, less):
        step.add_argument("--model", metavar="GLOB", help=_GLOB)
    for step in (out, back, less, count):
        step.add_argument(
            "--store", metavar="PATH", type=Path, default=STORE, help="folder or file (default: %(default)s)"
        )


def run(options: argparse.Namespace) -> int:
    """Run the step and print its result.

    Returns:
        0.

    Raises:
        UsageError: if the store or a file cannot be used.
    """
    folder = store_folder(options.store)
    {"export": _export, "import": _import, "prune": _prune, "stats": _stats}[options.step](folder, options)
    return 0


def _export(folder: Path, options: argparse.Namespace) -> None:
    with _temporary_file() as lines:  # copied first: a slow consumer of the export must not keep the store open
        read_replies(folder, lambda connection: _write_lines(entries(connection, options.model or "*"), lines))
        lines.seek(0)
        if options.file == STANDARD_STREAM:
            sys.stdout.flush()
            sys.stdout.buffer.writelines(lines)
            sys.stdout.buffer.flush()
            return
        count = _write_export(Path(options.file), lines, folder / FILE)
    print(f"{count} replies written to {one_line(options.file)}")


@contextmanager
def _temporary_file() -> Iterator[IO[bytes]]:
    try:
        file = TemporaryFile()  # noqa: SIM115 - closing it may fail as writing did
    except OSError as error:
        raise _temporary_folder_error(error) from error
    try:
        yield file
    finally:
        with suppress(OSError):  # closing flushes what could not be written before
            file.close()


def _write_lines(stored_entries: Iterable[StoredEntry], into: IO[bytes]) -> None:
    try:
        into.seek(0)
        into.truncate()
        into.writelines((decode_stored(entry, format_line) + "\n").encode() for entry in stored_entries)
        into.flush()
    except OSError as error:
        raise _temporary_folder_error(error) from error


def _temporary_folder_error(error: OSError) -> UsageError:
    folder = f" {tempfile.tempdir}" if tempfile.tempdir else ""  # None if Python found no usable folder
    return UsageError(
        f"the temporary folder{folder} cannot be used: {error.strerror or error}; an export is written there first: "
        "free space in it, or name another one with the environment variable TMPDIR"
    )


def _write_export(target: Path, lines: Iterable[bytes], store: Path) -> int:
    """Write the lines to the file, as a whole or not at all; return their number.

    Raises:
        UsageError: if the file is the store itself, or cannot be written.
    """
    if target.resolve() == store.resolve():
        raise UsageError(f"{target}: is the store itself; name another file")
    target = target.resolve()  # the target of a link is written, the link stays
    part = target if target.exists() and not target.is_file() else target.with_name(f".{target.name}.part")
    count = 0
    try:
        with part.open("wb") as file:
            for line in lines:
                file.write(line)
                count += 1
        if part != target:  # a device or a pipe is written directly
            part.replace(target)
    except BaseException as error:
        if part != target:
            part.unlink(missing_ok=True)
        if isinstance(error, OSError):
            reason = error.strerror or str(error)
            raise UsageError(f"{target}: cannot be written: {reason}; name another file") from error
        raise
    return count


def _import(folder: Path, options: argparse.Namespace) -> None:
    with stage_entries(_read_exports(options.files)) as waiting, open_replies(folder, create=True) as connection:
        merged = merge(connection, waiting, options.replace)
    print("\n".join(_merge_lines(merged, options.replace)))


def _read_exports(files: Sequence[str]) -> Iterator[StoredEntry]:
    for name in files:
        if name == STANDARD_STREAM:
            yield from _read_lines(sys.stdin.buffer, "standard input")
            continue
        try:
            with open(name, "rb") as file:
                yield from _read_lines(file, name)
        except OSError as error:
            raise UsageError(f"{name}: cannot be read: {error.strerror or error}") from error


def _read_lines(file: IO[bytes], where: str) -> Iterator[StoredEntry]:
    for number, line in bounded_lines(file, where):
        yield read_line(line.removeprefix(BOM_UTF8) if number == 1 else line, where, number)


def _merge_lines(merged: MergeResult, replace: bool) -> list[str]:
    lines = [f"{merged.added} replies added, {merged.unchanged} already stored, {len(merged.conflicts)} in conflict"]
    if merged.conflicts:
        winner = (
            "the imported reply replaced it" if replace else "the stored reply stays (--replace takes the imported one)"
        )
        more = len(merged.conflicts) - MOST_CONFLICTS
        lines.append(f"in conflict, which is another answer to the same request; {winner}:")
        lines += [f"  {key}" for key in merged.conflicts[:MOST_CONFLICTS]] + (
            [f"  and {more} more"] if more > 0 else []
        )
    return lines


def _prune(folder: Path, options: argparse.Namespace) -> None:
    if options.model is None and options.older_than is None:
        raise UsageError("replies prune: no filter is given; give --older-than DAYS, --model GLOB or both")
    before = None if options.older_than is None else _time_before(options.older_than)
    models, shrunk = options.model or "*", True
    if options.dry_run:
        removed = read_replies(folder, lambda connection: prunable_replies(connection, models, before))
    else:
        with open_replies(folder) as connection:
            removed = prune(connection, models, before)
            shrunk = not removed or shrink(connection)
    rows = [
        [model, str(removed_replies.replies), str(removed_replies.characters)]
        for model, removed_replies in removed.items()
    ]
    total = sum(removed_replies.replies for removed_replies in removed.values())
    print(f"{total} replies {'would be removed' if options.dry_run else 'removed'}")
    if rows:
        print("\n".join(["", *table(["model", "replies", "characters"], rows, "lrr")]))
    if not shrunk:
        print("the file keeps its size because a run uses it; new replies will use the free space")


def _time_before(days: float) -> datetime:
    try:
        if days >= 0:
            return datetime.now(UTC) - timedelta(days=days)
    except OverflowError:
        pass
    raise UsageError(f"--older-than: found {days:g}, expected a number of days from 0, back to the year 1 at most")


def _stats(folder: Path, options: argparse.Namespace) -> None:
    file = folder / FILE
    by_model = read_replies(folder, stored_replies)
    size = sum(path.stat().st_size for path in (file, file.with_name(f"{file.name}-wal")) if path.exists())
    if options.json:
        about = {
            "file": str(file),
            "bytes": size,
            "models": {name: _as_json(path) for name, path in by_model.items()},
        }
        print(json.dumps(about, indent=2))
        return
    replies = sum(path.replies for path in by_model.values())
    print(f"{one_line(str(file))}: {replies} replies of {len(by_model)} models, {size:,} bytes")
    if by_model:
        header = ["model", "replies", "tokens in", "tokens out", "cost", "first", "last"]
        print("\n".join(["", *table(header, [_table_row(name, path) for name, path in by_model.items()], "lrrrrll")]))


def _table_row(model: str, replies: StoredReplies) -> list[str]:
    figures = [_sum_text(replies.sums[name], shape) for name, shape in _SHOWN.items()]
    return [model, str(replies.replies), *figures, replies.first[:10], replies.last[:10]]


def _sum_text(partial: PartialSum, shape: str) -> str:
    """Return the sum and the number of unknown values; "unknown" if no value is known."""
    if not partial.values:
        return "unknown"
    return f"{partial.total:{shape}}" + (f" + {partial.unknown} unknown" if partial.unknown else "")


def _as_json(stored: StoredReplies) -> dict[str, Any]:
    sums = {name: {"known": of.total if of.values else None, "unknown": of.unknown} for name, of in stored.sums.items()}
    return {"replies": stored.replies, **sums, "first": stored.first, "last": stored.last}
