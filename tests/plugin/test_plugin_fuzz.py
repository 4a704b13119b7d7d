"""`--taskgraph-fuzz`: each group of questions searched by an item, without a model."""

from __future__ import annotations

from collections.abc import Iterator

import hypothesis
import pytest
from loopback import Loopback
from plugin_project import Project, Ran, asking

HYPOTHESIS = "_hypothesis_pytestplugin"
PLUGINS = ("taskgraph", HYPOTHESIS)
SEED = "--hypothesis-seed=3"
EXAMPLES = 2  # enough for the fault
SUITE = '''
from pytest_taskgraph import Cases, Workflow, case, pattern, suite, understanding

@pattern("How many tasks has {{ place }}?", form="number")
def wordy(workflow: Workflow) -> Cases:
    """Answers in words where there is data."""
    yield case("many" if workflow.data else len(workflow.tasks))

@pattern("How many links has {{ place }}?", form="number")
def links(workflow: Workflow) -> Cases:
    """A sound one."""
    yield case(len(workflow.links))

@suite(understanding, patterns=["wordy", "links"], notations=["wadl"], prompt="direct")
def test_graph(trial):
    trial.check()
'''
ALWAYS_WRONG = SUITE.replace("if workflow.data else", "or")  # the first example finds the fault
FIRST = "test_graph.py::test_graph[wordy]"
SECOND = "test_graph.py::test_graph::answer-not-given-away[wordy]"


@pytest.fixture
def broken(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project with a sound group and one that violates two properties."""
    monkeypatch.setattr(hypothesis.core, "global_force_seed", None)  # which an inner run sets
    project.write("test_graph.py", SUITE)
    return project


def fuzz(project: Project, *args: str) -> Ran:
    ran = project.run(f"--taskgraph-fuzz={EXAMPLES}", SEED, *args, plugins=PLUGINS)
    assert ran.clean, ran.output
    return ran


def failures(ran: Ran) -> str:
    """Return the failures in the output, up to the first line of the summary."""
    return ran.output.partition("= FAILURES =")[2].partition("short test summary info")[0]


def test_fuzz_violated_properties_each_fail_one_item_run_by_last_failed(broken: Project) -> None:
    broken.write("test_graph.py", ALWAYS_WRONG)
    ran = fuzz(broken, "--junitxml=junit.xml")
    assert (ran.code, ran.counts) == (1, {"failed": 2, "passed": 1})
    assert f"FAILED {FIRST} - reference-scores-one: " in ran.output
    assert f"FAILED {SECOND} - answer-not-given-away: " in ran.output
    assert f"2 groups searched with {EXAMPLES} examples each: 1 with violated properties" in ran.output
    names = [case.attrib["name"] for case in broken.junit().iter("testcase")]
    assert names == ["test_graph[wordy]", "test_graph[links]", "answer-not-given-away[wordy]"]
    broken.write("test_graph.py", ALWAYS_WRONG.replace('"many" or len(workflow.tasks)', "len(workflow.links)"))
    again = fuzz(broken, "--lf")
    assert (again.code, again.counts) == (0, {"passed": 1})


def test_fuzz_finding_shows_drawing_question_and_reproduction(broken: Project) -> None:
    ran = fuzz(broken, "--taskgraph-notation", "mermaid", "-k", "wordy")
    reasons = failures(ran)
    assert "the reference answer 'many' scores unparseable" in reasons
    assert "\nasked as: wordy-mermaid-p1, prompt direct\n\nabout:\n    neutral." in reasons
    assert "<data " in reasons
    assert "\nquestion:\n    How many tasks has " in reasons
    line = f"reproduce: pytest '{FIRST}' --taskgraph-fuzz={EXAMPLES} {SEED} --taskgraph-notation mermaid\n"
    assert line in reasons
    assert "Traceback" not in reasons
    assert failures(fuzz(broken, FIRST, "--taskgraph-notation", "mermaid")) == reasons


def test_fuzz_long_tracebacks_are_shown_when_asked_for(broken: Project) -> None:
    broken.write("test_graph.py", ALWAYS_WRONG)
    ran = broken.run(f"--taskgraph-fuzz={EXAMPLES}", SEED, "--tb=long", "-k", "wordy", plugins=PLUGINS)
    assert "FuzzFindingError: reference-scores-one" in ran.output
    assert "taskgraph: violated properties" in ran.output
    assert "\nabout:\n    neutral." in ran.output


@pytest.mark.exhaustive
def test_fuzz_worker_has_findings_of_one_process(broken: Project) -> None:
    broken.write("test_graph.py", ALWAYS_WRONG)
    alone = fuzz(broken)
    spread = broken.spread(f"--taskgraph-fuzz={EXAMPLES}", SEED, plugins=PLUGINS, workers=1)
    assert spread.clean
    assert (spread.code, spread.counts) == (alone.code, alone.counts)
    assert alone.counts["passed"] == 1
    reasons = failures(alone)
    assert "reference-scores-one" in reasons
    assert all(line in spread.output for line in reasons.splitlines() if not line.startswith(("_", "taskgraph:")))


def test_fuzz_models_are_never_asked(broken: Project, server: Loopback) -> None:
    ran = fuzz(broken, *asking(server.url), "-k", "links")
    assert (ran.code, server.requests) == (0, [])
    assert "no model is asked; not used: --taskgraph-model" in ran.output
    assert not (broken.path / ".taskgraph").exists()


def test_fuzz_first_failure_ends_search_with_exitfirst(broken: Project) -> None:
    broken.write("test_graph.py", ALWAYS_WRONG)
    ran = fuzz(broken, "-x")
    assert ran.code == 1
    assert "passed" not in ran.counts
    assert FIRST in ran.output


def test_fuzz_several_prompts_are_items_of_own(broken: Project) -> None:
    ran = fuzz(broken, "--taskgraph-prompt=direct", "--taskgraph-prompt=chain-of-thought", "--collect-only", "-q")
    nodeids = [line for line in ran.output.splitlines() if "::" in line]
    assert nodeids == [
        f"test_graph.py::test_graph[{group}-{prompt}]"
        for prompt in ("direct", "chain-of-thought")
        for group in ("wordy", "links")
    ]


def test_fuzz_expected_wrong_answers_excuse_no_finding(broken: Project) -> None:
    broken.write("test_graph.py", "import pytest\n" + ALWAYS_WRONG.replace("@suite", "@pytest.mark.xfail\n@suite"))
    assert fuzz(broken, "-k", "wordy").counts == {"failed": 2, "deselected": 1}


def test_fuzz_group_without_cases_is_skipped_with_reason(broken: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hypothesis.internal.conjecture.engine, "INVALID_THRESHOLD_BASE", 5)  # give up sooner
    broken.write("test_graph.py", SUITE.replace('yield case("many" if', 'yield from () if workflow else ("many" if'))
    ran = fuzz(broken, "-rs", "-k", "wordy")
    assert ran.counts == {"skipped": 1, "deselected": 1}
    assert "nothing can be asked for 'wordy' in 2 drawn examples" in ran.output


def test_fuzz_interrupted_within_group_prints_findings_so_far(broken: Project) -> None:
    stopping = """SEEN.append(bool(workflow.data))
    if sum(SEEN) > 1:
        raise KeyboardInterrupt
    yield case("many" if workflow.data else len(workflow.links))"""
    broken.write("test_graph.py", "SEEN = []\n" + ALWAYS_WRONG.replace("yield case(len(workflow.links))", stopping))
    ran = broken.run(f"--taskgraph-fuzz={EXAMPLES}", SEED, plugins=PLUGINS)
    assert ran.code == pytest.ExitCode.INTERRUPTED
    assert "the reference answer 'many' scores unparseable" in failures(ran).partition("[links]")[0]
    assert "test_graph.py::test_graph::reference-scores-one[links]" in failures(ran)
    assert "reproduce: " in failures(ran)
    assert SECOND in ran.output
    assert "!!! KeyboardInterrupt !!!" in ran.output


DATABASE_PROFILES = """
from hypothesis import Phase, settings
from hypothesis.database import DirectoryBasedExampleDatabase

kept = DirectoryBasedExampleDatabase(".hypothesis/examples")
settings.register_profile("kept", database=kept, derandomize=False, phases=[Phase.generate])
settings.register_profile("none", database=kept, derandomize=False, phases=[Phase.reuse])
"""


@pytest.fixture
def own_profiles() -> Iterator[None]:
    """Go back to the profile of Hypothesis that is used here."""
    profile = hypothesis.settings.get_current_profile_name()
    yield
    hypothesis.settings.load_profile(profile)


def test_fuzz_examples_of_database_are_found_again_without_seed(broken: Project, own_profiles: None) -> None:
    broken.write("conftest.py", DATABASE_PROFILES)
    broken.write("test_graph.py", ALWAYS_WRONG)
    options = (f"--taskgraph-fuzz={EXAMPLES}", "-k", "wordy")
    first = broken.run(*options, "--hypothesis-profile=kept", plugins=PLUGINS)
    assert "reference-scores-one: " in failures(first)
    assert (broken.path / ".hypothesis").is_dir()
    again = broken.run("-rs", *options, "--hypothesis-profile=none", plugins=PLUGINS)
    assert "reference-scores-one: " in failures(again)
    assert "--hypothesis-profile=none" in failures(again)


def test_fuzz_with_dry_run_is_refused(broken: Project) -> None:
    ran = broken.run(f"--taskgraph-fuzz={EXAMPLES}", "--taskgraph-dry-run")
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert "run one after the other" in ran.output
