"""What the terminal shows of wrong answers and missing replies, by verbosity, style of traceback and width."""

from __future__ import annotations

import os
import re

import pytest
from loopback import Loopback, refuse
from plugin_project import Project, asking, block

LONG = "I think about it.\n" * 300
BLOCK = ("-k", "parallel_block-wadl-n012-s0-000")


@pytest.fixture
def talkative(project: Project, server: Loopback) -> list[str]:
    """Return the arguments of a run whose only answer is wrong, at the end of a long reply."""
    server.answer = f"{LONG}Final answer: {block()[0]}, Nobody"
    return [*asking(server.url), *BLOCK]


def failures(output: str) -> str:
    """Return the section of failures without its heading."""
    section = output.partition("= FAILURES =")[2]
    return re.split(r"\n=+ |\n\.\.\. and", section.partition("\n")[2], maxsplit=1)[0]


def test_failure_quiet_shows_answers_without_reply(project: Project, talkative: list[str]) -> None:
    text = failures(project.run(*talkative, "-q").output)
    titles = [line.partition(":")[0].partition(" (")[0] for line in text.splitlines()]
    assert titles[-4:] == ["expected", "given", "missing", "extra"]
    assert "I think" not in text


def test_failure_normal_shows_end_of_long_reply(project: Project, talkative: list[str]) -> None:
    text = failures(project.run(*talkative).output)
    assert re.search(r"^end of the reply \(5,4\d\d characters; -vv shows all\):$", text, re.MULTILINE)
    assert (text.count("| I think about it."), text.count("\n| Final answer: ")) == (4, 1)
    assert "a workflow DSL" not in text


def test_failure_verbose_shows_score_and_more_of_reply(project: Project, talkative: list[str]) -> None:
    text = failures(project.run(*talkative, "-v").output)
    assert re.search(r"^score: 0\.\d{3} \(jaccard\), passes from 1\.000$", text, re.MULTILINE)
    assert text.count("| I think about it.") == 29
    assert "a workflow DSL" not in text


def test_failure_most_verbose_shows_prompt_and_reply_in_full(project: Project, talkative: list[str]) -> None:
    text = failures(project.run(*talkative, "-vv").output)
    assert text.count("| I think about it.") == 300
    assert "prompt (" in text
    assert "|   task Task9 {}" in text
    assert "…" not in text


def test_failure_verbosity_of_assertions_is_obeyed(project: Project, talkative: list[str]) -> None:
    project.write("pytest.ini", "[pytest]\nverbosity_assertions = 2\n")
    assert failures(project.run(*talkative).output).count("| I think about it.") == 300


def test_failure_short_reply_stands_once(project: Project, server: Loopback) -> None:
    server.answer = "So be it.\nFinal answer: Nobody"
    for verbosity in ("-vv", "-rA"):
        text = failures(project.run(*asking(server.url), *BLOCK, verbosity).output)
        assert text.count("Final answer: Nobody") == 1, verbosity
        assert text.count("So be it.") == 1, verbosity


@pytest.mark.parametrize("style", ["line", "no"])
def test_failure_traceback_style_line_or_no_shows_one_or_none(project: Project, style: str) -> None:
    ran = project.run("--model=simulated:0", f"--tb={style}", "-vv")
    expected = [] if style == "no" else [f"{name}-wadl-n012-s0-00{n}" for name, n in PAIRS]
    lines = failures(ran.output).splitlines()
    assert [re.sub(r"^test_graph\.py:4: (\S+): wrong: expected .*", r"\1", line) for line in lines] == expected
    assert ran.counts == {"failed": 4}


PAIRS = [("parallel_pair", 0), ("parallel_pair", 1), ("parallel_block", 0), ("parallel_block", 1)]


def test_failure_line_names_file_from_folder_of_start(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    (project.path / "below").mkdir()
    monkeypatch.chdir(project.path / "below")
    ran = project.run("--rootdir=..", "--model=simulated:0", "--tb=line", "../test_graph.py")
    assert f"{os.path.join('..', 'test_graph.py')}:4: parallel_pair" in ran.output


def test_gate_failure_under_style_line_is_one_line(project: Project) -> None:
    ran = project.run("--model=simulated:0", "--tb=line", "--taskgraph-gate=structure>=0.9")
    lines = failures(ran.output).splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("gates::structure: pass rate 0.000")


@pytest.mark.parametrize("columns", [80, 150])
def test_failure_lines_use_width_of_terminal(
    project: Project, talkative: list[str], monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for verbosity in ("-q", "-vv"):
        lines = failures(project.run(*talkative, verbosity).output).splitlines()
        assert columns - 20 <= max(map(len, lines)) <= columns


def test_failure_junit_holds_lines_without_width(
    project: Project, talkative: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = []
    for columns in ("60", "200"):
        monkeypatch.setenv("COLUMNS", columns)
        project.run(*talkative, "--junitxml=junit.xml", "--tb=line")
        (failure,) = project.junit().iter("failure")
        texts.append(failure.text)
        assert failure.attrib["message"].startswith("wrong (score 0.")
    assert texts[0] == texts[1]
    assert texts[0] is not None
    assert "\nexpected: " in texts[0]


@pytest.mark.parametrize(
    "option", ["-v", *(pytest.param(option, marks=pytest.mark.exhaustive) for option in ("-q", "--tb=line"))]
)
def test_failure_is_same_over_workers(project: Project, option: str) -> None:
    def verdicts(output: str) -> list[str]:
        parts = re.split(r"^_{3,} .* _{3,}$", failures(output), flags=re.MULTILINE)
        return sorted(re.sub(r"^\[gw\d\] .*\n", "", part.strip("\n"), flags=re.MULTILINE) for part in parts)

    own = verdicts(project.run("--model=simulated:0", option).output)
    ran = project.spread("--model=simulated:0", option, workers=1)
    assert ran.output.count("taskgraph 0.2.0: model simulated:0") == (option != "-q")
    spread = verdicts(ran.output)
    if option == "--tb=line":
        own, spread = (sorted("\n".join(part).splitlines()) for part in (own, spread))
    assert own == spread
    assert len(own) > 3


def test_missing_reply_verbose_shows_question_and_prompt(project: Project, server: Loopback) -> None:
    server.answer = refuse(400, "no such thing " * 20)
    args = (*asking(server.url), *BLOCK)
    texts = [project.run(*args, *more).output for more in ((), ("-v",), ("-vv",), ("-vv", "--tb=line"))]
    assert [("question: In workflow" in text, "|   task Task9 {}" in text) for text in texts] == [
        (False, False),
        (True, False),
        (True, True),
        (False, False),
    ]
    assert all(" ".join(text.partition("= short")[0].split()).count("no such thing") == 20 for text in texts)


def test_reasons_stand_below_summary_without_tracebacks(project: Project) -> None:
    folder = project.path / "a_folder_with_a_rather_long_name_of_a_suite"
    folder.mkdir()
    (project.path / "test_graph.py").rename(folder / "test_graph.py")
    ran = project.run("--model=simulated:0", "--tb=no", "-q")
    _, heading, reasons = ran.output.partition("- reasons -")
    assert heading
    assert f"parallel_block-wadl-n012-s0-000: wrong: expected {block()[0]}" in reasons
    for options in (("-rN", "--tb=no"), ("--tb=line",), ()):
        assert "- reasons -" not in project.run("--model=simulated:0", *options).output


def test_reasons_need_no_section_where_summary_has_room(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    ran = project.run("--model=simulated:0", "--tb=no")
    assert "- reasons -" not in ran.output
    assert "s0-000] - wrong: expected" in ran.output


def test_every_failure_is_shown_if_most_verbose(project: Project) -> None:
    ran = project.run("--model=simulated:0", "--taskgraph-instances=12", "-vv")
    assert ran.output.count("\nquestion: ") == 24
    assert "more wrong answers" not in ran.output


def test_header_stands_once(project: Project) -> None:
    ran = project.run("--model=simulated:1", "-v")
    assert ran.output.count("taskgraph: notation wadl") == 1
    assert ran.output.index("taskgraph: notation wadl") < ran.output.index("= taskgraph =")
    assert ran.table[0].startswith("pattern ")


def test_header_is_left_out_if_quiet(project: Project) -> None:
    ran = project.run("--model=simulated:1", "-q")
    assert "notation wadl" not in ran.output
    assert "taskgraph: simulated:1: 4 of 4 right (1.000), mean 1.000" in ran.output


def test_two_models_share_one_table_at_80_columns(project: Project) -> None:
    ran = project.run("--model=simulated:0.7", "--model=baseline:random")
    heads = [line.split() for line in ran.table if line.startswith("understanding")]
    assert heads == [["understanding", "measure", "baseline", "random", "simulated:0.7"]]
