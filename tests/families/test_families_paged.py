"""PAGED as a user runs it: own documents asked over HTTP, self-refinement, extraction by elements, and the baseline."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from loopback import Answer, Loopback, refuse
from plugin_project import Project
from procedure_texts import DINNER

SUITE = """
from pytest_taskgraph import paged, suite

@suite(paged)
def test_paged(trial):
    trial.check()
"""
RECORD = "--taskgraph-report=json=r.json"
DINNER_DOCUMENT = (
    "Lay the table. If dishes are needed, wash the plates. In addition, if drinks are needed, chill the wine. Then "
    "bake the bread; at the same time, slice the cheese."
)
# Two branches, of which one is taken.
WASH = """\
Start -> XOR1
XOR1 -> (the car is dirty) wash the car
XOR1 -> (the car is not dirty) wax the car
wash the car -> XOR2
wax the car -> XOR2
XOR2 -> End
"""
WASH_DOCUMENT = "If the car is dirty, wash the car. Otherwise, wax the car."
ONE_WAY = DINNER.replace("OR", "XOR")  # the conditions do not exclude each other, but the gateway says so
ANY_WAY = WASH.replace("XOR", "OR")  # the conditions exclude each other, but the gateway says that both may hold
NO_GATEWAY = "Start -> lay the table\nlay the table -> wash the plates\nwash the plates -> End"
REFUSAL = "I'm sorry, but I can't help with that."


def asks(*methods: str, rounds: int = 2) -> tuple[str, ...]:
    return (
        "--taskgraph-data=paged=data", f"--taskgraph-paged-method={','.join(methods)}",
        f"--taskgraph-paged-rounds={rounds}", RECORD,
    )  # fmt: skip


def scripted(dinner: list[Answer], wash: list[Answer] | None = None) -> Callable[[str], Answer]:
    """Return a model that gives each conversation about a document its replies in turn."""

    def answer(sent: str) -> Answer:
        messages: list[dict[str, str]] = json.loads(sent)["messages"]
        about = dinner if DINNER_DOCUMENT in messages[0]["content"] else wash or [WASH]
        return about[sum(message["role"] == "assistant" for message in messages)]

    return answer


def trial_of(record: dict[str, Any], document: str, method: str = "refine") -> dict[str, Any]:
    [trial_found] = [trial for trial in record["trials"] if trial["question"]["id"] == f"{method}-{document}"]
    assert isinstance(trial_found, dict)
    return trial_found


def aggregates(project: Project, row: str = "refine") -> dict[str, str]:
    with (project.path / "t.csv").open(encoding="utf-8", newline="") as file:
        return {line["column"]: line["value"] for line in csv.DictReader(file) if line["row"] == row}


def lasting(record: dict[str, Any]) -> list[Any]:
    """Return the trials of a record without times and without marks of the store."""
    trials: list[Any] = json.loads(json.dumps(record["trials"]))
    for trial in trials:
        for part in (trial["reply"], *trial["exchanges"]):
            for name in [name for name in part if name in ("latency", "stored")]:
                del part[name]
    return trials


@pytest.fixture
def own(project: Project, server: Loopback) -> Project:
    """A project with two documents of its own; the server answers as a function of the whole request."""
    project.write("test_paged.py", SUITE)
    for name, graph, document in (("dinner", DINNER, DINNER_DOCUMENT), ("wash", WASH, WASH_DOCUMENT)):
        project.write(f"data/{name}.graph.txt", graph)
        project.write(f"data/{name}.document.txt", document)
    server.asked = lambda received: json.dumps(received.body)
    return project


def test_refine_over_http_raises_gateway_f1_each_round(own: Project, server: Loopback) -> None:
    server.answer = scripted([ONE_WAY, f"Here it is:\n{ONE_WAY}", f"```\n{DINNER}```"], [ANY_WAY, WASH])
    tables = "--taskgraph-report=tables=t.csv"
    ran = own.run(f"--model={server.url}#any", "--taskgraph-price=1/20", *asks("refine"), tables, "-v")
    assert (ran.code, ran.counts) == (0, {"passed": 2}), ran.output
    # Of dinner's XOR1, XOR2, AND1 and AND2 two are right, of wash's OR1 and OR2 none: 2 of 6, both ways.
    # Then wash's two gateways are right, too: 4 of 6; at last all.
    values = aggregates(own)
    rounds = [float(values[f"round_{at}_gateway_f1"]) for at in range(3)]
    assert rounds == pytest.approx([1 / 3, 2 / 3, 1.0], abs=1e-6)
    assert "round_3_gateway_f1" not in values or not values["round_3_gateway_f1"]
    [at] = [at for at, line in enumerate(ran.table) if line.startswith("self-refine")]
    assert re.findall(r"(?<!\S)\d\.\d{3}(?!\S)", ran.table[at + 1]) == ["0.333", "0.667", "1.000"], ran.output
    assert trial_of(own.record("r.json"), "dinner")["score"]["value"] == 1.0


def test_refine_over_http_records_exchanges_costs_and_verifiers(own: Project, server: Loopback) -> None:
    server.answer = scripted([ONE_WAY, ONE_WAY, DINNER], [ANY_WAY, WASH])
    own.run(f"--model={server.url}#any", "--taskgraph-price=1/20", *asks("refine"))
    record = own.record("r.json")
    dinner, wash = trial_of(record, "dinner"), trial_of(record, "wash")
    assert (len(dinner["exchanges"]), len(wash["exchanges"]), len(server.requests)) == (3, 2, 5)
    costs = [exchange["cost"] for trial in (dinner, wash) for exchange in trial["exchanges"]]
    assert costs == pytest.approx([3e-6 + 2 * 20e-6] * 5)
    assert [exchange["round"] for exchange in dinner["exchanges"]] == [0, 1, 2]
    assert [exchange["read"] for exchange in dinner["exchanges"]] == ["graph"] * 3
    assert [len(exchange["messages"]) for exchange in dinner["exchanges"]] == [1, 3, 5]
    [feedback] = dinner["exchanges"][2]["feedback"]
    assert (feedback["verifier"], feedback["kind"], feedback["gateway"], feedback["join"]) == (
        "condition",
        "exclusive",
        "XOR1",
        "XOR2",
    )
    assert feedback["phrases"] == ["dishes are needed", "drinks are needed"]
    assert [feedback["kind"] for feedback in wash["exchanges"][1]["feedback"]] == ["inclusive"]


def test_refine_over_http_records_parallel_verifier(own: Project, server: Loopback) -> None:
    fork = DINNER.replace("slice the cheese", "slice the bread")
    server.answer = scripted([fork, fork])
    own.run(f"--model={server.url}#any", *asks("refine", rounds=1))
    _, last = trial_of(own.record("r.json"), "dinner")["exchanges"]
    [feedback] = last["feedback"]
    assert (feedback["verifier"], feedback["kind"], feedback["gateway"]) == ("parallel", "parallel", "AND1")
    assert feedback["phrases"] == ["bake the bread", "slice the bread"]
    assert "act on the same object" in server.requests[-1].prompt


def test_refine_of_worsening_model_scores_last_graph(own: Project, server: Loopback) -> None:
    server.answer = scripted([ONE_WAY, NO_GATEWAY, NO_GATEWAY])
    ran = own.run(f"--model={server.url}#any", *asks("refine"), "--taskgraph-report=tables=t.csv")
    assert ran.code == 0, ran.output
    trial = trial_of(own.record("r.json"), "dinner")
    assert trial["reply"]["text"] == NO_GATEWAY
    parts = trial["score"]["parts"]
    assert [parts[f"round_{at}_gateway_recall"] for at in range(3)] == [[2, 4], [0, 4], [0, 4]]
    # With wash's two gateways, right from the start: P 4/6, R 4/6; then P 2/2, R 2/6.
    values = aggregates(own)
    assert [float(values[f"round_{at}_gateway_f1"]) for at in range(3)] == pytest.approx([2 / 3, 0.5, 0.5], abs=1e-6)


def test_refine_failing_in_round_two_keeps_paid_replies(own: Project, server: Loopback) -> None:
    server.answer = scripted([ONE_WAY, ONE_WAY, refuse(500, "out of order")])
    ran = own.run(
        f"--model={server.url}#any", "--taskgraph-price=1/20", "--taskgraph-retries=0", *asks("refine"),
        "--taskgraph-report=tables=t.csv",
    )  # fmt: skip
    assert (ran.code, ran.counts) == (1, {"passed": 1, "error": 1}), ran.output
    trial = trial_of(own.record("r.json"), "dinner")
    assert trial["outcome"] == "error"
    answered = [exchange for exchange in trial["exchanges"] if exchange.get("text")]
    assert sum(exchange["cost"] for exchange in answered) == pytest.approx(2 * 43e-6)
    # Only wash counts: the error is no wrong answer.
    assert float(aggregates(own)["round_0_gateway_f1"]) == 1.0


@pytest.mark.parametrize("later", ["The graph is right.", REFUSAL])
def test_refine_with_unparseable_second_reply_scores_first(own: Project, server: Loopback, later: str) -> None:
    server.answer = scripted([ONE_WAY, later])
    ran = own.run(f"--model={server.url}#any", *asks("refine"))
    assert ran.code == 0, ran.output
    trial = trial_of(own.record("r.json"), "dinner")
    assert (trial["reply"]["text"], trial["score"]["status"]) == (ONE_WAY, "read")
    assert [exchange["read"] for exchange in trial["exchanges"]] == ["graph", "unparseable"]
    assert [trial["score"]["parts"][f"round_{at}_gateway_recall"] for at in range(3)] == [[2, 4]] * 3


def test_refine_is_replayed_and_equal_over_workers(own: Project, server: Loopback) -> None:
    server.answer = scripted([ONE_WAY, ONE_WAY, DINNER], [ANY_WAY, WASH])
    arguments = (f"--model={server.url}#any", *asks("refine", "extract"))
    ran = own.run(*arguments)
    assert ran.counts == {"passed": 4}, ran.output
    first, sent = own.record("r.json"), len(server.requests)
    assert sent == 5  # extract sends the first request of refine
    spread = own.spread(*arguments, "--taskgraph-refresh")
    assert (spread.code, spread.counts) == (0, {"passed": 4}), spread.output
    assert lasting(own.record("r.json")) == lasting(first)
    server.answer, sent = "Nothing is to be asked.", len(server.requests)
    replayed = own.run(*arguments, "--taskgraph-replay")
    assert (replayed.code, len(server.requests)) == (0, sent), replayed.output
    assert lasting(own.record("r.json")) == lasting(first)


ELEMENTS = """\
activity: lay the table
condition: dishes are needed
activity: wash the plates
condition: drinks are needed
activity: chill the wine
gateway: after that
activity: bake the bread
gateway: at the same time
activity: slice the cheese
gateway: once both are done
end
"""


@pytest.mark.parametrize(
    ("text", "value", "status"),
    [
        (ELEMENTS, 1.0, "read"),
        ("Here is the list:\n\n" + "".join(f"{at}. **{line}**\n" for at, line in enumerate(ELEMENTS.splitlines(), 1)),
         1.0, "read"),
        (DINNER, 1.0, "read"),  # a graph in place of the list
        ("The table is laid, then it is dinner.", 0.0, "unparseable"),
        (REFUSAL, 0.0, "refused"),
    ],
    ids=["list", "decorated", "graph", "prose", "refusal"],
)  # fmt: skip
def test_elements_over_http_become_scored_graph(
    own: Project, server: Loopback, text: str, value: float, status: str
) -> None:
    server.answer = scripted([text], ["activity: wash the car"])
    own.run(f"--model={server.url}#any", *asks("elements"))
    trial = trial_of(own.record("r.json"), "dinner", "elements")
    assert (trial["score"]["value"], trial["score"]["status"]) == (value, status), trial["score"]
    assert "activity: what is done" in server.requests[0].prompt
    assert trial["exchanges"][0]["elements"] == (11 if "activity" in text else 0)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (f"I think of guests.\nFinal answer:\n{DINNER}", 1.0),
        (f"I think of guests.\n\n{DINNER}", 1.0),
        (f"Final answer:\n{ONE_WAY}\nNo, both may hold.\n\n**Final answer:**\n\n```text\n{DINNER}```", 1.0),
        ("I only think.", 0.0),
    ],
    ids=["marker", "missing", "twice", "no-graph"],
)
def test_reasoned_reply_over_http_is_parsed_after_last_marker(
    own: Project, server: Loopback, text: str, value: float
) -> None:
    server.answer = scripted([text])
    own.run(f"--model={server.url}#any", *asks("reason"))
    assert trial_of(own.record("r.json"), "dinner", "reason")["score"]["value"] == value


@pytest.mark.parametrize(
    ("text", "value", "status"),
    [
        (f"Sure! Here is the graph:\n\n```dot\n{DINNER}```\nI hope it helps.", 1.0, "read"),
        ("".join(f"- {line.replace('->', '→')};\n" for line in DINNER.splitlines()), 1.0, "read"),
        (f"**For cook:**\n{DINNER}", 42 / 47, "read"),  # all 21 elements, and 5 actors of which the gold graph has none
        (REFUSAL, 0.0, "refused"),
        ("There is none.", 0.0, "unparseable"),
    ],
    ids=["fence", "bullets", "heading", "refusal", "prose"],
)
def test_extracted_graph_over_http_is_parsed_leniently(
    own: Project, server: Loopback, text: str, value: float, status: str
) -> None:
    server.answer = scripted([text])
    own.run(f"--model={server.url}#any", *asks("extract"))
    score = trial_of(own.record("r.json"), "dinner", "extract")["score"]
    assert (score["value"], score["status"]) == (pytest.approx(value), status)


def test_baseline_answers_every_method_in_requested_form(own: Project) -> None:
    ran = own.run("--model=baseline:rules", *asks("all"))
    assert (ran.code, ran.counts) == (0, {"passed": 8}), ran.output
    for trial in own.record("r.json")["trials"]:
        assert trial["score"]["value"] == 1.0, trial["question"]["id"]


def test_simulated_gold_graphs_score_one_in_every_method(own: Project) -> None:
    ran = own.run("--model=simulated:1", *asks("all"))
    assert ran.code == 0, ran.output
    record = own.record("r.json")
    assert {trial["score"]["value"] for trial in record["trials"]} == {1.0}
