"""Paraphrases of `paged build` and `paged quality --ablation`: asked over HTTP, kept, limited, interrupted."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import Any

import bounded_process
import pytest
from loopback import Loopback, Raw, refuse, reply
from posix_tests import posix_only

from pytest_taskgraph.__main__ import main
from pytest_taskgraph.families.paged.document_quality.quality_metrics import name_coverage
from pytest_taskgraph.families.paged.document_sets.document_set import DocumentPair
from pytest_taskgraph.families.paged.document_sets.documents_folder import read_documents
from pytest_taskgraph.families.paged.document_sets.generated_documents import generate_pairs

LOST = "Your version lost names"


def document_in(prompt: str) -> str:
    """Return the document of a prompt, with its marks between groups."""
    return prompt.rpartition("Document:\n")[2].strip()


def rewritten(prompt: str) -> str:
    """Return a paraphrase that keeps every name."""
    return f"It is written anew. {document_in(prompt)}"


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback(rewritten) as running:
        yield running


@pytest.fixture
def paged(server: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Run the command in a folder of its own, with the model of the server."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> int:
        return main(["paged", *words, f"--model={server.url}#any", "--retries=0"])

    return run


def built(folder: str = "out") -> dict[str, DocumentPair]:
    return {pair.id: pair for pair in read_documents(Path(folder)).pairs}


def test_paraphrase_stands_in_place_of_the_document(
    paged: Callable[..., int], server: Loopback, capsys: pytest.CaptureFixture[str]
) -> None:
    assert paged("build", "--out=out", "--documents=6", "--paraphrase", "--model-option=temperature=0") == 0
    paraphrased = built()
    for pair in generate_pairs(0, 6):
        assert paraphrased[pair.id].document == f"It is written anew. {pair.document}"
        assert (paraphrased[pair.id].graph, paraphrased[pair.id].split) == (pair.graph, pair.split)
    assert len(server.requests) == 6
    assert {request.body["temperature"] for request in server.requests} == {0}
    assert any("<SEP>" in request.prompt for request in server.requests)
    out = capsys.readouterr().out
    assert "model: requests sent: 6, replies from the store: 0, tokens in: 18, out: 12" in out
    assert "paraphrases that lost something: 0 of 6\n" in out


def test_paraphrase_replies_are_kept_and_not_asked_for_again(
    paged: Callable[..., int], server: Loopback, capsys: pytest.CaptureFixture[str]
) -> None:
    assert paged("build", "--out=out", "--documents=6", "--paraphrase") == 0
    assert paged("build", "--out=again", "--documents=8", "--paraphrase", "--store=.taskgraph") == 0
    assert len(server.requests) == 8
    assert "requests sent: 2, replies from the store: 6" in capsys.readouterr().out
    assert paged("build", "--out=replayed", "--documents=8", "--paraphrase", "--replay") == 0
    assert len(server.requests) == 8
    assert built("replayed") == built("again")
    assert paged("build", "--out=refreshed", "--documents=1", "--paraphrase", "--refresh") == 0
    assert len(server.requests) == 9


def test_paraphrase_lost_names_are_asked_for_once_and_told(
    paged: Callable[..., int], server: Loopback, capsys: pytest.CaptureFixture[str]
) -> None:
    (pair,) = generate_pairs(0, 1)
    action = pair.graph.nodes_of("action")[2].text

    def answer(prompt: str) -> str:
        if prompt.startswith(LOST):
            assert f"- action: {action}\n" in prompt
            return "Nothing at all."
        return document_in(prompt).replace(action, "do something")

    server.answer = answer
    assert paged("build", "--out=out", "--documents=1", "--paraphrase") == 0
    assert len(server.requests) == 2
    (paraphrased,) = built().values()
    lost = name_coverage(paraphrased.graph, paraphrased.document).lost
    assert action in {name.text for name in lost}
    assert "do something" in paraphrased.document  # the version that lost less
    step_lines = ", ".join(f'{name.sort} "{name.text}"' for name in lost)
    out = capsys.readouterr().out
    assert "paraphrases that lost something: 1 of 1:\n" in out
    assert f"  {pair.id}: lost {step_lines}\n" in out
    assert f"lost by the paraphrase: {pair.id}: lost {step_lines}\n" in Path("out/about.txt").read_text(
        encoding="utf-8"
    )


def test_paraphrase_second_version_that_keeps_names_is_taken(paged: Callable[..., int], server: Loopback) -> None:
    (pair,) = generate_pairs(0, 1)

    def answer(prompt: str) -> str:
        return f"Better: {pair.document}" if prompt.startswith(LOST) else "Much is done."

    server.answer = answer
    assert paged("build", "--out=out", "--documents=1", "--paraphrase") == 0
    assert built()[pair.id].document == f"Better: {pair.document}"


def test_paraphrase_failures_leave_their_documents_out(
    paged: Callable[..., int], server: Loopback, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = generate_pairs(0, 6)
    first, second, third = (pair.document[:60] for pair in pairs[:3])

    def answer(prompt: str) -> str | Raw:
        if first in prompt:
            return refuse(500, "the server is \x1b[31mtired")
        if second in prompt or prompt.startswith(LOST):
            return "```\n```"
        return reply("x" * 60_000) if third in prompt else rewritten(prompt)

    server.answer = answer
    assert paged("build", "--out=out", "--documents=6", "--paraphrase", "--concurrency=1") == 1
    out, err = capsys.readouterr()
    assert {*built()} == {pair.id for pair in pairs[3:]}
    assert f"warning: {pairs[0].id}: no paraphrase: server: " in err
    assert f"warning: {pairs[1].id}: no paraphrase: 2 replies hold no document" in err
    assert f"{pairs[2].id}: the document has 60000 characters, more than 50000; the pair is left out" in err
    assert "2 documents of 6 left out; the same command with --force asks for these again" in err
    assert "\x1b" not in out + err


def test_paraphrase_failures_of_all_documents_write_nothing(
    paged: Callable[..., int], server: Loopback, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answer = refuse(401, "no such key")
    assert paged("build", "--out=out", "--documents=2", "--paraphrase") == 1
    assert "warning: no document is written" in capsys.readouterr().err
    assert not Path("out").exists()


def test_paraphrase_budget_is_kept_and_the_rest_asked_for_later(
    paged: Callable[..., int], server: Loopback, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ("build", "--out=out", "--documents=6", "--paraphrase")
    assert paged(*command, "--max-calls=4") == 1
    assert (len(server.requests), len(built())) == (4, 4)
    assert "no paraphrase: --max-calls=4 is spent" in capsys.readouterr().err
    assert paged(*command, "--force") == 0
    assert (len(server.requests), len(built())) == (6, 6)
    assert paged("build", "--out=dear", "--paraphrase", "--max-cost=0.000001", "--price=1/1", "--seed=1") == 1
    assert len(server.requests) == 6
    assert "--max-cost=1e-06 allows no request" in capsys.readouterr().err


def write_template(text: str) -> None:
    Path("mine/paged").mkdir(parents=True, exist_ok=True)
    Path("mine/paged/paraphrase.jinja").write_text(text, encoding="utf-8")


def test_paraphrase_template_of_the_user_replaces_the_prompt(paged: Callable[..., int], server: Loopback) -> None:
    write_template(
        "{% for name in lost %}{{ name.text }}{% else %}Say it again.\nDocument:\n{{ document }}{% endfor %}"
    )
    assert paged("build", "--out=out", "--documents=1", "--paraphrase", "--templates=mine") == 0
    assert server.requests[0].prompt.startswith("Say it again.\nDocument:")


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{% if %}", "mine/paged/paraphrase.jinja"),
        ("{{ documents }}", "documents"),
        ("Say it again.", "--templates=mine: paged/paraphrase.jinja does not show the document; add {{ document }}"),
        ("{{ document }}", "paraphrase.jinja does not name what a paraphrase lost; add {% if lost %}"),
    ],
)
def test_paraphrase_template_with_a_mistake_asks_nothing(
    template: str, message: str, paged: Callable[..., int], server: Loopback, capsys: pytest.CaptureFixture[str]
) -> None:
    write_template(template)
    assert paged("build", "--out=out", "--documents=1", "--paraphrase", "--templates=mine") == 4
    assert message in capsys.readouterr().err
    assert server.requests == []


def test_paraphrase_model_with_a_password_is_shown_without_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paged", "build", "--out=out", "--model=http://ann:pass4word@host/v1#any"]) == 4
    err = capsys.readouterr().err
    assert "--model=http://host/v1#any: it is asked for paraphrases alone" in err
    assert "pass4word" not in err


def test_paraphrase_of_own_graphs_keeps_their_names(paged: Callable[..., int]) -> None:
    Path("own").mkdir()
    Path("own/stock.graph.txt").write_text("Start -> check the stock\ncheck the stock -> End\n", encoding="utf-8")
    assert paged("build", "--from=own", "--out=out", "--paraphrase") == 0
    (pair,) = built().values()
    assert pair.document.startswith("It is written anew. ")
    assert name_coverage(pair.graph, pair.document).lost == ()


def test_paraphrase_secrets_are_not_shown(
    paged: Callable[..., int], server: Loopback, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answer = lambda prompt: refuse(400, "the key verysecretkey123 is odd")
    key = "--model-option=api_key=verysecretkey123"
    assert paged("build", "--out=out", "--documents=1", "--paraphrase", key) == 1
    assert server.requests[0].headers["authorization"] == "Bearer verysecretkey123"
    out, err = capsys.readouterr()
    assert "verysecretkey123" not in out + err


@posix_only
def test_paraphrase_interrupted_keeps_what_is_under_way(
    server: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arrived, go_on = Event(), Event()

    def answer(prompt: str) -> str:
        if len(server.requests) > 1:
            arrived.set()
            bounded_process.wait_for(go_on)
        return rewritten(prompt)

    server.answer = answer
    words = ["build", "--out=out", "--documents=4", "--paraphrase", f"--model={server.url}#any", "--concurrency=1"]
    command = [sys.executable, "-m", "pytest_taskgraph", "paged", *words]
    with bounded_process.start(command, cwd=tmp_path, stderr=-1) as process:
        assert bounded_process.wait_for(arrived)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert "waiting up to 30 s for requests under way" in process.stderr.readline()
        go_on.set()
        _, err = process.communicate()
    assert process.returncode == 2
    assert "interrupted: requests sent: 2" in err
    assert "Traceback" not in err
    assert len(server.requests) == 2
    assert not (tmp_path / "out").exists()
    monkeypatch.chdir(tmp_path)
    assert (main(["paged", *words]), len(server.requests)) == (0, 4)
    assert "requests sent: 2, replies from the store: 2" in capsys.readouterr().out


# The ablation.


def scores(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    printed_json = json.loads(capsys.readouterr().out)
    return {entry["name"]: entry for entry in printed_json["variations"]}


def test_ablation_compares_four_variations(
    paged: Callable[..., int], server: Loopback, capsys: pytest.CaptureFixture[str]
) -> None:
    """A model that loses what stands in parts, and keeps what stands in one."""
    server.answer = lambda prompt: "It is done." if "<SEP>" in prompt or prompt.startswith(LOST) else rewritten(prompt)
    assert paged("quality", "--documents=3", "--ablation", "--json") == 0
    printed_json = scores(capsys)
    assert [*printed_json] == ["concatenated", "paraphrased", "pipeline", "pipeline, paraphrased"]
    assert [entry["documents"] for entry in printed_json.values()] == [3, 3, 3, 3]
    shares = [entry["scores"]["actions"]["value"] for entry in printed_json.values()]
    assert shares[:3] == [1.0, 1.0, 1.0]
    assert shares[3] < 1.0
    assert printed_json["pipeline"]["faulty"] == []
    assert printed_json["pipeline, paraphrased"]["faulty"]
    assert printed_json["concatenated"]["sentences"] > printed_json["pipeline"]["sentences"]


def test_ablation_without_a_model_says_which_rows_it_lacks(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paged", "quality", "--documents=3", "--ablation"]) == 0
    out = capsys.readouterr().out
    assert [line.split()[0] for line in out.splitlines()[3:5]] == ["concatenated", "pipeline"]
    assert "The two paraphrased variations need a model: add --model=SPEC.\n" in out


def test_ablation_failures_are_told_and_left_out(
    paged: Callable[..., int], server: Loopback, capsys: pytest.CaptureFixture[str]
) -> None:
    assert paged("quality", "--documents=3", "--ablation", "--max-calls=4", "--concurrency=1", "--json") == 1
    printed_json = json.loads(capsys.readouterr().out)
    numbers = {entry["name"]: entry["documents"] for entry in printed_json["variations"]}
    assert (numbers["concatenated"], numbers["pipeline"]) == (3, 3)
    assert sum(numbers.values()) == 3 + 3 + 4
    assert len(printed_json["problems"]) == 2
    assert all(": no paraphrase: --max-calls=4 is spent" in problem for problem in printed_json["problems"])


def test_quality_model_without_ablation_is_refused(paged: Callable[..., int], server: Loopback) -> None:
    assert paged("quality", "--documents=1") == 4
    assert server.requests == []
