"""The tables of docs/results.md from records of runs: a model beside chance, the baselines and the papers' rows.

    python perf/real_results.py RECORD [RECORD ...] --model NAME

Each record is what `--taskgraph-report json=RECORD` wrote; the models of all of them are taken together, and their
questions should be the same. A row for each section or method of a family: the headline score of the model with its
95 % interval, how many of its replies were unparseable or truncated, the level of chance, the scores of the
baseline and of random answers, and the lowest and the highest number that the paper states for this score.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

RANDOM = "baseline:random"
ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from pytest_taskgraph.family_description import FamilyDescription  # noqa: E402 - found through the line above
from pytest_taskgraph.reports.wording import interval, number  # noqa: E402
from pytest_taskgraph.results import record  # noqa: E402
from pytest_taskgraph.results.descriptions import Descriptions  # noqa: E402
from pytest_taskgraph.results.overview import TOTAL, OverviewEntry, OverviewRow, overview  # noqa: E402
from pytest_taskgraph.results.tally import Group, Tally  # noqa: E402


def combined(paths: list[Path]) -> Tally:
    """Return the tally of all trials of the records."""
    tallies = [record.tally_of(record.load(path), diagrams=False) for path in paths]
    described = {name: tally.descriptions[name] for tally in tallies for name in tally.families}
    whole = Tally(Descriptions(described.values()))
    for tally in tallies:
        for trial in tally:
            whole.add(trial, tally.attempts(trial))
    return whole


def published(description: FamilyDescription, row: OverviewRow) -> str:
    """Return the lowest and the highest number that the paper states for the score of a row; empty if none.

    STEPS has pass rates of two methods, and the paper only that by perplexity.
    """
    values = [
        reference for spec in description.tables for reference in spec.references
        if reference.column == row.value and (row.value != "rate" or row.name == "perplexity")
    ]  # fmt: skip
    if not values:
        return ""
    ends = min(values, key=lambda one: one.value), max(values, key=lambda one: one.value)
    return " to ".join(f"{number(one.value)} ({one.row})" for one in ends)


def share(count: int, of: int) -> str:
    """Return a count with its share."""
    return f"{count} of {of}" if of else "-"


def truncated(part: Tally, model: str, row: OverviewRow) -> int:
    """Return how many questions of a row have no score since their reply was cut off."""
    groups: list[Group] = [
        group for by in ("group", "section") for group in part.groups(by, graded=row.graded)
        if group.name == row.name.removesuffix(", graded") and group.model == model
    ]  # fmt: skip
    if row.name == TOTAL:
        groups = [part.total_group(model)]
    trials = {id(trial): trial for group in groups for trial in group.trials}
    failures = [trial.failure for trial in trials.values() if trial.failure is not None]
    return sum(failure.kind == "truncated" for failure in failures)


def score(entry: OverviewEntry | None) -> str:
    """Return the headline score of an entry."""
    return "-" if entry is None or not entry.row.n else number(entry.score.value)


def lines(tally: Tally, model: str) -> Iterator[str]:
    """Yield the lines of the table."""
    others = {"baseline": [name for name in tally.models if name not in (model, RANDOM)], "random": [RANDOM]}
    heads = ["family", "questions", "measure", "answered", "score", "95 % interval", "unparseable", "truncated"]
    heads += ["chance", *others, "published"]
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * len(heads)
    for family in tally.families:
        part = tally.of_family(family)
        description = tally.descriptions[family]
        for row in overview(part):
            entries = dict(zip(part.models, row.entries, strict=True))
            own = entries.get(model)
            if own is None:
                continue
            asked = own.row.n + own.row.errors
            cells = [family, row.name, row.value, share(own.row.n, asked), score(own), interval(own.score.ends)]
            cells += [share(own.row.unparseable, asked), share(truncated(part, model, row), asked)]
            cells.append(number(own.row.chance))
            for names in others.values():
                cells.append(next((score(entries[name]) for name in names if name in entries), "-"))
            cells.append(published(description, row))
            yield f"| {' | '.join(cells)} |"


def main() -> int:
    options = argparse.ArgumentParser(description="The tables of docs/results.md.")
    options.add_argument("records", nargs="+", type=Path)
    options.add_argument("--model", required=True, help="the model that is compared, by its name in the records")
    chosen = options.parse_args()
    for line in lines(combined(chosen.records), chosen.model):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
