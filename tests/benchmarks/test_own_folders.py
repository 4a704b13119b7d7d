"""Files, folders and patterns of mixed formats: which projects there are, and what is asked about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from toy_format import TOY

from pytest_taskgraph.catalog import registrations
from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.families.understanding.baselines import read_back
from pytest_taskgraph.families.understanding.own_files import projects
from pytest_taskgraph.families.understanding.own_files.found_files import find_files
from pytest_taskgraph.families.understanding.understanding_family import understanding
from pytest_taskgraph.families.understanding.understanding_settings import UnderstandingSettings
from pytest_taskgraph.trial import Question

CHART = "flowchart TD\n  {0} --> B --> C\n  {0} --> D --> C\n"
TOY_TEXT = "toy: Build\nfetch:\ncompile: fetch\ntest: compile\nlint: fetch\nskip: lint\n"
DSL = "package p;\nworkflow {0} {{ task A {{}} task B {{}} START -> A -> B -> END; }}\n"


@pytest.fixture(autouse=True)
def toy() -> Iterator[None]:
    with registrations() as opened:
        opened.add("file format", TOY.name, TOY, "tests")
        opened.close()
        opened.open()
        yield


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {
        "a.mmd": CHART.format("First"),
        "bad.mmd": "flowchart TD\n  A[x --> B\n",
        "build.yml": TOY_TEXT,
        "other.yml": "key: value\n",
        "package.json": "{}",
        "one.xxp": DSL.format("One"),
        "sub/two.xxp": DSL.format("Two"),
        "README.md": "Some notes.\n",
        ".hidden/x.mmd": CHART.format("Hidden"),
        ".github/y.mmd": CHART.format("Shown"),
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def settings(*paths: object, **more: object) -> UnderstandingSettings:
    return UnderstandingSettings(workflows=tuple(map(str, paths)), **more)  # type: ignore[arg-type]


def questions(stated: UnderstandingSettings, patterns: object = "*") -> list[Question]:
    references = understanding.references(stated, {"patterns": patterns})
    return [understanding.question(reference, stated) for reference in references]


def test_find_mixed_folder_gives_paths_that_can_be_typed(folder: Path) -> None:
    found = find_files(str(folder))
    names = [Path(project.path).relative_to(folder).as_posix() for project in found.projects]
    assert names == [".github/y.mmd", "a.mmd", "bad.mmd", "build.yml", "**/*.xxp"]
    assert found.skipped_files == ("other.yml", "package.json")
    for project in found.projects:
        (again,) = find_files(project.path).projects
        assert (again.path, [*again.files.values()]) == (project.path, [*project.files.values()])


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("*.mmd", ["a.mmd", "bad.mmd"]),
        ("**/*.xxp", ["**/*.xxp"]),
        ("*", ["a.mmd", "bad.mmd", "build.yml", "one.xxp"]),
        ("?.mmd", ["a.mmd"]),
        ("sub/*", ["sub/*"]),
    ],
)
def test_find_pattern_gives_matching_files(folder: Path, pattern: str, names: list[str]) -> None:
    found = find_files(str(folder / pattern))
    paths = [Path(project.path).relative_to(folder).as_posix() for project in found.projects]
    assert [path.replace("*.xxp", "one.xxp") if pattern == "*" else path for path in paths] == names


def test_find_pattern_without_match_is_usage_error(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"no workflow file among the 0 files that match; known: .*see https://"):
        find_files(str(folder / "*.bpmn"))


def test_find_unknown_yaml_by_name_lists_known_formats(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"other\.yml: a \.yml file of no known format; known: .*`toy: Name` \(Toy"):
        find_files(str(folder / "other.yml"))


def test_load_all_folder_of_broken_files_lists_all_reasons(tmp_path: Path) -> None:
    for name, node in (("a.mmd", "A[x"), ("b.mmd", "B(x")):
        (tmp_path / name).write_text(f"flowchart TD\n  {node} --> C\n", encoding="utf-8")
    with pytest.raises(UsageError) as raised:
        projects.load_all(str(tmp_path))
    first, *reasons = str(raised.value).splitlines()
    assert first == f"{tmp_path}: none of the 2 workflow files can be used:"
    assert [reason.partition(": ")[0] for reason in reasons] == [
        f"{tmp_path / name}:2:5" for name in ("a.mmd", "b.mmd")
    ]


def test_load_all_leaves_out_broken_file_with_reason(folder: Path) -> None:
    own = projects.load_all(str(folder))
    assert [project.notation.name for project in own.projects] == ["mermaid", "mermaid", "toy", "wadl"]
    assert [Path(line.partition(":")[0]).name for line in own.refusals] == ["bad.mmd"]
    assert own.projects[2].left_out == (f"skip ({folder / 'build.yml'}): it is no part of the workflow",)


def test_source_lines_count_files_and_what_is_left_out(folder: Path) -> None:
    lines = understanding.source_lines(settings(folder), {})
    assert lines == [
        f"{folder}: 5 files with 5 workflows (Mermaid flowchart: 2, workflow DSL: 2, Toy file: 1); "
        "1 file not used; 2 files without workflow; 1 part of files left out: -v",
        "4 questions per pattern, spread over 4 files; --taskgraph-instances=N asks more",
    ]


def test_questions_of_pattern_do_not_grow_with_files(folder: Path) -> None:
    for number in range(9):
        (folder / f"more{number}.mmd").write_text(CHART.format(f"More{number}"), encoding="utf-8")
    counts = Counter(question.group for question in questions(settings(folder), ["next_tasks", "link_existence"]))
    assert counts == {"next_tasks": 4, "link_existence": 4}
    few, many = (
        [
            reference.id
            for reference in understanding.references(settings(folder, instances=n), {"patterns": "structure"})
        ]
        for n in (2, 6)
    )
    assert set(few) <= set(many)


def test_questions_about_mixed_folder_are_answered_by_reader(folder: Path) -> None:
    asked = questions(settings(folder, instances=12))
    assert {question.labels["notation"] for question in asked} == {"mermaid", "toy", "wadl"}
    assert {question.id: read_back(question.prompt)[1] for question in asked} == {
        question.id: question.reference for question in asked
    }
    answers = Counter((question.group, question.reference) for question in asked if question.reference in ("yes", "no"))
    assert all(answers[group, "yes"] == answers[group, "no"] for group, _ in answers)


def test_file_is_shown_with_those_beside_it_that_it_refers_to(folder: Path) -> None:
    (folder / "main.yml").write_text("#uses ./else/build.yml\n#uses ../a.mmd\ntoy: Main\nx:\ny: x\n", encoding="utf-8")
    project = projects.load(str(folder / "main.yml"))
    assert [Path(file).name for file in project.files] == ["main.yml", "build.yml"]
    assert project.text.startswith("# file: main.yml\n")
    assert project.own_workflows == 1


def test_case_with_other_answer_in_second_reading_is_not_asked(folder: Path) -> None:
    (folder / "build.yml").write_text("toy: Build\nmaybe:\nb: maybe\nc: b\n", encoding="utf-8")
    asked = questions(settings(folder / "build.yml"), "next_tasks")
    assert {question.text.count("'maybe'") for question in asked} == {0}
    assert asked


def test_few_shot_questions_about_format_that_is_only_read_are_left_out(folder: Path) -> None:
    with pytest.raises(UsageError, match="no example in toy, which does not support"):
        questions(settings(folder / "build.yml", shots=2), "next_tasks")


MODEL = (
    '<?xml version="1.0" encoding="ISO-8859-1"?>'
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><process id="p"><task id="a" name="Prüfen"/>'
    '<task id="b" name="Senden"/><sequenceFlow id="f" sourceRef="a" targetRef="b"/></process></definitions>'
)


def test_load_reads_encoding_that_the_format_declares(tmp_path: Path) -> None:
    path = tmp_path / "order.bpmn"
    path.write_bytes(MODEL.encode("latin-1"))
    assert projects.load(str(path)).workflow.task_names == ("Prüfen", "Senden")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (MODEL.replace("ISO-8859-1", "utf-8").encode("latin-1"), r"byte \d+ is not UTF-8; save the file as UTF-8"),
        (MODEL.replace("ISO-8859-1", "kitchen").encode(), "unknown encoding: kitchen; save the file as UTF-8"),
        (b'<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', r"order\.bpmn:1:\d+: found a document type"),
        (b"<a/>", "order.bpmn:1:1: found the root element <a>, expected <definitions>"),
    ],
)
def test_load_file_that_is_no_model_says_what_is_wrong(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "order.bpmn"
    path.write_bytes(data)
    with pytest.raises(UsageError, match=message):
        projects.load(str(path))
