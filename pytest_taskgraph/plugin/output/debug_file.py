"""Removal of keys from the file that pytest writes with `--debug`, which begins with the command line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ..verdicts.gathering import existing_run

_OURS = ("--taskgraph-", "--model")  # beginnings of the options that may hold a key


def mask_after_run(config: pytest.Config) -> None:
    """Mask the keys in the debug file once pytest has closed it.

    To be called before pytest opens the file: what is added first to the cleanup of a session runs last.
    """
    config.add_cleanup(lambda: _mask(config))


def _mask(config: pytest.Config) -> None:
    name, words = getattr(config.option, "debug", None), config.invocation_params.args
    if not name or (existing_run(config) is None and not any(str(word).startswith(_OURS) for word in words)):
        return
    from ...redaction import redact
    from .circumstances import public_words

    path, masked = Path(config.invocation_params.dir, name), type(words)(public_words(map(str, words)))
    try:
        text = path.read_text(encoding="utf-8")
        without_keys = redact(text.replace(f"args={words}", f"args={masked}", 1))
        if without_keys != text:
            path.write_text(without_keys, encoding="utf-8")
    except OSError as error:
        sys.stderr.write(f"taskgraph: {path}: keys of the command line may stand in it ({error.strerror}); delete it\n")
