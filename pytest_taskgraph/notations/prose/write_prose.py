"""The writer of prose: `prose.jinja` has the sentences, this module prepares their content."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Literal

from ...workflow.model import END, START, Gateway, GatewayKind, Workflow
from ..phrases import binding_phrase, duration_phrase, effect_phrase, join_words, parameter_phrase, quote

if TYPE_CHECKING:
    from jinja2 import Template

Role = Literal["split", "join"]
GATEWAYS: dict[tuple[GatewayKind, Role], tuple[str, str]] = {  # kind and role -> noun and verb phrase
    ("parallel", "split"): ("fork", "starts all of its branches"),
    ("parallel", "join"): ("join", "waits for all of its branches"),
    ("exclusive", "split"): ("exclusive choice", "takes exactly one of its branches"),
    ("exclusive", "join"): ("exclusive merge", "goes on as soon as one branch arrives"),
    ("inclusive", "split"): ("inclusive choice", "takes one or more of its branches"),
    ("inclusive", "join"): ("inclusive merge", "waits for all branches that were taken"),
}


@dataclass(frozen=True, slots=True)
class ProseStep:
    """The nodes that come after a node, or after the start (None); several targets come side by side."""

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
        """Return the words with which its sentences begin."""
        return "The sub-workflow" if self.path else "The workflow"

    @property
    def steps(self) -> Iterator[ProseStep]:
        """Yield its control flow; unguarded links out of a node that starts all its branches form one step."""
        terms = self._terms
        choices = {
            gateway.name for gateway in self.level.gateways if gateway.kind != "parallel" and gateway.role == "split"
        }
        groups: dict[tuple[str, str | None, int], list[str]] = {}
        for number, link in enumerate(self.level.links, 1):
            alone = link.guard is not None or link.target == END or link.source in choices
            groups.setdefault((link.source, link.guard, alone * number), []).append(link.target)
        for (source, guard, _), targets in groups.items():
            target_terms = tuple(terms.get(name) or quote(name) for name in targets)
            start = None if source == START else terms.get(source) or quote(source)
            yield ProseStep(start, target_terms, guard, ends=targets == [END])

    @property
    def exceptions(self) -> Iterator[tuple[str, str]]:
        """Yield its exceptional links: a task, and the term of what comes if the task fails, "" for END."""
        for link in self.level.exceptional_links:
            target = self._terms.get(link.target) or quote(link.target)
            yield link.source, "" if link.target == END else target

    @property
    def _terms(self) -> dict[str, str]:
        """Return the terms of the gateways: their nouns and names."""
        return {gateway.name: f"the {_gateway_noun(gateway)} {quote(gateway.name)}" for gateway in self.level.gateways}

    @property
    def flows(self) -> Iterator[tuple[str, str, list[str]]]:
        """Yield its data flow: task, "reads" or "writes", data."""
        tasks = set(self.level.task_names)
        data_by_task: dict[tuple[str, str], list[str]] = {}
        for link in self.level.data_links:
            key, data = (
                ((link.source, "writes"), link.target)
                if link.source in tasks
                else ((link.target, "reads"), link.source)
            )
            data_by_task.setdefault(key, []).append(data)
        yield from ((task, verb, data) for (task, verb), data in data_by_task.items())


def render(workflow: Workflow) -> str:
    """Return the prose of the workflow and of its others.

    Raises:
        WorkflowError: for a parameter that is not finite.
    """
    sections = [part for whole in (workflow, *workflow.others) for part in _sections(whole, ())]
    return _template().render(sections=sections)


def _sections(level: Workflow, path: tuple[str, ...]) -> Iterator[Section]:
    yield Section(path, level)
    for task in level.tasks:
        if task.subworkflow is not None:
            yield from _sections(task.subworkflow, (*path, task.name))


def _gateway_noun(gateway: Gateway) -> str:
    return GATEWAYS[gateway.kind, gateway.role][0]


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
    environment.filters |= {
        "quote": quote,
        "join_words": join_words,
        "parameter": parameter_phrase,
        "effect": effect_phrase,
        "binding": binding_phrase,
        "duration": duration_phrase,
        "noun": _gateway_noun,
        "doing": lambda gateway: GATEWAYS[gateway.kind, gateway.role][1],
    }
    return environment.from_string(files(__package__).joinpath("prose.jinja").read_text("utf-8"))
