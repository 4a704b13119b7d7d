"""Times of a run over one workflow file: shape by size, each cell in processes of its own with a time limit.

    python perf/sizes.py [--sizes 50,200,1000] [--shapes chain,fork,...] [--limit 120] [--cases] [--json FILE]

Each row is `pytest suites/ --taskgraph-workflow=FILE --model=baseline:reader` with all patterns and the default
instances: seconds of the collection, seconds of the whole run, its peak memory, and the outcome of the questions.
`--cases` adds, in one more process, the cases and the seconds of every pattern, and the bounds that were reached.

    chain   one task after another
    fork    one fork over all tasks but two
    dag     a random graph of tasks without conditions
    mixed   nested forks, choices, loops with effects, conditional links and data
    nested  a tree of composite tasks, ten tasks per level, each level a `mixed` one
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count, pairwise
from pathlib import Path
from random import Random

from pytest_taskgraph.notations import notation
from pytest_taskgraph.workflow.model import (
    END,
    START,
    Data,
    DataLink,
    Domain,
    Effect,
    Gateway,
    GatewayKind,
    Link,
    Parameter,
    Task,
    Workflow,
)

ROOT = Path(__file__).resolve().parent.parent
AIMS = {50: 3.0, 200: 10.0, 1000: 60.0}  # seconds of a whole run
LEVEL = 10  # tasks of a level of the nested shape
MEGABYTE = 1024


def chain(size: int) -> Workflow:
    """Build one task after another."""
    names = _names(size)
    return _workflow(names, [Link(a, b) for a, b in pairwise((START, *names, END))])


def fork(size: int) -> Workflow:
    """Build one fork over all tasks but the first and the last."""
    first, *middle, last = names = _names(size)
    links = [Link(START, first), *(Link(first, name) for name in middle), *(Link(name, last) for name in middle)]
    return _workflow(names, [*links, Link(last, END)])


def dag(size: int) -> Workflow:
    """Build a random graph in which a task follows one to three of the twelve tasks declared before it."""
    rng, names = Random(f"dag|{size}"), _names(size)
    links = [Link(START, names[0])]
    for i, name in enumerate(names[1:], start=1):
        near = names[max(0, i - 12) : i]
        links += [Link(predecessor, name) for predecessor in rng.sample(near, min(len(near), rng.randint(1, 3)))]
    followed = {link.source for link in links}
    return _workflow(names, [*links, *(Link(name, END) for name in names if name not in followed)])


def mixed(size: int) -> Workflow:
    """Build nested blocks of all kinds."""
    return _Mixed(Random(f"mixed|{size}")).workflow("Mixed", _names(size))


def nested(size: int) -> Workflow:
    """Build a tree of composite tasks, each level a mixed one."""
    rng, numbers = Random(f"nested|{size}"), count(1)

    def level(name: str, inside: int) -> Workflow:
        """Build a level with so many tasks in it at any depth."""
        own = min(inside, LEVEL)
        names = [f"Task{next(numbers)}" for _ in range(own)]
        flow = _Mixed(rng).workflow(name, names)
        shares = [(inside - own + i) // own for i in range(own)]
        tasks = [
            Task(task.name, subworkflow=level(f"{task.name}Flow", share)) if share else task
            for task, share in zip(flow.tasks, shares, strict=True)
        ]
        return Workflow(name, tasks=tuple(tasks), gateways=flow.gateways, links=flow.links, parameters=flow.parameters)

    return level("Nested", size)


@dataclass
class _Mixed:
    rng: Random
    links: list[Link] = field(default_factory=list)
    gateways: list[Gateway] = field(default_factory=list)
    parameters: list[Parameter] = field(default_factory=list)
    effects: dict[str, Effect] = field(default_factory=dict)

    def workflow(self, name: str, tasks: list[str]) -> Workflow:
        self.links, self.gateways, self.parameters, self.effects = [], [], [], {}
        self._block(START, END, tasks, "")
        data = [Data(f"Data{i}") for i in range(len(tasks) // 3)]
        flows = [DataLink(tasks[3 * i], item.name) for i, item in enumerate(data)]
        flows += [DataLink(item.name, self.rng.choice(tasks[3 * i + 1 :])) for i, item in enumerate(data)]
        with_effects = [Task(task, effects=(self.effects[task],) if task in self.effects else ()) for task in tasks]
        return Workflow(
            name, tasks=tuple(with_effects), data=tuple(data), gateways=tuple(self.gateways), links=tuple(self.links),
            data_links=tuple(flows), parameters=tuple(self.parameters),
        )  # fmt: skip

    def _block(self, source: str, target: str, tasks: list[str], guard: str) -> None:
        """Link the tasks between two nodes; the guard is that of the link out of the first one."""
        if len(tasks) < 4 or self.rng.random() < 0.2:
            steps = [source, *tasks[:3]]
            self.links += [Link(a, b, guard or None if a == source else None) for a, b in pairwise(steps)]
            if tasks[3:]:
                self._block(steps[-1], target, tasks[3:], "")
            else:
                self.links.append(Link(steps[-1], target, (guard or None) if not tasks else None))
            return
        first, *rest = tasks
        self.links.append(Link(source, first, guard or None))
        inside = self.rng.randint(2, max(2, min(len(rest), len(rest) // 2 + 2)))
        kind = self.rng.choice(("parallel", "parallel", "exclusive", "exclusive", "inclusive", "loop"))
        after = self._loop(first, rest[:inside]) if kind == "loop" else self._split(kind, first, rest[:inside])
        self._block(after, target, rest[inside:], "")

    def _split(self, kind: GatewayKind, before: str, tasks: list[str]) -> str:
        number = len(self.gateways) // 2 + 1
        split, join = f"Split{number}", f"Join{number}"
        self.gateways += [Gateway(split, kind, "split"), Gateway(join, kind, "join")]
        self.links.append(Link(before, split))
        cut = self.rng.randint(1, len(tasks) - 1)
        guards = ("", "") if kind == "parallel" else self._guards(kind)
        for part, guard in zip((tasks[:cut], tasks[cut:]), guards, strict=True):
            self._block(split, join, part, guard)
        return join

    def _guards(self, kind: GatewayKind) -> tuple[str, str]:
        name = self._parameter()
        return (f"{name} < 5", f"{name} > 2" if kind == "inclusive" else f"{name} >= 5")

    def _loop(self, before: str, tasks: list[str]) -> str:
        name, last = self._parameter(), tasks[-1]
        self.effects[last] = Effect(name, f"{name} + 1")
        after, number = f"Loop{len(self.gateways)}", len(self.gateways)
        self.gateways.append(Gateway(after, "exclusive", "split"))
        self._block(before, last, tasks[:-1], "")
        self.links += [Link(last, after), Link(after, tasks[0], f"{name} < 3")]
        on = f"Joined{number}"
        self.gateways.append(Gateway(on, "exclusive", "join"))
        self.links.append(Link(after, on, f"{name} >= 3"))
        return on

    def _parameter(self) -> str:
        name = f"p{len(self.parameters) + 1}"
        self.parameters.append(Parameter(name, 0, Domain("integer", 0, 9)))
        return name


SHAPES: dict[str, Callable[[int], Workflow]] = {
    "chain": chain,
    "fork": fork,
    "dag": dag,
    "mixed": mixed,
    "nested": nested,
}


def _names(size: int) -> list[str]:
    return [f"Task{i}" for i in range(1, size + 1)]


def _workflow(names: list[str], links: list[Link]) -> Workflow:
    return Workflow("Flow", tasks=tuple(Task(name) for name in names), links=tuple(links))


def write(shape: str, size: int, folder: Path) -> Path:
    """Write the file of one cell: in the workflow DSL, sub-workflows inline."""
    path = folder / f"{shape}{size}.xxp"
    path.write_text(notation("wadl-expanded").write(SHAPES[shape](size)))
    return path


@dataclass(frozen=True)
class Run:
    """A process: seconds, those of the processor, megabytes at its peak, its output, and whether it ended by itself."""

    seconds: float
    cpu: float
    memory: float
    text: str
    ended: bool


def run(command: list[str], limit: float, folder: Path) -> Run:
    """Run a command to its end, or to the time limit."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    with tempfile.TemporaryFile("w+", dir=folder) as output:
        began = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, cwd=ROOT, env=environment, start_new_session=True
        )
        ended = True
        try:
            while not (waited := os.wait4(process.pid, os.WNOHANG))[0]:
                if time.perf_counter() - began > limit:
                    ended = False
                    os.killpg(process.pid, signal.SIGKILL)
                    waited = os.wait4(process.pid, 0)
                    break
                time.sleep(0.02)
        finally:
            process.returncode = 0
        seconds = time.perf_counter() - began
        output.seek(0)
        used = waited[2]
        return Run(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / MEGABYTE, output.read(), ended)


def measure(shape: str, size: int, limit: float, cases: bool, folder: Path) -> dict[str, object]:
    """Measure one cell of the table."""
    path = write(shape, size, folder)
    pytest = [sys.executable, "-m", "pytest", "-p", "pytest_taskgraph.plugin.hooks", "-p", "no:cacheprovider", "-q"]
    arguments = ["suites/", f"--taskgraph-workflow={path}", "--model=baseline:reader"]
    collected = run([*pytest, *arguments, "--collect-only"], limit, folder)
    whole = run([*pytest, *arguments], limit, folder) if collected.ended else None
    row: dict[str, object] = {
        "shape": shape,
        "size": size,
        "collection": round(collected.seconds, 1) if collected.ended else None,
        "run": round(whole.seconds, 1) if whole and whole.ended else None,
        "cpu": round(whole.cpu, 1) if whole and whole.ended else None,
        "megabytes": round((whole or collected).memory),
        "outcome": _last_line(whole.text) if whole else "collection does not end",
        "aim": AIMS.get(size),
        "bounds": _bounds((whole or collected).text),
    }
    if cases:
        listing = run([sys.executable, str(Path(__file__)), "--list", str(path)], limit, folder)
        row["cases"] = [json.loads(line) for line in listing.text.splitlines() if line.startswith("{")]
    return row


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if re.search(r"\b(passed|failed|error)", line)]
    return lines[-1].strip("= ") if lines else text.strip()[-200:]


def _bounds(text: str) -> list[str]:
    """Return the lines of the header about bounds that were reached."""
    return [line for line in text.splitlines() if "too large" in line]


def list_cases(path: str) -> Iterator[dict[str, object]]:
    """Yield, for every pattern, how many cases of a file it lists and how long that takes."""
    from pytest_taskgraph.families.understanding.own_files import projects
    from pytest_taskgraph.families.understanding.own_files.choices import list_cases
    from pytest_taskgraph.families.understanding.patterns import catalogue

    projects.load(path)
    for pattern in catalogue().values():
        began = time.perf_counter()
        listed_cases = list_cases(pattern, path, "")
        seconds = round(time.perf_counter() - began, 2)
        yield {
            "pattern": pattern.name,
            "cases": len(listed_cases.cases),
            "seconds": seconds,
            "bounds": sorted(listed_cases.bounds),
        }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="50,200,1000", help="numbers of tasks")
    parser.add_argument("--shapes", default=",".join(SHAPES), help="shapes of workflows")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds after which a process is stopped")
    parser.add_argument("--cases", action="store_true", help="count the cases of every pattern too")
    parser.add_argument("--json", type=Path, help="file for the figures")
    parser.add_argument("--list", help="file of which only the cases are counted; a line of JSON for each pattern")
    options = parser.parse_args()
    if options.list:
        for line in list_cases(options.list):
            print(json.dumps(line), flush=True)
        return
    print(f"{'shape':<8}{'tasks':>6}{'collection':>12}{'run':>9}{'cpu':>9}{'aim':>8}{'MB':>6}  outcome")
    rows = []
    with tempfile.TemporaryDirectory() as name:
        for size in map(int, options.sizes.split(",")):
            for shape in options.shapes.split(","):
                row = measure(shape, size, options.limit, options.cases, Path(name))
                rows.append(row)
                print(_line(row), flush=True)
                for case in row.get("cases", ()):  # type: ignore[attr-defined]
                    bounds = " ".join(case["bounds"])
                    print(f"    {case['pattern']:<32}{case['cases']:>8} cases{case['seconds']:>9} s  {bounds}")
                for bound in row["bounds"]:  # type: ignore[attr-defined]
                    print(f"    {bound}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


def _line(row: dict[str, object]) -> str:
    def seconds(value: object) -> str:
        return "-" if value is None else f"{value} s"

    return (
        f"{row['shape']:<8}{row['size']:>6}{seconds(row['collection']):>12}{seconds(row['run']):>9}"
        f"{seconds(row['cpu']):>9}{seconds(row['aim']):>8}{row['megabytes']:>6}  {row['outcome']}"
    )


if __name__ == "__main__":
    main()
