"""The circumstances of a run, observed when it starts: time, command line, commit, versions."""

from __future__ import annotations

import json
import platform
import re
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter

import pytest

from ...installation import DISTRIBUTION
from ...redaction import MASK, cut_addresses, hide, is_secret, secrets
from ...results.record.provenance import Provenance

PACKAGES = ("pytest", DISTRIBUTION, "litellm")  # whose versions are recorded, where they are installed
_GIT_SECONDS = 10  # after which the commit remains unknown
_NAME = re.compile(r"-{0,2}[\w.-]+")  # of an option or a setting


class Circumstances:
    """The circumstances of the session of a configuration, which starts with this object."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._started, self._start = datetime.now().astimezone(), perf_counter()
        self._observed: tuple[str, bool | None] | None = None

    def observe(self) -> None:
        """Find out the commit on the first call, before the run writes files into the folder of the project."""
        self._observed = self._observed or _commit_of(self._config.rootpath)

    @property
    def provenance(self) -> Provenance | None:
        """Return the circumstances until now; None if they were not observed."""
        if self._observed is None:
            return None
        commit, dirty = self._observed
        return Provenance(
            self._started.isoformat(timespec="seconds"),
            round(perf_counter() - self._start, 3),
            ("pytest", *public_words(map(str, self._config.invocation_params.args))),
            commit,
            dirty,
            {"python": platform.python_version(), **dict(_versions(PACKAGES))},
            platform.platform(),
        )


def _versions(packages: Iterable[str]) -> Iterator[tuple[str, str]]:
    for package in packages:
        with suppress(PackageNotFoundError):
            yield package, version(package)


def public_words(words: Iterable[str]) -> Iterator[str]:
    """Yield the words of a command line without keys and passwords.

    A value is masked where its option or its setting has the name of a secret: `--token=VALUE`, `--token VALUE`,
    `--model-option=api_key=VALUE`, and members of a JSON object.
    """
    option = ""
    for word in words:
        hidden = MASK if option and not word.startswith("-") and is_secret(option, word) else _public_word(word)
        yield hide(cut_addresses(hidden))
        option = word if word.startswith("--") and "=" not in word else ""


def _public_word(word: str) -> str:
    start, _, value = word.rpartition("=")
    if start and any(is_secret(name, value) for name in start.split("=") if _NAME.fullmatch(name)):
        return f"{start}={MASK}"
    if "{" in word:
        with suppress(ValueError, RecursionError):
            for secret in secrets(json.loads(word[word.index("{") :])):
                word = word.replace(secret, MASK)
    return word


def _commit_of(folder: Path) -> tuple[str, bool | None]:
    """Return the commit that git checked out around a folder, and whether tracked files differ from it."""
    # No command of the repository's own configuration is run, and no lock is taken.
    command = ["git", "--no-optional-locks", "-c", "core.fsmonitor=false", "status", "--porcelain=v2", "--branch"]
    try:
        result = subprocess.run(
            [*command, "--untracked-files=no"],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_GIT_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return "", None
    lines = result.stdout.splitlines()
    commit = next((line.rpartition(" ")[2] for line in lines if line.startswith("# branch.oid ")), "")
    return (commit, any(not line.startswith("#") for line in lines)) if commit.isalnum() else ("", None)
