"""One-step edits of a BPMN file's own text: a flow or a condition removed, added or replaced, and nothing else."""

from __future__ import annotations

from random import Random

import pytest
from bpmn_models import STYLES, flows, process, read, tasks

from pytest_taskgraph.families.understanding.own_files.text_edits import step, text_edits
from pytest_taskgraph.notations.bpmn import BPMN
from pytest_taskgraph.notations.notation import combine_workflows

NODES = '<startEvent id="s"/><exclusiveGateway id="g"/>'
INSIDE = '<subProcess id="U" name="U">' + tasks("X Y") + flows("X>Y") + "</subProcess>"
BODY = process(NODES + tasks("A B C D") + INSIDE + flows("s>A A>g g>B:yes g>C:no g>D=late B>U C>U D>U"))


def edits(style: str = "plain") -> dict[str, str]:
    """Return the texts of edits by kind, the last of each."""
    found = text_edits(BPMN, BPMN.heading("m.bpmn, changed"), read(BODY, style).presented, Random(1), 30)
    return {edit.kind: edit.text for edit in found}


@pytest.mark.parametrize("style", STYLES)
def test_bpmn_edits_are_one_step_from_the_file(style: str) -> None:
    before = combine_workflows(read(BODY, style).workflows)
    for kind, text in edits(style).items():
        after = combine_workflows(BPMN.interpret(text, "m.bpmn").workflows)
        assert step(before, after, implied_ends=True) == kind


def test_bpmn_edits_are_of_several_kinds() -> None:
    assert edits().keys() >= {"link removed", "condition replaced", "condition removed"}


def test_bpmn_edits_change_one_place_of_the_text() -> None:
    shown = read(BODY).presented.splitlines()
    for text in edits().values():
        heading, *lines = text.splitlines()
        assert heading == "<!-- file: m.bpmn, changed -->"
        assert len({*lines} - {*shown}) <= 1
        assert len(shown) - len(lines) in (0, 1, 2, 3)


def test_bpmn_edits_keep_flows_inside_their_process() -> None:
    for text in edits().values():
        left_out = BPMN.interpret(text, "m.bpmn").left_out
        assert not [line for line in left_out if "border" in line or "flow node" in line]
