from __future__ import annotations

import re
from base64 import b64decode, b64encode
from dataclasses import asdict, replace
from hashlib import sha256
from itertools import pairwise
from typing import Any
from zlib import decompress

import pytest
from described_runs import about_run
from html_page import HOSTILE, Page

from pytest_taskgraph.catalog import registrations
from pytest_taskgraph.diagram import Diagram, DiagramEdge, DiagramNode, DiagramPair, pack
from pytest_taskgraph.reports.html import html
from pytest_taskgraph.reports.html.charts import confusions
from pytest_taskgraph.reports.html.question_view import FIRST
from pytest_taskgraph.results.record import build, tally_of
from pytest_taskgraph.scoring.forms import FORMS
from pytest_taskgraph.trial import Failure, Json, Outcome, Question, Reply, Score, Trial

ABOUT = about_run("0.1.0", ("gpt-x",), 7, ("wadl",), "chain-of-thought", "lenient", ("answers",))


def make_trial(
    name: str,
    outcome: Outcome = "right",
    *,
    group: str = "next_tasks",
    model: str = "gpt-x",
    form: str = "task-set",
    reference: Json = "A",
    given: Json = "A",
    reply: str = "Final answer: A",
    **labels: str | int,
) -> Trial:
    question = Question(
        name, "understanding", group, "structure", f"Which, {name}?", f"prompt of {name}", form, reference,
        "jaccard", labels=labels, cluster=f"c-{name}",
    )  # fmt: skip
    if outcome in ("error", "skipped"):
        return Trial(question, model, outcome, failure=Failure("network", f"{name} did not come"))
    status = outcome if outcome in ("unparseable", "refused") else "read"
    score = Score(float(outcome == "right"), given=given if status == "read" else None, status=status)
    return Trial(question, model, outcome, Reply(reply, 1200, 34, 0.0125), score)


def record(*trials: Trial, **facts: Any) -> dict[str, Any]:  # noqa: ANN401
    models = tuple(dict.fromkeys(trial.model for trial in trials)) or ABOUT.models
    return {**build(list(trials), replace(ABOUT, models=models)), **facts}


def page(*trials: Trial, **facts: Any) -> Page:  # noqa: ANN401
    return Page(html(record(*trials, **facts)))


def headline(*trials: Trial, **facts: Any) -> str:  # noqa: ANN401
    return page(*trials, **facts).all("h1")[0]


@pytest.mark.parametrize(
    ("outcomes", "facts", "expected"),
    [
        (["right", "right"], {}, "✓ All 2 right"),
        (["right"], {}, "✓ The question is right"),
        (["right", "wrong", "refused"], {}, "✗ 2 of 3 not right"),
        (["right", "error"], {}, "✗ 0 of 1 not right, 1 error"),
        (["right"], {"lost": ["q9"]}, "✗ 0 of 1 not right, 1 lost"),
        (["skipped"], {}, "● No answer is scored: 1 question skipped"),
        ([], {}, "● No question was asked"),
        (["wrong"], {"fail_on": ()}, "● Report only: 0 of 1 right"),
        (["wrong"], {"fail_on": ("gates",), "gates": [{"name": "a>=0", "outcome": "passed"}]}, "✓ 1 gate passed"),
        (["right"], {"gates": [{"name": "a>=1", "outcome": "failed"}, {"outcome": "passed"}]}, "✗ 1 of 2 gates failed"),
        (["error"], {"gates": [{"name": "a>=1", "outcome": "passed"}]}, "✗ 1 error; no gate failed"),
        (["right"], {"gates": [{"name": "a>=1", "outcome": "skipped"}]}, "● No gate was decided: 1 gate left out"),
    ],
)
def test_html_verdict_is_headline(outcomes: list[Outcome], facts: dict[str, Any], expected: str) -> None:
    trials = [make_trial(f"q{at}", outcome) for at, outcome in enumerate(outcomes)]
    assert headline(*trials, **facts) == expected


@pytest.mark.parametrize(
    ("outcomes", "facts", "expected"),
    [
        ({"a": ["right"], "b": ["right"]}, {}, "✓ All right: 2 models"),
        ({"a": ["right"], "b": ["wrong"], "baseline:rules": ["wrong"]}, {},
         "✗ Not all right: 1 of 2 models and 1 of 1 baseline"),
        ({"a": ["right"], "b": ["error"]}, {"lost": ["q9"]}, "✗ Not all right: 1 of 2 models, 1 lost"),
        ({"a": ["right"], "b": ["right"]}, {"lost": ["q9"]}, "✗ 1 lost"),
        ({"a": ["skipped"], "b": ["skipped"]}, {}, "● No answer is scored: 2 questions skipped"),
        ({"a": ["wrong"], "baseline": ["right"]}, {"fail_on": ()}, "● Report only: 1 model and 1 baseline"),
    ],
)  # fmt: skip
def test_html_headline_pools_no_models(outcomes: dict[str, list[Outcome]], facts: Any, expected: str) -> None:  # noqa: ANN401
    trials = [make_trial("q", outcome, model=model) for model, (outcome,) in outcomes.items()]
    assert headline(*trials, **facts) == expected


def test_html_head_has_line_for_each_model_with_baselines_last() -> None:
    trials = [make_trial("q", "wrong", model="m"), make_trial("r", model="m")]
    report = page(make_trial("q", model="baseline:rules"), *trials)
    assert report.all("ul", class_="counts") == ["m 1 right 1 wrong", "baseline rules 1 right"]
    links = [own["href"] for _, own, _ in report.elements if own.get("class") == "outcome wrong" and "href" in own]
    assert links == ["#show:model=m&outcome=wrong"]
    assert page(make_trial("q")).all("ul", class_="counts") == ["1 right"]


def test_html_gates_show_reasons_and_failed_first() -> None:
    gates = [
        {"name": "structure>=0.5", "outcome": "passed", "reason": "0.8"},
        {"name": "structure>=0.9", "model": "b", "outcome": "failed", "reason": "0.8 <script>"},
    ]
    rows = page(make_trial("a"), gates=gates, models=["a", "b"]).all("tr")
    assert rows[1:3] == ["structure>=0.9, b failed 0.8 <script>", "structure>=0.5 passed 0.8"]
    alone = page(make_trial("a"), gates=gates, models=["b"]).all("tr")
    assert alone[1] == "structure>=0.9 failed 0.8 <script>"


def test_html_many_gates_fold_those_that_passed() -> None:
    gates = [{"name": f"g{at}>=0", "outcome": "failed" if at == 3 else "passed", "reason": "0.8"} for at in range(5)]
    report = page(make_trial("a"), gates=gates)
    assert "4 more gates passed or left out" in report.all("summary")
    unfolded, folded = report.all("table", class_="gates")
    assert unfolded == "Gates gate outcome reason g3>=0 failed 0.8"
    assert [f"g{at}>=0" in folded for at in range(5)] == [True, True, True, False, True]
    assert len(page(make_trial("a"), gates=gates[:4]).all("table", class_="gates")) == 1


def test_html_first_facts_say_who_and_how_many() -> None:
    report = page(make_trial("a", model="gpt-5"), make_trial("b", "error", model="gpt-5"))
    first, further = report.all("dl", class_="facts")[:2]
    assert first == "model gpt-5 answered 1 of 2"
    assert "parsing lenient fails on answers seed 7" in further


def test_html_inconclusive_comparison_is_not_passed_gate() -> None:
    word = "inconclusive"
    gates = [
        {"name": "budget::calls", "outcome": "skipped", "reason": "not decided: -k"},
        {"name": "a>=0", "outcome": "passed", "reason": "0.8"},
        {"name": "compare::main", "outcome": "skipped", "reason": f"{word}: -0.1, need 40"},
        {"name": "a>=0@95%", "outcome": "failed", "reason": f"{word}: 0.8"},
    ]
    report = page(make_trial("a"), gates=gates)
    assert [row.partition(" ")[2] for row in report.all("tr")[1:5]] == [
        f"failed {word}: 0.8", "inconclusive -0.1, need 40", "passed 0.8", "skipped not decided: -k",
    ]  # fmt: skip
    assert report.all("span", class_="outcome inconclusive") == ["inconclusive"]
    left = page(make_trial("a"), gates=gates[:3])
    assert left.all("h1") == ["✓ 1 gate passed, 1 inconclusive, 1 left out"]
    outcomes = ("passed", "inconclusive", "skipped")
    assert [len(left.all("span", class_=f"outcome {outcome}")) for outcome in outcomes] == [1, 1, 1]


def test_html_spent_budget_is_noted() -> None:
    spent = Trial(make_trial("b").question, "gpt-x", "skipped", failure=Failure("budget::calls", "5 of 5 calls made"))
    assert "The budget of calls was spent: 1 question not asked." in page(make_trial("a"), spent).all("p")


def test_html_page_does_not_depend_on_trial_order() -> None:
    trials = [make_trial(f"q{at:02}", "wrong" if at % 3 else "right", tasks=at % 4) for at in range(20)]
    assert html(record(*trials)) == html(record(*reversed(trials)))


def test_html_rates_have_intervals_and_few_are_marked() -> None:
    rows = page(*(make_trial(f"q{at}", "right" if at < 3 else "wrong") for at in range(4))).all("tr")
    assert "next_tasks 4* 0.750 0.301–0.954 -" in rows
    assert "total 4* 0.750 0.301–0.954 -" in rows


def test_html_three_models_have_column_and_filter_each() -> None:
    report = page(*(make_trial("q", model=model) for model in ("a", "b", "c")), make_trial("r", "wrong", model="a"))
    assert report.all("th", class_="model") == ["a", "b", "c"]
    assert "Model all a b c" in report.all("label")
    assert [row["model"] for row in report.data("index")] == ["a", "a", "b", "c"]  # the wrong one of a is first


def test_html_pattern_without_questions_to_model_is_not_asked() -> None:
    report = page(make_trial("q", model="a"), make_trial("r", model="b", group="chain"))
    in_map, in_table = [row for row in report.all("tr") if row.startswith("chain")]
    assert in_map == "chain - 1.000*"
    assert in_table == "chain not asked 1.000 0.207–1.000, n 1*"


def test_html_curves_show_varying_difficulty_with_numbers() -> None:
    trials = [
        make_trial(f"q{at}", "right" if at < 5 else "wrong", tasks=8 + at // 5, depth=3, colour=at) for at in range(10)
    ]
    report = page(*trials)
    assert report.all("figcaption") == ["Pass rate by number of tasks"]
    assert report.all("desc") == ["gpt-x: 1.000 at 8, 0.000 at 9."]
    assert "8 gpt-x 5* 1.000 0.566-1.000" in report.all("tr")


def partial(name: str, score: float, model: str = "gpt-x", tasks: int = 12) -> Trial:
    trial = make_trial(name, "right" if score == 1 else "wrong", model=model, tasks=tasks)
    return replace(trial, score=Score(score, given="A"))


def lines_of(report: Page) -> list[tuple[str, list[float]]]:
    """The lines of the first chart and of its legend: class, heights of their points."""
    looks = [
        attributes["class"]
        for tag, attributes, _ in report.elements
        if tag == "g" and attributes.get("class", "").startswith("look")
    ]
    points = [attributes["points"] for tag, attributes, _ in report.elements if tag == "polyline"]
    heights = [[float(pair.split(",")[1]) for pair in line.split()] for line in points]
    return list(zip(looks, heights, strict=True))


def test_html_partial_scores_have_line_of_means() -> None:
    report = page(partial("a", 1.0, tasks=8), partial("b", 0.5, tasks=8), partial("c", 0.25, tasks=9))
    assert report.all("figcaption") == ["Pass rate and mean score by number of tasks"]
    assert report.all("desc") == [
        "gpt-x, pass rate: 0.500 at 8, 0.000 at 9. gpt-x, mean score: 0.750 at 8, 0.250 at 9."
    ]
    (rate, rates), (mean, means), *legend = lines_of(report)
    assert (rate, mean) == ("look0", "look0 mean")
    assert [name for name, _ in legend] == [rate, mean]
    bottom = rates[1]  # a rate of 0
    assert [(bottom - y) / (bottom - rates[0]) for y in means] == pytest.approx([1.5, 0.5])  # in units of a rate of 0.5
    assert report.all("ul", class_="legend") == ["pass rate mean score"]
    rows = report.all("tr")
    assert "number of tasks model n pass rate mean score 95 % interval" in rows
    assert "9 gpt-x 1* 0.000 0.250 0.000-0.793" in rows


def test_html_scores_without_partial_have_one_line() -> None:
    report = page(partial("a", 1.0, tasks=8), partial("b", 0.0, tasks=8), partial("c", 1.0, tasks=9))
    assert [name for name, _ in lines_of(report)] == ["look0"]
    assert "number of tasks model n pass rate 95 % interval" in report.all("tr")
    assert "mean scores" not in " ".join(report.all("p"))


def test_html_curve_legend_names_model_and_measure() -> None:
    trials = [partial(f"q{at}", 0.5, model, tasks=at) for at in range(2) for model in ("a", "b")]
    assert page(*trials).all("ul", class_="legend") == ["a, pass rate a, mean score b, pass rate b, mean score"]
    whole = [partial(f"q{at}", 1.0, model, tasks=at) for at in range(2) for model in ("a", "b")]
    assert page(*whole).all("ul", class_="legend") == ["a b"]


def mixed_trials() -> list[Trial]:
    """Two groups: 0.8 and 0.2 right at any number of tasks; the hard one mostly stands at 20."""
    sizes = {("easy", 8): 20, ("easy", 20): 5, ("hard", 8): 5, ("hard", 20): 20}
    rates = {"easy": 0.8, "hard": 0.2}
    return [
        make_trial(f"{group}-{tasks}-{at}", "right" if at < rates[group] * n else "wrong", group=group, tasks=tasks)
        for (group, tasks), n in sizes.items()
        for at in range(n)
    ]


def test_html_curves_of_several_groups_are_pooled() -> None:
    report = page(*mixed_trials())
    assert report.all("figcaption") == ["Pass rate by number of tasks"]
    assert report.all("desc") == ["gpt-x: 0.680 at 8, 0.320 at 20."]
    rows = report.all("tr")
    assert "number of tasks model n pass rate 95 % interval" in rows
    assert [row.split()[:4] for row in rows if row.startswith("20 gpt-x")] == [["20", "gpt-x", "25", "0.320"]]


def test_html_curves_have_small_chart_of_each_group() -> None:
    report = page(*mixed_trials())
    assert "Each pattern, by number of tasks" in report.all("summary")
    labels = [attributes.get("aria-label") for tag, attributes, _ in report.elements if tag == "svg"]
    assert "gpt-x: 0.800 of 20 at 8, 0.800 of 5 at 20." in labels
    assert "easy 8 20 n 5–20" in report.all("li")
    points = [attributes["class"] for tag, attributes, _ in report.elements if tag == "path" and "class" in attributes]
    assert points.count("point few") == 2, "five questions in each of the two small charts"


def repeated(name: str, scores: list[float], model: str = "gpt-x", group: str = "next_tasks") -> list[Trial]:
    trials = [partial(name, score, model) for score in scores]
    return [
        replace(trial, question=replace(
            trial.question, id=f"{name}-r{at}" if at > 1 else name, repetition=at, group=group
        ))
        for at, trial in enumerate(trials, 1)
    ]  # fmt: skip


def test_html_small_chart_counts_each_question_once() -> None:
    def make(tasks: int, group: str) -> list[Trial]:
        trials = repeated(f"{group}{tasks}", [1.0, 1.0, 0.0], group=group)
        return [replace(trial, question=replace(trial.question, labels={"tasks": tasks})) for trial in trials]

    report = page(*(trial for group in ("easy", "hard") for tasks in (8, 20) for trial in make(tasks, group)))
    labels = [attributes.get("aria-label") for tag, attributes, _ in report.elements if tag == "svg"]
    assert labels.count("gpt-x: 0.667 of 1 at 8, 0.667 of 1 at 20.") == 2


def test_html_group_at_one_value_has_no_small_chart() -> None:
    trials = [make_trial(f"a{at}", tasks=8 + at % 2) for at in range(8)]
    trials += [make_trial(f"b{at}", "wrong", group="chain", tasks=20) for at in range(4)]
    report = page(*trials)
    assert report.all("desc") == ["gpt-x: 1.000 at 8, 0.000 at 20."]
    assert "next_tasks 8 20 n 4" in report.all("li")
    assert not [text for text in report.all("li") if text.startswith("chain 8")]


def test_html_repetitions_show_both_kinds_of_spread() -> None:
    report = page(*repeated("a", [1.0, 1.0, 0.0]), *repeated("b", [0.0, 0.0, 0.0], group="chain"))
    rows = report.all("tr")
    assert (
        "pattern questions mean score majority pass@3 pass^3 spread within a question spread between workflows" in rows
    )
    assert rows.count("structure 2 0.333 0.500 0.500 0.000 0.408 0.471") == 2  # in the short table and the whole one
    assert rows.count("next_tasks 1 0.667 1.000 1.000 0.000 0.577 -") == 1
    assert rows.count("total 2 0.333 0.500 0.500 0.000 0.408 0.471") == 2
    assert "Each pattern, gpt-x" in report.all("summary")
    assert "within: std over the repetitions of a question; between: std over workflows." in report.all("p")
    assert "Repetitions" in report.all("a", href="#repetitions")


def test_html_repetitions_of_several_models_have_line_each() -> None:
    report = page(*repeated("a", [1.0, 0.0], "m"), *repeated("a", [1.0, 1.0], "n"), *repeated("b", [1.0], "n"))
    rows = report.all("tr")
    assert "m 1 0.500 0.000 1.000 0.000 0.707 -" in rows
    assert "n 2 1.000 1.000 1.000 1.000 0.000 0.000" in rows
    assert "1 question with fewer than 2 replies has no part in pass@2 and pass^2." in report.all("p")
    assert {"Each pattern, m", "Each pattern, n"} <= set(report.all("summary"))


def test_html_tables_of_several_families_have_unique_labels() -> None:
    ours = [trial for model in ("a", "b") for trial in repeated("q", [1.0, 0.0], model)]
    others = [
        replace(trial, question=replace(trial.question, family=family, id=f"{family}-{trial.question.id}"))
        for trial in ours
        for family in ("tasklama", "steps")
    ]
    report = page(*ours, *others)
    labels = [own["aria-label"] for _, own, _ in report.elements if own.get("role") == "region"]
    assert "steps, 2 repetitions of each question" in labels
    assert sorted(labels) == sorted(set(labels))


def test_html_without_repetitions_omits_section() -> None:
    assert "Repetitions" not in page(make_trial("a"), make_trial("b", "wrong")).all("h2")


def test_confusions_yes_no_answers_have_table() -> None:
    def make_answer(name: str, right: str, given: str, outcome: Outcome) -> Trial:
        return make_trial(name, outcome, form="yes-no", reference=right, given=given)

    report = page(
        make_answer("a", "yes", "yes", "right"), make_answer("b", "no", "yes", "wrong"),
        make_answer("c", "no", "", "unparseable"),
        make_answer("d", "no", "no", "right"), make_answer("e", "no", "", "error"),
        make_trial("f", form="yes-no-reason", reference={"answer": "yes"}, given={"answer": "yes", "reason": "x"}),
    )  # fmt: skip
    assert {"yes 2 0 0", "no 1 1 1"} <= set(report.all("tr"))
    assert "Said yes 3 times; yes was right 2 times." in report.all("p")


def test_confusions_three_classes_have_own_table() -> None:
    classes = ("low", "medium", "high")

    def make_answer(name: str, form: str, right: str, given: str) -> Trial:
        question = replace(make_trial(name, "wrong").question, form=form, reference=right)
        return replace(make_trial(name, "wrong"), question=question, score=Score(0.0, given=given))

    trials = [
        make_answer("a", "level", "low", "high"),
        make_answer("b", "level", "high", "?"),
        make_answer("c", "yes-no", "no", "yes"),
    ]
    tally = tally_of(record(*trials))
    yes_no = (("yes", "no"), [("yes", [0, 0, 0]), ("no", [1, 0, 0])])
    with registrations() as catalogs:
        catalogs.add(FORMS.kind, "level", replace(FORMS["text"], name="level", classes=classes), "tests")
        assert [(confusion.classes, confusion.rows) for confusion in confusions(tally)] == [
            (classes, [("low", [0, 0, 1, 0]), ("medium", [0, 0, 0, 0]), ("high", [0, 0, 0, 1])]),
            yes_no,
        ]
        assert page(*trials).all("caption").count("gpt-x") == 2
    assert [(confusion.classes, confusion.rows) for confusion in confusions(tally)] == [yes_no]


def test_html_question_shows_all_of_trial() -> None:
    trial = make_trial("q", "wrong", reference=["A", "B"], given=["A", "C"], tasks=12)
    score = Score(0.333, given=["A", "C"], missing=["B"], extra=["C"], metrics={"recall": 0.5})
    report = page(Trial(trial.question, "gpt-x", "wrong", trial.reply, score))
    assert report.all("bdi", data_slot="text")[1] == "Which, q?"
    assert report.all("bdi", data_slot="expected")[0] == "A, B"
    assert report.all("bdi", data_slot="given")[0] == "A, C"
    assert report.all("ul", data_list="missing")[0] == "− B"
    assert report.all("ul", data_list="extra")[0] == "+ C"
    assert report.all("pre", data_slot="prompt")[0] == "prompt of q"
    assert report.all("pre", data_slot="reply")[0] == "Final answer: A"
    assert report.all("dl", data_list="facts")[0] == (
        "main metric jaccard recall 0.500 cost $0.012500 tokens 1,200 in, 34 out"
    )
    assert report.all("dl", data_list="labels")[0] == "tasks 12"


def test_html_errors_come_first_and_skipped_last_with_reasons() -> None:
    report = page(make_trial("a", "skipped"), make_trial("b"), make_trial("c", "error"))
    assert [row["id"] for row in report.data("index")] == ["c", "b", "a"]
    assert report.all("bdi", data_slot="error")[:2] == ["network: c did not come", "network: a did not come"]


def test_html_agent_exchange_shows_text_and_calls() -> None:
    exchange = {"role": "subject", "messages": [], "text": "I ask", "calls": [{"tool": "read", "status": "ok"}]}
    trial = make_trial("q")
    exchanges: list[dict[str, Any]] = [exchange, {"role": "subject", "messages": [], "final": True}]
    report = page(Trial(trial.question, "gpt-x", "right", trial.reply, trial.score, exchanges=exchanges))
    assert report.all("li", class_="turn")[0] == "Request 1 of 2: model under test replied I ask called read"


def hostile() -> dict[str, Any]:
    question = Question(
        HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, "task-set", [HOSTILE], HOSTILE, system=HOSTILE,
        labels={HOSTILE: HOSTILE, "tasks": HOSTILE}, cluster="c", relation="",
    )  # fmt: skip
    reply = Reply(HOSTILE, finish_reason=HOSTILE, source=HOSTILE)
    score = Score(0.0, {HOSTILE: 0.5}, given=[HOSTILE], remark=HOSTILE, missing=[HOSTILE], extra=[HOSTILE])
    exchange = {"role": HOSTILE, "messages": [], "text": HOSTILE, "calls": [{HOSTILE: HOSTILE}]}
    trials = [
        Trial(question, model, "wrong", reply, score, Failure(HOSTILE, HOSTILE), exchanges=[exchange])
        for model in (HOSTILE, "other")
    ]
    about = about_run(HOSTILE, (HOSTILE,), 0, (HOSTILE,), HOSTILE)
    gates = [{"name": HOSTILE, "outcome": HOSTILE, "reason": HOSTILE}]
    drawing = asdict(Diagram(HOSTILE, [DiagramNode(HOSTILE, HOSTILE)], [DiagramEdge(HOSTILE, HOSTILE, HOSTILE)]))
    return {**build(trials, about), "gates": gates, "diagrams": {"c": drawing}}


def test_html_hostile_texts_become_no_markup() -> None:
    text = html(hostile())
    report, plain = Page(text), page(make_trial("q"), make_trial("q", model="b"))
    kinds = {tag for tag, _, _ in report.elements}
    assert kinds & {"img", "iframe", "object", "a", "script"} == {"a", "script"}
    assert len(report.all("script")) == len(plain.all("script"))
    assert not [name for _, attributes, _ in report.elements for name in attributes if name.startswith("on")]
    assert all(href.startswith("#") for _, attributes, _ in report.elements if (href := attributes.get("href")))


def test_html_hostile_names_are_text_in_tables_and_curves() -> None:
    def make_answer(name: str, model: str, pattern: str, tasks: int) -> list[Trial]:
        trials = repeated(name, [1.0, 0.5], model, pattern)
        return [replace(trial, question=replace(trial.question, labels={"tasks": tasks})) for trial in trials]

    text = html(
        record(
            *make_answer("a", HOSTILE, HOSTILE, 1),
            *make_answer("b", HOSTILE, HOSTILE, 2),
            *make_answer("c", "m", "p", 1),
        )
    )
    report = Page(text)
    assert not [
        tag
        for tag, attributes, _ in report.elements
        if tag == "img" or any(name.startswith("on") for name in attributes)
    ]
    assert {"Repetitions", "Difficulty"} <= set(report.all("h2"))
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069\u2028\u2029]", text)


def test_html_hostile_texts_are_shown_escaped() -> None:
    text = html(hostile())
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069\u2028\u2029]", text)
    report = Page(text)
    reply_text = report.all("pre", data_slot="reply")[0]
    assert reply_text.startswith(
        "</script><script>alert(1)</script><img src=x onerror=alert(2)>]]>--><!-- \\x1b[31mred"
    )
    assert "\\u202egnp.exe" in reply_text
    assert report.data("details")["questions"][0]["reply"] == reply_text
    for name in ("cells", "index", "details", "drawings"):
        assert not set("<>&") & set(report.raw(name))


def test_html_policy_allows_own_script_alone() -> None:
    text = html(record(*(make_trial(f"q{at}", tasks=at) for at in range(3))))
    report = Page(text)
    assert not [attributes for _, attributes, _ in report.elements if "src" in attributes]
    assert "url(" not in text
    assert "@import" not in text
    assert set(re.findall(r"https?://[^\s\"'<]*", text)) <= {"http://www.w3.org/2000/svg"}
    policy = next(
        attributes["content"] for tag, attributes, _ in report.elements if tag == "meta" and "http-equiv" in attributes
    )
    script = next("".join(text) for tag, attributes, text in report.elements if tag == "script" and not attributes)
    digest = b64encode(sha256(script.encode()).digest()).decode()
    assert policy.startswith(f"default-src 'none'; script-src 'sha256-{digest}';")


def test_html_workflows_are_drawn_once_and_packed() -> None:
    drawing = asdict(Diagram("W", [DiagramNode("a", "Fetch"), DiagramNode("b", "Pack")], [DiagramEdge("a", "b")]))
    trials = [make_trial(f"q{at:02}") for at in range(FIRST + 5)]
    report = page(*trials, diagrams={"c-q00": drawing, "c-unasked": drawing})
    assert list(report.data("drawings")) == ["c-q00"]
    svg = decompress(b64decode(report.data("drawings")["c-q00"])).decode()
    assert svg.startswith("<svg")
    assert "Fetch" in svg
    places = [text for text in report.all("div", class_="drawing") if text]
    assert len(places) == 1
    assert "Fetch" in places[0]


def drawn_pair(name: str) -> Trial:
    chart = Diagram("Tea", [DiagramNode("1", "Boil"), DiagramNode("2", HOSTILE)])
    pair = DiagramPair(chart, replace(chart, nodes=chart.nodes[:1]))
    return replace(make_trial(name, "wrong"), diagram_pair=pack(pair.to_json()))


def test_html_diagram_pairs_are_drawn_and_packed() -> None:
    report = page(drawn_pair("a"), make_trial("b"), drawn_pair("c"))
    packed = report.data("pairs")
    assert list(packed) == ["0", "1"]  # what is not right comes first
    expected, given, *counts = packed["0"]
    assert counts == ["1 node, 0 links", "0 nodes, 0 links", "1 node, 0 links", ""]
    assert ">Boil: " not in decompress(b64decode(given)).decode()
    assert "missing from the answer" in decompress(b64decode(expected)).decode()
    assert report.all("title").count("Expected: Tea") == 2
    assert report.all("h4")[:2] == ["Expected", "Given"]


def test_html_without_script_shows_first_questions() -> None:
    report = page(*(make_trial(f"q{at:02}") for at in range(FIRST + 5)))
    assert len(report.all("details", class_="question")) == FIRST + 1  # and the mould
    assert f"the first {FIRST} of {FIRST + 5} are shown" in report.all("noscript")[0]
    assert len(report.data("index")) == len(report.data("details")["questions"]) == FIRST + 5


def test_html_headings_ordered_and_tables_have_captions() -> None:
    report = page(*(make_trial(f"q{at}", form="yes-no", reference="yes", given="yes", tasks=at % 3) for at in range(9)))
    levels = [int(tag[1]) for tag, _, _ in report.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert len(report.all("table")) == len(report.all("caption"))
    assert all("scope" in attributes for tag, attributes, _ in report.elements if tag == "th")
    assert [attributes["role"] for _, attributes, _ in report.elements if attributes.get("id") == "count"] == ["status"]
    assert {"header", "main", "nav", "footer"} <= {tag for tag, _, _ in report.elements}


def test_html_without_comparison_has_no_section_of_it() -> None:
    report = page(make_trial("a"), make_trial("b", "wrong"))
    assert "Comparison" not in report.all("h2")
    assert [label for label in report.all("label") if label.startswith("Compared")] == []


def test_html_long_answer_is_short_in_list_and_whole_in_question() -> None:
    names = [f"Task{at}" for at in range(200)]
    report = page(make_trial("q", "wrong", reference=[*names], given=["A"]))
    assert len(report.data("index")[0]["expected"]) < len(", ".join(names))
    assert report.data("details")["questions"][0]["whole_expected"] == ", ".join(names)
    assert report.all("bdi", data_slot="expected")[0] == ", ".join(names)
