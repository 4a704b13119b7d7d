from __future__ import annotations

import pytest
from loopback import Loopback
from plugin_project import SUITE, Project, right

OWNER = """
def pytest_addoption(parser):
    parser.addoption("--model", default="theirs")
"""
SAYS = {
    # the option: what ini, environment and flag say, and what the last id shows of nobody, and of each of the three
    "seed": ("5", "4", "3", ("-s0-", "-s5-", "-s4-", "-s3-")),
    "tasks": ("15", "14", "13", ("-n012-", "-n015-", "-n014-", "-n013-")),
    "notation": ("prose", "json", "mermaid", ("-wadl-", "-prose-", "-json-", "-mermaid-")),
    "instances": ("5", "3", "1", ("-001]", "-004-", "-002-", "-000-")),
    "phrasing": ("first", "second", "first", ("-001]", "-p1-", "-p2-", "-p1-")),
    "prompt": ("direct", "answer-first", "direct", ("-001]", "-direct]", "-answer-first]", "-direct]")),
}


def ids(project: Project, *args: str) -> str:
    ran = project.run("--collect-only", "-q", *args)
    assert ran.code == 0, ran.output
    return ran.output.strip().rpartition("\n\n")[0].splitlines()[-1]


def test_flag_wins_over_environment_that_over_ini_file_that_over_default(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    collected = [ids(project)]
    project.write("pytest.ini", "".join(["[pytest]\n", *(f"taskgraph_{name} = {SAYS[name][0]}\n" for name in SAYS)]))
    collected.append(ids(project))
    for name, (_, environment, _, _) in SAYS.items():
        monkeypatch.setenv(f"TASKGRAPH_{name.upper()}", environment)
    collected.append(ids(project))
    collected.append(ids(project, *(f"--taskgraph-{name}={flag}" for name, (_, _, flag, _) in SAYS.items())))
    for name, (*_, parts) in SAYS.items():
        shown = [part in last_id for part, last_id in zip(parts, collected, strict=True)]
        assert shown == [True] * 4, (name, collected)


def test_model_too_is_taken_from_flag_environment_and_ini_in_turn(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def model(*args: str) -> str:
        return project.run(*args).output.partition(": model ")[2].partition(",")[0]

    assert model() == "baseline reader"
    project.write("pytest.ini", "[pytest]\ntaskgraph_model = baseline:random\n")
    assert model() == "baseline random"
    monkeypatch.setenv("TASKGRAPH_MODEL", "baseline:constant")
    assert model() == "baseline constant"
    assert model("--taskgraph-model", "baseline:first-mentioned") == "baseline first-mentioned"
    assert model("--model", "baseline:first-mentioned") == "baseline first-mentioned"


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pytest.ini", "[pytest]\ntaskgraph_model_option =\n  {0}\n  {1}\n\n  {2}\n"),
        ("pyproject.toml", '[tool.pytest.ini_options]\ntaskgraph_model_option = ["{0}", "{1}", "{2}"]\n'),
    ],
)
def test_model_options_in_ini_file_are_all_used(project: Project, server: Loopback, file: str, text: str) -> None:
    server.answer = right
    (project.path / "pytest.ini").unlink()
    project.write(file, text.format(f"api_base={server.url}", "api_key=sk-test-123456", "temperature=0.25"))
    assert project.run("--model=openai/any").counts == {"passed": 4}
    assert server.requests[0].body["temperature"] == 0.25


def test_model_options_in_environment_are_all_used(
    project: Project, server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answer = right
    monkeypatch.setenv("TASKGRAPH_MODEL_OPTION", f"api_base={server.url}\napi_key=sk-test-123456\ntemperature=0.25")
    assert project.run("--model=openai/any").counts == {"passed": 4}
    assert server.requests[0].body["temperature"] == 0.25


def test_option_of_run_overrides_suite(project: Project) -> None:
    project.write("test_graph.py", SUITE.replace("instances=2", "instances=1, tasks=[13, 14], notations=['json']"))
    assert ids(project).endswith("parallel_block-json-n014-s0-000]")
    assert ids(project, "--taskgraph-tasks=12", "--taskgraph-instances=3").endswith("block-json-n012-s0-002]")


def test_sizes_and_notations_multiply(project: Project) -> None:
    ran = project.run("--collect-only", "-q", "--taskgraph-tasks=12,15", "--taskgraph-notation=wadl,mermaid,wadl")
    assert ran.output.count("test_graph.py::") == 2 * 2 * 2 * 2


def test_pattern_that_needs_more_tasks_is_left_out_and_named(project: Project) -> None:
    project.write("test_graph.py", SUITE.replace("parallel_pair", "operator_block"))
    ran = project.run("--taskgraph-tasks=3,12", "-v")
    assert ran.counts == {"passed": 6}
    assert ran.output.count("taskgraph: operator_block is left out at 3 tasks: it needs at least 8") == 1


def test_options_leaving_out_all_patterns_of_suite_are_its_error(project: Project) -> None:
    project.write("test_graph.py", SUITE.replace('["parallel_pair", "parallel_block"]', "'operator_block'"))
    ran = project.run("--taskgraph-tasks=3")
    assert (ran.code, ran.counts) == (1, {"error": 1})
    assert "there is nothing to ask: operator_block is left out at 3 tasks: it needs at least 8" in ran.output
    assert "0 questions" not in ran.output


def test_alias_stands_in_addopts(project: Project) -> None:
    project.write("pytest.ini", "[pytest]\naddopts = --model simulated:1\n")
    assert "model simulated:1" in project.run().output


def test_alias_may_name_model_with_slashes_and_colons(project: Project) -> None:
    ran = project.run("--model", "ollama_chat/llama3:8b", "--collect-only", "test_graph.py")
    assert ran.code == 0
    assert "model ollama_chat/llama3:8b" in ran.output


def test_both_names_of_option_add_up(project: Project) -> None:
    ran = project.run("--model", "simulated:1", "--taskgraph-model", "baseline", "--collect-only", "-q")
    assert ran.output.count("-simulated_1]") == ran.output.count("-baseline]") == 4


def test_project_that_owns_name_keeps_it(project: Project) -> None:
    project.write("conftest.py", OWNER)
    project.write("test_theirs.py", "def test_it(request):\n    assert request.config.getoption('model') == 'mine'\n")
    ran = project.run("--model", "mine", "--taskgraph-model", "simulated:1")
    assert (ran.code, ran.counts) == (0, {"passed": 5})
    assert "model simulated:1" in ran.output


def test_plugin_that_owns_name_keeps_it(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("their_plugin.py", OWNER)
    monkeypatch.syspath_prepend(project.path)
    ran = project.run("--model", "mine", plugins=("their_plugin", "taskgraph"))
    assert (ran.code, ran.counts) == (0, {"passed": 4})
    assert "model baseline reader" in ran.output


def test_plugin_loaded_later_and_owns_name_keeps_it(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("their_plugin.py", OWNER)
    monkeypatch.syspath_prepend(project.path)
    ran = project.run("--model", "mine", plugins=("taskgraph", "their_plugin"))
    assert (ran.code, ran.counts) == (0, {"passed": 4})


def test_help_shows_every_option_in_groups_of_the_plugin(project: Project) -> None:
    ran = project.run("--help")
    assert ran.code == 0
    groups = ran.output[ran.output.index("\ntaskgraph:\n") :]
    for name in ("model", "model-option", "fail-on", "report", "workflow", *SAYS):
        assert f"--taskgraph-{name}=" in groups
        assert f"taskgraph_{name.replace('-', '_')} (" in ran.output
    assert "\n  --model=SPEC" in groups.partition("\n\n")[0]


def test_help_of_project_that_owns_name_shows_own(project: Project) -> None:
    project.write("conftest.py", OWNER)
    ran = project.run("--help")
    assert ran.code == 0
    assert "--model=MODEL" in ran.output
    assert "--model=SPEC" not in ran.output.replace("--taskgraph-model=SPEC", "")
