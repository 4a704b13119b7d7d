from __future__ import annotations

import pytest
from loopback import HANG, Loopback, closed_port, refuse, reply
from plugin_project import Project, asking, block, right, wrong

KEY = "sk-very-secret-0123456789"


def test_right_answers_pass(project: Project, server: Loopback) -> None:
    server.answer = right
    ran = project.run(*asking(server.url))
    assert (ran.code, ran.counts) == (0, {"passed": 4})
    assert server.requests[0].body == {
        "model": "any",
        "messages": [{"role": "user", "content": server.requests[0].prompt}],
    }


def test_wrong_answer_fails_and_is_reported_without_traceback(project: Project, server: Loopback) -> None:
    first, *rest = block()
    server.answer = f"Let me think.\nFinal answer: {first}, Nobody"
    ran = project.run(*asking(server.url), "-k", "parallel_block-wadl-n012-s0-000")
    assert (ran.code, ran.counts["failed"]) == (1, 1)
    lines = [line for line in ran.output.splitlines() if line.startswith(("question:", "expected:", "given:"))]
    assert lines[0].startswith("question: In workflow 'Process', which tasks are in the parallel block")
    assert lines[1:] == [f"expected: {', '.join(block())}", f"given: {', '.join(sorted([first, 'Nobody']))}"]
    assert f"missing ({len(rest)}): {', '.join(rest)}" in ran.output
    assert "extra (1): Nobody" in ran.output
    assert "Let me think." in ran.output
    assert ran.clean
    assert "trial.check()" not in ran.output
    assert "- wrong (score 0." in ran.output.partition("short test summary")[2]


@pytest.mark.parametrize("style", ["long", "short", "native", "line", "auto"])
def test_wrong_answer_is_reported_same_in_every_style_of_traceback(project: Project, style: str) -> None:
    ran = project.run("--model", "simulated:0", f"--tb={style}")
    # Older versions of pytest print nothing but the one line under --tb=line.
    lines = "wrong: expected" if style == "line" else "expected:"
    assert f"{lines} {', '.join(block())}" in ran.output
    assert ran.clean
    assert "namespace(" not in ran.output


def test_reply_without_answer_fails_with_remark(project: Project, server: Loopback) -> None:
    server.answer = "Final answer: perhaps"
    ran = project.run(*asking(server.url), "-k", "parallel_pair")
    assert ran.counts["failed"] == 2
    assert "unparseable:" in ran.output.partition("short test summary")[2]
    total = next(line.split() for line in ran.table if line.startswith("structure"))
    assert (total[1], total[-3]) == ("2*", "2")


def test_unknown_finish_reason_is_named_once(project: Project, server: Loopback) -> None:
    server.answer = lambda prompt: reply(right(prompt), finish_reason="tired\x1b[31m")
    for verbosity in ([], ["-q"]):
        ran = project.run(*asking(server.url), *verbosity)
        assert (ran.code, ran.counts) == (0, {"passed": 4})
        expected = "taskgraph: 4 replies ended with the finish_reason 'tired\ufffd[31m', whose meaning is not known"
        assert " ".join(ran.output.split()).count(expected) == 1


@pytest.mark.parametrize("reason", ["abort", "insufficient_system_resource", "ERROR_LIMIT"])
def test_reply_that_provider_did_not_finish_is_error(project: Project, server: Loopback, reason: str) -> None:
    server.answer = lambda prompt: reply(right(prompt), finish_reason=reason)
    ran = project.run(*asking(server.url), "--taskgraph-retries=0")
    assert (ran.code, ran.counts) == (1, {"error": 4})
    assert f"server: the provider failed while it replied (finish_reason '{reason}')" in " ".join(ran.output.split())


def test_refusal_fails(project: Project, server: Loopback) -> None:
    server.answer = reply(None, message={"refusal": "I cannot help with that."})
    ran = project.run(*asking(server.url), "-k", "parallel_pair")
    assert ran.counts["failed"] == 2
    assert "I cannot help with that." in ran.output


def test_failing_provider_is_error_and_in_no_mean(project: Project, server: Loopback) -> None:
    server.answer = right
    server.script(refuse(500, "the server is on fire"))
    ran = project.run(*asking(server.url), "--taskgraph-retries=0")
    assert (ran.code, ran.counts) == (1, {"passed": 3, "error": 1})
    assert "no reply: server: the server is on fire" in ran.output
    total = next(line.split() for line in ran.table if line.startswith("structure"))
    assert (total[1], total[2], total[-3]) == ("3*", "1.000", "1")
    assert ran.clean


def test_closed_port_ends_run_with_what_to_check(project: Project) -> None:
    ran = project.run(*asking(f"http://127.0.0.1:{closed_port()}/v1"), "--taskgraph-retries=0")
    assert (ran.code, ran.counts) == (pytest.ExitCode.INTERRUPTED, {"error": 1})
    assert "no reply: connection: " in ran.output
    assert "check that the server runs at the address of the model" in " ".join(ran.output.split())
    assert ran.clean


def test_refused_key_is_one_line_without_key(project: Project, server: Loopback) -> None:
    server.answer = refuse(401, f"Incorrect API key provided: {KEY}", "invalid_api_key")
    report, junit = "--taskgraph-report=json=record.json", "--junitxml=junit.xml"
    ran = project.run(*asking(server.url, KEY), report, junit, "-v", "-k", "parallel_pair")
    assert ran.counts["error"] == 2
    assert ran.output.count("no reply: authentication: Incorrect API key provided: [key]") >= 2
    assert ran.clean
    for text in (ran.output, *((project.path / setting).read_text() for setting in ("record.json", "junit.xml"))):
        assert KEY not in text


def test_key_is_nowhere_even_in_headers_sent(project: Project, server: Loopback) -> None:
    secret = "swordfish-0123456789"
    server.answer = wrong
    headers = f'--taskgraph-model-option=extra_headers={{"Authorization-2": "{secret}"}}'
    report, junit = "--taskgraph-report=json=record.json", "--junitxml=junit.xml"
    ran = project.run(*asking(server.url, KEY), headers, report, junit, "-vv", "-l", "-rA")
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert server.requests[0].headers["authorization-2"] == secret
    assert project.record()["settings"]["model_option"]["api_base"] == server.url
    for text in (ran.output, *((project.path / setting).read_text() for setting in ("record.json", "junit.xml"))):
        assert KEY not in text
        assert secret not in text


def test_timeout_of_client_is_error(project: Project, server: Loopback) -> None:
    server.answer = HANG
    ran = project.run(
        *asking(server.url),
        "--taskgraph-model-option=timeout=0.2",
        "--taskgraph-retries=0",
        "-k",
        "pair-wadl-n012-s0-000",
    )
    assert ran.counts["error"] == 1
    assert "no reply: timeout:" in ran.output


def test_settings_are_sent_as_they_are_and_nothing_else(project: Project, server: Loopback) -> None:
    server.answer = right
    options = [f"--taskgraph-model-option={setting}" for setting in ("temperature=0.5", "seed=7", 'stop=["END"]')]
    project.run(*asking(server.url), *options)
    assert {k: v for k, v in server.requests[0].body.items() if k not in ("model", "messages")} == {
        "temperature": 0.5,
        "seed": 7,
        "stop": ["END"],
    }


def test_errors_of_one_kind_is_reported_ten_times_and_counted(project: Project, server: Loopback) -> None:
    server.answer = refuse(400, "no such thing")
    ran = project.run(*asking(server.url), "--taskgraph-instances=12", "-k", "parallel_pair")
    assert ran.output.count("ERROR at setup of") == 10
    assert "... and 2 more without a reply (no reply: bad-request: no such thing)" in ran.output
    assert ran.counts["error"] == 12


def test_outcomes_after_ten_wrong_answers_are_counted(project: Project) -> None:
    ran = project.run("--model", "simulated:0", "--taskgraph-instances=12")
    names = [line for line in ran.output.splitlines() if line.startswith("FAILED ")]
    assert sum("parallel_pair" in name for name in names) == sum("parallel_block" in name for name in names) == 10
    assert ran.output.count("\nquestion: ") == 20
    assert "... and 2 more wrong answers of parallel_pair" in ran.output
    assert "... and 2 more wrong answers of parallel_block" in ran.output
    assert (ran.code, ran.counts) == (1, {"failed": 24})
    assert [line.split()[1] for line in ran.table if line.startswith("structure")] == ["24"]


def test_failures_of_other_tests_are_all_told(project: Project) -> None:
    project.write(
        "test_plain.py", "import pytest\n@pytest.mark.parametrize('n', range(12))\ndef test_it(n): assert n < 0"
    )
    ran = project.run("--model", "simulated:0", "--taskgraph-instances=12", "-k", "test_it or pair")
    assert ran.output.count("FAILED test_plain.py::test_it[") == 12
    assert ran.output.count("FAILED test_graph.py::test_graph[") == 10


def test_models_have_own_items_and_table(project: Project) -> None:
    ran = project.run("--model", "simulated:1", "--model", "baseline:constant", "-v")
    assert "test_graph[parallel_pair-wadl-n012-s0-000-simulated_1] PASSED" in ran.output
    assert "test_graph[parallel_pair-wadl-n012-s0-000-baseline_constant] PASSED" in ran.output
    assert "test_graph[parallel_pair-wadl-n012-s0-001-baseline_constant] FAILED" in ran.output
    assert sum(ran.counts.values()) == 8
    headings = [line for line in ran.table if line.startswith("model ")]
    assert [line.split()[1] for line in headings] == ["baseline:constant", "simulated:1"]
    assert [line.split()[1] for line in ran.table if line.startswith("total")][-2:] == ["4*", "4*"]
