"""Flowcharts as our reader and the Mermaid parser itself read them: nodes, arrows and subgraphs, compared.

    npm install --prefix FOLDER mermaid jsdom
    python perf/mermaid_reference.py FOLDER [FILE ...]

Without files, the corpus of the tests is compared. For each chart that both read, ids of nodes, arrows (source, target,
heads, text) and the contents of subgraphs are held against each other; charts that only one of the two reads are
listed. Exit code 1 where they differ.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from pytest_taskgraph.errors import ReadError
from pytest_taskgraph.notations.mermaid.chart import Chart, read_charts
from pytest_taskgraph.source import Source

ROOT = Path(__file__).parents[1]
CORPUS = ROOT / "tests" / "charts" / "corpus.md"
FENCED = re.compile(r"^([ \t]*)```mermaid[^\n]*\n(.*?)^[ \t]*```", re.MULTILINE | re.DOTALL)
HEADS = {"arrow_open": "", "arrow_point": ">", "arrow_circle": "o", "arrow_cross": "x"}


def main() -> int:
    """Compare all charts, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="the folder in which mermaid and jsdom are installed")
    parser.add_argument("files", nargs="*", type=Path, help="files of Mermaid or Markdown")
    given = parser.parse_args()
    texts = [text for path in given.files or [CORPUS] for text in charts_of(path)]
    told = Counter[str]()
    for text, theirs in zip(texts, reference(given.folder, texts), strict=True):
        verdict, detail = compared(text, theirs)
        told[verdict] += 1
        if detail:
            print(f"{verdict}: {detail}\n{text}")
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(told.items())))
    return 1 if told["different"] else 0


def charts_of(path: Path) -> list[str]:
    """Return the flowcharts of a file: those between fences, or all of it."""
    text = path.read_text(encoding="utf-8", errors="replace")
    fenced = [found[2] for found in FENCED.finditer(text)] or [text]
    return [one for one in fenced if re.search(r"^\s*(?:flowchart|graph)\b", one, re.MULTILINE)]


def reference(folder: str, texts: list[str]) -> list[dict[str, Any]]:
    """Return what the Mermaid parser finds in each chart."""
    script = Path(__file__).with_suffix(".mjs")
    done = subprocess.run(
        ["node", str(script), str(Path(folder).resolve())],
        input=json.dumps(texts), capture_output=True, text=True, timeout=600, check=True,
    )  # fmt: skip
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def compared(text: str, theirs: dict[str, Any]) -> tuple[str, str]:
    """Return the verdict over a chart, and what differs."""
    try:
        (ours,) = read_charts(Source(text, ""))
    except ReadError as error:
        return ("read by neither", "") if "error" in theirs else ("read by Mermaid alone", str(error))
    if "error" in theirs:
        return "read by us alone", ""
    both = {"nodes": nodes(ours, theirs), "arrows": arrows(ours, theirs), "subgraphs": boxes(ours, theirs)}
    different = [f"{what}: ours {one}, Mermaid's {other}" for what, (one, other) in both.items() if one != other]
    return ("different", "; ".join(different)) if different else ("equal", "")


def nodes(ours: Chart, theirs: dict[str, Any]) -> tuple[object, object]:
    """Return the ids of the nodes, ours and theirs; ids of subgraphs are no nodes."""
    known = set(ours.subgraphs)
    return sorted(set(ours.vertices) - known), sorted({id for id, _ in theirs["nodes"]} - known)


def arrows(ours: Chart, theirs: dict[str, Any]) -> tuple[object, object]:
    """Return the arrows: ends, heads and text. One with two heads stands for one each way."""
    found = []
    for source, target, kind, text, stroke in theirs["edges"]:
        if stroke == "invisible":
            continue
        double = kind.startswith("double_")
        head = HEADS[kind.removeprefix("double_")]
        sign = ({">": "<"}.get(head, head) + head) if double else head
        found.append((source, target, sign, squeezed(text)))
        if double:
            found.append((target, source, sign, squeezed(text)))
    return sorted((one.source, one.target, one.sign, squeezed(one.text or "")) for one in ours.edges), sorted(found)


def boxes(ours: Chart, theirs: dict[str, Any]) -> tuple[object, object]:
    """Return the nodes directly in each subgraph."""
    inside: dict[str, list[str]] = {box: [] for box in ours.subgraphs}
    for node, box in ours.owner.items():
        if node not in ours.subgraphs:
            inside[box].append(node)
    known = set(ours.subgraphs)
    mine = sorted(sorted(some) for some in inside.values())
    return mine, sorted(sorted(set(some) - known) for _, _, some in theirs["boxes"] if known or some)


def squeezed(text: str) -> str:
    """Return a text without what the parsers keep or drop differently: blanks, quotes, slashes of tags, codes."""
    return re.sub(r"[\s\"/]|ﬂ°°?\w+¶ß|#\w+;", "", text)


if __name__ == "__main__":
    sys.exit(main())
