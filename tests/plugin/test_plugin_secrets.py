"""Secrets from wherever a run takes them, looked for in everything that it writes."""

from __future__ import annotations

import itertools
import json
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from loopback import Answer, Loopback, Raw, as_json, refuse, reply
from plugin_project import Project, right, rows

from pytest_taskgraph import __main__ as command_line
from pytest_taskgraph.models.store import stored_keys

OPTION, HEADER = "option/key+123456", "header~key~123456"
PASSWORD, VARIABLE, SETTING = "pass/word-123456", "variable=key=123456", "ini/key:123456"
SECRETS = (OPTION, HEADER, PASSWORD, VARIABLE, SETTING)
SUITE = """
from pytest_taskgraph import suite, understanding

@suite(understanding, patterns=["flow_start", "flow_end"], instances=12)
def test_graph(trial):
    trial.check()
"""
REPORTS = [f"--taskgraph-report={kind}=out/report.{kind}" for kind in ("json", "html", "md", "csv")]
ARTEFACTS = (
    "-v",
    "-rA",
    "--setup-show",
    "--log-level=DEBUG",
    "--log-file=out/run.log",
    "--junitxml=out/junit.xml",
    *REPORTS,
)
REPORT = "--taskgraph-report=json=record.json"
INPUTS = {"pytest.ini", "test_graph.py", "test_own.py", "own.mmd"}


def spellings(secret: str) -> set[str]:
    """The secret as it is, in an address, in JSON, and as basic authorization."""
    basic = {b64encode(f"user:{secret}".encode()).decode()} if secret == PASSWORD else set()
    return {secret, quote(secret, safe=""), secret.replace("/", "\\/"), secret[:-1]} | basic


def echoes(secret: str) -> Iterator[Answer]:
    """What a provider may say that holds the secret: in each place of a reply, and in each kind of an error."""
    across = "x" * (10_000 - len(secret) // 2)  # so that a record cuts the text within the secret
    yield reply(f"It is {secret}.\nFinal answer: {secret}")
    yield reply(f"{across}{secret}{'y' * 20_000}{secret}{'z' * 9_990}")
    yield reply("Final answer: none", model=f"any-{secret}")
    yield reply("Final answer: none", finish_reason=f"stop {secret}")
    yield reply(None, message={"refusal": f"Not with {secret}"})
    yield refuse(400, f"The key {quote(secret, safe='')} is wrong: {json.dumps(secret)}")
    yield refuse(400, "w" * 285 + secret)
    yield refuse(422, " " * 19_995 + secret)
    yield as_json({"error": {"message": f"no {secret}", "code": 400}})
    yield reply("half", finish_reason="error", error={"message": f"no {secret}", "code": 400})
    yield Raw(307, headers={"Location": f"http://user:{quote(secret, safe='')}@elsewhere/{secret}/v1/chat/completions"})
    yield Raw(400, f"<html>{secret}</html>".encode(), "text/html", {"X-Key": secret, "Retry-After": secret})
    yield Raw(body=f'{{"choices": "{secret}"'.encode())


def echoing() -> Callable[[str], Answer]:
    """An answer for each request: all echoes of all secrets in turn, with right replies between them."""
    answers = itertools.cycle([answer for secret in SECRETS for answer in echoes(secret)])
    counter = itertools.count()
    return lambda prompt: right(prompt) if next(counter) % 14 == 13 else next(answers)


def places_of_secrets(project: Project, output: str) -> dict[str, list[str]]:
    """The secrets that stand in the output or in a file, with the places."""
    texts = {"output": output.encode(), **{str(path): path.read_bytes() for path in written_files(project.path)}}
    texts["names"] = "\n".join(texts).encode()
    places: dict[str, list[str]] = {}
    for secret in SECRETS:
        for spelled in spellings(secret):
            for where, text in texts.items():
                if spelled.encode() in text:
                    places.setdefault(spelled, []).append(where)
    return places


def written_files(folder: Path) -> Iterator[Path]:
    """The files below the folder that the test did not write itself."""
    yield from (
        path for path in folder.rglob("*") if path.is_file() and path.name not in INPUTS and path.suffix != ".pyc"
    )


def lean(server: Loopback) -> str:
    return f"{server.url.replace('://', f'://user:{PASSWORD}@')}#any"


@pytest.fixture
def secretive(project: Project, server: Loopback, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("ACME_API_KEY", VARIABLE)
    options = [
        f"api_key={OPTION}",
        f'extra_headers={{"X-Api-Key": "{HEADER}"}}',
        f"user=of {OPTION}",
        f"judge.api_key={SETTING}",
    ]
    ini = "\n".join(["[pytest]", "taskgraph_model_option =", *(f"    {option}" for option in options)])
    project.write("pytest.ini", f"{ini}\n")
    project.write("test_graph.py", SUITE)
    server.answer = echoing()
    return project


@pytest.mark.parametrize("workers", [False, pytest.param(True, marks=pytest.mark.exhaustive)], ids=["alone", "xdist"])
def test_secrets_echoed_by_provider_stand_in_no_artefact(secretive: Project, server: Loopback, workers: bool) -> None:
    go = secretive.spread if workers else secretive.run
    models = (f"--model={lean(server)}", f"--model={server.url}#other", f"--model={server.url}#third@@short")
    ran = go(*models, *ARTEFACTS, "--taskgraph-retries=0", "--taskgraph-fail-on=answers")
    assert ran.clean, ran.output
    assert len(server.requests) >= 3 * 24
    assert {"junit.xml", "report.json", "report.html", "report.md", "report.csv", "replies.sqlite", "nodeids"} <= {
        path.name for path in written_files(secretive.path)
    }
    assert places_of_secrets(secretive, ran.output) == {}
    assert "[key]" in (secretive.path / "out/report.json").read_text()


@pytest.mark.parametrize(
    ("name", "process"),
    [
        ("openai/any", False),
        pytest.param("litellm:openai/any", False, marks=pytest.mark.exhaustive),
        pytest.param("litellm:openai/any", True, marks=pytest.mark.exhaustive),
    ],
)
def test_secrets_of_named_model_stand_in_no_artefact(
    secretive: Project, server: Loopback, name: str, process: bool
) -> None:
    go = secretive.spawn if process else secretive.run
    ini = (secretive.path / "pytest.ini").read_text()
    secretive.write("pytest.ini", f"{ini}    api_base={server.url}\n")
    ran = go(f"--model={name}", *ARTEFACTS, "--taskgraph-retries=0")
    assert len(server.requests) >= 24
    assert places_of_secrets(secretive, ran.output) == {}


@pytest.mark.parametrize(
    "mistake", [pytest.param((), marks=pytest.mark.exhaustive), ("--taskgraph-instances=none",)], ids=["run", "mistake"]
)
def test_keys_of_command_line_stand_in_no_debug_file(
    secretive: Project, server: Loopback, mistake: tuple[str, ...]
) -> None:
    keys = ("--taskgraph-model-option", f"api_key={OPTION}", "--taskgraph-model-option", "judge.token=of-a-judge")
    server.answer = right
    ran = secretive.spawn(f"--model={lean(server)}", "--debug", "-k", "000", *keys, *mistake, fresh=False)
    text = (secretive.path / "pytestdebug.log").read_text()
    assert ran.code == (pytest.ExitCode.USAGE_ERROR if mistake else pytest.ExitCode.OK), ran.output
    assert "'--taskgraph-model-option', 'api_key=[key]', '--taskgraph-model-option', 'judge.token=[key]'" in text
    assert "of-a-judge" not in text
    assert places_of_secrets(secretive, ran.output) == {}


def test_debug_file_of_run_without_options_stays_as_written(secretive: Project) -> None:
    secretive.write("pytest.ini", "[pytest]\n")
    secretive.write("test_graph.py", "def test_plain():\n    pass\n")
    ran = secretive.spawn("--debug", "-W", "ignore:api_key=sk-of-another-plugin-1234567890", fresh=False)
    assert ran.code == 0, ran.output
    assert "sk-of-another-plugin-1234567890" in (secretive.path / "pytestdebug.log").read_text()


def test_secrets_of_store_stand_in_no_export(
    secretive: Project, server: Loopback, capsys: pytest.CaptureFixture[str]
) -> None:
    secretive.run(f"--model={lean(server)}", "--taskgraph-retries=0")
    assert command_line.main(["replies", "export", "out.jsonl", "--store", str(secretive.path / ".taskgraph")]) == 0
    text = (secretive.path / "out.jsonl").read_text()
    assert text.count("\n") > 10
    assert places_of_secrets(secretive, capsys.readouterr().out) == {}


def test_secret_in_workflow_file_stands_in_no_artefact(secretive: Project, server: Loopback) -> None:
    server.answer = right
    own = f"flowchart TD\n  S((START)) --> a[Load {VARIABLE}]\n  a --> b[Store]\n  b --> E((END))\n"
    secretive.write("own.mmd", own)
    ran = secretive.run(f"--model={lean(server)}", "--taskgraph-workflow=own.mmd", *ARTEFACTS)
    assert any(VARIABLE in request.prompt for request in server.requests), ran.output
    assert places_of_secrets(secretive, ran.output) == {}


MISTAKES = {
    "no name": "http://user:{secret}@127.0.0.1/v1",
    "slash": "http://user:{secret}@127.0.0.1/v1?x#any",
    "hash": "http://user:{secret}#x@127.0.0.1/v1#any",
    "short name": "http://127.0.0.1/v1?key={secret}#any@@a b",
    "twice": "http://user:{secret}@127.0.0.1/v1#any",
}


@pytest.mark.parametrize("model", MISTAKES.values(), ids=MISTAKES.keys())
def test_mistakes_of_usage_name_no_secret(project: Project, model: str) -> None:
    for secret in SECRETS:
        stated = model.format(secret=secret)
        ran = project.run(f"--model={stated}", f"--model={stated}")
        assert ran.code == 4, ran.output
        assert places_of_secrets(project, ran.output) == {}
    ran = project.run(f"--model={stated}", f"--taskgraph-model-option={OPTION}")
    assert ran.code == 4, ran.output
    assert places_of_secrets(project, ran.output) == {}


def test_store_keys_depend_on_no_secret_and_no_short_name(project: Project, server: Loopback) -> None:
    project.write("test_graph.py", SUITE.replace("instances=12", "instances=1"))
    server.answer = right
    models = [f"{server.url}#any", lean(server), f"{server.url}#any@@short", f"{lean(server)}@@short"]
    stored = []
    for at, model in enumerate(models):
        assert project.run(f"--model={model}", f"--taskgraph-store=store{at}").code == 0
        stored.append(stored_keys(project.path / f"store{at}"))
    assert len(stored[0]) == 2
    assert stored == stored[:1] * 4


def test_short_name_stands_in_ids_and_reports(project: Project, server: Loopback) -> None:
    server.answer = right
    args = (f"--model={server.url}#any@@small", f"--model={server.url}#other@@large.2")
    ran = project.run(*args, "-v", *REPORTS, "--junitxml=junit.xml", "--taskgraph-price=1/2", "--taskgraph-max-cost=1",
                      "--taskgraph-model-option=max_tokens=50")  # fmt: skip
    assert ran.code == 0, ran.output
    assert "[parallel_pair-wadl-n012-s0-000-small] PASSED" in ran.output
    assert "[parallel_pair-wadl-n012-s0-000-large.2] PASSED" in ran.output
    record = project.record("out/report.json")
    assert record["models"] == ["small", "large.2"]
    assert {trial["model"] for trial in record["trials"]} == {"small", "large.2"}
    assert record["settings"]["model_names"] == {"small": f"{server.url}#any", "large.2": f"{server.url}#other"}
    assert server.url not in ran.output
    for kind in ("html", "md", "csv"):
        assert "large.2" in (project.path / f"out/report.{kind}").read_text()


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("baseline", "baseline:mine"),
        ("baseline:reader", "baseline:mine"),
        ("simulated:1", "simulated:mine"),
        ("recorded:replies.jsonl", "mine"),
        ("python:app:answer", "mine"),
        ("{url}#any", "mine"),
        ("openai/any", "mine"),
    ],
)
def test_short_name_of_every_kind_of_model(
    project: Project, server: Loopback, monkeypatch: pytest.MonkeyPatch, spec: str, name: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-variable")
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    project.write("app.py", "def answer(prompt):\n    return 'Final answer: none'\n")
    if spec.startswith("recorded:"):
        project.run(REPORT)
        project.write("replies.jsonl", rows(project.record(), right))
    models = (f"--model={spec.format(url=server.url)}@@mine", "--model=simulated:0@@other")
    ran = project.run(*models, "--taskgraph-fail-on=nothing", REPORT, "-v")
    assert ran.code == 0, ran.output
    assert "-s0-000-mine] " in ran.output
    assert project.record()["models"] == [name, "simulated:other"]
    assert {trial["model"] for trial in project.record()["trials"]} == {name, "simulated:other"}
    assert "in place of" not in ran.output, "the replies of a baseline under a short name are its own"


@pytest.mark.parametrize(
    ("models", "message"),
    [
        (("{url}#any@@one", "{url}#other@@one"), "the same model twice: one, one"),
        (("{url}#any@@one", "{url}#any@@two"), "the same model twice: one, two"),
        (("{url}#any", "{url}#any@@two"), "the same model twice: {url}#any, two"),
        (("{url}#any@@a b",), "expected SPEC@@NAME"),
        (("{url}#any@@",), "expected SPEC@@NAME"),
        (("@@one",), "expected SPEC@@NAME"),
        (("simulated:0.5@@one", "simulated:0.5@@two"), "the same model twice: simulated:one, simulated:two"),
        (("baseline:reader@@one", "baseline:reader"), "the same model twice: baseline:one, baseline:reader"),
    ],
)
def test_short_names_that_cannot_be_are_usage_errors(
    project: Project, server: Loopback, models: tuple[str, ...], message: str
) -> None:
    ran = project.run(*(f"--model={model.format(url=server.url)}" for model in models))
    assert ran.code == 4, ran.output
    assert message.format(url=server.url) in ran.output
    assert server.requests == []
