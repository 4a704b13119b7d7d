"""Turn a finished draft into a workflow."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from random import Random

from ..workflow.model import Data, Link, Parameter, QualifiedName, Task, Workflow
from .draft import Draft, Node, Step


class Finish:
    """Makes workflows of drafts; those reached by name gather in `others`."""

    def __init__(self, wanted: Collection[str], rng: Random) -> None:
        self.wanted, self.rng = wanted, rng
        self.others: list[Workflow] = []

    def workflow(self, draft: Draft) -> Workflow:
        """Return the level as a workflow, everything declared in the order of the control flow."""
        tasks = [self._task(step) for step in draft.steps]
        data = [Data(datum.name, datum.description, datum.schema) for datum in draft.data]
        renumbered = self._renumbered(draft)

        def name(node: Node) -> str:
            return node.name if isinstance(node, Step) else renumbered.get(node, node)

        domains = draft.domains if "domains" in self.wanted else []
        return Workflow(
            draft.name,
            draft.package,
            draft.description,
            tuple(tasks),
            tuple(data),
            tuple(replace(gateway, name=renumbered[gateway.name]) for gateway in draft.gateways),
            tuple(Link(name(arc.source), name(arc.target), arc.guard) for arc in draft.arcs),
            tuple(link for datum in draft.data for link in datum.links()),
            tuple(Parameter(name, None, domain) for name, domain in domains),
        )

    def _task(self, step: Step) -> Task:
        inner = self.workflow(step.inner) if step.inner is not None else None
        reference = None
        if step.inner is not None and inner is not None and step.inner.referred:
            self.others.insert(0, inner)
            inner, reference = None, QualifiedName(step.inner.name)
        return Task(
            step.name,
            step.entry.description if step.described else "",
            step.entry.kind if step.classified else "",
            f"file://{step.name}.py" if step.implemented else "",
            tuple(step.parameters),
            tuple(step.effects),
            inner,
            reference,
            tuple((within.name, outside.name) for within, outside in step.bindings),
        )

    def _renumbered(self, draft: Draft) -> dict[str, str]:
        """Return new names for the gateways of a level: those they have, given out at random within each role."""
        new: dict[str, str] = {}
        for role in ("split", "join"):
            names = [gateway.name for gateway in draft.gateways if gateway.role == role]
            new.update(zip(names, self.rng.sample(names, len(names)), strict=True))
        return new
