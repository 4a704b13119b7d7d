"""The prompts of a family that has a fixed set of them: Jinja files of its own, or templates of the user instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UnknownNameError
from .templates import files_of, render, source_of, template

if TYPE_CHECKING:
    from .settings import Settings


@dataclass(frozen=True, slots=True)
class PromptFolder:
    """A folder of Jinja files, each of which is a prompt.

    Args:
        name: The folder in --taskgraph-templates whose files replace the built-in ones.
        path: The folder of the built-in ones.
    """

    name: str
    path: Path

    def render(self, name: str, fields: Mapping[str, Any], settings: Settings) -> str:
        """Return the prompt of that name with the values of these fields.

        Args:
            name: The name of a built-in file, without its suffix.
            fields: What the template sees.
            settings: Their folder of templates may hold a file of that name, which is then taken.

        Raises:
            UsageError: if the template cannot be read or fails.
        """
        path = self._chosen(name, settings)
        where = f"prompt {name}" if path.parent == self.path else str(path)
        return render(source_of(path, "prompt"), dict(fields), where)

    def source(self, name: str, settings: Settings) -> str:
        """Return the template of that name, for an episode that renders it later.

        Args:
            name: The name of a built-in file, without its suffix.
            settings: Their folder of templates may hold a file of that name, which is then taken.

        Raises:
            UsageError: if the template cannot be read.
        """
        return source_of(self._chosen(name, settings), "prompt")

    def check(self, settings: Settings) -> None:
        """Check that each prompt template of the user replaces a built-in one.

        Raises:
            UnknownNameError: if there is a template of another name.
            UsageError: if a file cannot be read, or is not Jinja.
        """
        ours = sorted(path.stem for path in self.path.glob("*.jinja"))
        for name, path in self._replaced(settings).items():
            if name not in ours:
                raise UnknownNameError(f"prompt of {self.name}", name, ours)
            template(source_of(path, "prompt"), str(path))

    def _chosen(self, name: str, settings: Settings) -> Path:
        return self._replaced(settings).get(name, self.path / f"{name}.jinja")

    def _replaced(self, settings: Settings) -> dict[str, Path]:
        return files_of(settings.templates, self.name) if settings.templates else {}
