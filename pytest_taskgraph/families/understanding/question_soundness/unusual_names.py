"""Hypothesis strategies for unusual but legal names: keywords, other scripts, quotes, braces, long names, prefixes."""

from __future__ import annotations

from typing import Final

from hypothesis import reject
from hypothesis import strategies as st

from ....workflow.check import problems
from ....workflow.model import Workflow
from ..renaming import RESERVED, names_of, renaming_to, with_texts

RENAMED: Final = ("task", "data", "workflow")  # guards contain the names of parameters, which stay plain
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
    random_names = st.text(_LETTERS, min_size=1, max_size=12).map(lambda text: " ".join(text.split()))
    return (st.sampled_from(UNUSUAL) | random_names).filter(_is_usable)


def _is_usable(name: str) -> bool:
    return bool(name.strip()) and name.lower() not in RESERVED and name not in ("START", "END")


@st.composite
def with_unusual_names(draw: st.DrawFn, project: Workflow) -> Workflow:
    """Draw the project with unusual names for some tasks, data and workflows; shrinks towards its own names."""
    kinds = names_of(project)
    old_names = [name for name, kind in kinds.items() if kind in RENAMED]
    new_names = draw(st.lists(unusual_names(), max_size=len(old_names), unique_by=lambda name: name.casefold()))
    if not new_names:
        return project
    if not kinds.keys().isdisjoint(new_names):
        reject()
    renamed = with_texts(project, renaming_to(dict(zip(old_names, new_names, strict=False))))
    if problems(renamed):
        reject()
    return renamed
