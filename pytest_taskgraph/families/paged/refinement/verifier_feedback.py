"""What the verifiers of a procedural graph report, and the message to the model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from ....benchmarks.settings import Settings
from ....benchmarks.templates import render
from ....workflow.procedural_graph import ProceduralGraph, ProceduralNode
from ..documents.procedure_parts import PartBranch, ProcedurePart, ProcedureParts, find_parts
from ..prompts import PROMPTS

FeedbackKind = Literal["inclusive", "exclusive", "parallel", "sequential"]
FEEDBACK_PROMPT: Final = "feedback"
MOST_FEEDBACK: Final = 6  # of a message


@dataclass(frozen=True, slots=True)
class VerifierFeedback:
    """What seems wrong with a part of a graph.

    Args:
        kind: What the part is, as the paper names its templates: an "exclusive" gateway of conditions that do not
            conflict, an "inclusive" one of conflicting conditions, a "parallel" one of actions on one object, or
            "sequential" actions on different objects.
        gateway: The name of the split; empty if it has none.
        join: The name of its join; empty if it has none.
        phrases: The conditions or the actions.
        size: The number of flows between the split and its join.
    """

    kind: FeedbackKind
    gateway: str
    join: str
    phrases: tuple[str, ...]
    size: int = 0

    @property
    def verifier(self) -> Literal["condition", "parallel"]:
        """The verifier that found it."""
        return "condition" if self.kind in ("exclusive", "inclusive") else "parallel"


@dataclass(frozen=True, slots=True)
class Slab:
    """A split with its join and what is between them.

    Args:
        part: The split, its ways out and its join.
        actions: The actions of each branch.
        size: The number of flows between split and join.
    """

    part: ProcedurePart
    actions: tuple[tuple[ProceduralNode, ...], ...]
    size: int


def find_slabs(graph: ProceduralGraph) -> list[Slab]:
    """Return the splits of a graph that are gateways, the smallest first.

    Where no join ends a split, a branch is taken to hold the first of its actions alone.
    """
    walk = find_parts(graph)
    actions: dict[PartBranch, dict[ProceduralNode, None]] = {}
    sizes: dict[ProceduralNode, int] = {}
    for flow, branches in walk.walked.items():
        for branch in branches:
            sizes[branch.split] = sizes.get(branch.split, 0) + 1
            if flow.target.sort == "action":
                actions.setdefault(branch, {})[flow.target] = None
    slabs = [_slab(walk, split, actions, sizes) for split in walk.parts if split.is_gateway]
    return sorted(slabs, key=lambda slab: slab.size)


def _slab(
    parts: ProcedureParts,
    split: ProceduralNode,
    actions: dict[PartBranch, dict[ProceduralNode, None]],
    sizes: dict[ProceduralNode, int],
) -> Slab:
    part = parts.parts[split]
    branches = (tuple(actions.get(PartBranch(split, number), ())) for number in range(len(part.ways)))
    own = tuple(nodes if part.join is not None else nodes[:1] for nodes in branches)
    return Slab(part, own, sizes.get(split, 0))


def gateway_feedback(kind: FeedbackKind, slab: Slab, phrases: Sequence[str]) -> VerifierFeedback:
    """Return feedback on the split of a slab."""
    join = slab.part.join.text if slab.part.join is not None else ""
    return VerifierFeedback(kind, slab.part.split.text, join, tuple(phrases), slab.size)


def order_feedback(feedback: Iterable[VerifierFeedback]) -> list[VerifierFeedback]:
    """Return the feedback that a message has room for: that on gateways first, and of the smallest parts first."""
    return sorted(feedback, key=lambda feedback: (not feedback.gateway, feedback.size))[:MOST_FEEDBACK]


def feedback_template(settings: Settings) -> str:
    """Return the template of the message: the user's, else the built-in one.

    Raises:
        UsageError: if the user's template cannot be read.
    """
    return PROMPTS.source(FEEDBACK_PROMPT, settings)


def feedback_message(feedback: Sequence[VerifierFeedback], template: str, with_marker: bool = False) -> str:
    """Return the message that states feedback and asks for the graph again.

    Args:
        feedback: The feedback, in order.
        template: The template.
        with_marker: Whether the graph is to stand behind the marker of final answers.

    Raises:
        UsageError: if the template fails.
    """
    return render(template, {"feedback": list(feedback), "marked": with_marker}, f"prompt {FEEDBACK_PROMPT}")
