"""Repeated runs of the tests that start processes, on a busy machine.

    python perf/busy.py [--runs 20] [--load 8] [--only WORD] [-- PYTEST ARGUMENT ...]

Selects the tests whose function starts a process, by reading the source: `bounded_process`, `Project.spawn`,
`Project.spread`, a run under a terminal or of a command of the documentation, or a fixture that does. `--load`
processes count meanwhile. Each run prints a line; the names of failed tests follow. Exits with 1 if one fails.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests"
STARTS = re.compile(r"\bbounded_process\.(run|start)\(|\.(spawn|spread)\(|\bon_a_terminal\(")
COUNT = "while True: pass"


def starters(tree: ast.Module) -> set[str]:
    """Return the names of the functions of a module that start a process, directly or through other functions of it."""
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    bodies = {name: ast.unparse(node) for name, node in functions.items()}
    names = {name for name, body in bodies.items() if STARTS.search(body)}
    while more := {name for name, body in bodies.items() if name not in names and _uses(body, names - {name})}:
        names |= more
    return names


def _uses(body: str, names: set[str]) -> bool:
    return any(re.search(rf"\b{name}\b", body) for name in names)


def select_tests(only: str) -> list[str]:
    """Return the ids of the tests, without parameters."""
    return [
        f"{path.relative_to(ROOT)}::{name}"
        for path in sorted(TESTS.rglob("test_*.py"))
        for name in sorted(starters(ast.parse(path.read_text(encoding="utf-8"))))
        if name.startswith("test_") and only in f"{path}::{name}"
    ]


@contextmanager
def load(processes: int) -> Iterator[None]:
    """Keep that many processes counting."""
    counting = [subprocess.Popen([sys.executable, "-c", COUNT]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in counting:
            process.kill()
            process.wait()


def main() -> int:
    """Run the tests and return the exit code."""
    options = argparse.ArgumentParser(description="The tests that start processes, on a busy machine.")
    options.add_argument("--runs", type=int, default=20)
    options.add_argument("--load", type=int, default=8, help="processes that count")
    options.add_argument("--only", default="", help="a part of a test's id")
    options.add_argument("rest", nargs="*", help="arguments of pytest")
    chosen = options.parse_args()
    tests = select_tests(chosen.only)
    print(f"{len(tests)} test functions start processes; load {chosen.load}", flush=True)
    failed = 0
    with load(chosen.load):
        for number in range(1, chosen.runs + 1):
            begun = time.perf_counter()
            command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen.rest, *tests]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
            lines = done.stdout.splitlines() or [done.stderr]
            print(f"run {number}: {lines[-1]} ({time.perf_counter() - begun:.0f} s)", flush=True)
            for line in lines:
                if line.startswith(("FAILED", "ERROR")):
                    print(f"    {line}", flush=True)
            failed += done.returncode != 0
    print(f"{failed} of {chosen.runs} runs failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
