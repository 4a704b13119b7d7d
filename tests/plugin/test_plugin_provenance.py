from __future__ import annotations

import platform
import shutil
from datetime import datetime, timedelta
from pathlib import Path

import bounded_process
import pytest
from plugin_project import Project, properties
from record_schema_file import record_validator

from pytest_taskgraph.plugin.output.circumstances import public_words
from pytest_taskgraph.redaction import MASK

REPORT = "--taskgraph-report=json=record.json"
GIT = ["git", "-c", "user.name=A", "-c", "user.email=a@localhost", "-c", "commit.gpgsign=false"]


def git(folder: Path, *words: str) -> str:
    done = bounded_process.run([*GIT, *words], cwd=folder)
    assert done.returncode == 0, done.stderr
    return str(done.stdout).strip()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["-k", "loop", "--maxfail=2"], ["-k", "loop", "--maxfail=2"]),
        (["--api-token", "abc", "suites"], ["--api-token", MASK, "suites"]),
        (["--api-token=abc"], [f"--api-token={MASK}"]),
        (["--taskgraph-model-option=api_key=abc"], [f"--taskgraph-model-option=api_key={MASK}"]),
        (["--taskgraph-model-option=max_tokens=100"], ["--taskgraph-model-option=max_tokens=100"]),
        (["--x", 'headers={"X-Api-Key": "abc", "n": "b"}'], ["--x", f'headers={{"X-Api-Key": "{MASK}", "n": "b"}}']),
        (["--base=http://ann:abc@host/v1?key=abc"], ["--base=http://host/v1?key=[key]"]),
        (["--token=abc="], [f"--token={MASK}"]),
        (["-o", "taskgraph_model_option=auth_token=x=abc="], ["-o", f"taskgraph_model_option=auth_token={MASK}"]),
        (["--x", '{"api_key": "abc\\nd"}'], ["--x", MASK]),
        (["--x", "headers={'Authorization': 'abc'}"], ["--x", f"headers={MASK}"]),
        (["--x", '{"key": "e", "name": "deed"}', "abd"], ["--x", MASK, "abd"]),
        (["test_token.py::test_key[{token}]"], ["test_token.py::test_key[{token}]"]),
        (["test_token.py::test_key[a=b]"], ["test_token.py::test_key[a=b]"]),
    ],
)
def test_public_words_mask_values_of_secret_names(words: list[str], expected: list[str]) -> None:
    public = list(public_words(words))
    assert "abc" not in " ".join(public)
    if "host" not in " ".join(words):
        assert public == expected


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_record_states_circumstances_of_run(project: Project) -> None:
    git(project.path, "init", "-q")
    git(project.path, "add", "-A")
    git(project.path, "commit", "-qm", "Start")
    commit = git(project.path, "rev-parse", "HEAD")
    before = datetime.now().astimezone()
    project.run(REPORT, "--taskgraph-model-option=api_key=hush-hush-hush")
    provenance = project.record()["provenance"]
    started = datetime.fromisoformat(provenance["started"])
    assert timedelta(seconds=-1) <= started - before.replace(microsecond=0) <= timedelta(minutes=5)
    assert started.tzinfo is not None
    assert provenance["seconds"] > 0
    assert (provenance["commit"], provenance["dirty"]) == (commit, False)
    assert provenance["versions"]["python"] == platform.python_version()
    assert provenance["versions"]["pytest"] == pytest.__version__
    assert provenance["command"][0] == "pytest"
    assert REPORT in provenance["command"]
    assert "hush" not in (project.path / "record.json").read_text()
    record_validator().validate(project.record())
    tracked = next(project.path.glob("test_*.py"))
    tracked.write_text(tracked.read_text() + "\n")
    project.run(REPORT)
    assert project.record()["provenance"]["dirty"] is True


def test_record_outside_of_repository_has_no_commit(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(project.path.parent))
    project.run(REPORT)
    provenance = project.record()["provenance"]
    assert (provenance["commit"], provenance["dirty"]) == ("", None)


def test_reports_state_circumstances_of_run(project: Project) -> None:
    project.run(REPORT, "--taskgraph-report=html=a.html", "--taskgraph-report=md=a.md", "--junitxml=junit.xml")
    provenance = project.record()["provenance"]
    day = provenance["started"][:10]
    for name in ("a.html", "a.md"):
        text = (project.path / name).read_text()
        for fact in (day, provenance["platform"], provenance["versions"]["pytest"], "--taskgraph-report=html=a.html"):
            assert fact in text, (name, fact)
    facts = dict(properties(project.junit()))
    assert facts["taskgraph.started"] == provenance["started"]
    assert facts["taskgraph.version.pytest"] == pytest.__version__
    assert facts["taskgraph.platform"] == provenance["platform"]
    assert facts["taskgraph.question_set.understanding"] == str(project.record()["question_sets"]["understanding"])


def test_junit_alone_states_circumstances(project: Project) -> None:
    project.run("--junitxml=junit.xml")
    assert "taskgraph.started" in dict(properties(project.junit()))


@pytest.mark.parametrize("flag", ["-q", "-v"])
def test_written_files_are_named_once(project: Project, flag: str) -> None:
    ran = project.run(
        flag, REPORT, "--model=baseline:random", "--taskgraph-report=md=out/a.md", "--taskgraph-save=main"
    )
    lines = [line for line in ran.output.splitlines() if line.startswith("taskgraph: ")]
    assert lines.count("taskgraph: json report: record.json") == 1
    assert lines.count("taskgraph: md report: out/a.md") == 1
    assert lines.count("taskgraph: run saved as main: .taskgraph/runs/main.json") == 1


def test_run_without_files_names_none(project: Project) -> None:
    assert " report: " not in project.run().output
