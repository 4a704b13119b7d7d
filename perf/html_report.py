"""The HTML report: the CPU time that it adds to a run; seconds to write and open a large page, and its size.

    python perf/html_report.py [--run 1000] [--rounds 3] [--page 5000] [--chromium PATH]

A run asks simulated models the questions of suites/understanding, about --run of them. Each row is of whole processes,
including start-up: CPU time of user and system without and with HTML, alternately, medians of --rounds; the last column
is the range of the ratios of the rounds.

The page has --page questions, each about a workflow of its own. Opening is the time headless Chromium takes to load the
page and draw it, less the time for an empty page: the median of five each. Without Chromium only writing is measured.
0 leaves out a part.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter
from typing import Any

from whole_process import Measured, machine_state, run

from pytest_taskgraph.generation import builder
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.notations import notation
from pytest_taskgraph.reports.html import html
from pytest_taskgraph.results.record import About, build
from pytest_taskgraph.trial import Question, Reply, Score, Trial
from pytest_taskgraph.workflow.workflow_diagram import diagram

ABOUT = About("0.1.0", ("gpt-x",), 0, ("chain-of-thought",), "lenient", "questions")
THOUGHT = "The workflow lists its links one by one, and I follow each of them from START before I answer. "
PATTERNS = [(f"pattern_{at:02}", ("structure", "behaviour", "functionality")[at % 3]) for at in range(46)]
SUITE = Path(__file__).resolve().parents[1] / "suites" / "understanding"
MODELS = ("simulated:0.8", "simulated:0.2", "baseline")
WITH_HTML = ("--taskgraph-report", "html=report.html")
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


def build_record(many: int) -> dict[str, Any]:
    diagrams: dict[str, Any] = {}
    record = build(list(trials(many, diagrams)), ABOUT)
    return {**record, "diagrams": diagrams}


def trials(many: int, diagrams: dict[str, Any]) -> Iterator[Trial]:
    draw, wadl = Random(0), notation("wadl")
    for at in range(many):
        workflow = builder.build(Recipe(tasks=12, features=frozenset({"parallel", "exclusive"})), Random(at))
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


def print_ratios(questions: int, rounds: int) -> None:
    """Print for each model how much CPU time and memory a run takes without and with HTML."""
    print(machine_state())
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        suite = shutil.copytree(SUITE, folder / "suite")
        command = [
            sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "pytest_taskgraph.plugin.hooks",
            str(suite), f"--taskgraph-instances={-(-questions // len(PATTERNS))}", "--taskgraph-fail-on=nothing",
        ]  # fmt: skip
        run([*command, "--model=baseline", "--taskgraph-report", "html=compiled.html"], folder)  # compiles the modules
        for model in MODELS:
            asked = [*command, f"--model={model}"]
            pairs = [(run(asked, folder), run([*asked, *WITH_HTML], folder)) for _ in range(rounds)]
            print(f"{model}: {_ratio_line(pairs)}")


def _ratio_line(pairs: Sequence[tuple[Measured, Measured]]) -> str:
    """Return the medians of CPU time and peak memory, and the ratios of CPU time, of runs without and with HTML."""
    without, with_html = zip(*pairs, strict=True)
    ratios = sorted(after.cpu / before.cpu for before, after in pairs)
    cpu = [median(measured.cpu for measured in column) for column in (without, with_html)]
    peak = [median(measured.peak for measured in column) for column in (without, with_html)]
    return (
        f"{cpu[0]:.2f} s of CPU and {peak[0]:.0f} MB without HTML, {cpu[1]:.2f} s and {peak[1]:.0f} MB with it, "
        f"x {median(ratios):.2f} ({ratios[0]:.2f}-{ratios[-1]:.2f})"
    )


def print_page(questions: int, chromium: str | None) -> None:
    """Print how long a page takes to write and to open, and how large it is."""
    chromium = chromium or next(filter(None, map(shutil.which, CHROMIUM)), None)
    record = build_record(questions)
    start = perf_counter()
    text = html(record)
    print(f"{questions:,} questions: written in {perf_counter() - start:.1f} s, {len(text) / 1e6:.1f} MB")
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=int, default=1000, metavar="N", help="questions of a run")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="runs without and with HTML, of each model")
    parser.add_argument("--page", type=int, default=5000, metavar="N", help="questions of the page")
    parser.add_argument("--chromium", metavar="PATH", help="Chromium; found by its usual names by default")
    options = parser.parse_args()
    if options.run:
        print_ratios(options.run, options.rounds)
    if options.page:
        print_page(options.page, options.chromium)


if __name__ == "__main__":
    main()
