from __future__ import annotations

from described_runs import about_run

from pytest_taskgraph.results import record
from pytest_taskgraph.trial import Question, Reply, Score, Trial

PROJECT = "workflow Shop { " + "task Pick; task Pack; " * 20 + "} workflow Mill { task Grind; }"


def trial(name: str, cluster: str, shown: str = "", project: str = PROJECT) -> Trial:
    question = Question(
        name, "understanding", "next_tasks", "structure", "Which?", f"{project} What follows {name}?", "task", "A",
        "correctness", cluster=cluster, digests={"workflow": shown} if shown else {},
    )  # fmt: skip
    return Trial(question, "m", "right", Reply("A"), Score(1.0, given="A"))


def test_a_project_stands_once_whichever_of_its_workflows_questions_are_about() -> None:
    made = [trial(f"{cluster}{at}", cluster, "project") for cluster in ("shop", "mill") for at in range(3)]
    built = record.build(made, about_run("0.1.0"))
    assert sum(PROJECT in text for text in built["texts"].values()) == 1
    assert {one.question.id: one for one in record.trials(built)} == {one.question.id: one for one in made}


def test_questions_that_do_not_tell_what_they_show_share_within_their_cluster() -> None:
    projects = {"shop": PROJECT, "mill": PROJECT.replace("Grind", "Sift")}
    made = [
        trial(f"{at}", cluster, "", projects[cluster]) for at, cluster in enumerate(("shop", "shop", "mill", "mill"))
    ]
    built = record.build(made, about_run("0.1.0"))
    assert sum("Pick" in text for text in built["texts"].values()) == 2
    assert {one.question.id: one for one in record.trials(built)} == {one.question.id: one for one in made}
