from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from loopback import Loopback
from plugin_project import Project, asking, right

CHART = """---
title: "Bakery"
---
flowchart TD
  START((START))
  END((END))
  Mix["Mix"]
  Bake["Bake"]
  Brew["Brew"]
  Serve["Serve"]
  Fork{{"parallel split"}}
  Join{{"parallel join"}}
  START --> Mix
  Mix --> Fork
  Fork --> Bake
  Fork --> Brew
  Bake --> Join
  Brew --> Join
  Join --> Serve
  Serve --> END
"""
CONNECTED = """
from pytest_taskgraph import suite, understanding

@suite(understanding, patterns="flow_connected")
def test_connected(trial):
    trial.check()
"""
OUTER = """package shop;

workflow Outer {
  // a comment that is shown as well
  task First {}
  task Left {}
  task Right {}
  task Last {}

  START -> First -> PARALLEL_1;
  PARALLEL_1 -> Left -> PARALLEL_END_1;
  PARALLEL_1 -> Right -> PARALLEL_END_1;
  PARALLEL_END_1 -> Last -> END;
}
"""
INNER = OUTER.replace("Outer", "Inner").replace("Left", "Near").replace("Right", "Far")


def prompts(server: Loopback) -> list[str]:
    return [request.prompt for request in server.requests]


def test_workflow_of_user_is_shown_as_it_is_written(project: Project, server: Loopback) -> None:
    path = project.write("outer.xxp", OUTER)
    server.answer = right
    ran = project.run(*asking(server.url), "--taskgraph-workflow", path, "-v")
    assert (ran.code, set(ran.counts)) == (0, {"passed"})
    assert all(OUTER.strip() in prompt for prompt in prompts(server))
    assert "test_graph[parallel_pair-wadl-Outer-" in ran.output
    assert "notation as written" in ran.output


def test_chart_of_user_is_shown_as_it_is_drawn(project: Project, server: Loopback) -> None:
    path = project.write("bakery.mmd", CHART)
    server.answer = right
    ran = project.run(*asking(server.url), "--taskgraph-workflow", path, "-v")
    assert ran.code == 0
    assert "test_graph[parallel_block-mermaid-Bakery-" in ran.output
    assert all(CHART.strip() in prompt for prompt in prompts(server))


def test_run_on_untitled_chart_of_docs_gives_results(project: Project) -> None:
    page = Path(__file__).parents[2] / "docs" / "how-to" / "own-workflows.md"
    chart = page.read_text(encoding="utf-8").partition("```mermaid\n")[2].partition("```")[0]
    ran = project.run("--taskgraph-workflow", project.write("supper.mmd", chart), "--model=baseline:reader")
    assert (ran.code, set(ran.counts)) == (0, {"passed"}), ran.output


def test_folder_is_one_project_with_paths_as_headings(project: Project, server: Loopback) -> None:
    project.write("flows/a/outer.xxp", OUTER)
    project.write("flows/inner.xxp", INNER)
    server.answer = right
    ran = project.run(*asking(server.url), "--taskgraph-workflow", project.path / "flows", "--taskgraph-instances=9")
    assert ran.code == 0
    for prompt in prompts(server):
        assert OUTER.strip() in prompt
        assert INNER.strip() in prompt
        assert "a/outer.xxp" in prompt
    questions = " ".join(prompt.rpartition("```")[2] for prompt in prompts(server))
    assert "workflow 'Outer'" in questions
    assert "workflow 'Inner'" in questions


def test_workflows_are_converted_only_where_notation_is_given(project: Project, server: Loopback) -> None:
    path = project.write("bakery.mmd", CHART)
    server.answer = right
    ran = project.run(*asking(server.url), "--taskgraph-workflow", path, "--taskgraph-notation=wadl,json", "-v")
    assert ran.code == 0
    assert "test_graph[parallel_pair-wadl-Bakery-" in ran.output
    assert "test_graph[parallel_pair-json-Bakery-" in ran.output
    assert not any("flowchart" in prompt for prompt in prompts(server))
    assert any("workflow Bakery {" in prompt for prompt in prompts(server))


def test_own_workflows_of_several_paths_are_separate(project: Project, server: Loopback) -> None:
    outer, bakery = project.write("outer.xxp", OUTER), project.write("bakery.mmd", CHART)
    server.answer = right
    ran = project.run(*asking(server.url), "--taskgraph-workflow", outer, "--taskgraph-workflow", bakery, "-v")
    assert ran.code == 0
    assert "-wadl-Outer-" in ran.output
    assert "-mermaid-Bakery-" in ran.output
    assert not any("Bake" in prompt and "Left" in prompt for prompt in prompts(server))


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("outer.xxp", OUTER.replace("task Left {}", "task Left ["), "outer.xxp:6:13: found `[`, expected "),
        ("bakery.mmd", CHART.replace('Brew["Brew"]', 'Brew["Brew"'), "bakery.mmd:9:"),
        ("notes.xyz", "nothing", "no notation for files '.xyz'; known: "),
        ("outer.xxp", OUTER.replace("task Right {}", "task Left {}"), "Left"),
    ],
)
def test_file_that_cannot_be_read_ends_run_with_place(
    project: Project, server: Loopback, name: str, text: str, place: str
) -> None:
    path = project.write(name, text)
    ran = project.run(*asking(server.url), "--taskgraph-workflow", path)
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert place in ran.output
    assert ran.clean
    assert server.requests == []


def test_file_that_is_not_of_utf_8_ends_run(project: Project) -> None:
    (project.path / "outer.xxp").write_bytes(OUTER.encode("utf-16"))
    ran = project.run("--taskgraph-workflow", project.path / "outer.xxp")
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert "is not UTF-8; save the file as UTF-8" in ran.output


def test_empty_folder_ends_run(project: Project) -> None:
    (project.path / "none").mkdir()
    ran = project.run("--taskgraph-workflow", project.path / "none")
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert "no workflow file in this folder; known: " in ran.output


def test_pattern_that_finds_nothing_in_users_workflow_is_named(project: Project) -> None:
    path = project.write(
        "lines.xxp",
        "package shop;\nworkflow Lines { task A {} task B {} task C {} START -> A -> B -> END; START -> C -> END; }\n",
    )
    ran = project.run("--taskgraph-workflow", path, "-v")
    assert "lines.xxp: nothing to ask for parallel_block" in " ".join(ran.output.split())
    assert ran.code == 0
    assert set(ran.counts) == {"passed"}


def test_run_pattern_with_one_answer_in_workflow_named_and_not_asked(project: Project) -> None:
    path = project.write("line.xxp", "package shop;\nworkflow Line { task A {} task B {} START -> A -> B -> END; }\n")
    ran = project.run("--taskgraph-workflow", path)
    assert (
        "line.xxp: not asked, because no change of one step leads to the other answer: parallel_pair (only no)"
        in ran.output
    )
    assert ran.code == 4


@pytest.mark.parametrize("path", ["/", "none.mmd", "\0"])
def test_run_impossible_workflow_path_is_usage_error(path: str, project: Project) -> None:
    ran = project.run(f"--taskgraph-workflow={path}")
    assert ran.code == 4
    assert "INTERNALERROR" not in ran.output


def test_run_edited_copy_of_workflow_passes_with_reader_and_labels_it(project: Project) -> None:
    project.write("test_graph.py", CONNECTED)
    path = project.write(
        "line.xxp", "package shop;\nworkflow Line { task A {} task B {} task C {} START -> A -> B -> C -> END; }\n"
    )
    ran = project.run("--taskgraph-workflow", path, "--taskgraph-report=json=out.json")
    assert (ran.code, ran.counts) == (0, {"passed": 4})
    record = json.loads((project.path / "out.json").read_text(encoding="utf-8"))
    edits = {trial["question"]["labels"]["edit"] for trial in record["trials"]}
    assert edits <= {"link removed", "link added"}
    assert len({trial["question"]["cluster"] for trial in record["trials"]}) == 1


def test_workflows_make_same_run_over_workers(project: Project) -> None:
    path = project.write("outer.xxp", OUTER)
    alone = project.run("--taskgraph-workflow", path, "--model=baseline:constant")
    spread = project.spread("--taskgraph-workflow", path, "--model=baseline:constant", workers=1)
    assert alone.table == spread.table
    assert alone.counts == spread.counts


TWO_SUITES = """\
from pytest_taskgraph import suite, understanding

@suite(understanding, patterns="flow_start")
def test_start(trial):
    trial.check()

@suite(understanding, patterns="describe_task")
def test_describe(trial):
    trial.check()
"""


def test_own_workflow_without_question_skips_suite(project: Project) -> None:
    project.write("test_graph.py", TWO_SUITES)
    ran = project.run("--taskgraph-workflow", project.write("outer.xxp", OUTER), "-rs")
    assert (ran.code, ran.counts) == (0, {"passed": 1, "skipped": 1})
    assert "test_describe: there is nothing to ask" in ran.output
    assert ", 1 question" in ran.output


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_suites_without_any_question_never_end_well(project: Project, workers: tuple[str, ...]) -> None:
    project.write("test_graph.py", TWO_SUITES.replace('"flow_start"', '"describe_workflow"'))
    path = project.write("outer.xxp", OUTER)
    ran = project.run("--taskgraph-workflow", path, *workers, plugins=("taskgraph", *(["xdist"] if workers else [])))
    assert ran.code == (1 if workers else pytest.ExitCode.USAGE_ERROR)
    assert "test_describe: there is nothing to ask" in ran.output
    assert ran.clean


def mixed_folder(project: Project) -> None:
    project.write("flows/bakery.mmd", CHART)
    project.write("flows/shop/outer.xxp", OUTER)
    project.write("flows/broken.mmd", "flowchart TD\n  A[x --> B\n")
    project.write("flows/package.json", "{}")


HEADER = (
    "taskgraph: flows: 2 files with 2 workflows (Mermaid flowchart: 1, workflow DSL: 1); 1 file not used; "
    "1 file without workflow: -v taskgraph: 2 questions per pattern, spread over 2 files; "
)


def test_mixed_folder_is_counted_in_header_and_asked(project: Project) -> None:
    mixed_folder(project)
    ran = project.run("--taskgraph-workflow=flows", "--model=baseline:reader", "-v")
    output = " ".join(ran.output.split())
    assert (ran.code, set(ran.counts)) == (0, {"passed"}), ran.output
    assert HEADER in output
    assert "not used: flows/broken.mmd:2:5: found" in output
    assert "-mermaid-Bakery-" in ran.output
    assert "-wadl-Outer-" in ran.output


def test_mixed_folder_makes_same_run_over_workers(project: Project) -> None:
    mixed_folder(project)
    alone = project.run("--taskgraph-workflow=flows", "--model=baseline:constant")
    spread = project.spread("--taskgraph-workflow=flows", "--model=baseline:constant", workers=2)
    assert (alone.table, alone.counts) == (spread.table, spread.counts)
    assert HEADER in " ".join(spread.output.split())


def test_dry_run_of_mixed_folder_states_cost_and_sends_nothing(project: Project, server: Loopback) -> None:
    mixed_folder(project)
    ran = project.run(*asking(server.url), "--taskgraph-workflow=flows", "--taskgraph-dry-run")
    output = " ".join(ran.output.split())
    assert HEADER in output
    assert re.search(r"taskgraph plan: \d+ requests", output)
    assert server.requests == []
