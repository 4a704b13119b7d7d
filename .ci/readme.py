"""Run the commands of a page as a reader does: in their order, in a fresh environment, in a copy of the repository.

    python .ci/readme.py PYTHON FOLDER [PAGE]

Each line of a console block that starts with `$ ` is run by bash, one after the other, with the environment of PYTHON
first on the path. A block after a line that says "Save this as `NAME`:" is saved under this name. Commands that name a
model openai/... reach a server on the loopback interface that answers yes; they may end with wrong answers (exit code
1), every other command must end with 0. The test suite, which .ci/run runs by itself, is left out.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from loopback import Loopback  # noqa: E402 - found through the line above

_STEP = re.compile(
    r"(?:^[^\n]*\bSave this as `(?P<name>[^`]+)`:\n\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
_TESTS = "python -m pytest tests"
_LEFT_OUT = (".git", "__pycache__", ".*_cache", ".hypothesis", ".taskgraph", "build", "*.egg-info", "venv", ".venv")


def steps(page: str) -> Iterator[tuple[str, str]]:
    """Yield what a reader does, in order: (name, text) of a file to save, or ("", command) to run."""
    for step in _STEP.finditer(page):
        if step["name"]:
            yield step["name"], step["text"]
        elif step["kind"] == "console":
            for command in re.findall(r"^\$ ((?:.*\\\n)*.*)$", step["text"], re.MULTILINE):
                yield "", command


def main(python: str, folder: str, page: str = "README.md") -> int:
    """Copy the repository into the folder and carry out the page there; return 1 if a command failed."""
    desk = Path(folder)
    shutil.copytree(ROOT, desk, ignore=shutil.ignore_patterns(*_LEFT_OUT))
    failed = 0
    with Loopback() as server:
        environment = os.environ | {
            "PATH": f"{Path(python).parent}{os.pathsep}{os.environ['PATH']}",
            "OPENAI_API_KEY": "test",
            "OPENAI_BASE_URL": server.url,
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_QUIET": "1",
        }
        for name, text in steps((ROOT / page).read_text(encoding="utf-8")):
            if name:
                (desk / name).parent.mkdir(parents=True, exist_ok=True)
                (desk / name).write_text(text, encoding="utf-8")
                continue
            if text.startswith(_TESTS):
                continue
            print(f"\n$ {text}", flush=True)
            start = time.monotonic()
            done = subprocess.run(["bash", "-c", text], cwd=desk, env=environment, check=False)
            print(f"{time.monotonic() - start:.0f} s", flush=True)
            if done.returncode not in ((0, 1) if "=openai/" in text else (0,)):
                print(f"{page}: this command ended with {done.returncode}: {text}", flush=True)
                failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
