from __future__ import annotations

from described_runs import about_run

from pytest_taskgraph.results import record
from pytest_taskgraph.trial import Question, Reply, Score, Trial

PROJECT = "workflow Shop { " + "task Pick; task Pack; " * 20 + "} workflow Mill { task Grind; }"


def trial(name: str, cluster: str, cluster_digest: str = "", project: str = PROJECT) -> Trial:
    question = Question(
        name, "understanding", "next_tasks", "structure", "Which?", f"{project} What follows {name}?", "task", "A",
        "correctness", cluster=cluster, digests={"workflow": cluster_digest} if cluster_digest else {},
    )  # fmt: skip
    return Trial(question, "m", "right", Reply("A"), Score(1.0, given="A"))


def test_record_builder_stores_text_of_project_once() -> None:
    trials = [trial(f"{cluster}{at}", cluster, "project") for cluster in ("shop", "mill") for at in range(3)]
    built = record.build(trials, about_run("0.1.0"))
    assert sum(PROJECT in text for text in built["texts"].values()) == 1
    assert {trial.question.id: trial for trial in record.trials(built)} == {
        expected.question.id: expected for expected in trials
    }


def test_record_builder_shares_texts_within_cluster() -> None:
    projects = {"shop": PROJECT, "mill": PROJECT.replace("Grind", "Sift")}
    trials = [
        trial(f"{at}", cluster, "", projects[cluster]) for at, cluster in enumerate(("shop", "shop", "mill", "mill"))
    ]
    built = record.build(trials, about_run("0.1.0"))
    assert sum("Pick" in text for text in built["texts"].values()) == 2
    assert {trial.question.id: trial for trial in record.trials(built)} == {
        expected.question.id: expected for expected in trials
    }
