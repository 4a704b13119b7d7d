"""The heat map of the page."""

from __future__ import annotations

from dataclasses import replace

import pytest
from described_tables import CLAIMS, STEPS, claim, run_of, step
from html_page import HOSTILE, Page

from pytest_taskgraph.reports.html import html
from pytest_taskgraph.reports.html.heat_map import LEVELS, HeatMap, heat_maps
from pytest_taskgraph.results.record import tally_of
from pytest_taskgraph.results.tables import family_tables
from pytest_taskgraph.trial import Trial

PLAIN = replace(CLAIMS, tables=(), groups=("whole", "pairs"))


def maps_of(trials: list[Trial]) -> list[HeatMap]:
    return heat_maps(tally_of(run_of(trials, PLAIN, STEPS)))


def texts(heat_map: HeatMap) -> dict[str, list[str]]:
    lines = [line for part in heat_map.parts for line in part.lines]
    return {line.name: [cell.text if cell else "" for cell in line.cells] for line in lines}


def test_heat_map_shows_pass_rates_of_table() -> None:
    trials = [claim(at, group, right=at < right, model=model)
              for model, right in (("a", 3), ("b", 9)) for group in ("whole", "pairs") for at in range(12)]  # fmt: skip
    (heat_map,) = maps_of(trials)
    assert [column.model for column in heat_map.columns] == ["a", "b"]
    assert texts(heat_map) == {name: ["0.250", "0.750"] for name in ("whole", "pairs", "total")}
    (table,) = family_tables(tally_of(run_of(trials, PLAIN)))
    rates = [f"{entry.cells['rate'].value:.3f}" for line in table.lines for entry in line.entries if entry]
    assert rates == [text for cells in texts(heat_map).values() for text in cells]


@pytest.mark.parametrize(("right", "level"), [(0, 0), (1, 0), (2, 1), (10, 5), (19, 9), (20, 9)])
def test_heat_map_level_follows_value(right: int, level: int) -> None:
    trials = [claim(at, right=at < right) for at in range(20)] + [claim(0, "whole")]
    (heat_map,) = maps_of(trials)
    cell = next(line for line in heat_map.parts[0].lines if line.name == "pairs").cells[0]
    assert cell is not None
    assert cell.level == level < LEVELS


def test_heat_map_marks_few_questions_and_groups_not_asked() -> None:
    (heat_map,) = maps_of([claim(0, model="a"), claim(0, "whole", right=False, model="b")])
    assert texts(heat_map) == {"whole": ["", "0.000*"], "pairs": ["1.000*", ""], "total": ["1.000*", "0.000*"]}
    assert heat_map.few


def test_heat_map_of_graded_groups_shows_mean_scores() -> None:
    (heat_map,) = maps_of([step(0), step(1, "bread", 0.25), step(2, "bread", 0.75)])
    assert [part.title for part in heat_map.parts] == ["pass rate", "mean score of graded questions"]
    assert texts(heat_map)["bread"] == ["0.500*"]


def test_heat_map_of_prompts_has_column_for_each() -> None:
    trials = [claim(at, group, right=at % 2 == 0, model=model, prompt="xy"[at % 2])
              for model in "ab" for group in ("whole", "pairs") for at in range(4)]  # fmt: skip
    (heat_map,) = maps_of(trials)
    assert [(column.model, column.prompt) for column in heat_map.columns] == [
        ("a", "x"), ("a", "y"), ("b", "x"), ("b", "y"),
    ]  # fmt: skip
    assert texts(heat_map)["whole"] == ["1.000*", "0.000*"] * 2


def test_heat_map_of_single_group_is_left_out() -> None:
    assert maps_of([claim(0), claim(1)]) == []


def test_html_heat_map_cells_link_to_questions() -> None:
    page = Page(html(run_of([claim(0, model="a b"), claim(0, "whole", model="c")], PLAIN)))
    links = [own["href"] for name, own, _ in page.elements if name == "a" and own.get("class") == "h9"]
    assert links[:2] == ["#show:group=whole&model=c", "#show:group=pairs&model=a%20b"]
    assert page.all("table", class_="heat")


def test_html_heat_map_of_single_model_has_tiles() -> None:
    page = Page(html(run_of([claim(0), claim(1, "whole", right=False)], PLAIN)))
    assert page.all("ul", class_="tiles") == ["whole 0.000* pairs 1.000* total 0.500*"]
    assert page.all("table", class_="heat") == []


def test_html_heat_map_escapes_hostile_names() -> None:
    text = html(run_of([claim(0, HOSTILE, model=HOSTILE), claim(0, model="b")], PLAIN))
    assert all(part not in text for part in ("<script>alert", "onerror=alert(2)>", "\x1b", "\u202e"))
    assert Page(text).all("table", class_="heat")
