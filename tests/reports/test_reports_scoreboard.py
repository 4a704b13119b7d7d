"""The scoreboard in words: HTML and Markdown."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from described_tables import CLAIMS, STEPS, claim, run_of, step
from html_page import HOSTILE, Page

from pytest_taskgraph.reports.html import html
from pytest_taskgraph.reports.html.table_view import scoreboard_view
from pytest_taskgraph.reports.markdown import markdown
from pytest_taskgraph.reports.markdown.table_lines import scoreboard_lines
from pytest_taskgraph.reports.scoreboard_text import cost_of, seconds_text, time_of, tokens_text
from pytest_taskgraph.results.record import tally_of
from pytest_taskgraph.results.scoreboard import Effort
from pytest_taskgraph.trial import Reply, Score, Trial
from pytest_taskgraph.usage import Usage

PLAIN = replace(CLAIMS, tables=())
POOLED = replace(CLAIMS, tables=(replace(CLAIMS.tables[0], headline="g_mean"),))
PRICED: dict[str, Any] = {"tokens_in": 1200, "tokens_out": 34, "cost": 0.0125, "latency": 0.25}


def effort(
    replies: int,
    untold: int = 0,
    unpriced: int = 0,
    cost: float = 0.0,
    seconds: float | None = None,
    untimed: int = 0,
) -> Effort:
    tokens = 100 * (replies - untold) if replies > untold else None
    known = cost if replies > unpriced else None
    usage = Usage(replies, tokens_in=tokens, cost=known, latency=seconds, untold=untold, unpriced=unpriced)
    return Effort(usage, None, untimed)


def run(*models: str, right: int = 6, **reply: Any) -> list[Trial]:  # noqa: ANN401
    return [
        replace(claim(at, right=at < right + number, model=model), reply=Reply("yes", **reply))
        for number, model in enumerate(models)
        for at in range(12)
    ]


def rows_of(trials: list[Trial], *families: Any) -> list[str]:  # noqa: ANN401
    """Return the rows of the scoreboard of the page."""
    text = html(run_of(trials, *(families or (PLAIN, STEPS))))
    board = text[text.index('<section id="scoreboard"') :].partition("</section>")[0] + "</section>"
    return Page(board).all("tr")


@pytest.mark.parametrize(
    ("taken", "texts"),
    [
        (effort(0), ("-", "-", "-")),
        (effort(3, untold=3, unpriced=3, untimed=3), ("unknown", "unknown", "unknown")),
        (
            effort(3, untold=1, unpriced=1, cost=0.5, seconds=2.0, untimed=1),
            ("at least 200", "at least $0.5000", "at least 2.00 s"),
        ),
        (effort(3, cost=0.0, seconds=125.0), ("300", "$0.0000", "2 min")),
    ],
)  # fmt: skip
def test_scoreboard_unknown_amounts_are_no_zero(taken: Effort, texts: tuple[str, str, str]) -> None:
    assert (tokens_text(taken.usage.tokens_in, taken.usage), cost_of(taken.usage), time_of(taken)) == texts


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0, "0.00 s"), (9.994, "9.99 s"), (34.4, "34 s"), (7500, "2 h 5 min"), (420, "7 min")]
)
def test_scoreboard_seconds_have_unit_that_suits(seconds: float, text: str) -> None:
    assert seconds_text(seconds) == text


def test_html_scoreboard_states_score_spending_and_highest() -> None:
    head, first, second = rows_of(run("a", "b", **PRICED))
    assert head == "model pass rate answered errors tokens in tokens out cost time"
    assert first == "★ b 0.583 0.320–0.807 12 0 14,400 408 $0.1500 3.00 s median 0.25 s"
    assert second.startswith("a 0.500 ")


def partly_right(model: str) -> list[Trial]:
    return [replace(claim(at, right=False, model=model), score=Score(0.5, given="yes")) for at in range(12)]


def test_html_scoreboard_states_equal_mean_and_pass_rate_once() -> None:
    head, first, second = rows_of([*run("a"), *partly_right("p")])
    assert head == "model mean score pass rate answered errors"
    assert first == "a 0.500 0.254–0.746 same 12 0"
    assert second.startswith("p 0.500 0.254–0.746 0.000 0.000–0.242 ")


def test_markdown_scoreboard_states_equal_mean_and_pass_rate_once() -> None:
    text = markdown(run_of([*run("a"), *partly_right("p")], PLAIN))
    assert "| `a` | 0.500 | 0.254-0.746 | same | 12 | 0 |" in text
    assert "- `a`: 6 of 12 right, pass rate 0.500\n- `p`: 0 of 12 right, pass rate 0.000, mean 0.500\n" in text


def test_scoreboard_baseline_stands_below_models_and_has_no_star() -> None:
    trials = run("baseline:random", "low", "mid", right=4) + run("baseline:rules", right=12)
    rows = rows_of(trials)
    assert [row.partition(" 0")[0].partition(" 1.")[0] for row in rows[1:]] == [
        "★ mid", "low", "baseline rules", "baseline random",
    ]  # fmt: skip
    names = [line.split(" | ")[0] for line in markdown(run_of(trials, PLAIN)).splitlines() if line.startswith("| `")]
    assert names[:4] == ["| `mid` ★", "| `low`", "| `baseline rules`", "| `baseline random`"]


def test_html_scoreboard_remark_of_simulated_model_is_left_out() -> None:
    model = "simulated:0.5 (knows the answers; for testing the machinery)"
    text = html(run_of([*run(model), *run("b")], PLAIN))
    page = Page(text)
    shown = [part for name in ("th", "bdi", "option", "li", "p", "dd", "h1", "desc") for part in page.all(name)]
    assert [part for part in shown if "knows the answers" in part] == [
        "A simulated model knows the answers and tests the machinery: its scores say nothing about a model."
    ]
    assert "simulated:0.5" in page.all("bdi")


def test_html_scoreboard_counts_reasoning_below_tokens_out() -> None:
    rows = rows_of(run("a", **PRICED, tokens_reasoning=20))
    assert " 408 240 reasoning " in rows[1]


def test_html_scoreboard_numbers_equal_those_of_table() -> None:
    trials = run("a", "b")
    text = html(run_of(trials, PLAIN))
    for ends in ("0.254–0.746", "0.320–0.807"):
        assert text.count(ends) == 3  # here, of the group and the total in the table
    assert rows_of(trials)[1].split()[2] == "0.583"


def test_html_scoreboard_leaves_out_what_is_unknown_everywhere() -> None:
    assert rows_of(run("a"))[0] == "model pass rate answered errors"
    text = html(run_of(run("a"), PLAIN))
    assert "Unknown of all replies: tokens, cost, time." in text


def test_html_scoreboard_names_what_is_scored() -> None:
    rows = rows_of([*run("m"), *(step(at, "bread", 0.5) for at in range(4))], POOLED, STEPS)
    assert rows[0].startswith("model score ")
    assert [row for row in rows if ":" in row] == [
        "all questions: mean score",
        "claims, method: G-mean",
        "steps, graded: mean score",
    ]


def test_html_scoreboard_links_to_model_and_prompt() -> None:
    trials = [claim(at, right=at > 5, model="a b", prompt="x&y" if at % 2 else "z") for at in range(12)]
    page = Page(html(run_of(trials, PLAIN)))
    links = [own["href"] for name, own, _ in page.elements if name == "a" and "a%20b" in own.get("href", "")]
    assert links[:2] == ["#show:model=a%20b&prompt_template=x%26y", "#show:model=a%20b&prompt_template=z"]


def test_html_scoreboard_escapes_hostile_names() -> None:
    trials = [claim(at, model=HOSTILE, prompt=f"{HOSTILE}{at}") for at in range(3)]
    description = replace(PLAIN, name="claims")
    text = html(run_of(trials, description))
    assert all(part not in text for part in ("<script>alert", "onerror=alert(2)>", "\x1b", "\u202e"))
    assert Page(text).all("table", class_="scoreboard")


def test_html_scoreboard_sorts_by_plain_numbers() -> None:
    text = html(run_of(run("a", **PRICED), PLAIN))
    cells = [own["data-sort"] for name, own, _ in Page(text).elements if "data-sort" in own]
    assert cells[-5:] == ["0", "14400", "408", "0.15", "3"]


def test_scoreboard_view_of_no_trial_is_none() -> None:
    assert scoreboard_view(tally_of(run_of([]))) is None


def test_html_without_questions_has_no_scoreboard_and_map() -> None:
    text = html(run_of([]))
    assert 'id="scoreboard"' not in text
    assert 'id="heat-map"' not in text


def test_markdown_scoreboard_stands_before_results() -> None:
    text = markdown(run_of(run("a", "b", **PRICED), PLAIN))
    scores, _, _ = text.partition("### Results")
    _, _, table = scores.partition("### Scores")
    rows = [line for line in table.splitlines() if line.startswith("|")]
    assert rows[0].startswith("| model | pass rate | 95% interval | answered | errors | tokens in |")
    assert rows[2] == "| `b` ★ | 0.583 | 0.320-0.807 | 12 | 0 | 14,400 | 408 | $0.1500 | 3.00 s |"
    assert rows[3].startswith("| `a` | 0.500 | ")


def test_markdown_scoreboard_begins_with_all_questions() -> None:
    text = markdown(run_of([*run("m"), step(0)], PLAIN, STEPS))
    rows = [line for line in text.splitlines() if line.startswith(("| **all", "| claims |", "| steps |"))]
    assert [row.split(" | ")[0] for row in rows] == ["| **all questions**", "| claims", "| steps"]


@pytest.mark.parametrize(("most", "line"), [(2, "And 1 more row."), (1, "And 2 more rows.")])
def test_scoreboard_in_markdown_counts_rows_left_out(most: int, line: str) -> None:
    tally = tally_of(run_of(run("a", "b", "c"), PLAIN))
    assert line in scoreboard_lines(tally, most)
