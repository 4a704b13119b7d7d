"""Generated workflows as BPMN: opened by bpmn-moddle, and checked against the XML schema of BPMN 2.0.

    npm install --prefix FOLDER bpmn-moddle
    python perf/bpmn_reference.py FOLDER [--workflows 300]

Workflows of all features that BPMN can state, some with a planted flaw, are written. For each text, the warnings of
bpmn-moddle are printed, what bpmn-moddle counts otherwise than the workflow says, and the first violation of the schema
that is part of bpmn-moddle (with `pip install xmlschema`). Exit code 1 if there is any.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from pytest_taskgraph.errors import NoCaseError, UsageError  # noqa: E402
from pytest_taskgraph.generation.builder import build  # noqa: E402
from pytest_taskgraph.generation.flaws import MUTATIONS  # noqa: E402
from pytest_taskgraph.generation.recipe import Recipe, least_tasks  # noqa: E402
from pytest_taskgraph.notations import NOTATIONS  # noqa: E402
from pytest_taskgraph.workflow.model import Workflow  # noqa: E402
from pytest_taskgraph.workflow.project import every_level  # noqa: E402

SCHEMA = Path("node_modules") / "bpmn-moddle" / "resources" / "bpmn" / "xsd" / "BPMN20.xsd"
FLAWS = ("drop-link", "disconnect", "back-link", "forward-link", "cross-condition")


def main() -> int:
    """Check the texts, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the folder in which bpmn-moddle is installed")
    parser.add_argument("--workflows", type=int, default=300, metavar="N", help="number of workflows")
    given = parser.parse_args()
    workflows = [workflow for workflow, _ in zip(drawn_workflows(), range(given.workflows), strict=False)]
    texts = [NOTATIONS["bpmn"].write(workflow) for workflow in workflows]
    found = Counter[str]()
    opened = zip(workflows, reference(given.folder, texts), schema_errors(given.folder, texts), strict=True)
    for number, (workflow, theirs, violation) in enumerate(opened):
        differences = [
            f"{name}: {theirs['counts'].get(name, 0)}, expected {expected}"
            for name, expected in counts(workflow).items()
            if theirs["counts"].get(name, 0) != expected
        ]
        found["warnings"] += len(theirs["warnings"])
        found["differences"] += len(differences)
        found["violations"] += bool(violation)
        for message in (*theirs["warnings"], *differences, *filter(None, [violation])):
            print(f"workflow {number}: {message}")
    checked = "" if has_schema() else " (not checked: xmlschema is not installed)"
    print(
        f"{len(texts)} workflows, {sum(map(len, texts)):,} characters: {found['warnings']} warnings of bpmn-moddle, "
        f"{found['differences']} differences in counts, {found['violations']} violations of the schema{checked}"
    )
    return 1 if found.total() else 0


def drawn_workflows() -> Iterator[Workflow]:
    """Yield workflows of drawn features and sizes; every third has a planted flaw, if it has room for one."""
    said = sorted(NOTATIONS["bpmn"].says)
    for seed in range(sys.maxsize):
        rng = Random(seed)
        features = frozenset(feature for feature in said if rng.random() < rng.choice([0.3, 0.7, 1.0]))
        vocabulary = rng.choice(["neutral", "kitchen", "orders"])
        try:
            smallest = Recipe(features=features, vocabulary=vocabulary, cross_links=rng.choice([0, 0, 2]))
            recipe = replace(smallest, tasks=least_tasks(smallest) + rng.randrange(12))
            workflow = build(recipe, rng)
            yield MUTATIONS[rng.choice(FLAWS)](workflow, rng) if seed % 3 == 0 else workflow
        except (NoCaseError, UsageError):
            continue


def reference(folder: Path, texts: list[str]) -> list[dict[str, Any]]:
    """Return the warnings and counts of bpmn-moddle for each text."""
    script = Path(__file__).with_suffix(".mjs")
    done = subprocess.run(
        ["node", str(script), str(folder.resolve())],
        input=json.dumps(texts), capture_output=True, text=True, timeout=600, check=True,
    )  # fmt: skip
    results: list[dict[str, Any]] = json.loads(done.stdout)
    return results


def has_schema() -> bool:
    """Return True if texts can be checked against a schema."""
    return importlib.util.find_spec("xmlschema") is not None


def schema_errors(folder: Path, texts: list[str]) -> Iterator[str]:
    """Yield the first violation of BPMN's schema in each text, empty if there is none."""
    if not has_schema():
        yield from ("" for _ in texts)
        return
    import xmlschema

    schema = xmlschema.XMLSchema(str(folder / SCHEMA))
    for text in texts:
        error = next(schema.iter_errors(text), None)
        yield "" if error is None else f"{error.path}: {error.reason}"


def counts(workflow: Workflow) -> dict[str, int]:
    """Return how many elements of each kind bpmn-moddle has to find."""
    levels = [*every_level(workflow)]
    tasks = [task for level in levels for task in level.tasks]
    return {
        "bpmn:StartEvent": len(levels),
        "bpmn:EndEvent": len(levels),
        "bpmn:Task": sum(not task.composite for task in tasks),
        "bpmn:SubProcess": sum(task.composite for task in tasks),
        "bpmn:DataObject": sum(len(level.data) for level in levels),
        "bpmn:BoundaryEvent": sum(len({link.source for link in level.exceptional_links}) for level in levels),
    }


if __name__ == "__main__":
    sys.exit(main())
