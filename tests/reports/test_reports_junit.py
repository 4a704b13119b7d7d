from __future__ import annotations

from dataclasses import replace
from random import Random
from xml.etree import ElementTree

from described_runs import PATTERNS, about_run, described
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.reports.junit import properties, suite_properties
from pytest_taskgraph.results.tally import Tally
from pytest_taskgraph.trial import Failure, Outcome, Question, Reply, Score, Trial

ABOUT = about_run("0.1.0", ("gpt-x",), 7, ("wadl",), "chain-of-thought", "lenient", ("answers",))
anything = st.text(st.characters())


def made(name: str, outcome: Outcome = "right", *, pattern: str = "next_tasks", model: str = "gpt-x") -> Trial:
    question = Question(
        name,
        "understanding",
        pattern,
        "structure",
        "Which?",
        "p",
        "task-set",
        ["A", "B"],
        "jaccard",
        labels={"notation": "wadl"},
    )
    if outcome == "error":
        return Trial(question, model, outcome, failure=Failure("timeout", "none"))
    mark = Score(1.0 if outcome == "right" else 0.25, given=["A"])
    return Trial(question, model, outcome, Reply("A", 120, 3, 0.00125), mark)


def tallied(*trials: Trial) -> Tally:
    tally = Tally(described())
    for trial in trials:
        tally.add(trial)
    return tally


def test_a_test_case_carries_its_mark_and_what_it_cost() -> None:
    assert properties(made("a", "wrong"), PATTERNS) == [
        ("taskgraph.outcome", "wrong"),
        ("taskgraph.score", "0.250"),
        ("taskgraph.pattern", "next_tasks"),
        ("taskgraph.category", "structure"),
        ("taskgraph.notation", "wadl"),
        ("taskgraph.model", "gpt-x"),
        ("taskgraph.tokens_in", "120"),
        ("taskgraph.tokens_out", "3"),
        ("taskgraph.stored", "no"),
        ("taskgraph.cost_usd", "0.001250"),
        ("taskgraph.expected", "A, B"),
        ("taskgraph.given", "A"),
    ]


def test_what_is_unknown_is_left_out_and_what_is_zero_is_not() -> None:
    unknown = dict(properties(replace(made("a"), reply=Reply("A")), PATTERNS))
    assert not {"taskgraph.cost_usd", "taskgraph.tokens_in", "taskgraph.tokens_out"} & set(unknown)
    free = dict(properties(replace(made("a"), reply=Reply("", 0, 0, 0.0), score=Score(0.0, given=[])), PATTERNS))
    assert (free["taskgraph.cost_usd"], free["taskgraph.tokens_in"]) == ("0.000000", "0")
    assert (free["taskgraph.score"], free["taskgraph.given"]) == ("0.000", "none")


def test_an_error_has_no_score_and_tells_why() -> None:
    found = dict(properties(made("a", "error"), PATTERNS))
    assert "taskgraph.score" not in found
    assert found["taskgraph.remark"] == "timeout: none"


def test_the_suite_carries_a_line_a_category_and_a_pattern() -> None:
    tally = tallied(made("a"), made("b"), made("c"), made("d", "wrong"), made("e", "error", pattern="chain"))
    assert suite_properties(tally, ABOUT) == [
        ("taskgraph.model", "gpt-x"),
        ("taskgraph.seed", "7"),
        ("taskgraph.notation", "wadl"),
        ("taskgraph.prompt", "chain-of-thought"),
        ("taskgraph.parsing", "lenient"),
        ("taskgraph.fail_on", "answers"),
        ("taskgraph.version", "0.1.0"),
        ("taskgraph.n", "4"),
        ("taskgraph.right", "3"),
        ("taskgraph.rate", "0.750"),
        ("taskgraph.interval", "0.301-0.954"),
        ("taskgraph.mean", "0.812"),
        ("taskgraph.errors", "1"),
        ("taskgraph.unparseable", "0"),
        ("taskgraph.refused", "0"),
        ("taskgraph.skipped", "0"),
        (
            "taskgraph.category.structure",
            "n=4 right=3 rate=0.750 interval=0.301-0.954 mean=0.812 errors=1 unparseable=0 refused=0 skipped=0",
        ),
        (
            "taskgraph.pattern.chain",
            "n=0 right=0 rate=none interval=none mean=none errors=1 unparseable=0 refused=0 skipped=0",
        ),
        (
            "taskgraph.pattern.next_tasks",
            "n=4 right=3 rate=0.750 interval=0.301-0.954 mean=0.812 errors=0 unparseable=0 refused=0 skipped=0",
        ),
    ]


def test_several_models_are_kept_apart_and_a_simulated_one_is_called_so() -> None:
    tally = tallied(made("a"), made("a", "wrong", model="simulated:0.5"))
    found = suite_properties(tally, replace(ABOUT, models=("gpt-x", "simulated:0.5")))
    assert dict(found)["taskgraph.simulated"] == "yes"
    assert dict(found)["taskgraph.rate[gpt-x]"] == "1.000"
    assert dict(found)["taskgraph.rate[simulated:0.5]"] == "0.000"
    assert len(dict(found)) == len(found)


@given(st.randoms(use_true_random=False))
def test_the_order_of_arrival_changes_nothing(rng: Random) -> None:
    ones = [made(f"{pattern}{at}", pattern=pattern) for pattern in "cab" for at in range(3)]
    shuffled = list(ones)
    rng.shuffle(shuffled)
    assert suite_properties(tallied(*shuffled), ABOUT) == suite_properties(tallied(*ones), ABOUT)


@given(anything, anything, anything)
def test_any_text_is_safe_in_xml_and_on_one_line(reply: str, name: str, model: str) -> None:
    nasty = made("a", "wrong", pattern=name, model=model)
    nasty = replace(nasty, score=Score(0.0, given=[reply], remark=reply))
    found = properties(nasty, PATTERNS) + suite_properties(
        tallied(nasty), replace(ABOUT, models=(model,), prompts=(reply,))
    )
    for one in found:
        element = ElementTree.Element("property", name=one[0], value=one[1])
        back = ElementTree.fromstring(ElementTree.tostring(element, encoding="utf-8"))
        assert (back.get("name"), back.get("value")) == one
        assert len(one[1].splitlines()) <= 1


def test_chance_and_relations_are_told_where_they_are_known() -> None:
    def with_facts(trial: Trial, **facts: object) -> Trial:
        return replace(trial, question=replace(trial.question, **facts))  # type: ignore[arg-type]

    plain = with_facts(made("a"), chance=0.25)
    again = with_facts(made("b"), relation="names", twin=plain.question.id)
    tally = Tally(described())
    for trial in (plain, again):
        tally.add(trial)
    found = dict(suite_properties(tally, ABOUT))
    assert found["taskgraph.chance"] == "0.250"
    assert found[f"taskgraph.pattern.{plain.question.group}"].endswith(" chance=0.250")
    assert found["taskgraph.relation.names"] == "pairs=1 same=1"
    assert ("taskgraph.relation", "names") in properties(again, PATTERNS)
    assert "taskgraph.relation" not in dict(properties(plain, PATTERNS))
