from __future__ import annotations

import pytest
from loopback import Loopback
from plugin_project import IDS, ITEMS, SUITE, Project, asking, right, wrong

PLAIN = "\ndef test_plain():\n    assert True\n"


def collected(output: str) -> tuple[str, ...]:
    return tuple(line for line in output.splitlines() if "::" in line and not line.startswith(("ERROR", "FAILED")))


def test_suite_gives_item_question_with_documented_ids(project: Project) -> None:
    ran = project.run("--collect-only", "-q")
    assert collected(ran.output) == ITEMS
    assert ran.code == 0


def test_collecting_asks_nothing(project: Project, server: Loopback) -> None:
    ran = project.run("--collect-only", "-q", *asking(server.url))
    assert collected(ran.output) == ITEMS
    assert server.requests == []
    assert "pass rate" not in ran.output


def test_items_ask_one_question_each(project: Project, server: Loopback) -> None:
    server.answer = right
    ran = project.run(*asking(server.url))
    assert (ran.code, ran.counts) == (0, {"passed": 4})
    assert len(server.requests) == len({request.prompt for request in server.requests}) == 4


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (["-k", "parallel_pair"], ITEMS[:2]),
        (["-k", "pair and 001"], ITEMS[1:2]),
        (["-m", "taskgraph"], ITEMS),
        (["-m", "not taskgraph"], ("test_graph.py::test_plain",)),
        ([ITEMS[3]], ITEMS[3:]),
        ([ITEMS[3], ITEMS[0]], (ITEMS[3], ITEMS[0])),
        (["--deselect", ITEMS[0], "-k", "test_graph["], ITEMS[1:]),
    ],
)
def test_items_are_selected_as_everywhere(project: Project, selection: list[str], expected: tuple[str, ...]) -> None:
    project.write("test_graph.py", SUITE + PLAIN)
    assert collected(project.run("--collect-only", "-q", *selection).output) == expected


def test_items_deselected_are_not_asked(project: Project, server: Loopback) -> None:
    server.answer = right
    ran = project.run(*asking(server.url), ITEMS[2])
    assert ran.counts == {"passed": 1}
    assert len(server.requests) == 1


def test_last_failed_are_asked_again_and_no_others(project: Project, server: Loopback) -> None:
    server.answer = lambda prompt: right(prompt) if "parallel block" in prompt else wrong(prompt)
    assert project.run(*asking(server.url)).counts == {"failed": 2, "passed": 2}
    del server.requests[:]
    server.answer = right
    assert project.run(*asking(server.url), "--lf", "--taskgraph-refresh").counts == {"passed": 2}
    assert [request for request in server.requests if "parallel block" in request.prompt] == []
    assert len(server.requests) == 2


def test_stepwise_goes_on_where_it_stopped(project: Project, server: Loopback) -> None:
    server.answer = lambda prompt: wrong(prompt) if "parallel block" in prompt else right(prompt)
    stopped = project.run(*asking(server.url), "--sw")
    assert (stopped.counts["passed"], stopped.counts["failed"]) == (2, 1)
    del server.requests[:]
    server.answer = right
    assert project.run(*asking(server.url), "--sw", "--taskgraph-refresh").counts == {"passed": 2, "deselected": 2}
    assert len(server.requests) == 2


@pytest.mark.parametrize(("option", "failed"), [("-x", 1), ("--maxfail=2", 2), ("--maxfail=9", 4)])
def test_wrong_answers_stop_run_as_failures_do(project: Project, option: str, failed: int) -> None:
    ran = project.run("--model", "simulated:0", option)
    assert (ran.code, ran.counts) == (1, {"failed": failed})
    assert [line.split()[1] for line in ran.table if line.startswith("structure")] == [f"{failed}*"]


def test_quietly_summary_is_one_line(project: Project) -> None:
    ran = project.run("--model", "simulated:1", "-q")
    assert "4 of 4 right (1.000), mean 1.000" in ran.output
    assert "= taskgraph =" not in ran.output


def test_verbosely_each_question_has_line_and_each_label_table(project: Project) -> None:
    ran = project.run("--model", "simulated:1", "-vv", "--taskgraph-instances=12")
    assert [f"{item} PASSED" in ran.output for item in ITEMS] == [True] * 4
    assert "by phrasing" in ran.output
    assert "by phrasing" not in project.run("--model", "simulated:1", "-v", "--taskgraph-instances=12").output


def test_header_is_printed_before_first_request(project: Project) -> None:
    head = project.run("--model", "simulated:1", "-v").output.partition("test_graph.py")[0]
    assert "seed 0, 4 questions" in head
    assert "notation wadl, prompt chain-of-thought, parsing lenient" in head
    assert "simulated: answers are looked up" in head


def test_methods_of_classes_are_suites(project: Project) -> None:
    project.write(
        "test_graph.py",
        SUITE.replace("@suite", "class TestIt:\n    @suite").replace("def test_graph(", "    def test_graph(self, ")
        .replace("    trial.check", "        trial.check"),
    )  # fmt: skip
    ran = project.run("--model", "simulated:1", "-v")
    assert ran.counts == {"passed": 4}
    assert f"test_graph.py::TestIt::test_graph[{IDS[0]}] PASSED" in ran.output


def test_fixtures_and_parameters_of_user_stand_beside_trial(project: Project) -> None:
    project.write(
        "test_graph.py",
        """
        import pytest
        from pytest_taskgraph import suite, understanding

        @pytest.fixture
        def limit(tmp_path):
            assert tmp_path.is_dir()
            return 0.5

        @pytest.mark.parametrize("twice", [False, True])
        @suite(understanding, patterns="parallel_pair", instances=2)
        def test_graph(limit, trial, twice):
            assert trial.score.value > limit
            assert trial.question.group == "parallel_pair"
            assert trial.reply.text.startswith("Final answer:")
        """.replace("\n        ", "\n"),
    )
    assert project.run("--model", "simulated:1").counts == {"passed": 4}


def test_question_can_be_had_without_asking_it(project: Project, server: Loopback) -> None:
    suite = SUITE.replace("(trial)", "(taskgraph_question)")
    project.write("test_graph.py", suite.replace("trial.check()", "assert 'START' in taskgraph_question.prompt"))
    assert project.run(*asking(server.url)).counts == {"passed": 4}
    assert server.requests == []


def test_assertion_of_user_is_reported_as_pytest_tells_it(project: Project) -> None:
    project.write("test_graph.py", SUITE.replace("trial.check()", "assert trial.score.value == 17"))
    ran = project.run("--model", "simulated:1")
    assert ran.counts == {"failed": 4}
    assert "assert 1.0 == 17" in ran.output
    assert [line.split()[1:3] for line in ran.table if line.startswith("structure")] == [["4*", "1.000"]]


def test_items_other_tests_are_unchanged(project: Project) -> None:
    project.write("test_plain.py", PLAIN)
    ran = project.run("-p", "no:taskgraph", "test_plain.py", plugins=())
    assert (ran.code, ran.counts) == (0, {"passed": 1})


PRINT_REQUESTS = """
def pytest_fixture_setup(fixturedef):
    if "request" in fixturedef.argnames:
        print("request of", fixturedef.argname)
"""


def test_no_fixture_uses_request(project: Project) -> None:
    project.write("conftest.py", PRINT_REQUESTS)
    ran = project.run("-s", "--taskgraph-model=simulated:1")
    assert ran.counts == {"passed": 4}
    assert "request of" not in ran.output


OVERRIDDEN = """
import pytest

@pytest.fixture
def taskgraph_reference(request, taskgraph_reference):
    assert taskgraph_reference is request.param
    return taskgraph_reference
"""


def test_overridden_reference_gets_that_of_the_plugin(project: Project) -> None:
    project.write("conftest.py", OVERRIDDEN)
    assert project.run("--taskgraph-model=simulated:1").counts == {"passed": 4}


def test_model_fixture_is_that_of_the_item(project: Project) -> None:
    suite = SUITE.replace("(trial)", "(taskgraph_question, taskgraph_model, request)")
    check = "assert taskgraph_model.spec == request.node.callspec.params['taskgraph_model']"
    project.write("test_graph.py", suite.replace("trial.check()", check))
    ran = project.run("--taskgraph-model=simulated:1", "--taskgraph-model=simulated:0")
    assert ran.counts == {"passed": 8}


def test_junit_properties_are_not_computed_without_report(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[object] = []

    def compute(*arguments: object) -> list[tuple[str, str]]:
        computed.append(arguments)
        return []

    monkeypatch.setattr("pytest_taskgraph.reports.junit.suite_properties", compute)
    assert (project.run("--taskgraph-model=simulated:1").code, computed) == (0, [])
    assert project.run("--taskgraph-model=simulated:1", "--junitxml=report.xml").code == 0
    assert len(computed) == 1
