"""`--taskgraph-prompt-snapshots`: prompts as files, written and checked without a model."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from loopback import Loopback
from plugin_project import IDS, ITEMS, SUITE, Project, Ran, asking

from pytest_taskgraph.benchmarks.understanding.prompts import prompt_template
from pytest_taskgraph.plugin.snapshots import snapshot_hooks

UPDATE, CHECK = "--taskgraph-prompt-snapshots=update", "--taskgraph-prompt-snapshots=check"
TEMPLATE = "{# answer: marker #}\nLook at this.\n\n{{ workflow }}\n\n{{ question }}\n{{ instruction }}\n"
PAIR, BLOCK = (f"__prompts__/test_graph/test_graph/{name}.md" for name in ("parallel_pair", "parallel_block"))
RENAMED = SUITE.replace("def test_graph", "def test_renamed")


def snapshots(project: Project) -> dict[str, str]:
    """The files of snapshots, by their paths."""
    paths = sorted(project.path.rglob("__prompts__/**/*"))
    return {path.relative_to(project.path).as_posix(): path.read_text() for path in paths if path.is_file()}


def flat_output(ran: Ran) -> str:
    """Return the line with the numbers of snapshots."""
    (line,) = (line for line in ran.output.splitlines() if line.startswith("taskgraph: prompt snapshots: "))
    return line.removeprefix("taskgraph: prompt snapshots: ")


def updated(project: Project, *args: str) -> str:
    ran = project.run(UPDATE, *args)
    assert ran.code == 0, ran.output
    assert ran.clean
    return flat_output(ran)


def write_template(project: Project, text: str) -> None:
    """Change the prompt template, of which this process keeps the compiled one."""
    project.write("ask.jinja", text)
    prompt_template.cache_clear()


@pytest.fixture
def own(project: Project) -> Project:
    """A project with a prompt template of its own, and its snapshots."""
    project.write("pytest.ini", "[pytest]\ntaskgraph_prompt = ask.jinja\n")
    project.write("ask.jinja", TEMPLATE)
    assert updated(project) == "4 written, 0 unchanged, 0 removed"
    return project


def test_update_writes_each_prompt_in_full(own: Project) -> None:
    files = snapshots(own)
    assert list(files) == [BLOCK, PAIR]
    assert [line for line in files[PAIR].splitlines() if line.startswith("## ")] == [f"## {id_}-ask" for id_ in IDS[:2]]
    assert files[PAIR].count("\n**user**\n\n```text\nLook at this.\n\npackage ") == 2
    assert "baseline" not in files[PAIR]


def test_update_of_unchanged_prompts_writes_nothing(own: Project) -> None:
    before = {path: (own.path / path).stat().st_mtime_ns for path in snapshots(own)}
    assert updated(own) == "0 written, 4 unchanged, 0 removed"
    assert {path: (own.path / path).stat().st_mtime_ns for path in snapshots(own)} == before


def test_check_of_unchanged_prompts_passes(own: Project) -> None:
    ran = own.run(CHECK)
    assert (ran.code, ran.counts, flat_output(ran)) == (0, {"passed": 4}, "4 unchanged")
    assert "taskgraph: prompt snapshots are checked; no model is asked" in ran.output


def test_check_of_changed_template_fails_with_difference(own: Project) -> None:
    before = snapshots(own)
    write_template(own, TEMPLATE.replace("Look at this.", "Read this."))
    ran = own.run(CHECK)
    assert (ran.code, ran.counts) == (1, {"failed": 4})
    assert ran.clean
    assert ran.output.count("\n-Look at this.\n+Read this.\n") == 4
    assert f"the prompt has changed: +1 -1 lines against {PAIR}\n--- snapshot\n+++ prompt\n" in ran.output
    assert flat_output(ran) == f"0 unchanged, 4 changed; write them with {UPDATE}"
    assert snapshots(own) == before
    assert updated(own) == "4 written, 0 unchanged, 0 removed"
    assert own.run(CHECK).code == 0


def test_check_of_new_questions_names_command(own: Project) -> None:
    own.write("test_graph.py", SUITE.replace("instances=2", "instances=3"))
    ran = own.run(CHECK)
    assert (ran.code, ran.counts) == (1, {"failed": 2, "passed": 4})
    assert f"no snapshot in {PAIR}; write it with {UPDATE}" in ran.output
    assert flat_output(ran) == f"4 unchanged, 2 without a snapshot; write them with {UPDATE}"


SUBSETS = {
    "-k": (["-k", "parallel_pair"], "-k"),
    "-m": (["-m", "not taskgraph"], "-m"),
    "deselect": ([f"--deselect={ITEMS[0]}"], "--deselect"),
    "node-id": (["test_graph.py::test_renamed"], "node ids"),
    "instances": (["--taskgraph-instances=1"], "--taskgraph-instances"),
    "notation": (["--taskgraph-notation", "mermaid"], "--taskgraph-notation"),
    "profile": (["--taskgraph-profile=dev"], "--taskgraph-profile"),
}


@pytest.mark.parametrize("name", SUBSETS)
def test_update_of_subset_removes_nothing(own: Project, name: str) -> None:
    args, reason = SUBSETS[name]
    before = snapshots(own)
    own.write("test_graph.py", RENAMED)
    ran = own.run(UPDATE, *args)
    assert ran.code in (0, 5), ran.output
    assert flat_output(ran).endswith(", 0 removed")
    assert f"unused snapshots were not looked for: {reason} left out prompts" in ran.output
    assert {path: text for path, text in snapshots(own).items() if path in before} == before


def test_update_with_invalid_suite_removes_nothing(own: Project) -> None:
    before = snapshots(own)
    own.write("test_graph.py", RENAMED.replace("patterns=", "pattern="))
    own.write("test_valid.py", SUITE)
    ran = own.run(UPDATE)
    assert ran.code == pytest.ExitCode.TESTS_FAILED, ran.output
    assert "unused snapshots were not looked for: errors of collection left out prompts" in ran.output
    assert {path: text for path, text in snapshots(own).items() if path in before} == before


def test_update_of_subset_keeps_other_sections_of_file(own: Project) -> None:
    before = snapshots(own)
    write_template(own, TEMPLATE.replace("Look", "Read"))
    assert updated(own, "-k", "parallel_pair and 000") == "1 written, 0 unchanged, 0 removed"
    after = snapshots(own)
    assert after[BLOCK] == before[BLOCK]
    assert [after[PAIR].count(word) for word in ("\nRead at", "\nLook at")] == [1, 1]


def test_check_of_subset_names_nothing_unused(own: Project) -> None:
    own.write("test_graph.py", RENAMED + SUITE)
    assert own.run(CHECK, "-k", "test_graph and 000 and not renamed").code == 0


def test_update_where_conftest_deselects_removes_nothing_of_that_function(own: Project) -> None:
    before = snapshots(own)
    own.write("test_graph.py", SUITE.replace("instances=2", "instances=1"))
    own.write("conftest.py", "def pytest_collection_modifyitems(items):\n    del items[1:]\n")
    assert updated(own) == "0 written, 1 unchanged, 0 removed"
    assert snapshots(own) == before


def test_update_where_test_is_skipped_removes_nothing_of_it(own: Project) -> None:
    own.write("test_graph.py", SUITE.replace("@suite", "import pytest\n@pytest.mark.skip\n@suite").replace("=2", "=1"))
    assert updated(own) == "0 written, 0 unchanged, 0 removed"


def test_renamed_test_leaves_unused_snapshots_until_update(own: Project) -> None:
    own.write("test_graph.py", RENAMED)
    ran = own.run(CHECK)
    assert (ran.code, ran.counts["failed"]) == (1, 5)
    assert "prompt-snapshots::__prompts__/test_graph/test_graph" in ran.output
    lines = " ".join(ran.output.split())  # wrapped, except where CI is set
    assert f"4 snapshots are unused: {IDS[2]}-ask, {IDS[3]}-ask, {IDS[0]}-ask, …; remove them with" in lines
    assert flat_output(ran) == f"0 unchanged, 4 without a snapshot, 4 unused; write them with {UPDATE}"
    assert updated(own) == "4 written, 0 unchanged, 4 removed"
    assert {path.split("/")[2] for path in snapshots(own)} == {"test_renamed"}
    assert not (own.path / "__prompts__/test_graph/test_graph").exists()
    assert own.run(CHECK).code == 0


def test_fewer_questions_leave_unused_sections_until_update(own: Project) -> None:
    own.write("test_graph.py", SUITE.replace("instances=2", "instances=1").replace('"parallel_pair", ', ""))
    ran = own.run(CHECK)
    assert (ran.code, ran.counts) == (1, {"failed": 1, "passed": 1})
    assert flat_output(ran) == f"1 unchanged, 3 unused; write them with {UPDATE}"
    assert updated(own) == "0 written, 1 unchanged, 3 removed"
    assert list(snapshots(own)) == [BLOCK]
    assert own.run(CHECK).code == 0


def test_snapshots_of_removed_file_are_removed_by_run_of_folder(own: Project) -> None:
    (own.path / "test_graph.py").rename(own.path / "test_other.py")
    assert updated(own, "test_other.py") == "4 written, 0 unchanged, 0 removed"
    assert updated(own) == "0 written, 4 unchanged, 4 removed"
    assert {path.split("/")[1] for path in snapshots(own)} == {"test_other"}


def test_update_leaves_other_files_alone(own: Project) -> None:
    for name in ("__prompts__/test_graph/test_old/notes.md", "__prompts__/README.md", "__prompts__/gone/f/x.txt"):
        own.write(name, "# Notes\n")
    updated(own)
    assert len(snapshots(own)) == 5


def test_update_over_two_workers_writes_same_files(own: Project) -> None:
    before = snapshots(own)
    for path in before:
        (own.path / path).unlink()
    own.write("__prompts__/test_graph/test_old/parallel_pair.md", before[PAIR])
    ran = own.spread(UPDATE)
    assert ran.code == 0, ran.output
    assert flat_output(ran) == "4 written, 0 unchanged, 2 removed"
    assert snapshots(own) == before


def test_check_over_two_workers_fails_as_in_one_process(own: Project) -> None:
    write_template(own, TEMPLATE.replace("Look at this.", "Read this."))
    own.write("__prompts__/test_graph/test_old/parallel_pair.md", snapshots(own)[PAIR])
    ran = own.spread(CHECK)
    assert (ran.code, ran.counts) == (1, {"failed": 5})
    assert ran.output.count("\n-Look at this.\n+Read this.\n") == 4
    assert flat_output(ran) == f"0 unchanged, 4 changed, 2 unused; write them with {UPDATE}"


def test_prompts_of_another_hash_seed_are_same(own: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in ("1", "2"):
        monkeypatch.setitem(os.environ, "PYTHONHASHSEED", seed)
        assert flat_output(own.spawn(CHECK)) == "4 unchanged"


def test_snapshots_with_model_option_send_nothing(own: Project, server: Loopback) -> None:
    own.write("pytest.ini", f"[pytest]\ntaskgraph_prompt = ask.jinja\ntaskgraph_gate = parallel_pair>=0.99\n"
              f"taskgraph_model_option = api_base={server.url}\n")  # fmt: skip
    args = [
        *asking(server.url),
        "--model=baseline:random",
        "--taskgraph-report=json=record.json",
        "--taskgraph-repeats=3",
    ]
    ran = own.run(CHECK, *args)
    assert (ran.code, ran.counts) == (0, {"passed": 4})
    assert server.requests == []
    assert "no model is asked; not used: --taskgraph-model, --taskgraph-model-option, --taskgraph-re" in ran.output
    assert not (own.path / "record.json").exists()
    assert not (own.path / ".taskgraph").exists()


def test_fixtures_of_suites_are_not_set_up_and_other_tests_run(own: Project) -> None:
    own.write(
        "conftest.py",
        "import pytest\n@pytest.fixture(autouse=True)\ndef never(request):\n"
        "    assert 'trial' not in request.node.fixturenames and 'graph' not in request.node.name\n",
    )
    own.write("test_graph.py", SUITE + "\ndef test_plain():\n    assert False, 'on its own'\n")
    ran = own.run(CHECK)
    assert (ran.code, ran.counts) == (1, {"failed": 1, "passed": 4})
    assert "on its own" in ran.output


def test_suite_without_trial_runs_tests_and_has_no_snapshots(project: Project) -> None:
    project.write("test_graph.py", SUITE.replace("trial.check()", "assert taskgraph_question.prompt").replace(
        "test_graph(trial)", "test_graph(taskgraph_question, request)"))  # fmt: skip
    ran = project.run(UPDATE)
    assert (ran.counts, flat_output(ran)) == ({"passed": 4}, "0 written, 0 unchanged, 0 removed")
    project.write("test_graph.py", SUITE.replace("trial.check()", "request.getfixturevalue('trial')").replace(
        "test_graph(trial)", "test_graph(taskgraph_question, request)"))  # fmt: skip
    assert project.run(UPDATE).counts == {"skipped": 4}


@pytest.mark.parametrize("strict", ["True", "False"])
def test_mark_of_expected_failures_does_not_hold_for_prompts(own: Project, strict: str) -> None:
    mark = f"import pytest\npytestmark = pytest.mark.xfail(strict={strict})\n"
    own.write("test_graph.py", mark + SUITE)
    assert own.run(CHECK).counts == {"passed": 4}
    write_template(own, TEMPLATE.replace("Look", "Read"))
    assert own.run(CHECK).counts == {"failed": 4}


def test_items_that_failed_are_selected_by_last_failed(own: Project) -> None:
    text = (own.path / PAIR).read_text()
    own.write(PAIR, text.replace("Look at", "Read at", 1))
    assert own.run(CHECK).counts == {"failed": 1, "passed": 3}
    ran = own.run(CHECK, "--lf")
    assert (ran.counts["failed"], ran.counts.get("passed", 0)) == (1, 0)
    assert "unused snapshots were not looked for: --lf" in ran.output


def test_damaged_file_fails_check_and_is_rewritten_by_whole_update(own: Project) -> None:
    before = snapshots(own)
    damaged = before[PAIR].replace(f"\n## {IDS[1]}", f"\n<<<<<<< ours\n## {IDS[1]}")
    line = damaged.split("\n").index("<<<<<<< ours") + 2
    own.write(PAIR, damaged)
    ran = own.run(CHECK)
    assert ran.counts == {"failed": 2, "passed": 2}
    assert f"{PAIR}: line {line} is not as it was written; restore it, or write it with {UPDATE}" in ran.output
    ran = own.run(UPDATE, "-k", "pair and 000")
    assert ran.code == 1
    assert (
        f"line {line} is not as it was written; restore the file, or update all prompts of the test function"
        in ran.output
    )
    assert (own.path / PAIR).read_text() == damaged
    assert updated(own) == "2 written, 2 unchanged, 0 removed"
    assert snapshots(own) == before


def test_file_that_cannot_be_written_fails_update(own: Project) -> None:
    (own.path / PAIR).unlink()
    (own.path / PAIR).mkdir()
    ran = own.run(UPDATE)
    assert (ran.code, ran.counts) == (1, {"failed": 1, "passed": 4})
    assert f"prompt-snapshots::{PAIR}" in ran.output
    assert "cannot be written" in ran.output
    assert ran.clean


def test_interrupted_update_writes_what_was_rendered_and_removes_nothing(own: Project) -> None:
    own.write("test_graph.py", RENAMED)
    own.write("test_last.py", "def test_stop():\n    raise KeyboardInterrupt\n")
    ran = own.spawn(UPDATE)
    assert ran.code == 2
    assert flat_output(ran) == "4 written, 0 unchanged, 0 removed"
    assert len(snapshots(own)) == 4


@pytest.mark.parametrize("option", ["--collect-only", "--setup-plan"])
def test_session_that_runs_no_items_changes_nothing(own: Project, option: str) -> None:
    before = snapshots(own)
    own.write("test_graph.py", RENAMED)
    assert own.run(UPDATE, option).code == 0
    assert snapshots(own) == before


def test_dry_run_and_snapshots_together_are_refused(project: Project) -> None:
    ran = project.run(CHECK, "--taskgraph-dry-run")
    assert ran.code == 4
    assert "--taskgraph-prompt-snapshots and --taskgraph-dry-run: run one after the other" in ran.output


def test_unknown_value_is_refused_with_known_ones(project: Project) -> None:
    ran = project.run("--taskgraph-prompt-snapshots=write")
    assert ran.code == 4
    assert "'write'; known: update, check" in ran.output


def test_prompt_that_cannot_be_built_fails_item(own: Project) -> None:
    write_template(own, "{# answer: marker #}\n{{ workflow }} {{ nothing_of_this_name }} {{ question }}\n")
    ran = own.run(UPDATE)
    assert ran.code != 0
    assert "nothing_of_this_name" in ran.output
    assert ran.clean


HOSTILE = "workflow Café {\n  // \x1b[31mred\x1b[0m \u202eabc ````` \r ::error::x\n  task A {}\n  task B {}\n" \
    "  task C {}\n  START -> A;\n  A -> B;\n  B -> C;\n  C -> END;\n}\n"  # fmt: skip


def test_hostile_text_of_files_is_escaped_in_snapshots_and_output(project: Project) -> None:
    project.write("own.xxp", "package p;\n" + HOSTILE.replace("Café", "Cafe"))
    project.write("pytest.ini", "[pytest]\ntaskgraph_workflow = own.xxp\n")
    project.write("test_graph.py", SUITE.replace('["parallel_pair", "parallel_block"]', '["order_of_two"]'))
    ran = project.run(UPDATE)
    assert ran.code == 0, ran.output
    (text,) = set(snapshots(project).values())
    assert not [char for char in "\x1b\u202e\r" if char in text]
    assert r"// \x1b[31mred\x1b[0m \u202eabc `````" in text
    assert "text escaped\n" in text
    project.write("own.xxp", "package p;\n" + HOSTILE.replace("Café", "Cafe").replace("31mred", "32mred"))
    ran = project.spawn(CHECK)  # this process keeps the files that it has read
    assert ran.code == 1
    assert "\x1b[32m" not in ran.output
    assert r"+  // \x1b[32mred\x1b[0m \u202eabc" in ran.output
    assert "\n::error" not in ran.output


def test_snapshots_exist_for_all_families(project: Project) -> None:
    project.write("test_graph.py", SUITE + EVERY)
    first = project.run(UPDATE)
    assert first.code == 0, first.output
    assert len(snapshots(project)) > 8
    ran = project.run(CHECK)
    assert (ran.code, flat_output(ran)) == (0, f"{ran.counts['passed']} unchanged")


EVERY = """
from pytest_taskgraph import tasklama, steps, paged

@suite(tasklama, instances=2)
def test_tasklama(trial):
    trial.check()

@suite(steps, instances=2)
def test_steps(trial):
    trial.check()

@suite(paged, instances=1)
def test_paged(trial):
    trial.check()

@suite(understanding, patterns="next_tasks", presentation="agent", instances=1)
def test_agent(trial):
    trial.check()
"""


def test_update_of_many_prompts_advises_to_have_fewer(own: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    advice = "4 prompts are hard to review; have fewer, such as with the ini value taskgraph_instances = 1"
    assert advice not in own.run(UPDATE).output
    monkeypatch.setattr(snapshot_hooks, "MANY", 3)
    assert f"taskgraph: {advice}" in own.run(UPDATE).output


UNSTEADY = """
from itertools import count

import pytest

from pytest_taskgraph import suite
from pytest_taskgraph.benchmarks.family import Family, QuestionReference
from pytest_taskgraph.trial import Question

class Riddles(Family):
    name = "riddles"
    built = count()

    def references(self, settings, options):
        return [QuestionReference("sphinx", "old riddles")]

    def question(self, reference, settings):
        text = f"Riddle {next(self.built)}?"
        return Question(reference.id, self.name, reference.group, "", text, text, "text", "man", "rouge1")

riddles = Riddles()
"""


UNSTEADY_SUITE = """
import pytest
from pytest_taskgraph import suite
from riddling import riddles

@pytest.mark.parametrize("again", [1, 2])
@suite(riddles)
def test_graph(trial, again):
    trial.check()
"""


def test_prompts_that_differ_within_one_run_fail_case(project: Project) -> None:
    project.write("riddling.py", UNSTEADY)
    register = "import riddling\n\ndef pytest_taskgraph_register(registry):\n    registry.family(riddling.riddles)\n"
    project.write("conftest.py", register)
    project.write("test_graph.py", UNSTEADY_SUITE)
    ran = project.run(UPDATE, "--junitxml=junit.xml")
    assert (ran.code, ran.counts) == (1, {"failed": 1, "passed": 2})
    assert "sphinx has different prompts in one run; build it from the seed alone" in ran.output
    case = next(element for element in project.junit().findall("testcase") if element.find("failure") is not None)
    assert case.attrib["name"].startswith("__prompts__/test_graph/test_graph/old-riddles-")


def test_class_of_tests_has_folder_of_own(project: Project) -> None:
    lines = SUITE.replace("def test_graph(trial)", "def test_graph(self, trial)").partition("@suite")
    body = "".join(f"    {line}\n" for line in (lines[1] + lines[2]).splitlines())
    project.write("test_graph.py", lines[0] + "class TestGraph:\n" + body)
    assert updated(project) == "4 written, 0 unchanged, 0 removed"
    (folder,) = {Path(path).parent.name for path in snapshots(project)}
    assert folder.startswith("testgraph-test_graph-")
    assert project.run(CHECK).code == 0
