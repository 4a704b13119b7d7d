"""The rules of the linter that hold for every family: each finds a suite that breaks it, and a sound one is clean."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from lint_project import LINE, SOUND, LintProject, lint_project, row


@pytest.fixture
def project(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[LintProject]:
    with lint_project(pytester, monkeypatch, capsys) as project:
        yield project


def test_lint_sound_suite_finds_nothing(project: LintProject) -> None:
    project.write_riddles(*SOUND)
    linted = project.lint("test_riddles.py", "--examples=5")
    assert (linted.code, linted.lines) == (0, []), linted
    assert linted.output.splitlines()[-1].startswith("1 suite with 2 questions, ")
    assert linted.output.endswith(": no problem found\n")


def test_lint_same_prompt_and_answer_is_a_duplicate(project: LintProject) -> None:
    project.write_riddles(*SOUND, row("hen", "Does it grow?"))
    linted = project.lint("--examples=0")
    assert linted.code == 1
    assert linted.lines == [
        f"test_riddles.py:{LINE}: duplicate-prompt hole, hen have one prompt and one answer; "
        "expected each question once"
    ]


def test_lint_same_prompt_and_other_answer_is_a_contradiction(project: LintProject) -> None:
    project.write_riddles(*SOUND, row("hen", "Does it grow?", "no"))
    linted = project.lint("--examples=0")
    assert linted.lines == [
        f"test_riddles.py:{LINE}: contradictory-prompt hole, hen have one prompt and 2 answers; expected one"
    ]


@pytest.mark.parametrize(("yes", "found"), [(2, False), (3, True), (4, True)])
def test_lint_one_answer_for_most_of_a_group_is_unbalanced(project: LintProject, yes: int, found: bool) -> None:
    project.write_riddles(*(row(f"n{i}", f"Is it {i}?", "yes" if i < yes else "no") for i in range(4)))
    linted = project.lint("--examples=0")
    assert linted.rules == (["unbalanced-answers"] if found else [])
    if found:
        assert f"riddle: {yes} of 4 answers are 'yes', so that this answer alone scores {yes / 4:.0%}" in linted.output


def test_lint_few_questions_of_a_group_are_not_called_unbalanced(project: LintProject) -> None:
    project.write_riddles(*(row(f"n{i}", f"Is it {i}?") for i in range(3)))
    assert project.lint("--examples=0").lines == []


def test_lint_question_that_cannot_be_built_violates_renders(project: LintProject) -> None:
    project.write_riddles(*SOUND, {"id": "sphinx", "error": "no such riddle"})
    linted = project.lint("--examples=0")
    assert linted.rules == ["renders"]
    assert "renders sphinx: raised ValueError: no such riddle (conftest.py:" in linted.output


def test_lint_empty_prompt_violates_renders(project: LintProject) -> None:
    project.write_riddles(*SOUND, row("void", " "))
    assert "renders void: found an empty text and an empty prompt; expected words" in project.lint().output


def test_lint_changing_question_violates_deterministic(project: LintProject) -> None:
    project.write_riddles(row("turn", "Is it TURN?"))
    linted = project.lint("--examples=3")
    assert linted.rules == ["deterministic"]
    assert "came out different; expected the same" in linted.output
    assert (
        "    find it again: pytest test_riddles.py::test_riddles --taskgraph-fuzz 3 --hypothesis-seed=0 -k riddle"
        in linted.output
    )


@pytest.mark.parametrize(("tokens", "rules"), [(3, ["prompt-size"]), (4, [])])
def test_lint_prompt_over_the_limit_violates_prompt_size(project: LintProject, tokens: int, rules: list[str]) -> None:
    project.write_riddles(*SOUND)
    assert project.lint("--examples=0", f"--most-tokens={tokens}").rules == rules


@pytest.mark.parametrize(
    ("broken", "rule"),
    [
        ('write=lambda answer, names: "maybe"', "reference-scores-one"),
        ("read=lambda text, names, parsing: BASE.read(text, names, parsing) if text in ('yes', 'no') else {}[text]",
         "replies-are-safe"),
    ],
)  # fmt: skip
def test_lint_form_that_is_broken_violates_its_property(project: LintProject, broken: str, rule: str) -> None:
    project.write_riddles(*(row(riddle["id"], riddle["prompt"], riddle["answer"], form="odd") for riddle in SOUND))
    text = (project.path / "conftest.py").read_text(encoding="utf-8")
    added = f'registry.family(riddles)\n    registry.form(replace(BASE, name="odd", {broken}))'
    head = 'from dataclasses import replace\nfrom pytest_taskgraph.scoring.forms import form\nBASE = form("yes-no")\n'
    project.write("conftest.py", head + text.replace("registry.family(riddles)", added))
    assert rule in project.lint("--examples=0").rules


def test_lint_variations_and_repetitions_are_no_duplicates(project: LintProject) -> None:
    project.write_riddles(*SOUND)
    linted = project.lint("--examples=0", "--", "--taskgraph-repeats=3")
    assert linted.lines == []
    assert "1 suite with 2 questions" in linted.output


def test_lint_suite_with_a_mistake_is_a_suite_error_at_its_line(project: LintProject) -> None:
    project.write_riddles(*SOUND, SOUND[0])
    project.write("test_sound.py", "def test_it():\n    pass\n")
    linted = project.lint()
    assert linted.code == 1
    (line,) = linted.lines
    assert line.startswith(
        f"test_riddles.py:{LINE}: suite-error test_riddles: the benchmark family 'riddles': references"
    )
    assert "returned the id 'hole' twice" in line


def test_lint_pattern_that_raises_is_a_suite_error_at_its_line(project: LintProject) -> None:
    project.write_pattern("How many in {{ place }}?", form="number", body="yield case([][len(workflow.tasks)])")
    linted = project.lint()
    line = (project.path / "test_chosen.py").read_text(encoding="utf-8").splitlines().index(
        "    yield case([][len(workflow.tasks)])"
    ) + 1  # fmt: skip
    assert linted.lines == [
        f"test_chosen.py:{line}: suite-error raised IndexError: list index out of range (test_chosen.py:{line})"
    ]


def test_lint_unknown_option_of_a_suite_is_a_suite_error_at_its_line(project: LintProject) -> None:
    head = "from pytest_taskgraph import suite, understanding\n\n"
    project.write("test_odd.py", f"{head}@suite(understanding, bogus=1)\ndef test_it(trial):\n    trial.check()\n")
    linted = project.lint("--examples=0")
    (line,) = linted.lines
    assert line.startswith("test_odd.py:3: suite-error unknown option of @suite(understanding, ...) 'bogus'; known: ")


def test_lint_file_that_cannot_be_imported_is_a_suite_error(project: LintProject) -> None:
    project.write_riddles(*SOUND)
    project.write("test_broken.py", "import nonexistent_module\n")
    linted = project.lint("--examples=0")
    assert linted.rules == ["suite-error"]
    assert "test_broken.py:1: suite-error ModuleNotFoundError: No module named 'nonexistent_module'" in linted.output


def test_lint_suite_without_questions_is_a_notice_and_no_finding(project: LintProject) -> None:
    project.write_riddles(*SOUND)
    text = (project.path / "test_riddles.py").read_text(encoding="utf-8")
    project.write("test_empty.py", text.replace("rows=ROWS", "rows=[]").replace("test_riddles", "test_empty"))
    linted = project.lint("--examples=0")
    assert linted.code == 0
    assert (
        "test_empty.py::test_empty is not checked: test_empty: the benchmark family 'riddles' has no" in linted.output
    )


def test_lint_comment_on_the_line_of_a_finding_ignores_the_rule_there(project: LintProject) -> None:
    project.write_riddles(*SOUND, row("hen", "Does it grow?"))
    text = (project.path / "test_riddles.py").read_text(encoding="utf-8")
    comment = "@suite(riddles, rows=ROWS)  # taskgraph-lint: ignore[duplicate-prompt] asked twice on purpose"
    project.write("test_riddles.py", text.replace("@suite(riddles, rows=ROWS)", comment))
    linted = project.lint("--examples=0")
    assert (linted.code, linted.lines) == (0, [])
    assert "ignored by comments: 1" in linted.output


def test_lint_of_own_questions_writes_no_files(project: LintProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    project.write_riddles(*SOUND)
    before = sorted(path.as_posix() for path in project.path.rglob("*"))
    project.lint("--examples=0")
    assert sorted(path.as_posix() for path in project.path.rglob("*")) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nope",), "file or directory not found: nope"),
        (("--", "--taskgraph-bogus"), "unrecognized arguments: --taskgraph-bogus"),
        (("--", "--taskgraph-instances=0"), "--taskgraph-instances: 0; expected at least 1"),
        (("--select=bogus",), "unknown rule (--select) 'bogus'; known: "),
        (("--ignore=prompt-sizes",), "unknown rule (--ignore) 'prompt-sizes'; known: "),
        (("--examples=-1",), "--examples: -1; expected at least 0"),
        (("--most-tokens=0",), "--most-tokens: 0; expected at least 1"),
        (("test_plain.py",), "test_plain.py: no suite found; name a file with @suite"),
    ],
)
def test_lint_mistake_in_the_arguments_is_a_usage_error(
    project: LintProject, arguments: tuple[str, ...], words: str
) -> None:
    project.write_riddles(*SOUND)
    project.write("test_plain.py", "def test_it():\n    pass\n")
    linted = project.lint(*arguments)
    assert (linted.code, linted.output) == (4, "")
    assert words in linted.errors


def test_lint_select_and_ignore_take_names_and_first_words(project: LintProject) -> None:
    project.write_riddles(*SOUND, row("hen", "Does it grow?"), row("owl", "Is it 4?"), row("cat", "Is it 5?"))
    both = ["duplicate-prompt", "unbalanced-answers"]
    assert project.lint("--examples=0").rules == both
    assert project.lint("--examples=0", "--select=duplicate").rules == both[:1]
    assert project.lint("--examples=0", "--select=duplicate,unbalanced-answers").rules == both
    assert project.lint("--examples=0", "--ignore=duplicate", "--ignore=renders").rules == both[1:]
    assert project.lint("--examples=0", "--select=renders").code == 0


def test_lint_rules_lists_each_with_its_remedy(project: LintProject) -> None:
    linted = project.lint("--rules")
    assert linted.code == 0
    lines = linted.output.splitlines()
    assert "duplicate-prompt (warning): Two questions of a suite have the same prompt and the same" in linted.output
    assert all(line.startswith("    ") for line in lines[1::2])


def test_lint_seed_same_gives_the_same_output(project: LintProject) -> None:
    project.write_riddles(*(row(f"q{i}", f"Is {i} TURN?", "yes" if i % 2 else "no") for i in range(20)))
    first, second = project.lint("--seed=3", "--examples=5").output, project.lint("--seed=3", "--examples=5").output
    assert "deterministic" in first
    assert first == second


def test_lint_interrupted_reports_earlier_findings(project: LintProject) -> None:
    project.write_riddles(*SOUND, row("hen", "Does it grow?"))
    text = (project.path / "conftest.py").read_text(encoding="utf-8")
    stop = "if settings.seed:\n            raise KeyboardInterrupt\n        row = reference.payload"
    project.write("conftest.py", text.replace("row = reference.payload", stop))
    linted = project.lint("--examples=30")
    assert linted.code == 2
    assert linted.rules == ["duplicate-prompt"]
    assert "interrupted: not everything was checked" in linted.output
