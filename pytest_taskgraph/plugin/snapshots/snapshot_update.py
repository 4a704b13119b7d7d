"""Writing of the rendered prompts of a session into snapshots, and removal of unused snapshots."""

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
    dotted_name,
    read_sections,
    section_title,
)

if TYPE_CHECKING:
    from .rendered_prompts import RenderedPrompt, RenderedPrompts, UnusedSnapshots


@dataclass(slots=True)
class UpdateResult:
    """Numbers of prompts written, unchanged and removed by an update, and its errors by the path of the file."""

    written: int = 0
    unchanged: int = 0
    removed: int = 0
    mistakes: dict[str, str] = field(default_factory=dict)


def update(prompts: RenderedPrompts, unused: Sequence[UnusedSnapshots]) -> UpdateResult:
    """Write the prompts that differ from their snapshots, and remove the unused ones."""
    result = UpdateResult()
    titles = {snapshots.path: snapshots.titles for snapshots in unused if not snapshots.whole}
    for function, group, rendered in prompts.by_file():
        path = prompts.path(function, group)
        changed = [prompt for prompt in rendered if prompt.status != "same"]
        result.unchanged += len(rendered) - len(changed)
        if changed or path in titles:
            try:
                _rewrite(prompts, path, _FileChanges(function, group, changed, titles.get(path, ())))
            except UsageError as error:
                result.mistakes[prompts.relative_path(path)] = str(error)
                continue
            result.written += len(changed)
            result.removed += len(titles.get(path, ()))
    for snapshots in unused:
        if snapshots.whole:
            try:
                _remove(snapshots.path)
            except OSError as error:
                result.mistakes[prompts.relative_path(snapshots.path)] = f"cannot be removed: {error.strerror or error}"
            else:
                result.removed += len(snapshots.titles)
    return result


@dataclass(frozen=True, slots=True)
class _FileChanges:
    """The changes in the file of a group of questions of a test function."""

    function: str
    group: str
    changed: Sequence[RenderedPrompt]
    removed: Sequence[str]


def _rewrite(prompts: RenderedPrompts, path: Path, changes: _FileChanges) -> None:
    """Rewrite a file with its changes. Raises UsageError."""
    try:
        sections = read_sections(path)
    except DamagedSnapshotError as error:
        declared = [id_ for id_, group in prompts.declared.get(changes.function, {}).items() if group == changes.group]
        if len(declared) > len(changes.changed):
            raise UsageError(f"{error}; restore the file, or update all prompts of the test function") from None
        sections = {}
    bodies = {title: body for title, body in sections.items() if title not in changes.removed}
    bodies |= {section_title(prompt.question): prompt.text for prompt in changes.changed}
    SnapshotFile(dotted_name(changes.function.partition("::")[2]), changes.group, bodies).write(path)


def _remove(path: Path) -> None:
    """Remove a file, and the folders that become empty."""
    path.unlink()
    for folder in path.parents:
        with suppress(OSError):
            folder.rmdir()
        if folder.name == FOLDER or folder.exists():
            return
