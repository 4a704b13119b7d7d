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


def make_trial(name: str, outcome: Outcome = "right", *, pattern: str = "next_tasks", model: str = "gpt-x") -> Trial:
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


def test_properties_hold_score_and_cost() -> None:
    assert properties(make_trial("a", "wrong"), PATTERNS) == [
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


def test_properties_omit_unknown_and_keep_zero() -> None:
    unknown = dict(properties(replace(make_trial("a"), reply=Reply("A")), PATTERNS))
    assert not {"taskgraph.cost_usd", "taskgraph.tokens_in", "taskgraph.tokens_out"} & set(unknown)
    free = dict(properties(replace(make_trial("a"), reply=Reply("", 0, 0, 0.0), score=Score(0.0, given=[])), PATTERNS))
    assert (free["taskgraph.cost_usd"], free["taskgraph.tokens_in"]) == ("0.000000", "0")
    assert (free["taskgraph.score"], free["taskgraph.given"]) == ("0.000", "none")


def test_properties_error_has_reason_and_no_score() -> None:
    values = dict(properties(make_trial("a", "error"), PATTERNS))
    assert "taskgraph.score" not in values
    assert values["taskgraph.remark"] == "timeout: none"


def test_suite_properties_have_line_for_category_and_pattern() -> None:
    tally = tallied(
        make_trial("a"),
        make_trial("b"),
        make_trial("c"),
        make_trial("d", "wrong"),
        make_trial("e", "error", pattern="chain"),
    )
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


def test_suite_properties_separate_models_and_mark_simulated() -> None:
    tally = tallied(make_trial("a"), make_trial("a", "wrong", model="simulated:0.5"))
    pairs = suite_properties(tally, replace(ABOUT, models=("gpt-x", "simulated:0.5")))
    assert dict(pairs)["taskgraph.simulated"] == "yes"
    assert dict(pairs)["taskgraph.rate[gpt-x]"] == "1.000"
    assert dict(pairs)["taskgraph.rate[simulated:0.5]"] == "0.000"
    assert len(dict(pairs)) == len(pairs)


@given(st.randoms(use_true_random=False))
def test_suite_properties_do_not_depend_on_arrival_order(rng: Random) -> None:
    trials = [make_trial(f"{pattern}{at}", pattern=pattern) for pattern in "cab" for at in range(3)]
    shuffled = list(trials)
    rng.shuffle(shuffled)
    assert suite_properties(tallied(*shuffled), ABOUT) == suite_properties(tallied(*trials), ABOUT)


@given(anything, anything, anything)
def test_properties_any_text_is_xml_safe_and_one_line(reply: str, name: str, model: str) -> None:
    nasty = make_trial("a", "wrong", pattern=name, model=model)
    nasty = replace(nasty, score=Score(0.0, given=[reply], remark=reply))
    pairs = properties(nasty, PATTERNS) + suite_properties(
        tallied(nasty), replace(ABOUT, models=(model,), prompts=(reply,))
    )
    for pair in pairs:
        element = ElementTree.Element("property", name=pair[0], value=pair[1])
        back = ElementTree.fromstring(ElementTree.tostring(element, encoding="utf-8"))
        assert (back.get("name"), back.get("value")) == pair
        assert len(pair[1].splitlines()) <= 1


def test_suite_properties_hold_known_chance_and_relations() -> None:
    def with_facts(trial: Trial, **facts: object) -> Trial:
        return replace(trial, question=replace(trial.question, **facts))  # type: ignore[arg-type]

    plain = with_facts(make_trial("a"), chance=0.25)
    again = with_facts(make_trial("b"), relation="names", twin=plain.question.id)
    tally = Tally(described())
    for trial in (plain, again):
        tally.add(trial)
    values = dict(suite_properties(tally, ABOUT))
    assert values["taskgraph.chance"] == "0.250"
    assert values[f"taskgraph.pattern.{plain.question.group}"].endswith(" chance=0.250")
    assert values["taskgraph.relation.names"] == "pairs=1 same=1"
    assert ("taskgraph.relation", "names") in properties(again, PATTERNS)
    assert "taskgraph.relation" not in dict(properties(plain, PATTERNS))
