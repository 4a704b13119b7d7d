"""Settings that `@suite` states for its own questions.

They are parsed as the options of the same names, and apply unless the user of the run sets these options.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from ..benchmarks.option import Option, OptionValue, as_json
from ..errors import UnknownNameError, UsageError
from ..redaction import register
from .options import (
    OPTIONS,
    SHARED,
    distinct_prompts,
    in_grid,
    is_prompt_file,
    model_options,
    seeds,
    settings,
    settings_of_grid,
)

if TYPE_CHECKING:
    from ..benchmarks.family import Family
    from ..benchmarks.settings import Settings
    from ..trial import Json

MODEL_OPTIONS = "model_options"
OF_ALL_FAMILIES = ("prompt", "shots", "parsing", "pass-threshold")
"""The options of every run that a suite may state as well."""


class KeywordOption(Option):
    """Option as a keyword argument of `@suite`; its messages name the argument."""

    @property
    def flag(self) -> str:
        """Return the keyword argument as code."""
        return f"@suite(..., {keyword_of(self)}=...)"


@dataclass(frozen=True, slots=True)
class SuiteSettings:
    """The settings of one suite.

    Args:
        grid: The settings of its questions, once for each seed and prompt template.
        model_options: The model options of the suite that the user does not override.
        stated: The settings of the suite that the user does not override, by the name in records.
    """

    grid: tuple[Settings, ...]
    model_options: Mapping[str, Json] = field(default_factory=dict)
    stated: Mapping[str, Json] = field(default_factory=dict)

    @property
    def notice(self) -> str:
        """Return the settings of the suite, for the header; empty if it states none. Likely secrets are left out."""
        from ..results.record.json_values import public_settings

        recorded = public_settings(self.stated)
        options = cast("Mapping[str, Json]", recorded.pop("model_option", {}))
        return ", ".join(f"{name}={_as_text(value)}" for name, value in [*recorded.items(), *options.items()])


def keyword_of(option: Option) -> str:
    """Return the keyword argument of `@suite` that stands for an option."""
    return option.name.replace("-", "_")


def keyword_options(family: Family) -> dict[str, Option]:
    """Return the options that a suite of the family may state, by keyword, except those that the family reads itself.

    They are the options of the family, and those of OF_ALL_FAMILIES.
    """
    options = [*(OPTIONS[name] for name in OF_ALL_FAMILIES), *family.options]
    return {keyword_of(option): option for option in options if keyword_of(option) not in family.suite_options}


def check_keywords(family: Family, names: Sequence[str]) -> None:
    """Check that a suite of the family takes these keyword arguments.

    Raises:
        UnknownNameError: for a name that it does not take.
    """
    keywords = {*family.suite_options, *keyword_options(family), MODEL_OPTIONS}
    for name in names:
        if name not in keywords:
            raise UnknownNameError(f"option of @suite({family.name}, ...)", name, keywords)


def settings_of_suite(
    config: pytest.Config, family: Family, stated: Mapping[str, object], folder: Path
) -> SuiteSettings:
    """Return the settings of a suite: those of the user, else those of the suite, else the defaults.

    Args:
        config: The configuration of the run.
        family: The family of the suite.
        stated: The settings that the suite states, by keyword.
        folder: The folder of the suite's file, where its relative paths start.

    Raises:
        UsageError: for a value that the option would refuse.
    """
    base, grid = settings(config), settings_of_grid(config)
    of_suite = _model_options(stated.get(MODEL_OPTIONS, {}))
    register([of_suite])
    of_suite = {name: value for name, value in of_suite.items() if name not in model_options(config)}
    options = keyword_options(family)
    values = {options[name]: _read(options[name], value, folder) for name, value in stated.items() if name in options}
    effective = {option: value for option, value in values.items() if option.name not in base.given}
    shared = {SHARED[option.name]: value for option, value in effective.items() if option.name in SHARED}
    own = {option.name: value for option, value in effective.items() if option.name not in SHARED}
    if prompts := cast("tuple[str, ...]", shared.pop("prompt", ())):
        distinct = distinct_prompts(prompts, "@suite(..., prompt=...)")
        grid = in_grid(base, seeds(config), distinct)
    changes = cast("dict[str, Any]", {**shared, **({"own": {**base.own, **own}} if own else {})})
    recorded = {keyword_of(option): as_json(value) for option, value in effective.items()}
    if of_suite:
        recorded["model_option"] = of_suite
    return SuiteSettings(tuple(replace(cell, **changes) for cell in grid), of_suite, recorded)


def check_settings(family: Family, suite: SuiteSettings) -> None:
    """Check that the family accepts the settings of a suite. Raises UsageError."""
    from ..benchmarks.contract import report_family_errors

    for cell in suite.grid if suite.stated else ():
        with report_family_errors(family, "check"):
            family.check(cell)


def _read(option: Option, value: object, folder: Path) -> OptionValue:
    """Parse the value that a suite states for an option. Raises UsageError."""
    keyword = KeywordOption(*option)
    texts = _texts(keyword, value)
    is_path = option.kind == "path"
    return keyword.read(
        [
            _path_from_here(folder, text) if text and (is_path or _is_prompt_of(option, folder, text)) else text
            for text in texts
        ]
    )


def _texts(option: Option, value: object) -> list[str]:
    """Return the value as the user types it."""
    if isinstance(value, Mapping):
        return [f"{key}={_text(option, inner)}" for key, inner in value.items()] or [""]
    if not isinstance(value, list | tuple):
        return [_text(option, value)]
    texts = [_text(option, inner) for inner in value] or [""]
    return texts if option.repeatable else [",".join(texts)]


def _text(option: Option, value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float | os.PathLike):
        return str(value)
    raise UsageError(f"{option.flag}: {value!r:.100}; expected {option.metavar}")


def _is_prompt_of(option: Option, folder: Path, text: str) -> bool:
    """Return True if the value names the file of a prompt template."""
    return option.name == "prompt" and is_prompt_file(folder / text)


def _path_from_here(folder: Path, text: str) -> str:
    """Return the path relative to the working directory, so that it is the same on every machine."""
    path = folder / text
    try:
        return os.path.relpath(path)
    except ValueError:  # on another drive
        return str(path)


def _model_options(stated: object) -> dict[str, Json]:
    """Return model options as JSON. Values are never shown: one may be a key. Raises UsageError."""
    where = f"@suite(..., {MODEL_OPTIONS}=...)"
    if not isinstance(stated, Mapping):
        raise UsageError(f"{where}: {type(stated).__name__}; expected a mapping, such as {{'temperature': 0}}")
    options: dict[str, Json] = {}
    for name, value in stated.items():
        if not isinstance(name, str) or not name.strip():
            raise UsageError(f"{where}: expected a text as the name of each option, found {type(name).__name__}")
        try:
            options[name] = json.loads(json.dumps(value, allow_nan=False))
        except (TypeError, ValueError):
            raise UsageError(f"{where}: {name}: {type(value).__name__}; expected a JSON value") from None
    return options


def _as_text(value: Json) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
