from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from described_runs import about_run

from pytest_taskgraph.reports.comparison_lines import answer_text, lines
from pytest_taskgraph.reports.escape import columns
from pytest_taskgraph.reports.markdown import markdown
from pytest_taskgraph.reports.wording import signed
from pytest_taskgraph.results.comparison import RunComparison, compare
from pytest_taskgraph.results.record import build
from pytest_taskgraph.trial import Failure, Json, Outcome, Question, Reply, Score, Trial


def trial(
    at: int, right: bool | None, prompt: str = "Think first.", given: Json = "Bake", text: str = "Which is next?"
) -> Trial:
    """The trial of a question of pattern chain, or of loop where `at` is odd; None is an error."""
    pattern = "loop" if at % 2 else "chain"
    digests = {"workflow": f"w{at}", "template": "t", "prompt_template": prompt}
    question = Question(
        f"{pattern}-wadl-n012-s0-{at:03d}", "understanding", pattern, "structure", text,
        f"Some workflow\n{prompt}\nWhich is next?", "task", "Mix", "correctness", digests=digests, cluster=f"w{at}",
    )  # fmt: skip
    if right is None:
        return Trial(question, "m", "error", failure=Failure("timeout", "none"))
    outcome: Outcome = "right" if right else "wrong"
    return Trial(question, "m", outcome, Reply("x"), Score(float(right), given="Mix" if right else given))


def compared(before: list[Trial], after: list[Trial]) -> RunComparison:
    return compare(build(before, about_run("0.1.0", models=("m",))), build(after, about_run("0.1.0", models=("m",))))


def text(comparison: RunComparison, width: int = 80, name: str = "main") -> str:
    return "\n".join(line for line, _ in lines(comparison, name, width))


@cache
def worse() -> RunComparison:
    """Return the comparison of a run with a worse one."""
    return compared(
        [trial(at, True) for at in range(60)],
        [trial(at, at >= 30 or at % 2 == 1, "Answer at once.") for at in range(60)],
    )


def test_comparison_verdict_comes_first_and_names_pattern() -> None:
    output = lines(worse(), "main", 120)
    expected = "compared with main: worse: -0.250 over 60 paired questions, p < 0.0001, worse in chain"
    assert output[0] == (expected, {"red": True, "bold": True})


def test_comparison_changed_prompt_is_noted_and_shown() -> None:
    assert (
        "the prompt template changed for 60 questions: this compares the prompt template",
        {"yellow": True},
    ) in lines(worse(), "main", 100)
    output = text(worse(), 100)
    assert "prompt template changed for 60 questions, still compared; in chain-wadl-n012-s0-000:" in output
    assert "  - Think first." in output
    assert "  + Answer at once." in output


def test_comparison_changed_patterns_stand_in_table() -> None:
    rows = [line.split() for line in text(worse(), 120).splitlines()]
    assert ["chain", "30", "1.000", "0.500", "-0.500", "15", "0", "<0.001", "worse"] in rows
    assert ["total", "60", "1.000", "0.750", "-0.250", "15", "0", "<0.001"] in rows
    assert "p: one-sided, towards worse; that of a pattern is adjusted by Holm" in text(worse(), 120)
    assert ["1", "pattern", "without", "a", "change"] in rows
    assert not any(row[:1] == ["loop"] for row in rows)


def test_markdown_comparison_has_same_figures_and_verdict_once() -> None:
    after = [trial(at, at >= 4 or at % 2 == 1) for at in range(20)]
    comparison = compared([trial(at, True) for at in range(20)], after)
    assert (comparison.verdict, comparison.total is not None and comparison.total.p) == ("inconclusive", comparison.p)
    reason = f"{comparison.verdict}: {comparison.reason}"
    gate: dict[str, Json] = {"name": "compare::main", "outcome": "skipped", "reason": reason}
    report = markdown(
        build(after, about_run("0.1.0", models=("m",), gates=(gate,), fail_on=("regression",))), comparison
    )
    assert report.startswith("## 📋 taskgraph: No gate was decided: 1 inconclusive\n")
    assert f"- ❔ inconclusive: `compare::main`: `{comparison.reason[:40]}" in report
    assert report.count("inconclusive: ") == 1
    assert "### Compared with `main`" in report
    total = next(line for line in report.splitlines() if line.startswith("| **`total`** | -"))
    (cells,) = (line.split() for line in text(comparison, 120).splitlines() if line.startswith("total "))
    assert total.split(" | ")[-1] == f"{cells[-1]} |" == f"{comparison.p:.3f} |"
    assert "### Compared with the run before" in markdown(build(after, about_run("0.1.0")), comparison)


def test_comparison_several_categories_stand_in_both_reports() -> None:
    def other(source: Trial) -> Trial:
        return replace(
            source, question=replace(source.question, section="data" if "loop" in source.question.id else "control")
        )

    runs = [[other(trial(at, right)) for at in range(6)] for right in (True, False)]
    comparison = compared(*runs)
    assert {"data", "control", "total"} <= {line.split(" ")[0] for line in text(comparison, 120).splitlines()}
    report = markdown(build(runs[1], about_run("0.1.0")), comparison)
    assert "| **`data`** | - | 3 | 1.000 → 0.000 |" in report
    assert "| **`structure`** |" not in markdown(build([], about_run("0.1.0")), worse())


def test_comparison_flips_show_answers() -> None:
    output = text(worse()).splitlines()
    at = output.index("  chain-wadl-n012-s0-000: right -> wrong")
    assert output[at - 1] == "lost: 15 questions"
    assert output[at + 1 : at + 3] == ["    expected Mix", "    after    Bake"]
    assert "  and 5 more" in output


@pytest.mark.parametrize("width", [40, 80, 120])
def test_comparison_lines_fit_width(width: int) -> None:
    assert max(columns(line) for line in text(worse(), width).splitlines()) <= width


def test_comparison_hostile_answer_is_one_printable_line() -> None:
    bad = "\x1b[31m]]>\u202e<script>\nverdict: better" + "長" * 200
    comparison = compared([trial(at, True) for at in range(9)], [trial(at, False, given=bad) for at in range(9)])
    output = text(comparison)
    assert all(line.isprintable() for line in output.splitlines())
    assert not any(line.startswith("verdict: better") for line in output.splitlines())
    assert max(columns(line) for line in output.splitlines()) <= 80


def test_comparison_left_out_questions_are_named() -> None:
    before = [trial(0, True), trial(1, True), trial(2, None), trial(3, True), trial(5, None)]
    after = [trial(0, True), trial(1, True, text="Which follows?"), trial(2, True), trial(4, True), trial(5, True)]
    output = text(compared(before, after), 120)
    assert "the case changed for 1 question: not compared, because the questions differ" in output
    assert "without an answer: chain-wadl-n012-s0-002 (before: error), loop-wadl-n012-s0-005 (before" in output
    assert "asked only before: loop-wadl-n012-s0-003" in output
    assert "asked only after: chain-wadl-n012-s0-004" in output
    assert "  - Which is next?" in output


def test_comparison_change_at_line_end_is_visible() -> None:
    start = "Read the workflow with care, and think about each of its tasks, "
    comparison = compared([trial(0, True, start + "first.")], [trial(0, True, start + "at last.")])
    output = text(comparison)
    assert "  - …each of its tasks, first." in output
    assert "  + …each of its tasks, at last." in output


def test_comparison_without_pairs_is_one_line() -> None:
    output = text(compared([], []))
    assert output.startswith("compared with main: inconclusive: no question was asked alike and answered in")


def test_answer_text_and_signed_format_values() -> None:
    assert answer_text(["Mix", "Bake"]) == "Mix, Bake"
    assert (answer_text([]), answer_text(None), answer_text("no")) == ("none", "no answer", "no")
    assert answer_text([["Mix"], ["Bake"]]) == '[["Mix"], ["Bake"]]'
    assert (signed(0.25), signed(-0.0001)) == ("+0.250", "0.000")


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("questions", [184, None])
def test_comparison_interrupted_run_is_noted(when: str, questions: int | None) -> None:
    trials_of = {"before": [trial(at, True) for at in range(20)], "after": [trial(at, True) for at in range(20)]}
    records = {run: build(trials, about_run("0.1.0", models=("m",), questions=20)) for run, trials in trials_of.items()}
    whole = compare(records["before"], records["after"])
    part = build(trials_of[when][:9], about_run("0.1.0", models=("m",), questions=questions, interrupted=True))
    both = {**records, when: part}
    comparison = compare(both["before"], both["after"])
    of = " of its 184 questions" if questions else ""
    note = f"the run {when} was interrupted: this compares only those{of} that it had asked by then"
    assert (note, {"yellow": True}) in lines(comparison, "main", 120)
    assert f"- {note}" in markdown(records["after"], comparison).splitlines()
    assert "interrupted" not in text(whole)
    assert all(columns(line) <= 80 for line, _ in lines(comparison, "main", 80))
