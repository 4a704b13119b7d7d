from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import bounded_process
import pytest

import pytest_taskgraph

ROOT = Path(pytest_taskgraph.__file__).parents[1]
SMALL = '''
from typing import TYPE_CHECKING

def clamp(value: int, least: int = 0) -> int:
    """Return 1 of 2."""
    if TYPE_CHECKING:
        print(3)
    if value < least and value != 7:
        return least
    return value

class Counter:
    def add(self, values: list[int]) -> bool:
        for value in values:
            if value < 0:
                continue
            if value < 0:
                self.total += value
        return not values

    def __repr__(self) -> str:
        return f"{1 + 1}" + str(5)
'''
SHIFTED = "# A line before.\n\n" + SMALL.replace("value < least and value != 7", "(\n  value<least\n  and value!=7\n )")
TEST = "from pytest_taskgraph.workflow.small import clamp\n\ndef test_least():\n    assert clamp(-1) == 0\n"


@pytest.fixture(autouse=True)
def scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the modules of perf/ importable."""
    monkeypatch.syspath_prepend(str(ROOT / "perf"))


def drawn(source: str) -> list[dict[str, Any]]:
    from mutants import draw  # type: ignore[import-not-found]

    return draw({"workflow/small.py": source}, 0, 100)  # type: ignore[no-any-return]


def test_mutations_leave_out_what_does_not_run() -> None:
    from mutations import mutations  # type: ignore[import-not-found]

    found = [(mutation.function, mutation.change, mutation.text, mutation.ordinal) for mutation in mutations(SMALL)]
    assert found == [
        ("clamp", "negate condition", "value < least and value != 7", 0),
        ("clamp", "swap and with or", "value < least and value != 7", 0),
        ("clamp", "swap comparison", "value < least", 0),
        ("clamp", "swap comparison", "value != 7", 0),
        ("clamp", "add 1 to number", "7", 0),
        ("clamp", "return None", "return least", 0),
        ("clamp", "return None", "return value", 0),
        ("Counter.add", "negate condition", "value < 0", 0),
        ("Counter.add", "swap comparison", "value < 0", 0),
        ("Counter.add", "add 1 to number", "0", 0),
        ("Counter.add", "negate condition", "value < 0", 1),
        ("Counter.add", "swap comparison", "value < 0", 1),
        ("Counter.add", "add 1 to number", "0", 1),
        ("Counter.add", "drop assignment", "self.total += value", 0),
        ("Counter.add", "return negation", "return not values", 0),
    ]


def test_mutated_changes_node_of_ordinal_alone() -> None:
    from mutations import mutated, mutations

    second = [mutation for mutation in mutations(SMALL) if mutation.text == "value < 0" and mutation.ordinal == 1]
    texts = {mutation.change: mutated(SMALL, mutation) for mutation in second}
    assert texts["swap comparison"].splitlines()[15:17] == ["                continue", "            if (value <= 0):"]
    assert texts["negate condition"].count("if value < 0:") == 1


def test_draw_takes_one_mutant_of_a_function() -> None:
    assert sorted(mutant["function"] for mutant in drawn(SMALL)) == ["Counter.add", "clamp"]
    assert drawn(SMALL) == drawn(SMALL)


def test_find_after_lines_shifted_gives_same_mutant() -> None:
    from mutants import find
    from mutations import mutated

    for mutant in drawn(SMALL):
        module, mutation = find(mutant, {"workflow/small.py": SHIFTED})
        assert (module, mutation.text, mutation.line > mutant["line"]) == ("workflow/small.py", mutant["text"], True)
        assert mutated(SHIFTED, mutation) != SHIFTED


def test_find_after_function_moved_needs_it_unchanged() -> None:
    from mutants import find

    mutant = next(mutant for mutant in drawn(SMALL) if mutant["function"] == "clamp")
    changed = SMALL.replace("value: int,", "value: float,")
    assert find(mutant, {"workflow/other.py": SHIFTED})[0] == "workflow/other.py"
    assert find(mutant, {"workflow/other.py": changed}) is None
    assert find(mutant, {"results/small.py": changed})[0] == "results/small.py"
    assert find(mutant, {"workflow/small.py": SMALL.replace("clamp", "bound")}) is None


@pytest.mark.exhaustive
def test_run_known_mutant_is_killed_and_lost_one_is_gone(tmp_path: Path) -> None:
    files = {
        "pytest_taskgraph/__init__.py": "",
        "pytest_taskgraph/plugin/__init__.py": "",
        "pytest_taskgraph/plugin/hooks.py": "",
        "pytest_taskgraph/workflow/__init__.py": "",
        "pytest_taskgraph/workflow/small.py": SMALL,
        "tests/workflow/test_small.py": TEST,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    clamp = next(mutant for mutant in drawn(SMALL) if mutant["function"] == "clamp")
    mutants = [
        clamp | {"change": "return None", "text": "return least", "ordinal": 0},
        clamp | {"function": "bound", "number": 7},
    ]
    (tmp_path / "mutants.json").write_text(json.dumps({"seed": 0, "mutants": mutants}))
    script = str(ROOT / "perf" / "mutants.py")
    command = [sys.executable, script, "run", "mutants.json", "--checkout", str(tmp_path)]
    ran = bounded_process.run(command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)})
    assert ran.returncode == 0, ran.stderr
    verdicts = json.loads((tmp_path / "mutants.json").read_text())["mutants"]
    assert [(mutant["verdict"], mutant["by"]) for mutant in verdicts] == [
        ("killed", "tests/workflow/test_small.py::test_least"),
        ("gone", ""),
    ]
    assert (tmp_path / "pytest_taskgraph/workflow/small.py").read_text() == SMALL
    assert ran.stdout.splitlines()[-1] == "1 killed, 1 gone"
