from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from dataclasses import asdict, replace
from hashlib import sha256
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any
from zlib import decompress

import pytest
from described_runs import about_run

from pytest_taskgraph.catalog import registrations
from pytest_taskgraph.diagram import Diagram, DiagramEdge, DiagramNode, DiagramPair, pack
from pytest_taskgraph.reports.html import html
from pytest_taskgraph.reports.html import question_view as html_questions
from pytest_taskgraph.reports.html.charts import confusions
from pytest_taskgraph.reports.html.question_view import FIRST
from pytest_taskgraph.results.comparison import compare
from pytest_taskgraph.results.record import build, tally_of
from pytest_taskgraph.scoring.forms import FORMS
from pytest_taskgraph.trial import Failure, Json, Outcome, Question, Reply, Score, Trial

ABOUT = about_run("0.1.0", ("gpt-x",), 7, ("wadl",), "chain-of-thought", "lenient", ("answers",))
HOSTILE = (
    "</script><script>alert(1)</script><img src=x onerror=alert(2)>]]>--><!-- "
    "\x1b[31mred\x1b[0m \u202egnp.exe\u2028&amp;'\""
)
APART = {"td", "th", "dt", "dd", "li", "pre", "option"}  # stand apart without white space between them
VOID = {"meta", "input", "br", "wbr", "path", "circle", "polyline", "img"}


class Page(HTMLParser):
    """A page read: elements with their attributes and text. Fails where one is not closed, or by another's end."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str], list[str]]] = []
        self.open: list[int] = []
        self.feed(text)
        self.close()
        assert [self.elements[at][0] for at in self.open] == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}, []))
        if tag in APART:
            self.handle_data(" ")
        if tag not in VOID:
            self.open.append(len(self.elements) - 1)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}, []))

    def handle_endtag(self, tag: str) -> None:
        assert self.elements[self.open.pop()][0] == tag

    def handle_data(self, data: str) -> None:
        for at in self.open:
            self.elements[at][2].append(data)

    def all(self, tag: str, **attributes: str) -> list[str]:
        """The texts of the elements with that tag and these attributes, white space evened."""
        return [
            " ".join("".join(text).split())
            for name, found, text in self.elements
            if name == tag and all(found.get(key.replace("_", "-").strip("-")) == of for key, of in attributes.items())
        ]

    def raw(self, identity: str) -> str:
        return next("".join(text) for _, found, text in self.elements if found.get("id") == identity)

    def data(self, identity: str) -> Any:  # noqa: ANN401
        return json.loads(self.raw(identity))


def made(
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
    models = tuple(dict.fromkeys(one.model for one in trials)) or ABOUT.models
    return {**build(list(trials), replace(ABOUT, models=models)), **facts}


def page(*trials: Trial, **facts: Any) -> Page:  # noqa: ANN401
    return Page(html(record(*trials, **facts)))


def headline(*trials: Trial, **facts: Any) -> str:  # noqa: ANN401
    return page(*trials, **facts).all("h1")[0]


@pytest.mark.parametrize(
    ("outcomes", "facts", "told"),
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
def test_the_verdict_comes_first(outcomes: list[Outcome], facts: dict[str, Any], told: str) -> None:
    trials = [made(f"q{at}", outcome) for at, outcome in enumerate(outcomes)]
    assert headline(*trials, **facts) == told


def test_gates_are_told_with_their_reasons_failed_ones_first() -> None:
    gates = [
        {"name": "structure>=0.5", "outcome": "passed", "reason": "0.8"},
        {"name": "structure>=0.9", "model": "b", "outcome": "failed", "reason": "0.8 <script>"},
    ]
    rows = page(made("a"), gates=gates, models=["a", "b"]).all("tr")
    assert rows[1:3] == ["structure>=0.9, b failed 0.8 <script>", "structure>=0.5 passed 0.8"]
    alone = page(made("a"), gates=gates, models=["b"]).all("tr")
    assert alone[1] == "structure>=0.9 failed 0.8 <script>"


def test_gates_inconclusive_comparison_is_not_counted_as_passed() -> None:
    word = "inconclusive"
    gates = [
        {"name": "budget::calls", "outcome": "skipped", "reason": f"{word}: -k"},
        {"name": "a>=0", "outcome": "passed", "reason": "0.8"},
        {"name": "compare::main", "outcome": "passed", "reason": f"{word}: -0.1, need 40"},
        {"name": "a>=0@95%", "outcome": "failed", "reason": f"{word}: 0.8"},
    ]
    found = page(made("a"), gates=gates)
    assert [row.partition(" ")[2] for row in found.all("tr")[1:5]] == [
        f"failed {word}: 0.8", "inconclusive -0.1, need 40", "passed 0.8", f"skipped {word}: -k",
    ]  # fmt: skip
    assert found.all("span", class_="outcome inconclusive") == ["inconclusive"]
    left = page(made("a"), gates=gates[:3])
    assert left.all("h1") == ["✓ 1 gate passed, 1 inconclusive, 1 left out"]
    assert [len(left.all("span", class_=f"outcome {one}")) for one in ("passed", "inconclusive", "skipped")] == [
        1, 1, 1,
    ]  # fmt: skip


def test_a_spent_budget_is_told() -> None:
    spent = Trial(made("b").question, "gpt-x", "skipped", failure=Failure("budget::calls", "5 of 5 calls made"))
    assert "The budget of calls was spent: 1 question not asked." in page(made("a"), spent).all("p")


def test_the_same_record_gives_the_same_page_in_any_order_of_its_trials() -> None:
    trials = [made(f"q{at:02}", "wrong" if at % 3 else "right", tasks=at % 4) for at in range(20)]
    assert html(record(*trials)) == html(record(*reversed(trials)))


def test_rates_have_wilson_intervals_and_few_are_marked() -> None:
    rows = page(*(made(f"q{at}", "right" if at < 3 else "wrong") for at in range(4))).all("tr")
    assert "next_tasks 4* 0.750 0.301–0.954 0.750 -" in rows
    assert "total 4* 0.750 0.301–0.954 0.750 -" in rows


def test_each_of_three_models_has_a_column_and_a_filter() -> None:
    found = page(*(made("q", model=model) for model in ("a", "b", "c")), made("r", "wrong", model="a"))
    assert found.all("th", class_="model") == ["a", "b", "c"]
    assert "Model all a b c" in found.all("label")
    assert [row["model"] for row in found.data("index")] == ["a", "a", "b", "c"]  # the wrong one of a is first


def test_a_model_that_was_not_asked_about_a_pattern_says_so() -> None:
    found = page(made("q", model="a"), made("r", model="b", group="chain"))
    assert [row for row in found.all("tr") if row.startswith("chain")] == ["chain not asked 1.000 0.207–1.000, n 1*"]


def test_curves_stand_for_labels_of_difficulty_that_vary_and_have_their_numbers_beside_them() -> None:
    trials = [made(f"q{at}", "right" if at < 5 else "wrong", tasks=8 + at // 5, depth=3, colour=at) for at in range(10)]
    found = page(*trials)
    assert found.all("figcaption") == ["Pass rate by number of tasks"]
    assert found.all("desc") == ["gpt-x: 1.000 at 8, 0.000 at 9."]
    assert "8 gpt-x 5* 1.000 0.566-1.000" in found.all("tr")


def partial(name: str, score: float, model: str = "gpt-x", tasks: int = 12) -> Trial:
    one = made(name, "right" if score == 1 else "wrong", model=model, tasks=tasks)
    return replace(one, score=Score(score, given="A"))


def lines_of(found: Page) -> list[tuple[str, list[float]]]:
    """The lines of the first chart and of its legend: class, heights of their points."""
    looks = [one["class"] for tag, one, _ in found.elements if tag == "g" and one.get("class", "").startswith("look")]
    points = [one["points"] for tag, one, _ in found.elements if tag == "polyline"]
    heights = [[float(pair.split(",")[1]) for pair in line.split()] for line in points]
    return list(zip(looks, heights, strict=True))


def test_mean_scores_have_a_line_beside_pass_rates_where_scores_are_partial() -> None:
    found = page(partial("a", 1.0, tasks=8), partial("b", 0.5, tasks=8), partial("c", 0.25, tasks=9))
    assert found.all("figcaption") == ["Pass rate and mean score by number of tasks"]
    assert found.all("desc") == ["gpt-x, pass rate: 0.500 at 8, 0.000 at 9. gpt-x, mean score: 0.750 at 8, 0.250 at 9."]
    (rate, rates), (mean, means), *legend = lines_of(found)
    assert (rate, mean) == ("look0", "look0 mean")
    assert [name for name, _ in legend] == [rate, mean]
    bottom = rates[1]  # a rate of 0
    assert [(bottom - y) / (bottom - rates[0]) for y in means] == pytest.approx([1.5, 0.5])  # in units of a rate of 0.5
    assert found.all("ul", class_="legend") == ["pass rate mean score"]
    rows = found.all("tr")
    assert "number of tasks model n pass rate mean score 95 % interval" in rows
    assert "9 gpt-x 1* 0.000 0.250 0.000-0.793" in rows


def test_one_line_suffices_where_no_score_is_partial() -> None:
    found = page(partial("a", 1.0, tasks=8), partial("b", 0.0, tasks=8), partial("c", 1.0, tasks=9))
    assert [name for name, _ in lines_of(found)] == ["look0"]
    assert "number of tasks model n pass rate 95 % interval" in found.all("tr")
    assert "mean scores" not in " ".join(found.all("p"))


def test_lines_of_several_models_are_named_by_model_and_measure() -> None:
    trials = [partial(f"q{at}", 0.5, model, tasks=at) for at in range(2) for model in ("a", "b")]
    assert page(*trials).all("ul", class_="legend") == ["a, pass rate a, mean score b, pass rate b, mean score"]
    whole = [partial(f"q{at}", 1.0, model, tasks=at) for at in range(2) for model in ("a", "b")]
    assert page(*whole).all("ul", class_="legend") == ["a b"]


def repeated(name: str, scores: list[float], model: str = "gpt-x", group: str = "next_tasks") -> list[Trial]:
    ones = [partial(name, score, model) for score in scores]
    return [
        replace(one, question=replace(
            one.question, id=f"{name}-r{at}" if at > 1 else name, repetition=at, group=group
        ))
        for at, one in enumerate(ones, 1)
    ]  # fmt: skip


def test_repetitions_are_told_by_category_and_pattern_with_both_kinds_of_spread() -> None:
    found = page(*repeated("a", [1.0, 1.0, 0.0]), *repeated("b", [0.0, 0.0, 0.0], group="chain"))
    rows = found.all("tr")
    assert (
        "pattern questions mean score majority pass@3 pass^3 spread within a question spread between workflows" in rows
    )
    assert rows.count("structure 2 0.333 0.500 0.500 0.000 0.408 0.471") == 2  # in the short table and the whole one
    assert rows.count("next_tasks 1 0.667 1.000 1.000 0.000 0.577 -") == 1
    assert rows.count("total 2 0.333 0.500 0.500 0.000 0.408 0.471") == 2
    assert "Each pattern, gpt-x" in found.all("summary")
    assert "within: std over the repetitions of a question; between: std over workflows." in found.all("p")
    assert "Repetitions" in found.all("a", href="#repetitions")


def test_repetitions_of_several_models_have_a_line_each_and_their_patterns_below() -> None:
    found = page(*repeated("a", [1.0, 0.0], "m"), *repeated("a", [1.0, 1.0], "n"), *repeated("b", [1.0], "n"))
    rows = found.all("tr")
    assert "m 1 0.500 0.000 1.000 0.000 0.707 -" in rows
    assert "n 2 1.000 1.000 1.000 1.000 0.000 0.000" in rows
    assert "1 question with fewer than 2 replies has no part in pass@2 and pass^2." in found.all("p")
    assert {"Each pattern, m", "Each pattern, n"} <= set(found.all("summary"))


def test_without_repetitions_nothing_is_said_of_them() -> None:
    assert "Repetitions" not in page(made("a"), made("b", "wrong")).all("h2")


def test_yes_no_answers_are_set_against_the_right_ones() -> None:
    def asked(name: str, right: str, given: str, outcome: Outcome) -> Trial:
        return made(name, outcome, form="yes-no", reference=right, given=given)

    found = page(
        asked("a", "yes", "yes", "right"), asked("b", "no", "yes", "wrong"), asked("c", "no", "", "unparseable"),
        asked("d", "no", "no", "right"), asked("e", "no", "", "error"),
        made("f", form="yes-no-reason", reference={"answer": "yes"}, given={"answer": "yes", "reason": "x"}),
    )  # fmt: skip
    assert {"yes 2 0 0", "no 1 1 1"} <= set(found.all("tr"))
    assert "Said yes 3 times; yes was right 2 times." in found.all("p")


def test_confusions_form_with_three_classes_has_a_table_of_its_own() -> None:
    classes = ("low", "medium", "high")

    def asked(name: str, form: str, right: str, given: str) -> Trial:
        question = replace(made(name, "wrong").question, form=form, reference=right)
        return replace(made(name, "wrong"), question=question, score=Score(0.0, given=given))

    trials = [asked("a", "level", "low", "high"), asked("b", "level", "high", "?"), asked("c", "yes-no", "no", "yes")]
    tally = tally_of(record(*trials))
    yes_no = (("yes", "no"), [("yes", [0, 0, 0]), ("no", [1, 0, 0])])
    with registrations() as known:
        known.add(FORMS.kind, "level", replace(FORMS["text"], name="level", classes=classes), "tests")
        assert [(one.classes, one.rows) for one in confusions(tally)] == [
            (classes, [("low", [0, 0, 1, 0]), ("medium", [0, 0, 0, 0]), ("high", [0, 0, 0, 1])]),
            yes_no,
        ]
        assert page(*trials).all("caption").count("gpt-x") == 2
    assert [(one.classes, one.rows) for one in confusions(tally)] == [yes_no]


def test_a_question_shows_what_was_asked_expected_given_missing_extra_said_and_paid() -> None:
    one = made("q", "wrong", reference=["A", "B"], given=["A", "C"], tasks=12)
    score = Score(0.333, given=["A", "C"], missing=["B"], extra=["C"], metrics={"recall": 0.5})
    found = page(Trial(one.question, "gpt-x", "wrong", one.reply, score))
    assert found.all("bdi", data_slot="text")[1] == "Which, q?"
    assert found.all("bdi", data_slot="expected")[0] == "A, B"
    assert found.all("bdi", data_slot="given")[0] == "A, C"
    assert found.all("ul", data_list="missing")[0] == "− B"
    assert found.all("ul", data_list="extra")[0] == "+ C"
    assert found.all("pre", data_slot="prompt")[0] == "prompt of q"
    assert found.all("pre", data_slot="reply")[0] == "Final answer: A"
    assert found.all("dl", data_list="facts")[0] == (
        "main metric jaccard recall 0.500 cost $0.012500 tokens 1,200 in, 34 out"
    )
    assert found.all("dl", data_list="labels")[0] == "tasks 12"


def test_errors_and_skips_are_shown_with_their_reasons_and_come_before_and_after_what_is_right() -> None:
    found = page(made("a", "skipped"), made("b"), made("c", "error"))
    assert [row["id"] for row in found.data("index")] == ["c", "b", "a"]
    assert found.all("bdi", data_slot="error")[:2] == ["network: c did not come", "network: a did not come"]


def test_what_an_agent_said_is_shown_with_its_calls() -> None:
    said = {"role": "subject", "text": "I ask", "calls": [{"tool": "read", "status": "ok"}]}
    one = made("q")
    found = page(Trial(one.question, "gpt-x", "right", one.reply, one.score, exchanges=[said]))
    assert found.all("ol", class_="exchanges")[0] == 'subject, 1 call I ask → {"status": "ok", "tool": "read"}'


def hostile() -> dict[str, Any]:
    question = Question(
        HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, "task-set", [HOSTILE], HOSTILE, system=HOSTILE,
        labels={HOSTILE: HOSTILE, "tasks": HOSTILE}, cluster="c", relation="",
    )  # fmt: skip
    reply = Reply(HOSTILE, finish_reason=HOSTILE, source=HOSTILE)
    score = Score(0.0, {HOSTILE: 0.5}, given=[HOSTILE], remark=HOSTILE, missing=[HOSTILE], extra=[HOSTILE])
    exchange = {"role": HOSTILE, "text": HOSTILE, "calls": [{HOSTILE: HOSTILE}]}
    trials = [
        Trial(question, model, "wrong", reply, score, Failure(HOSTILE, HOSTILE), exchanges=[exchange])
        for model in (HOSTILE, "other")
    ]
    about = about_run(HOSTILE, (HOSTILE,), 0, (HOSTILE,), HOSTILE)
    gates = [{"name": HOSTILE, "outcome": HOSTILE, "reason": HOSTILE}]
    drawing = asdict(Diagram(HOSTILE, [DiagramNode(HOSTILE, HOSTILE)], [DiagramEdge(HOSTILE, HOSTILE, HOSTILE)]))
    return {**build(trials, about), "gates": gates, "diagrams": {"c": drawing}}


def test_hostile_texts_become_no_element_no_attribute_and_no_end_of_a_script() -> None:
    text = html(hostile())
    found, plain = Page(text), page(made("q"), made("q", model="b"))
    kinds = {tag for tag, _, _ in found.elements}
    assert kinds & {"img", "iframe", "object", "a", "script"} == {"a", "script"}
    assert len(found.all("script")) == len(plain.all("script"))
    assert not [name for _, attributes, _ in found.elements for name in attributes if name.startswith("on")]
    assert all(href.startswith("#") for _, one, _ in found.elements if (href := one.get("href")))


def test_hostile_names_of_models_and_patterns_are_text_in_repetitions_and_curves_too() -> None:
    def asked(name: str, model: str, pattern: str, tasks: int) -> list[Trial]:
        ones = repeated(name, [1.0, 0.5], model, pattern)
        return [replace(one, question=replace(one.question, labels={"tasks": tasks})) for one in ones]

    text = html(record(*asked("a", HOSTILE, HOSTILE, 1), *asked("b", HOSTILE, HOSTILE, 2), *asked("c", "m", "p", 1)))
    found = Page(text)
    assert not [tag for tag, one, _ in found.elements if tag == "img" or any(name.startswith("on") for name in one)]
    assert {"Repetitions", "Difficulty"} <= set(found.all("h2"))
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069\u2028\u2029]", text)


def test_hostile_texts_are_shown_as_text_with_nothing_that_is_obeyed_or_hidden() -> None:
    text = html(hostile())
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069\u2028\u2029]", text)
    found = Page(text)
    shown = found.all("pre", data_slot="reply")[0]
    assert shown.startswith("</script><script>alert(1)</script><img src=x onerror=alert(2)>]]>--><!-- \\x1b[31mred")
    assert "\\u202egnp.exe" in shown
    assert found.data("details")["questions"][0]["reply"] == shown
    for name in ("index", "details", "drawings"):
        assert not set("<>&") & set(found.raw(name))


def test_nothing_is_fetched_and_the_policy_allows_one_script_alone() -> None:
    text = html(record(*(made(f"q{at}", tasks=at) for at in range(3))))
    found = Page(text)
    assert not [one for _, one, _ in found.elements if "src" in one]
    assert "url(" not in text
    assert "@import" not in text
    assert set(re.findall(r"https?://[^\s\"'<]*", text)) <= {"http://www.w3.org/2000/svg"}
    policy = next(one["content"] for tag, one, _ in found.elements if tag == "meta" and "http-equiv" in one)
    script = next("".join(text) for tag, one, text in found.elements if tag == "script" and not one)
    digest = b64encode(sha256(script.encode()).digest()).decode()
    assert policy.startswith(f"default-src 'none'; script-src 'sha256-{digest}';")


def test_workflows_are_drawn_once_each_in_the_page_and_packed_for_the_script() -> None:
    drawing = asdict(Diagram("W", [DiagramNode("a", "Fetch"), DiagramNode("b", "Pack")], [DiagramEdge("a", "b")]))
    trials = [made(f"q{at:02}") for at in range(FIRST + 5)]
    found = page(*trials, diagrams={"c-q00": drawing, "c-unasked": drawing})
    assert list(found.data("drawings")) == ["c-q00"]
    drawn = decompress(b64decode(found.data("drawings")["c-q00"])).decode()
    assert drawn.startswith("<svg")
    assert "Fetch" in drawn
    places = [text for text in found.all("div", class_="scroll drawing") if text]
    assert len(places) == 1
    assert "Fetch" in places[0]


def drawn_pair(name: str) -> Trial:
    one = Diagram("Tea", [DiagramNode("1", "Boil"), DiagramNode("2", HOSTILE)])
    pair = DiagramPair(one, replace(one, nodes=one.nodes[:1]))
    return replace(made(name, "wrong"), diagram_pair=pack(pair.to_json()))


def test_pairs_of_diagrams_are_drawn_in_the_page_and_packed_for_the_script() -> None:
    found = page(drawn_pair("a"), made("b"), drawn_pair("c"))
    packed = found.data("pairs")
    assert list(packed) == ["0", "1"]  # what is not right comes first
    expected, given, *told = packed["0"]
    assert told == ["1 node, 0 links", "0 nodes, 0 links", "1 node, 0 links"]
    assert ">Boil: " not in decompress(b64decode(given)).decode()
    assert "missing from the answer" in decompress(b64decode(expected)).decode()
    assert found.all("title").count("Expected: Tea") == 2
    assert found.all("h4")[:2] == ["Expected", "Given"]


def test_pairs_over_the_bound_are_not_drawn_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html_questions, "MOST_PAIRS", 1)
    found = page(drawn_pair("a"), drawn_pair("b"), drawn_pair("c"))
    assert list(found.data("pairs")) == ["0"]
    told = "Expected and given diagrams of the last 2 answers are not drawn here; the record holds them."
    assert told in found.all("p")


def test_without_its_script_the_page_shows_the_first_questions_and_says_so() -> None:
    found = page(*(made(f"q{at:02}") for at in range(FIRST + 5)))
    assert len(found.all("details", class_="question")) == FIRST + 1  # and the mould
    assert f"the first {FIRST} of {FIRST + 5} are shown" in found.all("noscript")[0]
    assert len(found.data("index")) == len(found.data("details")["questions"]) == FIRST + 5


def test_headings_are_in_order_and_tables_have_captions_and_scopes() -> None:
    found = page(*(made(f"q{at}", form="yes-no", reference="yes", given="yes", tasks=at % 3) for at in range(9)))
    levels = [int(tag[1]) for tag, _, _ in found.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert len(found.all("table")) == len(found.all("caption"))
    assert all("scope" in one for tag, one, _ in found.elements if tag == "th")
    assert [one["role"] for _, one, _ in found.elements if one.get("id") == "count"] == ["status"]
    assert {"header", "main", "nav", "footer"} <= {tag for tag, _, _ in found.elements}


def test_a_comparison_shows_what_flipped_and_the_former_answer_beside_the_new_one() -> None:
    before = record(*(made(f"q{at:02}") for at in range(12)))
    after = record(*(made(f"q{at:02}", "wrong" if at < 9 else "right", given="Z") for at in range(12)))
    found = Page(html(after, compare(before, after)))
    assert found.all("h1") == ["✗ Worse than before; 9 of 12 not right"]
    rows = [row for row in found.all("tr") if row.startswith("q0")]
    assert rows[0].split() == ["q00", "right", "A", "wrong", "Z"]
    assert len(rows) == 9
    assert found.all("bdi", data_slot="before")[0] == "right, score 1.000: A"
    assert found.data("index")[0]["change"] == "worse"
    assert "Compared all worse" in found.all("label")


def test_without_a_comparison_nothing_is_said_of_one() -> None:
    found = page(made("a"), made("b", "wrong"))
    assert "Comparison" not in found.all("h2")
    assert [one for one in found.all("label") if one.startswith("Compared")] == []


def test_a_long_answer_is_short_in_the_list_and_whole_in_the_question() -> None:
    names = [f"Task{at}" for at in range(200)]
    found = page(made("q", "wrong", reference=[*names], given=["A"]))
    assert len(found.data("index")[0]["expected"]) < len(", ".join(names))
    assert found.data("details")["questions"][0]["whole_expected"] == ", ".join(names)
    assert found.all("bdi", data_slot="expected")[0] == ", ".join(names)
