"""Candidates for one-step edits of a BPMN file: a sequence flow or its condition is removed or replaced.

`text_edits` reads each candidate back, and takes those that differ from the file in one step.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from random import Random
from typing import Final

from ....notations import Notation
from ....workflow.model import Workflow

MOST_TARGETS: Final = 6  # other targets that are tried for each flow
_ATTRIBUTES: Final = r"(?:\s+[\w:.-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'))*+\s*"
_FLOW: Final = re.compile(
    rf"(?<=\n)[ \t]*<(?P<tag>(?:[\w.-]+:)?sequenceFlow)\b(?P<attributes>{_ATTRIBUTES})"
    r"(?:/>|>(?P<inside>(?:(?!</?(?P=tag)\b).)*+)</(?P=tag)\s*>)[ \t]*(?:\n|$)",
    re.DOTALL,
)
_CONDITION: Final = re.compile(
    rf"\s*<(?P<tag>(?:[\w.-]+:)?conditionExpression)\b{_ATTRIBUTES}(?:/>|>(?P<text>[^<]*)</(?P=tag)\s*>)"
)
_BLOCK: Final = re.compile(rf"<(/?)(?:[\w.-]+:)?(?:process|subProcess|transaction|adHocSubProcess)\b{_ATTRIBUTES}(/?)>")
_TARGET: Final = re.compile(r"(?<=\btargetRef=[\"'])[^\"']*")
_NAME: Final = re.compile(r"\s+name=(?:\"(?P<text>[^\"]+)\"|'(?P<other>[^']+)')")


def _remove_flow(notation: Notation, text: str, project: Workflow) -> Iterator[tuple[int, int, str]]:
    yield from ((flow.start(), flow.end(), "") for flow in _FLOW.finditer(text))


def _retarget_flow(notation: Notation, text: str, project: Workflow) -> Iterator[tuple[int, int, str]]:
    """Yield candidates in which a flow leads to where another one of its process or sub-process leads."""
    flows = [(flow, _TARGET.search(flow["attributes"])) for flow in _FLOW.finditer(text)]
    blocks = _blocks(text, [flow.start() for flow, _ in flows])
    for (flow, target), block in zip(flows, blocks, strict=True):
        if target:
            beside = (each[0] for (_, each), around in zip(flows, blocks, strict=True) if each and around == block)
            others = [*dict.fromkeys(other for other in beside if other != target[0])]
            for other in Random(flow.start()).sample(others, min(len(others), MOST_TARGETS)):
                yield flow.start("attributes") + target.start(), flow.start("attributes") + target.end(), other


def _blocks(text: str, offsets: list[int]) -> list[int]:
    """Return, for each of the offsets, where the innermost process or sub-process around it begins."""
    around, blocks, open_blocks = [*_BLOCK.finditer(text)], list[int](), [0]
    for offset in offsets:
        while around and around[0].start() < offset:
            tag = around.pop(0)
            if tag[1]:
                open_blocks = open_blocks[:-1] or [0]
            elif not tag[2]:
                open_blocks.append(tag.start())
        blocks.append(open_blocks[-1])
    return blocks


def _change_condition(notation: Notation, text: str, project: Workflow) -> Iterator[tuple[int, int, str]]:
    """Yield candidates without a condition, or with that of another flow."""
    places: list[tuple[int, int, int, int, str]] = []  # of the condition and of its text, and the text
    for flow in _FLOW.finditer(text):
        start, attributes, inside = flow.start("attributes"), flow["attributes"], flow["inside"] or ""
        if name := _NAME.search(attributes):
            group = "text" if name["text"] else "other"
            places.append(
                (
                    start + name.start(),
                    start + name.end(),
                    start + name.start(group),
                    start + name.end(group),
                    name[group],
                )
            )
        if condition := _CONDITION.search(inside):
            begin = flow.start("inside")
            if condition["text"]:
                places.append(
                    (
                        begin + condition.start(),
                        begin + condition.end(),
                        begin + condition.start("text"),
                        begin + condition.end("text"),
                        condition["text"],
                    )
                )
    texts = [*dict.fromkeys(place[4] for place in places)]
    for start, end, first, last, own in places:
        yield start, end, ""
        others = [other for other in texts if other != own]
        yield from ((first, last, other) for other in Random(first).sample(others, min(len(others), 2)))


BPMN_WAYS: Final[tuple[Callable[[Notation, str, Workflow], Iterator[tuple[int, int, str]]], ...]] = (
    _remove_flow,
    _retarget_flow,
    _change_condition,
)
"""The ways to edit a BPMN file."""
