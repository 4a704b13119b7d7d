"""What stands around the package for those who publish and use it: versions, the release workflow, the commit hook."""

from __future__ import annotations

import os
import re
import shlex
import sys
import tomllib
from pathlib import Path
from typing import Any

import bounded_process
import pytest
from posix_tests import posix_only

from pytest_taskgraph import __version__
from pytest_taskgraph.__main__ import main

ROOT = Path(__file__).parents[1]
HOOK_PAGE = ROOT / "docs" / "how-to" / "check-questions.md"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def loaded(name: str) -> Any:  # noqa: ANN401 - what a YAML file holds
    return pytest.importorskip("yaml").safe_load((ROOT / name).read_text(encoding="utf-8"))


def check_tag(tag: str) -> tuple[int, str]:
    """Run the step of the release workflow that compares the tag with the version."""
    (step,) = [one for one in loaded(".github/workflows/release.yml")["jobs"]["build"]["steps"] if "tag" in str(one)]
    script = step["run"].replace("python -c", f"{shlex.quote(sys.executable)} -c")
    done = bounded_process.run(["bash", "-e", "-c", script], cwd=ROOT, env={**os.environ, "GITHUB_REF_NAME": tag})
    return done.returncode, done.stdout


def test_version_is_the_same_everywhere() -> None:
    newest = re.search(r"^## \[([\d.]+)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    hook = re.search(r"^    rev: v(\S+)$", HOOK_PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert newest
    assert cited
    assert hook
    assert {PROJECT["version"], newest[1], cited[1], hook[1]} == {__version__}


@posix_only
def test_release_of_tag_that_is_the_version_goes_on() -> None:
    assert check_tag(f"v{__version__}") == (0, "")


@posix_only
@pytest.mark.parametrize("tag", [__version__, f"v{__version__}rc1", "v$(touch ran)"])
def test_release_of_another_tag_is_refused(tag: str) -> None:
    code, output = check_tag(tag)
    assert code == 1
    assert output.startswith(f"::error::the tag is {tag} and the version in pyproject.toml is {__version__}")


def test_release_alone_may_publish_what_was_checked() -> None:
    workflow = loaded(".github/workflows/release.yml")
    assert workflow["permissions"] == {}
    assert {name: job["permissions"] for name, job in workflow["jobs"].items()} == {
        "build": {"contents": "read"},
        "publish": {"id-token": "write"},
    }
    publish = workflow["jobs"]["publish"]
    assert (publish["needs"], publish["environment"]) == ("build", "pypi")
    assert "secrets." not in str(workflow)
    assert [step for step in publish["steps"] if "run" in step] == []


def test_hook_lints_suites_of_a_project(tmp_path: Path) -> None:
    (hook,) = loaded(".pre-commit-hooks.yaml")
    assert main(["init", str(tmp_path)]) == 0
    files = [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()]
    assert [name for name in files if re.search(hook["files"], name)] == [
        name for name in files if name.startswith("suites/")
    ]
    python, *words = shlex.split(hook["entry"])
    assert (python, hook["language"], hook["pass_filenames"]) == ("python", "python", False)
    command, environment = [sys.executable, *words, *hook["args"]], os.environ | {"PYTHONPATH": str(ROOT)}
    done = bounded_process.run(command, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    suite = tmp_path / "suites" / "test_workflow_questions.py"
    suite.write_text("def test_workflows(:", encoding="utf-8")
    assert bounded_process.run(command, cwd=tmp_path, env=environment).returncode == 1


def test_site_of_documentation_is_built_from_files_that_exist() -> None:
    site = loaded(".readthedocs.yaml")
    assert (ROOT / site["sphinx"]["configuration"]).is_file()
    (install,) = site["python"]["install"]
    assert {*install["extra_requirements"]} <= PROJECT["optional-dependencies"].keys()
