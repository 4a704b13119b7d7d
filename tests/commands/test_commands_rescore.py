from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from described_runs import about_run
from record_schema_file import record_validator
from sentence_stand_in import Encoder, forget_models, save_sentence_model, sentence_stand_in

from pytest_taskgraph.__main__ import main
from pytest_taskgraph.benchmarks.contract import pack_diagram_pair
from pytest_taskgraph.benchmarks.family import Family, QuestionReference
from pytest_taskgraph.benchmarks.settings import Settings
from pytest_taskgraph.catalog import registrations
from pytest_taskgraph.commands.rescore import rescore, rescore_trial, score_changes
from pytest_taskgraph.commands.rescore.outcome_lines import MOST
from pytest_taskgraph.diagram import Diagram, DiagramNode, DiagramPair
from pytest_taskgraph.families import FAMILIES
from pytest_taskgraph.families.understanding.patterns import catalogue
from pytest_taskgraph.families.understanding.understanding_family import understanding
from pytest_taskgraph.families.understanding.understanding_settings import UnderstandingSettings
from pytest_taskgraph.models.store.schema import open_store
from pytest_taskgraph.results import record
from pytest_taskgraph.results.record import saved
from pytest_taskgraph.results.record.json_values import LONGEST_REPLY
from pytest_taskgraph.scoring.forms import form
from pytest_taskgraph.scoring.grade import annotate, score_reply
from pytest_taskgraph.scoring.measurement import Measurement, declares
from pytest_taskgraph.scoring.metrics import METRICS
from pytest_taskgraph.scoring.task_graphs.step_matching import resolve_similarity
from pytest_taskgraph.trial import Failure, Json, Parsing, Question, Reply, Score, Trial

ABOUT = about_run("1.0", models=("any",), settings={"instances": 1})
PROMPTS = ("chain-of-thought", "direct", "answer-first")
REPLIES = (
    "",
    "I'm sorry, but I can't help with that.",
    "Final answer: yes",
    "final ANSWER: **none**, for all I know",
    "<script>\x1b[31m]]>\u202e \ud800",
    "Final answer: " + ", ".join(f"Task{n}" for n in range(40)),
    "word " * 5000,
)


def questions_of(prompt: str, *, every: bool) -> tuple[Question, ...]:
    """A question of every pattern, else of one for each form and metric."""
    ours = [pattern for pattern in catalogue().values() if pattern.category != "custom"]
    if not every:  # the prompts differ in where the answer stands, which the forms read
        ours = list({(pattern.form, pattern.metric): pattern for pattern in ours}.values())
    chosen = UnderstandingSettings(prompt=prompt, seed=5, instances=1)
    return tuple(
        understanding.question(reference, chosen) for reference in understanding.references(chosen, {"patterns": ours})
    )


def answered(question: Question, text: str, **reply: Any) -> Trial:  # noqa: ANN401 - fields of Reply
    return score_reply(question, Reply(text, **reply), "any")[0]


def built(*trials: Trial) -> dict[str, Any]:
    """The record of the trials, as a file holds it."""
    data: dict[str, Any] = json.loads(json.dumps(record.build(trials, ABOUT)))
    return data


def ideal(question: Question) -> str:
    return f"Final answer: {form(question.form).write(question.reference, question.names)}"


def question(number: int = 0, parsing: Parsing = "lenient") -> Question:
    return Question(
        f"q-{number:03}", "understanding", "next_tasks", "structure", "Which?", "Which?", "task-set", ["Bake", "Mix"],
        "correctness", ["jaccard"], names=["Bake", "Mix", "Eat"], parsing=parsing,
    )  # fmt: skip


def open_question() -> Question:
    return replace(
        question(),
        form="text",
        reference="It bakes the bread.",
        metric="rouge1",
        further=["rouge_l"],
        pass_threshold=0.5,
    )


def stale(number: int, **said: Any) -> Trial:  # noqa: ANN401 - fields of Trial
    """A right answer that a reader of another day did not understand."""
    trial = answered(question(number), "Final answer: Bake, Mix")
    return replace(trial, outcome="unparseable", score=Score(0.0, {"jaccard": 0.0}, status="unparseable"), **said)


def variants(asking: Question) -> Iterator[Trial]:
    yield answered(asking, ideal(asking))
    for number, text in enumerate(REPLIES, 1):
        other = replace(asking, id=f"{asking.id}-{number}")
        yield answered(other, text)
        yield answered(replace(other, id=f"{other.id}-cut"), text, finish_reason="length")


@pytest.mark.parametrize(
    ("prompt", "every"),
    [*((prompt, False) for prompt in PROMPTS), pytest.param(PROMPTS[0], True, marks=pytest.mark.exhaustive)],
)
def test_rescore_fresh_record_is_unchanged(prompt: str, every: bool) -> None:
    trials = [trial for asking in questions_of(prompt, every=every) for trial in variants(asking)]
    assert {trial.outcome for trial in trials} == {"right", "wrong", "graded", "unparseable", "refused", "error"}
    old = built(*trials)
    new, remarked = rescore(old)
    assert {result.skip_reason.partition(" (")[0] for result in remarked} == {
        "",
        "whose reply was shortened in the record",
    }
    assert score_changes(old, new) == []
    assert new == old


def test_rescore_updates_outcome_score_and_totals() -> None:
    new, _ = rescore(built(stale(0), answered(question(1), "Final answer: Eat")))
    first, second = record.trials(new)
    assert first == answered(question(0), "Final answer: Bake, Mix")
    assert second.outcome == "wrong"
    (total,) = new["totals"]
    assert (total["right"], total["wrong"], total["unparseable"], total["mean"]) == (1, 1, 0, 0.5)
    record_validator().validate(new)


def test_rescore_parsing_option_applies_to_all() -> None:
    trial = answered(question(), "**Final Answer**: Bake, Mix")
    new, _ = rescore(built(trial), "strict")
    (now,) = record.trials(new)
    strict = answered(question(parsing="strict"), "**Final Answer**: Bake, Mix")
    assert (trial.outcome, strict.outcome) == ("right", "wrong")
    assert now == strict
    assert new["parsing"] == "strict"


def test_rescore_text_metric_keeps_former_metrics() -> None:
    trial = answered(open_question(), "Final answer: It bakes a cake.")
    new, _ = rescore(built(trial, answered(question(1), "Final answer: Mix")), metrics=("rouge2", "rouge_l"))
    now, other = record.trials(new)
    assert (now.question.metric, now.question.further) == ("rouge2", ["rouge_l", "rouge1"])
    assert now.score is not None
    assert trial.score is not None
    assert now.score.metrics["rouge1"] == trial.score.value
    assert other.question.metric == "correctness"
    assert new["settings"] == {"instances": 1, "text_metric": ["rouge2", "rouge_l"]}


def judged_trial(text: str, value: float | None = 0.75) -> Trial:
    asking = replace(open_question(), metric="judge", further=["rouge1", "cosine"], judged=["judge", "cosine"])
    scored, _ = score_reply(asking, Reply(text), "any", 3, {"judge": value, "cosine": 0.25})
    exchanges: list[dict[str, Any]] = [
        {"role": "judge", "messages": [], "metric": "judge", "value": value},
        {"role": "embedder", "messages": [], "metric": "cosine", "value": 0.25},
    ]
    return replace(scored, exchanges=exchanges)


@pytest.mark.parametrize("value", [0.75, 0.0, None])
def test_rescore_trial_keeps_measured_values(value: float | None) -> None:
    trial = judged_trial("Final answer: It bakes a cake.", value)
    rescored = rescore_trial(trial, trial.question)
    assert rescored.skip_reason == ""
    assert rescored.after == trial


def test_rescore_trial_measured_value_needs_same_answer() -> None:
    trial = judged_trial("Final answer: It bakes a cake.")
    assert trial.score is not None
    other = replace(trial, score=replace(trial.score, given="It bakes."))
    rescored = rescore_trial(other, other.question)
    assert (rescored.after, rescored.skip_reason) == (other, "that a model has to measure again")


def test_rescore_replaces_named_values_and_parts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, shares = tmp_path / "run.json", [0.25]

    @declares("depth")
    def steps(given: Json, reference: Json) -> Measurement:
        return Measurement(0.5, {"depth": shares[-1]}, {"steps": (4 * shares[-1], 4)})

    with registrations() as catalogs:
        catalogs.add(METRICS.kind, "steps", steps, "tests")
        asking = replace(question(), metric="steps", further=[])
        trial = answered(asking, "Final answer: Bake")
        shares.append(0.75)
        now = rescore_trial(trial, asking).after.score
        assert now is not None
        assert (now.metrics, now.parts) == ({"depth": 0.75}, {"steps": [3.0, 4.0]})
        record.save(path, built(trial))
        assert main(["rescore", str(path)]) == 0
    assert "; other metrics: depth; other parts: steps" in capsys.readouterr().out


def test_rescore_trial_unmeasured_answer_is_skipped() -> None:
    trial = judged_trial("Final answer: It bakes a cake.")
    unread = replace(trial, outcome="unparseable", score=Score(0.0, status="unparseable"), exchanges=[])
    assert rescore_trial(unread, unread.question).skip_reason == "that a model has to measure again"
    failed = replace(trial, outcome="error", failure=Failure("timeout", "the judge"), score=None, exchanges=[])
    assert rescore_trial(failed, failed.question).after == failed


def test_rescore_keeps_annotations_and_tool_values() -> None:
    trial = stale(0)
    beside = {"specifications_read": 1.0}
    parts = {"tool_calls": [3.0, 4.0]}
    trial = replace(trial, score=Score(0.0, {"jaccard": 0.0, **beside}, parts, status="unparseable"))
    now = rescore_trial(annotate(trial, 0.5), trial.question).after
    assert now.outcome == "wrong"
    assert now.score is not None
    assert now.score.value == 0.5
    assert now.score.metrics == {"jaccard": 1.0, "correctness": 1.0, "manual": 0.5, **beside}
    assert now.score.parts == parts


def test_rescore_skipped_trials_are_counted_with_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    long = answered(question(0), "Final answer: Bake, Mix\n" + "so " * 9000)
    silent = Trial(question(1), "any", "error", failure=Failure("connection", "gone"))
    strange = answered(question(2), "Final answer: Mix")
    strange = replace(strange, question=replace(strange.question, form="limerick"))
    old = built(long, silent, strange, stale(3))
    path = tmp_path / "r.json"
    record.save(path, old)
    assert main(["rescore", str(path), "--check"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == [
        "1 answer scored again",
        "1 question whose form or metric is not known here: kept as they are",
        "1 question whose reply was shortened in the record (over 20,000 characters): kept as they are",
        "1 question without a reply: kept as they are",
    ]
    new, _ = rescore(old)
    assert new["trials"][:3] == old["trials"][:3]


def test_rescore_long_whole_reply_is_scored(tmp_path: Path) -> None:
    trial = stale(0)
    whole = "x" * 19_976 + "\nFinal answer: Bake, Mix"
    assert len(whole) == LONGEST_REPLY
    assert rescore_trial(replace(trial, reply=Reply(whole)), trial.question).after.outcome == "right"


class Drawing(Family):
    """Draws the names of an answer, a node each."""

    name = "drawing"

    def references(self, settings: Settings, options: Mapping[str, Any]) -> Sequence[QuestionReference]:
        return []

    def question(self, reference: QuestionReference, settings: Settings) -> Question:
        raise NotImplementedError

    def diagram_pair(self, question: Question, score: Score) -> DiagramPair | None:
        return DiagramPair(*(Diagram("Names", [DiagramNode(str(name), str(name)) for name in names])
                             for names in (question.reference, score.given) if isinstance(names, list)))  # fmt: skip


def test_rescore_draws_new_answer_or_drops_drawing() -> None:
    drawing_question = replace(question(), family="drawing")
    unchanged, changed = (
        answered(drawing_question, "Final answer: Bake, Eat"),
        answered(drawing_question, "Final answer: Bake"),
    )
    with registrations() as catalogs:
        catalogs.add(FAMILIES.kind, "drawing", Drawing(), "tests")
        unchanged = replace(unchanged, diagram_pair=pack_diagram_pair(Drawing(), unchanged))
        changed = replace(
            changed,
            question=replace(drawing_question, id="q-001"),
            diagram_pair=unchanged.diagram_pair,
            score=unchanged.score,
        )
        new, _ = rescore(built(unchanged, changed))
        names = [[node["id"] for node in trial["diagram_pair"]["given"]["nodes"]] for trial in new["trials"]]
        assert names == [["Bake", "Eat"], ["Bake"]]
    elsewhere, _ = rescore(built(unchanged, changed))
    assert ["diagram_pair" in trial for trial in elsewhere["trials"]] == [True, False]


def test_rescore_keeps_fields_of_later_versions() -> None:
    old = built(stale(0))
    old["diagrams"] = {"c": 1}
    old["trials"][0]["mood"] = old["trials"][0]["question"]["mood"] = "glad"
    new, _ = rescore(old)
    assert new["diagrams"] == {"c": 1}
    assert new["trials"][0]["mood"] == new["trials"][0]["question"]["mood"] == "glad"
    assert new["trials"][0]["outcome"] == "right"


def test_rescore_changed_scores_drop_gates() -> None:
    gates = [{"name": "gates::structure", "model": "any", "outcome": "passed", "reason": "1.000"}]
    fresh = {**built(answered(question(0), "Final answer: Mix")), "gates": gates}
    assert rescore(fresh)[0]["gates"] == gates
    assert rescore({**built(stale(0)), "gates": gates})[0]["gates"] == []


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A record of which 25 answers are marked otherwise today, and one as it was."""
    trials = [stale(number) for number in range(MOST + 5)]
    file = tmp_path / "record.json"
    record.save(file, record.build([*trials, answered(question(99), "Final answer: Eat")], ABOUT))
    return file


def test_rescore_text_shows_groups_and_first_changes(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rescore", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "26 answers scored again"
    assert [line.split() for line in lines[2:5]] == [
        ["pattern", "model", "n", "right", "now", "mean", "now"],
        ["next_tasks", "any", "26", "0", "25", "0.000", "0.962"],
        ["total", "any", "26", "0", "25", "0.000", "0.962"],
    ]
    assert lines[6] == "25 scores changed: 25 now right, 0 no longer right"
    assert lines[7] == (
        '  q-000 (any): unparseable 0.000, read as nothing -> right 1.000, read as ["Bake", "Mix"]; '
        "other metrics: jaccard"
    )
    assert lines[27:] == ["… and 5 more (--json lists all)"]


def test_rescore_json_lists_every_change(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rescore", str(path), "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    assert (output["rescored"], output["kept"], len(output["changed"])) == (26, [], 25)
    assert output["groups"][0] == {
        "name": "next_tasks", "model": "any",
        "before": {"n": 26, "right": 0, "mean": 0.0}, "after": {"n": 26, "right": 25, "mean": 25 / 26},
    }  # fmt: skip
    first = output["changed"][0]
    assert (first["before"]["outcome"], first["after"]["score"]["value"]) == ("unparseable", 1.0)


def test_rescore_out_record_is_stable(path: Path, tmp_path: Path) -> None:
    out = tmp_path / "new.json"
    assert main(["rescore", str(path), "--out", str(out), "--check"]) == 1
    record_validator().validate(record.load(out))
    assert main(["rescore", str(out), "--check"]) == 0


def test_rescore_existing_file_needs_force(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = path.read_bytes()
    assert main(["rescore", str(path), "--out", str(path)]) == 4
    assert "exists already" in capsys.readouterr().err
    assert path.read_bytes() == before
    assert main(["rescore", str(path), "--out", str(path), "--force"]) == 0
    assert path.read_bytes() != before


def test_rescore_hostile_reply_is_printable(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trial = answered(open_question(), "Final answer: \x1b[31m It bakes\u202e\x07 the\r bread.")
    record.save(tmp_path / "r.json", record.build([trial], ABOUT))
    main(["rescore", str(tmp_path / "r.json"), "--text-metric", "rouge2"])
    out = capsys.readouterr().out
    assert "rouge1" in out
    assert not {"\x1b", "\u202e", "\x07", "\r"} & set(out)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--text-metric", "rhyme"], "unknown text metric 'rhyme'; known: "),
        (["--text-metric", "judge"], "judge is measured by a model, and the record holds no values of it"),
        (["--parsing", "kind"], "invalid choice: 'kind'"),
    ],
)
def test_rescore_invalid_arguments_are_usage_errors(
    path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], expected: str
) -> None:
    assert main(["rescore", str(path), *arguments]) == 4
    assert expected in capsys.readouterr().err


def test_rescore_page_lists_every_option(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["rescore", "--help"])
    options = set(re.findall(r"--[a-z-]+", capsys.readouterr().out)) - {"--help"}
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "replies.md").read_text(encoding="utf-8")
    page = page.partition("## Score a record again")[2].partition("\n## ")[0]
    assert {option for option in re.findall(r"`(--[a-z-]+)", page) if not option.startswith("--taskgraph")} == options


def test_rescore_sentence_model_option_names_folder_of_similarity(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with sentence_stand_in(monkeypatch):
        Encoder.vectors.update({"stir": [1.0, 0.0], "boil": [0.6, 0.8]})
        folder = save_sentence_model(tmp_path / "mini")
        gold: dict[str, Json] = {
            "steps": ["stir"],
            "dependencies": [],
            "similarity": resolve_similarity(f"sentence-transformers:{folder}"),
        }
        steps = Question("q", "tasklama", "icl", "s", "?", "?", "task-graph", gold, "hungarian_f1", place="whole")
        record.save(tmp_path / "r.json", record.build([answered(steps, "1. boil")], ABOUT))
        forget_models()
        assert main(["rescore", str(tmp_path / "r.json")]) == 4
        assert "name its folder with --sentence-model" in capsys.readouterr().err
        assert main(["rescore", str(tmp_path / "r.json"), "--sentence-model", str(folder)]) == 0
        assert re.search(r"icl +any +1 .* 0\.600  0\.600", capsys.readouterr().out)


def test_rescore_file_without_record_is_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rescore", str(tmp_path / "none.json")]) == 4
    assert "none.json cannot be read" in capsys.readouterr().err


def test_rescore_saved_run_by_name(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["rescore", str(path)]) == 0
    output = capsys.readouterr().out
    saved.save(record.load(path), Path(".taskgraph"), "main")
    saved.save(record.load(path), Path("elsewhere"), "other")
    assert main(["rescore", "main"]) == 0
    assert capsys.readouterr().out == output
    assert main(["rescore", "other"]) == 4
    assert "unknown saved run 'other'; known: main" in capsys.readouterr().err
    open_store(Path("elsewhere")).close()
    assert main(["rescore", "other", "--store", "elsewhere"]) == 0
    assert capsys.readouterr().out == output


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_rescore_prints_path_of_new_record(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], form: list[str]
) -> None:
    out = tmp_path / "deep" / "new.json"
    assert main(["rescore", str(path), "--out", str(out), *form]) == 0
    output = capsys.readouterr()
    assert (output.err if form else output.out).splitlines()[-1] == f"written to {out}"
    assert not form or json.loads(output.out)
