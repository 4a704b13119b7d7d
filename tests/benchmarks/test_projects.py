from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random

import bounded_process
import pytest
from canonical_form import canonical
from closed_folder import BOUND
from drawn_workflows import generate
from posix_tests import posix_only

from pytest_taskgraph.errors import NoCaseError, ReadError, UsageError, WorkflowError
from pytest_taskgraph.families.understanding.own_files import choices, found_files, projects
from pytest_taskgraph.families.understanding.own_files.choices import list_cases
from pytest_taskgraph.families.understanding.patterns import catalogue
from pytest_taskgraph.families.understanding.patterns.pattern import verdict
from pytest_taskgraph.families.understanding.patterns.scope import rotations
from pytest_taskgraph.families.understanding.understanding_family import understanding
from pytest_taskgraph.families.understanding.understanding_settings import UnderstandingSettings
from pytest_taskgraph.generation.flaws import MUTATIONS
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.notations import NOTATIONS
from pytest_taskgraph.trial import Question
from pytest_taskgraph.workflow.features import features

PLAIN = generate(Recipe(tasks=9, features=frozenset({"parallel", "exclusive", "data", "hierarchy", "kinds"})), 1)
REFERRING = generate(Recipe(tasks=12, features=frozenset({"parallel", "data", "hierarchy", "references"})), 2)
each_notation = pytest.mark.parametrize("name", sorted(NOTATIONS))

SOUP = """package kitchen;
workflow Soup {
  define task Chop;
  define task Cook { subworkflow Heat; }
  START -> Chop -> Cook -> END;
}
"""
HEAT = "package {};\nworkflow Heat {{\n  define task Light;\n  define task {};\n  START -> Light -> {} -> END;\n}}\n"


def write_files(folder: Path, **files: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text, encoding="utf-8", newline="")
    return folder


def questions(path: Path, patterns: object = "*", **more: object) -> list[Question]:
    chosen = UnderstandingSettings(workflows=(str(path),), **more)  # type: ignore[arg-type]
    return [
        understanding.question(reference, chosen)
        for reference in understanding.references(chosen, {"patterns": patterns})
    ]


@each_notation
def test_load_file_any_notation_shown_verbatim(name: str, tmp_path: Path) -> None:
    notation = NOTATIONS[name]
    text = notation.write(PLAIN)
    for suffix in (*notation.suffixes, notation.suffixes[0].upper()):
        path = tmp_path / f"w{suffix}"
        path.write_text(text, encoding="utf-8")
        project = projects.load(str(path))
        assert project.text == text.strip("\n")
        assert project.notation.suffixes == notation.suffixes
        assert canonical(project.workflow) == canonical(PLAIN)
        assert all(project.text in question.prompt for question in questions(path, "task_list"))


@each_notation
def test_load_dos_line_ends_and_bom_same_answers(name: str, tmp_path: Path) -> None:
    text = NOTATIONS[name].write(PLAIN)
    suffix = NOTATIONS[name].suffixes[0]
    unix, dos = tmp_path / f"unix{suffix}", tmp_path / f"dos{suffix}"
    unix.write_bytes(text.encode())
    dos.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    patterns = ["task_list", "link_existence", "parallel_pair", "order_of_two"]
    ours, theirs = questions(unix, patterns), questions(dos, patterns)
    assert [(q.id, q.text, q.reference) for q in ours] == [(q.id, q.text, q.reference) for q in theirs]
    assert "\r\n" in theirs[0].prompt
    assert "\ufeff" not in theirs[0].prompt


@pytest.mark.parametrize("name", [name for name in sorted(NOTATIONS) if NOTATIONS[name].is_joined])
def test_load_folder_is_one_project_with_headings(name: str, tmp_path: Path) -> None:
    notation = NOTATIONS[name]
    first, second = (generate(Recipe(tasks=5), seed) for seed in (1, 2))
    (tmp_path / "sub").mkdir()
    suffix = notation.suffixes[0]
    texts = {f"a{suffix}": notation.write(first), f"sub/b{suffix}": notation.write(second).replace("Process", "Other")}
    for path, text in texts.items():
        (tmp_path / path).write_text(text, encoding="utf-8")
    project = projects.load(str(tmp_path))
    assert [workflow.name for workflow in rotations(project.workflow)] == ["Process", "Other"]
    parts = [f"{notation.heading(path)}\n{text}".strip("\n") for path, text in texts.items()]
    assert project.text == "\n\n".join(parts)
    assert [workflow.name for workflow in rotations(notation.read(project.text))] == ["Process", "Other"]


def test_load_invalid_utf8_names_byte(tmp_path: Path) -> None:
    path = tmp_path / "w.xxp"
    path.write_bytes("workflow Süppchen {}".encode("latin-1"))
    with pytest.raises(UsageError, match=r"w\.xxp: byte 10 is not UTF-8"):
        projects.load(str(path))


def test_load_invalid_text_names_file_and_line(tmp_path: Path) -> None:
    write_files(tmp_path, b__xxp="package kitchen;\nworkflow Heat { START -> Nothing; }\n")
    for path in (tmp_path, tmp_path / "b.xxp"):
        with pytest.raises(ReadError, match=r"b\.xxp:2:26: "):
            projects.load(str(path))


def test_load_folder_leaves_out_files_that_cannot_be_used(tmp_path: Path) -> None:
    chart = "flowchart TD\n  A --> B\n"
    folder = write_files(tmp_path, a__mmd=chart, b__mmd="flowchart TD\n  A[x --> B\n", c__mmd="", d__mmd=chart)
    (folder / "e.mmd").write_bytes(b"flowchart TD\n  \xff")
    (folder / "sub").mkdir()
    (folder / "sub" / "a.mmd").write_text(chart, encoding="utf-8")
    own = projects.load_all(str(folder))
    assert [Path(project.path).relative_to(folder).as_posix() for project in own.projects] == [
        "a.mmd", "d.mmd", "sub/a.mmd",
    ]  # fmt: skip
    asked = UnderstandingSettings(workflows=(str(folder),))
    *lines, count = understanding.notices(asked, {"patterns": "task_list"})
    assert [line.removeprefix(f"not used: {folder}/").partition(": ")[0] for line in lines] == [
        "b.mmd:2:5", "c.mmd:1:1", "e.mmd",
    ]  # fmt: skip
    assert count == f"{folder}: 3 of 6 workflow files not used"


def test_load_folder_without_usable_file_lists_all_reasons(tmp_path: Path) -> None:
    # a.xxp refers to what b.xxp would declare.
    write_files(tmp_path, a__xxp=SOUP, b__xxp="package kitchen;\nworkflow Heat { START -> Nothing; }\n")
    with pytest.raises(UsageError) as raised:
        projects.load(str(tmp_path))
    first, *reasons = str(raised.value).splitlines()
    assert first == f"{tmp_path}: none of the 2 workflow files can be used:"
    assert reasons[0].startswith(f"{tmp_path / 'b.xxp'}:2:26: found 'Nothing'")
    assert reasons[1].startswith(f"{tmp_path / 'a.xxp'}: workflow 'kitchen.Soup': task 'Cook' refers to 'Heat'")


def test_load_folder_leaves_out_malformed_workflow_and_what_refers_to_it(tmp_path: Path) -> None:
    malformed = HEAT.format("kitchen", "Wait { subworkflow Nowhere; }", "Wait").replace("Nowhere; };", "Nowhere; }")
    write_files(
        tmp_path,
        a__xxp=SOUP,
        b__xxp=malformed,
        c__xxp=HEAT.format("other", "Wait", "Wait").replace("workflow Heat", "workflow Chill"),
    )
    project = projects.load(str(tmp_path))
    assert [str(workflow.qualified) for workflow in rotations(project.workflow)] == ["other.Chill"]
    assert [re.sub(r"^.*[/\\]", "", line)[:5] for line in project.refusals] == ["b.xxp", "a.xxp"]


def test_load_malformed_workflow_refused(tmp_path: Path) -> None:
    path = write_files(tmp_path, a__xxp=SOUP) / "a.xxp"
    with pytest.raises(WorkflowError, match=r"a\.xxp: .*Heat"):
        projects.load(str(path))


def test_load_without_workflow_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no workflow file in this folder; known: .*\.xxp"):
        projects.load(str(tmp_path))
    with pytest.raises(UsageError, match=r"none\.xxp: no such file or folder"):
        projects.load(str(tmp_path / "none.xxp"))
    (tmp_path / "a.pdf").write_text("x", encoding="utf-8")
    with pytest.raises(UsageError, match=r"a\.pdf: no notation for files '\.pdf'; known: "):
        projects.load(str(tmp_path / "a.pdf"))


def test_load_several_projects_names_them(tmp_path: Path) -> None:
    write_files(tmp_path, a__mmd="flowchart TD\n  A --> B\n", b__json=NOTATIONS["json"].write(PLAIN))
    with pytest.raises(UsageError, match=r"holds 2 projects; name one of them, such as .*a\.mmd, .*\*\.json"):
        projects.load(str(tmp_path))


def test_load_notes_beside_workflows_skipped(tmp_path: Path) -> None:
    both = write_files(
        tmp_path / "both",
        a__xxp=SOUP,
        b__xxp=HEAT.format("kitchen", "Wait", "Wait"),
        README__md="Notes.",
        more__mdx="Notes.",
        less__markdown="Notes.",
    )
    assert "Notes." not in projects.load(str(both)).text
    prose = write_files(tmp_path / "prose", README__md=NOTATIONS["prose"].write(PLAIN))
    assert canonical(projects.load(str(prose)).workflow) == canonical(PLAIN)


def test_load_hidden_files_skipped(tmp_path: Path) -> None:
    write_files(tmp_path / ".vscode", settings__json="{}")
    write_files(tmp_path, a__xxp=SOUP, b__xxp=HEAT.format("kitchen", "Wait", "Wait"), _x__xxp="")
    (tmp_path / "_x.xxp").rename(tmp_path / ".x.xxp")
    assert [workflow.name for workflow in rotations(projects.load(str(tmp_path)).workflow)] == ["Soup", "Heat"]


def test_load_derived_workflow_uses_separate_variant(tmp_path: Path) -> None:
    derived = 'package kitchen;\nworkflow Hot from Heat {\n  configure task Light { description "Gas"; }\n}\n'
    path = write_files(tmp_path, a__xxp=derived, b__xxp=HEAT.format("kitchen", "Wait", "Wait"))
    assert projects.load(str(path)).notation is NOTATIONS["wadl-separate"]
    (question, *_) = questions(path, "task_list")
    assert question.labels["notation"] == "wadl-separate"
    assert NOTATIONS["wadl-separate"].guide in question.prompt


def test_questions_ambiguous_name_includes_package(tmp_path: Path) -> None:
    heat = {"b__xxp": HEAT.format("kitchen", "Wait", "Wait"), "c__xxp": HEAT.format("garden", "Rake", "Rake")}
    write_files(tmp_path, a__xxp=SOUP, **heat)
    references_by_text = {
        question.text: question.reference for question in questions(tmp_path, "task_list", phrasing="first")
    }
    assert references_by_text == {
        "List all tasks in workflow 'Soup'. Do not list tasks nested inside other tasks.": ["Chop", "Cook"],
        "List all tasks in workflow 'kitchen.Heat'.": ["Light", "Wait"],
        "List all tasks in workflow 'garden.Heat'.": ["Light", "Rake"],
    }


def clusters(path: Path, **more: object) -> list[tuple[str, ...]]:
    """Return title and labels of each cluster's diagram, and the levels asked about."""
    chosen = UnderstandingSettings(workflows=(str(path),), instances=20, **more)  # type: ignore[arg-type]
    diagrams: dict[str, str] = {}
    levels: dict[str, set[str]] = {}
    for reference in understanding.references(chosen, {"patterns": ["task_list", "next_tasks", "task_after_task"]}):
        question, diagram = understanding.question(reference, chosen), understanding.diagram(reference, chosen)
        labels = {node.label for node in diagram.nodes} | {group.label for group in diagram.groups}
        content = f"{diagram.title}: {' '.join(sorted(labels))}"
        assert diagrams.setdefault(question.cluster, content) == content
        levels.setdefault(question.cluster, set()).update(
            re.findall(r"(?:composite task|workflow) '[^']*'", question.text)
        )
    return sorted((diagrams[cluster], *sorted(levels[cluster])) for cluster in diagrams)


def test_question_cluster_and_diagram_agree(tmp_path: Path) -> None:
    write_files(tmp_path, a__xxp=SOUP, b__xxp=HEAT.format("kitchen", "Wait", "Wait"))
    heat, soup = "kitchen.Heat: END Light START Wait", "kitchen.Soup: Chop Cook END Light START Wait"
    assert clusters(tmp_path) == [(heat, "workflow 'Heat'"), (soup, "workflow 'Soup'")]
    converted = clusters(tmp_path, notations=("json", "mermaid"), convert=True)
    places = {(heat, "workflow 'Heat'"), (soup, "composite task 'Cook'", "workflow 'Soup'")}
    own_names = {(soup, "composite task 'Cook'", "workflow 'Heat'", "workflow 'Soup'")}
    assert {cluster[0] for cluster in converted} == {heat, soup}
    assert set(converted) <= places | own_names
    assert len({question.digests["workflow"] for question in questions(tmp_path, "task_list")}) == 1


def test_question_cluster_of_nested_level_is_workflow(tmp_path: Path) -> None:
    json = NOTATIONS["json"]
    texts = {name: json.write(replace(PLAIN, name=name)) for name in ("Bread", "Soup")}
    found_clusters = clusters(write_files(tmp_path, **{f"{name}__json": text for name, text in texts.items()}))
    assert [title.split(":")[0].split(".")[-1] for title, *_ in found_clusters] == ["Bread", "Soup"]
    for title, first, *levels in found_clusters:
        assert first.startswith("composite task")
        assert levels[-1] == f"workflow '{title.split(':')[0].split('.')[-1]}'"


def test_question_cluster_of_single_workflow_is_project(tmp_path: Path) -> None:
    path = write_files(tmp_path, w__xxp=NOTATIONS["wadl"].write(REFERRING)) / "w.xxp"
    digests = {(question.cluster, question.digests["workflow"]) for question in questions(path, "task_list")}
    digest = projects.load(str(path)).digest
    assert (digest, digest) in digests
    assert {shown_digest for _, shown_digest in digests} == {digest}


@each_notation
def test_convert_unsupported_features_resolved(name: str, tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    path.write_text(NOTATIONS["json"].write(REFERRING), encoding="utf-8")
    patterns = ["task_list", "nested_tasks", "order_of_two"]
    converted_questions = questions(path, patterns, notations=(name,), convert=True, instances=2)
    assert {question.labels["notation"] for question in converted_questions} == {name}
    fitted = [projects.fit(root, NOTATIONS[name]) for root in rotations(REFERRING)]
    assert all(each is not None and not features(each) & NOTATIONS[name].unsupported for each in fitted)
    inline = "references" in NOTATIONS[name].unsupported
    assert all("references" not in features(each) for each in fitted if each) is inline


def test_fit_recursion_without_references_is_none(tmp_path: Path) -> None:
    endless = MUTATIONS["close-cycle"](REFERRING, Random(1))
    assert projects.fit(endless, NOTATIONS["mermaid"]) is None
    assert projects.fit(endless, NOTATIONS["json"]) == endless
    path = tmp_path / "w.json"
    path.write_text(NOTATIONS["json"].write(endless), encoding="utf-8")
    with pytest.raises(NoCaseError, match="in mermaid: nothing to ask for infinite_recursion"):
        questions(path, "infinite_recursion", notations=("mermaid",), convert=True)
    recursion_questions = questions(path, "infinite_recursion")
    assert {question.reference for question in recursion_questions} == {"yes", "no"}
    assert {question.labels["edit"] for question in recursion_questions} & {"reference removed", "reference replaced"}


def test_choose_more_instances_extend_fewer(tmp_path: Path) -> None:
    path = write_files(tmp_path, w__xxp=NOTATIONS["wadl"].write(PLAIN)) / "w.xxp"
    for pattern in catalogue().values():
        few, many = (choices.choose(pattern, str(path), "", 3, n) for n in (20, 40))
        assert many[: len(few)] == few
        if not pattern.yes_no:
            assert len(few) == min(20, len(list_cases(pattern, str(path), "").cases))
        ranks = [choice.case.rank for choice in many]
        if pattern.yes_no:
            answers = [verdict(choice.case.answer) for choice in many]
            assert set(answers) <= {"yes", "no"}
            assert all(before != after for before, after in pairwise(answers))
        else:
            assert ranks == sorted(ranks)


def test_references_without_case_names_patterns(tmp_path: Path) -> None:
    path = write_files(tmp_path, w__xxp="package p;\nworkflow W { define task A; START -> A -> END; }") / "w.xxp"
    with pytest.raises(NoCaseError, match=r"there is nothing to ask: .*w\.xxp: nothing to ask for parallel_pair"):
        questions(path, "parallel_pair")
    chosen = UnderstandingSettings(workflows=(str(path),))
    (notice,) = understanding.notices(chosen, {"patterns": ["task_list", "parallel_pair", "parallel_block"]})
    assert notice.endswith("nothing to ask for parallel_pair, parallel_block")


def test_load_other_json_files_skipped_with_notice(tmp_path: Path) -> None:
    others = {"package__json": '{"name": "pantry"}', "data__json": "[1, 2", "more": ""}
    write_files(tmp_path, w__json=NOTATIONS["json"].write(PLAIN), **others)
    project = projects.load(str(tmp_path))
    assert canonical(project.workflow) == canonical(PLAIN)
    assert project.skipped_files == ("data.json", "package.json")
    notices = understanding.notices(UnderstandingSettings(workflows=(str(tmp_path),)), {"patterns": "task_list"})
    assert notices == [f"{tmp_path}: skipped, because they contain no workflow: data.json, package.json"]


def test_load_json_beside_other_notation_skipped(tmp_path: Path) -> None:
    write_files(tmp_path, a__xxp=SOUP, b__xxp=HEAT.format("kitchen", "Wait", "Wait"), package__json="{}")
    assert projects.load(str(tmp_path)).skipped_files == ("package.json",)


def test_load_folder_of_json_data_only_refused_with_reason(tmp_path: Path) -> None:
    write_files(tmp_path, package__json="{}")
    with pytest.raises(
        UsageError,
        match=r'no workflow file .*\.json with "format": "taskgraph-workflow".*; skipped: package\.json; see',
    ):
        projects.load(str(tmp_path))


def test_load_broken_workflow_json_in_folder_refused_with_place(tmp_path: Path) -> None:
    write_files(tmp_path, w__json='{"format": "taskgraph-workflow",\n "version": 1,, }', package__json="{}")
    with pytest.raises(ReadError, match=r"w\.json:2:15: "):
        projects.load(str(tmp_path))


def test_load_workflow_in_two_files_names_both(tmp_path: Path) -> None:
    heat = HEAT.format("kitchen", "Wait", "Wait")
    write_files(tmp_path, a__xxp=SOUP, b__xxp=heat, c__xxp=heat)
    (line,) = projects.load(str(tmp_path)).refusals
    assert re.search(r"c\.xxp: workflow 'kitchen\.Heat' is in .*b\.xxp as well; expected once$", line)


def test_load_workflow_twice_in_one_file_names_it(tmp_path: Path) -> None:
    write_files(tmp_path, w__json=2 * NOTATIONS["json"].write(PLAIN))
    with pytest.raises(WorkflowError, match=r"w\.json: workflow '.*' is twice in this file; expected once"):
        projects.load(str(tmp_path))


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/", "the root of the file system is not a project"),
        ("/..", "the root of the file system is not a project"),
        ("w" * 5000 + ".mmd", "cannot be read: File name too long"),
        ("w\0.mmd", "no such file or folder"),
    ],
)
def test_load_impossible_path_is_usage_error(path: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        projects.load(path)


def test_load_folder_of_too_many_files_is_usage_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(found_files, "MOST_ENTRIES", 3)
    write_files(tmp_path, a__xxp=SOUP, b__xxp=HEAT.format("kitchen", "Wait", "Wait"), c__png="")
    assert projects.load(str(tmp_path)).skipped_files == ()
    projects.load.cache_clear()
    write_files(tmp_path, d__png="")
    with pytest.raises(UsageError, match="more than 3 files and folders; name the folder of the workflows"):
        projects.load(str(tmp_path))


@posix_only
@pytest.mark.parametrize("name", ["denied", "denied/w.xxp", "linked"])
def test_load_path_without_permission_is_usage_error(name: str, tmp_path: Path) -> None:
    denied = write_files(tmp_path / "denied", w__xxp=SOUP)
    write_files(tmp_path / "linked").joinpath("w.xxp").symlink_to(denied / "w.xxp")
    script = (
        "import sys\n"
        "from pytest_taskgraph.families.understanding.own_files import projects\n"
        "from pytest_taskgraph.errors import UsageError\n"
        "try:\n    projects.load(sys.argv[1])\n"
        "except UsageError as error:\n    print(error)\n"
    )
    denied.chmod(0)
    try:
        ran = bounded_process.run([*BOUND, "-c", script, str(tmp_path / name)])
    finally:
        denied.chmod(0o755)
    assert (ran.returncode, "cannot be read: Permission denied" in ran.stdout) == (0, True), ran.stdout


def test_load_label_of_five_megabytes_refused(tmp_path: Path) -> None:
    path = tmp_path / "w.mmd"
    path.write_text(f'flowchart TD\n  A["{"x" * 5_000_000}"] --> B\n', encoding="utf-8")
    with pytest.raises(UsageError, match=r"w\.mmd: the file has 5,000,\d\d\d bytes; at most 4,000,000"):
        projects.load(str(path))


def test_load_name_too_long_refused(tmp_path: Path) -> None:
    path = tmp_path / "w.mmd"
    path.write_text(f'flowchart TD\n  A["{"x" * 501}"] --> B\n', encoding="utf-8")
    with pytest.raises(WorkflowError, match=r"w\.mmd: the name 'x{40}'… has 501 characters; at most 500"):
        projects.load(str(path))


def test_file_with_1100_tasks_is_asked_about(tmp_path: Path) -> None:
    tasks = " --> ".join(f"T{i}" for i in range(1100))
    folder = write_files(tmp_path, long__mmd=f"flowchart TD\n  START --> {tasks} --> END\n")
    asked = questions(folder / "long.mmd", patterns=["next_tasks", "flow_start"])
    assert {question.group for question in asked} == {"next_tasks", "flow_start"}
    levels = [question.chance for question in asked if question.group == "flow_start"]
    assert levels == [pytest.approx(1 / 1100)] * len(levels)
