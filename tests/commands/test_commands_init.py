"""`python -m pytest_taskgraph init`: a project that it writes runs as it is, beside what a folder already holds."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import bounded_process
import pytest
import warm_processes
from closed_folder import BOUND, closed
from posix_tests import posix_only
from test_walkthrough import environment

from pytest_taskgraph.__main__ import main
from pytest_taskgraph.families.understanding.init_command import CI, FILES, PROMPT, source_text

pytestmark = posix_only

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "start.md").read_text(encoding="utf-8")
OUTPUTS = re.findall(r"^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)  # outputs, in their order
ANSWER_LINE = 'Write "Final answer:" followed by your final answer. {{ instruction }}\n'
OWN_PYPROJECT = '[tool.pytest.ini_options]\naddopts = "--strict-markers"\nfilterwarnings = ["error"]\n'
OWN_CONFTEST = "import pytest\n\n@pytest.fixture\ndef number():\n    return 3\n"
OWN_TEST = "def test_number(number):\n    assert number == 3\n"


@dataclass(frozen=True)
class StartedProject:
    """A project that the command wrote, and the shell in which its reader works."""

    root: Path
    variables: Mapping[str, str]
    output: str

    @property
    def commands(self) -> list[str]:
        """The commands that the output lists as the next to run."""
        _, _, rest = self.output.partition("next, without a key:\n")
        return [line.strip() for line in rest.splitlines() if line.startswith("  ")]

    def shell(self, text: str, folder: Path | None = None) -> tuple[int, str]:
        """Run a command and return its exit code and its output."""
        done = bounded_process.run(["sh", "-c", text], cwd=folder or self.root, env=self.variables)
        return done.returncode, done.stdout + done.stderr

    def pytest(self, command: str) -> tuple[int, str]:
        """Run a command `pytest ...` in a process that has imported everything; return its exit code and its output."""
        name, *arguments = shlex.split(command)
        assert name == "pytest"
        done = warm_processes.run(arguments, self.root, self.variables)
        return done.returncode, done.stdout + done.stderr

    def compare_with_prompt(self, old: str, new: str) -> tuple[int, str]:
        """Change the prompt, run the command that compares, and change it back."""
        prompt = self.root / PROMPT
        text = prompt.read_text(encoding="utf-8")
        assert old in text
        prompt.write_text(text.replace(old, new), encoding="utf-8")
        try:
            return self.pytest(self.commands[-1])
        finally:
            prompt.write_text(text, encoding="utf-8")


def start(folder: Path, name: str) -> StartedProject:
    """Run `init NAME` in the folder."""
    variables = environment(folder) | {"COLUMNS": "150"}
    done = bounded_process.run(["sh", "-c", f'python -m pytest_taskgraph init "{name}"'], cwd=folder, env=variables)
    assert done.returncode == 0, done.stdout + done.stderr
    return StartedProject(folder / name, variables, done.stdout)


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> StartedProject:
    """A project in a folder that did not exist, and has a space in its name."""
    return start(tmp_path_factory.mktemp("init"), "my project")


@pytest.fixture(scope="module")
def saved(started: StartedProject) -> tuple[int, str]:
    """The first pytest command of the output, run where the output says."""
    change_folder, save, _ = started.commands
    return started.shell(f"{change_folder}\n{save}", started.root.parent)


def test_init_empty_folder_reports_what_it_wrote(started: StartedProject) -> None:
    assert sorted(FILES) == sorted(
        path.relative_to(started.root).as_posix() for path in started.root.rglob("*") if path.is_file()
    )
    assert re.findall(r"^  (\S+) {2,}\S", started.output, re.MULTILINE) == list(FILES)
    assert started.commands == [
        "cd 'my project'",
        "pytest suites --taskgraph-save main",
        "pytest suites --taskgraph-compare main",
    ]


def test_started_project_passes_its_two_commands(started: StartedProject, saved: tuple[int, str]) -> None:
    code, output = saved
    assert code == 0, output
    assert "passed gates::next_tasks: pass rate 1.000 of 12 answered" in output
    assert (started.root / ".taskgraph" / "runs" / "main.json").is_file()
    code, output = started.pytest(started.commands[-1])
    assert code == 0, output
    assert set(OUTPUTS[1].splitlines()) <= set(output.splitlines())


@pytest.mark.exhaustive
def test_started_project_prompt_without_guide_fails(started: StartedProject, saved: tuple[int, str]) -> None:
    assert saved[0] == 0
    code, output = started.compare_with_prompt("{{ guide }}\n", "")
    assert code == 1, output
    assert set(OUTPUTS[2].splitlines()) <= set(output.splitlines())


@pytest.mark.exhaustive
def test_started_project_prompt_without_answer_line_fails(started: StartedProject, saved: tuple[int, str]) -> None:
    assert saved[0] == 0
    code, output = started.compare_with_prompt(ANSWER_LINE, "{{ instruction }}\n")
    assert code == 1, output
    total = re.search(r"^structure +24 +0\.000 .* (\d+) +pass rate$", output, re.MULTILINE)  # unparseable
    assert total is not None, output
    assert int(total[1]) > 12


@pytest.mark.exhaustive
def test_started_project_other_model_is_one_change(started: StartedProject, saved: tuple[int, str]) -> None:
    assert saved[0] == 0
    settings = started.root / "suites" / "pytest.ini"
    text = settings.read_text(encoding="utf-8")
    settings.write_text(text.replace("taskgraph_model = app", "taskgraph_model = simulated:0.5"), encoding="utf-8")
    code, output = started.pytest(started.commands[-1])
    settings.write_text(text, encoding="utf-8")
    assert code == 1, output
    assert "model simulated:0.5" in output


@pytest.mark.exhaustive
def test_started_project_passes_the_linter(started: StartedProject) -> None:
    code, output = started.shell("python -m pytest_taskgraph lint suites --examples=5")
    assert code == 0, output
    assert "no problem found" in output


def test_init_beside_tests_leaves_their_run_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = {"pyproject.toml": OWN_PYPROJECT, "conftest.py": OWN_CONFTEST, "tests/test_workflows.py": OWN_TEST}
    for name, text in own.items():
        path = tmp_path / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    root = tmp_path / "project"
    assert main(["init", str(root)]) == 0
    project = StartedProject(root, environment(tmp_path) | {"COLUMNS": "150"}, capsys.readouterr().out)
    assert {name: (project.root / name).read_text(encoding="utf-8") for name in own} == own
    code, output = project.pytest("pytest -q tests")
    assert (code, output.splitlines()[-1].split(" in ")[0]) == (0, "1 passed")
    code, output = project.pytest("pytest -q")
    assert code == 0, output
    assert "taskgraph: baseline reader: 24 of 24 right (1.000), mean 1.000, report only" in output
    code, output = project.pytest("pytest --collect-only")
    notice = "taskgraph: suites/pytest.ini is not read, so its model and gates do not apply; run pytest suites"
    assert notice in output.splitlines()
    _, save, _ = project.commands
    code, output = project.pytest(f"{save} --collect-only")
    assert code == 0, output
    assert "is not read" not in output


def test_init_output_is_that_of_its_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "my-project"]) == 0
    assert capsys.readouterr().out == OUTPUTS[0]


def test_init_ci_writes_workflow_beside_own_suite(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites" / "pytest.ini").write_text("mine", encoding="utf-8")
    assert main(["init", str(tmp_path), "--ci"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:] == [
        f"  {CI}  the CI workflow",
        f"before the first push: put the wheel of the package into wheels/, from which {CI} installs it",
    ]
    assert (tmp_path / CI).read_text(encoding="utf-8") == source_text(CI)
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 2


def test_init_default_is_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "written:"
    assert not any(line.startswith("  cd ") for line in lines)
    assert all((tmp_path / name).is_file() for name in FILES)


@pytest.mark.parametrize("name", list(FILES))
def test_init_existing_file_is_refused_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("mine", encoding="utf-8")
    assert main(["init", str(tmp_path)]) == 4
    assert f"{name}: found already, and init replaces no file; nothing was written" in capsys.readouterr().err
    assert [path.read_text(encoding="utf-8") for path in tmp_path.rglob("*") if path.is_file()] == ["mine"]


def test_init_again_lists_all_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(tmp_path)]) == 0
    capsys.readouterr()
    assert main(["init", str(tmp_path)]) == 4
    assert ", ".join(FILES) in capsys.readouterr().err


def test_init_broken_symlink_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / ".github" / "workflows").mkdir(parents=True)
    (tmp_path / ".github" / "workflows" / "taskgraph.yml").symlink_to(tmp_path / "nowhere")
    assert main(["init", str(tmp_path)]) == 4
    assert "taskgraph.yml: found already" in capsys.readouterr().err
    assert not (tmp_path / "suites").exists()
    assert not (tmp_path / "nowhere").exists()


def test_init_file_in_place_of_folder_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "suites").write_text("mine", encoding="utf-8")
    assert main(["init", str(tmp_path)]) == 4
    assert f"{tmp_path / 'suites'}: a file where a folder is expected" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["suites"]


@pytest.mark.parametrize("name", ["", ".github"])  # the last file is that in .github
def test_init_closed_folder_writes_nothing(tmp_path: Path, name: str) -> None:
    project = tmp_path / "project"
    (project / ".github").mkdir(parents=True)
    with closed(project / name):
        done = bounded_process.run([*BOUND, "-m", "pytest_taskgraph", "init", str(project)])
    assert done.returncode == 4
    assert "cannot be written: Permission denied; nothing was written" in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in project.rglob("*")] == [".github"]


def test_init_below_root_of_repository_names_root(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / ".git").mkdir()
    assert main(["init", str(tmp_path)]) == 0
    assert "GitHub reads" not in capsys.readouterr().out
    assert main(["init", str(tmp_path / "part")]) == 0
    assert f"GitHub reads workflows in the root of the repository only, {tmp_path}:" in capsys.readouterr().out


def test_init_folder_name_is_printed_safely(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(tmp_path / "a\x1b[2Jb")]) == 0
    output = capsys.readouterr().out
    assert "\x1b" not in output
    assert r"a\x1b[2Jb" in output
