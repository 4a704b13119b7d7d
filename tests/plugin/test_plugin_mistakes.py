from __future__ import annotations

import pytest
from loopback import Loopback
from plugin_project import SUITE, Project, asking

SUITES = {
    "unknown option": (
        SUITE.replace("patterns=", "pattern="),
        "test_invalid.py:4: unknown option of @suite(understanding, ...) 'pattern'; known: instances, model_options, ",
    ),
    "unknown pattern": (SUITE.replace("parallel_pair", "paralel"), "test_graph: unknown pattern 'paralel'; known: "),
    "no pattern": (SUITE.replace('["parallel_pair", "parallel_block"]', "[]"), "a suite without patterns"),
    "unknown notation": (SUITE.replace("instances=2", "notations='uml'"), "unknown notation 'uml'; known: bpmn, "),
    "no trial": (SUITE.replace("(trial)", "()"), "test_graph: a suite takes the fixture `trial`, or "),
}

OPTIONS = {
    "--taskgraph-notation=uml": "unknown notation 'uml'; known: bpmn, json, mermaid, prose, wadl",
    "--taskgraph-notation=,": "--taskgraph-notation: nothing given; expected NAME[,NAME]",
    "--taskgraph-prompt=sideways": "unknown prompt 'sideways'; known: answer-first, chain-of-thought, ",
    "--taskgraph-prompt=missing.jinja": "prompt missing.jinja: ",
    "--model=baseline:guru": "unknown baseline 'guru'; known: co-occurrence, constant, first-mentioned, hierarchy, ",
    "--model=": "--taskgraph-model: nothing given; expected SPEC",
    "--taskgraph-model=": "--taskgraph-model: nothing given; expected SPEC",
    "--model=simulated:often": "the model 'simulated:often': expected an accuracy, such as simulated:0.8",
    "--model=simulated:2": "the accuracy of a simulated model is 2.0; expected a number from 0.0 to 1.0",
    "--model=recorded:": "the model 'recorded:' has no name",
    "--model=recorded:missing.jsonl": "the recorded replies 'missing.jsonl' cannot be read: No such file or directory",
    "--taskgraph-report=xlsx=there": "unknown kind of --taskgraph-report 'xlsx'; known: csv, html, json, md",
    "--taskgraph-report=json": "--taskgraph-report: 'json'; expected KIND=PATH",
    "--taskgraph-model-option=temperature": "--taskgraph-model-option: 'temperature'; expected K=V",
    "--taskgraph-model-option==1": "--taskgraph-model-option: a value without a name; expected K=V",
    "--taskgraph-seed=seven": "--taskgraph-seed: 'seven'; expected a whole number",
    "--taskgraph-seed=": "--taskgraph-seed: nothing given; expected N[,N]",
    "--taskgraph-seed=1,x": "--taskgraph-seed: 'x'; expected a whole number",
    "--taskgraph-instances=0": "--taskgraph-instances: 0; expected at least 1",
    "--taskgraph-instances=2,3": "--taskgraph-instances: '2,3'; expected one whole number, without commas",
    "--taskgraph-max-calls=1,000": "--taskgraph-max-calls: '1,000'; expected one whole number, without commas",
    "--taskgraph-max-calls=1 000": "--taskgraph-max-calls: '1 000'; expected one whole number, without commas",
    "--taskgraph-max-cost=1,000": "--taskgraph-max-cost: '1,000'; expected a number of at least 0",
    "--taskgraph-tasks=1,000": "--taskgraph-tasks: 000; expected at least 1",
    "--taskgraph-instances=1.5": "--taskgraph-instances: '1.5'; expected a whole number",
    "--taskgraph-tasks=12,many": "--taskgraph-tasks: 'many'; expected a whole number",
    "--taskgraph-tasks=-3": "--taskgraph-tasks: -3; expected at least 1",
    "--taskgraph-pass-threshold=2": "--taskgraph-pass-threshold: '2'; expected a number from 0 to 1",
    "--taskgraph-pass-threshold=nan": "--taskgraph-pass-threshold: 'nan'; expected a number from 0 to 1",
    "--taskgraph-margin=5": "--taskgraph-margin: '5'; expected a number from 0 to 1",
    "--taskgraph-max-errors=5%": "--taskgraph-max-errors: '5%'; expected a number from 0 to 1",
    "--taskgraph-max-errors=1.5": "--taskgraph-max-errors: '1.5'; expected a number from 0 to 1",
    "--taskgraph-fail-on=answers,x": "--taskgraph-fail-on: unknown value 'x'; known: answers, gates, "
    "regression, inconclusive, missing, nothing",
    "--taskgraph-fail-on=everyone": "--taskgraph-fail-on: unknown value 'everyone'; known: answers, gates",
    "--taskgraph-fail-on=nothing,gates": "--taskgraph-fail-on: nothing excludes other values; remove it, "
    "or remove gates",
    "--taskgraph-fail-on=answers,missing": "--taskgraph-fail-on: missing is about a comparison; name a run "
    "with --taskgraph-compare",
    "--taskgraph-parsing=fast": "--taskgraph-parsing: 'fast'; known: lenient, strict",
    "--taskgraph-phrasing=third": "--taskgraph-phrasing: 'third'; known: both, first, second",
    "--taskgraph-workflow=missing.wadl": "missing.wadl: no such file or folder",
    "--taskgraph-workflow=": "--taskgraph-workflow: nothing given; expected PATH",
    "--taskgraph-data=corpus=missing": "--taskgraph-data: corpus=missing: no such file or folder",
    "--taskgraph-data=corpus=.": (
        "unknown data set (--taskgraph-data) 'corpus'; known: paged, steps, steps-recipes, tasklama"
    ),
    "--taskgraph-data=corpus": "--taskgraph-data: 'corpus'; expected NAME=PATH",
}


@pytest.mark.parametrize("mistake", SUITES)
def test_invalid_suite_is_collection_error_of_its_module(project: Project, mistake: str) -> None:
    text, message = SUITES[mistake]
    project.write("test_invalid.py", text)
    project.write("test_later.py", "def test_plain():\n    pass\n")
    ran = project.run("--model=baseline:reader", "test_invalid.py", "test_later.py")
    assert (ran.code, ran.clean) == (1, True)
    assert ran.counts == {"passed": 1, "error": 1}
    assert "ERROR collecting test_invalid.py" in ran.output
    assert message in ran.output


@pytest.mark.parametrize("mistake", ["unknown option", pytest.param("unknown pattern", marks=pytest.mark.exhaustive)])
def test_invalid_suite_over_workers_is_collection_error(project: Project, mistake: str) -> None:
    text, message = SUITES[mistake]
    project.write("test_invalid.py", text)
    ran = project.spread("--model=baseline:reader")
    assert (ran.code, ran.clean) == (1, True)
    assert ran.counts == {"passed": 4, "error": 1}
    assert message in ran.output


def test_invalid_suite_beside_broken_module_interrupts_run(project: Project) -> None:
    project.write("test_invalid.py", SUITES["unknown pattern"][0])
    project.write("test_later.py", "import nowhere_to_be_found\n")
    ran = project.run()
    assert ran.code == pytest.ExitCode.INTERRUPTED
    assert ran.counts == {"error": 2}


def test_gate_about_invalid_suite_keeps_other_tests(project: Project) -> None:
    project.write("test_invalid.py", SUITE.replace("]", '], notations="uml"').replace("parallel_", "next_"))
    ran = project.run("--model=baseline:reader", "--taskgraph-gate=next_tasks>=0.5")
    assert (ran.code, ran.counts) == (1, {"failed": 1, "passed": 4, "error": 1})
    assert "gates::next_tasks" in ran.output


OWN_TRIAL = """import pytest

@pytest.fixture
def trial():
    return "optuna"
"""
PLAIN_TESTS = """import pytest

def test_fixture(trial):
    assert trial == "optuna"

@pytest.mark.parametrize("trial", [1, 2])
def test_argument(trial):
    assert trial in (1, 2)
"""


def test_own_fixture_trial_serves_tests_without_suite(project: Project) -> None:
    project.write("tuning/conftest.py", OWN_TRIAL)
    project.write("tuning/test_tuning.py", PLAIN_TESTS)
    ran = project.run("--model=baseline:reader")
    assert (ran.code, ran.counts) == (0, {"passed": 7})


def test_suite_under_own_fixture_trial_names_its_place(project: Project) -> None:
    project.write("tuning/conftest.py", OWN_TRIAL)
    project.write("tuning/test_tuning.py", PLAIN_TESTS)
    project.write("tuning/test_suite.py", SUITE.replace("test_graph", "test_bad"))
    ran = project.run("--model=baseline:reader")
    assert (ran.code, ran.counts) == (1, {"passed": 7, "error": 1})
    assert (
        "tuning/test_suite.py: test_bad: the fixture `trial` of tuning/conftest.py:3 hides the fixture `trial` that a "
        "suite takes; rename it"
    ) in ran.output.replace("\\", "/")


def test_suite_with_argument_trial_of_its_own_is_refused(project: Project) -> None:
    parametrized = SUITE.replace("@suite", "@pytest.mark.parametrize('trial', [1])\n@suite")
    project.write("test_graph.py", "import pytest\n" + parametrized)
    ran = project.run()
    assert "test_graph: an argument `trial` of its own hides the fixture `trial` that a suite takes" in ran.output


@pytest.mark.parametrize("option", OPTIONS)
def test_option_that_cannot_be_met_is_usage_error(project: Project, option: str) -> None:
    ran = project.run(option)
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert f"ERROR: {OPTIONS[option]}" in ran.output
    assert ran.clean
    assert "collected" not in ran.output


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--taskgraph-price=1", "--taskgraph-price: found '1', expected [MODEL=]IN/OUT"),
        ("--taskgraph-store=pytest.ini", "pytest.ini cannot be used: "),
        ("--taskgraph-store=diary", "diary/replies.sqlite is no SQLite file (it begins with b'Dear diary"),
    ],
)
def test_mistake_of_all_live_questions_is_usage_error(
    project: Project, server: Loopback, option: str, message: str
) -> None:
    project.write("diary/replies.sqlite", "Dear diary, it rains.\n")
    project.write("pytest.ini", "[pytest]\n")
    ran = project.run(*asking(server.url), option)
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert ran.output.lstrip().startswith("ERROR: ")
    assert message in ran.output
    assert ran.clean
    assert server.requests == []
    assert project.run(option).code == 0, "a baseline has no price, and its replies are not kept"


@pytest.mark.parametrize("option", ["--taskgraph-notation=uml", "--taskgraph-fail-on=everyone"])
def test_option_that_cannot_be_met_starts_no_worker(project: Project, option: str) -> None:
    ran = project.run("-n", "2", option, plugins=("taskgraph", "xdist"))
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert f"ERROR: {OPTIONS[option]}" in ran.output
    assert ran.clean


def test_mistake_in_one_of_two_suites_keeps_other(project: Project, server: Loopback) -> None:
    project.write("test_later.py", SUITES["unknown pattern"][0])
    ran = project.run(f"--model={server.url}#any")
    assert ran.code == pytest.ExitCode.TESTS_FAILED
    assert len(server.requests) == 4


def test_trial_without_suite_is_error_of_one_line(project: Project) -> None:
    project.write("test_graph.py", "def test_graph(trial):\n    trial.check()\n")
    ran = project.run()
    assert (ran.code, ran.counts) == (1, {"error": 1})
    assert "test_graph.py::test_graph: the fixtures of taskgraph need a test function with @suite(...)" in ran.output
    assert ran.clean


def test_error_of_test_file_itself_is_reported_by_pytest(project: Project) -> None:
    project.write("test_graph.py", "import nowhere_to_be_found\n")
    ran = project.run()
    assert ran.code == pytest.ExitCode.INTERRUPTED
    assert "ModuleNotFoundError: No module named 'nowhere_to_be_found'" in ran.output


@pytest.mark.parametrize("setting", ["TASKGRAPH_MODEL", "TASKGRAPH_SEED"])
def test_empty_variable_is_no_setting_but_empty_model_is_refused(
    project: Project, monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    monkeypatch.setenv(setting, " ")
    ran = project.run()
    assert ran.code == (4 if setting == "TASKGRAPH_MODEL" else 0)
    assert ("--taskgraph-model: nothing given" in ran.output) == (ran.code == 4)


def test_empty_model_in_ini_file_is_refused(project: Project) -> None:
    project.write("pytest.ini", "[pytest]\ntaskgraph_model =\n")
    assert project.run().code == pytest.ExitCode.USAGE_ERROR


def test_mistake_in_environment_is_reported_as_one_of_option(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TASKGRAPH_INSTANCES", "few")
    ran = project.run()
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert "ERROR: --taskgraph-instances: 'few'; expected a whole number" in ran.output
