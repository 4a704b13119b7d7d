"""BPMN 2.0 XML (files `.bpmn`, and `.xml` with BPMN's root element), as modelling tools write it; only read.

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
"""

from __future__ import annotations

from ...workflow.features import FEATURES
from ...workflow.model import Workflow
from ..notation import Interpretation, Notation, only_read
from .bpmn_guide import GUIDE


def _parse(text: str, where: str = "") -> tuple[Workflow, ...]:
    return _interpret(text, where).workflows


def _interpret(text: str, where: str = "", process: str = "") -> Interpretation:
    from .read_bpmn import interpret  # imported here because it brings the XML parser

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
    says=FEATURES,
    guide=GUIDE,
    render=only_read("bpmn"),
    parse=_parse,
    heading=lambda path: f"<!-- file: {path.replace('--', '- -')} -->",
    interpreter=_interpret,
    chooser=_interpret,
    shown_as="shown without its diagram and extensions",
    recognises=_recognises,
    recognised_by="a root element of BPMN",
    decode=_decode,
)
