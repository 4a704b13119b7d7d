"""The HTML report of 5,000 questions, each about a workflow of its own: seconds to write, size, seconds to open.

    python perf/html_report.py [questions] [path of Chromium]

Opening is the time headless Chromium takes to load the page and draw it, less the time for an empty page: the median
of five each. Without Chromium only writing is measured.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pytest_taskgraph.generation.builder import generate
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.notations import notation
from pytest_taskgraph.reports.html import html
from pytest_taskgraph.results.record import About, build
from pytest_taskgraph.trial import Question, Reply, Score, Trial
from pytest_taskgraph.workflow.workflow_diagram import diagram

ABOUT = About("0.1.0", ("gpt-x",), 0, ("chain-of-thought",), "lenient", "questions")
THOUGHT = "The workflow lists its links one by one, and I follow each of them from START before I answer. "
PATTERNS = [(f"pattern_{at:02}", ("structure", "behaviour", "functionality")[at % 3]) for at in range(46)]
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


def build_record(many: int) -> dict[str, Any]:
    diagrams: dict[str, Any] = {}
    record = build(list(trials(many, diagrams)), ABOUT)
    return {**record, "diagrams": diagrams}


def trials(many: int, diagrams: dict[str, Any]) -> Iterator[Trial]:
    draw, wadl = Random(0), notation("wadl")
    for at in range(many):
        workflow = generate(Recipe(tasks=12, features=frozenset({"parallel", "exclusive"})), at)
        pattern, category = PATTERNS[at % len(PATTERNS)]
        cluster = f"{at:064x}"
        diagrams[cluster] = asdict(diagram(workflow))
        labels: dict[str, str | int] = {"tasks": len(workflow.tasks), "guards": at % 7, "depth": at % 9}
        text = f"Is there a link between tasks {at} and {at + 1}?"
        prompt = f"Here is a workflow.\n\n{wadl.write(workflow)}\n\n{text}"
        right = draw.random() < 0.8
        yield Trial(
            Question(f"{pattern}-wadl-n012-s0-{at:04}", "understanding", pattern, category, text, prompt, "yes-no",
                     "yes", "correctness", labels=labels, cluster=cluster),
            "gpt-x",
            "right" if right else "wrong",
            Reply(THOUGHT * draw.randint(2, 20) + "\nFinal answer: " + ("yes" if right else "no"), 1200, 150, 0.0012),
            Score(float(right), given="yes" if right else "no"),
        )  # fmt: skip


def seconds_to_open(chromium: str, page: Path) -> float:
    """Return the seconds of one start of Chromium that ends with a screenshot of the page."""
    with tempfile.TemporaryDirectory() as folder:
        start = perf_counter()
        subprocess.run(
            [chromium, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile",
             f"--screenshot={folder}/page.png", "--window-size=1280,1000", page.as_uri()],
            check=True, capture_output=True, timeout=120,
        )  # fmt: skip
        return perf_counter() - start


def main(many: int = 5000, chromium: str | None = None) -> None:
    chromium = chromium or next(filter(None, map(shutil.which, CHROMIUM)), None)
    record = build_record(many)
    start = perf_counter()
    text = html(record)
    print(f"{many:,} questions: written in {perf_counter() - start:.1f} s, {len(text) / 1e6:.1f} MB")
    if chromium is None:
        print("no Chromium found: not opened")
        return
    with tempfile.TemporaryDirectory() as folder:
        page, empty = Path(folder, "report.html"), Path(folder, "empty.html")
        page.write_text(text, encoding="utf-8")
        empty.write_text("<!DOCTYPE html><title>empty</title>", encoding="utf-8")
        seconds_to_open(chromium, empty)
        pairs = [(seconds_to_open(chromium, empty), seconds_to_open(chromium, page)) for _ in range(5)]
    before, after = (median(column) for column in zip(*pairs, strict=True))
    print(f"opened in {after - before:.2f} s ({after:.2f} s, of which {before:.2f} s for an empty page)")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    main(int(arguments[0]) if arguments else 5000, arguments[1] if len(arguments) > 1 else None)
