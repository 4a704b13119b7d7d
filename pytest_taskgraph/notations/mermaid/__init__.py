"""Mermaid flowcharts (files `.mmd`, `.mermaid`): the style of this package, which it writes, and those of people.

    ---
    title: "Soup"
    ---
    flowchart TD
      %% description: the soup of the day              also: package, parameter, workflow (the name, in a subgraph)
      START((START))
      END((END))
      Cook["Cook<br/>implementation: cook.py"]         a task; its lines may say description, kind, implementation,
      subgraph Plate ["Plate"]                         duration, parameter, effect, binding
        Plate__START((START))                          a composite task, with START and END of its own
        …
      end
      Broth[("Broth<br/>schema: broth.json")]          data
      Fork{{"parallel split"}}                         a gateway: kind and role
      Choice{"exclusive split"}
      START --> Cook
      Cook -->|"salt #lt; 3"| Cook                     a guard; characters with a meaning in Mermaid are entity codes
      Cook --x|"exception"| Serve                      an exceptional link
      Broth -.-> Cook                                  Cook reads Broth

Other charts are read by the rules of docs/reference/notations.md. The rules applied to a chart are its `Conventions`,
from which the guide in the prompt is written.

Several charts may stand one after another, with lines `%% file: path` between them. This is an extension of this
package: Mermaid draws only one chart.
"""

from __future__ import annotations

from ...workflow.features import FEATURES
from ...workflow.model import Workflow
from ..notation import WAYS_OUT, Interpretation, Notation
from .write_mermaid import DURATION_LINE, EXCEPTIONAL_ARROW, render


def _parse(text: str, where: str = "") -> tuple[Workflow, ...]:
    from .read_mermaid import parse  # imported here because most runs only write

    return parse(text, where)


def _interpret(text: str, where: str = "") -> Interpretation:
    from .read_mermaid import interpret

    return interpret(text, where)


def _is_fenced_in(text: str) -> bool:
    from .chart import holds_charts

    return holds_charts(text)


MERMAID = Notation(
    name="mermaid",
    title="Mermaid flowchart",
    phrase="as a Mermaid flowchart",
    suffixes=(".mmd", ".mermaid"),
    says=FEATURES - {"references", "derivation"},
    guide=(
        "The workflow is a Mermaid flowchart: rectangles are tasks, cylinders are data, START and END are no tasks. "
        "A solid arrow is control flow, taken only under the condition that stands on it; the condition "
        f'"otherwise" means that no other condition at that node holds. {WAYS_OUT} A dotted arrow is data flow: '
        "from data to a task that reads it, or from a task to data that it writes. Hexagons and diamonds are no tasks: "
        "a split starts all branches (parallel), exactly one (exclusive) or one or more (inclusive), a join brings "
        "them together. A subgraph is a composite task that contains the tasks inside it, and arrows to the subgraph "
        "are arrows to it."
    ),
    exceptional_guide=EXCEPTIONAL_ARROW,
    duration_guide=DURATION_LINE,
    render=render,
    parse=_parse,
    heading=lambda path: f"%% file: {path}",
    interpreter=_interpret,
    is_fenced_in=_is_fenced_in,
)
