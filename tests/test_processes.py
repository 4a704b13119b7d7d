"""No test starts a process that could outlast it, nor asks a clock whether something was fast enough."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import bounded_process
import pytest

TESTS = Path(__file__).parent
FILES = sorted(TESTS.rglob("*.py"))
STARTS = {"run", "Popen", "call", "check_call", "check_output", "create_subprocess_exec", "system", "popen"}
CLOCKS = {"perf_counter", "perf_counter_ns", "monotonic_ns"}  # seconds of the processor are no wall time
GRANDCHILD = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; print('child', flush=True); time.sleep(1000)"])
print(child.pid, flush=True)
child.wait()
"""


def names_used(tree: ast.AST, module: str, names: set[str]) -> set[str]:
    """Return which of the names are taken from the module."""
    attributes = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == module
    }
    imports = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == module
        for alias in node.names
    }
    return (attributes | imports) & names


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(TESTS).as_posix())
def test_module_starts_only_bounded_processes_and_asserts_no_time(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if path.name != "bounded_process.py":
        for module in ("subprocess", "os", "asyncio"):
            started = names_used(tree, module, STARTS - ({"run"} if module == "asyncio" else set()))
            assert path == Path(__file__) or not started
    assert not names_used(tree, "time", CLOCKS)


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
