"""Several prompts and models in one run: the table of prompts by models, in every report."""

from __future__ import annotations

import csv
from dataclasses import replace
from io import StringIO

from described_tables import CLAIMS, STEPS, claim, run_of, step

from pytest_taskgraph.family_description import Column, TableSpec
from pytest_taskgraph.reports import terminal
from pytest_taskgraph.reports.csv import tables_csv
from pytest_taskgraph.reports.escape import columns
from pytest_taskgraph.reports.html import html
from pytest_taskgraph.reports.junit import properties, suite_properties
from pytest_taskgraph.reports.markdown import markdown
from pytest_taskgraph.results.record import about_of, tally_of
from pytest_taskgraph.results.tables import tables_of
from pytest_taskgraph.trial import Trial

PROMPTS, MODELS = ("guided", "direct"), ("org/large", "small")
POOLED = "2 prompts are pooled in all numbers but those by prompt: direct, guided"


def claimed(prompts: tuple[str, ...] = PROMPTS, models: tuple[str, ...] = MODELS) -> list[Trial]:
    """Twelve claims for each prompt and model: `direct` answers every other one, the last model the guided ones too."""
    return [
        claim(100 * which + at, right=prompt != "direct" or at % 2 == 0, model=model, prompt=prompt)
        for which, prompt in enumerate(prompts)
        for model in models
        for at in range(12)
    ]


def graded() -> list[Trial]:
    """Three recipes for each prompt and model, of which `direct` gets half the score."""
    numbers = [100 * which + at for which in (0, 1) for at in range(3)]
    trials = [step(at, "bread", 0.5 * (at // 100), model) for at in numbers for model in MODELS]
    for trial in trials:
        trial.question.labels["prompt"] = PROMPTS[int(trial.question.id.rpartition("-")[2]) // 100]
    return trials


def text(trials: list[Trial], width: int = 80, verbosity: int = 2) -> list[str]:
    record = run_of(trials, CLAIMS, STEPS)
    return [line for line, _ in terminal.lines(tally_of(record), about_of(record), verbosity, width)]


def below(lines: list[str], caption: str, rows: int = 3) -> list[str]:
    at = next(at for at, line in enumerate(lines) if line.startswith(caption))
    return lines[at + 1 : at + 1 + rows]


def test_terminal_grid_has_row_for_each_prompt_and_column_for_each_model() -> None:
    for width in (80, 120):
        lines = text(claimed(), width)
        assert below(lines, "Pass rates by prompt, 95% interval, n answered") == [
            "prompt               org/large                    small",
            "direct  0.500 0.254-0.746 n=12   0.500 0.254-0.746 n=12",
            "guided  1.000 0.758-1.000 n=12   1.000 0.758-1.000 n=12",
        ]
        assert POOLED in lines


def test_terminal_grid_of_graded_questions_has_mean_scores() -> None:
    lines = text(graded())
    assert below(lines, "Graded questions: mean scores by prompt", 3) == [
        "prompt              org/large                   small",
        "direct  0.500 0.125-0.875 n=3*  0.500 0.125-0.875 n=3*",
        "guided  0.000 0.000-0.561 n=3*  0.000 0.000-0.561 n=3*",
    ]


def test_terminal_grid_of_many_models_is_split_to_fit() -> None:
    models = tuple(f"provider/model-number-{at}" for at in range(5))
    lines = text(claimed(models=models))
    assert max(map(columns, lines)) <= 80
    rows = [line for line in lines if line.startswith("guided ")]
    assert sum(line.count("n=12") for line in rows) == 5
    assert len(rows) > 1


def test_terminal_single_model_has_table_by_prompt() -> None:
    lines = text(claimed(models=("m",)))
    head = next(at for at, line in enumerate(lines) if line.startswith("prompt "))
    assert lines[head + 1].split()[:4] == ["direct", "12", "0.500", "0.254-0.746"]
    assert POOLED in lines


def test_terminal_verbose_single_model_has_one_table_by_prompt() -> None:
    lines = text(claimed(models=("m",)), verbosity=1)
    assert len([line for line in lines if line.startswith("direct ")]) == 1


def test_terminal_brief_line_counts_pooled_prompts() -> None:
    assert "2 prompts pooled" in text(claimed(), verbosity=-1)[0]
    assert "2 prompts pooled" in text(claimed(models=("m",)), verbosity=-1)[0]
    assert "pooled" not in text(claimed(("direct",)), verbosity=-1)[0]


def test_single_prompt_has_no_grid_and_no_note() -> None:
    record = run_of(claimed(("direct",)), CLAIMS)
    assert [table.spec.name for table in tables_of(tally_of(record))] == ["methods"]
    assert not any("prompt" in line for line in text(claimed(("direct",))))


def test_families_with_one_prompt_each_are_not_pooled() -> None:
    other = [step(at, "bread", 0.5, "m") for at in range(3)]
    for trial in other:
        trial.question.labels["prompt"] = "guided"
    assert tally_of(run_of([*claimed(("direct",), ("m",)), *other], CLAIMS, STEPS)).pooled_prompts == ()


def test_family_with_own_table_by_prompt_keeps_it() -> None:
    own = TableSpec("mine", "prompt", (Column("n"), Column("recall")), rows="label", label="prompt")
    described = replace(CLAIMS, tables=(own,))
    assert [table.spec.name for table in tables_of(tally_of(run_of(claimed(), described)))] == ["mine"]


def test_markdown_grid_has_column_for_each_model() -> None:
    lines = markdown(run_of(claimed(), CLAIMS)).splitlines()
    at = lines.index("Pass rates by prompt")
    assert lines[at + 2] == "| prompt | `org/large` | `small` |"
    assert lines[at + 4] == "| `direct` | 0.500 (0.254-0.746, n 12) | 0.500 (0.254-0.746, n 12) |"
    assert f"- {POOLED}." in lines


def test_html_grid_shows_rates_and_filter_by_prompt() -> None:
    page = html(run_of(claimed(), CLAIMS))
    table = page[page.index("<caption>Pass rates by prompt") :].partition("</table>")[0]
    assert table.count('<span class="rate">0.500</span>') == table.count('<span class="rate">1.000</span>') == 2
    assert table.count("n 12") == 4
    assert 'data-filter="prompt_template"' in page
    assert POOLED in page


def test_html_grid_of_graded_questions_shows_mean_scores() -> None:
    page = html(run_of(graded(), STEPS))
    table = page[page.index("<caption>Graded questions: mean scores by prompt") :].partition("</table>")[0]
    assert table.count('<span class="rate">0.500</span>') == 2


def test_csv_and_json_tables_hold_every_number_of_the_grid() -> None:
    record = run_of([*claimed(), *graded()], CLAIMS, STEPS)
    rows = [row for row in csv.DictReader(StringIO(tables_csv(record), newline="")) if row["table"] == "by prompt"]
    rates = {(row["row"], row["model"]): row["value"] for row in rows if row["column"] == "rate"}
    assert rates == {(p, m): "0.5" if p == "direct" else "1.0" for p in PROMPTS for m in MODELS}
    (table,) = (table for table in record["tables"] if table["name"] == "graded by prompt")
    means = {(row["name"], row["model"]): row["cells"]["mean"]["value"] for row in table["rows"]}
    assert means == {(p, m): 0.5 if p == "direct" else 0.0 for p in PROMPTS for m in MODELS}


def test_junit_properties_hold_each_prompt_and_model() -> None:
    record = run_of(claimed(), CLAIMS)
    values = dict(suite_properties(tally_of(record), about_of(record)))
    assert values["taskgraph.prompt.direct[small]"].startswith("n=12 right=6 rate=0.500")
    assert values["taskgraph.prompt.guided[org/large]"].startswith("n=12 right=12 rate=1.000")
    assert dict(properties(claimed()[0], CLAIMS))["taskgraph.prompt"] == "guided"
