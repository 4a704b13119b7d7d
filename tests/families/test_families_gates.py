"""Gates, aggregates and comparisons of every benchmark family, whatever it asks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from math import fsum
from statistics import fmean, geometric_mean, harmonic_mean, stdev
from typing import Any

import pytest
from benchmark_families import (
    RECORD,
    Benchmark,
    each_suite,
    line_of,
    save_base,
    simulated_run,
    telling_families,
)
from plugin_project import Project

from pytest_taskgraph.__main__ import main


@each_suite
def test_gates_apply_to_aggregates_groups_sections_and_labels(project: Project, family: Benchmark) -> None:
    record = simulated_run(project, family, "1").record
    (described,) = record["families"]
    questions = [trial["question"] for trial in record["trials"]]
    labels = [f'{name}="{value}"' for name, value in questions[0]["labels"].items()]
    all_aggregates = described["aggregates"]
    declared = [aggregate["name"] for aggregate in all_aggregates if aggregate["kind"] != "seed-deviation"]
    special = {*family.unmoved, *family.unmeasured, *family.undefined}
    assert special <= {aggregate["name"] for aggregate in all_aggregates}
    measuring = [name for name in declared if name not in family.unmoved and name not in family.unmeasured]
    aggregates = [f"{family.name}.{name}" for name in measuring]
    groups, sections = ({question[name] for question in questions} for name in ("group", "section"))
    names = [family.name, *groups, *sections, *labels]
    gates = [f"--taskgraph-gate={name}>=0.9" for name in [*names, *aggregates]]
    metrics = {
        f"{trial['question']['group']}.{name}" for trial in record["trials"] for name in trial["score"]["metrics"]
    }
    metric_gates = [f"--taskgraph-gate={name}>=0" for name in metrics]
    passed = project.run("--model=simulated:1", *family.flags, RECORD, *gates, *metric_gates)
    assert (passed.code, passed.counts) == (0, {"passed": family.size + len(gates + metric_gates)}), passed.output
    failed = project.run("--model=simulated:0", *family.flags, RECORD, *gates)
    cases = {case["name"].removeprefix("gates::"): case for case in project.record("r.json")["gates"]}
    short = {name for name, case in cases.items() if case["outcome"] == "passed"}
    assert (failed.code, short) == (1, {"glossary.short"} & set(aggregates)), failed.output
    for name in aggregates:
        undefined = name.removeprefix(f"{family.name}.") in family.undefined
        assert (cases[name]["estimate"] is None, "not decided" in cases[name]["reason"]) == (undefined, undefined), name


def value_of(
    aggregate: Mapping[str, Any],
    described: Sequence[Mapping[str, Any]],
    scores: Sequence[dict[str, Any]],
    labels: Sequence[Any],
) -> float:
    """The value of an aggregate as docs/reference/metrics.md defines it, of scores whose questions have these seeds.

    Each part of it must have questions.
    """
    of = aggregate["of"]
    if aggregate["kind"] == "mean":
        values = [score["metrics"][of[0]] if of else score["value"] for score in scores]
        return fmean(value for value in values if value is not None)
    if aggregate["kind"] == "ratio":
        pairs = [score["parts"][of[0]] for score in scores if of[0] in score["parts"]]
        return fsum(pair[0] for pair in pairs) / fsum(pair[1] for pair in pairs)
    if aggregate["kind"].startswith("seed-"):
        inner = next(other for other in described if other["name"] == of[0])
        seeds = sorted({label for label in labels if label is not None})
        by_seed = [
            value_of(inner, described, [score for score, at in zip(scores, labels, strict=True) if at == seed], [])
            for seed in seeds
        ]
        return fmean(by_seed) if aggregate["kind"] == "seed-mean" else stdev(by_seed)
    means: dict[str, Callable[[list[float]], float]]
    means = {"harmonic-mean": harmonic_mean, "geometric-mean": geometric_mean}
    others = [next(other for other in described if other["name"] == name) for name in of]
    return means[aggregate["kind"]]([value_of(other, described, scores, labels) for other in others])


@each_suite
def test_aggregates_follow_their_definition_in_gates_and_comparisons(
    project: Project, family: Benchmark, capsys: pytest.CaptureFixture[str]
) -> None:
    save_base(project, family, "0.5")
    (described,) = simulated_run(project, family, "0.5").record["families"]
    declared = described["aggregates"]
    aggregates = [aggregate for aggregate in declared if aggregate["name"] not in family.unmeasured]
    names = [aggregate["name"] for aggregate in aggregates if aggregate["kind"] != "seed-deviation"]
    gates = [f"--taskgraph-gate={name}>=0" for name in (family.name, *(f"{family.name}.{part}" for part in names))]
    assert project.run("--model=simulated:0.5", *family.flags, RECORD, *gates).code == 0
    record = project.record("r.json")
    estimates = {gate["name"].rpartition(".")[2]: gate["estimate"] for gate in record["gates"]}
    assert set(estimates) == {*names, f"gates::{family.name}"}
    scores = [trial["score"] for trial in record["trials"]]
    seeds = [trial["question"]["labels"].get("seed") for trial in record["trials"]]
    values = {aggregate["name"]: value_of(aggregate, declared, scores, seeds) for aggregate in aggregates}
    for name in names:
        assert estimates[name] == pytest.approx(values[name])
        assert 0 < values[name] <= 1 or name in family.unmoved
    capsys.readouterr()
    assert main([*family.plugin, "compare", "base", "r.json", "--json"]) == 0
    compared = json.loads(capsys.readouterr().out).get("aggregates", [])
    # The mean of the scores is compared by itself.
    of_scores = {other["name"] for other in declared if other["kind"] == "mean" and not other["of"]}
    expected = {name: value for name, value in values.items() if name not in of_scores}
    assert {change["name"]: change["before"] for change in compared} == pytest.approx(expected)
    assert {change["name"]: change["after"] for change in compared} == pytest.approx(expected)


@telling_families
def test_gates_with_unknown_names_list_known_names(project: Project, family: Benchmark) -> None:
    (first, *_) = simulated_run(project, family, "1").record["trials"]
    group, label = first["question"]["group"], next(iter(first["question"]["labels"]))
    for gate, listing in (
        (f"{group}x>=0.5", group),
        (f"{group}.no_such_aggregate>=0.5", "of that name"),
        (f"{label}=nowhere>=0.5", f"known values of {label}: "),
    ):
        ran = project.run("--model=simulated:1", *family.flags, f"--taskgraph-gate={gate}")
        assert (ran.code, ran.clean, listing in line_of(ran)) == (4, True, True), ran.output
        assert "passed" not in ran.counts


@telling_families
def test_comparison_distinguishes_identical_and_worse_runs(project: Project, family: Benchmark) -> None:
    save_base(project, family, "1")
    compare = (*family.flags, RECORD, "--taskgraph-compare=base", "--taskgraph-fail-on=regression")
    same = project.run("--model=simulated:1", *compare)
    assert (same.code, "passed compare::base: identical replies" in line_of(same)) == (0, True), same.output
    worse = project.run("--model=simulated:0", *compare)
    verdict = re.search(r"failed compare::base: worse(?: on these procedures)?: -1\.000 over", line_of(worse))
    assert (worse.code, verdict is not None) == (1, True), worse.output
    assert main([*family.plugin, "compare", "base", "r.json"]) == 1


@telling_families
def test_comparison_of_other_question_sets_is_refused(project: Project, family: Benchmark) -> None:
    record = simulated_run(project, family, "1").record
    assert list(record["question_sets"]) == [family.name]
    record["question_sets"][family.name] += 1
    project.write(".taskgraph/runs/base.json", json.dumps(record))
    ran = project.run("--model=simulated:1", *family.flags, "--taskgraph-compare=base")
    assert (ran.code, ran.clean) == (4, True), ran.output
    assert f"of the questions of '{family.name}'" in line_of(ran)
