"""Checks of what benchmark families return, so that a mistake in a family is reported precisely."""

from __future__ import annotations

import json
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..asking import type_in_words
from ..catalog import is_registered
from ..diagram import pack
from ..errors import TaskgraphError, UsageError
from ..family_description import FamilyDescription
from ..trial import Question
from .family import QuestionReference
from .option import FAMILY_KIND
from .settings import Settings

if TYPE_CHECKING:
    from ..trial import Json, Trial
    from .family import Family

_NUMBERS = ("seed", "instances", "parsing", "pass_threshold", "given")  # settings that every built-in family takes


def pack_diagram_pair(family: Family, trial: Trial) -> str:
    """Return the pair of diagrams of a parsed answer, packed; empty if the family draws none."""
    if trial.score is None or trial.score.status != "read":
        return ""
    pair = family.diagram_pair(trial.question, trial.score)
    return pack(pair.bounded().to_json()) if pair else ""


@contextmanager
def report_family_errors(family: Family, method: str) -> Iterator[None]:
    """Report any exception within the context as a mistake in a method of the family, with its place in the code.

    It is used for calls outside of tests, where no traceback is shown.

    Raises:
        UsageError: names the family, the method, the exception and its line; errors of this package pass unchanged.
    """
    try:
        yield
    except TaskgraphError:
        raise
    except (Exception, SystemExit) as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        raised = f"{type(error).__name__}: {error} ({Path(last.filename).name}:{last.lineno})"
        raise UsageError(f"the benchmark family {family.name!r}: {method} raised {raised}") from error


def check_settings(family: Family, settings: Settings) -> None:
    """Check that a family can meet the settings of the run, before it is known whether its questions are asked.

    Built-in families can meet settings that are the defaults but for numbers; so their modules are not loaded then.

    Raises:
        UsageError: if it cannot, or its check raises an exception.
    """
    numbers = {name: getattr(settings, name) for name in _NUMBERS}
    if settings == replace(Settings(), **numbers) and not is_registered(FAMILY_KIND, family.name):
        return
    with report_family_errors(family, "check"):
        family.check(settings)


def description_of(family: Family, settings: Settings) -> FamilyDescription:
    """Return the description that a family gives of itself.

    Raises:
        UsageError: if it raises an exception, or does not return a FamilyDescription under the name of the family.
    """
    with report_family_errors(family, "description"):
        described = family.description(settings)
    where = f"the benchmark family {family.name!r}: description"
    if not isinstance(described, FamilyDescription):
        raise UsageError(f"{where} returned {type_in_words(described)}; expected a FamilyDescription")
    if described.name != family.name:
        raise UsageError(f"{where} has the name {described.name!r}; expected {family.name!r}")
    return described


def stated_options(family: Family, settings: Settings) -> dict[str, Json]:
    """Return the values of the options of a family, for the record of a run.

    Raises:
        UsageError: if the family raises an exception, or a value cannot be written as JSON.
    """
    with report_family_errors(family, "stated"):
        stated = dict(family.stated(settings))
    try:
        json.dumps(stated, allow_nan=False)
    except (TypeError, ValueError) as error:
        mistake = f"stated returned what JSON cannot hold: {error}"
        raise UsageError(f"the benchmark family {family.name!r}: {mistake}") from None
    return stated


def question_set_of(family: Family, group: str) -> int | None:
    """Return the version of the question set that a group belongs to.

    Raises:
        UsageError: if the family raises an exception, or the version is not an integer or None.
    """
    with report_family_errors(family, f"question_set({group!r})"):
        version = family.question_set(group)
    if version is not None and not isinstance(version, int):
        mistake = f"question_set({group!r}) returned {version!r}; expected a whole number or None"
        raise UsageError(f"the benchmark family {family.name!r}: {mistake}")
    return version


def check_references(family: Family, returned: Iterable[QuestionReference]) -> list[QuestionReference]:
    """Return the references of a suite as a list.

    Raises:
        UsageError: if one is no QuestionReference, has an empty or duplicate id, or labels of other types.
    """
    where = f"the benchmark family {family.name!r}: references"
    if not isinstance(returned, Iterable):
        raise UsageError(f"{where} returned {type_in_words(returned)}; expected a list of QuestionReference")
    references, ids, labelled = list(returned), set(), {}
    for reference in references:
        if not isinstance(reference, QuestionReference):
            raise UsageError(f"{where} returned {type_in_words(reference)} in its list; expected a QuestionReference")
        if not (isinstance(reference.id, str) and reference.id):
            raise UsageError(f"{where} returned the id {reference.id!r}; expected a text that is not empty")
        if not isinstance(reference.group, str):
            raise UsageError(f"{where}, {reference.id!r}: the group is {reference.group!r}; expected a text")
        if reference.id in ids:
            raise UsageError(f"{where} returned the id {reference.id!r} twice; give each question an id of its own")
        ids.add(reference.id)
        labelled[id(reference.labels)] = reference  # many share one mapping
    for reference in labelled.values():
        if mistake := _label_mistake(reference.labels, (str, int, type(None))):
            raise UsageError(f"{where}, {reference.id!r}: {mistake}")
    return references


def check_notices(family: Family, returned: Iterable[str]) -> list[str]:
    """Return the notices of a family about a suite.

    Raises:
        UsageError: if they are not a list of texts.
    """
    if isinstance(returned, Iterable) and not isinstance(returned, str):
        notices = list(returned)
        if all(isinstance(notice, str) for notice in notices):
            return notices
    mistake = f"notices returned {type_in_words(returned)}; expected a list of texts"
    raise UsageError(f"the benchmark family {family.name!r}: {mistake}")


def check_question(family: Family, reference: QuestionReference, returned: Question) -> None:
    """Check that a family returned the question of the reference.

    Raises:
        UsageError: if it is no Question, has another id, family or group, or holds a value that no record can.
    """
    where = f"the benchmark family {family.name!r}: question({reference.id!r})"
    if not isinstance(returned, Question):
        raise UsageError(f"{where} returned {type_in_words(returned)}; expected a Question")
    expected = {"id": reference.id, "family": family.name, "group": reference.group}
    for name, value in expected.items():
        if getattr(returned, name) != value:
            raise UsageError(f"{where} has the {name} {getattr(returned, name)!r}; expected {value!r}")
    for name in ("section", "text", "prompt", "system"):
        if not isinstance(getattr(returned, name), str):
            raise UsageError(f"{where}: {name} is {type_in_words(getattr(returned, name))}; expected a text")
    if mistake := _label_mistake(returned.labels, (str, int)):
        raise UsageError(f"{where}: {mistake}")


def _label_mistake(labels: object, kinds: tuple[type, ...]) -> str:
    if not hasattr(labels, "items"):
        return f"labels are {type_in_words(labels)}; expected a mapping"
    for name, value in labels.items():
        if not isinstance(name, str) or not isinstance(value, kinds):
            return f"the label {name!r} has the value {value!r}; expected a text or a whole number"
    return ""
