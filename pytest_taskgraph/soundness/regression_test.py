"""The regression test of a question that a model answered wrongly: a suite to paste, and the files that it reads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..errors import UsageError

if TYPE_CHECKING:
    from ..benchmarks.family import Family
    from ..benchmarks.instances import Instance

PACKAGE: Final = __name__.partition(".")[0]
WIDTH: Final = 100
"""Characters of one line of a long text in the test."""


def regression_test(family: Family, instance: Instance, model: str) -> dict[str, str]:
    """Return the text of a test module that asks the question of an instance, and the files that it reads.

    Args:
        family: The family of the question.
        instance: The question, with the files and the keyword arguments of a suite that asks it.
        model: The model that answered wrongly, as `--taskgraph-model` names it.

    Returns:
        Texts by file name, the test module first. All are to lie in one folder.
    """
    name = f"test_{re.sub(r'[^0-9A-Za-z]+', '_', instance.question.group).strip('_').lower()}_shrunk"
    imported, known_as = _import_of(family)
    stated = "".join(f"    {keyword}={_literal(value)},\n" for keyword, value in instance.suite.items())
    module = f"{name}.py"
    lines = [
        f'"""A question that a model answered wrongly, as small as it became by {PACKAGE}."""\n',
        f"# python -m pytest {module} --taskgraph-model MODEL",
        f"# MODEL was {model!r}.\n",
        *(["from pytest_taskgraph import Trial, suite", imported] if imported else
          [f"from pytest_taskgraph import Trial, suite, {known_as}"]),
        "\n",
        f"@suite(\n    {known_as},\n{stated})",
        f"def {name}(trial: Trial) -> None:",
        '    """The model answers the smallest question that it was found to answer wrongly."""',
        "    trial.check()",
        "",
    ]  # fmt: skip
    return {module: "\n".join(lines), **instance.files}


def write_files(files: Mapping[str, str], folder: Path) -> list[Path]:
    """Write files into a folder, creating it if it is missing, and return their paths.

    Raises:
        UsageError: if a file of that name has other content, or cannot be written; in the first case none is changed.
    """
    paths = {folder / name: text for name, text in files.items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in paths.items():
            if path.exists() and path.read_bytes() != text.encode("utf-8"):
                raise UsageError(f"{path}: has other content; remove it, or name another folder")
        for path, text in paths.items():
            path.write_bytes(text.encode("utf-8"))
    except OSError as error:
        raise UsageError(f"{error.filename or folder}: cannot be written: {error.strerror or error}") from None
    return list(paths)


def _import_of(family: Family) -> tuple[str, str]:
    """Return the line that imports a family, empty for one of this package, and its name there."""
    module = type(family).__module__
    if module.partition(".")[0] == PACKAGE:
        return "", family.name
    from sys import modules

    held = vars(modules[module]) if module in modules else {}
    name = next((name for name, value in held.items() if value is family and name.isidentifier()), "")
    if name:
        return f"from {module} import {name}", name
    return f"from {PACKAGE}.families import FAMILIES", f"FAMILIES[{family.name!r}]"


def _literal(value: object) -> str:
    """Return a value as a Python literal; a long text on several lines."""
    if not isinstance(value, str) or len(value) <= WIDTH:
        return repr(value)
    parts = [value[start : start + WIDTH] for start in range(0, len(value), WIDTH)]
    return "".join(["(\n", *(f"        {part!r}\n" for part in parts), "    )"])
