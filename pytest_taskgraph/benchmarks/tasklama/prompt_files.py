"""The prompts of the family: Jinja files of this package, or templates of the user in their place."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ...errors import UnknownNameError
from ..templates import files_of, render, source_of, template

if TYPE_CHECKING:
    from ..settings import Settings

FOLDER: Final = "tasklama"
"""The folder in --taskgraph-templates whose files replace the built-in prompts."""
_OURS: Final = Path(__file__).parent / "prompts"


def render_prompt(name: str, fields: Mapping[str, Any], settings: Settings) -> str:
    """Return the prompt of that name with the values of these fields.

    Args:
        name: The name of a file in `prompts`, without its suffix.
        fields: What the template sees.
        settings: Their folder of templates may hold `tasklama/NAME.jinja`, which is then taken.

    Raises:
        UsageError: if the template cannot be read or fails.
    """
    path = _own_files(settings.templates).get(name, _OURS / f"{name}.jinja")
    where = f"prompt {name}" if path.parent == _OURS else str(path)
    return render(source_of(path, "prompt"), dict(fields), where)


def check_prompt_files(settings: Settings) -> None:
    """Check that each prompt template of the user replaces a built-in one.

    Raises:
        UnknownNameError: if there is a template of another name.
        UsageError: if a file cannot be read, or is not Jinja.
    """
    ours = sorted(path.stem for path in _OURS.glob("*.jinja"))
    for name, path in _own_files(settings.templates).items():
        if name not in ours:
            raise UnknownNameError(f"prompt of {FOLDER}", name, ours)
        template(source_of(path, "prompt"), str(path))


def _own_files(templates: str) -> dict[str, Path]:
    return files_of(templates, FOLDER) if templates else {}
