"""Settings that `@suite` states for its own questions.

They are read as the options of the same names are, and hold wherever the user of the run states nothing else.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from ..benchmarks.settings import Option, OptionValue, as_json
from ..errors import UnknownNameError, UsageError
from ..redaction import register
from ..retired import check_keyword, check_value
from .options import OPTIONS, SHARED, distinct_prompts, is_prompt_file, pairs, settings, settings_of_prompts

if TYPE_CHECKING:
    from ..benchmarks.family import Family
    from ..benchmarks.settings import Settings
    from ..trial import Json

MODEL_OPTIONS = "model_options"
OF_ALL_FAMILIES = ("prompt", "shots", "parsing", "pass-threshold")
"""The options of every run that a suite may state, too."""


class KeywordOption(Option):
    """An option as a keyword argument of `@suite`, which its messages name."""

    @property
    def flag(self) -> str:
        """Return what stands in the code."""
        return f"@suite(..., {keyword_of(self)}=...)"


@dataclass(frozen=True, slots=True)
class SuiteSettings:
    """The settings that hold for one suite.

    Args:
        prompts: The settings of its questions, once for each prompt template.
        model_options: The model options that it states and nobody outranks.
        stated: What it states and nobody outranks, by the name in records.
    """

    prompts: tuple[Settings, ...]
    model_options: Mapping[str, Json] = field(default_factory=dict)
    stated: Mapping[str, Json] = field(default_factory=dict)

    @property
    def notice(self) -> str:
        """Return what the suite sets, for the header; empty for nothing. Values that look like secrets are left out."""
        from ..results.record.json_values import public_settings

        shown = public_settings(self.stated)
        options = cast("Mapping[str, Json]", shown.pop("model_option", {}))
        return ", ".join(f"{name}={_shown(value)}" for name, value in [*shown.items(), *options.items()])


def keyword_of(option: Option) -> str:
    """Return the keyword argument of `@suite` that stands for an option."""
    return option.name.replace("-", "_")


def keyword_options(family: Family) -> dict[str, Option]:
    """Return the options that a suite of the family may state, by keyword; those that the family reads itself left out.

    These are its own, and those of OF_ALL_FAMILIES.
    """
    known = [*(OPTIONS[name] for name in OF_ALL_FAMILIES), *family.options]
    return {keyword_of(one): one for one in known if keyword_of(one) not in family.suite_options}


def check_keywords(family: Family, names: Sequence[str]) -> None:
    """Check that a suite of the family takes these keyword arguments.

    Raises:
        UsageError: for a name of before, with its new one.
        UnknownNameError: for any other that it does not take.
    """
    known = {*family.suite_options, *keyword_options(family), MODEL_OPTIONS}
    for name in names:
        if name not in known:
            check_keyword(name)
            raise UnknownNameError(f"option of @suite({family.name}, ...)", name, known)


def settings_of_suite(
    config: pytest.Config, family: Family, stated: Mapping[str, object], folder: Path
) -> SuiteSettings:
    """Return the settings that hold for a suite: the user's of the run, else the suite's, else the defaults.

    Args:
        config: The configuration of the run.
        family: The family of the suite.
        stated: The settings that the suite states, by keyword.
        folder: Where its relative paths start: the folder of its file.

    Raises:
        UsageError: for a value that the option would refuse.
    """
    base, found = settings(config), settings_of_prompts(config)
    given = dict(pairs(config, "model-option"))
    model_options = _model_options(stated.get(MODEL_OPTIONS, {}))
    register([model_options])
    model_options = {name: value for name, value in model_options.items() if name not in given}
    options = keyword_options(family)
    values = {options[name]: _read(options[name], value, folder) for name, value in stated.items() if name in options}
    kept = {option: value for option, value in values.items() if option.name not in base.given}
    shared = {SHARED[option.name]: value for option, value in kept.items() if option.name in SHARED}
    own = {option.name: value for option, value in kept.items() if option.name not in SHARED}
    if prompts := cast("tuple[str, ...]", shared.pop("prompt", ())):
        found = tuple(replace(base, prompt=one) for one in distinct_prompts(prompts, "@suite(..., prompt=...)"))
    changes = cast("dict[str, Any]", {**shared, **({"own": {**base.own, **own}} if own else {})})
    told = {keyword_of(option): as_json(value) for option, value in kept.items()}
    if model_options:
        told["model_option"] = model_options
    return SuiteSettings(tuple(replace(one, **changes) for one in found), model_options, told)


def check_settings(family: Family, found: SuiteSettings) -> None:
    """Check that the settings of a suite can be met, before anything is asked. Raises UsageError."""
    from ..benchmarks.contract import report_family_errors

    for one in found.prompts if found.stated else ():
        with report_family_errors(family, "check"):
            family.check(one)


def _read(option: Option, value: object, folder: Path) -> OptionValue:
    """Return the value that a suite states for an option, as the option reads it. Raises UsageError."""
    keyword = KeywordOption(**{one.name: getattr(option, one.name) for one in fields(Option)})
    texts = _texts(keyword, value)
    for text in texts:
        check_value(keyword.flag, option.name, text, option.choices)
    is_path = option.kind == "path"
    texts = [_placed(folder, one) if one and (is_path or _is_prompt_of(option, folder, one)) else one for one in texts]
    return keyword.read(texts)


def _texts(option: Option, value: object) -> list[str]:
    """Return the value as it would be typed."""
    if isinstance(value, Mapping):
        return [f"{key}={_text(option, one)}" for key, one in value.items()] or [""]
    if not isinstance(value, list | tuple):
        return [_text(option, value)]
    texts = [_text(option, one) for one in value] or [""]
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


def _placed(folder: Path, text: str) -> str:
    """Return the path as it would be typed where pytest runs, so that it is the same on every machine."""
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
    found: dict[str, Json] = {}
    for name, value in stated.items():
        if not isinstance(name, str) or not name.strip():
            raise UsageError(f"{where}: expected a text as the name of each option, found {type(name).__name__}")
        try:
            found[name] = json.loads(json.dumps(value, allow_nan=False))
        except (TypeError, ValueError):
            raise UsageError(f"{where}: {name}: {type(value).__name__}; expected a value of JSON") from None
    return found


def _shown(value: Json) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
