"""The prompts that the suites of a session declare and render, and the snapshots that are unused.

Test functions declare their questions during collection, whatever is selected afterwards. Workers of xdist collect and
render, the controller decides: each prompt is sent with the report of its item, the rest with the output of the worker.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

from ...soundness.prompt_snapshots import (
    SUFFIX,
    DamagedSnapshotError,
    dotted_name,
    file_name,
    is_snapshot,
    read_sections,
    section_title,
    snapshot_folder,
)

Status = Literal["same", "changed", "missing", "damaged"]


@dataclass(frozen=True, slots=True)
class RenderedPrompt:
    """The prompt of one question.

    Args:
        function: The node id of the test function.
        question: The id of the question.
        group: The group of the question.
        status: The result of the comparison with its snapshot.
        digest: The digest of its section.
        text: Its section; empty if the snapshot is the same.
    """

    function: str
    question: str
    group: str
    status: Status
    digest: str
    text: str = ""

    def pack(self) -> str:
        """Return the prompt as text for another process."""
        return json.dumps(asdict(self))

    @classmethod
    def unpack(cls, text: str) -> RenderedPrompt:
        """Return the prompt that `pack` wrote."""
        return cls(**json.loads(text))


@dataclass(frozen=True, slots=True)
class UnusedSnapshots:
    """Unused snapshots in one file.

    Args:
        path: The file.
        titles: The titles of the sections.
        whole: True if the file has no other sections.
    """

    path: Path
    titles: tuple[str, ...]
    whole: bool


@dataclass(slots=True)
class RenderedPrompts:
    """The questions that the suites of a session declare, and the prompts that were rendered."""

    root: Path
    declared: dict[str, dict[str, str]] = field(default_factory=dict)
    """The questions of a test function by its node id: id to group."""
    functions: set[str] = field(default_factory=set)
    """All functions with suites, also those without questions."""
    modules: set[str] = field(default_factory=set)
    """The node ids of the test files that were collected."""
    rendered: dict[str, dict[str, RenderedPrompt]] = field(default_factory=dict)
    unsteady: list[RenderedPrompt] = field(default_factory=list)
    """Prompts that differ from another prompt of the same question."""

    def add(self, prompt: RenderedPrompt) -> None:
        """Note a prompt that was rendered."""
        first = self.rendered.setdefault(prompt.function, {}).setdefault(prompt.question, prompt)
        if first.digest != prompt.digest:
            self.unsteady.append(prompt)

    def pack(self) -> str:
        """Return the declarations as text for the controller."""
        return json.dumps([self.declared, sorted(self.functions), sorted(self.modules)])

    def unpack(self, text: str) -> None:
        """Add the declarations of another process."""
        declared, functions, modules = json.loads(text)
        self.declared.update(declared)
        self.functions.update(functions)
        self.modules.update(modules)

    def folder(self, function: str) -> Path:
        """Return the folder with the snapshots of a test function."""
        module, _, name = function.partition("::")
        return snapshot_folder(self.root / module, name)

    def path(self, function: str, group: str) -> Path:
        """Return the file with the snapshots of a group of questions of a test function."""
        return self.folder(function) / f"{file_name(group)}{SUFFIX}"

    def relative_path(self, path: Path) -> str:
        """Return a path relative to the root folder, as messages show it."""
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else path.as_posix()

    def by_file(self) -> Iterator[tuple[str, str, list[RenderedPrompt]]]:
        """Yield function, group and rendered prompts of each file."""
        for function, prompts in sorted(self.rendered.items()):
            groups: dict[str, list[RenderedPrompt]] = {}
            for prompt in prompts.values():
                groups.setdefault(prompt.group, []).append(prompt)
            for group, rendered in sorted(groups.items()):
                yield function, group, rendered

    def is_whole(self, function: str) -> bool:
        """Return True if each question of the function was rendered."""
        return self.declared.get(function, {}).keys() == self.rendered.get(function, {}).keys()

    def unused(self, folders: Collection[Path]) -> Iterator[UnusedSnapshots]:
        """Yield the unused snapshots: of test functions that ran completely, or do not exist any more.

        Args:
            folders: Folders whose test files were all collected: snapshots there without a test file are unused, too.
        """
        collected = {snapshot_folder(self.root / module): module for module in self.modules}
        for folder, module in sorted(collected.items()):
            yield from self._unused_of_module(folder, module)
        for parent in sorted({folder.parent for folder in collected}):
            if any(parent.is_relative_to(folder) for folder in folders):
                for folder in _folders(parent):
                    if folder not in collected and not (parent.parent / f"{folder.name}.py").exists():
                        yield from _whole_files(folder.rglob(f"*{SUFFIX}"))

    def _unused_of_module(self, folder: Path, module: str) -> Iterator[UnusedSnapshots]:
        own = (function for function in {*self.functions, *self.declared} if function.partition("::")[0] == module)
        by_folder = {file_name(dotted_name(function.partition("::")[2])): function for function in own}
        for inner in _folders(folder):
            function = by_folder.get(inner.name)
            if function is None:
                yield from _whole_files(inner.glob(f"*{SUFFIX}"))
            elif function in self.declared and self.is_whole(function):
                yield from self._unused_of_function(inner, function)

    def _unused_of_function(self, folder: Path, function: str) -> Iterator[UnusedSnapshots]:
        used: dict[str, set[str]] = {}
        for question, group in self.declared[function].items():
            used.setdefault(self.path(function, group).name, set()).add(section_title(question))
        for path in sorted(folder.glob(f"*{SUFFIX}")):
            if path.name not in used:
                yield from _whole_files([path])
                continue
            try:
                titles = [title for title in read_sections(path) if title not in used[path.name]]
            except DamagedSnapshotError:
                continue  # reported by its items
            if titles:
                yield UnusedSnapshots(path, tuple(titles), whole=False)


def _folders(folder: Path) -> list[Path]:
    """Return the folders in a folder, sorted; none if it does not exist."""
    return sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []


def _whole_files(paths: Iterator[Path] | Collection[Path]) -> Iterator[UnusedSnapshots]:
    for path in sorted(paths):
        if is_snapshot(path):
            try:
                titles = tuple(read_sections(path))
            except DamagedSnapshotError:
                titles = ()
            yield UnusedSnapshots(path, titles, whole=True)
