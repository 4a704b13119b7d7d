from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import fields
from pathlib import Path
from typing import Any

import bounded_process
import pytest
from described_runs import about_run
from hypothesis import given
from hypothesis import strategies as st
from odd_records import Place, changed
from record_schema_file import SCHEMA

from pytest_taskgraph.diagram import Diagram, DiagramNode, DiagramPair, pack
from pytest_taskgraph.results.case import RunCase
from pytest_taskgraph.results.record.record_builder import build
from pytest_taskgraph.trial import Question, Reply, Score, Trial

IN_TRIAL: Place = ("trials", 0)
ODD_NAME = "a\nb" * 99

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


def written_record() -> dict[str, Any]:
    """Return the JSON of a record of two trials."""
    question = Question("q", "f", "p", "c", "t", "p", "task", ["A"], "jaccard", labels={"tasks": 1}, cluster="w")
    score = Score(1.0, {"recall": None}, {"f1": [1, 2]}, ["A"])
    diagram = pack(Diagram("W", [DiagramNode("a", "A")]).to_json())
    pair = pack(DiagramPair(Diagram("W", [DiagramNode("a", "A")]), Diagram("W", [DiagramNode("b", "B")])).to_json())
    exchanges = [{"role": "judge", "messages": [], "text": "half", "value": 0.5}]
    right = Trial(
        question,
        "m",
        "right",
        Reply("x", 1, 2, 0.5, 0.5),
        score,
        exchanges=exchanges,
        diagram=diagram,
        diagram_pair=pair,
    )
    gate = RunCase("gates::structure", "passed", "as high as it must be")
    about = about_run("0.1.0", ("m",), gates=({field.name: getattr(gate, field.name) for field in fields(gate)},))
    record = build([right, Trial(question, "n", "skipped")], about)
    return dict(json.loads(json.dumps(record)))


RECORD = written_record()


def find_faults(record: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Find the faults of a record by the module that takes half a second to import."""
    from pytest_taskgraph.results.record import record_schema

    return record_schema.find_faults(record)


def put(place: Place, value: object) -> dict[str, Any]:
    """Return the record with another value in a place."""
    return changed(RECORD, place, value)


def fault_of(place: Place, value: object) -> str:
    """Return the fault of the record with another value in a place."""
    return "; ".join(": ".join(fault) for fault in find_faults(put(place, value)))


def nested(levels: int) -> object:
    value: Any = "x"
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    return value


KINDS: dict[str, tuple[Place, list[Any], list[Any]]] = {
    "text": ((*IN_TRIAL, "model"), ["", "x", "\ud800"], [None, 1, True, [], {}]),
    "truth": (("interrupted",), [True, False], [None, 0, 1, "true"]),
    "whole number": (("seed",), [0, -5, 10**18], [True, 1.0, "1", None, 10**18 + 1, 10**400]),
    "number": (
        (*IN_TRIAL, "question", "pass_threshold"),
        [0, 0.5, -1e99],
        [True, "1", None, 1e101, -1e101, 10**101, 10**400, float("inf"), float("nan")],
    ),
    "share": ((*IN_TRIAL, "score", "value"), [0, 1, 0.5, 1.0], [-0.1, 1.1, 2, True, None, float("nan")]),
    "count": ((*IN_TRIAL, "requests"), [0, 10**18], [-1, 1.0, True, 10**19]),
    "ordinal": ((*IN_TRIAL, "attempts"), [1, 10**18], [0, -1, 1.0, True]),
    "number or null": ((*IN_TRIAL, "reply", "cost"), [None, 1, 0.5], ["x", True, []]),
    "word": ((*IN_TRIAL, "score", "status"), ["read", "refused"], ["Read", "", None, [], "\ud800"]),
    "texts": ((*IN_TRIAL, "question", "further"), [[], ["x"]], [None, "x", [1], ["x", None], {}]),
    "texts of a tuple": (("lost",), [[], ["x", "y"]], ["x", [1]]),
    "labels": (
        (*IN_TRIAL, "question", "labels"),
        [{}, {"a": 1, "b": "x"}],
        [[], {"a": None}, {"a": True}, {"a": 0.5}, {"str": []}, {"\ud800": None}],
    ),
    "parts": (
        (*IN_TRIAL, "score", "parts"),
        [{"f1": [1, 0.5]}],
        [
            {"f1": 1},
            {"f1": ["x", 1]},
            {"f1": [1e300, 1]},
            {"f1": [1]},
            {"f1": [1, 1, 1]},
            {"f1": [1, -1]},
            {"f1": [1, 1e-12]},
        ],
    ),
    "any value": ((*IN_TRIAL, "score", "given"), [None, 1, "x", [[]], nested(100)], [nested(101), nested(3000)]),
    "any values": ((*IN_TRIAL, "reply", "tool_calls"), [[{"a": [1]}]], [[1], [{"a": nested(101)}], {}]),
    "settings": (("settings",), [{"tasks": [12]}], [[], {"a": nested(101)}]),
    "no value": ((*IN_TRIAL, "diagram"), [None], ["", {}]),
    "row": (("totals", 0, "n"), [0], [-1, None]),
    "cell": (("tables",), [[]], [[{}], [1]]),
    "score": ((*IN_TRIAL, "score"), [None, RECORD["trials"][0]["score"] | {"value": 0}], [{}, [], "x", {"value": 1}]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_find_faults_accepts_good_and_refuses_bad_values(kind: str) -> None:
    place, good, bad = KINDS[kind]
    assert [value for value in good if fault_of(place, value)] == []
    assert [value for value in bad if not fault_of(place, value)] == []


@pytest.mark.parametrize(
    ("place", "value", "expected"),
    [
        (("seed",), "x", 'facts of the run: seed: found "x", expected a whole number'),
        (("trials",), {}, "facts of the run: trials: found an object, expected a list"),
        (("diagrams", "w", "nodes", 0), 1, "facts of the run: diagrams.w.nodes[0]: found 1, expected an object"),
        (
            (*IN_TRIAL, "diagram_pair", "given", "nodes", 0, "label"),
            1,
            "trial 1: diagram_pair.given.nodes[0].label: found 1, expected a text",
        ),
        (
            (*IN_TRIAL, "diagram_pair", "expected"),
            None,
            "trial 1: diagram_pair.expected: found null, expected an object",
        ),
        (("trials", 1), [], "trial 2: found a list, expected an object"),
        (
            (*IN_TRIAL, "score", "parts", "f1"),
            [1, "x"],
            'trial 1: score.parts.f1[1]: found "x", expected a valid number',
        ),
        (
            (*IN_TRIAL, "score", "parts", "f1"),
            [1],
            "trial 1: score.parts.f1: found a list, expected a numerator and a denominator of at least 0",
        ),
        ((*IN_TRIAL, "score", "value"), 2, "trial 1: score.value: found 2, expected a number of at most 1"),
        ((*IN_TRIAL, "attempts"), 0, "trial 1: attempts: found 0, expected a number of at least 1"),
        (
            (*IN_TRIAL, "score", "status"),
            "x" * 99,
            f"trial 1: score.status: found \"{'x' * 38}…, expected 'read', 'unparseable' or 'refused'",
        ),
        (
            (*IN_TRIAL, "score", "given"),
            nested(101),
            "trial 1: score.given: found an object, expected at most 100 levels of lists and objects",
        ),
        ((*IN_TRIAL, "score"), {}, "trial 1: 'score.value' is missing"),
        ((*IN_TRIAL, "score"), "high", 'trial 1: score: found "high", expected an object'),
        (
            (*IN_TRIAL, "question", "labels", "a b"),
            None,
            'trial 1: question.labels["a b"]: found null, expected a text or a whole number',
        ),
        (
            (*IN_TRIAL, "question", "labels", "str"),
            10**19,
            "trial 1: question.labels.str: found 10000000000000000000, expected a text or a number of at most 1e+18",
        ),
        (
            (*IN_TRIAL, "score", "metrics", ODD_NAME),
            [],
            f'trial 1: score.metrics["{json.dumps(ODD_NAME)[1:40]}…"]: found a list, expected a valid number',
        ),
    ],
)
def test_find_faults_states_place_found_and_expected(place: Place, value: object, expected: str) -> None:
    assert fault_of(place, value) == expected


def test_find_faults_first_fault_of_run_and_each_trial() -> None:
    record = put((*IN_TRIAL, "model"), None)
    record["trials"][0]["question"]["id"] = None
    record["trials"][1]["model"] = None
    assert [where for where, _ in find_faults(record)] == ["trial 1", "trial 2"]
    assert next(find_faults(record))[1] == "question.id: found null, expected a text"
    assert [where for where, _ in find_faults(record | {"seed": None})] == ["facts of the run"]


def test_find_faults_accepts_written_and_unknown_members() -> None:
    assert list(find_faults(RECORD)) == []
    for place in ((), ("gates", 0), ("diagrams", "w", "nodes", 0), IN_TRIAL, (*IN_TRIAL, "question")):
        assert fault_of((*place, "later"), nested(101)) == ""


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        ((), SCHEMA),
        (("gates", 0), SCHEMA["$defs"]["VerdictJson"]),
        (("diagrams", "w", "nodes", 0), SCHEMA["$defs"]["NodeJson"]),
        (IN_TRIAL, SCHEMA["$defs"]["TrialJson"]),
        ((*IN_TRIAL, "question"), SCHEMA["$defs"]["QuestionJson"]),
        ((*IN_TRIAL, "reply"), SCHEMA["$defs"]["ReplyJson"]),
        ((*IN_TRIAL, "score"), SCHEMA["$defs"]["ScoreJson"]),
    ],
)
def test_find_faults_requires_what_schema_requires(place: Place, kind: dict[str, Any]) -> None:
    for name in kind["properties"]:
        record: Any = deepcopy(RECORD)
        at = record
        for step in place:
            at = at[step]
        at.pop(name, None)
        faults = [fault.endswith(f"{name}' is missing") for _, fault in find_faults(record)]
        assert faults == [True] * (name in kind["required"])


@given(st.sampled_from(["question", "reply", "score"]), st.data(), json_values)
def test_find_faults_any_value_fits_or_has_one_line(part: str, data: st.DataObject, value: object) -> None:
    name = data.draw(st.sampled_from(sorted(RECORD["trials"][0][part])))
    record = put((*IN_TRIAL, part, name), value)
    first_fault = next(find_faults(record), None)
    if first_fault is None:
        Trial.from_json(record["trials"][0])
        before = RECORD["trials"][0][part][name]
        kinds = (int, float) if isinstance(before, float) else type(before)
        assert isinstance(value, kinds) or value is None or name in ("reference", "given", "pass_threshold", "chance")
    else:
        where, fault = first_fault
        assert where == "trial 1"
        assert fault.startswith(f"{part}.{name}")
        assert fault.isprintable()
        assert len(fault) < 300


PROBE = """
import sys
from pathlib import Path
from pytest_taskgraph.results.record import About, build, load, save, tally_of
record = build([], About("0"))
save(sys.argv[1], record)
tally_of(record)
assert "pydantic" not in sys.modules
load(sys.argv[1])
assert "pydantic" in sys.modules
"""


def test_load_alone_imports_pydantic(tmp_path: Path) -> None:
    done = bounded_process.run([sys.executable, "-c", PROBE, str(tmp_path / "r.json")])
    assert (done.returncode, done.stderr) == (0, "")
