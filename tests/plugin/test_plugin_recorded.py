from __future__ import annotations

import json

import pytest
from plugin_project import Project, rows, wrong

REPORT = "--taskgraph-report=json=record.json"


def test_recorded_replies_are_scored(project: Project) -> None:
    project.run(REPORT)
    project.write("right.jsonl", rows(project.record()))
    project.write("wrong.jsonl", rows(project.record(), wrong))
    ran = project.run("--model=recorded:right.jsonl")
    assert (ran.code, ran.counts) == (0, {"passed": 4})
    assert "model recorded:right.jsonl" in ran.output
    assert project.run("--model=recorded:wrong.jsonl").counts == {"failed": 4}


def test_question_without_recorded_reply_is_skipped_with_reason(project: Project) -> None:
    project.run(REPORT)
    project.write("replies.jsonl", "".join(rows(project.record()).splitlines(True)[1:]))
    ran = project.run("--model=recorded:replies.jsonl", "-rs", REPORT)
    assert (ran.code, ran.counts) == (0, {"passed": 3, "skipped": 1})
    assert "no recorded reply in recorded:replies.jsonl to this prompt" in ran.output
    total = next(line.split() for line in ran.table if line.startswith("structure"))
    assert (total[1], total[-3]) == ("3*", "1")
    skipped = [trial for trial in project.record()["trials"] if trial["outcome"] == "skipped"]
    assert [trial["failure"] for trial in skipped] == [
        {"kind": "skipped", "message": "no recorded reply in recorded:replies.jsonl to this prompt"}
    ]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (
            '{"prompt": "a", "reply": "b"}\n{"prompt": "a"}\n',
            "replies.jsonl:2:1: found an object of 'prompt', expected",
        ),
        ('{"prompt": "a", "reply": "b"}\n\n{"prompt" "a"}\n', "replies.jsonl:3:11: found no JSON"),
        ("[]\n", "replies.jsonl:1:1: found JSON that is no object"),
    ],
)
def test_recorded_malformed_file_is_usage_error_with_line(project: Project, text: str, place: str) -> None:
    project.write("replies.jsonl", text)
    ran = project.run("--model=recorded:replies.jsonl", REPORT)
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert f"ERROR: {place}" in ran.output
    assert ran.clean
    assert "collected" not in ran.output
    assert not (project.path / "record.json").exists()


def test_replies_may_be_recorded_to_question_alone(project: Project) -> None:
    project.run(REPORT)
    questions = [trial["question"] for trial in project.record()["trials"] if trial["question"]["form"] == "yes-no"]
    replies = [
        {"question": question["text"], "reply": f"Final answer: {question['reference']}"} for question in questions
    ]
    project.write("replies.jsonl", "".join(json.dumps(reply) + "\n" for reply in replies))
    assert project.run("--model=recorded:replies.jsonl").counts == {"passed": 2, "skipped": 2}
