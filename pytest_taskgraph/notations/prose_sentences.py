"""The sentences of prose: for each its pattern, an example, and what it tells of a level."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .prose_level import (
    Teller,
    add_to_task,
    binding,
    contain,
    declare,
    declare_gateway,
    effect,
    link,
    link_data,
    parameter,
    refer,
    tell_data,
    tell_level,
    tell_task,
)
from .prose_writer import GATEWAYS

NAME = r"'(?:[^'\\\n]|\\.)*'"
_NODE = rf"(?:the (?:task|fork|join|(?:exclusive|inclusive) (?:choice|merge)) )?{NAME}"
_NAMES = rf"{NAME}(?:, {NAME})*(?: and {NAME})?"
_NODES = rf"{_NODE}(?:, {_NODE})*(?: and {_NODE})?"
_IF = rf"(?: if (?P<guard>{NAME})|(?P<otherwise> otherwise))?"
_IT = r"The (?:sub-)?workflow"
_TASK = rf"The task (?P<task>{NAME})"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A kind of sentence: its pattern, what it tells, and how one looks."""

    pattern: re.Pattern[str]
    tell: Teller
    example: str


def _sentence(pattern: str, tell: Teller, example: str) -> Sentence:
    return Sentence(re.compile(pattern + r"\."), tell, example)


SENTENCES: tuple[Sentence, ...] = (
    _sentence(rf"{_IT} is called (?P<text>{NAME})", tell_level("name"), "The sub-workflow is called 'W'."),
    _sentence(
        rf"{_IT} belongs to the package (?P<text>{NAME})",
        tell_level("package"),
        "The workflow belongs to the package 'p'.",
    ),
    _sentence(
        rf"{_IT} is described as (?P<text>{NAME})", tell_level("description"), "The workflow is described as 'text'."
    ),
    _sentence(
        rf"{_IT} has the parameter (?P<phrase>.+)",
        lambda level, found: level.parameters.append(parameter(found)),
        "The workflow has the parameter 'n', set to 1, a whole number from 0 to 9.",
    ),
    _sentence(
        rf"{_IT} has the (?P<what>tasks?|data) (?P<names>{_NAMES})", declare, "The workflow has the tasks 'A' and 'B'."
    ),
    _sentence(
        rf"{_TASK} is described as (?P<text>{NAME})", tell_task("description"), "The task 'A' is described as 'text'."
    ),
    _sentence(rf"{_TASK} is of the kind (?P<text>{NAME})", tell_task("kind"), "The task 'A' is of the kind 'k'."),
    _sentence(
        rf"{_TASK} is implemented by (?P<text>{NAME})",
        tell_task("implementation"),
        "The task 'A' is implemented by 'a.py'.",
    ),
    _sentence(
        rf"{_TASK} has the parameter (?P<phrase>.+)",
        add_to_task("parameters", parameter),
        "The task 'A' has the parameter 'n', set to 1, a whole number from 0 to 9.",
    ),
    _sentence(
        rf"{_TASK} sets (?P<phrase>.+)",
        add_to_task("effects", effect),
        "The task 'A' sets 'n' to 'n + 1'.",
    ),
    _sentence(
        rf"{_TASK} is composite and consists of a sub-workflow told below",
        contain,
        "The task 'A' is composite and consists of a sub-workflow told below.",
    ),
    _sentence(
        rf"{_TASK} is composite and uses the workflow (?P<text>{NAME})(?: of the package (?P<package>{NAME}))?",
        refer,
        "The task 'A' is composite and uses the workflow 'W'.",
    ),
    _sentence(
        rf"Inside the task (?P<task>{NAME}), the data (?P<phrase>.+)",
        add_to_task("bindings", binding),
        "Inside the task 'A', the data 'Inner' stands for 'Outer'.",
    ),
    _sentence(
        rf"The data (?P<data>{NAME}) is described as (?P<text>{NAME})",
        tell_data("description"),
        "The data 'D' is described as 'text'.",
    ),
    _sentence(
        rf"The data (?P<data>{NAME}) has the schema (?P<text>{NAME})",
        tell_data("schema"),
        "The data 'D' has the schema 'd.json'.",
    ),
    *(
        _sentence(rf"The {noun} (?P<names>{NAME}) {doing}", declare_gateway(kind, role), f"The {noun} 'G' {doing}.")
        for (kind, role), (noun, doing) in GATEWAYS.items()
    ),
    _sentence(rf"{_IT} ends right after its start{_IF}", link, "The workflow ends right after its start."),
    _sentence(
        rf"{_IT} starts with (?P<targets>{_NODES}){_IF}(?:, side by side)?", link, "The workflow starts with 'A'."
    ),
    _sentence(rf"After (?P<source>{_NODE}), the (?:sub-)?workflow ends{_IF}", link, "After 'A', the workflow ends."),
    _sentence(
        rf"After (?P<source>{_NODE}) comes? (?P<targets>{_NODES}){_IF}(?:, side by side)?",
        link,
        "After 'A' comes 'B' if 'n < 3'.",
    ),
    _sentence(rf"{_TASK} (?P<verb>reads|writes) (?P<names>{_NAMES})", link_data, "The task 'A' reads 'D'."),
)
