"""What comes before and after what: examples that a reader can check, and every path as the oracle."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.errors import UnknownNameError
from pytest_taskgraph.workflow import graph
from pytest_taskgraph.workflow.model import END, START, Data, DataLink, Flow, Gateway, Link, Task, Workflow
from pytest_taskgraph.workflow.semantics.concurrency import Dominators

NAMES = ("A", "B", "C", "D", "E")
GATEWAYS = ("g1", "g2", "g3", "g4")
DATA = ("x", "y", "z")


def flow(*chains: str, tasks: str = "", data: str = "") -> Workflow:
    """A workflow from chains of names: "START A g1 B"; lower case names are gateways, in data flow data."""
    links = [(a, b) for chain in chains for a, b in zip(chain.split(), chain.split()[1:], strict=False)]
    flows = [(a, b) for chain in data.split(",") for a, b in zip(chain.split(), chain.split()[1:], strict=False)]
    names = dict.fromkeys(name for pair in links for name in pair if name not in (START, END))
    tasks_by_name = dict.fromkeys([*tasks.split(), *(name for name in names if name[0].isupper())])
    return Workflow(
        "W",
        tasks=tuple(Task(name) for name in tasks_by_name),
        data=tuple(Data(name) for name in dict.fromkeys(n for pair in flows for n in pair) if name.islower()),
        gateways=tuple(Gateway(name, "parallel", "split") for name in names if name.islower()),
        links=tuple(Link(a, b) for a, b in links),
        data_links=tuple(DataLink(a, b) for a, b in flows),
    )


@st.composite
def levels(draw: st.DrawFn) -> Workflow:
    tasks = NAMES[: draw(st.integers(1, len(NAMES)))]
    sources = st.sampled_from((*tasks, *GATEWAYS, START))
    targets = st.sampled_from((*tasks, *GATEWAYS, END))
    reads = st.tuples(st.sampled_from(DATA), st.sampled_from(tasks))
    writes = st.tuples(st.sampled_from(tasks), st.sampled_from(DATA))
    return Workflow(
        "W",
        tasks=tuple(Task(name) for name in tasks),
        data=tuple(Data(name) for name in DATA),
        gateways=tuple(Gateway(name, "parallel", "split") for name in GATEWAYS),
        links=tuple(Link(a, b) for a, b in draw(st.lists(st.tuples(sources, targets), max_size=14))),
        data_links=tuple(DataLink(a, b) for a, b in draw(st.lists(st.one_of(reads, writes), max_size=10))),
    )


def network(level: Workflow, flow: Flow) -> nx.DiGraph[str]:
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from((START, END, *level.task_names, *GATEWAYS, *DATA))
    links = level.links if flow == "control" else level.data_links
    graph.add_edges_from((link.source, link.target) for link in links)
    return graph


def follows(level: Workflow, flow: Flow, a: str, b: str) -> bool:
    """Whether a path of one link or more leads from a to b and passes nothing but gateways, or data."""
    whole = network(level, flow)
    between = whole.subgraph(GATEWAYS if flow == "control" else DATA)
    firsts = [node for node in whole.successors(a) if node in between]
    lasts = [node for node in whole.predecessors(b) if node in between]
    direct = flow == "control" and whole.has_edge(a, b)
    if flow == "data":
        return any(node in lasts for node in firsts)
    return direct or any(nx.has_path(between, first, last) for first in firsts for last in lasts)


@given(levels(), st.sampled_from(["control", "data"]))
def test_successors_are_the_tasks_behind_nothing_but_gateways(level: Workflow, flow: Flow) -> None:
    for a in level.task_names:
        assert graph.successors(level, a, flow) == tuple(b for b in level.task_names if follows(level, flow, a, b))


@given(levels(), st.sampled_from(["control", "data"]))
def test_task_graph_is_the_relation_of_successors(level: Workflow, flow: Flow) -> None:
    after = {(a, b) for a in level.task_names for b in graph.successors(level, a, flow)}
    assert after == {(a, b) for a, ways in graph.task_graph(level, flow).items() for b in ways}


def shortest_closed_walk(tasks: dict[str, tuple[str, ...]]) -> int:
    """The least number of links on a walk from a task back to it, tried length by length; 0 if there is none."""
    walks = {(task, task) for task in tasks}
    for length in range(1, len(tasks) + 1):
        walks = {(first, after) for first, last in walks for after in tasks[last]}
        if any(first == last for first, last in walks):
            return length
    return 0


@given(levels(), st.sampled_from(["control", "data"]))
def test_shortest_cycle_any_level_is_shortest(level: Workflow, flow: Flow) -> None:
    cycle = graph.shortest_cycle(level, flow)
    tasks = graph.task_graph(level, flow)
    assert len(cycle) == shortest_closed_walk(tasks)
    assert all(b in tasks[a] for a, b in zip(cycle, (*cycle[1:], *cycle[:1]), strict=True))


@given(levels())
def test_connected_means_every_task_lies_between_start_and_end(level: Workflow) -> None:
    whole = network(level, "control")
    between = [nx.has_path(whole, START, task) and nx.has_path(whole, task, END) for task in level.task_names]
    assert graph.is_connected(level) is all(between)


@given(levels(), st.sampled_from(["control", "data"]))
def test_ancestors_are_all_from_which_a_path_leads(level: Workflow, flow: Flow) -> None:
    whole = network(level, flow)
    names = level.task_names + (DATA if flow == "data" else ())
    for node in names:
        before = {a for a in names for step in whole.successors(a) if nx.has_path(whole, step, node)}
        assert graph.ancestors(level, node, flow) == tuple(name for name in names if name in before)


@given(levels())
def test_ends_are_the_linked_tasks_with_no_other_behind(level: Workflow) -> None:
    whole = network(level, "control")
    last = [a for a in level.task_names if whole.degree(a) and not set(graph.successors(level, a)) - {a}]
    assert graph.ends(level) == tuple(last)


def test_results_follow_the_order_of_declaration() -> None:
    level = flow("START A", "A g", "g B", "g C", tasks="C B A")
    assert graph.successors(level, "A") == ("C", "B")
    assert graph.starts(level) == ("A",)
    assert graph.ends(level) == ("C", "B")


def test_shortest_cycle_of_gateways_only_is_none() -> None:
    level = flow("START A g1 g2 g1", "g2 B END")
    assert graph.successors(level, "A") == ("B",)
    assert graph.shortest_cycle(level) == ()
    assert graph.is_connected(level)


def test_shortest_cycle_self_loop_has_one_task() -> None:
    level = flow("START A B C A", "B B")
    assert graph.shortest_cycle(level) == ("B",)
    assert graph.ends(flow("START A A", "A END")) == ("A",)


def test_shortest_cycle_equally_short_takes_first_declared() -> None:
    level = flow("START C D C", "D A B A", tasks="A B C D")
    assert graph.shortest_cycle(level) == ("A", "B")


def test_is_connected_stray_task_is_false() -> None:
    level = flow("START A END", tasks="A Stray")
    assert not graph.is_connected(level)
    assert graph.ends(level) == ("A",)


def test_is_connected_without_tasks_is_false() -> None:
    assert not graph.is_connected(flow("START END"))


def test_is_connected_dead_end_or_endless_cycle_is_false() -> None:
    assert not graph.is_connected(flow("START A B A"))
    assert graph.ends(flow("START A B A")) == ()


def test_data_flow_names_who_writes_and_who_reads() -> None:
    level = flow(tasks="Mill Bake Sell", data="grain Mill flour Bake bread Sell,flour Sell,Bake bread Bake")
    assert graph.inputs(level, "Bake") == ("flour", "bread")
    assert graph.outputs(level, "Bake") == ("bread",)
    assert graph.producers(level, "flour") == ("Mill",)
    assert graph.readers(level, "flour") == ("Bake", "Sell")
    assert graph.successors(level, "flour", "data") == ("Bake", "Sell")
    assert graph.successors(level, "Mill", "data") == ("Bake", "Sell")


def test_data_flow_starts_and_ends_look_at_other_tasks_only() -> None:
    level = flow(tasks="Idle Mill Bake Sell", data="grain Mill flour Bake bread Sell money,Mill dust Mill")
    assert graph.starts(level, "data") == ("Mill",)
    assert graph.ends(level, "data") == ("Sell",)


def test_ancestors_in_the_data_flow_are_tasks_then_data() -> None:
    level = flow(tasks="Sell Bake Mill", data="grain Mill flour Bake bread Sell")
    assert graph.ancestors(level, "Sell", "data") == ("Bake", "Mill", "grain", "flour", "bread")


@pytest.mark.parametrize(("node", "flow_"), [("Nobody", "control"), ("x", "control"), (START, "data")])
def test_graph_unknown_node_raises_error_with_names(node: str, flow_: Flow) -> None:
    level = flow("START A END", data="x A")
    with pytest.raises(UnknownNameError, match=r"known: .*A"):
        graph.successors(level, node, flow_)
    with pytest.raises(UnknownNameError):
        graph.ancestors(level, node, flow_)


def test_graph_links_to_undeclared_nodes_are_ignored() -> None:
    level = Workflow("W", tasks=(Task("A"),), links=(Link(START, "A"), Link("A", "Ghost")))
    assert graph.successors(level, "A") == ()


numbered = st.dictionaries(st.integers(0, 6), st.lists(st.integers(0, 6), max_size=4, unique=True), max_size=7)


def paths_from(links: dict[int, list[int]], first: int, without: int | None = None) -> list[list[int]]:
    """Every path without a repeated node from the first one, the first alone among them, found by trying all."""
    paths = [[first]]
    for path in paths:
        paths += [[*path, after] for after in links.get(path[-1], ()) if after not in path and after != without]
    return paths


@given(numbered, st.integers(0, 6), st.integers(0, 6))
def test_shortest_path_is_a_path_and_none_is_shorter(links: dict[int, list[int]], first: int, last: int) -> None:
    lengths = [len(path) for path in paths_from(links, first) if path[-1] == last]
    path = graph.shortest_path(links, first, last)
    assert len(path) == min(lengths, default=0)
    assert all(after in links[node] for node, after in pairwise(path))
    assert path == [] or (path[0], path[-1]) == (first, last)


def test_shortest_path_of_equally_short_ones_takes_nodes_added_first() -> None:
    assert graph.shortest_path({1: [3, 2], 2: [4], 3: [5, 4], 4: [6], 5: [6]}, 1, 6) == [1, 3, 5, 6]


@given(numbered)
def test_cyclic_components_hold_nodes_that_lead_to_each_other(links: dict[int, list[int]]) -> None:
    ahead = {
        node: {path[-1] for after in links.get(node, ()) for path in paths_from(links, after)} for node in range(7)
    }
    expected = {
        frozenset(other for other in ahead[node] if node in ahead[other]) for node in range(7) if node in ahead[node]
    }
    assert set(graph.cyclic_components(graph.digraph(links))) == expected


def test_cyclic_components_of_a_long_cycle_are_found() -> None:
    links = {i: [(i + 1) % 20_000] for i in range(20_000)}
    assert [len(part) for part in graph.cyclic_components(graph.digraph(links))] == [20_000]


@given(numbered, st.integers(0, 6))
def test_dominators_are_on_every_path(links: dict[int, list[int]], root: int) -> None:
    graph_by_name = {str(node): list(map(str, further)) for node, further in links.items()}
    dominators = Dominators(graph.digraph({str(root): [], **graph_by_name}), str(root))
    paths = paths_from(links, root)
    for node in range(7):
        ways = [path for path in paths if path[-1] == node]
        common = set.intersection(*map(set, ways)) if ways else set()
        assert dominators.contains(str(node)) is bool(ways)
        assert {other for other in range(7) if dominators.passes(str(node), str(other))} == common
        nearest = max(common - {node}, key=lambda other: ways[0].index(other), default=None)
        assert dominators.nearest(str(node)) == (None if nearest is None else str(nearest))
