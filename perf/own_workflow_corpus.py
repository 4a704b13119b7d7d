"""What is read of a folder of workflow files of other tools, and what is asked about them.

    python perf/own_workflow_corpus.py FOLDER --format FORMAT [--reader] [--verbose]

One row per file: whether it is read, else why not; the constructs that are left out; what the reader found of each kind
of part and what an independent count expects, which shares no code with the reader; the questions that can be asked
(cases whose answer is the same in both readings). The last row has the totals. `--reader` asks all of them with the
reader baseline in one pytest run. Exits with 1 if a file ends with a traceback, fewer than MOST_READ of the files are
read, or something is not found.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "perf")]

from own_workflow_actions import actions_found, actions_parts  # noqa: E402 - the folder is not on the path before
from own_workflow_argo import argo_found, argo_parts  # noqa: E402
from own_workflow_bpmn import bpmn_found, bpmn_parts  # noqa: E402

from pytest_taskgraph.errors import TaskgraphError  # noqa: E402 - the root is not on the path before
from pytest_taskgraph.families.understanding.own_files.choices import answers_in  # noqa: E402
from pytest_taskgraph.families.understanding.patterns import catalogue  # noqa: E402
from pytest_taskgraph.families.understanding.patterns.pattern import Case  # noqa: E402
from pytest_taskgraph.families.understanding.patterns.scope import all_scopes, cases  # noqa: E402
from pytest_taskgraph.notations import FILE_FORMATS  # noqa: E402
from pytest_taskgraph.notations.notation import Interpretation, combine_workflows  # noqa: E402
from pytest_taskgraph.workflow.check import problems  # noqa: E402
from pytest_taskgraph.workflow.model import Workflow  # noqa: E402

MOST_READ: Final = 0.95
Parts = Counter[tuple[str, ...]]  # (kind, names …)


COUNTS: Final[Mapping[str, tuple[Callable[[str], Parts], Callable[[Workflow, Parts], Parts]]]] = {
    "actions": (actions_parts, actions_found),
    "argo": (argo_parts, argo_found),
    "bpmn": (bpmn_parts, bpmn_found),
}
"""By format: the parts of a text by an independent count, and those of what was read from it."""


# --- The files ------------------------------------------------------------------------------------------------------


def certain_cases(interpretation: Interpretation) -> Iterator[tuple[str, Case]]:
    """Yield the cases of all patterns about all levels that have the same answer in both readings."""
    levels = all_scopes(combine_workflows(interpretation.workflows))
    doubtful = all_scopes(combine_workflows(interpretation.doubtful)) if interpretation.doubtful else None
    others = {scope.place: scope for scope in doubtful} if doubtful is not None else None
    for name, pattern in catalogue().items():
        for scope in levels if not pattern.planted else ():
            same = None if others is None else answers_in(pattern, others.get(scope.place))
            for case in cases(pattern, scope):
                if same is None or (repr(case.fields), repr(case.answer)) in same:
                    yield name, case


def _text(path: Path, name: str) -> str:
    """Return the text of a file."""
    return FILE_FORMATS[name].decode(path.read_bytes())


class Totals:
    """What was counted over all files."""

    def __init__(self) -> None:
        self.files = Counter[str]()
        self.expected = Counter[str]()
        self.found = Counter[str]()
        self.patterns = Counter[str]()

    def passes(self) -> bool:
        """Return True if the requirements hold."""
        read, all_files = self.files["read"], self.files["read"] + self.files["refused"] + self.files["traceback"]
        complete = all(self.found[kind] == count for kind, count in self.expected.items())
        return (
            complete and not self.files["traceback"] and not self.files["ill-formed"] and read >= MOST_READ * all_files
        )


def file_row(path: Path, name: str, totals: Totals, verbose: bool) -> str:
    """Return the row of a file, and count it."""
    notation = FILE_FORMATS[name]
    try:
        text = _text(path, name)
        if not notation.recognises(text):
            totals.files["of another format"] += 1
            return "not of this format"
        interpretation = notation.interpret(text, str(path))
    except (TaskgraphError, UnicodeDecodeError, LookupError) as error:
        totals.files["refused"] += 1
        return f"refused: {error}"
    except Exception:
        totals.files["traceback"] += 1
        return f"TRACEBACK\n{traceback.format_exc()}"
    totals.files["read"] += 1
    whole = combine_workflows(interpretation.workflows)
    if faults := problems(whole):
        totals.files["ill-formed"] += 1
        return f"ILL-FORMED: {faults}"
    columns = [f"left out {len(interpretation.left_out)}", *_part_columns(text, name, whole, totals)]
    asked = Counter(pattern for pattern, _ in certain_cases(interpretation))
    totals.patterns.update(asked.keys())
    totals.files["asked about"] += bool(asked)
    lines = [f"   {line}" for line in interpretation.left_out] if verbose else []
    return "\n".join(["; ".join([*columns, f"{asked.total()} cases of {len(asked)} patterns"]), *lines])


def _part_columns(text: str, name: str, whole: Workflow, totals: Totals) -> Iterator[str]:
    independent, read = COUNTS[name]
    expected = independent(text)
    found = read(whole, expected)
    for kind in sorted({part[0] for part in (*expected, *found)}):
        wanted = Counter({part: count for part, count in expected.items() if part[0] == kind})
        got = Counter({part: count for part, count in found.items() if part[0] == kind})
        totals.expected[kind] += wanted.total()
        totals.found[kind] += (wanted & got).total()
        totals.found[f"{kind} beyond"] += (got - wanted).total()
        mark = "" if wanted == got else f" MISSING {[*(wanted - got)][:3]} BEYOND {[*(got - wanted)][:3]}"
        yield f"{kind} {(wanted & got).total()}/{wanted.total()}{mark}"


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--format", required=True, choices=sorted(set(COUNTS) & {*FILE_FORMATS}))
    parser.add_argument("--reader", action="store_true", help="ask all files with the reader baseline")
    parser.add_argument("--verbose", action="store_true", help="print what is left out")
    arguments: Any = parser.parse_args()
    suffixes, totals, began = FILE_FORMATS[arguments.format].suffixes, Totals(), time.process_time()
    for path in sorted(path for path in arguments.folder.rglob("*") if path.suffix.lower() in suffixes):
        row = file_row(path, arguments.format, totals, arguments.verbose)
        print(f"{path.relative_to(arguments.folder)}: {row}")
    print(f"files: {dict(totals.files)}; {time.process_time() - began:.0f} s of CPU")
    recall = {kind: f"{totals.found[kind]}/{count}" for kind, count in sorted(totals.expected.items())}
    print(f"found: {recall}; beyond: { {k: n for k, n in totals.found.items() if k.endswith(' beyond') and n} }")
    print(f"files by pattern: {dict(totals.patterns.most_common())}")
    reader = 0
    if arguments.reader:
        command = [
            sys.executable,
            "-m",
            "pytest",
            "suites/understanding",
            "--model=baseline:reader",
            "-q",
            "--no-header",
        ]
        reader = subprocess.run(
            [*command, f"--taskgraph-workflow={arguments.folder}"], cwd=ROOT, check=False
        ).returncode
    return 0 if totals.passes() and not reader else 1


if __name__ == "__main__":
    sys.exit(main())
