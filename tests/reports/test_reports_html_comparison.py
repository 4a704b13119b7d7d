from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from importlib import import_module

import pytest
from described_runs import about_run
from html_page import Page

from pytest_taskgraph.catalog import registrations
from pytest_taskgraph.reports.html import html
from pytest_taskgraph.results.comparison import RunComparison, compare
from pytest_taskgraph.results.record import About, build
from pytest_taskgraph.results.record.facts import Provenance
from pytest_taskgraph.scoring.forms import FORMS
from pytest_taskgraph.trial import Outcome, Question, Reply, Score, Trial

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)> \x1b[31m \u202egnp.exe&'\""
ABOUT = about_run("0.1.0", ("m",), 7, ("short",))


def make_trial(
    at: int,
    outcome: Outcome = "right",
    *,
    group: str = "chain",
    model: str = "m",
    prompt: str = "Think.\nWhich is next?",
    system: str = "",
    reply: str = "",
    reasoning: str = "",
) -> Trial:
    question = Question(
        f"{group}-{at:03d}", "understanding", group, "structure", f"Which is next to {at}?", prompt, "task", "Mix",
        "correctness", system=system, digests={"workflow": f"w{at}", "template": "t", "prompt_template": prompt},
        cluster=f"w{at}",
    )  # fmt: skip
    given = "Mix" if outcome == "right" else "Bake"
    text = reply or f"Final answer: {given}"
    return Trial(
        question, model, outcome, Reply(text, reasoning=reasoning), Score(float(outcome == "right"), given=given)
    )


def compare_trials(
    before: list[Trial], after: list[Trial], first: About = ABOUT, second: About = ABOUT
) -> tuple[Page, RunComparison]:
    records = build(before, first), build(after, second)
    comparison = compare(*records, names=("main", "branch"))
    return Page(html(records[1], comparison)), comparison


def flipped(worse: int = 9, better: int = 2, of: int = 20) -> tuple[list[Trial], list[Trial]]:
    """Return trials before and after: the first ones are worse, the last ones better."""
    before = [make_trial(at, "wrong" if at >= of - better else "right") for at in range(of)]
    after = [make_trial(at, "wrong" if at < worse else "right") for at in range(of)]
    return before, after


@pytest.fixture(autouse=True)
def explained() -> Iterator[None]:
    """Let every wrong answer of the form have the same reason."""
    with registrations() as catalogs:
        catalogs.add(
            FORMS.kind, "told", replace(FORMS["task"], name="told", explain=lambda _, given: [f"{given} is last."]), "t"
        )
        yield


def facts_of(page: Page) -> list[str]:
    """Return the rows of the table of facts."""
    rows = page.all("tr", role="row")
    return rows[rows.index("fact before after") + 1 :]


def test_html_comparison_shows_facts_of_both_runs_side_by_side() -> None:
    second = replace(ABOUT, models=("n",), provenance=Provenance("2026-11-23T14:05:09+01:00"), settings={"margin": 0.1})
    page, _ = compare_trials(*flipped(), first=replace(ABOUT, settings={"margin": 0.2}), second=second)
    facts = facts_of(page)
    assert "name ≠, differs main branch" in facts
    assert "models ≠, differs m n" in facts
    assert "seed 7 7" in facts
    assert "date ≠, differs - 2026-11-23 14:05:09 +01:00" in facts
    assert "margin ≠, differs 0.2 0.1" in facts


def test_html_comparison_groups_have_change_with_interval_and_sign() -> None:
    page, comparison = compare_trials(*flipped(worse=9, better=0))
    (group,) = comparison.groups
    assert group.ends is not None
    low, high = group.ends
    assert low < -0.45 < high < 0
    (row, *_) = [row for row in page.all("tr") if row.startswith("chain ▼")]
    assert row.startswith(f"chain ▼ worse -0.450 {low:+.3f} to {high:+.3f} 1.000 0.550 20 9 0")


def test_html_comparison_of_several_models_has_column() -> None:
    before, after = (
        [*trials, *(make_trial(at, model="n") for at in range(20))] for trials in flipped(worse=9, better=0)
    )
    page, _ = compare_trials(before, after, replace(ABOUT, models=("m", "n")), replace(ABOUT, models=("m", "n")))
    rows = page.all("tr")
    assert any(row.startswith("chain m ▼ worse -0.450") for row in rows)
    assert any(row.startswith("chain n ? inconclusive 0.000") for row in rows)
    assert not any(row.startswith("group model") for row in compare_trials(*flipped())[0].all("tr"))


def test_html_comparison_undecided_group_is_no_loss() -> None:
    page, _ = compare_trials(*flipped(worse=1, better=1))
    assert any(row.startswith("chain ? inconclusive 0.000") for row in page.all("tr"))


def test_html_comparison_flips_show_both_replies() -> None:
    before, after = flipped(worse=1, better=0)
    before[0] = make_trial(0, reply="I mix, as said.", reasoning="Mix comes first.")
    after[0] = make_trial(0, "wrong", reply="I bake.")
    page, _ = compare_trials(before, after)
    assert page.all("pre", aria_label="Reply, Before") == ["I mix, as said."]
    assert page.all("pre", aria_label="Reply, After") == ["I bake."]
    assert page.all("pre", aria_label="Reasoning, Before") == ["Mix comes first."]
    (flip,) = page.all("li", data_direction="worse")
    assert flip.startswith("▼ worse chain-000 right → wrong Which is next to 0? Expected Mix")
    assert page.all("a", href="#question=chain-000&model=m") != []


def test_html_comparison_wrong_side_is_explained() -> None:
    before, after = flipped(worse=1, better=0)
    both_runs = [[replace(t, question=replace(t.question, form="told")) for t in trials] for trials in (before, after)]
    page, _ = compare_trials(both_runs[0], both_runs[1])
    assert page.all("ul", class_="reasons") == ["Bake is last."]


def test_html_comparison_letters_are_explained_by_option_texts() -> None:
    before, after = flipped(worse=1, better=0)
    both_runs = [
        [
            replace(
                trial,
                question=replace(
                    trial.question, form="letter", reference="A", spellings={"mix it": "A", "bake it": "B"}
                ),
                score=replace(trial.score, given="A" if trial.passed else "B") if trial.score else None,
            )
            for trial in trials
        ]
        for trials in (before, after)
    ]
    page, _ = compare_trials(both_runs[0], both_runs[1])
    assert page.all("ul", class_="reasons") == ['the right option is "mix it", the given one "bake it"']


def test_html_comparison_score_of_repetitions_is_called_mean() -> None:
    def repeat(*outcomes: Outcome) -> list[Trial]:
        trials = [make_trial(0, outcome) for outcome in outcomes]
        return [
            replace(trial, question=replace(trial.question, id="chain-000" + f"-r{at}" * (at > 1), repetition=at))
            for at, trial in enumerate(trials, 1)
        ]

    page, _ = compare_trials(repeat("right", "right", "right"), repeat("wrong", "right", "wrong"))
    scores = [value for value in page.all("dd") if value == "1.000" or "mean of" in value]
    assert scores[:2] == ["1.000", "0.333, the mean of the repetitions"]


def test_html_comparison_command_breaks_between_arguments() -> None:
    both = [replace(ABOUT, provenance=Provenance(command=("pytest", f"--a=<{at}>"))) for at in range(2)]
    page, _ = compare_trials(*flipped(), first=both[0], second=both[1])
    assert "command ≠, differs pytest '--a=<0>' pytest '--a=<1>'" in facts_of(page)
    assert page.all("span", class_="argument") == ["pytest", "'--a=<1>'", "pytest", "'--a=<0>'", "pytest", "'--a=<1>'"]


def test_html_comparison_flips_are_counted_by_direction() -> None:
    page, _ = compare_trials(*flipped(worse=9, better=2))
    assert [button for button in page.all("button") if button[-6:] in ("better", " worse") or "All" in button] == [
        "All 11", "▼ 9 worse", "▲ 2 better",
    ]  # fmt: skip
    assert len(page.all("li", data_direction="worse")) == 9
    assert len(page.all("li", data_direction="better")) == 2


def test_html_comparison_over_bound_keeps_both_directions(monkeypatch: pytest.MonkeyPatch) -> None:
    # The package has a function of the module's name.
    monkeypatch.setattr(import_module("pytest_taskgraph.reports.html.changes"), "MOST", 3)
    page, _ = compare_trials(*flipped(worse=9, better=2))
    assert len(page.all("li", data_direction="worse")) == 3
    assert len(page.all("li", data_direction="better")) == 2
    assert "The first 3 of 9 that are worse are listed." in page.all("p")


def test_html_comparison_changed_prompt_shows_lines_of_flip() -> None:
    before, _ = flipped(worse=0, better=0)
    after = [
        make_trial(at, "wrong" if at < 9 else "right", prompt="Answer at once.\nWhich is next?", system="Be brief.")
        for at in range(20)
    ]
    page, _ = compare_trials(before, after)
    changed = page.all("pre", aria_label="What changed in the prompt")
    assert changed == ["system prompt: +Be brief. prompt: -Think. +Answer at once. Which is next?"] * 9


def test_html_comparison_same_prompt_has_no_lines() -> None:
    page, _ = compare_trials(*flipped())
    assert page.all("pre", aria_label="What changed in the prompt") == []


def test_html_comparison_without_flip_has_no_list() -> None:
    page, _ = compare_trials(*flipped(worse=0, better=0))
    assert "Questions that flipped" not in page.all("h3")
    assert "Comparison" in page.all("h2")


def test_html_comparison_marks_flip_in_list_of_questions() -> None:
    page, _ = compare_trials(*flipped(worse=9, better=0))
    assert page.all("h1") == ["✗ Worse than before; 9 of 20 not right"]
    assert page.all("bdi", data_slot="before")[0] == "right, score 1.000: Mix"
    assert page.data("index")[0]["change"] == "worse"
    assert "Compared all worse" in page.all("label")


def test_html_comparison_hostile_texts_become_no_markup() -> None:
    before, after = (
        [make_trial(at, outcome, prompt=f"{HOSTILE}{outcome}", reply=HOSTILE, reasoning=HOSTILE) for at in range(12)]
        for outcome in ("right", "wrong")
    )
    page, _ = compare_trials(before, after, replace(ABOUT, models=(HOSTILE,)), replace(ABOUT, prompts=(HOSTILE,)))
    assert "img" not in {tag for tag, _, _ in page.elements}
    assert not [name for _, attributes, _ in page.elements for name in attributes if name.startswith("on")]
    assert page.all("pre", aria_label="Reply, After")[0].startswith("</script><script>alert(1)</script><img src=x")
    assert "\\u202egnp.exe" in page.all("pre", aria_label="What changed in the prompt")[0]


def test_comparison_json_holds_intervals_and_no_trials() -> None:
    _, comparison = compare_trials(*flipped(worse=9, better=0))
    data = comparison.to_json()
    assert data["names"] == ("main", "branch")
    assert data["groups"][0]["ends"] == comparison.groups[0].ends
    assert "trials" not in data["flips"][0]
    assert "Think." not in str(data)
    assert asdict(comparison.flips[0])["trials"] is not None, "the comparison itself keeps them"
