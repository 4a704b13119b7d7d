from __future__ import annotations

from pathlib import Path

import pytest

from pytest_taskgraph.benchmarks.frames import FRAMES, frame
from pytest_taskgraph.benchmarks.settings import Settings
from pytest_taskgraph.benchmarks.understanding import understanding
from pytest_taskgraph.errors import UnknownNameError, UsageError

PARTS = {"workflow": "A -> B;", "notation": "DSL", "guide": "Read it.", "question": "What?", "instruction": "One name."}


@pytest.mark.parametrize("name", sorted(FRAMES))
def test_every_frame_shows_all_parts_in_order(name: str) -> None:
    prompt = frame(name).compose(**PARTS)
    places = [prompt.index(part) for part in ("DSL", "Read it.", "A -> B;", "What?", "One name.")]
    assert places == sorted(places)
    assert prompt.count("A -> B;") == 1


def test_frames_own_the_place_of_the_answer() -> None:
    assert {name: frame(name).place for name in FRAMES} == {
        "direct": "whole", "think-first": "marker", "answer-first": "first-line",
    }  # fmt: skip


@pytest.mark.parametrize("text", ["a ``` b", "```` \n```", "`" * 50_000])
def test_the_fence_does_not_stand_in_the_text(text: str) -> None:
    prompt = frame("direct").compose(**{**PARTS, "workflow": text})
    fence = next(line for line in prompt.split("\n") if line.startswith("```"))
    assert fence not in text
    assert f"\n{fence}\n{text}\n{fence}\n" in prompt


def test_a_frame_may_be_a_file(tmp_path: Path) -> None:
    path = tmp_path / "my own.jinja"
    path.write_bytes(b"\xef\xbb\xbf{# answer: first-line #}\r\n{{ question }}\r\n{{ instruction }} {{ workflow }}")
    mine = frame(str(path))
    assert (mine.name, mine.place) == ("my own", "first-line")
    assert mine.compose(**PARTS) == "What?\nOne name. A -> B;"


def test_the_name_of_a_file_stands_in_ids_in_safe_letters(tmp_path: Path) -> None:
    path = tmp_path / "my own $frame.jinja"
    path.write_text("{# answer: whole #}{{ question }}", encoding="utf-8")
    chosen = Settings(frame=str(path), instances=1)
    (reference,) = understanding.references(chosen, {"patterns": "task_list"})
    assert reference.id == "task_list-wadl-n012-s0-000-my_own__frame"
    assert understanding.question(reference, chosen).labels["frame"] == "my own $frame"


def test_an_unknown_frame_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown frame 'dirct'; known: .*direct.*think-first"):
        frame("dirct")


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.jinja"):
        frame(str(tmp_path / "none.jinja"))


def test_a_frame_must_say_where_the_answer_stands(tmp_path: Path) -> None:
    path = tmp_path / "a.jinja"
    path.write_text("{{ question }}", encoding="utf-8")
    with pytest.raises(UsageError, match=r"a\.jinja:1: a frame begins with a line .*answer: marker"):
        frame(str(path))


def test_a_frame_that_is_no_jinja_or_no_text_is_told_with_its_file(tmp_path: Path) -> None:
    path = tmp_path / "b.jinja"
    path.write_text("{# answer: whole #}\n\n{{ question", encoding="utf-8")
    with pytest.raises(UsageError, match=r"b\.jinja:3: "):
        frame(str(path))
    odd = tmp_path / "c.jinja"
    odd.write_bytes(b"{# answer: whole #}\xff")
    with pytest.raises(UsageError, match=r"c\.jinja: .*utf-8"):
        frame(str(odd))


def test_a_frame_that_uses_what_is_not_there_is_told_what_there_is(tmp_path: Path) -> None:
    path = tmp_path / "d.jinja"
    path.write_text("{# answer: whole #}{{ questoin }}", encoding="utf-8")
    with pytest.raises(UsageError, match=r"frame d: 'questoin' is undefined; the template sees: fence, guide"):
        frame(str(path)).compose(**PARTS)
