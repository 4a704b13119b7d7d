"""Times of the metrics of procedural graphs, the share of exact edit distances, and a comparison to networkx.

    python perf/procedural_graphs.py        about 20 seconds

The first table scores graphs against an answer in which every text differs. The second counts how many of GRAPHS
answers, in which a share of actions, flows and gateways is changed, have a proven edit distance. The third compares
`nx.graph_edit_distance` on chains without a common label; it must agree if it ends within SECONDS.
"""

from __future__ import annotations

import time
from random import Random

import networkx as nx

from pytest_taskgraph.scoring.metrics import metric
from pytest_taskgraph.scoring.procedural_graphs.graph_edit import edit_distance
from pytest_taskgraph.trial import Json
from pytest_taskgraph.workflow.procedural_graph import GATEWAYS, ProceduralFlow, ProceduralGraph, ProceduralNode

GRAPHS = 10
SECONDS = 20.0  # for one distance by networkx
WORDS = (
    *("check", "send", "order", "pay", "form", "goods", "cook", "wash", "the", "clerk", "invoice", "stock", "list"),
    *("write", "open", "close", "big", "small"),
)
ACTORS = ("clerk", "the boss", "")


def text(rng: Random) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(5))


def graph(rng: Random, actions: int) -> ProceduralGraph:
    """Return a graph of about so many actions in a row, some of them in branches of two or three."""
    last, flows, gateways, count = ProceduralNode("start"), list[ProceduralFlow](), 0, 0
    while count < actions:
        if rng.random() < 0.5:
            node = ProceduralNode("action", text(rng), rng.choice(ACTORS))
            flows.append(ProceduralFlow(last, node))
            last, count = node, count + 1
            continue
        sort = rng.choice(GATEWAYS)
        split, join = (ProceduralNode(sort, f"{sort}{gateways + at}") for at in range(2))
        flows.append(ProceduralFlow(last, split))
        for _ in range(rng.choice((2, 2, 3))):
            node = ProceduralNode("action", text(rng), rng.choice(ACTORS))
            condition = "" if sort == "parallel" else text(rng)
            flows += [ProceduralFlow(split, node, condition), ProceduralFlow(node, join)]
            count += 1
        last, gateways = join, gateways + 2
    return ProceduralGraph.of([*flows, ProceduralFlow(last, ProceduralNode("end"))])


def changed(rng: Random, gold: ProceduralGraph, share: float) -> ProceduralGraph:
    """Return the graph with a share of its actions, a third of that of its gateways and half of its flows changed."""
    nodes: dict[ProceduralNode, ProceduralNode] = {}
    for node in gold.nodes:
        if node.sort == "action" and rng.random() < share:
            nodes[node] = ProceduralNode("action", text(rng), node.actor)
        elif node.is_gateway and rng.random() < share / 3:
            nodes[node] = ProceduralNode(rng.choice(GATEWAYS), node.text)
    flows = [flow for flow in gold.with_nodes(nodes).flows if rng.random() >= share / 2]
    ends = [node for flow in flows for node in (flow.source, flow.target)]
    new = [ProceduralFlow(rng.choice(ends), rng.choice(ends)) for _ in range(int(6 * share))]
    return ProceduralGraph.of([*flows, *new])


def timed_rows() -> None:
    edit_distance(graph(Random(1), 3), graph(Random(2), 3))  # imports
    print(f"{'actions':>8} {'nodes':>6} {'procedural_f1':>14} {'graph_edit_similarity':>22}   milliseconds")
    for actions in (10, 25, 50, 100, 200):
        gold, other = (graph(Random(f"{side}|{actions}"), actions) for side in ("gold", "answer"))
        sides: list[Json] = [{"flows": [*side.to_json()]} for side in (other, gold)]
        took = []
        for name in ("procedural_f1", "graph_edit_similarity"):
            start = time.perf_counter()
            metric(name)(*sides)
            took.append(1000 * (time.perf_counter() - start))
        print(f"{actions:8} {len(gold.nodes):6} {took[0]:14.1f} {took[1]:22.1f}", flush=True)


def exact_rows() -> None:
    print(f"\n{'actions':>8} {'changed':>8} {'exact of ' + str(GRAPHS):>12} {'slowest ms':>11}")
    for actions in (10, 20, 30):
        for share in (0.1, 0.3, 0.6):
            exact, slowest = 0, 0.0
            for seed in range(GRAPHS):
                rng = Random(f"{actions}|{share}|{seed}")
                gold = graph(rng, actions)
                answer = changed(rng, gold, share)
                start = time.perf_counter()
                exact += edit_distance(answer, gold).exact
                slowest = max(slowest, 1000 * (time.perf_counter() - start))
            print(f"{actions:8} {share:8.0%} {exact:12} {slowest:11.0f}", flush=True)


def chain(rng: Random, word: str, length: int) -> ProceduralGraph:
    nodes = [ProceduralNode("action", f"{word} {at}") for at in range(length)]
    across = [sorted(rng.sample(range(length), 2)) for _ in range(length // 2)]
    pairs = dict.fromkeys([*((at, at + 1) for at in range(length - 1)), *((first, second) for first, second in across)])
    return ProceduralGraph.of(ProceduralFlow(nodes[first], nodes[second]) for first, second in pairs)


def networkx_rows() -> None:
    print(f"\n{'nodes':>8} {'distance':>9} {'ms':>9} {'networkx ms':>12}")
    for length in (6, 8, 9, 10):
        answer, other = (chain(Random(f"{word}|{length}"), word, length) for word in ("turn", "wash"))
        start = time.perf_counter()
        ours = edit_distance(answer, other)
        took = time.perf_counter() - start
        own_side, gold_side = (
            nx.DiGraph([(flow.source, flow.target) for flow in side.flows]) for side in (answer, other)
        )
        start = time.perf_counter()
        theirs = nx.graph_edit_distance(own_side, gold_side, node_match=lambda node, other: False, timeout=SECONDS)
        spent = time.perf_counter() - start
        assert spent >= SECONDS or not ours.exact or theirs == ours.cost, (theirs, ours)
        its_time = f"{1000 * spent:12.0f}" if spent < SECONDS else f"{'-':>12}"
        print(f"{length:8} {ours.cost:9} {1000 * took:9.1f} {its_time}", flush=True)


if __name__ == "__main__":
    timed_rows()
    exact_rows()
    networkx_rows()
