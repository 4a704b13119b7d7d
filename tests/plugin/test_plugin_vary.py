"""`--taskgraph-vary` in a run: further items, a table of their own, and no say in rates or verdicts."""

from __future__ import annotations

from plugin_project import Project

REPORTS = ("--junitxml=junit.xml", "--taskgraph-report=json=record.json")


def test_vary_asks_variations_with_same_verdicts(project: Project) -> None:
    ran = project.run("--taskgraph-vary=names,phrasing", *REPORTS)
    assert (ran.code, ran.counts) == (0, {"passed": 12})
    assert [
        line.split() for line in ran.output.splitlines() if line.startswith(("relation ", "names ", "phrasing "))
    ] == [
        ["relation", "pairs", "same", "verdict", "95%", "interval"],
        ["names", "4", "1.000", "0.510-1.000"],
        ["phrasing", "4", "1.000", "0.510-1.000"],
    ]
    assert [line.split()[1] for line in ran.table if line.startswith("structure")] == ["4*"]
    relations = [trial["question"]["relation"] for trial in project.record()["trials"]]
    assert sorted(relations) == [""] * 4 + ["names"] * 4 + ["phrasing"] * 4
    assert project.record()["totals"][0]["n"] == 4
    assert project.record()["settings"]["vary"] == ["names", "phrasing"]


def test_wrong_answer_to_varied_question_fails_nothing(project: Project) -> None:
    ran = project.run("--model", "simulated:0", "--taskgraph-vary=order")
    assert ran.code == 1
    assert ran.counts == {"failed": 4, "wrong": 4}
    alone = project.run("--model", "simulated:0", "--taskgraph-vary=order", "-k", "vary-order")
    assert (alone.code, alone.counts["wrong"]) == (0, 4)


def test_ids_of_varied_questions_need_no_quotes_in_shell(project: Project) -> None:
    ran = project.run("--taskgraph-vary=distractor", "-v")
    assert "test_graph.py::test_graph[parallel_pair-wadl-n012-s0-000-vary-distractor] PASSED" in ran.output


def test_unknown_relation_ends_run_before_anything_is_asked(project: Project) -> None:
    ran = project.run("--taskgraph-vary=sideways")
    assert ran.code == 4
    assert (
        "unknown relation (--taskgraph-vary) 'sideways'; known: distractor, names, notation, order, phrasing"
        in ran.output
    )
