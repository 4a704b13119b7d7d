"""Self-refinement with an entailment model, as a user runs it: messages before it, and verdicts that reach models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
from loopback import Loopback
from plugin_project import Project

from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.families.paged.entailment_models import entailment_weights
from pytest_taskgraph.families.paged.entailment_models.entailment_scores import EntailmentScores
from pytest_taskgraph.families.paged.refinement import conflict_rules

SUITE = """
from pytest_taskgraph import paged, suite

@suite(paged, instances=1)
def test_graph(trial):
    trial.check()
"""
REPLY = """\
Start -> XOR1
XOR1 -> (the soup is hot) fetch a spoon
XOR1 -> (the bread is old) toast the bread
fetch a spoon -> XOR2
toast the bread -> XOR2
XOR2 -> End
"""
REFINE = ("--taskgraph-paged-method=refine", "--taskgraph-paged-nli=model", "--taskgraph-fail-on=nothing")


class WordsModel:
    """An entailment model to which conditions with one of two words contradict each other."""

    name = "words"

    def __init__(self, words: tuple[str, str]) -> None:
        self._words = words
        self.asked = 0

    def judge(self, premise: str, hypotheses: Sequence[str]) -> list[EntailmentScores]:
        self.asked += len(hypotheses)
        return [EntailmentScores(0.1, 0.3, 0.6) if self._contradict(premise, text) else EntailmentScores(0.1, 0.9, 0.0)
                for text in hypotheses]  # fmt: skip

    def _contradict(self, *texts: str) -> bool:
        return all(any(word in text for text in texts) for word in self._words)


@pytest.fixture
def own(project: Project) -> Project:
    project.write("test_graph.py", SUITE)
    project.write("model/config.json", '{"id2label": {"0": "contradiction", "1": "neutral", "2": "entailment"}}')
    project.write("model/model.safetensors", "")
    return project


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let torch and transformers seem installed, and forget the models that a test loads."""
    monkeypatch.setattr(entailment_weights, "find_spec", lambda name: ModuleSpec("any", None))
    conflict_rules._loaded_judge.cache_clear()
    yield
    conflict_rules._loaded_judge.cache_clear()


def test_verifier_nli_without_extra_ends_run_before_any_request(
    own: Project, server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entailment_weights, "find_spec", lambda name: None)
    ran = own.run(f"--model={server.url}#any", *REFINE)
    assert (ran.code, ran.clean) == (pytest.ExitCode.USAGE_ERROR, True), ran.output
    assert "ERROR: --taskgraph-paged-nli: entailment models need torch and transformers" in ran.output
    assert "pip install pytest-taskgraph-bench[nli]" in ran.output
    assert server.requests == []


def test_verifier_nli_of_suite_is_checked_before_any_request(
    own: Project, server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entailment_weights, "find_spec", lambda name: None)
    own.write("test_graph.py", SUITE.replace("instances=1", 'paged_method="refine", paged_nli="model"'))
    ran = own.run(f"--model={server.url}#any")
    assert (ran.code, ran.clean) == (pytest.ExitCode.TESTS_FAILED, True), ran.output
    assert "pip install pytest-taskgraph-bench[nli]" in ran.output
    assert server.requests == []


def test_verifier_nli_with_weights_that_do_not_load_sends_nothing(
    own: Project, server: Loopback, installed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(name: str) -> WordsModel:
        raise UsageError(f"the entailment model {name} cannot be loaded: OSError: truncated")

    monkeypatch.setattr(conflict_rules, "load_entailment_model", fail)
    ran = own.run(f"--model={server.url}#any", *REFINE)
    assert (ran.code != 0, ran.clean) == (True, True), ran.output
    message = "--taskgraph-paged-nli: the entailment model model cannot be loaded: OSError: truncated"
    assert message in " ".join(ran.output.split())
    assert server.requests == []


@pytest.mark.parametrize(("words", "exclusive_kept"), [(("hot", "old"), True), (("hot", "cold"), False)])
def test_verifier_nli_verdict_of_model_decides_on_feedback(
    words: tuple[str, str],
    exclusive_kept: bool,
    own: Project,
    server: Loopback,
    installed: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loaded: list[str] = []
    model = WordsModel(words)

    def load(name: str) -> WordsModel:
        loaded.append(name)
        return model

    monkeypatch.setattr(conflict_rules, "load_entailment_model", load)
    server.script(*[REPLY] * 3)
    ran = own.run(f"--model={server.url}#any", *REFINE, "--taskgraph-report=json=r.json")
    assert (ran.code, ran.clean) == (0, True), ran.output
    assert loaded == ["model"]
    # The paper's example, then each direction of the one pair, which the second round does not judge again.
    assert model.asked == (2 if exclusive_kept else 3)
    assert len(server.requests) == (1 if exclusive_kept else 3)
    (trial,) = own.record("r.json")["trials"]
    kinds = [[feedback["kind"] for feedback in exchange["feedback"]] for exchange in trial["exchanges"]]
    assert kinds == ([[]] if exclusive_kept else [[], ["exclusive"], ["exclusive"]])
    assert own.record("r.json")["settings"]["paged-nli"] == "model"


def test_rounds_beyond_table_are_refused_with_limit(own: Project) -> None:
    ran = own.run("--taskgraph-paged-rounds=6")
    assert (ran.code, ran.clean) == (pytest.ExitCode.USAGE_ERROR, True), ran.output
    assert "ERROR: --taskgraph-paged-rounds: 6; expected at most 5" in ran.output


def test_model_of_suite_is_found_from_where_pytest_runs(
    own: Project, server: Loopback, installed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[str] = []

    def load(name: str) -> WordsModel:
        loaded.append(name)
        return WordsModel(("hot", "old"))

    monkeypatch.setattr(conflict_rules, "load_entailment_model", load)
    stated = 'paged_method="refine", paged_nli="model", instances=1'
    Path(own.path / "test_graph.py").unlink()
    own.write("deep/test_graph.py", SUITE.replace("instances=1", stated))
    server.script(REPLY)
    ran = own.run(f"--model={server.url}#any", "--taskgraph-fail-on=nothing")
    assert (ran.code, loaded) == (0, ["model"]), ran.output
