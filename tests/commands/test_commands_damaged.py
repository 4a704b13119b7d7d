"""Records that were changed by hand or by accident: refused in one line where they are read, or of use to all."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from described_runs import WITH_TABLES, about_run
from odd_records import Place, changed
from record_schema_file import SCHEMA, record_validator

from pytest_taskgraph.__main__ import main
from pytest_taskgraph.commands.rescore import rescore, score_changes
from pytest_taskgraph.diagram import Diagram, DiagramEdge, DiagramGroup, DiagramNode, pack
from pytest_taskgraph.errors import TaskgraphError, UsageError
from pytest_taskgraph.reports import terminal
from pytest_taskgraph.reports.comparison_lines import lines
from pytest_taskgraph.reports.csv import csv, tables_csv
from pytest_taskgraph.reports.html import html
from pytest_taskgraph.reports.markdown import markdown
from pytest_taskgraph.results.case import RunCase
from pytest_taskgraph.results.comparison import compare
from pytest_taskgraph.results.record import about_of, build, load_whole, tally_of
from pytest_taskgraph.trial import Failure, Question, Reply, Score, Trial, digest_of

ODD: list[Any] = [None, "x", -1, 0.5, 1e300, 10**30, True, [], [1], [None], {}, {"a": None}]
NOT_READ = ("totals", "graded", "tables", "schema")  # but for the last made anew from the trials; it has its own tests

DIAGRAM = Diagram(
    "Shop",
    [DiagramNode("a", "Pick", "composite", "g", "calls Pack"), DiagramNode("b", "Pack", group="g")],
    [DiagramEdge("a", "b", "late", "data")],
    [DiagramGroup("h", "Outer"), DiagramGroup("g", "Inner", "h", "twice")],
    3,
)
TEXTS = {digest_of("Measure it."): "Measure it."}
TEXTS_OF_EXCHANGES: list[dict[str, Any]] = [
    {
        "role": "judge", "messages": [{"role": "user", "digest": digest} for digest in TEXTS], "kind": "score",
        "metric": "judged", "value": 0.5, "text": "half", "calls": [{"name": "read"}], "source": "m", "tokens_in": 1,
        "tokens_out": 2, "cost": 0.1, "latency": 0.2, "stored": True, "finish_reason": "length", "logprobs": [[-1.0]],
        "reasoning": "so", "tokens_reasoning": 1,
    },
    {"role": "subject", "messages": [], "final": True},
    {"role": "subject", "messages": [], "failure": "timeout"},
]  # fmt: skip


def whole() -> dict[str, Any]:
    """A record that holds every member that the schema knows."""
    question = Question(
        "next-001", "understanding", "next_tasks", "structure", "Which?", "p", "task-set", ["A"], "jaccard",
        ["correctness"], names=["A", "B"], system="s", specifications={"W": "text"}, needed=["W"], judged=["judged"],
        labels={"notation": "wadl", "tasks": 12}, cluster="w", digests={"workflow": "d"}, chance=0.2,
    )  # fmt: skip
    reply = Reply(
        "Final answer: B", 3, 4, 0.1, 0.2, tool_calls=[{"id": "1"}], logprobs=[[-0.5, 2, True]], embeddings=[[0.5]],
        reasoning="so", tokens_reasoning=2, message_fields={"reasoning": "so"},
    )  # fmt: skip
    score = Score(0.5, {"recall": 0.5}, {"f1": [1, 2]}, ["B"], missing=["A"], extra=["B"])
    diagram = DIAGRAM.to_json()
    wrong = Trial(
        question, "m", "wrong", reply, score, Failure("timeout", "none"), 1, 1, TEXTS_OF_EXCHANGES, pack(diagram),
        pack({"expected": diagram, "given": diagram}), TEXTS,
    )  # fmt: skip
    gate = RunCase("gates::structure", "failed", "too low", "m", 0.5, 0.25, 0.75, 0.8)
    about = about_run(
        "0.1.0", ("m",), 7, ("wadl",), "direct", "lenient", ("gates",), 1,
        {"tasks": [12], "model_option": {"top_p": 1}},
        (vars_of(gate),), ("next-009",), {"understanding": 2}, interrupted=True, families=(WITH_TABLES,),
    )  # fmt: skip
    record = build([wrong], about)
    record["trials"][0] |= {"diagram": None, "texts": None}
    return record


def vars_of(case: RunCase) -> dict[str, Any]:
    return {name: getattr(case, name) for name in case.__dataclass_fields__}


def places(value: Any, path: Place = ()) -> Iterator[Place]:  # noqa: ANN401
    """Where there is a value: in objects and lists, all the way down."""
    for name, member in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        yield (*path, name)
        yield from places(member, (*path, name))


def used(record: dict[str, Any]) -> None:
    """Everything that reads a record, done with it; what is refused in words is no failure."""
    for use in (_compared, _marked_again, _in_the_terminal, csv, tables_csv, markdown, html):
        with suppress(TaskgraphError):
            use(record)


def refusal(record: dict[str, Any], file: Path) -> str:
    """Why the record is not read; the empty text for one that is, and that is then of use."""
    file.write_text(json.dumps(record))
    try:
        loaded = load_whole(file)
    except UsageError as error:
        return str(error)
    used(loaded)
    return ""


def _compared(record: dict[str, Any]) -> None:
    for comparison in (compare(whole(), record), compare(record, whole())):
        lines(comparison, "main", 80)
        json.dumps(comparison.to_json(), allow_nan=False)


def _marked_again(record: dict[str, Any]) -> None:
    score_changes(record, rescore(record)[0])


def _in_the_terminal(record: dict[str, Any]) -> None:
    for verbosity, width in ((0, 80), (1, 40)):
        terminal.lines(tally_of(record), about_of(record), verbosity, width)


WHOLE = whole()
PLACES = [path for path in places(WHOLE) if path[0] not in NOT_READ]


def test_damaged_base_record_has_all_of_schema() -> None:
    names = {str(path[-1]) for path in places(WHOLE)}
    assert record_validator().is_valid(WHOLE)
    absent = {"GradedRowJson", "ProvenanceJson", "UsageJson"}  # no graded question, and both null
    for kind in (SCHEMA, *(SCHEMA["$defs"][name] for name in SCHEMA["$defs"].keys() - absent)):
        assert set(kind["properties"]) <= names
    used(WHOLE)


PARTS = 6
EACH_PART = [0, *(pytest.param(part, marks=pytest.mark.exhaustive) for part in range(1, PARTS))]
"""Each gives a place a sixth of the odd values, and its neighbour another sixth."""


@pytest.mark.parametrize("part", EACH_PART)
@pytest.mark.parametrize("name", sorted({str(path[0]) for path in PLACES}))
def test_record_with_odd_value_is_refused_or_usable(name: str, part: int, tmp_path: Path) -> None:
    refused = 0
    for index, path in enumerate(PLACES):
        for value in ODD[(index + part) % PARTS :: PARTS] if path[0] == name else ():
            record = changed(WHOLE, path, value)
            message = refusal(record, tmp_path / "r.json")
            if message:
                assert re.fullmatch(r"\S+r\.json: the record is damaged: [^\n]+; record the run again", message)
                refused += 1
            else:
                assert record_validator().is_valid(record), (
                    f"{path}: {value!r} is not of the schema, and was read all the same"
                )
    assert refused


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.exhaustive) for part in (1, 2))])
def test_record_without_member_is_refused_or_usable(part: int, tmp_path: Path) -> None:
    for path in [place for place in PLACES if isinstance(place[-1], str)][part::3]:
        record = changed(WHOLE, path, None)
        at: Any = record
        for name in path[:-1]:
            at = at[name]
        del at[path[-1]]
        message = refusal(record, tmp_path / "r.json")
        assert not message or "is missing" in message


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        (("trials", 0, "question", "labels"), None, "trial 1: question.labels: found null, expected an object"),
        (("trials", 0, "question", "further"), ["f", 1], "trial 1: question.further[1]: found 1, expected a text"),
        (("trials", 0, "score", "value"), 1e6, "trial 1: score.value: found 1000000.0, expected a number of at most 1"),
        (
            ("trials", 0, "score", "parts", "f1", 0),
            1e300,
            "score.parts.f1[0]: found 1e+300, expected a number of at most 1e+100",
        ),
        (("trials", 0, "outcome"), "Right", "trial 1: outcome: found \"Right\", expected 'right', 'wrong', "),
        (("trials", 0, "attempts"), 0, "trial 1: attempts: found 0, expected a number of at least 1"),
        (("seed",), "x\n" * 99, 'facts of the run: seed: found "x\\nx'),
        (("diagrams", "w", "nodes", 0, "kind"), "box", "diagrams.w.nodes[0].kind: found \"box\", expected 'task', "),
    ],
)
def test_record_error_names_found_and_expected(
    path: Place, value: object, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, record in (("bad.json", changed(WHOLE, path, value)), ("good.json", WHOLE)):
        (tmp_path / name).write_text(json.dumps(record))
    code = main(["compare", str(tmp_path / "bad.json"), str(tmp_path / "good.json")])
    error = capsys.readouterr().err
    assert expected in error
    assert (code, error.count("\n")) == (4, 1)


def test_record_infinite_number_is_refused(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(json.dumps(changed(WHOLE, ("settings", "top_p"), 0.123)).replace("0.123", "1e999"))
    with pytest.raises(UsageError, match="found 1e999, expected a finite number"):
        load_whole(tmp_path / "r.json")
