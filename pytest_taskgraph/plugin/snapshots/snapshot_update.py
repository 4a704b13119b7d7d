"""Write the prompts that a session rendered into their snapshots, and remove those that nothing uses."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import UsageError
from ...soundness.prompt_snapshots import (
    FOLDER,
    DamagedSnapshotError,
    SnapshotFile,
    dotted,
    read_sections,
    section_title,
)

if TYPE_CHECKING:
    from .rendered_prompts import RenderedPrompt, RenderedPrompts, UnusedSnapshots


@dataclass(slots=True)
class UpdateResult:
    """What an update came to: how many prompts were written, unchanged and removed, and what could not be done.

    `mistakes` are texts by the path of the file.
    """

    written: int = 0
    unchanged: int = 0
    removed: int = 0
    mistakes: dict[str, str] = field(default_factory=dict)


def update(prompts: RenderedPrompts, unused: Sequence[UnusedSnapshots]) -> UpdateResult:
    """Write the prompts that differ from their snapshots, and remove the unused ones."""
    result = UpdateResult()
    titles = {one.path: one.titles for one in unused if not one.whole}
    for function, group, found in prompts.by_file():
        path = prompts.path(function, group)
        changed = [one for one in found if one.status != "same"]
        result.unchanged += len(found) - len(changed)
        if changed or path in titles:
            try:
                _rewrite(prompts, path, _Rewriting(function, group, changed, titles.get(path, ())))
            except UsageError as error:
                result.mistakes[prompts.shown(path)] = str(error)
                continue
            result.written += len(changed)
            result.removed += len(titles.get(path, ()))
    for one in unused:
        if one.whole:
            try:
                _remove(one.path)
            except OSError as error:
                result.mistakes[prompts.shown(one.path)] = f"cannot be removed: {error.strerror or error}"
            else:
                result.removed += len(one.titles)
    return result


@dataclass(frozen=True, slots=True)
class _Rewriting:
    """What is to be changed in the file of a group of questions of a test function."""

    function: str
    group: str
    changed: Sequence[RenderedPrompt]
    removed: Sequence[str]


def _rewrite(prompts: RenderedPrompts, path: Path, asked: _Rewriting) -> None:
    """Write a file anew. Raises UsageError."""
    try:
        sections = read_sections(path)
    except DamagedSnapshotError as error:
        wanted = [id_ for id_, group in prompts.declared.get(asked.function, {}).items() if group == asked.group]
        if len(wanted) > len(asked.changed):
            raise UsageError(f"{error}; restore the file, or update all prompts of the test function") from None
        sections = {}
    kept = {title: body for title, body in sections.items() if title not in asked.removed}
    kept |= {section_title(one.question): one.text for one in asked.changed}
    SnapshotFile(dotted(asked.function.partition("::")[2]), asked.group, kept).write(path)


def _remove(path: Path) -> None:
    """Remove a file, and the folders that are empty without it."""
    path.unlink()
    for folder in path.parents:
        with suppress(OSError):
            folder.rmdir()
        if folder.name == FOLDER or folder.exists():
            return
