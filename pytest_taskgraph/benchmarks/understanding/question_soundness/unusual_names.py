"""Unusual names that are legal: keywords, other scripts, quotes, braces, long ones, prefixes of each other."""

from __future__ import annotations

from typing import Final

from hypothesis import reject
from hypothesis import strategies as st

from ....workflow.check import problems
from ....workflow.model import Workflow
from ..renaming import RESERVED, names_of, renaming_to, with_texts

RENAMED: Final = ("task", "data", "workflow")  # guards are written in the names of parameters, which stay plain
UNUSUAL: Final = (
    *("Check", "Check it", "Check it again", "Check1", "Check11"),
    *("task", "tasks", "workflow", "define", "condition", "data", "from", "in", "parallel", "PARALLEL", "subworkflow"),
    *("end", "start", "graph", "subgraph", "flowchart", "class", "style", "click", "links", "null", "After", "The"),
    *("Größe prüfen", "検査する", "naïve", "проверка", "Ωμέγα", "étape-2"),
    *("it's", 'the "main" one', "'quoted'", "rock'n'roll", "`code`"),
    *("salt, pepper", "bread and butter", "either/or", "A; B", "1. First", "- dash", "Yes, please", "a = b", "n < 3"),
    *("{x}", "{{ name }}", "[list]", "(again)", "<b>", "a|b", "#35;", "&amp;", "a -> b", "--> end", "back\\slash"),
    "a name of many words that goes on " + "and on " * 30 + "to its end",
    "L" * 200,
)
_LETTERS: Final = "ab Zé_ß日'\"{}[]()<>#;:|-.,=&\\/"


def unusual_names() -> st.SearchStrategy[str]:
    """Draw unusual names; none is a word of conditions or of answers."""
    drawn = st.text(_LETTERS, min_size=1, max_size=12).map(lambda text: " ".join(text.split()))
    return (st.sampled_from(UNUSUAL) | drawn).filter(_usable)


def _usable(name: str) -> bool:
    return bool(name.strip()) and name.lower() not in RESERVED and name not in ("START", "END")


@st.composite
def with_unusual_names(draw: st.DrawFn, project: Workflow) -> Workflow:
    """Draw the project with unusual names for some of its tasks, data and workflows; shrinks towards its own names."""
    known = names_of(project)
    old = [name for name, kind in known.items() if kind in RENAMED]
    new = draw(st.lists(unusual_names(), max_size=len(old), unique_by=lambda name: name.casefold()))
    if not new:
        return project
    if not known.keys().isdisjoint(new):
        reject()
    renamed = with_texts(project, renaming_to(dict(zip(old, new, strict=False))))
    if problems(renamed):
        reject()
    return renamed
