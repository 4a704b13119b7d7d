"""`--taskgraph-shrink`: wrong answers made small in a run, every call by the chain of the run."""

from __future__ import annotations

import re
from functools import cache
from hashlib import sha256

import pytest
from loopback import Loopback, Raw, as_json
from parallel_blocks import parallel_blocks
from plugin_project import Project, Ran, asking, right, wrong

from pytest_taskgraph.families.understanding.baselines.prompt_view import scopes_of

SUITE = """
from pytest_taskgraph import suite, understanding

@suite(understanding, patterns=["parallel_pair"], instances=4, tasks=[20])
def test_graph(trial):
    trial.check()
"""
SECTION = "= shrunk wrong answers ="
FOLDER = ".taskgraph/shrunk"


@cache
def two_blocks(prompt: str) -> bool:
    """Return True if the workflow of a prompt has two parallel blocks."""
    return parallel_blocks(scopes_of(prompt)[0].root) > 1


def fails_with_two_blocks(prompt: str) -> str:
    return wrong(prompt) if two_blocks(prompt) else right(prompt)


def fails_by_chance(prompt: str, turn: list[int]) -> str:
    """Answer wrong in 80 % of the replies about two parallel blocks, and in 5 % of others."""
    turn[0] += 1
    chance = int(sha256(f"{prompt}|{turn[0]}".encode()).hexdigest()[:8], 16) / 16**8
    return wrong(prompt) if chance < (0.8 if two_blocks(prompt) else 0.05) else right(prompt)


def shrunk(ran: Ran) -> str:
    """Return the section about shrunk answers."""
    _, heading, rest = ran.output.partition(SECTION)
    assert heading, ran.output
    return rest.lstrip("=").partition("\n===")[0]


@pytest.fixture
def failing(project: Project) -> Project:
    project.write("test_graph.py", SUITE)
    return project


def test_shrink_leaves_two_blocks_and_regression_test_asks_about_them(failing: Project) -> None:
    with Loopback(fails_with_two_blocks) as server:
        model = asking(server.url)
        ran = failing.run(*model, "--taskgraph-shrink=300", "--taskgraph-report=json=record.json")
        sent = len(server.requests)
        again = failing.run(FOLDER, *model, "--taskgraph-report=json=again.json")
    assert ran.clean, ran.output
    text = shrunk(ran)
    match = re.search(r"size (20 > .*3): errs in 3 of \d answers; (\d+) calls in (\d+) rounds\n", text)
    assert match, text
    assert int(match[2]) <= 300
    assert int(match[3]) <= 30
    # The question as it was asked is in the store.
    assert sent == 4 + int(match[2]) - 1 == failing.record()["usage"]["sent"]
    (folder,) = (failing.path / FOLDER).iterdir()
    assert folder.name == "understanding-parallel_pair"
    files = sorted(path for path in folder.iterdir() if path.is_file())
    assert [path.name for path in files] == ["parallel_pair.json", "test_parallel_pair_shrunk.py"]
    for path in files:
        assert all(line in text for line in path.read_text().splitlines())
    assert "\nabout:\n    Workflow1\n      START -> " in text
    assert "\nquestion:\n    " in text
    assert "\nexpected:\n    " in text
    assert (again.code, again.counts) == (1, {"failed": 1})
    (trial,) = failing.record("again.json")["trials"]
    assert trial["question"]["group"] == "parallel_pair"
    with Loopback(right) as server:
        assert failing.run(FOLDER, *asking(server.url), "--taskgraph-refresh").counts == {"passed": 1}


def test_shrink_replayed_run_tells_same_and_sends_nothing(failing: Project) -> None:
    turn = [0]
    with Loopback(lambda prompt: fails_by_chance(prompt, turn)) as server:
        args = (*asking(server.url), "--taskgraph-shrink=60")
        first = failing.run(*args)
        sent = len(server.requests)
        again = failing.run(*args, "--taskgraph-replay")
        assert len(server.requests) == sent
    assert shrunk(again) == shrunk(first)


def test_shrink_calls_stay_within_number_and_budget(failing: Project) -> None:
    with Loopback(wrong) as server:
        ran = failing.run(*asking(server.url), "--taskgraph-shrink=7")
        assert len(server.requests) <= 4 + 7
        assert "the calls are used up, so something smaller may fail too" in shrunk(ran)
    with Loopback(wrong) as server:
        ran = failing.run(
            *asking(server.url), "--taskgraph-shrink=50", "--taskgraph-max-calls=6", "--taskgraph-refresh"
        )
        assert len(server.requests) == 6
    assert "errs in 3 of 3 answers; 3 calls in 2 rounds; it ended early: --taskgraph-max-calls=6 is spent" in shrunk(
        ran
    )


def test_shrink_answer_right_when_asked_again_is_reported(failing: Project) -> None:
    prompts: set[str] = set()

    def first_time_wrong(prompt: str) -> str:
        seen = prompt in prompts
        prompts.add(prompt)
        return right(prompt) if seen else wrong(prompt)

    with Loopback(first_time_wrong) as server:
        ran = failing.run(*asking(server.url), "--taskgraph-shrink=50", "--taskgraph-refresh")
    assert re.search(r"not shrunk: asked again, the model errs in \d of \d answers; expected 3", shrunk(ran))


def test_shrink_errors_of_provider_are_no_wrong_answers(failing: Project) -> None:
    prompts: list[str] = []

    def then_refused(prompt: str) -> str | Raw:
        prompts.append(prompt)
        return wrong(prompt) if len(prompts) <= 4 else as_json({"error": {"message": "too long"}}, 400)

    with Loopback(then_refused) as server:
        ran = failing.run(*asking(server.url), "--taskgraph-shrink=20", "--taskgraph-refresh")
    assert ran.clean
    assert "not shrunk: " in shrunk(ran)
    assert "size 20 >" not in shrunk(ran)


def test_shrink_right_answers_cost_no_further_call(failing: Project) -> None:
    with Loopback(right) as server:
        ran = failing.run(*asking(server.url), "--taskgraph-shrink=20")
        assert len(server.requests) == 4
    assert SECTION not in ran.output


def test_shrink_first_failure_of_exitfirst_is_shrunk(failing: Project) -> None:
    with Loopback(fails_with_two_blocks) as server:
        ran = failing.run(*asking(server.url), "-x", "--taskgraph-shrink=300")
    assert ran.code == 1
    assert "> 3: errs in 3 of " in shrunk(ran)


def test_shrink_workers_tell_smallest_of_each_group(failing: Project) -> None:
    failing.write("test_graph.py", SUITE.replace("[20]", "[12]"))
    with Loopback(fails_with_two_blocks) as server:
        args = (*asking(server.url), "--taskgraph-shrink=300")
        ran = failing.spread(*args)
    assert ran.clean
    assert shrunk(ran).count("> 3: errs in 3 of ") == 1
    assert (failing.path / FOLDER / "understanding-parallel_pair/parallel_pair.json").is_file()


def test_shrink_dry_run_tells_calls_to_come(failing: Project) -> None:
    with Loopback(wrong) as server:
        ran = failing.run(*asking(server.url), "--taskgraph-dry-run", "--taskgraph-shrink=30")
        assert not server.requests
    assert "wrong answers are shrunk: up to 30 calls more for each of 1 groups, 30 in all" in ran.output


def test_shrink_folder_that_is_a_file_is_refused(failing: Project) -> None:
    failing.write(FOLDER, "a file")
    ran = failing.run("--taskgraph-shrink=9")
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert "shrunk is no folder; remove it" in " ".join(ran.output.split())
