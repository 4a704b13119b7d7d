"""Change the package in small ways, one at a time, and see whether its tests fail.

    python perf/mutants.py draw --json FILE [--seed 20261124] [--each 5]
    python perf/mutants.py run FILE [--only N ...] [--tests PATH ...] [--timeout 900]

`draw` writes mutants, as many for each room of ARCHITECTURE.md; the families are rooms of their own, and the modules
beside the folders are the room `ground`. A mutant is described by module, function, text, ordinal and change
(perf/mutations.py), so that `run` finds it in a later version too: in its module, or where the function moved.

`run` changes a copy of the checkout, runs the tests that name or resemble the module, then those of its room or the
given ones, and writes the verdict into the file:

    killed     a test failed, which passes without the change
    survived   all tests passed
    timeout    the tests did not end, and do without the change: counts as killed
    invalid    the module or pytest did not start: counts as killed
    gone       function or text are not there any more

The exit code is 0 whatever the verdicts are.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from pathlib import Path, PurePosixPath
from random import Random
from typing import Any

import pytest
from mutations import Mutation, mutated, mutations

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "pytest_taskgraph"
FAMILIES = ("understanding", "tasklama", "steps", "paged")
TESTS = {
    "workflow": ("tests/workflow",),
    "notations": ("tests/notations", "tests/wording"),
    "generation": ("tests/generation", "tests/wording"),
    "scoring": ("tests/scoring",),
    "benchmarks": ("tests/families", "tests/benchmarks"),
    "understanding": ("tests/benchmarks", "tests/wording"),
    "tasklama": ("tests/tasklama", "tests/families"),
    "steps": ("tests/steps", "tests/families"),
    "paged": ("tests/paged", "tests/families"),
    "models": ("tests/models",),
    "results": ("tests/results",),
    "reports": ("tests/reports",),
    "soundness": ("tests/soundness",),
    "commands": ("tests/commands",),
    "plugin": ("tests/plugin",),
    "ground": ("tests/test_*.py", "tests/models", "tests/reports"),
}
FIRST = 4  # test files that are run before the room
FAILED = re.compile(r"^(?:FAILED|ERROR) ([^\s:]+(?:::[^\[\s]+(?:\[.*?\])?)?)(?= - |$)", re.MULTILINE)
# Modules whose tests are skipped where the extra `local` is not installed.
NEEDS_WEIGHTS = re.compile(r"^ *(?:import|from) (?:torch|transformers)\b", re.MULTILINE)
LEFT_OUT = (".git", "__pycache__", ".*_cache", ".hypothesis", ".taskgraph", ".venv", "node_modules")


def room(module: str) -> str:
    """Return the room of a module, a path below the package."""
    parts = PurePosixPath(module).parts
    if len(parts) > 2 and parts[0] == "families" and parts[1] in FAMILIES:
        return parts[1]
    return parts[0] if len(parts) > 1 else "ground"


def sources(checkout: Path) -> dict[str, str]:
    """Return the modules of the package: path below it to source."""
    folder = checkout / PACKAGE
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.py"))
    }


def draw(modules: Mapping[str, str], seed: int, each: int) -> list[dict[str, Any]]:
    """Return descriptions of mutants: `each` for each room, the kinds of change in turn, at most one in a function."""
    found: dict[str, dict[str, list[tuple[str, Mutation]]]] = {}
    for module, source in modules.items():
        for mutation in mutations(source) if not NEEDS_WEIGHTS.search(source) else ():
            found.setdefault(room(module), {}).setdefault(mutation.change, []).append((module, mutation))
    chosen = [
        (name, *pair) for name in TESTS for pair in _draw_room(found.get(name, {}), Random(f"{seed} {name}"), each)
    ]
    return [
        {"number": number, "room": name, "module": module} | description(mutation)
        for number, (name, module, mutation) in enumerate(chosen, 1)
    ]


def _draw_room(
    kinds: Mapping[str, list[tuple[str, Mutation]]], random: Random, each: int
) -> list[tuple[str, Mutation]]:
    order = random.sample(sorted(kinds), len(kinds))
    rounds = zip_longest(*(random.sample(kinds[kind], len(kinds[kind])) for kind in order))
    drawn: dict[tuple[str, str], tuple[str, Mutation]] = {}
    for module, mutation in filter(None, chain.from_iterable(rounds)):
        if len(drawn) < each and (module, mutation.function) not in drawn:
            drawn[module, mutation.function] = module, mutation
    return [*drawn.values()]


def description(mutation: Mutation) -> dict[str, Any]:
    """Return what a mutation is found again by, with its line for the reader."""
    return {name: value for name, value in vars(mutation).items() if name != "span"}


def find(mutant: Mapping[str, Any], modules: Mapping[str, str]) -> tuple[str, Mutation] | None:
    """Return module and mutation that a description names, or None.

    Elsewhere than in its module, the function must be unchanged, or its module must have the same file name.
    """
    if mutant["module"] in modules:
        for mutation in mutations(modules[mutant["module"]]):
            if _is_described(mutation, mutant):
                return mutant["module"], mutation
    name = PurePosixPath(mutant["module"]).name
    elsewhere = [
        (module, mutation)
        for module, source in modules.items()
        if mutant["function"].rpartition(".")[2] in source
        for mutation in mutations(source)
        if _is_described(mutation, mutant)
        and (mutation.digest == mutant["digest"] or PurePosixPath(module).name == name != "__init__.py")
    ]
    return elsewhere[0] if len(elsewhere) == 1 else None


def _is_described(mutation: Mutation, mutant: Mapping[str, Any]) -> bool:
    return all(getattr(mutation, name) == mutant[name] for name in ("function", "text", "ordinal", "change"))


def first_tests(module: str, checkout: Path) -> list[str]:
    """Return the test files that import the module or whose names resemble its path, the likeliest ones first."""
    path = PurePosixPath(module).with_suffix("")
    dotted = ".".join((PACKAGE, *path.parts)).removesuffix(".__init__")
    words = _words(str(path))
    ranked = []
    for file in sorted((checkout / "tests").rglob("test_*.py")):
        relative = file.relative_to(checkout).as_posix()
        imports = re.search(rf"\b{re.escape(dotted)}\b(?!\.)", file.read_text(encoding="utf-8")) is not None
        alike = len(words & _words(file.stem))
        if imports or alike > 1 or path.name in file.stem:
            ranked.append((-alike - 2 * imports, relative))
    return [relative for _, relative in sorted(ranked)[:FIRST]]


def _words(name: str) -> set[str]:
    """Return the words of a path without a plural's s and without those of every path."""
    return {word.rstrip("s") for word in re.split(r"\W|_", name)} - {"", "test", "init", "benchmark"}


def room_tests(name: str, first: Sequence[str], checkout: Path) -> list[str]:
    """Return the test files of a room, without those that were run first."""
    paths = [path for pattern in TESTS[name] for path in sorted(checkout.glob(pattern))]
    files = [file for path in paths for file in (sorted(path.rglob("test_*.py")) if path.is_dir() else [path])]
    return [file for path in files if (file := path.relative_to(checkout).as_posix()) not in first]


@dataclass(frozen=True)
class TestRun:
    """The end of a run of pytest."""

    code: int | None  # None: it was ended at the time limit
    failed: str  # id of the first failed test or file
    last_line: str


@dataclass
class TestedCopy:
    """A copy of the checkout whose package is changed, and what its tests do without a change."""

    checkout: Path
    timeout: float
    passing: dict[tuple[str, ...], bool] = field(default_factory=dict)  # tests -> True if they pass without a change
    broken: list[str] = field(default_factory=list)  # tests that fail without a change, and are left out

    def verdict(self, module: str, text: str, stages: Sequence[Sequence[str]]) -> tuple[str, str]:
        """Return the verdict on a changed module, and the test or message that it rests on."""
        name = ".".join((PACKAGE, *PurePosixPath(module).with_suffix("").parts)).removesuffix(".__init__")
        with self.changed(module, text):
            started = self.python("-c", f"import {PACKAGE}.plugin.hooks, {name}")
        if started.code != 0:
            return "invalid", started.last_line
        for tests in filter(None, stages):
            ran = self.tested(module, text, tests)
            while ran.code == 1 and ran.failed and not self.passes((ran.failed,)):
                self.leave_out(ran.failed)
                ran = self.tested(module, text, tests)
            if ran.code is None:
                if not self.passes(tuple(tests)):
                    sys.exit(f"--timeout={self.timeout:g}: {len(tests)} test files take longer without a change")
                return "timeout", f"{len(tests)} test files"
            if ran.failed:
                return "killed", ran.failed
            if ran.code not in (0, pytest.ExitCode.NO_TESTS_COLLECTED):
                return "invalid", ran.last_line
        return "survived", ""

    def tested(self, module: str, text: str, tests: Sequence[str]) -> TestRun:
        with self.changed(module, text):
            return self.run_tests(tests)

    def passes(self, tests: tuple[str, ...]) -> bool:
        """Return True if the tests pass without a change; it is looked up the second time."""
        if tests not in self.passing:
            self.passing[tests] = self.run_tests(tests).code == 0
        return self.passing[tests]

    def leave_out(self, test: str) -> None:
        if test in self.broken:
            sys.exit(f"{test} fails without a change, and cannot be left out")
        print(f"left out, for it fails without a change: {test}", flush=True)
        self.broken.append(test)

    def run_tests(self, tests: Sequence[str]) -> TestRun:
        left_out = [f"{'--deselect' if '::' in test else '--ignore'}={test}" for test in self.broken]
        options = ("-x", "-q", "--tb=no", "-p", "no:cacheprovider", "-n", "2")
        return self.python("-m", "pytest", *options, *left_out, *tests)

    def python(self, *arguments: str) -> TestRun:
        """Run Python in the copy, and end it with all that it started at the time limit."""
        # With CI, pytest does not cut the lines that name failed tests.
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "PYTHON"))}
        environment |= {"CI": "true", "PYTHONPATH": str(self.checkout)}
        with tempfile.TemporaryFile("w+") as output:
            process = subprocess.Popen(
                [sys.executable, *arguments], cwd=self.checkout, env=environment, start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            )  # fmt: skip
            try:
                code: int | None = process.wait(self.timeout)
            except subprocess.TimeoutExpired:
                code = None
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            output.seek(0)
            text = output.read()
        failed = FAILED.search(text)
        return TestRun(code, failed[1] if failed else "", (text.strip().splitlines() or [""])[-1])

    @contextmanager
    def changed(self, module: str, text: str) -> Iterator[None]:
        """Change a module within the context."""
        path = self.checkout / PACKAGE / module
        original = path.read_text(encoding="utf-8")
        try:
            self._write(path, text)
            yield
        finally:
            self._write(path, original)

    def _write(self, path: Path, text: str) -> None:
        path.write_text(text, encoding="utf-8")
        # A compiled file is taken for that of another text of the same second and size.
        Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)


def run(file: Path, checkout: Path, only: Sequence[int], tests: Sequence[str], timeout: float) -> None:
    """Run the mutants of a file, those with the numbers in `only` if there are any, and write each verdict into it."""
    drawn = json.loads(file.read_text(encoding="utf-8"))
    if missing := [path for path in tests if not (checkout / path.partition("::")[0]).exists()]:
        sys.exit(f"--tests: no file {missing[0]!r} in {checkout}")
    if unknown := {*only} - {mutant["number"] for mutant in drawn["mutants"]}:
        sys.exit(f"--only: no mutant {min(unknown)} in {file}; numbers are 1 to {len(drawn['mutants'])}")
    modules = sources(checkout)
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary).resolve() / "checkout"
        shutil.copytree(checkout, copy, symlinks=True, ignore=shutil.ignore_patterns(*LEFT_OUT))
        tested = TestedCopy(copy, timeout)
        for mutant in drawn["mutants"]:
            if only and mutant["number"] not in only:
                continue
            start = time.monotonic()
            mutant |= verdict(mutant, modules, tested, tests) | {"seconds": round(time.monotonic() - start, 1)}
            print(line(mutant), flush=True)
            file.write_text(json.dumps(drawn, indent=1) + "\n", encoding="utf-8")
    counts = Counter(mutant["verdict"] for mutant in drawn["mutants"] if "verdict" in mutant)
    print(", ".join(f"{count} {name}" for name, count in counts.most_common()))


def verdict(
    mutant: Mapping[str, Any], modules: Mapping[str, str], tested: TestedCopy, tests: Sequence[str]
) -> dict[str, str]:
    """Return the verdict on a mutant, the test or message that it rests on, and where the mutant is now."""
    found = find(mutant, modules)
    if found is None:
        return {"verdict": "gone", "by": "", "now": ""}
    module, mutation = found
    first = [] if tests else first_tests(module, tested.checkout)
    stages = [tests] if tests else [first, room_tests(room(module), first, tested.checkout)]
    reached, by = tested.verdict(module, mutated(modules[module], mutation), stages)
    return {"verdict": reached, "by": by, "now": f"{module}:{mutation.line}"}


def line(mutant: Mapping[str, Any]) -> str:
    """Return the line about a mutant: number, verdict, time, place, change, and what the verdict rests on."""
    place = f"{mutant.get('now') or mutant['module']} {mutant['function']}"
    text = " ".join(mutant["text"].split())
    seconds = f"{mutant['seconds']:6.1f} s" if "seconds" in mutant else ""
    head = f"{mutant['number']:3} {mutant.get('verdict', ''):8} {seconds}"
    return f"{head}  {mutant['room']}: {place}: {mutant['change']}: {text[:80]}  {mutant.get('by', '')}".rstrip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    drawing = commands.add_parser("draw", help="write mutants to a file")
    drawing.add_argument("--json", type=Path, required=True, metavar="FILE")
    drawing.add_argument("--seed", type=int, default=20261124)
    drawing.add_argument("--each", type=int, default=5, help="number of mutants of each room")
    running = commands.add_parser("run", help="run the tests on each mutant of a file")
    running.add_argument("file", type=Path)
    running.add_argument("--only", type=int, nargs="+", default=[], metavar="N", help="numbers of mutants")
    running.add_argument("--tests", nargs="+", default=[], metavar="PATH", help="tests instead of those of the room")
    running.add_argument("--timeout", type=float, default=900, help="time limit of one run of pytest, in seconds")
    for command in (drawing, running):
        command.add_argument("--checkout", type=Path, default=ROOT, help="folder with pytest_taskgraph/ and tests/")
    options = parser.parse_args()
    checkout = options.checkout.resolve()
    if options.command == "run":
        run(options.file, checkout, options.only, options.tests, options.timeout)
        return
    mutants = draw(sources(checkout), options.seed, options.each)
    options.json.write_text(json.dumps({"seed": options.seed, "mutants": mutants}, indent=1) + "\n", encoding="utf-8")
    print("\n".join(map(line, mutants)))


if __name__ == "__main__":
    main()
