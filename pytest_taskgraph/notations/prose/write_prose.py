"""Workflows as prose: the sentences stand in `prose.jinja`, this module sorts out what they are to tell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Literal

from ...workflow.model import END, START, Gateway, GatewayKind, Workflow
from ..phrases import listed, quote, say_binding, say_effect, say_parameter

if TYPE_CHECKING:
    from jinja2 import Template

Role = Literal["split", "join"]
GATEWAYS: dict[tuple[GatewayKind, Role], tuple[str, str]] = {  # kind and role -> what it is called, and what it does
    ("parallel", "split"): ("fork", "starts all of its branches"),
    ("parallel", "join"): ("join", "waits for all of its branches"),
    ("exclusive", "split"): ("exclusive choice", "takes exactly one of its branches"),
    ("exclusive", "join"): ("exclusive merge", "goes on as soon as one branch arrives"),
    ("inclusive", "split"): ("inclusive choice", "takes one or more of its branches"),
    ("inclusive", "join"): ("inclusive merge", "waits for all branches that were taken"),
}


@dataclass(frozen=True, slots=True)
class ProseStep:
    """What comes after a node, or after the start (None); several targets come side by side."""

    source: str | None
    targets: tuple[str, ...]
    guard: str | None
    ends: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """One level: a whole workflow, or the sub-workflow of the composite task to which the path leads."""

    path: tuple[str, ...]
    level: Workflow

    @property
    def subject(self) -> str:
        """How its sentences begin."""
        return "The sub-workflow" if self.path else "The workflow"

    @property
    def steps(self) -> Iterator[ProseStep]:
        """Its control flow; unguarded links out of a node that starts all its branches are told together."""
        terms = {one.name: f"the {_noun(one)} {quote(one.name)}" for one in self.level.gateways}
        choices = {one.name for one in self.level.gateways if one.kind != "parallel" and one.role == "split"}
        together: dict[tuple[str, str | None, int], list[str]] = {}
        for number, link in enumerate(self.level.links, 1):
            alone = link.guard is not None or link.target == END or link.source in choices
            together.setdefault((link.source, link.guard, alone * number), []).append(link.target)
        for (source, guard, _), targets in together.items():
            named = tuple(terms.get(name) or quote(name) for name in targets)
            start = None if source == START else terms.get(source) or quote(source)
            yield ProseStep(start, named, guard, ends=targets == [END])

    @property
    def flows(self) -> Iterator[tuple[str, str, list[str]]]:
        """Its data flow: task, "reads" or "writes", data."""
        tasks = set(self.level.task_names)
        found: dict[tuple[str, str], list[str]] = {}
        for link in self.level.data_links:
            key, data = (
                ((link.source, "writes"), link.target)
                if link.source in tasks
                else ((link.target, "reads"), link.source)
            )
            found.setdefault(key, []).append(data)
        yield from ((task, verb, data) for (task, verb), data in found.items())


def render(workflow: Workflow) -> str:
    """The prose of the workflow and of its others. Raises WorkflowError for a parameter that is not finite."""
    sections = [part for one in (workflow, *workflow.others) for part in _sections(one, ())]
    return _template().render(sections=sections)


def _sections(level: Workflow, path: tuple[str, ...]) -> Iterator[Section]:
    yield Section(path, level)
    for task in level.tasks:
        if task.subworkflow is not None:
            yield from _sections(task.subworkflow, (*path, task.name))


def _noun(gateway: Gateway) -> str:
    return GATEWAYS[gateway.kind, gateway.role][0]


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    room = Environment(trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
    room.filters |= {
        "quote": quote,
        "listed": listed,
        "parameter": say_parameter,
        "effect": say_effect,
        "binding": say_binding,
        "noun": _noun,
        "doing": lambda gateway: GATEWAYS[gateway.kind, gateway.role][1],
    }
    return room.from_string(files(__package__).joinpath("prose.jinja").read_text("utf-8"))
