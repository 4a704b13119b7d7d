"""Conflicts of conditions by an entailment model: verdicts, what the model is not asked, and what a run must have."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from pytest_taskgraph.benchmarks.settings import Settings
from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.families.paged.entailment_models import entailment_weights
from pytest_taskgraph.families.paged.entailment_models.entailment_scores import EntailmentScores
from pytest_taskgraph.families.paged.paged_family import paged
from pytest_taskgraph.families.paged.paged_options import NLI
from pytest_taskgraph.families.paged.refinement import conflict_rules
from pytest_taskgraph.families.paged.refinement.conflict_rules import (
    ConflictVerdict,
    ContradictionJudge,
    EntailmentConflictRule,
    check_entailment_rule,
)
from pytest_taskgraph.families.paged.refinement.refine_episode import conflict_rule
from pytest_taskgraph.families.paged.refinement.verifiers import find_gateway_conflict

CONTRADICTION = EntailmentScores(0.1, 0.3, 0.6)
ENTAILMENT = EntailmentScores(0.5, 0.1, 0.4)
NEUTRAL = EntailmentScores(0.1, 0.5, 0.4)
TIE = EntailmentScores(0.0, 0.5, 0.5)
EXAMPLE = ("need dishes", "need drinks")


class StatedModel:
    """An entailment model that gives stated scores, else NEUTRAL, and keeps what it is asked."""

    name = "stated"

    def __init__(self, scores: dict[tuple[str, str], EntailmentScores | UsageError] | None = None) -> None:
        self._scores = scores or {}
        self.asked: list[tuple[str, str]] = []

    def judge(self, premise: str, hypotheses: Sequence[str]) -> list[EntailmentScores]:
        return [self._judge(premise, hypothesis) for hypothesis in hypotheses]

    def _judge(self, premise: str, hypothesis: str) -> EntailmentScores:
        self.asked.append((premise, hypothesis))
        scores = self._scores.get((premise, hypothesis), NEUTRAL)
        if isinstance(scores, UsageError):
            raise scores
        return scores


def rule_of(model: StatedModel) -> EntailmentConflictRule:
    """Return a rule of the model, of which what it was asked before is forgotten."""
    rule = EntailmentConflictRule(ContradictionJudge(model))
    model.asked.clear()
    return rule


@pytest.mark.parametrize(
    ("forth", "back", "verdict"),
    [
        (CONTRADICTION, CONTRADICTION, "conflict"),
        (CONTRADICTION, NEUTRAL, "conflict"),
        (ENTAILMENT, CONTRADICTION, "conflict"),
        (NEUTRAL, NEUTRAL, "no conflict"),
        (ENTAILMENT, NEUTRAL, "no conflict"),
        (TIE, TIE, "no conflict"),
    ],
)
def test_find_conflict_contradiction_in_either_direction_is_conflict(
    forth: EntailmentScores, back: EntailmentScores, verdict: ConflictVerdict
) -> None:
    for first, other in (("pizza is chosen", "pasta is chosen"), ("pasta is chosen", "pizza is chosen")):
        rule = rule_of(StatedModel({(first, other): forth, (other, first): back}))
        assert rule.find_conflict("pizza is chosen", "pasta is chosen") == verdict
        assert rule.find_conflict("pasta is chosen", "pizza is chosen") == verdict


def test_find_conflict_gives_model_conditions_without_their_cue() -> None:
    model = StatedModel()
    rule_of(model).find_conflict("If pizza is chosen,", " when  pasta is chosen.")
    assert sorted(model.asked) == [("pasta is chosen", "pizza is chosen"), ("pizza is chosen", "pasta is chosen")]


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        ("the delay is more than 5 days", "the delay is at most 5 days", "conflict"),
        ("the delay is at least 5 days", "the delay is at most 5 days", "no conflict"),
        ("the parcel is heavy", "in all other cases", "conflict"),
        ("the order is urgent", "if The order is urgent.", "no conflict"),
    ],
)
def test_find_conflict_that_needs_no_words_does_not_ask_model(
    first: str, second: str, verdict: ConflictVerdict
) -> None:
    model = StatedModel()
    assert rule_of(model).find_conflict(first, second) == verdict
    assert model.asked == []


def test_find_gateway_conflict_of_formal_guards_does_not_ask_model() -> None:
    model = StatedModel({("n > 5", "n > 3"): CONTRADICTION})
    rule = rule_of(model)
    assert find_gateway_conflict(["n > 5", "n <= 5"], rule)[0] == "conflict"
    assert find_gateway_conflict(["n > 5", "n > 3"], rule)[0] == "no conflict"
    assert model.asked == []
    assert find_gateway_conflict(["n > 5", "it rains"], rule)[0] == "no conflict"
    assert len(model.asked) == 2


def test_find_conflict_of_a_pair_is_judged_once_for_all_questions() -> None:
    model = StatedModel()
    judge = ContradictionJudge(model)
    model.asked.clear()
    for conditions in (("it rains", "it snows"), ("it snows", "it rains"), ("if it rains", "it snows.")):
        EntailmentConflictRule(judge).find_conflict(*conditions)
    assert len(model.asked) == 2


def test_find_conflict_of_too_many_pairs_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conflict_rules, "MOST_PAIRS", 2)
    model = StatedModel()
    judge = ContradictionJudge(model)
    pairs = [(f"it is {word}", "it rains") for word in ("late", "early", "noon")]
    first, second = EntailmentConflictRule(judge), EntailmentConflictRule(judge)
    assert [first.find_conflict(*pair) for pair in pairs] == ["no conflict", "no conflict", "unknown"]
    assert first.find_conflict(*pairs[0]) == "no conflict"
    # What another question has had judged already does not change what is known of this one.
    assert [second.find_conflict(*pair) for pair in reversed(pairs)] == ["no conflict", "no conflict", "unknown"]


@pytest.mark.parametrize(
    "answer", [UsageError("a sentence of 900 tokens leaves no room"), EntailmentScores(float("nan"), 0.0, 0.0)]
)
def test_find_conflict_of_texts_that_model_cannot_take_is_unknown(answer: EntailmentScores | UsageError) -> None:
    model = StatedModel({("it rains", "it snows"): answer})
    assert rule_of(model).find_conflict("it snows", "it rains") == "unknown"
    assert rule_of(model).find_conflict("it is late", "it rains") == "no conflict"


def test_contradiction_judge_of_model_without_probabilities_is_refused() -> None:
    with pytest.raises(UsageError, match="the entailment model stated: expected 1 probabilities from 0 to 1"):
        ContradictionJudge(StatedModel({EXAMPLE: EntailmentScores(0.0, 0.0, 1.5)}))


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let torch and transformers seem installed."""
    monkeypatch.setattr(entailment_weights, "find_spec", lambda name: ModuleSpec("any", None))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that looks like that of an entailment model, without weights."""
    labels = {"0": "CONTRADICTION", "1": "NEUTRAL", "2": "ENTAILMENT"}
    (tmp_path / "config.json").write_text(json.dumps({"id2label": labels}))
    (tmp_path / "model.safetensors").write_bytes(b"")
    return tmp_path


@pytest.mark.parametrize("missing", [["torch"], ["transformers"], ["torch", "transformers"]])
def test_check_without_the_extra_names_option_and_what_to_install(
    missing: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = ModuleSpec("any", None)
    monkeypatch.setattr(entailment_weights, "find_spec", lambda name: None if name in missing else spec)
    message = (
        f"--taskgraph-paged-nli: entailment models need {' and '.join(missing)}, which this extra installs: "
        "pip install pytest-taskgraph-bench[nli]"
    )
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        check_entailment_rule(str(folder))


def test_check_of_folder_with_entailment_labels_loads_nothing(
    installed: None, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conflict_rules, "load_entailment_model", None)
    check_entailment_rule(str(folder))


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ('{"id2label": {"0": "no", "1": "yes"}}', "found the labels no, yes; expected entailment, neutral, contrad"),
        ('{"id2label": {"a": "ENTAILMENT", "b": "NEUTRAL", "c": "CONTRADICTION"}}', "found the labels contradiction,"),
        ("{}", "found the labels none; expected entailment, neutral, contradiction"),
        ("[" * 100_000, "config.json cannot be read"),
        ("{", "config.json cannot be read"),
    ],
)
def test_check_of_another_kind_of_model_names_option_and_labels(
    config: str, message: str, installed: None, folder: Path
) -> None:
    (folder / "config.json").write_text(config)
    with pytest.raises(UsageError, match=f"^--taskgraph-paged-nli: the entailment model .*{re.escape(message)}"):
        check_entailment_rule(str(folder))


def test_check_of_folder_without_safetensors_names_option(installed: None, folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    with pytest.raises(UsageError, match=r"^--taskgraph-paged-nli: the local model .* has no \*\.safetensors"):
        check_entailment_rule(str(folder))


def test_conflict_rule_nli_loads_its_model_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []

    def load(name: str) -> StatedModel:
        loaded.append(name)
        return StatedModel({("it rains", "it snows"): CONTRADICTION})

    monkeypatch.setattr(conflict_rules, "load_entailment_model", load)
    conflict_rules._loaded_judge.cache_clear()
    try:
        rules = [conflict_rule("nli"), conflict_rule("nli"), conflict_rule("nli", "mine")]
        assert loaded == [NLI.default, "mine"]
        assert {rule.find_conflict("it snows", "it rains") for rule in rules} == {"conflict"}
    finally:
        conflict_rules._loaded_judge.cache_clear()


def settings(**own: str | int | tuple[str, ...]) -> Settings:
    return Settings(own={f"paged-{name}": value for name, value in own.items()})


def test_family_check_verifier_without_extra_is_refused_where_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entailment_weights, "find_spec", lambda name: None)
    for methods in (("refine",), ("all",)):
        with pytest.raises(UsageError, match="--taskgraph-paged-nli: entailment models need torch"):
            paged.check(settings(method=methods, nli="mine"))
    paged.check(settings(method=("extract",), nli="mine"))
    paged.check(settings(method=("refine",)))


def test_family_check_more_rounds_than_tables_show_is_refused() -> None:
    paged.check(settings(method=("refine",), rounds=5))
    with pytest.raises(UsageError, match=r"^--taskgraph-paged-rounds: 6; expected at most 5$"):
        paged.check(settings(method=("refine",), rounds=6))
