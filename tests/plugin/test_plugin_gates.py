"""Gates, from the outside: what a run with a gate comes to, and why."""

from __future__ import annotations

import re

import pytest
from loopback import Loopback, Raw, refuse
from plugin_project import OWN, Project, Ran, right, wrong

SUITE = """
import pytest
from pytest_taskgraph import suite, understanding

@suite(understanding, patterns=["parallel_pair", "parallel_block"], instances=5)
def test_graph(trial):
    trial.check()
"""
STOPS = """
def pytest_runtest_teardown(item):
    item.session.shouldstop = "very " * 20 + "long " * 40
"""
RECORD = "--taskgraph-report=json=record.json"
GATE = "--taskgraph-gate=structure>=0.8"
QUICK = "--taskgraph-retries=0"
ITEM = "test_graph.py::test_graph[parallel_pair-wadl-n012-s0-000]"


def lean(server: Loopback) -> str:
    """The model behind the server, asked without litellm."""
    return f"--model={server.url}#any"


def verdicts(ran: Ran) -> dict[str, str]:
    """Return outcome and reason of each case by its name, from the section of taskgraph."""
    text = " ".join(" ".join(ran.table).split())
    matches = re.findall(r"(passed|failed|skipped) (\w+::\S+): (.*?)(?= (?:passed|failed|skipped) \w+::|$)", text)
    return {name: f"{outcome}: {reason}" for outcome, name, reason in matches}


def half(prompt: str) -> str:
    """A right reply to the questions about pairs of tasks, a wrong one to those about blocks."""
    return right(prompt) if asks_for_pair(prompt) else wrong(prompt)


def asks_for_pair(prompt: str) -> bool:
    """Whether the question of a prompt is one of parallel_pair."""
    return "parallel block" not in prompt


@pytest.fixture
def many(project: Project, server: Loopback) -> Project:
    """A suite of ten questions, all of which get the right answer."""
    project.write("test_graph.py", SUITE)
    server.answer = right
    return project


def test_gates_on_names_and_labels_that_hold_are_cases_that_pass(many: Project, server: Loopback) -> None:
    names = ("size=12", "notation=wadl", "understanding", "structure.parallel_block", "phrasing=2")
    others = (f"--taskgraph-gate={name}>=1" for name in names)
    ran = many.run(lean(server), GATE, *others, "-v", "--junitxml=junit.xml", RECORD)
    assert (ran.code, ran.counts) == (0, {"passed": 16}), ran.output
    assert "gates::structure PASSED" in ran.output
    reason = "pass rate 1.000 of 10 answered (95% 0.722-1.000), threshold 0.8"
    assert set(verdicts(ran)) == {"gates::structure", *(f"gates::{name}" for name in names)}, ran.output
    assert verdicts(ran)["gates::structure"] == f"passed: {reason}", ran.output
    verdict = many.record()["gates"][0]
    assert (verdict["name"], verdict["outcome"], verdict["reason"]) == ("gates::structure", "passed", reason)
    assert (verdict["estimate"], verdict["threshold"], verdict["high"]) == (1.0, 0.8, 1.0)
    assert [element.attrib["name"] for element in many.junit().findall("testcase")].count("structure") == 1


def test_gate_failing_expects_wrong_answers_and_last_failed_finds_them(many: Project, server: Loopback) -> None:
    server.answer = half
    options = (
        GATE,
        "--taskgraph-gate=parallel_pair>=0.9",
        "--taskgraph-gate=parallel_block.jaccard>=0.5",
        "--junitxml=junit.xml",
    )
    ran = many.run(lean(server), *options)
    assert (ran.code, ran.counts) == (1, {"passed": 6, "wrong": 5, "failed": 2}), ran.output
    assert verdicts(ran) == {
        "gates::structure": "failed: pass rate 0.500 of 10 answered (95% 0.237-0.763), threshold 0.8",
        "gates::parallel_pair": "passed: pass rate 1.000 of 5 answered (95% 0.566-1.000), threshold 0.9",
        "gates::parallel_block.jaccard": "failed: mean jaccard 0.000 of 5 answered (95% 0.000-0.434), threshold 0.5",
    }
    assert "FAILED gates::structure - pass rate 0.500 of 10 answered" in ran.output
    (failure,) = many.junit().findall("testcase[@name='structure']/failure")
    assert failure.attrib["message"].startswith("pass rate 0.500 of 10 answered")
    again = many.run(lean(server), GATE, "--lf")
    assert (again.code, again.counts["wrong"]) == (0, 5), again.output
    assert verdicts(again)["gates::structure"].startswith("skipped: not decided: 5 of 10 questions left out by --lf")


@pytest.mark.parametrize(
    ("fail_on", "gate", "code", "counts"),
    [
        ("gates,answers", "0.8", 1, {"passed": 5, "failed": 6}),
        ("answers", "0.8", 1, {"passed": 5, "failed": 5, "skipped": 1}),
        ("gates", "0.8", 1, {"passed": 5, "wrong": 5, "failed": 1}),
        ("gates", "0.4", 0, {"passed": 6, "wrong": 5}),
    ],
)
def test_fail_on_alone_decides_between_answers_and_gates(
    many: Project, server: Loopback, fail_on: str, gate: str, code: int, counts: dict[str, int]
) -> None:
    server.answer = half
    ran = many.run(lean(server), f"--taskgraph-gate=structure>={gate}", f"--taskgraph-fail-on={fail_on}", RECORD)
    assert (ran.code, ran.counts) == (code, counts), ran.output
    assert many.record()["fail_on"] == sorted(fail_on.split(","))


def test_headline_with_failing_answers_and_held_gate_says_failed(many: Project, server: Loopback) -> None:
    server.answer = half
    gate = ("--taskgraph-gate=structure>=0.4", "--taskgraph-fail-on=answers,gates")
    ran = many.run(lean(server), *gate, "--taskgraph-report=md=r.md")
    assert (ran.code, ran.counts) == (1, {"passed": 6, "failed": 5}), ran.output
    assert "5 of 10 not right; 1 gate passed" in (many.path / "r.md").read_text(encoding="utf-8")


def test_gate_of_report_only_run_is_reported_and_fails_nothing(many: Project, server: Loopback) -> None:
    server.answer = wrong
    ran = many.run(lean(server), GATE, "--taskgraph-fail-on=nothing", RECORD)
    assert (ran.code, ran.counts) == (0, {"wrong": 10, "skipped": 1}), ran.output
    assert many.record()["fail_on"] == []
    assert "taskgraph: gates are report only: --taskgraph-fail-on=nothing does not name them" in ran.output
    assert verdicts(ran)["gates::structure"].startswith("skipped: report only, would fail: pass rate 0.000 of 10")


def test_report_only_gates_need_no_model(project: Project) -> None:
    project.write("pytest.ini", "[pytest]\ntaskgraph_gate = structure>=0.8\n")
    ran = project.run("--taskgraph-fail-on=nothing")
    assert ran.code == 0, ran.output
    assert "report only, would pass: pass rate 1.000" in " ".join(ran.output.split())


def test_gate_that_asks_for_certainty_says_how_many_questions_decide(many: Project, server: Loopback) -> None:
    ran = many.run(lean(server), "--taskgraph-gate=structure>=0.8@95%", "--taskgraph-gate=structure.score>=0.5@95%")
    assert ran.code == 1
    assert verdicts(ran) == {
        "gates::structure": "failed: inconclusive: pass rate 1.000 of 10 answered (95% 0.722-1.000), threshold 0.8; "
        "about 16 questions needed for a decision if the rate stays the same",
        "gates::structure.score": "passed: mean score 1.000 of 10 answered (95% 0.722-1.000), threshold 0.5",
    }, ran.output


def test_gate_has_one_case_per_model(many: Project, server: Loopback) -> None:
    with Loopback(wrong) as other:
        ran = many.run(lean(server), f"--model={other.url}#two", GATE)
    matches = [line for line in ran.output.splitlines() if line.startswith("FAILED gates::structure[")]
    assert (len(matches), ran.code) == (1, 1), ran.output
    assert len([name for name in verdicts(ran) if name.startswith("gates::structure[")]) == 2


@pytest.mark.parametrize(
    ("selection", "why"),
    [
        (("-k", "parallel_pair"), "5 of 10 questions left out by -k"),
        ((ITEM,), "9 of 10 questions left out by node ids"),
        (("-m", "taskgraph", "--deselect", ITEM), "1 of 10 questions left out by -m, --deselect"),
    ],
)
def test_gate_with_deselected_questions_is_skipped(
    many: Project, server: Loopback, selection: tuple[str, ...], why: str
) -> None:
    ran = many.run(lean(server), GATE, *selection, "-rs")
    assert ran.code == 0
    assert verdicts(ran)["gates::structure"] == f"skipped: not decided: {why}", ran.output
    assert f"not decided: {why}" in ran.output.partition("short test summary")[2]


def test_gate_without_verdict_because_of_x_is_skipped(many: Project, server: Loopback) -> None:
    many.write("test_first.py", "def test_it():\n    assert False\n")
    ran = many.run(lean(server), GATE, "-x", "test_first.py", "test_graph.py")
    assert (ran.code, ran.counts) == (1, {"failed": 1, "skipped": 1}), ran.output


def test_gate_of_which_no_question_was_left_says_why(many: Project, server: Loopback) -> None:
    many.write("test_plain.py", "def test_plain():\n    pass\n")
    ran = many.run(lean(server), GATE, "-k", "test_plain")
    assert (ran.code, ran.counts["skipped"]) == (0, 1), ran.output
    assert "not decided: 10 of 10 questions left out by -k" in ran.output


def test_missing_reply_that_x_stops_at_says_how_many_were_not_asked(many: Project, server: Loopback) -> None:
    server.answer = refuse(400, "no such thing")
    many.run(lean(server), GATE, QUICK, "-x", RECORD)
    assert [gate["reason"] for gate in many.record()["gates"]] == [
        "not decided: 1 of 1 replies missing (bad-request 1); 9 of 10 questions left out by -x"
    ]


def test_gate_reason_names_end_of_run_once(many: Project, server: Loopback) -> None:
    server.answer = refuse(401, "Incorrect API key provided")
    many.run(lean(server), GATE, RECORD)
    (reason,) = [gate["reason"] for gate in many.record()["gates"]]
    cause = "3 requests in a row failed like this and none succeeded, so no more is sent to this model"
    matches = re.fullmatch(rf"not decided: authentication: {cause}; (.*)", reason)
    assert matches, reason
    assert re.fullmatch(
        r"(\d+) of \1 replies missing \(authentication \1\); \d of 10 questions did not run", matches[1]
    )


def test_long_reason_of_end_is_cut_between_words(many: Project, server: Loopback) -> None:
    many.write("conftest.py", STOPS)
    many.run(lean(server), GATE, RECORD)
    (reason,) = [gate["reason"] for gate in many.record()["gates"]]
    assert re.fullmatch(r"not decided: (very )+long …; 9 of 10 questions did not run", reason), reason


def test_gate_with_questions_removed_by_plugin_fails(many: Project, server: Loopback) -> None:
    many.write("conftest.py", "def pytest_collection_modifyitems(items):\n    del items[3:]\n")
    ran = many.run(lean(server), GATE)
    assert ran.code == 1
    reason = "7 of 10 questions did not run, though nothing on the command line left them out"
    assert verdicts(ran)["gates::structure"] == f"failed: not decided: {reason}", ran.output


def test_suite_whose_every_item_was_skipped_fails_gate(many: Project, server: Loopback) -> None:
    many.write("test_graph.py", SUITE.replace("@suite", "@pytest.mark.skip(reason='not now')\n@suite"))
    ran = many.run(lean(server), GATE)
    assert (ran.code, ran.counts) == (1, {"skipped": 10, "failed": 1}), ran.output
    assert "not decided: 10 of 10 questions were skipped: not now" in ran.output
    ran = many.run(lean(server), "--taskgraph-max-errors=0.5", "--taskgraph-fail-on=gates")
    assert (ran.code, ran.counts) == (1, {"skipped": 10, "failed": 1}), ran.output
    assert "FAILED gates::errors - not decided: none of 10 questions was asked" in ran.output


def test_budget_spent_half_way_fails_gate(many: Project, server: Loopback) -> None:
    ran = many.run(lean(server), GATE, "--taskgraph-max-calls=5")
    assert (ran.code, ran.counts) == (1, {"passed": 5, "skipped": 5, "failed": 2}), ran.output
    assert verdicts(ran)["gates::structure"] == (
        "failed: not decided: 5 of 10 questions were not asked: budget::calls is spent"
    )


def test_replay_with_misses_fails_gate(many: Project, server: Loopback) -> None:
    many.run(lean(server), "-k", "parallel_pair")
    ran = many.run(lean(server), GATE, "--taskgraph-replay")
    assert (ran.code, ran.counts) == (1, {"passed": 5, "error": 5, "failed": 1}), ran.output
    assert verdicts(ran)["gates::structure"] == "failed: not decided: 5 of 10 replies missing (not-stored 5)"


def test_gate_worker_crash_after_trial_counts_trial(many: Project, server: Loopback) -> None:
    dying = "import os\n    if '000' in trial.question.id and trial.question.group == 'parallel_block': os._exit(7)\n"
    many.write("test_graph.py", SUITE.replace("trial.check()", f"{dying}    trial.check()"))
    ran = many.spread(lean(server), GATE, RECORD, workers=1)
    assert (ran.code, ran.counts["failed"]) == (1, 1), ran.output  # the item that crashed
    assert verdicts(ran)["gates::structure"].startswith("passed: pass rate 1.000 of 10 answered"), ran.output
    assert (many.record()["lost"], len(many.record()["trials"])) == ([], 10)


def test_missing_reply_fails_gate_that_allows_none(many: Project, server: Loopback) -> None:
    server.script(refuse(500, "oops"))
    ran = many.run(lean(server), GATE, QUICK)
    assert (ran.code, ran.counts) == (1, {"passed": 9, "error": 1, "failed": 1}), ran.output
    assert verdicts(ran)["gates::structure"] == "failed: not decided: 1 of 10 replies missing (server 1)"


def test_allowed_missing_replies_are_expected_and_gate_decides_on_them(many: Project, server: Loopback) -> None:
    def answer(prompt: str) -> str | Raw:
        return right(prompt) if asks_for_pair(prompt) else refuse(500, "oops")

    server.answer = answer
    ran = many.run(
        lean(server), "--taskgraph-max-errors=0.5", "--taskgraph-fail-on=gates", QUICK, "--junitxml=junit.xml"
    )
    assert (ran.code, ran.counts) == (0, {"passed": 6, "error": 5}), ran.output
    assert verdicts(ran) == {"gates::errors": "passed: 5 of 10 replies missing (0.500), allowed 0.5"}
    assert many.junit().attrib["errors"] == "0"
    ran = many.run(lean(server), "--taskgraph-max-errors=0.4", GATE, QUICK)
    assert (ran.code, ran.counts) == (1, {"passed": 5, "error": 5, "failed": 2}), ran.output
    assert verdicts(ran)["gates::structure"] == "failed: not decided: 5 of 10 replies missing (server 5)"


def test_all_replies_missing_fail_any_allowed_share(many: Project, server: Loopback) -> None:
    server.answer = refuse(500, "oops")
    ran = many.run(lean(server), "--taskgraph-max-errors=1", QUICK)
    assert (ran.code, ran.counts) == (1, {"error": 10, "failed": 1}), ran.output
    reason = "10 of 10 replies missing (1.000), allowed 1; a run without any reply fails"
    assert verdicts(ran) == {"gates::errors": f"failed: {reason}"}


ABOUT_NOTHING = (
    ("structur>=0.8", "no question matches 'structur'; did you mean 'structure'? known: structure, "),
    ("size=20>=0.8", "no question matches 'size=20'; known values of size: 12"),
    (
        "parallel_block.jacard>=0.8",
        "no question matches 'jacard', and there is no metric or aggregate of that name; did you mean ",
    ),
    ("jaccard>=0.8", "'jaccard' is a metric; write it after a name: understanding.jaccard"),
    ("behaviour>=0.8", "no question of 'behaviour' was collected; collected: "),
    ("phrasing=7>=0.8", "no question matches 'phrasing=7'; known values of phrasing: 1, 2"),
    (
        "notation=wdal>=0.8",
        "no question matches 'notation=wdal'; did you mean 'wadl'? known values of notation: wadl",
    ),
    ("prompt=direct>=0.8", "no question matches 'prompt=direct'; known values of prompt: chain-of-thought"),
    ("phrase=1>=0.8", "'phrase' is not a label; did you mean "),
    ("model=any>=0.8", "'model' is not a label: every gate is evaluated for each model"),
    (
        "parallel_pair.jaccard>=0.8",
        "no question of 'parallel_pair' has the metric 'jaccard'; available: correctness",
    ),
    ("structure.bertscore>=0.8", "no question of 'structure' has the metric 'bertscore'; available: "),
)
"""Gates that no question is behind, and why."""


def test_gates_about_nothing_end_run_before_anything_is_asked(many: Project, server: Loopback) -> None:
    ran = many.run(lean(server), *(f"--taskgraph-gate={expression}" for expression, _ in ABOUT_NOTHING))
    assert (ran.code, server.requests) == (4, []), ran.output
    reasons = ran.output.partition("ERROR: --taskgraph-gate: ")[2].split("; --taskgraph-gate: ")
    assert [why in reason for (_, why), reason in zip(ABOUT_NOTHING, reasons, strict=True)] == [True] * 12, ran.output
    assert max(map(len, reasons)) < 400, "no more names than fit a reason"
    assert ran.clean, ran.output


def test_gate_names_and_metrics_over_workers_are_checked_first(many: Project, server: Loopback) -> None:
    message = "no question of 'parallel_pair' has the metric 'jaccard'"
    gates = ("parallel_pair.jaccard>=0.8", "structure.recall>=0", "structur>=0.8")
    ran = many.spread(lean(server), *(f"--taskgraph-gate={gate}" for gate in gates), workers=1)
    assert (ran.code, server.requests, message in ran.output) == (4, [], True), ran.output
    assert "no question matches 'structur'; did you mean 'structure'?" in ran.output
    assert ran.clean, ran.output
    many.write("pytest.ini", "[pytest]\ntaskgraph_gate = parallel_pair.jaccard>=0.8\n")
    ran = many.spread(lean(server), "test_graph.py", workers=1)
    assert verdicts(ran)["gates::parallel_pair.jaccard"].startswith(f"skipped: not decided: {message}"), ran.output


def test_value_with_dot_is_written_in_quotes(many: Project, server: Loopback) -> None:
    prompt = many.write(
        "prompts/ask.v2.jinja",
        "{# answer: marker #}\n{{ workflow }}\n\nQuestion: {{ question }}\n\n{{ instruction }} Final answer:\n",
    )
    server.answer = "Final answer: yes"
    options = (lean(server), f"--taskgraph-prompt={prompt}")
    ran = many.run(*options, "--taskgraph-gate=prompt=ask.v2>=0")
    assert (ran.code, server.requests) == (4, []), ran.output
    assert 'quote a value with a dot: prompt="ask.v2"' in ran.output
    ran = many.run(*options, '--taskgraph-gate=prompt="ask.v2">=0', "--junitxml=junit.xml", RECORD)
    assert verdicts(ran)['gates::prompt="ask.v2"'].startswith("passed: pass rate "), ran.output
    assert [gate["name"] for gate in many.record()["gates"]] == ['gates::prompt="ask.v2"']
    assert len(many.junit().findall("testcase[@classname='gates']")) == 1, many.path.joinpath("junit.xml").read_text()


def test_labels_of_patterns_may_be_called_almost_like_ours(project: Project) -> None:
    labels = '{"task": "t", "size2": 3, "odd": "1.5>@"}'
    own = OWN.replace("task=task)", f"task=task, labels={labels})").replace(
        "patterns=purpose", 'patterns=[purpose, "parallel_pair"]'
    )
    project.write("test_graph.py", own)
    names = ("task=t", "size2=3.custom", 'odd="1.5>@"')
    ran = project.run("--model=simulated:1", *(f"--taskgraph-gate={name}>=0.5" for name in names))
    assert (ran.code, ran.counts) == (0, {"passed": 7}), ran.output
    assert all(" of 2 answered" in message for message in verdicts(ran).values()), ran.output
    for name in ("structure.task=t", "parallel_pair.sizes=12"):
        ran = project.run("--model=simulated:1", f"--taskgraph-gate={name}>=0.5")
        assert (ran.code, "is not a label; did you mean " in ran.output) == (4, True), ran.output


@pytest.mark.parametrize("repeats", [1, 2])
def test_interval_about_one_file_says_so(project: Project, repeats: int) -> None:
    own = project.write("own.mmd", "flowchart TD\n    START([START]) --> A --> B --> C --> END([END])\n")
    project.write("test_graph.py", SUITE.replace('["parallel_pair", "parallel_block"]', '["next_tasks", "flow_start"]'))
    gate = ("--taskgraph-gate=structure>=0.2@95%", f"--taskgraph-workflow={own}", f"--taskgraph-repeats={repeats}")
    ran = project.run("--model=simulated:1", *gate)
    assert " over this 1 workflow only), threshold 0.2" in verdicts(ran)["gates::structure"], ran.output
    assert ran.code == 0, ran.output


@pytest.mark.parametrize(
    ("expression", "narrowed"),
    [
        ("structur>=0.8", "--lf"),
        *((name, "test_graph.py") for name in ("structure.jacard>=0.8", "notation=wdal>=0.8", "depht=3>=0.8")),
    ],
)
def test_typo_in_configured_gate_ends_run_though_not_all_was_collected(
    many: Project, server: Loopback, expression: str, narrowed: str
) -> None:
    many.write("pytest.ini", f"[pytest]\ntaskgraph_gate = {expression}\n")
    ran = many.run(lean(server), narrowed)
    assert (ran.code, server.requests) == (4, []), ran.output
    assert f"taskgraph_gate (configuration): '{expression}': " in ran.output
    assert "did you mean" in ran.output


def test_typo_in_environment_ends_run(many: Project, server: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TASKGRAPH_GATE", "structur>=0.8")
    assert many.run(lean(server), "test_graph.py", "-q").code == 4


def test_gate_of_uncollected_name_is_excused_if_configured(many: Project, server: Loopback) -> None:
    many.write("pytest.ini", "[pytest]\ntaskgraph_gate = handover>=0.8\n")
    ran = many.run(lean(server), "test_graph.py")
    assert (ran.code, ran.counts) == (0, {"passed": 10, "skipped": 1}), ran.output
    assert "no question matches 'handover'" in verdicts(ran)["gates::handover"]
    for narrowed in ("test_graph.py", "--lf"):
        assert many.run(lean(server), "--taskgraph-gate=handover>=0.8", narrowed).code == 4


def test_questions_about_files_have_no_size(many: Project, server: Loopback) -> None:
    own = many.write("own.mmd", "flowchart TD\n    START([START]) --> A --> B --> END([END])\n")
    many.write("test_graph.py", SUITE.replace('["parallel_pair", "parallel_block"]', '"next_tasks"'))
    ran = many.run(lean(server), f"--taskgraph-workflow={own}", "--taskgraph-gate=size=12>=0.8")
    assert (ran.code, server.requests) == (4, []), ran.output
    assert "no question matches 'size=12'; known values of size: none" in ran.output


def test_label_that_no_question_turns_out_to_have_fails_gate(many: Project, server: Loopback) -> None:
    ran = many.run(lean(server), "--taskgraph-gate=width=99>=0.8")
    assert ran.code == 1
    assert "no question matches width=99; known values of width: " in ran.output


def test_configured_gates_do_not_stop_tests_that_ask_nothing(project: Project) -> None:
    project.write("pytest.ini", "[pytest]\ntaskgraph_gate = structure>=0.8\n")
    project.write("test_unit.py", "def test_plain():\n    pass\n")
    ran = project.run("test_unit.py")
    assert (ran.code, ran.counts) == (0, {"passed": 1}), ran.output
    ran = project.run()
    assert ran.code != 0
    assert "taskgraph_gate (configuration): no model is named" in ran.output
    (project.path / "test_graph.py").unlink()
    assert (project.run().code, project.run("--taskgraph-gate=structure>=0.8").code) == (0, 4)


def test_budget_without_gate_leaves_wrong_answers_failing(many: Project, server: Loopback) -> None:
    server.answer = half
    budgets = ("--taskgraph-max-calls=1000", "--taskgraph-max-errors=0.5")
    ran = many.run(lean(server), *budgets)
    assert (ran.code, ran.counts) == (1, {"passed": 7, "failed": 5}), ran.output
    assert "wrong answers alone" not in ran.output
    ran = many.run(lean(server), *budgets, GATE.replace("0.8", "0.5"))
    assert (ran.code, ran.counts) == (0, {"passed": 8, "wrong": 5}), ran.output


def test_gates_of_project_do_not_stop_look_at_one_file(many: Project, server: Loopback) -> None:
    many.write("pytest.ini", "[pytest]\ntaskgraph_gate = behaviour>=0.8\n")
    ran = many.run(lean(server), "test_graph.py")
    assert (ran.code, ran.counts) == (0, {"passed": 10, "skipped": 1}), ran.output
    assert many.run(lean(server)).code == 4


@pytest.mark.parametrize("option", [GATE, "--taskgraph-compare=any"])
def test_gate_without_model_is_mistake_of_usage(project: Project, option: str) -> None:
    ran = project.run(option)
    assert ran.code == 4
    assert "no model is named" in ran.output


def test_same_question_in_two_suites_counts_once_and_varied_ones_never(many: Project, server: Loopback) -> None:
    many.write("test_again.py", SUITE.replace("test_graph", "test_again"))
    ran = many.run(lean(server), GATE, "--taskgraph-vary=phrasing")
    assert ran.code == 0
    assert "of 10 answered" in verdicts(ran)["gates::structure"], ran.output


def test_gate_over_two_workers_has_same_verdict(many: Project, server: Loopback) -> None:
    server.answer = half
    options = (lean(server), GATE, "--taskgraph-repeats=2", RECORD)
    alone = many.run(*options)
    first = many.record()["gates"]
    spread = many.spread(*options)
    assert (spread.code, spread.counts) == (alone.code, alone.counts), spread.output
    assert many.record()["gates"] == first
    assert "of 10 answered" in first[0]["reason"]


@pytest.mark.parametrize("option", ["--setup-only", "--setup-plan", "--collect-only"])
def test_gates_without_running_tests_decide_nothing(project: Project, option: str) -> None:
    ran = project.run("--model=simulated:0", "--taskgraph-gate=structure>=0.8", "--taskgraph-save=kept", option)
    assert ran.code == pytest.ExitCode.OK
    assert "interrupted" not in ran.output
    assert "= taskgraph =" not in ran.output
    assert ran.clean
    assert not list(project.path.rglob("kept*"))


@pytest.mark.parametrize(
    ("place", "fail_on"),
    [
        *((place, "answers") for place in ("flag", "PYTEST_ADDOPTS", "TASKGRAPH_GATE", "configuration")),
        ("flag", "nothing"),
        *(
            pytest.param(place, "nothing", marks=pytest.mark.exhaustive)
            for place in ("PYTEST_ADDOPTS", "TASKGRAPH_GATE", "configuration")
        ),
    ],
)
def test_malformed_gate_is_usage_error_in_every_fail_on_mode(
    project: Project, monkeypatch: pytest.MonkeyPatch, place: str, fail_on: str
) -> None:
    gate = "structure>=80"
    if place == "configuration":
        project.write("pytest.ini", f"[pytest]\ntaskgraph_gate = {gate}\n")
    elif place != "flag":
        monkeypatch.setenv(place, gate if place == "TASKGRAPH_GATE" else f"--taskgraph-gate={gate}")
    options = [f"--taskgraph-gate={gate}"] if place == "flag" else []
    ran = project.run("--model=simulated:1", f"--taskgraph-fail-on={fail_on}", *options)
    assert ran.code == pytest.ExitCode.USAGE_ERROR, ran.output
    assert (
        "ERROR: --taskgraph-gate: 'structure>=80'; the threshold is '80'; expected a number from 0 to 1" in ran.output
    )
    assert ran.clean
