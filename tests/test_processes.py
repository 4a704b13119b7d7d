"""No test starts a process that could outlast it, nor asks a clock whether something was fast enough."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import bounded_process
import pytest

TESTS = Path(__file__).parent
STARTS = {"run", "Popen", "call", "check_call", "check_output", "create_subprocess_exec", "system", "popen"}
CLOCKS = {"perf_counter", "perf_counter_ns", "monotonic_ns"}  # seconds of the processor are no wall time
TAKEN = re.compile(rf"\b(subprocess|os|asyncio|time)( import |\.({'|'.join(STARTS | CLOCKS)})\b)")
GRANDCHILD = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; print('child', flush=True); time.sleep(1000)"])
print(child.pid, flush=True)
child.wait()
"""


def names_used(source: str) -> Iterator[tuple[str, str]]:
    """Yield what the source takes from modules, as pairs of module and name; nothing if it has no name to look for."""
    if not TAKEN.search(source):
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield node.value.id, node.attr
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)


def unbounded(source: str, own: bool = False) -> set[str]:
    """Return what a module takes to start processes with or to read clocks; `own` for a module that may start some."""
    starts = {} if own else {"subprocess": STARTS, "os": STARTS, "asyncio": STARTS - {"run"}}
    found = {**starts, "time": CLOCKS}
    return {name for module, name in names_used(source) if name in found.get(module, ())}


def test_modules_start_only_bounded_processes_and_assert_no_time() -> None:
    own = {"bounded_process.py", Path(__file__).name}
    found = {
        path.relative_to(TESTS).as_posix(): names
        for path in TESTS.rglob("*.py")
        if (names := unbounded(path.read_text(encoding="utf-8"), path.name in own))
    }
    assert found == {}


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import subprocess\nsubprocess.run(['ls'])", {"run"}),
        ("from os import popen", {"popen"}),
        ("import asyncio\nasyncio.run(main())", set()),
        ("import asyncio\nasyncio.create_subprocess_exec('ls')", {"create_subprocess_exec"}),
        ("import time\ntime.perf_counter()", {"perf_counter"}),
        ("import time\ntime.process_time()", set()),
    ],
)
def test_unbounded_names_what_a_module_takes(source: str, names: set[str]) -> None:
    assert unbounded(source) == names


def test_start_ends_grandchildren_with_context() -> None:
    with bounded_process.start([sys.executable, "-c", GRANDCHILD]) as process:
        assert process.stdout is not None
        lines = sorted(process.stdout.readline().strip() for _ in range(2))
        assert lines[0].isdigit()
        assert lines[1] == "child"
        descriptor = process.stdout
        bounded_process.end(process)
        assert descriptor.read() == ""  # the end of the pipe, which the grandchild held
    assert process.returncode < 0


def test_run_ends_group_after_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_process, "LIMIT", 0.5)
    done: subprocess.CompletedProcess[str] = bounded_process.run([sys.executable, "-c", GRANDCHILD])
    assert done.returncode < 0


def test_run_returns_code_and_both_outputs() -> None:
    code = "import sys; print(sys.stdin.read()); print('b', file=sys.stderr); sys.exit(3)"
    done = bounded_process.run([sys.executable, "-c", code], stdin="a")
    assert (done.returncode, done.stdout, done.stderr) == (3, "a\n", "b\n")
