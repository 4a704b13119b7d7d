"""Aggregates in the reports of a comparison: the same figures in the terminal, in Markdown and on the page."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from html import unescape

import pytest

from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.family_description import Aggregate, FamilyDescription
from pytest_taskgraph.reports.comparison_lines import aggregate_rows, aggregate_titles, lines
from pytest_taskgraph.reports.escape import columns
from pytest_taskgraph.reports.html import html
from pytest_taskgraph.reports.markdown import markdown
from pytest_taskgraph.results.comparison import RunComparison, compare
from pytest_taskgraph.results.record import About, build
from pytest_taskgraph.trial import Question, Reply, Score, Trial

AGGREGATES = (
    Aggregate("sensitivity", "ratio", ("yes",)),
    Aggregate("specificity", "ratio", ("no",)),
    Aggregate("g_mean", "geometric-mean", ("sensitivity", "specificity")),
)
STEPS = FamilyDescription("steps", cluster="recipe", aggregates=AGGREGATES)
OTHER = replace(STEPS, name="other", aggregates=AGGREGATES[:1])


def run(
    hits: Sequence[tuple[str, int]], models: Sequence[str] = ("m",), families: Sequence[FamilyDescription] = (STEPS,),
    recipes: int = 40, text: str = "x",
) -> dict[str, object]:  # fmt: skip
    """The record of a run: the class of each question of each family, and whether it was answered right."""
    trials = []
    for family in families:
        for model in models:
            for at, (of, hit) in enumerate(hits):
                question = Question(
                    f"{family.name}-{at:03d}", family.name, "next_step", "", f"Step {at}?", "?", "yes-no", of,
                    "correctness", cluster=f"{family.name}-{at % recipes}",
                )  # fmt: skip
                score = Score(float(hit), parts={of: [hit, 1]})
                trials.append(Trial(question, model, "right" if hit else "wrong", Reply(f"{text} {at}"), score))
    return build(trials, About("0.1.0", models=tuple(models), families=tuple(families)))


BEFORE = [("yes", int(at % 8 > 0)) for at in range(40)] + [("no", int(at % 8 > 1)) for at in range(40)]
# As many are right as before, but those of one class are lost and those of the other won.
ALL_YES = [("yes", 1)] * 40 + [("no", int(at % 8 > 2)) for at in range(40)]
LOSING = [*BEFORE[:40], *[("no", int(at % 8 > 5)) for at in range(40)]]


def compared(after: Sequence[tuple[str, int]], **more: object) -> RunComparison:
    return compare(run(BEFORE, **more), run(after, **more, text="y"))  # type: ignore[arg-type]


def terminal(comparison: RunComparison, width: int = 120) -> list[str]:
    return [line for line, _ in lines(comparison, "main", width)]


def test_comparison_worse_aggregate_makes_verdict_worse() -> None:
    comparison = compared(LOSING)
    worse = [aggregate.name for aggregate in comparison.aggregates if aggregate.verdict == "worse"]
    assert (comparison.verdict, worse) == ("worse", ["specificity", "g_mean"])
    assert comparison.reason.endswith("worse in next_step, specificity, g_mean")


def test_comparison_inconclusive_or_better_aggregate_keeps_verdict() -> None:
    plain = replace(STEPS, aggregates=())
    for after in (ALL_YES, BEFORE, [("yes", 1)] * 40 + [("no", 1)] * 40):
        comparison, without = compared(after), compared(after, families=(plain,))
        assert all(aggregate.verdict != "worse" for aggregate in comparison.aggregates)
        assert (comparison.verdict, comparison.reason, comparison.needed) == (
            without.verdict,
            without.reason,
            without.needed,
        )


def test_comparison_few_clusters_restrict_aggregate_verdicts() -> None:
    comparison = compared(LOSING, recipes=3)
    assert comparison.verdict == "worse on these recipes"
    assert {aggregate.name: (aggregate.verdict, aggregate.clusters) for aggregate in comparison.aggregates} == {
        "sensitivity": ("inconclusive", 40),
        "specificity": ("worse on these recipes", 40),
        "g_mean": ("worse on these recipes", 80),
    }


def test_comparison_same_replies_are_identical() -> None:
    record = run(BEFORE)
    comparison = compare(record, record)
    assert (comparison.verdict, {aggregate.verdict for aggregate in comparison.aggregates}) == (
        "identical replies",
        {"inconclusive"},
    )


@pytest.mark.parametrize("width", [40, 80, 120])
def test_terminal_aggregates_stand_in_table(width: int) -> None:
    output = terminal(compared(LOSING), width)
    row = next(line.split() for line in output if " 0.750  0.250 " in line.replace("   ", "  "))
    row = row[row.index("40") :]  # the name stands on the line before where it does not fit
    assert row[:4] == ["40", "0.750", "0.250", "-0.500"]
    assert max(map(columns, output)) <= width
    if width >= 80:
        assert row[4:] == ["-0.662", "to", "-0.338", "<0.001", "worse"]
        assert any("aggregate" in line and "95% interval" in line for line in output)
    if width == 120:
        assert "p of an aggregate: one-sided, towards worse, adjusted by Holm over all aggregates" in output


def test_reports_aggregates_show_same_rows() -> None:
    comparison = compared(LOSING, models=("a", "b"), families=(STEPS, OTHER))
    rows, titles = aggregate_rows(comparison.aggregates), aggregate_titles(comparison.aggregates)
    assert [row[:2] for row in rows] == [
        *([f"steps {aggregate.name}", model] for model in "ab" for aggregate in AGGREGATES),
        *(["other sensitivity", model] for model in "ab"),
    ]
    record = run(LOSING, ("a", "b"), (STEPS, OTHER))
    page, text, output = html(record, comparison), markdown(record, comparison), terminal(comparison, 160)
    plain = unescape(re.sub(r"<[^>]*>", "|", page.replace("<wbr>", "")))
    for row in (titles, *rows):
        assert [line.split() for line in output].count(" ".join(row).split()) == 1
        assert re.search(r"\|+".join(map(re.escape, row)), plain), row
    for row in rows:
        assert f"| `{row[0]}` | `{row[1]}` | {' | '.join(row[2:])} |" in text
    assert "Aggregates, before and after" in page


def test_reports_without_aggregates_omit_their_table() -> None:
    record, comparison = run(LOSING), compared(LOSING, families=(replace(STEPS, aggregates=()),))
    assert "aggregates" not in comparison.to_json()
    assert not any("aggregate" in text for text in (markdown(record, comparison), *terminal(comparison)))
    assert compared(LOSING).to_json()["aggregates"][0]["name"] == "sensitivity"


@pytest.mark.parametrize("read", [html, markdown, lambda record: compare(run(BEFORE), record)])
def test_record_damaged_aggregates_raise_usage_error(read: Callable[[dict[str, object]], object]) -> None:
    damaged = replace(STEPS, aggregates=(Aggregate("g_mean", "geometric-mean", ("none",)),))
    with pytest.raises(UsageError, match="the record is damaged: family 'steps': aggregate 'g_mean': there is no"):
        read(run(BEFORE, families=(damaged,)))
