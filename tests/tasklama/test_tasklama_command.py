from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from described_runs import about_run
from sentence_stand_in import Encoder, forget_models, save_sentence_model, sentence_stand_in
from tasklama_episodes import make_question, numbered, run_episode

from pytest_taskgraph.asking import Episode
from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.families.tasklama.sequences.filter_fit import fit_filter, sampled_tasks
from pytest_taskgraph.families.tasklama.sequences.filter_model import FEATURES, read_filter
from pytest_taskgraph.families.tasklama.sequences.multiple_sequences import multseq
from pytest_taskgraph.families.tasklama.sequences.sample_filter import filter_best, filter_best_logprob
from pytest_taskgraph.families.tasklama.tasklama_command import arguments, run
from pytest_taskgraph.plugin.asking.ask import AskResult, trial_of
from pytest_taskgraph.results.record import build, save
from pytest_taskgraph.scoring.task_graphs.step_matching import resolve_similarity
from pytest_taskgraph.trial import Json, Question, Reply, Request, Trial

VERBS = ["boil", "cut", "dry", "fill", "glue", "heat", "lift", "mix", "open", "paint"]


def gold(task: int) -> list[str]:
    return [f"{verb} part {task}x{at}" for at, verb in enumerate(VERBS[:6])]


def question_of(task: int, episode: str = "multseq", split: str = "train", **settings: Json) -> Question:
    stated: dict[str, Json] = {"title": f"Build {task}", "context": ["At home"], "split": split, "sequences": 4}
    return replace(
        make_question(stated | settings),
        id=f"q{task}-{episode}",
        group=episode,
        episode=f"{episode}+embeddings",  # how it is put is another matter
        reference={"steps": [*gold(task)], "dependencies": [], "similarity": "lexical"},
        cluster=f"c{task}",
    )


def samples(task: int, number: int = 4) -> list[str]:
    """Sequences that hold 1 to 4 or more gold steps; what they hold instead says nothing, and is long."""
    rng = Random(f"samples|{task}")
    texts = []
    for at in range(number):
        steps = rng.sample(gold(task), 1 + at % 5)
        texts.append(numbered(*steps, *(f"you think about noise {number} a lot" for number in range(5 - at % 5))))
    rng.shuffle(texts)
    return texts


def trial(question: Question, texts: Sequence[str], episode: Episode = multseq, model: str = "m") -> Trial:
    transcript, exchanges = run_episode(episode, question, texts)
    return trial_of(question, model, AskResult(transcript, None, exchanges))[0]


def record_of(folder: Path, trials: Sequence[Trial]) -> Path:
    path = folder / "record.json"
    save(path, build(trials, about_run()))
    return path


def fit(*words: str | Path) -> int:
    parser = argparse.ArgumentParser()
    arguments(parser)
    return run(parser.parse_args(["fit", *map(str, words)]))


def test_fit_record_writes_coefficients_that_pick_better_samples(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = record_of(tmp_path, [trial(question_of(task), samples(task)) for task in range(12)])
    assert fit(record, "--out", tmp_path / "filter.json") == 0
    out, err = capsys.readouterr()
    assert "fitted to 48 sequences of 12 tasks, ridge " in out
    assert f"coefficients written to {tmp_path / 'filter.json'}" in out
    assert err == ""
    coefficients = json.loads((tmp_path / "filter.json").read_text("utf-8"))
    assert coefficients["features"] == [*FEATURES]
    assert (coefficients["format"], coefficients["tasks"], coefficients["sequences"]) == (1, 12, 48)
    assert coefficients["correlation"] > 0.9
    assert coefficients["cross_validated_r2"] > 0.8
    assert coefficients["mean_f1"] < coefficients["picked_f1"] <= coefficients["best_f1"]

    model = read_filter(tmp_path / "filter.json")
    question = question_of(99, "filter", samples=4, filter=model.to_json())
    transcript, _ = run_episode(filter_best, question, samples(99))
    sampled_trial = trial(question, samples(99), filter_best)
    assert sampled_trial.score is not None
    assert sampled_trial.score.value == pytest.approx(transcript.metrics["best_sample_f1"])


def test_fit_sentence_model_option_names_folder_of_similarity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with sentence_stand_in(monkeypatch):
        monkeypatch.setattr(Encoder, "vectors", defaultdict(lambda: [1.0]))
        folder = save_sentence_model(tmp_path / "mini")
        name = resolve_similarity(f"sentence-transformers:{folder}")
        graph: dict[str, Json] = {"steps": [*gold(0)], "dependencies": [], "similarity": name}
        questions = [replace(question_of(task), reference=graph) for task in range(3)]
        record = record_of(tmp_path, [trial(each, samples(at)) for at, each in enumerate(questions)])
        forget_models()
        with pytest.raises(UsageError, match="name its folder with --sentence-model"):
            fit(record, "--out", tmp_path / "filter.json")
        assert fit(record, "--out", tmp_path / "filter.json", "--sentence-model", folder) == 0


def test_fit_same_record_writes_same_file(tmp_path: Path) -> None:
    record = record_of(tmp_path, [trial(question_of(task), samples(task)) for task in range(3)])
    assert fit(record, "--out", tmp_path / "a.json") == fit(record, "--out", tmp_path / "b.json") == 0
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_fit_without_a_named_file_writes_filter_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = record_of(tmp_path, [trial(question_of(task), samples(task)) for task in range(3)])
    monkeypatch.chdir(tmp_path)
    assert fit(record) == 0
    assert read_filter(tmp_path / "filter.json").to_json()["features"] == [*FEATURES]


def test_fit_few_tasks_of_another_split_are_warned_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = record_of(tmp_path, [trial(question_of(1, split="test"), samples(1))])
    fit(record, "--out", tmp_path / "filter.json")
    out, err = capsys.readouterr()
    assert "cross-validated: R2 undefined, correlation undefined" in out
    assert err.splitlines() == [
        "warning: 1 task; a fit to fewer than 10 is unreliable for other tasks",
        "warning: tasks of the split test; fit to those of train, and rank others",
        "warning: one cluster of tasks; nothing is cross-validated",
    ]


def test_fit_file_that_stands_is_replaced_by_force_alone(tmp_path: Path) -> None:
    record = record_of(tmp_path, [trial(question_of(1), samples(1))])
    out = tmp_path / "filter.json"
    out.write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match=r"filter\.json: exists already; .* --force"):
        fit(record, "--out", out)
    assert out.read_text("utf-8") == "mine"
    fit(record, "--out", out, "--force")
    assert json.loads(out.read_text("utf-8"))["tasks"] == 1


def test_fit_record_without_sequences_is_refused(tmp_path: Path) -> None:
    other = replace(question_of(1), family="other")
    icl = question_of(2, "icl")
    silent = trial(question_of(3), [""] * 4)
    record = record_of(tmp_path, [trial(other, samples(1)), trial(icl, samples(2)), silent])
    with pytest.raises(UsageError, match=r"record\.json: holds no sequences of steps; record a run such as: pytest"):
        fit(record, "--out", tmp_path / "filter.json")
    assert not (tmp_path / "filter.json").exists()


def test_fit_record_that_is_missing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no such record"):
        fit(tmp_path / "none.json", "--out", tmp_path / "filter.json")


def test_sampled_tasks_take_the_trial_of_a_task_with_the_most_sequences() -> None:
    few, many = question_of(1, sequences=2), question_of(1, "filter_logprob", samples=4)

    def answer(request: Request) -> Reply:
        if request.kind == "score":
            return Reply("", logprobs=[[-1.0, 1, None]] * len(request.texts))
        return Reply(samples(1)[request.repetition - 1])

    transcript, exchanges = run_episode(filter_best_logprob, many, answer)
    trials = [
        trial(few, samples(1)),
        trial_of(many, "m", AskResult(transcript, None, exchanges))[0],
        trial(question_of(1), ["no", *samples(1)[1:]], model="n"),
    ]
    sampled = sampled_tasks(trials, "tasklama")
    assert [len(task.sequences) for task in sampled] == [4, 4]
    assert sampled[0].title == "Build 1"
    assert (sampled[0].context, sampled[0].cluster, sampled[0].split) == (("At home",), "c1", "train")


def test_sampled_tasks_reply_that_could_not_be_read_is_left_out() -> None:
    (sampled,) = sampled_tasks(
        [trial(question_of(1), ["", "???", "1. go", "I'm sorry, but I can't help."])], "tasklama"
    )
    assert sampled.sequences == (("go",),)


def test_sampled_tasks_title_that_is_missing_is_told() -> None:
    with pytest.raises(UsageError, match="question q1-multseq: episode_settings has no title"):
        sampled_tasks([trial(question_of(1, title=None), samples(1))], "tasklama")


def test_fit_filter_similarity_of_an_embedder_falls_back_to_words() -> None:
    question = question_of(1)
    sampled_trial = trial(question, samples(1))
    assert isinstance(question.reference, dict)
    embedded = replace(
        sampled_trial, question=replace(question, reference=question.reference | {"similarity": "embeddings"})
    )
    assert fit_filter(sampled_tasks([embedded], "tasklama")) == fit_filter(sampled_tasks([sampled_trial], "tasklama"))


def test_fit_filter_equal_scores_have_no_correlation() -> None:
    tasks = sampled_tasks([trial(question_of(task), ["1. sleep"] * 4) for task in range(3)], "tasklama")
    fit = fit_filter(tasks)
    assert (fit.r2, fit.correlation, fit.mean) == (None, None, 0.0)
    assert json.loads(json.dumps(fit.to_json(), allow_nan=False)) == fit.to_json()
