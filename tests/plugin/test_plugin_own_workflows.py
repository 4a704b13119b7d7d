"""A comparison over the user's own workflows: a collapse is seen, whether they are a folder, files, or a single one."""

from __future__ import annotations

import pytest
from plugin_project import Project

SUITE = """
from pytest_taskgraph import suite, understanding

@suite(understanding, patterns=["task_list", "flow_start", "flow_end", "next_tasks"], instances=9)
def test_graph(trial):
    trial.check()
"""


def workflow(name: str) -> str:
    tasks = [f"{name}{task}" for task in ("Mix", "Rest", "Bake")]
    return f"package p;\nworkflow {name} {{ {' '.join(f'define task {task};' for task in tasks)} START -> " + (
        f"{' -> '.join(tasks)} -> END; }}\n"
    )


@pytest.mark.parametrize(
    ("files", "folder", "restricted"),
    [(8, True, ""), (8, False, ""), (1, True, "; over this 1 workflow only, tested question by question")],
)
def test_collapse_over_workflows_fails_comparison(project: Project, files: int, folder: bool, restricted: str) -> None:
    names = [f"own/{at}.xxp" for at in range(files)]
    for at, name in enumerate(names):
        project.write(name, workflow("ABCDEFGH"[at]))
    project.write("test_graph.py", SUITE)
    own = [f"--taskgraph-workflow={path}" for path in (["own"] if folder else names)]
    assert project.run(*own, "--model=simulated:1", "--taskgraph-save=main").code == 0
    ran = project.run(*own, "--model=simulated:0", "--taskgraph-compare=main", "--taskgraph-fail-on=regression")
    output = " ".join(ran.output.split())
    assert (ran.code, ran.counts["failed"]) == (1, 1), ran.output
    verdict = "worse on these workflows" if restricted else "worse"
    assert f"failed compare::main: {verdict}: -1.000 over" in output
    assert ("question by question" in output) == bool(restricted)
    assert restricted in output
