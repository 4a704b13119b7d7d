"""Flowcharts as our reader and the Mermaid parser read them: nodes, arrows and subgraphs, compared.

    npm install --prefix FOLDER mermaid jsdom
    python perf/mermaid_reference.py FOLDER [FILE ...]

Without files, the corpus of the tests is compared. For each chart that both read, ids of nodes, arrows (source, target,
heads, text) and the contents of subgraphs are compared; charts that only one of the two reads are listed. Exit code 1
if they differ.
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
    verdicts = Counter[str]()
    for text, theirs in zip(texts, reference(given.folder, texts), strict=True):
        verdict, detail = compare_chart(text, theirs)
        verdicts[verdict] += 1
        if detail:
            print(f"{verdict}: {detail}\n{text}")
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items())))
    return 1 if verdicts["different"] else 0


def charts_of(path: Path) -> list[str]:
    """Return the flowcharts of a file: those between fences, or all of it."""
    text = path.read_text(encoding="utf-8", errors="replace")
    fenced = [fence[2] for fence in FENCED.finditer(text)] or [text]
    return [chart for chart in fenced if re.search(r"^\s*(?:flowchart|graph)\b", chart, re.MULTILINE)]


def reference(folder: str, texts: list[str]) -> list[dict[str, Any]]:
    """Return the content of each chart as the Mermaid parser reads it."""
    script = Path(__file__).with_suffix(".mjs")
    done = subprocess.run(
        ["node", str(script), str(Path(folder).resolve())],
        input=json.dumps(texts), capture_output=True, text=True, timeout=600, check=True,
    )  # fmt: skip
    charts: list[dict[str, Any]] = json.loads(done.stdout)
    return charts


def compare_chart(text: str, theirs: dict[str, Any]) -> tuple[str, str]:
    """Return the verdict on a chart, and the differences."""
    try:
        (ours,) = read_charts(Source(text, ""))
    except ReadError as error:
        return ("read by neither", "") if "error" in theirs else ("read by Mermaid alone", str(error))
    if "error" in theirs:
        return "read by us alone", ""
    both = {"nodes": nodes(ours, theirs), "arrows": arrows(ours, theirs), "subgraphs": boxes(ours, theirs)}
    different = [f"{what}: ours {own}, Mermaid's {other}" for what, (own, other) in both.items() if own != other]
    return ("different", "; ".join(different)) if different else ("equal", "")


def nodes(ours: Chart, theirs: dict[str, Any]) -> tuple[object, object]:
    """Return the ids of the nodes, ours and Mermaid's, without those of subgraphs."""
    subgraphs = set(ours.subgraphs)
    return sorted(set(ours.vertices) - subgraphs), sorted({node for node, _ in theirs["nodes"]} - subgraphs)


def arrows(ours: Chart, theirs: dict[str, Any]) -> tuple[object, object]:
    """Return the arrows: ends, heads and text. An arrow with two heads counts as one in each direction."""
    expected = []
    for source, target, kind, text, stroke in theirs["edges"]:
        if stroke == "invisible":
            continue
        double = kind.startswith("double_")
        head = HEADS[kind.removeprefix("double_")]
        sign = ({">": "<"}.get(head, head) + head) if double else head
        expected.append((source, target, sign, normalize(text)))
        if double:
            expected.append((target, source, sign, normalize(text)))
    return sorted((edge.source, edge.target, edge.sign, normalize(edge.text or "")) for edge in ours.edges), sorted(
        expected
    )


def boxes(ours: Chart, theirs: dict[str, Any]) -> tuple[object, object]:
    """Return the nodes directly in each subgraph."""
    inside: dict[str, list[str]] = {box: [] for box in ours.subgraphs}
    for node, box in ours.owner.items():
        if node not in ours.subgraphs:
            inside[box].append(node)
    subgraphs = set(ours.subgraphs)
    mine = sorted(sorted(members) for members in inside.values())
    return mine, sorted(sorted(set(members) - subgraphs) for _, _, members in theirs["boxes"] if subgraphs or members)


def normalize(text: str) -> str:
    """Return a text without what the parsers treat differently: blanks, quotes, slashes of tags, character codes."""
    return re.sub(r"[\s\"/]|ﬂ°°?\w+¶ß|#\w+;", "", text)


if __name__ == "__main__":
    sys.exit(main())
