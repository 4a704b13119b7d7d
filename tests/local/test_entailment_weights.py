"""Entailment models of transformers: tiny ones with random weights."""

from __future__ import annotations

import json
from itertools import combinations, pairwise, permutations
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra nli is not installed")
transformers = pytest.importorskip("transformers", reason="the extra nli is not installed")

from tiny_language_model import whole_words  # noqa: E402

from pytest_taskgraph.errors import UsageError  # noqa: E402
from pytest_taskgraph.families.paged.document_quality.quality_metrics import fine_scores  # noqa: E402
from pytest_taskgraph.families.paged.entailment_models.entailment_weights import (  # noqa: E402
    LocalEntailmentModel,
    load_entailment_model,
)
from pytest_taskgraph.families.paged.refinement.conflict_rules import check_entailment_rule  # noqa: E402
from pytest_taskgraph.families.paged.refinement.refine_episode import conflict_rule  # noqa: E402

WORDS = ("[PAD]", "[CLS]", "[SEP]", *"abcdefghijklmnopqrstuvwxyz")
LABELS = {0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"}
POSITIONS = 24


def save_nli(folder: Path, labels: dict[int, str] | None = None) -> Path:
    """Save a tiny BERT of sequence classification with random weights that takes 24 tokens."""
    from tokenizers.processors import TemplateProcessing

    plain = whole_words(WORDS)
    plain.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(mark, plain.token_to_id(mark)) for mark in ("[CLS]", "[SEP]")],
    )
    wrapped = transformers.PreTrainedTokenizerFast(
        tokenizer_object=plain, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]",
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )  # fmt: skip
    label_names = LABELS if labels is None else labels
    config = transformers.BertConfig(
        vocab_size=len(wrapped), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=POSITIONS, initializer_range=1.0, id2label=label_names,
        label2id={label: place for place, label in label_names.items()},
    )  # fmt: skip
    torch.manual_seed(0)
    transformers.BertForSequenceClassification(config).save_pretrained(str(folder))
    wrapped.save_pretrained(str(folder))
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_nli(tmp_path_factory.mktemp("nli"))


@pytest.fixture(scope="module")
def model(folder: Path) -> LocalEntailmentModel:
    return load_entailment_model(str(folder))


def test_judge_labels_equal_model(folder: Path, model: LocalEntailmentModel) -> None:
    (judgement,) = model.judge("a b c", ["d"])
    plain = transformers.AutoModelForSequenceClassification.from_pretrained(str(folder)).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder))
    with torch.inference_mode():
        values = torch.softmax(plain(**tokenizer("a b c", "d", return_tensors="pt")).logits[0], dim=-1).tolist()
    assert [judgement.contradiction, judgement.neutral, judgement.entailment] == pytest.approx(values, abs=1e-6)
    assert sum(values) == pytest.approx(1.0)
    assert model.judge("d", ["a b c"])[0] != judgement


def test_judge_long_premise_is_split_into_covering_parts(model: LocalEntailmentModel) -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    windows = model._windows(" ".join(letters), "a b")
    read = [model._tokenizer.convert_ids_to_tokens(ids) for ids, _ in windows]
    assert len(windows) > 1
    assert all(len(ids) <= POSITIONS for ids, _ in windows)
    assert all(tokens[-4:] == ["[SEP]", "a", "b", "[SEP]"] for tokens in read)
    assert set(pairwise(letters)) <= {pair for tokens in read for pair in pairwise(tokens)}
    (judgement,) = model.judge(" ".join(letters), ["a b"])
    alone = [model._probabilities(ids, types) for ids, types in windows]
    assert judgement in alone
    assert max(judgement.entailment, judgement.contradiction) == max(
        max(scores.entailment, scores.contradiction) for scores in alone
    )


def test_judge_roberta_accepts_long_premises_with_padding(tmp_path: Path) -> None:
    save_nli(tmp_path)
    config = transformers.RobertaConfig(
        vocab_size=64, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=POSITIONS + 2, type_vocab_size=2, pad_token_id=1, id2label=LABELS,
        label2id={label: place for place, label in LABELS.items()},
    )  # fmt: skip
    transformers.RobertaForSequenceClassification(config).save_pretrained(str(tmp_path))
    model = load_entailment_model(str(tmp_path))
    assert max(len(ids) for ids, _ in model._windows("c " * 100, "a b")) == POSITIONS
    assert len(model.judge("c " * 100, ["a b", "d"])) == 2


def test_judge_long_hypothesis_is_refused(model: LocalEntailmentModel) -> None:
    with pytest.raises(UsageError, match="a sentence of 20 tokens leaves no room for a document; it takes 24 tokens"):
        model.judge("a", ["b " * 20])


def test_fine_scores_of_local_model_are_numbers(model: LocalEntailmentModel) -> None:
    scores = fine_scores(model, ["a b.", "c d."], "A b. C d. E f.")
    assert (scores.fragments, scores.sentences) == (2, 3)
    assert 0.0 <= (scores.confidence or 0.0) <= 1.0


def test_load_entailment_model_other_labels_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="found the labels negative, positive; expected entailment, neutral, contrad"):
        load_entailment_model(str(save_nli(tmp_path, {0: "negative", 1: "positive"})))


def test_load_entailment_model_without_a_head_is_refused(tmp_path: Path) -> None:
    save_nli(tmp_path)
    base: Any = transformers.BertModel.from_pretrained(str(tmp_path))
    config = json.loads((tmp_path / "config.json").read_text())
    base.save_pretrained(str(tmp_path))
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(UsageError, match=r"the weights lack classifier\.bias; expected a model that was trained"):
        load_entailment_model(str(tmp_path))


def test_load_entailment_model_unknown_name_is_refused() -> None:
    with pytest.raises(UsageError, match="there is no such folder, and the local cache holds no model of that name"):
        load_entailment_model("nobody/no-such-model")


def test_check_entailment_rule_unknown_name_states_download() -> None:
    message = r"^--taskgraph-paged-nli: the local model 'nobody/no-such-model': .* hf download nobody/no-such-model$"
    with pytest.raises(UsageError, match=message):
        check_entailment_rule("nobody/no-such-model")


def test_conflict_rule_of_local_model_follows_labels(folder: Path, model: LocalEntailmentModel) -> None:
    rule = conflict_rule("nli", str(folder))
    letters = "abcdefgh"
    verdicts = {pair: rule.find_conflict(*pair) for pair in combinations(letters, 2)}
    scores = {pair: model.judge(pair[0], [pair[1]])[0] for pair in permutations(letters, 2)}
    contradictions = {
        pair
        for pair, judgement in scores.items()
        if judgement.contradiction > max(judgement.entailment, judgement.neutral)
    }
    for pair, verdict in verdicts.items():
        expected = "conflict" if {pair, pair[::-1]} & contradictions else "no conflict"
        assert verdict == expected
    assert {*verdicts.values()} == {"conflict", "no conflict"}


def test_conflict_rule_of_local_model_skips_long_conditions(folder: Path) -> None:
    rule = conflict_rule("nli", str(folder))
    assert rule.find_conflict("a b", "c " * 40) == "unknown"
    assert rule.find_conflict("a b", "c d") != "unknown"
