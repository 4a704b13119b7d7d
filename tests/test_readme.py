"""Every code block of the README and of docs/ runs; live ones against a server on the loopback interface."""

from __future__ import annotations

import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import bounded_process
import in_process
import options_page
import pytest
from loopback import Loopback
from plugin_project import Project

from pytest_taskgraph.__main__ import main
from pytest_taskgraph.notations import notation
from pytest_taskgraph.plugin.options import all_options

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]
FROM_OTHER_TOOLS = ROOT / "docs" / "how-to" / "from-other-tools.md"
BPMN_PAGE = ROOT / "docs" / "how-to" / "bpmn.md"
IN_ORDER = [README, FROM_OTHER_TOOLS]
"""Pages whose commands need the files that they have their reader save."""
REAL = [ROOT / "docs" / "how-to" / "local-servers.md"]
"""Pages whose commands need a real model: tests/real runs them."""
reader_steps = runpy.run_path(str(ROOT / ".ci" / "readme.py"))["steps"]  # what a reader does, in order
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
KINDS = {"wadl": "wadl", "mermaid": "mermaid", "json": "json", "text": "prose"}
PACKAGE = "python -m pytest_taskgraph "
SUMMARY = re.compile(
    r"taskgraph: .* right \(\d\.\d{3}\)|^\w[\w, ]* +\d+\*? +(?:\d\.\d{3}|-) |^answered |^total "
    r"|^taskgraph: \d+ groups? searched",
    re.MULTILINE,
)


def blocks(kind: str, pages: Sequence[Path] = PAGES) -> list[str]:
    return [
        text
        for page in pages
        for kind_of_block, text in BLOCK.findall(page.read_text(encoding="utf-8"))
        if kind_of_block == kind
    ]


def samples(page: Path) -> list[tuple[str, str]]:
    """The workflows that a page shows."""
    page_blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    # Elsewhere than in that page, texts and JSON are no workflows.
    kinds = KINDS.keys() if page.name == "notations.md" else KINDS.keys() - {"text", "json"}
    return [(kind, text) for kind, text in page_blocks if kind in kinds]


def page_commands() -> list[str]:
    """Return the commands of the pages of docs/, each once, but for the pages that run in their order."""
    lines = [
        line.removeprefix("$ ")
        for block in blocks("console", [page for page in PAGES if page not in IN_ORDER + REAL])
        for line in block.splitlines()
        if line.startswith("$ ")
    ]
    return list(dict.fromkeys(line for line in lines if is_tested(line)))


def is_tested(command: str) -> bool:
    """Return True unless the command installs something or is this very suite: .ci/run runs those."""
    return " pip install " not in command and not command.startswith("python -m pytest tests")


def spawned_commands() -> set[str]:
    """Return the commands that run in processes of their own, as a reader runs them.

    These are the first of each kind, those that start processes themselves, and the linter, which imports suites. The
    others run in this process, where nothing is to be imported anew.
    """
    plain = [command for command in page_commands() if command.startswith("pytest ") and "openai/" not in command]
    live = [command for command in page_commands() if "openai/" in command]
    of_package = [command for command in page_commands() if not command.startswith("pytest ")]
    apart = [command for command in page_commands() if " -n " in command or " lint " in command]
    assert all(command.startswith(PACKAGE) for command in of_package)
    return {plain[0], live[0], of_package[0], *apart}


UNDERSTANDING = "pytest suites/understanding"
"""The command whose results a page shows: they have a test of their own."""
FEWER_QUESTIONS = {
    "pytest suites/": "flow_start or paged or tasklama",
    "pytest suites/understanding --taskgraph-seed=7 --taskgraph-tasks=8,20 "
    "--taskgraph-instances=2": "flow_start or next_tasks",
    "pytest suites/ --model=simulated:1 --taskgraph-compare=last --taskgraph-fail-on=regression "
    "--taskgraph-report html=run.html": "flow_start or next_tasks",
    "pytest suites/understanding --taskgraph-workflow=supper.mmd --taskgraph-notation=prose": "structure",
    "pytest suites/understanding --model=baseline:random --taskgraph-fail-on=nothing": "structure",
    'pytest suites/understanding --model=simulated:0.98 --taskgraph-gate "structure>=0.8" '
    "--taskgraph-report html=report.html": "structure",
    "pytest suites/understanding --model=simulated:0.98 --taskgraph-save=main "
    "--taskgraph-fail-on=nothing": "flow_start",
    "pytest suites/understanding --model=simulated:0.98 --taskgraph-compare=main "
    "--taskgraph-fail-on=regression": "flow_start",
}
"""What `-k` selects of the questions of commands that ask many of them."""


def narrow_command(command: str) -> str:
    """Return the command with fewer questions, if it asks many."""
    return f"{command} -k {shlex.quote(FEWER_QUESTIONS[command])}" if command in FEWER_QUESTIONS else command


@pytest.fixture(scope="session")
def loaded() -> None:
    in_process.load()


@pytest.fixture
def project(loaded: None, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    for name in [name for name in os.environ if name.startswith("OPENAI_")]:
        monkeypatch.delenv(name)
    with in_process.untouched(pytester, monkeypatch) as made_project:
        for own in list(made_project.path.iterdir()):
            own.unlink()
        yield made_project


@pytest.fixture
def desk(project: Project) -> Path:
    """A folder as a reader of the README has it: the suites, and the files that the README shows."""
    shutil.copytree(ROOT / "suites", project.path / "suites", ignore=shutil.ignore_patterns("__pycache__"))
    (project.path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n", encoding="utf-8")
    (project.path / "supper.mmd").write_text(blocks("mermaid")[0], encoding="utf-8")
    (project.path / ".github" / "workflows").mkdir(parents=True)
    (project.path / "order.bpmn").write_text(blocks("xml", [BPMN_PAGE])[0], encoding="utf-8")
    shown = blocks("yaml", [ROOT / "docs" / "how-to" / "own-workflows.md"])[0]
    (project.path / ".github" / "workflows" / "ci.yml").write_text(shown, encoding="utf-8")
    return project.path


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback() as running:
        yield running


def run(command: str, desk: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    words = shlex.split(command)
    if words[0] == "pytest":
        words[:1] = ["python", "-m", "pytest"]
    environment_of_reader = {
        k: v for k, v in os.environ.items() if not k.startswith(("TASKGRAPH_", "PYTEST_", "OPENAI_"))
    }
    whole = [sys.executable, *words[1:]]
    return bounded_process.run(whole, cwd=desk, env=environment_of_reader | environment)


def run_here(command: str, project: Project, **environment: str) -> subprocess.CompletedProcess[str]:
    """The same in this process."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        if command.startswith(PACKAGE):
            return run_package_here(command, project.path)
        ran = project.run(*shlex.split(narrow_command(command))[1:])
    return subprocess.CompletedProcess(command, ran.code, ran.output.rstrip(), "")


def run_package_here(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of the package in this process."""
    output, errors = StringIO(), StringIO()
    with chdir(folder), redirect_stdout(output), redirect_stderr(errors):
        try:
            code = main(shlex.split(command.removeprefix(PACKAGE)))
        except SystemExit as end:  # after --help
            code = int(end.code or 0)
    return subprocess.CompletedProcess(command, code, output.getvalue(), errors.getvalue())


def check_command(command: str, project: Project, desk: Path, server: Loopback, spawned: bool) -> str:
    """Run a command of a page, check that it ends as its reader expects, and return its output."""
    live = {"OPENAI_API_KEY": "test", "OPENAI_BASE_URL": server.url} if "openai/" in command else {}
    requests = len(server.requests)
    done = run(command, desk, **live) if spawned else run_here(command, project, **live)
    assert "Traceback" not in done.stdout + done.stderr
    assert (len(server.requests) > requests) == (bool(live) and "--taskgraph-dry-run" not in command)
    assert done.returncode in ((0, 1) if live else (0,)), done.stdout + done.stderr
    if command.startswith("pytest"):
        assert SUMMARY.search(done.stdout), done.stdout
        assert "errors" not in done.stdout.splitlines()[-1]
    return done.stdout


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "command",
    [
        # tests/soundness/test_linting_page.py runs the linter on the same file and others
        pytest.param(command, marks=pytest.mark.exhaustive) if " lint " in command else command
        for command in page_commands()
        if command != UNDERSTANDING
    ],
)
def test_command_of_a_page_runs(command: str, project: Project, desk: Path, server: Loopback) -> None:
    check_command(command, project, desk, server, command in spawned_commands())


def test_narrowed_commands_are_those_of_pages() -> None:
    assert FEWER_QUESTIONS.keys() <= {*page_commands(), *(text for _, text in reader_steps(README.read_text("utf-8")))}


@pytest.mark.exhaustive
@pytest.mark.parametrize("page", IN_ORDER, ids=lambda page: page.stem)
def test_commands_of_a_page_run_in_their_order(page: Path, project: Project, desk: Path, server: Loopback) -> None:
    for name, text in reader_steps(page.read_text(encoding="utf-8")):
        if name:
            (desk / name).write_text(text, encoding="utf-8")
        elif is_tested(text):
            check_command(text, project, desk, server, spawned=not text.startswith("pytest "))


def test_page_from_other_tools_shows_the_gate_and_size_of_its_suite(project: Project, desk: Path) -> None:
    page = FROM_OTHER_TOOLS.read_text(encoding="utf-8")
    ((name, suite), (_, command)) = reader_steps(page)
    (desk / name).write_text(suite, encoding="utf-8")
    (shown,) = blocks("text", [FROM_OTHER_TOOLS])
    assert " ".join(shown.split()) in " ".join(run_here(command, project).stdout.split())
    assert "ask seven questions" in " ".join(page.split())
    failed = run_here(command.replace("simulated:1", "baseline:random"), project)
    assert failed.returncode == 1, failed.stdout


def test_bpmn_page_shows_what_is_read_of_its_model(project: Project, desk: Path) -> None:
    (shown,) = blocks("text", [BPMN_PAGE])
    assert run_package_here("python -m pytest_taskgraph show order.bpmn", project.path).stdout == shown


def test_readme_is_at_most_150_lines_long() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 150


def test_readme_pattern_is_answered_by_the_reader(project: Project, desk: Path) -> None:
    saved = dict(reader_steps(README.read_text(encoding="utf-8")))
    (desk / "test_mine.py").write_text(saved["suites/test_mine.py"], encoding="utf-8")
    done = run_here("pytest test_mine.py --model=baseline -q", project)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "8 of 8 right (1.000)" in done.stdout


@pytest.mark.parametrize(
    ("page", "kind", "text"), [(page, kind, text) for page in PAGES for kind, text in samples(page)], ids=lambda one: ""
)
def test_a_workflow_shown_in_the_docs_is_read_by_its_notation(page: Path, kind: str, text: str) -> None:
    workflow = notation(KINDS[kind]).read(text, page.name)
    assert workflow.tasks or workflow.configurations


def test_tables_of_options_are_those_of_the_code() -> None:
    text = options_page.PAGE.read_text(encoding="utf-8")
    assert options_page.TABLES.findall(text) == [options_page.tables()], "run python tests/options_page.py"


@pytest.mark.exhaustive
def test_results_on_the_understanding_page_are_those_of_its_command(
    project: Project, desk: Path, server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (ROOT / "docs" / "benchmarks" / "understanding.md").read_text(encoding="utf-8")
    (block,) = [block for kind, block in BLOCK.findall(text) if kind == "text"]
    lines = {line.strip() for line in block.splitlines()} - {"...", ""}
    monkeypatch.setenv("COLUMNS", "80")
    output = check_command(UNDERSTANDING, project, desk, server, spawned=False)
    assert lines - {line.strip() for line in output.splitlines()} == set()


def test_help_shows_every_option(project: Project) -> None:
    text = run_here("pytest --help", project).stdout
    assert all(f"--taskgraph-{name}" in text for name in all_options())
