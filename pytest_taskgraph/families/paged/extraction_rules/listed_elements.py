"""The elements of a document that rules find, as a model is asked to list them for the method of CIS.

The list says less than the sentences do: cue phrases are the few that `element_rules` knows, and a constraint stands
behind the activity that it is about.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ....workflow.procedural_graph import ProceduralGraph, ProceduralNode
from .clause_reader import read_mentions
from .condition_words import OTHERWISE
from .document_sentences import read_sentences
from .extracted_element import ExtractedElement
from .mentions import (
    ActionMention,
    ChoiceMention,
    EndMention,
    Lead,
    NothingMention,
    ParallelMention,
    ReturnMention,
    StatementMention,
    StepMention,
)
from .tree_builder import build_graph

_LEADS: Final[Mapping[Lead, str]] = {
    "start": "first",
    "parallel": "at the same time",
    "join": "in any case",
    "done": "once all are done",
    "exclusive": "either",
}
"""The cue phrases of statements; the list has no words for the other leads."""


def list_elements(document: str) -> list[ExtractedElement]:
    """Return the elements of a document in the order of the text; none if it states no action."""
    mentions = read_mentions(read_sentences(document))
    lister = _Lister(build_graph(mentions))
    for mention in mentions:
        if isinstance(mention, StatementMention):
            lister.add_statement(mention)
    return lister.elements


class _Lister:
    """Lists the elements of statements one by one.

    Args:
        graph: The graph of all statements: it knows which constraints an action has.
    """

    def __init__(self, graph: ProceduralGraph) -> None:
        self.elements: list[ExtractedElement] = []
        self._constraints = {
            (node.text, node.actor): list(_constraints(graph, node)) for node in graph.nodes_of("action")
        }
        self._listed: set[str] = set()  # the texts of activities

    def add_statement(self, statement: StatementMention) -> None:
        """List what a statement says; nothing of one that says that nothing is to be done."""
        if statement.steps and all(isinstance(step, NothingMention) for step in statement.steps):
            return
        if statement.lead == "within" and isinstance(statement.steps[0] if statement.steps else None, ActionMention):
            self._add_cue("then")
        elif cue := _LEADS.get(statement.lead):
            self._add_cue(cue)
        for condition in statement.conditions:
            if condition.otherwise:
                self._add_cue(OTHERWISE)
            if condition.text != OTHERWISE:
                self.elements.append(ExtractedElement("condition", condition.text))
        self._add_steps(statement.steps)

    def _add_steps(self, steps: Sequence[StepMention]) -> None:
        """List steps in sequence."""
        for at, step in enumerate(steps):
            if at:
                self._add_cue("then")
            self._add_step(step)

    def _add_step(self, step: StepMention) -> None:
        match step:
            case ActionMention():
                self._add_activity(step)
            case ReturnMention():
                is_listed = step.text in self._listed
                self._add_activity(ActionMention(step.text, step.action.actor) if is_listed else step.action)
            case EndMention():
                self.elements.append(ExtractedElement("end"))
            case ParallelMention():
                self._add_branches(step.branches, "at the same time")
            case ChoiceMention():
                self._add_cue("either" if step.sort == "exclusive" else "one or more of")
                self._add_branches(step.branches, "or")
            case NothingMention():
                pass

    def _add_branches(self, branches: Sequence[Sequence[StepMention]], cue: str) -> None:
        for at, branch in enumerate(branches):
            if at:
                self._add_cue(cue)
            self._add_steps(branch)

    def _add_activity(self, action: ActionMention) -> None:
        """List an activity, the first time with its constraints; not one that is only recalled."""
        if action.recalled and action.text in self._listed:
            return
        self._listed.add(action.text)
        self.elements.append(ExtractedElement("activity", action.text, action.actor))
        self.elements += self._constraints.pop((action.text, action.actor), [])

    def _add_cue(self, words: str) -> None:
        self.elements.append(ExtractedElement("gateway", words))


def _constraints(graph: ProceduralGraph, action: ProceduralNode) -> Iterator[ExtractedElement]:
    """Yield what an action needs and produces, and what is to be noted of it."""
    for flow in graph.incoming(action):
        if flow.source.sort == "data":
            yield ExtractedElement("needs", flow.source.text)
    for flow in graph.outgoing(action):
        if flow.target.is_constraint:
            yield ExtractedElement("produces" if flow.target.sort == "data" else "notice", flow.target.text)
