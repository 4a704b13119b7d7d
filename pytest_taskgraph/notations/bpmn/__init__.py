"""BPMN 2.0 XML (files `.bpmn`, and `.xml` with BPMN's root element), as modelling tools write it, and as we do.

    <definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL">
      <process id="Order">
        <startEvent id="S"/>
        <task id="A" name="Check"/>
        <exclusiveGateway id="G" default="F3"/>
        …
        <sequenceFlow id="F1" sourceRef="S" targetRef="A"/>
        <sequenceFlow id="F2" sourceRef="G" targetRef="B" name="in stock"/>   a condition
      </process>
    </definitions>

The text that is shown is the file without its diagram, vendors' extensions, and what the flows state again. Every
construct that is no part of the workflows has a line in `left_out`; docs/reference/notations.md lists the constructs.
What this package writes (`write_bpmn.py`) is read by the same reader, with the rules of `written_style.py` besides.
"""

from __future__ import annotations

from ...workflow.features import FEATURES
from ...workflow.model import Workflow
from ..notation import Interpretation, Notation
from .written_style import DURATION_DOCUMENTATION, ERROR_EVENT, WRITTEN_GUIDE


def _parse(text: str, where: str = "") -> tuple[Workflow, ...]:
    from .read_bpmn import parse  # imported here because it brings the XML parser

    return parse(text, where)


def _render(workflow: Workflow) -> str:
    from .write_bpmn import render

    return render(workflow)


def _interpret(text: str, where: str = "", process: str = "") -> Interpretation:
    from .read_bpmn import interpret

    return interpret(text, where, process)


def _decode(data: bytes) -> str:
    from .xml_tree import decode

    return decode(data)


def _recognises(text: str) -> bool:
    from .xml_tree import is_bpmn

    return is_bpmn(text)


BPMN = Notation(
    name="bpmn",
    title="BPMN model",
    phrase="as a BPMN 2.0 process in XML",
    suffixes=(".bpmn", ".xml"),
    says=FEATURES - {"references", "derivation"},
    guide=WRITTEN_GUIDE,
    exceptional_guide=ERROR_EVENT,
    duration_guide=DURATION_DOCUMENTATION,
    render=_render,
    parse=_parse,
    heading=lambda path: f"<!-- file: {path.replace('--', '- -')} -->",
    interpreter=_interpret,
    chooser=_interpret,
    shown_as="shown without its diagram and extensions",
    recognises=_recognises,
    recognised_by="a root element of BPMN",
    decode=_decode,
)
