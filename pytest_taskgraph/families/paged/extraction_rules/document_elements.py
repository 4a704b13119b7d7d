"""The elements of a document that a model extracts, in the order of the text, and the graph that rules build of them.

So does CIS (Bellan et al. 2022): a language model finds the elements, hand-written rules construct the graph. In a
reply an element is a line "kind: text", an activity with its actor behind a bar:

    activity: pack the parcel | customer
    condition: the goods are damaged
    gateway: otherwise
    needs: delivery note
    produces: receipt
    notice: the emergency exits stay free
    end

The rules by which elements become statements, from which `tree_builder` builds a graph:

- A condition is about the activity behind it, and about those that "then" or "and" adds.
- "otherwise" is a condition; one that follows it is about the same branch.
- "at the same time" puts the next activity beside the previous activity.
- "or" makes the activities around it alternatives; "one or more of" all those up to the next cue, of which several may
  be chosen.
- "in any case", "after that" and the like lead behind the branches.
- A constraint is of the activity before it, and does not end what "then" adds to.

Rules find elements as well, as a model is asked to list them. That list says less than the sentences do: cue phrases
are the few that are known here, and a constraint stands behind the activity that it is about.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from ....workflow.procedural_graph import ProceduralGraph, ProceduralNode
from .clause_reader import read_mentions
from .document_sentences import (
    ActionMention,
    ChoiceMention,
    ConditionMention,
    ConstraintMention,
    EndMention,
    Lead,
    Mention,
    NothingMention,
    ParallelMention,
    ReturnMention,
    StatementMention,
    StepMention,
    read_sentences,
)
from .tree_builder import build_graph
from .verb_lexicon import OTHERWISE

ElementKind = Literal["activity", "condition", "gateway", "needs", "produces", "notice", "end"]
Cue = Literal["otherwise", "parallel", "done", "join", "next", "exclusive", "inclusive", "or", "start", ""]
_WORDS: Final[Mapping[Cue, str]] = {  # the first that is found decides
    "otherwise": "otherwise|else|if not|in (?:the|all) other cases?",
    "parallel": "at the same time|meanwhile|in the meantime|parallel|simultaneously|concurrently|while",
    "inclusive": "one or more|any of|at least one|inclusive",
    "done": "(?:once|when|after) (?:both|all|everything)",
    "join": "(?:any|either|both|all) (?:of these )?cases?|once|after|afterwards|finally|regardless|in the end|next",
    "exclusive": "either|one of|exclusive",
    "or": "and/or|or|alternatively",
    "start": "beginning|first|start|initially",
    "next": "then|and|followed",
}
_CUES: Final = {cue: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for cue, words in _WORDS.items()}
MOST_ELEMENTS: Final = 1_000
LONGEST_REPLY: Final = 100_000  # characters that are read
LONGEST_ELEMENT: Final = 300  # characters of a text
FORMAT: Final = """\
activity: what is done, as an imperative without its actor | who does it
condition: a condition, without "if"
gateway: words that say how activities are connected, such as: otherwise, at the same time, either, in any case, then
needs: data that the activity before needs
produces: data that the activity before produces
notice: what to pay attention to in the activity before
end
"""
"""The lines of a reply, for prompts."""
_KINDS: Final[dict[str, ElementKind]] = {
    "activity": "activity", "activities": "activity", "action": "activity", "task": "activity", "step": "activity",
    "condition": "condition", "if": "condition",
    "gateway": "gateway", "cue": "gateway", "connector": "gateway",
    "needs": "needs", "need": "needs", "requires": "needs", "input": "needs", "data": "needs",
    "produces": "produces", "produce": "produces", "output": "produces",
    "notice": "notice", "note": "notice", "constraint": "notice",
    "end": "end",
}  # fmt: skip
_PREFIX = re.compile(r"^[\s>#]*(?:(?:[-*•+]|\(?\d{1,4}[.):])\s+)*")
_LINE = re.compile(r"[\"'`]?(?P<kind>[A-Za-z]{2,12})\s*(?:\d{1,4}\s*)?[\"'`]?\s*[:=]\s*(?P<text>.*)")
_ENDS = re.compile(r"[\"'`]?(?:end|the (?:procedure|process) ends?)[\"'`]?[\s.:|]*", re.IGNORECASE)
_NO_ACTOR = frozenset(("", "-", "–", "none", "n/a", "unknown", "no actor", "not stated", "null", "nobody"))
_EDGES: Final = " \t\"'`“”,;"
_LEADS: Final[Mapping[Lead, str]] = {
    "start": "first",
    "parallel": "at the same time",
    "join": "in any case",
    "done": "once all are done",
    "exclusive": "either",
}
"""The cue phrases of statements; the list has no words for the other leads."""


@dataclass(frozen=True, slots=True)
class ExtractedElement:
    """An element.

    Args:
        kind: "gateway" is a cue phrase that connects activities; "needs", "produces" and "notice" are of the activity
            before.
        text: Its words; empty for "end".
        actor: Who does an activity; empty if that is not stated.
    """

    kind: ElementKind
    text: str = ""
    actor: str = ""


def cue_of(words: str) -> Cue:
    """Return what the cue phrase of a gateway means; nothing if no known word is in it."""
    return next((cue for cue, pattern in _CUES.items() if pattern.search(words)), "")


def mentions_of_elements(elements: Sequence[ExtractedElement]) -> Iterator[Mention]:
    """Yield what the elements say, statement by statement."""
    reader = _ElementReader()
    for element in elements:
        yield from reader.read(element)
    yield from reader.flush()


class _ElementReader:
    """Gathers the elements of a statement until the next one begins."""

    def __init__(self) -> None:
        self._steps: list[StepMention] = []
        self._conditions: list[ConditionMention] = []
        self._lead: Lead = ""
        self._linked = False  # whether a cue adds the next activity to the statement
        self._alternative = False  # whether a cue makes the next activity an alternative to the previous one
        self._choice: Literal["", "exclusive", "inclusive"] = ""  # of which the next activities are alternatives
        self._action = ActionMention("")  # the last one
        self._constraints: list[ConstraintMention] = []  # of the statement

    def read(self, element: ExtractedElement) -> Iterator[Mention]:
        """Yield the statements that are complete before an element."""
        match element.kind:
            case "activity":
                yield from self._activity(ActionMention(element.text, element.actor))
            case "condition":
                yield from self._condition(element.text)
            case "gateway":
                yield from self._gateway(cue_of(element.text))
            case "end":
                self._steps.append(EndMention())
                yield from self.flush()
            case "notice":
                self._constrain("notice", element.text)
            case "needs" | "produces":
                self._constrain("data", element.text, produced=element.kind == "produces")

    def flush(self) -> Iterator[Mention]:
        """Yield the statement so far, if there is one."""
        if self._steps or self._conditions:
            yield StatementMention(tuple(self._steps), tuple(self._conditions), self._lead)
        yield from self._constraints
        self._steps, self._conditions, self._constraints, self._lead = [], [], [], ""
        self._linked, self._alternative, self._choice = False, False, ""

    def _constrain(self, sort: Literal["data", "notice"], text: str, produced: bool = False) -> None:
        """Keep a constraint of the last activity."""
        action = self._action
        self._constraints.append(ConstraintMention(sort, text, action.text, produced, action.actor))

    def _activity(self, action: ActionMention) -> Iterator[Mention]:
        last = self._steps[-1] if self._steps else None
        self._action = action
        if self._choice and not isinstance(last, ChoiceMention):
            self._steps.append(ChoiceMention(self._choice, ((action,),)))
        elif isinstance(last, ChoiceMention) and (self._choice == "inclusive" or self._alternative):
            self._steps[-1] = replace(last, branches=(*last.branches, (action,)))
        elif isinstance(last, ActionMention) and self._alternative:
            self._steps[-1] = ChoiceMention("exclusive", ((last,), (action,)))
        else:
            if self._steps and not self._linked:
                yield from self.flush()
            self._steps.append(action)
        self._linked = self._alternative = False
        self._choice = "" if self._choice == "exclusive" else self._choice

    def _condition(self, text: str) -> Iterator[Mention]:
        if self._steps:
            yield from self.flush()
        if self._conditions and self._conditions[-1].text == OTHERWISE:
            self._conditions[-1] = ConditionMention(text, otherwise=True)
        else:
            self._conditions.append(ConditionMention(text))

    def _gateway(self, cue: Cue) -> Iterator[Mention]:
        match cue:
            case "otherwise":
                yield from self.flush()
                self._conditions.append(ConditionMention(OTHERWISE, otherwise=True))
            case "parallel" | "done" | "join" | "start":
                conditions = self._conditions if not self._steps else []
                self._conditions = [] if conditions else self._conditions
                yield from self.flush()
                self._conditions = conditions
                self._lead = cue
            case "exclusive" | "inclusive":
                if self._steps:
                    yield from self.flush()
                self._choice = cue
            case "or":
                self._alternative = True
            case "next":
                self._linked = bool(self._steps)
                self._choice = ""


@dataclass(frozen=True, slots=True)
class ReadElements:
    """Result of reading a reply: the elements, and the lines of which nothing could be read."""

    elements: tuple[ExtractedElement, ...] = ()
    unread: tuple[str, ...] = ()


def read_elements(reply: str) -> ReadElements:
    """Return the elements that a reply lists, a line each, and the other lines.

    Numbers, bullets, bold, fences, capitals and a JSON array of objects are understood. What stands before the first
    element is talk, and no unread line. Of a longer reply the first 100,000 characters are read.
    """
    text = reply[:LONGEST_REPLY]
    from_json = _json_elements(text)
    if from_json is not None:
        return ReadElements(from_json)
    elements: list[ExtractedElement] = []
    unread: list[str] = []
    for line in text.splitlines():
        bare = line.replace("**", "").replace("__", "").strip()
        if not bare or bare.startswith(("```", "~~~")) or len(elements) == MOST_ELEMENTS:
            continue
        element = _element_of_line(_PREFIX.sub("", bare, count=1))
        if element is not None:
            elements.append(element)
        elif elements:
            unread.append(bare[:LONGEST_ELEMENT])
    return ReadElements(tuple(elements), tuple(unread))


def write_elements(elements: Iterable[ExtractedElement]) -> str:
    """Return elements as the lines of a reply."""
    lines = []
    for element in elements:
        actor = f" | {element.actor}" if element.actor else ""
        lines.append("end" if element.kind == "end" else f"{element.kind}: {element.text}{actor}")
    return "\n".join(lines)


def graph_of_elements(elements: Sequence[ExtractedElement]) -> ProceduralGraph:
    """Return the procedural graph that the rules of `element_rules` and `build_graph` make of elements."""
    return build_graph(list(mentions_of_elements(elements[:MOST_ELEMENTS])))


def _element_of_line(line: str) -> ExtractedElement | None:
    if _ENDS.fullmatch(line):
        return ExtractedElement("end")
    match = _LINE.fullmatch(line)
    kind = _KINDS.get(match["kind"].lower()) if match else None
    return _element(kind, match["text"]) if match and kind else None


def _element(kind: ElementKind, text: str, actor: str = "") -> ExtractedElement | None:
    if kind == "end":
        return ExtractedElement("end")
    if kind == "activity" and not actor:
        text, _, actor = text.partition("|")
    words = " ".join(text.split())[:LONGEST_ELEMENT].strip(_EDGES).removesuffix(".")
    who = " ".join(actor.split())[:LONGEST_ELEMENT].strip(_EDGES)
    if not any(map(str.isalnum, words)):
        return None
    return ExtractedElement(kind, words, "" if who.lower() in _NO_ACTOR else who)


def _json_elements(text: str) -> tuple[ExtractedElement, ...] | None:
    """Return the elements of a JSON array of objects; None if the reply is none, or none of them is an element."""
    start, end = text.find("["), text.rfind("]")
    if start < 0 or end < start or "{" not in text[start : start + 20]:
        return None
    try:
        data = json.loads(text[start : end + 1])
    except (ValueError, RecursionError):
        return None
    objects = []
    for value in data[:MOST_ELEMENTS] if isinstance(data, list) else ():
        match value:
            case {"kind": str(kind)} if kind.lower() in _KINDS:
                words, actor = (str(value.get(name) or "") for name in ("text", "actor"))
                objects.append(_element(_KINDS[kind.lower()], words, actor))
    elements = tuple(element for element in objects if element is not None)
    return elements or None


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
