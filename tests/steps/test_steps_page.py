"""The methods, options, metrics and numbers of benchmarks/steps.md are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_taskgraph import Settings, steps
from pytest_taskgraph.families.steps import step_questions, steps_tables
from pytest_taskgraph.families.steps.construction import PAPER_RULE, build_choices, build_classification
from pytest_taskgraph.families.steps.prompts import PROMPTS
from pytest_taskgraph.families.steps.recipe_sets import MOST_RECIPES_KEPT
from pytest_taskgraph.families.steps.recipe_sets.recipe_set import read_embedded_recipes
from pytest_taskgraph.families.steps.steps_options import ANSWER, METHOD
from pytest_taskgraph.families.steps.steps_settings import StepsSettings

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "benchmarks" / "steps.md").read_text(encoding="utf-8")
FLAT_PAGE = re.sub(r"\s+", " ", PAGE)
BENCHMARKS = (DOCS / "benchmarks" / "index.md").read_text(encoding="utf-8")


def table(head: str, page: str = PAGE) -> list[list[str]]:
    """Return the cells of the rows of the table whose first line begins with these words."""
    (rows,) = re.findall(rf"^\| {re.escape(head)} \|.*\n\|[-|]+\n((?:\|.*\n)+)", page, re.MULTILINE)
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows.splitlines()]


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_methods_of_the_page_are_those_of_the_family_by_kind() -> None:
    kind, names_of_kind = "", []
    for row in table("kind"):
        kind = (names(row[0]) or [kind])[0]
        names_of_kind.append((kind, *names(row[1])))
    assert names_of_kind == [(method.section, method.name) for method in step_questions.METHODS.values()]
    assert f"The default is `{METHOD.default}`." in FLAT_PAGE


def test_values_of_options_on_the_page_are_those_of_the_code() -> None:
    assert {names(row[0])[0] for row in table("value")} == {*ANSWER.choices}
    assert {f"--taskgraph-data={name}" for name in steps.data_names} <= {
        name.partition("=PATH")[0] for row in table("`--taskgraph-data`") for name in names(row[0])
    }
    assert [f"--taskgraph-{option.name}" for option in steps.options if f"--taskgraph-{option.name}" not in PAGE] == []


def test_defaults_on_the_page_are_those_of_the_settings() -> None:
    settings = StepsSettings.of(Settings())
    words = {4: "four", 6: "six"}
    assert f"`--taskgraph-shots` demonstrations ({settings.examples})" in FLAT_PAGE
    assert f"that each method asks about: {settings.instances} by default" in FLAT_PAGE
    assert f"once for each of {words[settings.seeds]} draws of demonstrations" in FLAT_PAGE
    assert f"`--taskgraph-steps-prompt={settings.prompt_name}`, the default" in FLAT_PAGE
    assert f"The rule of the paper uses recipes of {PAPER_RULE.shortest} to {PAPER_RULE.longest} steps" in FLAT_PAGE
    assert f"{MOST_RECIPES_KEPT:,} recipes of each split are used at most" in FLAT_PAGE


def test_pages_count_the_questions_of_the_default_run() -> None:
    settings = Settings()
    questions = [steps.question(reference, settings) for reference in steps.references(settings, {})]
    assert len({question.group for question in questions}) == 3
    assert f"three methods are asked about four recipes each: {len(questions)} questions" in FLAT_PAGE
    assert f"`suites/steps` adds {len(questions)} questions about next steps" in re.sub(r"\s+", " ", BENCHMARKS)


def test_prompt_files_on_the_page_are_those_of_the_package() -> None:
    assert {*re.findall(r"`steps/(\w+)\.jinja`", PAGE)} == {path.stem for path in PROMPTS.path.glob("*.jinja")}


def test_page_states_the_sizes_of_the_embedded_splits() -> None:
    recipes = read_embedded_recipes()
    sizes = len(recipes.train), len(recipes.dev), len(recipes.test)
    assert f"{sum(sizes)} recipes and other procedures ({sizes[0]} train, {sizes[1]} dev, {sizes[2]} test)" in PAGE


@pytest.mark.parametrize("count", [4, 7])
def test_page_counts_the_questions_of_a_recipe(count: int) -> None:
    recipe = next(recipe for recipe in read_embedded_recipes().train if len(recipe.steps) == count)
    labels = [sample.label for sample in build_classification([recipe])]
    assert (labels.count(True), labels.count(False)) == (count - 2, (count - 2) * (count - 1) // 2)
    assert len([*build_choices([recipe])]) == count - 2
    assert "gives N - 2 choices and N - 2 questions with the answer Yes" in FLAT_PAGE
    assert "gives (N - 2)(N - 1)/2 questions with the answer No" in FLAT_PAGE


def test_metrics_and_baselines_on_the_page_are_those_of_the_family() -> None:
    aggregates = {aggregate.name for aggregate in steps_tables.AGGREGATES}
    names_on_page = {name for row in table("metric") for name in names(row[0])}
    assert names_on_page <= aggregates
    over_draws = {name for name in aggregates if name.endswith(("_over_seeds", "_deviation"))}
    assert aggregates - names_on_page <= over_draws
    assert [name for row in table("`--model=`") for name in names(row[0])] == [
        f"baseline:{name}" for name in steps.baselines
    ]
