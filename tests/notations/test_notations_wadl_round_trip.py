"""Whatever the three writers of the workflow DSL write reads back the same; names, texts and flows are Hypothesis'."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from canonical_form import canonical
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.notations.wadl import WADL, WADL_EXPANDED, WADL_SEPARATE
from pytest_taskgraph.notations.wadl.words import quote, unquote
from pytest_taskgraph.workflow.model import Data, DataLink, Domain, Effect, Gateway, Link, Parameter, Task, Workflow

VARIANTS = (WADL, WADL_SEPARATE, WADL_EXPANDED)


@given(st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from('\\"n\n/'), max_size=20))
def test_unquote_quoted_text_is_text(text: str) -> None:
    assert unquote(quote(text)) == text
    assert WADL.read(WADL.write(Workflow("W", description=text))).description == text


NAMES = st.sampled_from(["A", "task", "B 2", 'say "x"', "PARALLEL_1", "in", "a.b", "Käse", "main", "1st", "//c", "\\n"])
TEXTS = st.sampled_from(["", "x", "n > 1", 'a "b"', "two\nlines", "C:\\new", "tail\\", "// no comment"])
NUMBERS = st.integers(-99, 99) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(st.booleans() | NUMBERS | TEXTS, lambda some: st.lists(some, max_size=3).map(tuple), max_leaves=4)
BOUNDS = st.none() | NUMBERS
DOMAINS = st.builds(Domain, st.sampled_from(["integer", "real"]), BOUNDS, BOUNDS) | st.builds(
    Domain, st.just("words"), words=st.lists(TEXTS, max_size=3).map(tuple)
)
PARAMETERS = st.lists(
    st.builds(Parameter, NAMES, st.none() | VALUES, st.none() | DOMAINS), max_size=2, unique_by=lambda one: one.name
).map(tuple)
EFFECTS = st.lists(st.builds(Effect, NAMES, TEXTS), max_size=1).map(tuple)


def gateways_of(levels: Sequence[str]) -> st.SearchStrategy[list[Gateway]]:
    gateway = st.builds(
        Gateway,
        st.sampled_from(["g1", "PARALLEL_2", "g 3"]),
        st.sampled_from(["parallel", "exclusive", "inclusive"]),
        st.sampled_from(["split", "join"]),
    ).filter(lambda one: one.name not in levels)
    return st.lists(gateway, max_size=3, unique_by=lambda one: one.name)


@st.composite
def wild(draw: st.DrawFn, depth: int = 2) -> Workflow:
    """A workflow of any names, texts and links, mostly a flawed one."""
    names = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    cut = draw(st.integers(1, len(names)))
    tasks = []
    for name in names[:cut]:
        inner = draw(st.none() | wild(depth=depth - 1)) if depth else None
        outside = names[cut] if cut < len(names) else None
        bound = bool(inner and inner.data and outside)
        bindings = ((inner.data[0].name, outside),) if inner and outside and bound else ()
        task = draw(st.builds(Task, st.just(name), TEXTS, TEXTS, TEXTS, PARAMETERS, EFFECTS))
        tasks.append(replace(task, subworkflow=inner, bindings=bindings))
    gateways = draw(gateways_of(names))
    nodes = [*names[:cut], *(gateway.name for gateway in gateways)]
    between = st.builds(Link, st.sampled_from(["START", *nodes]), st.sampled_from(["END", *nodes]), st.none() | TEXTS)
    links = draw(st.lists(between, max_size=6, unique=True))
    ends = st.sampled_from(names)
    return Workflow(
        draw(NAMES),
        draw(st.sampled_from(["", "p", "main", "x.y", "odd name"])),
        draw(TEXTS),
        tasks=tuple(tasks),
        data=tuple(draw(st.builds(Data, st.just(name), TEXTS, TEXTS)) for name in names[cut:]),
        gateways=tuple(gateways),
        links=tuple(links),
        data_links=tuple(draw(st.lists(st.builds(DataLink, ends, ends), max_size=3, unique=True))),
        parameters=draw(PARAMETERS),
    )


@given(workflow=wild())
def test_read_written_wadl_returns_workflow(workflow: Workflow) -> None:
    expected = canonical(workflow)
    for notation in VARIANTS:
        assert canonical(notation.read(notation.write(workflow))) == expected, notation.name
