"""Times of the metrics of task graphs, compared to rouge-score and the cliques of networkx.

    python perf/task_graphs.py        about 12 seconds; needs rouge-score (the extra `test`)

The first table scores one answer to each of TASKS tasks of STEPS steps, by each metric with lexical similarity: the
numbers of the test set of TaskLAMA. For comparison, rouge-score measures the same documents of steps in the same run,
and must give the same values. The second table finds the largest common subgraph of 60 steps whose dependencies differ
at random, or of an unfavourable shape; `nx.max_weight_clique` must find the same where it takes less than SECONDS.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from random import Random
from statistics import median
from threading import Thread

import networkx as nx
from rouge_score.rouge_scorer import RougeScorer

from pytest_taskgraph.scoring.measurement import Measurement
from pytest_taskgraph.scoring.metrics import metric
from pytest_taskgraph.scoring.task_graphs.shared_parts import largest_common_subgraph
from pytest_taskgraph.scoring.task_graphs.step_graphs import StepGraph
from pytest_taskgraph.trial import Json

TASKS, STEPS = 478, 10
ROUNDS = 5
SECONDS = 2.0  # for one clique by networkx
METRICS = ("hungarian_f1", "in_degree_rouge1", "graph_f1", "pairwise_accuracy")
VERBS = (
    "wash",
    "cut",
    "boil",
    "mix",
    "open",
    "find",
    "call",
    "book",
    "paint",
    "clean",
    "check",
    "turn",
    "sign",
    "send",
)
NOUNS = (
    "rice",
    "onion",
    "water",
    "form",
    "door",
    "venue",
    "guest",
    "wall",
    "engine",
    "letter",
    "photo",
    "cake",
    "card",
)
EXTRA = ("the", "a", "in the kitchen", "with care", "before noon", "for all guests", "and dry it", "again")

Pair = tuple[Json, Json]


def graph(rng: Random, steps: int) -> dict[str, Json]:
    texts = [f"{rng.choice(VERBS)} {rng.choice(EXTRA)} {rng.choice(NOUNS)} {rng.choice(EXTRA)}" for _ in range(steps)]
    pairs = [(rng.randrange(after), after) for after in range(1, steps) for _ in range(rng.randint(0, 2))]
    return {"steps": [*texts], "dependencies": [[*pair] for pair in dict.fromkeys(pairs)]}


def revised(gold: dict[str, Json], rng: Random) -> dict[str, Json]:
    """Return an answer: the gold steps, a third of them replaced, some doubled, with dependencies in a line."""
    steps: list[Json] = []
    for step in gold["steps"] if isinstance(gold["steps"], list) else []:
        steps.append(step if rng.random() < 0.67 else f"{rng.choice(VERBS)} {rng.choice(NOUNS)}")
        steps += [step] * (rng.random() < 0.1)
    return {"steps": steps, "dependencies": [[at, at + 1] for at in range(len(steps) - 1)]}


def _document(side: Json) -> str:
    assert isinstance(side, dict)
    assert isinstance(side["steps"], list)
    return " ".join(map(str, side["steps"]))


def measure_time(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def step_rows() -> None:
    rng = Random("task graphs")
    golds = [graph(rng, STEPS) for _ in range(TASKS)]
    pairs: list[Pair] = [(revised(gold, rng), gold) for gold in golds]
    for name in METRICS:
        metric(name)(*pairs[0])  # imports
    scorer = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=False)
    texts = [(_document(given), _document(gold)) for given, gold in pairs]
    peer = median(measure_time(lambda: [scorer.score(gold, given) for given, gold in texts]) for _ in range(ROUNDS))
    print(f"{TASKS} answers to tasks of {STEPS} steps   {'seconds':>9} {'ms each':>9} {'of rouge-score':>15}")
    print(f"{'rouge-score, documents alone':32}  {peer:9.3f} {1000 * peer / TASKS:9.3f} {'1.00':>15}")
    whole = 0.0
    for name in METRICS:
        seconds = median(measure_time(lambda name=name: [metric(name)(*pair) for pair in pairs]) for _ in range(ROUNDS))
        whole += seconds
        print(f"{name:32}  {seconds:9.3f} {1000 * seconds / TASKS:9.3f} {seconds / peer:15.2f}")
    print(f"{'all four':32}  {whole:9.3f} {1000 * whole / TASKS:9.3f} {whole / peer:15.2f}")
    for pair, (given, gold) in zip(pairs[:50], texts, strict=False):
        measurement = metric("hungarian_f1")(*pair)
        assert isinstance(measurement, Measurement)
        theirs = scorer.score(gold, given)
        for ours, other in (("rouge1", "rouge1"), ("rouge2", "rouge2"), ("rouge_l", "rougeL")):
            value = measurement.values[f"steps_{ours}_f1"]
            assert value is not None
            assert abs(value - theirs[other].fmeasure) < 1e-9, (given, gold)


def differing() -> Iterator[tuple[str, nx.Graph[int]]]:
    """Yield graphs of 60 steps: edges where the dependencies of two graphs differ."""
    for share in (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5):
        yield f"random, {share}", nx.gnp_random_graph(60, share, seed=1)
    for degree in (3, 4, 6, 8):
        yield f"random, {degree} each", nx.random_regular_graph(degree, 60, seed=1)
    board = nx.strong_product(nx.path_graph(6), nx.path_graph(10))
    yield "neighbours on a board", nx.convert_node_labels_to_integers(board)
    rings: nx.Graph[int] = nx.Graph()  # the last, for the search of networkx goes on in its thread
    for first in range(0, 60, 5):
        nx.add_cycle(rings, range(first, first + 5))
    yield "12 rings of 5", rings


def clique_seconds(network: nx.Graph[int], expected: int) -> float | None:
    """Return how long networkx takes; None above SECONDS."""
    results: list[tuple[float, int]] = []

    def search() -> None:
        start = time.perf_counter()
        _, size = nx.max_weight_clique(nx.complement(network), weight=None)
        results.append((time.perf_counter() - start, size))

    thread = Thread(target=search, daemon=True)
    thread.start()
    thread.join(SECONDS)
    if not results:
        return None
    assert results[0][1] == expected
    return results[0][0]


def subgraph_rows() -> None:
    print(f"\n{'60 steps that differ in':28} {'common':>7} {'ms':>9} {'networkx':>10} {'ratio':>8}")
    steps = tuple(f"step {at}" for at in range(60))
    pairs = [(at, at) for at in range(60)]
    for name, network in differing():
        given = StepGraph(steps, tuple((min(edge), max(edge)) for edge in network.edges))
        start = time.perf_counter()
        size = largest_common_subgraph(pairs, given, StepGraph(steps, ()))
        ours = time.perf_counter() - start
        theirs = None if size is None else clique_seconds(network, size)
        its_time = f"{1000 * theirs:10.1f} {theirs / ours:7.1f}x" if theirs else f"{'-':>10} {'-':>8}"
        print(f"{name:28} {size!s:>7} {1000 * ours:9.1f} {its_time}", flush=True)


if __name__ == "__main__":
    step_rows()
    subgraph_rows()
