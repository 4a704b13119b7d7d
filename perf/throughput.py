"""What a question costs beside what pytest and the network cost: all rows in one run, their rounds interleaved.

    python perf/throughput.py [--n 1000] [--latency 0.2] [--flight 50] [--rounds 3] [--only lean/replay/...]
                              [--inspect-python PYTHON] [--json FILE] [--markdown]

The provider (perf/provider.py) runs in a process of its own. Each row is a whole process, including start-up, without
other plugins: wall time, and CPU time of user and system, of its own and of its workers. `x ideal` is the wall time
divided by n * latency / flight, `x plain` the CPU time divided by that of the row `plain pytest` of the same round; the
median of the rounds is shown.

    plain pytest   pytest on as many tests that do nothing
    plain -n 2     the same with two workers of pytest-xdist
    start          this plugin, with all questions deselected: start-up and collection
    simulated      questions are built, answered by a simulated model, scored and recorded; no network
    simulated -n 2 the same with two workers
    bare aiohttp   an asyncio script that sends the same prompts through aiohttp, with the same concurrency
    lean           pytest with the store, limits, retries, scoring and the table; --model=http://...#name
    lean -n 2      the same with two workers and a store of its own
    lean, kept     lean again with --taskgraph-refresh: replies are asked again, questions were kept
    second run     the same again, with all replies in the store
    replay         the same with --taskgraph-replay
    bare litellm   an asyncio script that sends the same prompts through litellm.acompletion
    openai/        as lean, with --model=openai/...
    litellm        the same through litellm; --model=litellm:openai/...
    inspect_ai     a task of inspect_ai with the same prompts and concurrency; --inspect-python names the Python of an
                   environment with inspect_ai and openai, and without it there is no such row
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from statistics import median

from aligned_table import table_lines
from whole_process import Measured, machine_state, run

from pytest_taskgraph.families.understanding.patterns import select
from pytest_taskgraph.families.understanding.understanding_family import understanding
from pytest_taskgraph.families.understanding.understanding_settings import UnderstandingSettings
from pytest_taskgraph.scoring.forms import form

HERE = Path(__file__).resolve().parent
PATTERNS = 20  # the first of the catalogue; the reader answers all of them
SUITE = """
from pytest_taskgraph import suite, understanding

@suite(understanding, patterns={patterns}, instances={instances})
def test_questions(trial):
    trial.check()
"""

BARE_LITELLM = """
import asyncio, json, os, sys
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
import litellm
litellm.suppress_debug_info = True
prompts, url, flight = json.load(open(sys.argv[1])), sys.argv[2], int(sys.argv[3])
async def main():
    slots = asyncio.Semaphore(flight)
    async def one(prompt):
        async with slots:
            messages = [{"role": "user", "content": prompt}]
            got = await litellm.acompletion("openai/fake", messages, api_base=url, api_key="k")
            return got.choices[0].message.content
    return await asyncio.gather(*map(one, prompts))
print(len(asyncio.run(main())))
"""
BARE_AIOHTTP = """
import asyncio, json, sys
import aiohttp
prompts, url, flight = json.load(open(sys.argv[1])), sys.argv[2], int(sys.argv[3])
async def main():
    slots = asyncio.Semaphore(flight)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        async def one(prompt):
            body = {"model": "fake", "messages": [{"role": "user", "content": prompt}]}
            async with slots, session.post(url + "/chat/completions", json=body) as got:
                return (await got.json())["choices"][0]["message"]["content"]
        return await asyncio.gather(*map(one, prompts))
print(len(asyncio.run(main())))
"""
INSPECT = """
import json, os, sys
os.environ |= {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": sys.argv[2]}
from inspect_ai import Task, eval as evaluate
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import match
from inspect_ai.solver import generate
prompts, flight = json.load(open(sys.argv[1])), int(sys.argv[3])
samples = [Sample(input=prompt, target="none") for prompt in prompts]
[log] = evaluate(
    Task(dataset=MemoryDataset(samples), solver=generate(), scorer=match()), model="openai/fake",
    model_args={"responses_api": False}, max_connections=flight, max_samples=flight, display="none", log_dir="logs",
)
sys.exit(0 if log.status == "success" and len(log.samples) == len(prompts) else 3)
"""
PLAIN = "import pytest\n\n@pytest.mark.parametrize('i', range({n}))\ndef test_plain(i):\n    pass\n"


def questions(n: int) -> tuple[str, dict[str, str], list[str]]:
    """Return a suite of n questions or slightly more, the right replies by digest of the prompt, and the prompts."""
    patterns = [pattern.name for pattern in select("structure")[:PATTERNS]]
    settings = UnderstandingSettings(instances=-(-n // PATTERNS))
    answers, prompts = {}, []
    for reference in understanding.references(settings, {"patterns": patterns}):
        question = understanding.question(reference, settings)
        head = "Final answer: " if question.place == "marker" else ""
        answers[sha256(question.prompt.encode()).hexdigest()] = head + form(question.form).write(
            question.reference, question.names
        )
        prompts.append(question.prompt)
    return SUITE.format(patterns=patterns, instances=settings.instances), answers, prompts


@contextmanager
def provider(*options: str) -> Iterator[str]:
    """Run a provider and yield its address; `options` are those of provider.py."""
    command = [sys.executable, str(HERE / "provider.py"), *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


@dataclass(frozen=True)
class Round(Measured):
    """One run of a command, with the counts of the provider."""

    counted: dict[str, float]


def measure_run(command: list[str], folder: Path, url: str) -> Round:
    """Run the command, which must succeed, and return its measures."""
    stats(url, "/reset")
    return Round(**vars(run(command, folder)), counted=stats(url))


def stats(url: str, path: str = "/stats") -> dict[str, float]:
    with urllib.request.urlopen(url + path) as response:
        return json.load(response)  # type: ignore[no-any-return]


def commands(
    url: str, n: int, flight: int, folder: Path, inspect_python: str = ""
) -> dict[str, Callable[[int], list[str]]]:
    """Return the rows: name -> the command of a round; each round of a live model has a new store."""
    (folder / "inspect_task.py").write_text(INSPECT)
    (folder / "bare_litellm.py").write_text(BARE_LITELLM)
    (folder / "bare_aiohttp.py").write_text(BARE_AIOHTTP)
    (folder / "test_plain.py").write_text(PLAIN.format(n=n))
    base, python = f"{url}/v1", sys.executable
    quiet = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    two = ["-p", "xdist", "-n", "2"]

    def asked(store: str, *options: str) -> list[str]:
        return [
            *quiet, "-p", "pytest_taskgraph.plugin.hooks", "test_questions.py", *options,
            f"--taskgraph-concurrency={flight}", f"--taskgraph-store={folder / store}",
        ]  # fmt: skip

    lean, simulated = f"--model={base}#fake", "--model=simulated:1"
    options = [word for setting in (f"api_base={base}", "api_key=k") for word in ("--taskgraph-model-option", setting)]
    return {
        PLAIN_ROW: lambda _: [*quiet, "test_plain.py"],
        "plain -n 2": lambda _: [*quiet, "test_plain.py", *two],
        "start": lambda _: asked("none", simulated, "-k", "nothing"),
        "simulated": lambda _: asked("none", simulated),
        "simulated -n 2": lambda _: asked("none", simulated, *two),
        "bare aiohttp": lambda _: [python, "bare_aiohttp.py", "prompts.json", base, str(flight)],
        "lean": lambda number: asked(f"lean{number}", lean),
        "lean -n 2": lambda number: asked(f"lean2-{number}", lean, *two),
        "lean, kept": lambda number: asked(f"lean{number}", lean, "--taskgraph-refresh"),
        "second run": lambda number: asked(f"lean{number}", lean),
        "replay": lambda number: asked(f"lean{number}", lean, "--taskgraph-replay"),
        "openai/": lambda number: asked(f"openai{number}", "--model=openai/fake", *options),
        "bare litellm": lambda _: [python, "bare_litellm.py", "prompts.json", base, str(flight)],
        "litellm": lambda number: asked(f"litellm{number}", "--model=litellm:openai/fake", *options),
        **({"inspect_ai": lambda _: [inspect_python, "inspect_task.py", "prompts.json", base, str(flight)]}
           if inspect_python else {}),
    }  # fmt: skip


PLAIN_ROW = "plain pytest"
# Rows that read the store that another one writes.
NEEDS = {"lean, kept": "lean", "second run": "lean", "replay": "lean"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--flight", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="names of rows, separated by /; plain pytest is always run")
    parser.add_argument("--inspect-python", default="", metavar="PYTHON", help="see inspect_ai above")
    parser.add_argument("--json", help="file to write the rounds of all rows to")
    parser.add_argument("--markdown", action="store_true", help="print a table of Markdown")
    options = parser.parse_args()
    suite, answers, prompts = questions(options.n)
    options.n = len(prompts)
    before = machine_state()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "test_questions.py").write_text(suite)
        (folder / "answers.json").write_text(json.dumps(answers))
        (folder / "prompts.json").write_text(json.dumps(prompts))
        with provider("--latency", str(options.latency), "--answers", str(folder / "answers.json")) as url:
            rows = commands(url, options.n, options.flight, folder, options.inspect_python)
            rounds = measure_rows(rows, options, folder, url)
    state = f"{before}; load after it {os.getloadavg()[0]:.2f}"
    ideal = options.n * options.latency / options.flight
    print(f"{options.n} questions, {options.latency} s a reply, {options.flight} in flight, ideal {ideal:.2f} s")
    print(f"{options.rounds} rounds; {state}")
    cells = [row(name, of_row, rounds[PLAIN_ROW], options.n, ideal) for name, of_row in rounds.items()]
    print("\n".join(table_lines(HEADINGS, cells, options.markdown)))
    if options.json:
        facts = {"questions": options.n, "ideal_s": ideal, "state": state}
        measured = {name: [vars(each) for each in of_row] for name, of_row in rounds.items()}
        Path(options.json).write_text(json.dumps({**facts, "rows": measured}, indent=1))


def measure_rows(
    rows: dict[str, Callable[[int], list[str]]], options: argparse.Namespace, folder: Path, url: str
) -> dict[str, list[Round]]:
    """Return the rounds of each row; the first, unmeasured run of pytest compiles the modules."""
    wanted = {PLAIN_ROW, *(options.only.split("/") if options.only else rows)}
    if unknown := sorted(wanted - {*rows}):
        sys.exit(f"--only: unknown row {unknown[0]!r}; known: {', '.join(rows)}")
    wanted |= {NEEDS[name] for name in wanted if name in NEEDS}
    measure_run(rows["start"](0), folder, url)
    rounds: dict[str, list[Round]] = {name: [] for name in rows if name in wanted}
    for number in range(options.rounds):
        for name, of_row in rounds.items():
            of_row.append(measure_run(rows[name](number), folder, url))
            print(f"round {number + 1}: {name}: {of_row[-1].cpu:.2f} s of CPU", file=sys.stderr, flush=True)
    return rounds


HEADINGS = ("row", "wall s", "min-max", "x ideal", "CPU s", "CPU ms a question", "x plain", "asked", "right")


def row(name: str, rounds: list[Round], plain: list[Round], n: int, ideal: float) -> list[str]:
    """Return the cells of a row, medians of its rounds."""
    walls = sorted(measured.wall for measured in rounds)
    wall, cpu = median(walls), median(measured.cpu for measured in rounds)
    ratio = median(measured.cpu / control.cpu for measured, control in zip(rounds, plain, strict=True))
    right = re.search(r"(\d+) of (\d+) right", rounds[0].text)
    asked = int(rounds[0].counted["arrived"])
    return [
        name, f"{wall:.2f}", f"{walls[0]:.2f}-{walls[-1]:.2f}", f"{wall / ideal:.2f}" if ideal and asked else "",
        f"{cpu:.2f}", f"{1000 * cpu / n:.2f}", f"{ratio:.2f}", str(asked or ""), right[1] if right else "",
    ]  # fmt: skip


if __name__ == "__main__":
    main()
