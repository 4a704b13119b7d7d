"""Command `export [RECORD...]`: the trials of one or more runs as one table, a row a trial, for data frames.

`data_columns` says what stands in a row, `exported_trials` reads the rows of all runs, `data_formats` writes them, and
`data_set` writes the layout of the Hugging Face Hub.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ...errors import UsageError
from ...reports.escape import one_line
from ...reports.wording import count
from ...results.record.saved import LAST, find
from ..compare import STORE
from .data_columns import read_trials
from .data_set import FILE_FORMATS, require_pyarrow, write_data_set

SUMMARY = "write the trials of one or more runs as a table for data frames, or as a data set"
DATA_SET: Final = "hf"
_NEED_PYARROW: Final = ("parquet", DATA_SET)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to the parser."""
    parser.add_argument(
        "records", metavar="RECORD", nargs="*",
        help="the record of a run, or the name of a saved run (default: the last run of a model)",
    )  # fmt: skip
    parser.add_argument(
        "--to", metavar="FORMAT", choices=(*FILE_FORMATS, DATA_SET),
        help="%(choices)s: a file of that format; hf: a folder in the layout of the Hugging Face Hub "
        "(default: as --out ends, else csv)",
    )  # fmt: skip
    parser.add_argument(
        "--out", metavar="PATH", type=Path,
        help="the file, or with --to=hf the folder (default: trials and the ending of the format)",
    )  # fmt: skip
    parser.add_argument("--force", action="store_true", help="replace what --out names")
    parser.add_argument(
        "--store", metavar="PATH", type=Path, default=STORE, help="folder of the saved runs (default: %(default)s)"
    )


def run(options: argparse.Namespace) -> int:
    """Write the table and print what was written where.

    Returns:
        0.

    Raises:
        UsageError: if an option is invalid, a record cannot be read, or the table cannot be written.
    """
    _set_defaults(options)
    _check_target(options.out, options.force)
    if options.to in _NEED_PYARROW:
        require_pyarrow()
    trials = read_trials(options.store, options.records)
    if options.to == DATA_SET:
        write_data_set(options.out, trials, _command(options))
    else:
        FILE_FORMATS[options.to](options.out, trials.columns, trials.rows)
    rows, runs = count(len(trials.rows), "row"), count(len(trials.runs), "run")
    print(one_line(f"{options.out}: {rows} of {runs}, {len(trials.columns)} columns"))
    return 0


def _set_defaults(options: argparse.Namespace) -> None:
    """Set the format, the file and the record that are not stated.

    Raises:
        UsageError: if no record is stated and there is no last run.
    """
    ending = options.out.suffix[1:] if options.out else ""
    options.to = options.to or (ending if ending in FILE_FORMATS else "csv")
    options.out = options.out or Path("trials" if options.to == DATA_SET else f"trials.{options.to}")
    if not options.records and find(options.store, LAST) is None:
        raise UsageError(
            f"no record is named, and {options.store} holds no run {LAST!r}, as which each run of a named model is "
            "saved; name a record, or ask a model first: pytest --model=SPEC"
        )
    options.records = options.records or [LAST]


def _check_target(out: Path, force: bool) -> None:
    """Check that nothing is replaced without --force.

    Raises:
        UsageError: if it would be.
    """
    if not force and out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise UsageError(f"--out {out}: exists already; name another path, or give --force to replace it")


def _command(options: argparse.Namespace) -> Sequence[str]:
    """Return the command as one types it, for the card: without the folders of this machine."""
    records = [_without_root(Path(name)) for name in options.records]
    return [
        *("python", "-m", "pytest_taskgraph", "export", *records, "--to", options.to),
        *("--out", _without_root(options.out)),
    ]


def _without_root(path: Path) -> str:
    return path.name if path.is_absolute() else str(path)
