from __future__ import annotations

import json
from dataclasses import replace
from math import sqrt
from typing import Any

import pytest
from described_tables import CLAIMED, CLAIMS, GRADED, PUBLISHED, SOUPS, claim, run_of, step
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.family_description import Column, FamilyDescription, ReferenceValue, TableSpec
from pytest_taskgraph.results.record import load, save, tally_of
from pytest_taskgraph.results.table_mistakes import find_table_mistake
from pytest_taskgraph.results.tables import Reference, Table, table_of, tables_of
from pytest_taskgraph.trial import SOFT_PROMPT_SOURCE, Reply, Trial


def tables_for(trials: list[Trial], *families: FamilyDescription) -> list[Table]:
    return tables_of(tally_of(run_of(trials, *families)))


def of_spec(trials: list[Trial], spec: TableSpec, family: FamilyDescription = CLAIMS) -> Table:
    return table_of(tally_of(run_of(trials)), family, spec)


def names(table: Table) -> list[tuple[str, str]]:
    return [(line.kind, line.name) for line in table.lines]


def value(table: Table, row: str, column: str, at: int = 0) -> float | None:
    (entry,) = (line.entries[at] for line in table.lines if line.name == row)
    assert entry is not None
    return entry.cells[column].value


def test_cell_value_is_aggregate_of_row() -> None:
    table = tables_for(CLAIMED)[0]
    assert names(table) == [("group", "whole"), ("group", "pairs"), ("total", "total")]
    assert value(table, "pairs", "n") == 12
    assert value(table, "pairs", "recall") == pytest.approx(3 / 6)
    assert value(table, "pairs", "specificity") == 1.0
    assert value(table, "pairs", "g_mean") == pytest.approx(sqrt(0.5))
    assert value(table, "total", "recall") == pytest.approx(4 / 7)
    assert value(table, "whole", "specificity") is None


def test_cell_aggregate_has_interval_and_n() -> None:
    (entry,) = tables_for(CLAIMED)[0].lines[1].entries
    assert entry is not None
    cell = entry.cells["recall"]
    assert cell.ends is not None
    assert cell.ends[0] < 0.5 < cell.ends[1]
    assert cell.n == 6


def test_cell_reference_in_own_cell_only() -> None:
    cells = {
        (line.name, column): cell.references
        for line in tables_for(CLAIMED)[0].lines
        for entry in line.entries
        if entry is not None
        for column, cell in entry.cells.items()
    }
    assert {at: references for at, references in cells.items() if references} == {
        ("pairs", "recall"): (Reference(0.71, PUBLISHED),)
    }


def test_cell_metric_is_mean_over_its_questions() -> None:
    spec = TableSpec("t", "method", (Column("overlap"),))
    assert value(of_spec(CLAIMED, spec), "pairs", "overlap") == pytest.approx(0.375)


def test_entry_few_questions_are_marked() -> None:
    entries = {line.name: line.entries[0] for line in tables_for(CLAIMED)[0].lines}
    assert {name: entry.few for name, entry in entries.items() if entry} == {
        "whole": True,
        "pairs": False,
        "total": False,
    }


def test_tables_of_each_family_and_graded_questions() -> None:
    tables = tables_for([*CLAIMED, *SOUPS, *GRADED])
    assert [(table.family, table.spec.name, table.spec.graded) for table in tables] == [
        ("claims", "methods", False),
        ("steps", "rates", False),
        ("steps", "graded", True),
        ("", "families", False),
    ]
    assert names(tables[1]) == [("group", "soup"), ("total", "total")]
    assert names(tables[2]) == [("group", "bread")]
    assert names(tables[3]) == [("family", "claims"), ("family", "steps"), ("total", "total")]
    assert value(tables[3], "total", "n") == len(CLAIMED) + len(SOUPS)


def test_tables_single_ungraded_family_has_no_total() -> None:
    assert [table.family for table in tables_for([*CLAIMED, *GRADED])] == ["claims", "steps"]


def test_tables_same_group_name_stays_in_family() -> None:
    tables = tables_for([*CLAIMED, replace(step(1, "pairs"), model="m")])
    assert [value(table, "pairs", "n") for table in tables[:2]] == [12, 1]


def test_rows_by_model_include_published_systems() -> None:
    spec = TableSpec(
        "systems", "system", (Column("n"), Column("recall")), rows="model",
        references=(ReferenceValue("GPT-3", "recall", 0.4, "x"), ReferenceValue("m", "recall", 0.5, "x")),
    )  # fmt: skip
    table = of_spec([*CLAIMED, claim(2, model="k")], spec)
    assert names(table) == [("model", "k"), ("model", "m"), ("published", "GPT-3"), ("total", "total")]
    assert value(table, "GPT-3", "recall") is None
    (entry,) = table.lines[2].entries
    assert entry is not None
    assert entry.cells["recall"].references == (Reference(0.4, "x"),)


def test_rows_by_model_and_group_named_by_difference() -> None:
    spec = TableSpec(
        "systems", "system", (Column("n"), Column("recall")), rows="model-group", total=False,
        references=(ReferenceValue("GPT-3", "recall", 0.4, "x"),),
    )  # fmt: skip
    published = ("published", "GPT-3")
    both = of_spec([*CLAIMED, claim(2, model="k")], spec)
    assert names(both) == [("model", "k, pairs"), ("model", "m, whole"), ("model", "m, pairs"), published]
    assert value(both, "m, pairs", "n") == 12
    assert names(of_spec(CLAIMED, spec)) == [("model", "whole"), ("model", "pairs"), published]
    alone = [trial for trial in CLAIMED if trial.question.group == "pairs"]
    assert names(of_spec([*alone, claim(2, model="k")], spec)) == [("model", "k"), ("model", "m"), published]


def test_rows_of_soft_prompt_have_tuned_names_and_published_numbers() -> None:
    spec = TableSpec(
        "systems", "system", (Column("recall"),), rows="model-group", total=False, tuned_rows=(("pairs", "SPT"),),
        references=(ReferenceValue("SPT", "recall", 0.4, "x"),),
    )  # fmt: skip
    tuned = [
        replace(trial, reply=replace(trial.reply or Reply(""), source=f"m{SOFT_PROMPT_SOURCE}")) for trial in CLAIMED
    ]
    table = of_spec(tuned, spec)
    assert names(table) == [("model", "whole"), ("model", "SPT")]
    (entry,) = table.lines[1].entries
    assert entry is not None
    assert entry.cells["recall"].references == (Reference(0.4, "x"),)
    assert ("model", "m, SPT") in names(of_spec([*tuned, claim(2, model="k")], spec))
    assert names(of_spec(CLAIMED, spec)) == [("model", "whole"), ("model", "pairs"), ("published", "SPT")]
    assert FamilyDescription.from_json(replace(CLAIMS, tables=(spec,)).to_json()).tables == (spec,)


def test_tables_with_too_few_rows_left_out() -> None:
    spec = TableSpec("sizes", "size", (Column("n"),), rows="label", label="size", least_rows=2)
    one_size = [claim(at, size=8) for at in range(3)]
    assert of_spec(one_size, spec).empty
    assert not of_spec([*one_size, claim(4, size=9)], spec).empty


def test_rows_by_label_and_section() -> None:
    trials = [claim(at, size=8 + at % 2) for at in range(6)]
    by_label = of_spec(trials, TableSpec("sizes", "size", (Column("n"),), rows="label", label="size"))
    assert [(kind, name, value(by_label, name, "n")) for kind, name in names(by_label)] == [
        ("label", "8", 3), ("label", "9", 3), ("total", "total", 6),
    ]  # fmt: skip
    sectioned = [replace(trial, question=replace(trial.question, section="s")) for trial in trials]
    by_section = of_spec(sectioned, TableSpec("s", "s", (Column("n"),), rows="section", total=False))
    assert names(by_section) == [("section", "s")]
    below = of_spec(sectioned, TableSpec("s", "s", (Column("n"),), sections=True, total=False))
    assert names(below) == [("section", "s"), ("group", "pairs")]


def test_table_of_some_groups_excludes_others() -> None:
    table = of_spec(CLAIMED, TableSpec("t", "method", (Column("n"),), groups=("pairs",)))
    assert names(table) == [("group", "pairs"), ("total", "total")]
    assert value(table, "total", "n") == 12


def test_rows_have_entry_for_each_asked_model() -> None:
    table = tables_for([*CLAIMED, claim(3, "pairs", model="k")])[0]
    assert table.models == ("k", "m")
    assert [[entry is not None for entry in line.entries] for line in table.lines] == [
        [False, True], [True, True], [True, True],
    ]  # fmt: skip
    assert [line.name for line in table.of_model("k").lines] == ["pairs", "total"]


def test_columns_optional_left_out_if_all_zero() -> None:
    spec = TableSpec("t", "method", (Column("n"), Column("refused", optional=True), Column("chance", optional=True)))
    assert [column.value for column in of_spec(CLAIMED, spec).columns("terminal")] == ["n"]
    with_chance = [replace(trial, question=replace(trial.question, chance=0.0)) for trial in CLAIMED]
    assert [column.value for column in of_spec(with_chance, spec).columns("terminal")] == ["n", "chance"]


def test_record_contains_tables(tmp_path: object) -> None:
    record = run_of([*CLAIMED, *SOUPS, *GRADED])
    methods, rates, graded, families = record["tables"]
    assert [table["family"] for table in (methods, rates, graded, families)] == ["claims", "steps", "steps", ""]
    (pairs,) = (row for row in methods["rows"] if row["name"] == "pairs")
    assert pairs["cells"]["recall"]["references"] == [{"value": 0.71, "source": PUBLISHED}]
    assert pairs["cells"]["recall"]["value"] == pytest.approx(0.5)
    soup = rates["rows"][0]["cells"]
    assert "interval" not in soup
    assert (soup["rate"]["value"], soup["rate"]["low"] is not None, soup["mean"]["low"]) == (1.0, True, None)
    assert graded["rows"][0]["cells"]["mean"]["low"] is not None
    assert json.loads(json.dumps(record["tables"])) == record["tables"]


def test_load_descriptions_with_tables_round_trip(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("record") / "r.json"
    record = run_of(CLAIMED)
    save(path, record)
    assert [table.to_json() for table in tables_of(tally_of(load(path)))] == record["tables"]


def test_description_with_facts_of_tables_round_trip() -> None:
    table = TableSpec("t", "x", (Column("n"),), facts=("similarity",))
    description = replace(CLAIMS, facts={"similarity": "lexical"}, tables=(table,))
    assert find_table_mistake(description) == ""
    assert FamilyDescription.from_json(json.loads(json.dumps(description.to_json()))) == description


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (TableSpec("t", "x", (Column("recal"),)), "unknown column 'recal'"),
        (TableSpec("t", "x", (Column("n"),), facts=("similarty",)), "unknown fact 'similarty'; known: none"),
        (TableSpec("t", "x", (Column("n"),), rows="label"), "the values of a label"),
        (TableSpec("t", "x", (Column("rate"),), graded=True), "no pass rate"),
        (TableSpec("t", "x", (Column("n"),), references=(ReferenceValue("r", "mean", 1.0, "s"),)), "'mean'"),
    ],
)
def test_find_table_mistake_names_table(spec: TableSpec, message: str) -> None:
    mistake = find_table_mistake(replace(CLAIMS, tables=(spec,)), ["correctness"])
    assert mistake.startswith("table 't': ")
    assert message in mistake
    assert find_table_mistake(CLAIMS, []) == ""
    assert "two tables" in find_table_mistake(replace(CLAIMS, tables=CLAIMS.tables * 2), [])


TRIALS = st.builds(
    lambda at, group, right, yes, model: claim(at, group, right=right, yes=yes, model=model),
    st.integers(0, 20), st.sampled_from(["pairs", "whole"]), st.booleans(), st.booleans(), st.sampled_from("km"),
)  # fmt: skip


@given(st.lists(st.one_of(TRIALS, st.builds(step, st.integers(0, 5), st.just("soup")))))
def test_total_counts_questions_of_rows(trials: list[Trial]) -> None:
    for table in tables_for(trials):
        for at in range(len(table.models)):
            entries = [(line.kind, line.entries[at]) for line in table.lines]
            counted = {kind: 0 for kind, _ in entries}
            for kind, entry in entries:
                counted[kind] += entry.count("n") if entry else 0
            assert counted.pop("total") == sum(counted.values())


@pytest.mark.parametrize(
    "changed",
    [
        {"aggregates": [{"name": "g", "kind": "geometric-mean", "of": ["g"], "label": ""}]},
        {"tables": [{"name": "t", "title": "t", "columns": []}]},
    ],
)
def test_load_mistaken_description_is_damaged(changed: dict[str, Any]) -> None:
    record = run_of(CLAIMED)
    record["families"] = [record["families"][0] | changed]
    with pytest.raises(UsageError, match="the record is damaged: family 'claims': "):
        tally_of(record)


def test_record_tables_have_no_key() -> None:
    key = "sk-" + "a1B2c3D4" * 4
    spec = replace(CLAIMS.tables[0], caption=f"with {key}")
    assert key not in json.dumps(run_of(CLAIMED, replace(CLAIMS, tables=(spec,)))["tables"])
