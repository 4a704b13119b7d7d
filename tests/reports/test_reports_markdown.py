from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from described_runs import about_run, described
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.reports.markdown import LIMIT, markdown
from pytest_taskgraph.reports.markdown.elements import cell, code, fenced_block, words
from pytest_taskgraph.reports.terminal import lines as terminal_lines
from pytest_taskgraph.results import record
from pytest_taskgraph.results.comparison import RunComparison, compare
from pytest_taskgraph.results.record.facts import Provenance
from pytest_taskgraph.results.tally import Tally
from pytest_taskgraph.trial import Failure, Outcome, Question, Reply, Score, Trial

LEAST = 20_000  # characters that suffice for any run
READER = MarkdownIt("commonmark", {"html": True}).enable("table")
ABOUT = about_run("0.1.0", ("m",), 7, ("wadl",), "chain-of-thought", "lenient", ("answers",))
NASTY = [
    "`",
    "a``b```",
    "|",
    "\\|",
    "\\",
    "\n# Passed\n",
    "</details><script>alert(1)</script>",
    "![x](http://e.example/t.png)",
    "[x](javascript:1)",
    "@octocat #123 GH-1 https://e.example www.e.example a@e.example",
    "\x1b[31m\u202e\u0000",
    "```\n\n## Injected\n\n~~~",
    "| a | b |\n| - | - |",
    "- x\n1. y",
    "<!--",
    "$a$ :smile:",
    "&lt;b&gt; &#64;x",
    "\r\r\u2028\u0085",
]
anything = st.text(st.characters(), max_size=30) | st.lists(st.sampled_from(NASTY), max_size=4).map("".join)


def make_trial(
    name: str = "q-0", outcome: Outcome = "right", *, pattern: str = "next_tasks", model: str = "m", text: str = "A"
) -> Trial:
    question = Question(
        name, "understanding", pattern, "structure", "Which?", "p", "task-set", ["A", "B"], "jaccard", cluster=name,
        digests={"workflow": name},
    )  # fmt: skip
    if outcome in ("error", "skipped"):
        return Trial(question, model, outcome, failure=Failure("timeout", text))
    mark = Score(1.0 if outcome == "right" else 0.0, given=[text], status="read", remark="")
    return Trial(question, model, outcome, Reply(text, 120, 3, 0.001), mark)


def built(*trials: Trial, gates: list[dict[str, Any]] | None = None, **facts: Any) -> dict[str, Any]:  # noqa: ANN401
    record_data = record.build(trials, replace(ABOUT, **facts))
    return record_data if gates is None else {**record_data, "gates": gates}


def flat(text: str) -> Iterator[Token]:
    """All tokens, those within a line too."""
    for token in READER.parse(text):
        yield token
        yield from token.children or ()


def headings(text: str) -> list[str]:
    tokens = list(READER.parse(text))
    return [f"{token.tag} {tokens[at + 1].content}" for at, token in enumerate(tokens) if token.type == "heading_open"]


def results_of(text: str) -> str:
    """Return the part of the report with the tables of results."""
    return text.partition("### Results")[2]


def shape(text: str) -> dict[str, int]:
    """How many headings, rows, cells, blocks and lists the document has."""
    kinds = ("heading_open", "table_open", "tr_open", "th_open", "td_open", "fence", "list_item_open", "html_block")
    token_types = [token.type for token in flat(text)]
    return {kind: token_types.count(kind) for kind in kinds}


def test_markdown_verdict_is_first_heading() -> None:
    assert (
        headings(markdown(built(make_trial("a"), make_trial("b", "wrong"))))[0] == "h2 ❌ taskgraph: 1 of 2 not right"
    )
    assert headings(markdown(built(make_trial("a"))))[0] == "h2 ✅ taskgraph: The question is right"
    headline = headings(markdown(built(make_trial("a", "wrong"), fail_on=())))[0]
    assert headline == "h2 📋 taskgraph: Report only: 0 of 1 right"


def test_markdown_gates_show_reasons_and_failed_first() -> None:
    gates = [
        {"name": "gates::data>=0.5", "outcome": "passed", "reason": "1.000 of 1"},
        {"name": "gates::structure>=0.8", "outcome": "failed", "reason": "0.500 of 2 is below 0.8"},
    ]
    text = markdown(built(make_trial("a"), make_trial("b", "wrong"), fail_on=("gates",), gates=gates))
    assert headings(text)[0] == "h2 ❌ taskgraph: 1 of 2 gates failed"
    lines = [line for line in text.splitlines() if line.startswith("- ")]
    assert lines[0] == "- ❌ failed: `gates::structure>=0.8`: 0.500 of 2 is below 0.8"
    assert lines[1].startswith("- ✅ passed: `gates::data>=0.5`")


def test_markdown_gate_names_its_model_once() -> None:
    gate = {"outcome": "passed", "reason": "1.000 of 1", "model": "http://h/v1#m"}
    gates = [{**gate, "name": "gates::structure[http://h/v1#m]"}, {**gate, "name": "gates::errors"}]
    several = markdown(
        built(make_trial("a"), fail_on=("gates",), gates=gates, models=("http://h/v1#m", "n"))
    ).splitlines()
    assert "- ✅ passed: `gates::structure[http://h/v1#m]`: 1.000 of 1" in several
    assert "- ✅ passed: `gates::errors` `http://h/v1#m`: 1.000 of 1" in several
    assert "- ✅ passed: `gates::errors`: 1.000 of 1" in markdown(
        built(make_trial("a"), fail_on=("gates",), gates=gates)
    )


def test_markdown_patterns_stand_in_order_of_catalogue() -> None:
    descriptions = described("next_tasks", "chain")
    tally, about = Tally(descriptions), replace(ABOUT, families=tuple(descriptions))
    for trial in (make_trial("a", pattern="chain"), make_trial("b"), make_trial("c", pattern="another")):
        tally.add(trial)
    made_record = record.build(tally, about)
    rows = re.findall(r"^\| `(\w+)`", results_of(markdown(made_record)), re.M)
    names = [line.strip().split()[0] for line, _ in terminal_lines(tally, about, 1) if line.startswith("  ")]
    assert rows == names == ["next_tasks", "chain", "another"]
    undescribed = results_of(markdown({**made_record, "families": []}))
    assert re.findall(r"^\| `(\w+)`", undescribed, re.M) == sorted(rows)


def test_markdown_repetitions_have_table_and_notes() -> None:
    def again(trial: Trial) -> Trial:
        return replace(trial, question=replace(trial.question, id=trial.question.id + "-r2", repetition=2))

    trials = [make_trial("a"), make_trial("b", "wrong")]
    text = markdown(built(*trials, again(make_trial("a")), again(make_trial("b"))))
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert any(
        line.startswith("| 2 repetitions | questions | mean score | majority | pass@2 | pass^2 |") for line in rows
    )
    assert "| **`total`** | 2 | 0.750 | 0.500 | 1.000 | 0.500 | 0.500 | 0.354 |" in rows
    assert "n counts replies: a question asked 2 times is 2 of them" in text
    assert "repetitions" not in markdown(built(*trials))


def test_markdown_table_has_row_for_each_pattern() -> None:
    text = markdown(
        built(
            *(make_trial(f"a{at}") for at in range(10)),
            make_trial("b", "wrong"),
            make_trial("c", "error", pattern="chain"),
        )
    )
    rows = [line for line in results_of(text).splitlines() if line.startswith("|")]
    assert rows[0] == "| pattern | n | pass rate | 95% interval | mean | errors |"
    assert "| `next_tasks` | 11 | 0.909 | 0.623-0.984 | 0.909 | 0 |" in rows
    assert "| `chain` | 0 | - | - | - | 1 |" in rows


def test_markdown_models_of_pattern_stand_together() -> None:
    text = markdown(built(*(make_trial(name, pattern=name, model=model) for name in "xy" for model in "mn")))
    rows = [line.split(" | ")[:2] for line in results_of(text).splitlines() if line.startswith("| `")]
    assert rows == [["| `x`", "`m`"], ["| `x`", "`n`"], ["| `y`", "`m`"], ["| `y`", "`n`"]]


def test_markdown_long_table_folds_rows_that_are_all_right() -> None:
    trials = [make_trial(f"q{at}", "wrong" if at == 3 else "right", pattern=f"p{at:02}") for at in range(40)]
    text = markdown(built(*trials))
    opened, _, folded = text.partition("<details>")
    assert "`p03`" in opened
    assert "`p04`" not in opened
    assert "`p04`" in folded


def test_markdown_wrong_answer_shows_question_answers_and_reply() -> None:
    wrong = replace(make_trial("b", "wrong", text="C"), reply=Reply("C, then\nFinal answer: C"))
    block = next(token.content for token in flat(markdown(built(make_trial("a"), wrong))) if token.type == "fence")
    assert "question: Which?\nexpected: A, B\ngiven: C" in block
    assert block.endswith("reply:\n  C, then\n  Final answer: C\n")


def test_markdown_wrong_answer_says_why() -> None:
    wrong = make_trial("b", "wrong", text="a")
    block = next(token.content for token in flat(markdown(built(wrong))) if token.type == "fence")
    assert "given: a\nwhy: a is not A: case, spaces and punctuation count\n" in block


def test_markdown_wrong_answers_are_ten_spread_over_patterns() -> None:
    trials = [make_trial(f"{name}{at}", "wrong", pattern=name) for name in "ab" for at in range(20)]
    text = markdown(built(*trials))
    letters = re.findall(r"^`([ab])\d+` `m` wrong$", text, re.MULTILINE)
    assert sorted(letters) == ["a"] * 5 + ["b"] * 5
    assert "Wrong answers (10 of 40)" in text


def test_markdown_missing_replies_are_counted_by_kind() -> None:
    errors = [make_trial(f"e{at}", "error", text="no answer in 300 s") for at in range(3)]
    skipped = replace(make_trial("s", "skipped"), failure=Failure("budget::calls", "10 of 10 sent"))
    rows = [
        line for line in markdown(built(*errors, skipped)).splitlines() if line.startswith(("| error", "| skipped"))
    ]
    assert rows == [
        "| error | `timeout` | `m` | `no answer in 300 s` | 3 |",
        "| skipped | `budget::calls` | `m` | `10 of 10 sent` | 1 |",
    ]


def test_markdown_lost_questions_are_named() -> None:
    text = markdown(built(make_trial("a"), lost=("q-1", "q-2")))
    assert "2 questions lost with the worker that asked: `q-1`, `q-2`" in text


def test_markdown_settings_and_spending_stand_last() -> None:
    text = markdown(built(make_trial("a")))
    _, _, last = text.partition("### The run\n")
    assert "- seed: `7`" in last
    assert "- pytest-taskgraph-bench: `0.1.0`" in last
    assert "$0.0010" in last


def changed() -> tuple[dict[str, Any], dict[str, Any]]:
    before = [make_trial(f"q{at:02}") for at in range(20)]
    after = [make_trial(f"q{at:02}", "wrong", text="C") for at in range(20)]
    other = replace(before[0], question=replace(before[0].question, id="t", cluster="t", digests={"workflow": "t"}))
    reworded = replace(other, question=replace(other.question, text="Which ones?"))
    return built(*before, other), built(*after, reworded)


def test_markdown_comparison_shows_patterns_flips_and_template() -> None:
    before, after = changed()
    text = markdown(after, compare(before, after))
    assert headings(text)[0].startswith("h2 ❌ taskgraph: Worse than before")
    assert "| `next_tasks` | worse | 20 | 1.000 → 0.000 | 1.000 → 0.000 | 20 | 0 | <0.001 |" in text
    assert "| `q07` | `A, B` | right: `A` | wrong: `C` |" in text
    assert "The template changed for 1 question, not compared" in text
    assert "```diff\n- Which?\n+ Which ones?\n```" in text


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(anything, anything, anything)
def test_markdown_any_text_keeps_document_structure(text: str, name: str, model: str) -> None:
    def rendered(text: str, name: str, model: str) -> str:
        trials = [
            make_trial("a", "wrong", pattern=f"p{name}", model=f"m{model}", text=f"x{text}"),
            make_trial("b", "error", text=f"x{text}"),
        ]
        trials[1] = replace(trials[1], model=trials[0].model)
        gates = [{"name": f"gates::{name}", "outcome": "failed", "reason": f"x{text}"}]
        now = built(*trials, gates=gates, models=(f"m{model}",), prompts=(f"f{name}",))
        was = built(replace(trials[0], outcome="right", score=Score(1.0, given=[f"x{text}"])))
        return markdown(now, compare(was, now))

    document, plain = rendered(text, name, model), rendered("", "", "")
    assert shape(document) == shape(plain)
    assert headings(document) == headings(plain)
    for token in flat(document):
        assert token.type not in ("link_open", "image", "html_inline")
        if token.type == "html_block":
            assert re.fullmatch(r"<details>\n<summary>[\w ()]+</summary>\n|</details>\n?", token.content)
        if token.type == "text":
            assert not re.search(r"[@#<>]|://|www\.|GH-", token.content)
    assert all(char == "\n" or char.isprintable() for char in document.replace("\t", ""))
    document.encode()


@given(anything)
def test_code_and_cell_show_same_text(text: str) -> None:
    inline = READER.parseInline(f"x {code(text, None)} y")[0].children or []
    if code(text) == "-":
        return
    assert [token.type for token in inline] == ["text", "code_inline", "text"]
    cells = [
        token for token in flat(f"| a | b |\n| - | - |\n| {cell(text, 1000)} | 1 |") if token.type == "code_inline"
    ]
    assert len(cells) == 1
    if "\\|" not in text:
        assert cells[0].content == inline[1].content


@given(st.lists(anything, max_size=3))
def test_fenced_block_holds_any_lines(lines: list[str]) -> None:
    tokens = READER.parse("\n".join([*fenced_block(lines), "", "after"]))
    assert [token.type for token in tokens] == ["fence", "paragraph_open", "inline", "paragraph_close"]


@pytest.mark.parametrize(
    "text", ["All 4 right", "worse: 0.5 of 3, not 12.5%", "it's a survey (of 1,000).", "1 of 2 right"]
)
def test_words_plain_english_is_unchanged(text: str) -> None:
    assert words(text) == text


@pytest.mark.parametrize(
    "text", ["@me", "see #1", "GH-1", "a*b*", "www.example", "x.py", "a_b_", "1. x", "- x", "deadbee1", ":tada:", "a<b"]
)
def test_words_possible_markup_stands_in_code(text: str) -> None:
    assert words(text) == f"`{text}`"


def test_words_long_text_is_fast() -> None:
    assert words("a" * 100_000 + "!", None).startswith("`aaa")


@cache
def long_report() -> tuple[dict[str, Any], RunComparison]:
    """Return a record of long names and replies, and its comparison with another one."""
    before = [
        make_trial(f"{'q' * 80}{at:04}", model=f"{'m' * 80}{at % 7}", pattern=f"{'p' * 80}{at % 60}")
        for at in range(200)
    ]
    reply = "|`😀" * 3_000
    after = [
        make_trial(trial.question.id, "wrong", model=trial.model, pattern=trial.question.group, text=reply)
        for trial in before
    ]
    after += [make_trial(f"e{at}", "error", text=reply, model=f"n{at}") for at in range(100)]
    gates = [{"name": f"g{at}", "outcome": "failed", "reason": reply} for at in range(100)]
    old, new = built(*before), built(*after, gates=gates)
    return new, compare(old, new)


@pytest.mark.parametrize("limit", [pytest.param(LIMIT, marks=pytest.mark.exhaustive), LEAST])
def test_markdown_long_report_is_shortened_and_says_so(limit: int) -> None:
    text = markdown(*long_report(), limit)
    assert len(text) <= limit
    assert "_Shortened to fit; the record has everything._" in text
    assert len(text.encode()) < 1 << 20


def test_markdown_short_report_is_not_shortened() -> None:
    assert "Shortened" not in markdown(built(make_trial("a"), make_trial("b", "wrong")))


def test_markdown_does_not_depend_on_arrival_order() -> None:
    trials = [make_trial(f"q{at}", "wrong" if at % 3 else "error", pattern=f"p{at % 4}") for at in range(12)]
    assert markdown(built(*trials)) == markdown(built(*trials[::-1]))


def test_markdown_empty_record_is_reported_damaged_refused() -> None:
    assert headings(markdown(built()))[0] == "h2 📋 taskgraph: No question was asked"
    with pytest.raises(UsageError, match="the record is damaged"):
        markdown({"trials": [{}], "texts": {}})


def test_markdown_circumstances_of_foreign_record_are_code() -> None:
    run = replace(ABOUT, provenance=Provenance(versions={"\x1b[31m<b>\n# x": "`1`"}))
    text = markdown(record.build([], run))
    assert "\x1b" not in text
    assert "\n# x" not in text
    assert "- `\\x1b[31m<b> # x`: ``" in text
