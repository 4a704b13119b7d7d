"""Fixed sets of prompts: a family's own Jinja files, which a user's templates may replace."""

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
        path: The folder of the built-in files.
    """

    name: str
    path: Path

    def render(self, name: str, fields: Mapping[str, Any], settings: Settings) -> str:
        """Return the prompt of that name with the values of these fields.

        Args:
            name: The name of a built-in file, without its suffix.
            fields: The variables of the template.
            settings: Settings whose folder of templates may hold a file of that name, which is then used.

        Raises:
            UsageError: if the template cannot be read or fails.
        """
        path = self._path_of(name, settings)
        where = f"prompt {name}" if path.parent == self.path else str(path)
        return render(source_of(path, "prompt"), dict(fields), where)

    def source(self, name: str, settings: Settings) -> str:
        """Return the source of the template of that name, for an episode that renders it later.

        Args:
            name: The name of a built-in file, without its suffix.
            settings: Settings whose folder of templates may hold a file of that name, which is then used.

        Raises:
            UsageError: if the template cannot be read.
        """
        return source_of(self._path_of(name, settings), "prompt")

    def check(self, settings: Settings) -> None:
        """Check that each template of the user replaces a built-in one.

        Raises:
            UnknownNameError: if there is a template of another name.
            UsageError: if a file cannot be read, or is not Jinja.
        """
        built_in = sorted(path.stem for path in self.path.glob("*.jinja"))
        for name, path in self._user_files(settings).items():
            if name not in built_in:
                raise UnknownNameError(f"prompt of {self.name}", name, built_in)
            template(source_of(path, "prompt"), str(path))

    def _path_of(self, name: str, settings: Settings) -> Path:
        return self._user_files(settings).get(name, self.path / f"{name}.jinja")

    def _user_files(self, settings: Settings) -> dict[str, Path]:
        return files_of(settings.templates, self.name) if settings.templates else {}
