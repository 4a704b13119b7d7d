"""The user's own application as the model under test."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from loopback import Loopback, as_json
from plugin_project import ITEMS, OWN, Project, right
from posix_tests import posix_only

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "application.md").read_text(encoding="utf-8")
MODEL = "--model=python:app:answer"
RECORD = "--taskgraph-report=json=record.json"
OPTION = "--taskgraph-model-option"
ONE_ITEM = ("-k", "parallel_pair-wadl-n012-s0-000")
# Each call leaves a line, whatever process it is made in.
NOTED = """
from pathlib import Path
from plugin_project import right

def noted(prompt):
    with (Path(__file__).parent / "calls").open("a") as file:
        file.write("call\\n")
    return right(prompt)
"""
SYNC = NOTED + "def answer(prompt):\n    return noted(prompt)\n"
ASYNC = NOTED + "async def answer(prompt):\n    return noted(prompt)\n"
TWENTY = """
from pytest_taskgraph import suite, understanding

@suite(understanding, patterns=["flow_start", "flow_end"], instances=10)
def test_graph(trial):
    trial.check()
"""


def calls(project: Project) -> int:
    """How often the application was called."""
    path = project.path / "calls"
    return len(path.read_text(encoding="utf-8").splitlines()) if path.exists() else 0


def trials(project: Project) -> list[dict[str, Any]]:
    return list(project.record()["trials"])


def errors(project: Project) -> list[str]:
    return ["{kind}: {message}".format(**trial["failure"]) for trial in trials(project) if trial["failure"]]


@pytest.mark.parametrize("source", [SYNC, ASYNC], ids=["sync", "async"])
def test_application_answers_every_question_and_leaves_no_store(project: Project, source: str) -> None:
    project.write("app.py", source)
    ran = project.run(MODEL)
    assert (ran.code, ran.counts, calls(project)) == (0, {"passed": 4}, 4), ran.output
    assert "replies of python:app:answer are not stored: it states no version" in ran.output
    assert sorted(path.name for path in (project.path / ".taskgraph").iterdir()) == [".gitignore", "runs"]


def test_application_in_package_below_root_folder_is_found(project: Project) -> None:
    project.write("src_of_mine/agents/support.py", NOTED + "class Desk:\n    answer = staticmethod(noted)\n")
    ran = project.run("--model=python:src_of_mine.agents.support:Desk.answer")
    assert ran.counts == {"passed": 4}, ran.output


def test_any_kind_of_callable_is_called(project: Project) -> None:
    sources = {
        "instance": "class Desk:\n    def __call__(self, prompt):\n        return right(prompt)\ninstance = Desk()",
        "async_instance": "class Quick:\n    async def __call__(self, prompt):\n        return right(prompt)\n"
        "async_instance = Quick()",
        "partial": "import functools\nasync def ask(prompt):\n    return right(prompt)\n"
        "partial = functools.partial(ask)",
        "returns_coroutine": "returns_coroutine = lambda prompt: ask(prompt)",
        "positional": "def positional(messages, /):\n    return right(messages[-1]['content'])",
    }
    project.write("app.py", "\n".join(["from plugin_project import right", *sources.values()]))
    project.run(*(f"--model=python:app:{name}" for name in sources), RECORD)
    outcomes = Counter((trial["model"], trial["outcome"]) for trial in trials(project))
    assert outcomes == {(f"python:app:{name}", "right"): 4 for name in sources}


def test_parameter_messages_receives_messages_and_others_whole_text(project: Project) -> None:
    project.write(
        "app.py",
        """
import json
from pathlib import Path
from plugin_project import right

def put(name, value):
    Path(__file__).with_name(name).write_text(json.dumps(value))

def answer(prompt):
    put("prompt", prompt)
    return right(prompt)

def converse(messages):
    put("messages", messages)
    reply = right(messages[-1]["content"])
    messages.clear()
    return reply
""",
    )
    prompt = ("--taskgraph-prompt=guided", *ONE_ITEM)
    assert project.run(MODEL, *prompt).counts["passed"] == 1
    assert project.run("--model=python:app:converse", RECORD, *prompt).counts["passed"] == 1
    system, user = json.loads((project.path / "messages").read_text(encoding="utf-8"))
    assert (system["role"], user["role"]) == ("system", "user")
    prompt = json.loads((project.path / "prompt").read_text(encoding="utf-8"))
    assert prompt == f"{system['content']}\n\n{user['content']}"


def test_reply_tells_tokens_and_cost_and_is_scrubbed(project: Project) -> None:
    project.write(
        "app.py",
        "from plugin_project import right\nfrom pytest_taskgraph import Reply\n"
        "def answer(prompt):\n"
        "    return Reply('\\x1b[31m' + right(prompt), 120, 7, cost=0.25, latency=1.5, finish_reason='end_turn')\n",
    )
    ran = project.run(MODEL, RECORD)
    reply = trials(project)[0]["reply"]
    assert ran.counts == {"passed": 4}, ran.output
    assert (reply["tokens_in"], reply["tokens_out"], reply["cost"], reply["latency"]) == (120, 7, 0.25, 1.5)
    assert (reply["finish_reason"], reply["source"]) == ("stop", "python:app:answer")
    assert "$1.00" in ran.output


# The body of an application, and how the error starts that is made of it.
FAILING = [
    ("return None", "bad-request: python:app:{name} returned a NoneType; expected a text or a Reply"),
    ("return b'yes'", "bad-request: python:app:{name} returned a bytes"),
    ("yield 'yes'", "bad-request: python:app:{name} returned a generator"),
    ("return Reply('yes', cost=float('nan'))", "bad-request: python:app:{name} returned a Reply with cost=nan"),
    ("return Reply('yes', tokens_in=-1)", "bad-request: python:app:{name} returned a Reply with tokens_in=-1"),
    ("return Reply(None)", "bad-request: python:app:{name} returned a Reply whose text is a NoneType"),
    (
        "return Reply('yes', tool_calls=[3])",
        "bad-request: python:app:{name}: the reply has another shape: expected ",
    ),
    ("return 'y' * 8_000_001", "too-large: python:app:{name} returned 8,000,001 characters"),
    ("return ' '", "empty: the reply holds no text"),
    ("raise KeyError('plan')", "bad-request: KeyError: 'plan'\n  app.py:{line}, in {name}: raise KeyError('plan')"),
    ("raise ValueError('no\\nplan sk-abcdefghijklmnopqrstuvwxyz')", "server: ValueError: no plan [key]"),
    ("raise TimeoutError('too slow')", "timeout: TimeoutError: too slow"),
    ("raise ConnectionRefusedError('nobody')", "connection: ConnectionRefusedError: nobody"),
    ("raise SystemExit(3)", "server: SystemExit: 3"),
    ("raise KeyboardInterrupt", "server: KeyboardInterrupt"),
    ("raise StopIteration", "server: "),
    ("raise asyncio.CancelledError", "server: CancelledError"),
    ("raise ExceptionGroup('two', [ValueError('inner')])", "server: ValueError: inner"),
    ("raise Mute", "server: Mute"),
    ("raise ProviderError('rate-limit', 'slow down')", "rate-limit: slow down"),
    ("ask(os.environ['GATEWAY_URL'])", "authentication: HTTPError: HTTP Error 401"),
]
FAILING_HEAD = """
import asyncio, os, urllib.error
from pytest_taskgraph import Reply
from pytest_taskgraph.errors import ProviderError

class Mute(Exception):
    def __str__(self):
        raise ZeroDivisionError

def ask(url):
    raise urllib.error.HTTPError(url, 401, 'no key', {}, None)
"""


@pytest.mark.parametrize("define", ["def", "async def"])
def test_exception_or_other_value_is_error_without_traceback(
    project: Project, server: Loopback, monkeypatch: pytest.MonkeyPatch, define: str
) -> None:
    monkeypatch.setenv("GATEWAY_URL", server.url)
    lines, expected = FAILING_HEAD.splitlines(), {}
    for at, (source, message) in enumerate(FAILING):
        name = f"answer_{at}"
        lines += [f"{define} {name}(prompt):", f"    {source}"]
        expected[f"python:app:{name}"] = message.replace("{name}", name).replace("{line}", str(len(lines)))
        if define == "async def" and source.startswith("yield"):
            expected[f"python:app:{name}"] = f"bad-request: python:app:{name} returned a async_generator"
    project.write("app.py", "\n".join(lines) + "\n")
    ran = project.run(*(f"--model={model}" for model in expected), RECORD, "--taskgraph-retries=0", *ONE_ITEM)
    given = {trial["model"]: "{kind}: {message}".format(**trial["failure"]) for trial in trials(project)}
    assert {model: given[model][: len(start)] for model, start in expected.items()} == expected
    assert ran.counts["error"] == len(FAILING), ran.output
    assert ran.clean, ran.output
    assert str(project.path) not in (project.path / "record.json").read_text(encoding="utf-8")


MISTAKES = {
    "KeyError": "def look(prompt):\n    return {}['plan']\ndef answer(prompt):\n    return look(prompt)\n",
    "TypeError": "def look(prompt):\n    return 1 + prompt\ndef answer(prompt):\n    return look(prompt)\n",
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake_in_application_is_not_retried_and_shows_frames(project: Project, name: str) -> None:
    project.write("app.py", f"import pathlib\n{MISTAKES[name]}")
    ran = project.run(MODEL, RECORD, *ONE_ITEM)
    message = errors(project)[0].splitlines()
    assert message[0].startswith(f"bad-request: {name}: ")
    assert [line.partition(": ")[0] for line in message[1:]] == ["  app.py:5, in answer", "  app.py:3, in look"]
    assert "app.py:3, in look: return" in ran.output
    assert "1 request" in ran.output


def test_reply_of_no_text_is_not_retried(project: Project) -> None:
    project.write("app.py", "def answer(prompt):\n    pass\n")
    ran = project.run(MODEL, RECORD, *ONE_ITEM)
    assert errors(project) == ["bad-request: python:app:answer returned a NoneType; expected a text or a Reply"]
    assert "this run sent 1 request (1 without a reply)" in ran.output


def test_frames_hold_no_key(project: Project) -> None:
    project.write("app.py", "def answer(prompt):\n    return {}['sk-abcdefghijklmnopqrstuvwxyz']\n")
    ran = project.run(MODEL, RECORD, *ONE_ITEM)
    assert "app.py:2, in answer: return {}['[key]']" in ran.output
    assert "sk-abcdefgh" not in ran.output + (project.path / "record.json").read_text(encoding="utf-8")


def test_failing_application_is_asked_again(project: Project) -> None:
    project.write(
        "app.py",
        NOTED + "seen = []\ndef answer(prompt):\n    reply = noted(prompt)\n    seen.append(1)\n"
        "    if len(seen) == 1:\n        raise RuntimeError('at first')\n    return reply\n",
    )
    ran = project.run(MODEL, RECORD, *ONE_ITEM)
    assert (ran.counts["passed"], calls(project)) == (1, 2), ran.output
    assert trials(project)[0]["reply"]["retries"] == 1


def test_repetitions_are_calls_of_own(project: Project) -> None:
    project.write("app.py", SYNC)
    ran = project.run(MODEL, "--taskgraph-repeats=3")
    assert (ran.counts["passed"], calls(project)) == (12, 12), ran.output


@pytest.mark.parametrize(
    "version",
    [
        pytest.param((), id="unstored", marks=pytest.mark.exhaustive),
        pytest.param((OPTION, "version=1"), id="stored"),
    ],
)
def test_call_that_never_returns_ends_with_run(project: Project, version: tuple[str, ...]) -> None:
    project.write("app.py", "import threading\ndef answer(prompt):\n    threading.Event().wait()\n")
    ran = project.spawn(MODEL, "--taskgraph-timeout=0.2", "--taskgraph-retries=0", RECORD, *ONE_ITEM, *version)
    assert errors(project) == ["timeout: no reply within 0.2 s"], ran.output
    assert ran.code == 1


def test_async_call_is_cancelled_at_time_limit(project: Project) -> None:
    project.write(
        "app.py",
        "import asyncio\nfrom pathlib import Path\nasync def answer(prompt):\n    try:\n"
        "        await asyncio.Event().wait()\n    finally:\n        Path(__file__).with_name('ended').touch()\n",
    )
    ran = project.run(MODEL, "--taskgraph-timeout=0.2", "--taskgraph-retries=0", RECORD, *ONE_ITEM)
    assert errors(project) == ["timeout: no reply within 0.2 s"], ran.output
    assert (project.path / "ended").exists()


@pytest.mark.parametrize(
    "source",
    [
        "import threading\ntogether = threading.Barrier(4, timeout=60)\n"
        "def answer(prompt):\n    together.wait()\n    return right(prompt)\n",
        "import asyncio\narrived = []\nasync def answer(prompt):\n    arrived.append(1)\n"
        "    while len(arrived) < 4:\n        await asyncio.sleep(0)\n    return right(prompt)\n",
    ],
    ids=["sync", "async"],
)
def test_python_model_uses_full_concurrency(project: Project, source: str) -> None:
    project.write("app.py", "from plugin_project import right\n" + source)
    ran = project.run(MODEL, "--taskgraph-concurrency=4", "--taskgraph-retries=0")
    assert ran.counts == {"passed": 4}, ran.output


def test_python_model_concurrency_is_limited(project: Project) -> None:
    project.write(
        "app.py",
        "import threading\nfrom plugin_project import right\nalone = threading.Lock()\ndef answer(prompt):\n"
        "    assert alone.acquire(blocking=False)\n    try:\n        return right(prompt)\n"
        "    finally:\n        alone.release()\n",
    )
    ran = project.run(MODEL, "--taskgraph-concurrency=1", "--taskgraph-retries=0")
    assert ran.counts == {"passed": 4}, ran.output


def test_budget_of_calls_is_kept_by_one_process_and_by_two(project: Project) -> None:
    project.write("app.py", SYNC)
    project.write("test_graph.py", TWENTY)
    ran = project.run(MODEL, "--taskgraph-max-calls=7")
    assert (ran.counts["skipped"], calls(project)) == (13, 7), ran.output
    ran = project.spread(MODEL, "--taskgraph-max-calls=5")
    assert (ran.counts["skipped"], calls(project)) == (15, 12), ran.output


def test_limit_of_cost_counts_what_replies_cost(project: Project) -> None:
    project.write(
        "app.py",
        NOTED + "from pytest_taskgraph import Reply\n"
        "def answer(prompt):\n    return Reply(noted(prompt), 10, 30_000)\n",
    )
    ran = project.run(MODEL, "--taskgraph-max-cost=1")
    assert (ran.code, calls(project)) == (pytest.ExitCode.USAGE_ERROR, 0)
    assert "--taskgraph-price python:app:answer=IN/OUT" in ran.output
    price = "--taskgraph-price=python:app:answer=0/20"
    ran = project.run(MODEL, "--taskgraph-max-cost=1.5", price)
    assert (ran.counts["skipped"], calls(project)) == (2, 2), ran.output


@pytest.mark.parametrize(
    ("version", "dist"),
    [
        pytest.param((), "load", id="unstored-load"),
        pytest.param((OPTION, "version=1"), "loadfile", id="stored-loadfile", marks=pytest.mark.exhaustive),
        pytest.param((), "loadfile", id="unstored-loadfile", marks=pytest.mark.exhaustive),
        pytest.param((OPTION, "version=1"), "load", id="stored-load", marks=pytest.mark.exhaustive),
    ],
)
def test_python_model_two_workers_call_once_per_question(project: Project, version: tuple[str, ...], dist: str) -> None:
    project.write("app.py", SYNC)
    project.write("test_graph.py", TWENTY)
    ran = project.spread(MODEL, *version, "--dist", dist, RECORD)
    assert (ran.counts["passed"], calls(project)) == (20, 20), ran.output
    assert Counter(trial["outcome"] for trial in trials(project)) == {"right": 20}
    assert ("are not stored" in ran.output) == (not version)


def test_replies_are_stored_under_version(project: Project) -> None:
    project.write("app.py", SYNC)
    for version, expected in (("1.1", 4), ("1.1", 4), ("1.10", 8), ("next", 12)):
        ran = project.run(MODEL, OPTION, f"version={version}", RECORD)
        assert (ran.counts, calls(project)) == ({"passed": 4}, expected), (version, ran.output)
        assert "not stored" not in ran.output
        assert project.record()["settings"]["model_option"] == {"version": version}
    ran = project.run(MODEL, OPTION, "version=1.1", "--taskgraph-replay")
    assert (ran.counts, calls(project)) == ({"passed": 4}, 12), ran.output
    ran = project.run(MODEL, OPTION, "version=1.1", "--taskgraph-refresh")
    assert (ran.counts, calls(project)) == ({"passed": 4}, 16), ran.output


def test_python_model_without_version_is_asked_again(project: Project) -> None:
    project.write("app.py", SYNC)
    for _ in range(2):
        project.run(MODEL)
    assert calls(project) == 8
    ran = project.run(MODEL, "--taskgraph-dry-run")
    assert "4 requests" in ran.output
    assert calls(project) == 8


def test_same_prompt_twice_is_two_calls_without_version(project: Project) -> None:
    project.write("app.py", SYNC)
    project.write("test_twins.py", (project.path / "test_graph.py").read_text(encoding="utf-8"))
    ran = project.run(MODEL)
    assert "8 requests" in ran.output
    assert calls(project) == 8
    assert project.run(MODEL, OPTION, "version=1").counts["passed"] == 8
    assert calls(project) == 12


def test_replay_without_version_is_usage_error(project: Project) -> None:
    project.write("app.py", SYNC)
    ran = project.run(MODEL, "--taskgraph-replay")
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert "no reply of python:app:answer is stored, for it states no version" in ran.output
    assert calls(project) == 0


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("apps:answer", "there is no module 'apps'; did you mean 'app'?"),
        ("zzyzx:answer", "there is no module 'zzyzx'; it is looked for in the working directory"),
        ("pack.agnet:answer", "'pack' has no module 'agnet'; did you mean 'agent'?"),
        ("pack.zzyzx:answer", "'pack' has no module 'zzyzx'; it has: agent"),
        ("app:anwser", "'app' has no 'anwser'; did you mean 'answer'?"),
        ("app:zzyzx", "'app' has no 'zzyzx'; it has: Agent, answer, other, two"),
        ("app:Agent", "is a class; name a function, or an instance that can be called"),
        ("app:NUMBER", "is of type int; name a callable"),
        ("app", "names no callable; expected python:package.module:name"),
        ("app:answer:more", "names no callable"),
        ("app.py:answer", "is a Python file; name the function in it that answers: python:app:answer"),
        ("../app:answer", "names no callable"),
        ("app:two", "cannot be called with (prompt), the prompt or messages and the model options: missing"),
        ("broken:answer", "importing 'broken' failed: ModuleNotFoundError: No module named 'zzyzx' (broken.py:2)"),
        ("ending:answer", "importing 'ending' failed: SystemExit: 3 (ending.py:1)"),
        ("unreadable:answer", "importing 'unreadable' failed: SyntaxError"),
    ],
)
def test_unknown_or_unfit_callable_is_usage_error(project: Project, spec: str, message: str) -> None:
    project.write("app.py", "class Agent: pass\nNUMBER = 1\ndef answer(prompt): 0\nother = answer\ndef two(a, b): 0\n")
    project.write("pack/__init__.py", "")
    project.write("pack/agent.py", "")
    project.write("broken.py", "\nimport zzyzx\n")
    project.write("ending.py", "raise SystemExit(3)\n")
    project.write("unreadable.py", "def answer(:\n")
    ran = project.run(f"--model=python:{spec}")
    assert (ran.code, ran.clean) == (pytest.ExitCode.USAGE_ERROR, True), ran.output
    assert message in ran.output


def test_model_options_are_keyword_arguments(project: Project) -> None:
    project.write("app.py", NOTED + "def answer(prompt, *, right):\n    return noted(prompt) if right else 'no'\n")
    assert project.run(MODEL, OPTION, "right=true").counts == {"passed": 4}
    ran = project.run(MODEL)
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert "missing a required argument: 'right'" in " ".join(ran.output.split())
    ran = project.run(MODEL, OPTION, "right=true", OPTION, "temperature=0")
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert "(prompt, right=..., temperature=...)" in ran.output
    assert "got an unexpected keyword argument 'temperature'" in " ".join(ran.output.split())


def test_empty_version_is_usage_error(project: Project) -> None:
    project.write("app.py", SYNC)
    ran = project.run(MODEL, OPTION, "version=")
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert "the model option version is empty" in ran.output


def test_short_name_stands_in_ids(project: Project) -> None:
    project.write("app.py", SYNC + "def other(prompt):\n    return noted(prompt)\n")
    ran = project.run(f"{MODEL}@@mine", "--model=python:app:other", RECORD, "-v")
    assert ran.counts == {"passed": 8}, ran.output
    assert f"{ITEMS[0][:-1]}-mine]" in ran.output
    assert f"{ITEMS[0][:-1]}-python_app_other]" in ran.output
    assert Counter(trial["model"] for trial in trials(project)) == {"mine": 4, "python:app:other": 4}


def test_application_judges_open_answers(project: Project) -> None:
    project.write("test_graph.py", OWN)
    project.write(
        "app.py", "def answer(prompt):\n    return 'Final answer: It does.'\ndef judge(prompt):\n    return '4'\n"
    )
    judge = ("--taskgraph-text-metric=judge", "--taskgraph-judge-model=python:app:judge")
    ran = project.run(MODEL, *judge, RECORD)
    assert "replies of python:app:judge are not stored" in ran.output
    assert [trial["score"] is not None for trial in trials(project)] == [True, True], ran.output


def test_agent_questions_are_skipped_without_parameter_tools(project: Project) -> None:
    project.write("app.py", SYNC)
    ran = project.run(MODEL, "--taskgraph-presentation=agent", "-rs", *ONE_ITEM)
    assert ran.counts["skipped"] == 1, ran.output
    assert "cannot call tools: it has no parameter 'tools'" in " ".join(ran.output.split())


def test_application_with_tools_may_call_them(project: Project) -> None:
    project.write(
        "app.py",
        """
from pytest_taskgraph import Reply

def answer(messages, tools):
    if messages[-1]["role"] == "tool":
        return "Final answer: yes"
    name = tools[0]["function"]["name"]
    return Reply("", tool_calls=[{"id": "1", "type": "function", "function": {"name": name, "arguments": "{}"}}])
""",
    )
    ran = project.run(MODEL, "--taskgraph-presentation=agent", RECORD, *ONE_ITEM)
    assert trials(project)[0]["requests"] == 2, ran.output


@pytest.mark.parametrize("module", ["rules", "gateway", "deployed"])
def test_application_of_page_runs(
    project: Project, server: Loopback, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    blocks = dict(re.findall(r"`(\w+)\.py`:\n\n```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
    (command,) = re.findall(rf"^pytest suites/ (--model=python:{module}:answer.*)$", PAGE, re.MULTILINE)[:1]
    assert blocks.keys() == {"rules", "gateway", "deployed"}
    project.write(f"{module}.py", blocks[module])
    monkeypatch.setenv("GATEWAY_URL", server.url)
    monkeypatch.setenv("AGENT_URL", f"{server.url}/agent")
    server.answer = right if module == "gateway" else lambda prompt: as_json({"result": right(prompt)})
    ran = project.run(*command.split(), "--taskgraph-fail-on=nothing", RECORD)
    outcomes = Counter(trial["outcome"] for trial in trials(project))
    assert sum(outcomes.values()) == 4
    assert "error" not in outcomes, ran.output
    if module != "rules":
        assert (outcomes["right"], len(server.requests)) == (4, 4), ran.output
    if module == "gateway":
        body = server.requests[0].body
        assert (body["temperature"], body["messages"][0]["role"]) == (0.7, "system")
        assert trials(project)[0]["reply"]["cost"] == 0.002


@posix_only
def test_interrupt_ends_run_whose_calls_never_return(project: Project) -> None:
    project.write(
        "app.py",
        "import os, signal, threading\ndef answer(prompt):\n    os.kill(os.getpid(), signal.SIGINT)\n"
        "    threading.Event().wait()\n",
    )
    ran = project.spawn(MODEL, *ONE_ITEM)
    assert ran.code == pytest.ExitCode.INTERRUPTED, ran.output
    assert "KeyboardInterrupt" in ran.output
