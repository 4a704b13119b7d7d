"""Omissions and hallucinations by an entailment model (FINE), and the extra that its loader needs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
from document_graphs import graph_of

from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.families.paged.document_quality.quality_metrics import (
    FineScores,
    fine_scores,
    fragment_sentences,
    split_sentences,
)
from pytest_taskgraph.families.paged.entailment_models import entailment_weights
from pytest_taskgraph.families.paged.entailment_models.entailment_scores import EntailmentScores
from pytest_taskgraph.families.paged.entailment_models.entailment_weights import load_entailment_model


class WordOverlap:
    """A model to which a text is entailed as far as its words stand in the premise."""

    name = "overlap"

    def __init__(self) -> None:
        self.premises: list[str] = []

    def judge(self, premise: str, hypotheses: Sequence[str]) -> list[EntailmentScores]:
        self.premises.append(premise)
        known_words = set(re.findall(r"\w+", premise.lower()))
        shares = [
            len(known_words & set(words)) / len(set(words))
            for words in (re.findall(r"\w+", text.lower()) for text in hypotheses)
        ]
        return [EntailmentScores(share, 1 - share, 0.0) for share in shares]


FRAGMENTS = ("Inspect the goods.", "Pay the refund.")


def test_fine_scores_fragment_that_document_lacks_is_omitted() -> None:
    model = WordOverlap()
    scores = fine_scores(model, FRAGMENTS, "First inspect the goods.")
    assert scores == FineScores(2, ("Pay the refund.",), 1, (), 1 / 3)
    assert (scores.omission, scores.hallucination) == (0.5, 1.0)
    assert model.premises == ["First inspect the goods.", "Inspect the goods. Pay the refund."]


def test_fine_scores_sentence_that_fragments_lack_is_hallucinated() -> None:
    scores = fine_scores(WordOverlap(), FRAGMENTS, "Inspect the goods. Pay the refund. Call a friendly lawyer today.")
    assert (scores.omitted, scores.hallucinated) == ((), ("Call a friendly lawyer today.",))
    assert (scores.omission, scores.hallucination, scores.confidence) == (1.0, 1 - 1 / 3, 0.0)


def test_fine_scores_probability_of_one_half_is_no_entailment() -> None:
    assert fine_scores(WordOverlap(), ["pay gold"], "pay").omitted == ("pay gold",)


def test_fine_scores_empty_document_omits_everything() -> None:
    model = WordOverlap()
    scores = fine_scores(model, FRAGMENTS, " ")
    assert scores == FineScores(2, FRAGMENTS, 0, (), 0.0)
    assert (scores.omission, scores.hallucination, model.premises) == (0.0, None, [])


def test_fine_scores_no_fragments_and_no_document_are_undefined() -> None:
    scores = fine_scores(WordOverlap(), (), "")
    assert (scores.omission, scores.hallucination, scores.confidence) == (None, None, None)


@pytest.mark.parametrize(
    "scores", [[], [EntailmentScores(1.5, 0.0, 0.0)] * 2, [EntailmentScores(float("nan"), 0, 0)] * 2]
)
def test_fine_scores_model_without_probabilities_is_refused(scores: list[EntailmentScores]) -> None:
    class Broken:
        name = "broken"

        def judge(self, premise: str, hypotheses: Sequence[str]) -> list[EntailmentScores]:
            return scores

    with pytest.raises(UsageError, match="the entailment model broken: expected 2 probabilities from 0 to 1"):
        fine_scores(Broken(), FRAGMENTS, "Inspect the goods.")


def test_fragment_sentences_beginning_of_one_stands_with_what_follows() -> None:
    graph = graph_of(
        "Start -> XOR1\nXOR1 -> (it rains) wait\nXOR1 -> (it is dry) go\nwait -> XOR2\ngo -> XOR2\nXOR2 -> End"
    )
    sentences = fragment_sentences(graph)
    assert any("it rains" in text and "wait" in text for text in sentences)
    assert all(text.endswith(".") for text in sentences)


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ("One. Two!\nThree?", ["One.", "Two!", "Three?"]),
        ("Wait, e.g. at noon. Go.", ["Wait, e.g. at noon.", "Go."]),
        ("Pay 2.5 euros.", ["Pay 2.5 euros."]),
        (" ", []),
    ],
)
def test_split_sentences_document_gives_its_sentences(document: str, expected: list[str]) -> None:
    assert split_sentences(document) == expected


@pytest.mark.parametrize("piece", [". ", ".\n\n\n", '."', "! \t "])
def test_split_sentences_long_hostile_document_is_cut(piece: str) -> None:
    assert sum(map(len, split_sentences(f"One{piece * 300_000}"))) <= 100_000


@pytest.mark.parametrize("missing", [["torch"], ["transformers"], ["torch", "transformers"]])
def test_load_entailment_model_without_the_extra_names_it(
    missing: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = ModuleSpec("any", None)
    monkeypatch.setattr(entailment_weights, "find_spec", lambda name: None if name in missing else spec)
    message = f"entailment models need {' and '.join(missing)}, which this extra installs: "
    with pytest.raises(UsageError, match=re.escape(f"{message}pip install pytest-taskgraph-bench[nli]")):
        load_entailment_model(str(tmp_path))


def test_load_entailment_model_pickled_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "pytorch_model.bin").write_bytes(b"code")
    monkeypatch.setattr(entailment_weights, "find_spec", lambda name: ModuleSpec("any", None))
    with pytest.raises(UsageError, match=r"has no \*\.safetensors, and no other weights are read"):
        load_entailment_model(str(tmp_path))
