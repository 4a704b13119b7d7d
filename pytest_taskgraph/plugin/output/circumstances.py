"""The circumstances of a run, observed when it starts: time, command line, commit, versions."""

from __future__ import annotations

import json
import platform
import re
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter

import pytest

from ...installation import DISTRIBUTION
from ...redaction import MASK, cut_addresses, hide, is_secret, secrets
from ...results.record.facts import Provenance

PACKAGES = ("pytest", DISTRIBUTION, "litellm")  # whose versions are recorded, where they are installed
_GIT_SECONDS = 10  # after which the commit remains unknown
_NAME = re.compile(r"-{0,2}[\w.-]+")  # of an option or a setting
_MEMBER = re.compile("[\"'][^\"']*[\"']\\s*:")  # of an object


class Circumstances:
    """The circumstances of the session of a configuration, which starts with this object."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._started, self._start = datetime.now().astimezone(), perf_counter()
        self._observed: Provenance | None = None  # without duration and command line

    def observe(self) -> None:
        """Observe commit and versions on the first call, before the run writes files into the folder of the project."""
        if self._observed is not None:
            return
        commit, dirty = _commit_of(self._config.rootpath)
        self._observed = Provenance(
            self._started.isoformat(timespec="seconds"),
            commit=commit,
            dirty=dirty,
            versions={"python": platform.python_version(), **dict(_versions(PACKAGES))},
            platform=platform.platform(),
        )

    @property
    def provenance(self) -> Provenance | None:
        """Return the circumstances until now; None if they were not observed."""
        if self._observed is None:
            return None
        # Late, for keys that become known during the run are masked too.
        command = ("pytest", *public_words(map(str, self._config.invocation_params.args)))
        return replace(self._observed, seconds=round(perf_counter() - self._start, 3), command=command)


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
    parts = word.split("=")
    for at, name in enumerate(parts[:-1], 1):  # all behind the first secret name is its value, further "=" included
        if _NAME.fullmatch(name) and is_secret(name, "=".join(parts[at:])):
            return f"{'='.join(parts[:at])}={MASK}"
    start, brace, rest = word.partition("{")
    return start + _public_json(brace + rest) if _MEMBER.search(rest) else word


def _public_json(text: str) -> str:
    """Return a JSON object without secrets, MASK if they do not stand in it by themselves."""
    try:
        for secret in secrets(json.loads(text)):
            text = text.replace(secret, MASK)
        left = [secret for secret in secrets(json.loads(text)) if secret != MASK]
    except (ValueError, RecursionError):  # no JSON, or none any more, since the secret is a part of other words
        left = [text] if is_secret(text) else []
    return MASK if left else text


def _commit_of(folder: Path) -> tuple[str, bool | None]:
    """Return the commit that git checked out around a folder, and whether tracked files differ from it."""
    # The file system monitor that the repository may configure is not started, and no lock is taken.
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
