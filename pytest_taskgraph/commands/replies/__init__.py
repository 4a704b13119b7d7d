"""`replies export`, `import`, `prune` and `stats`: what the store of replies holds, carried elsewhere.

An export is JSON lines sorted by key. What belongs to the runs of one machine, claims, owners and the ledger of calls
and cost, stays in the store.
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
from ...models.store.schema import FILE
from ...reports.escape import one_line
from ...reports.table import table
from .lines import StoredEntry, line_of, read_line
from .rows import (
    Merged,
    entries,
    folder_of,
    merge,
    object_of,
    opened,
    prunable,
    prune,
    read,
    shrink,
    staged,
    time_of,
    usable,
)


@dataclass(slots=True)
class Sum:
    """A sum of what is known, and of how many entries it is not."""

    known: list[float] = field(default_factory=list)
    unknown: int = 0

    def add(self, value: float | None) -> None:
        """Nothing; None counts as not known."""
        if value is None:
            self.unknown += 1
        else:
            self.known.append(value)

    @property
    def total(self) -> float:
        """The sum, the same in any order; whole numbers give a whole number."""
        whole = all(isinstance(value, int) for value in self.known)
        return sum(self.known) if whole else math.fsum(self.known)


@dataclass(slots=True)
class Stock:
    """What a store holds of one model."""

    replies: int = 0
    tokens_in: Sum = field(default_factory=Sum)
    tokens_out: Sum = field(default_factory=Sum)
    cost: Sum = field(default_factory=Sum)
    first: str = ""  # the times of the first and the last reply, as they are stored
    last: str = ""

    def add(self, at: str, reply: dict[str, Any]) -> None:
        """Nothing; the entry is counted."""
        self.replies += 1
        for name in ("tokens_in", "tokens_out", "cost"):
            value = reply.get(name)
            getattr(self, name).add(value if isinstance(value, int | float) else None)
        self.first = min(self.first or at, at, key=time_of)
        self.last = max(self.last or at, at, key=time_of)


def stock(connection: sqlite3.Connection) -> dict[str, Stock]:
    """What the store holds, by model, sorted. Raises UsageError for a reply that is no JSON object."""
    found: dict[str, Stock] = {}
    for model, at, reply in connection.execute("SELECT model, at, reply FROM replies ORDER BY key"):
        found.setdefault(model, Stock()).add(at, object_of(reply))
    return dict(sorted(found.items()))


SUMMARY = "export, import, prune and count the stored replies"
STORE: Final = Path(".taskgraph")
PIPE: Final = "-"
SHOWN: Final = 5  # conflicts that are named

_GLOB = "only models whose name fits, such as 'openai/*'"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Nothing; the parser then knows the command's arguments."""
    steps = parser.add_subparsers(dest="step", required=True, metavar="export|import|prune|stats")
    out = steps.add_parser("export", help="write the replies as JSON lines, sorted by key")
    out.add_argument("file", metavar="FILE", help="the file to write, replaced if it stands; - is the standard output")
    back = steps.add_parser("import", help="add the replies of exports to the store, which is made if it is missing")
    back.add_argument("files", metavar="FILE", nargs="+", help="exports; - is the standard input")
    back.add_argument("--replace", action="store_true", help="imported replies take the place of those stored")
    less = steps.add_parser("prune", help="remove the replies that fit all that is given, and shrink the file")
    less.add_argument("--older-than", metavar="DAYS", type=float, help="replies that came longer ago")
    less.add_argument("--dry-run", action="store_true", help="tell what would go; remove nothing")
    count = steps.add_parser("stats", help="tell what the store holds of each model")
    count.add_argument("--json", action="store_true", help="as JSON")
    for step in (out, less):
        step.add_argument("--model", metavar="GLOB", help=_GLOB)
    for step in (out, back, less, count):
        step.add_argument(
            "--store", metavar="PATH", type=Path, default=STORE, help="folder or file (default: %(default)s)"
        )


def run(options: argparse.Namespace) -> int:
    """The exit code, 0. Raises UsageError."""
    folder = folder_of(options.store)
    {"export": _export, "import": _import, "prune": _prune, "stats": _stats}[options.step](folder, options)
    return 0


def _export(folder: Path, options: argparse.Namespace) -> None:
    with _temporary() as lines:  # drawn from the store first, which is not held open for who takes the export slowly
        read(folder, lambda connection: _draw(entries(connection, options.model or "*"), lines))
        lines.seek(0)
        if options.file == PIPE:
            sys.stdout.flush()
            sys.stdout.buffer.writelines(lines)
            sys.stdout.buffer.flush()
            return
        count = _write(Path(options.file), lines, folder / FILE)
    print(f"{count} replies written to {one_line(options.file)}")


@contextmanager
def _temporary() -> Iterator[IO[bytes]]:
    try:
        file = TemporaryFile()  # noqa: SIM115 - closing it may fail as writing did
    except OSError as error:
        raise _no_room(error) from error
    try:
        yield file
    finally:
        with suppress(OSError):  # what could not be written would be written once more
            file.close()


def _draw(found: Iterable[StoredEntry], into: IO[bytes]) -> None:
    try:
        into.seek(0)
        into.truncate()
        into.writelines((usable(entry, line_of) + "\n").encode() for entry in found)
        into.flush()
    except OSError as error:
        raise _no_room(error) from error


def _no_room(error: OSError) -> UsageError:
    folder = f" {tempfile.tempdir}" if tempfile.tempdir else ""  # none where Python found none
    return UsageError(
        f"the temporary folder{folder} cannot be used: {error.strerror or error}; an export is drawn up there first: "
        "make room in it, or name another one with the environment variable TMPDIR"
    )


def _write(target: Path, lines: Iterable[bytes], store: Path) -> int:
    """How many lines were written; the file stands whole or as it was. Raises UsageError."""
    if target.resolve() == store.resolve():
        raise UsageError(f"{target}: is the store itself; name another file")
    target = target.resolve()  # what a link leads to is written, the link stays
    part = target if target.exists() and not target.is_file() else target.with_name(f".{target.name}.part")
    count = 0
    try:
        with part.open("wb") as file:
            for line in lines:
                file.write(line)
                count += 1
        if part != target:  # a device or a pipe is written as it stands
            part.replace(target)
    except BaseException as error:
        if part != target:
            part.unlink(missing_ok=True)
        if isinstance(error, OSError):
            told = error.strerror or str(error)
            raise UsageError(f"{target}: cannot be written: {told}; name another file") from error
        raise
    return count


def _import(folder: Path, options: argparse.Namespace) -> None:
    with staged(_imported(options.files)) as waiting, opened(folder, create=True) as connection:
        merged = merge(connection, waiting, options.replace)
    print("\n".join(_told(merged, options.replace)))


def _imported(files: Sequence[str]) -> Iterator[StoredEntry]:
    for name in files:
        if name == PIPE:
            yield from _lines(sys.stdin.buffer, "standard input")
            continue
        try:
            with open(name, "rb") as file:
                yield from _lines(file, name)
        except OSError as error:
            raise UsageError(f"{name}: cannot be read: {error.strerror or error}") from error


def _lines(file: Iterable[bytes], where: str) -> Iterator[StoredEntry]:
    for number, line in enumerate(file, 1):
        if number == 1:
            line = line.removeprefix(BOM_UTF8)
        if line.strip():
            yield read_line(line, where, number)


def _told(merged: Merged, replace: bool) -> list[str]:
    lines = [f"{merged.added} replies added, {merged.known} there already, {len(merged.conflicts)} in conflict"]
    if merged.conflicts:
        done = "the imported one stands now" if replace else "the stored one stays (--replace takes the imported one)"
        more = len(merged.conflicts) - SHOWN
        lines.append(f"in conflict, that is another answer to the same request; {done}:")
        lines += [f"  {key}" for key in merged.conflicts[:SHOWN]] + ([f"  and {more} more"] if more > 0 else [])
    return lines


def _prune(folder: Path, options: argparse.Namespace) -> None:
    if options.model is None and options.older_than is None:
        raise UsageError("replies prune: nothing says what to remove; give --older-than DAYS, --model GLOB or both")
    before = None if options.older_than is None else _ago(options.older_than)
    models, shrunk = options.model or "*", True
    if options.dry_run:
        removed = read(folder, lambda connection: prunable(connection, models, before))
    else:
        with opened(folder) as connection:
            removed = prune(connection, models, before)
            shrunk = not removed or shrink(connection)
    rows = [[model, str(one.replies), str(one.characters)] for model, one in removed.items()]
    total = sum(one.replies for one in removed.values())
    print(f"{total} replies {'would be removed' if options.dry_run else 'removed'}")
    if rows:
        print("\n".join(["", *table(["model", "replies", "characters"], rows, "lrr")]))
    if not shrunk:
        print("the file keeps its size, for a run uses it; the room is used again")


def _ago(days: float) -> datetime:
    try:
        if days >= 0:
            return datetime.now(UTC) - timedelta(days=days)
    except OverflowError:
        pass
    raise UsageError(f"--older-than: found {days:g}, expected a number of days from 0, back to the year 1 at most")


def _stats(folder: Path, options: argparse.Namespace) -> None:
    file = folder / FILE
    found = read(folder, stock)
    size = sum(one.stat().st_size for one in (file, file.with_name(f"{file.name}-wal")) if one.exists())
    if options.json:
        about = {"file": str(file), "bytes": size, "models": {name: _plain(one) for name, one in found.items()}}
        print(json.dumps(about, indent=2))
        return
    replies = sum(one.replies for one in found.values())
    print(f"{one_line(str(file))}: {replies} replies of {len(found)} models, {size:,} bytes")
    if found:
        header = ["model", "replies", "tokens in", "tokens out", "cost", "first", "last"]
        print("\n".join(["", *table(header, [_row(name, one) for name, one in found.items()], "lrrrrll")]))


def _row(model: str, one: Stock) -> list[str]:
    figures = [_sum(one.tokens_in, ",d"), _sum(one.tokens_out, ",d"), _sum(one.cost, ".4f")]
    return [model, str(one.replies), *figures, one.first[:10], one.last[:10]]


def _sum(of: Sum, shape: str) -> str:
    """The sum, and beside it of how many replies it is not known; "unknown" where it is known of none."""
    if not of.known:
        return "unknown"
    return f"{of.total:{shape}}" + (f" + {of.unknown} unknown" if of.unknown else "")


def _plain(one: Stock) -> dict[str, Any]:
    sums = {"tokens_in": one.tokens_in, "tokens_out": one.tokens_out, "cost": one.cost}
    return {
        "replies": one.replies,
        **{name: {"known": of.total if of.known else None, "unknown": of.unknown} for name, of in sums.items()},
        "first": one.first,
        "last": one.last,
    }
