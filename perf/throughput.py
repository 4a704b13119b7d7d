"""Times of a run of a thousand questions, compared to the minimum of the provider and to bare scripts.

    python perf/throughput.py [--n 1000] [--latency 0.2] [--flight 50] [--rounds 3] [--only lean,litellm,...]

The provider (perf/provider.py) runs in a process of its own. Each row is the wall time of a whole process, including
start-up, without other plugins; the ideal is n * latency / flight.

    bare litellm   an asyncio script that sends the same prompts through litellm.acompletion, with the same concurrency
    bare aiohttp   the same through aiohttp
    lean, litellm  pytest with the store, limits, retries, scoring and the table; --model=http://…#name, openai/…
    plain pytest   pytest on as many tests that do nothing
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from pytest_taskgraph.benchmarks.understanding import understanding
from pytest_taskgraph.benchmarks.understanding.family_options import UnderstandingSettings
from pytest_taskgraph.benchmarks.understanding.patterns import select
from pytest_taskgraph.scoring.forms import form

HERE = Path(__file__).resolve().parent
# Other installed plugins are left out: they cost 0.3 s, and pytest-rerunfailures keeps every traceback. Compiled
# modules are kept, so that imports are not compiled in each run.
ALONE = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
ALONE["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
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
class Round:
    """One run of a command: seconds, its output, and the counts of the provider."""

    start: float  # time.time()
    wall: float
    cpu: float
    text: str
    counted: dict[str, float]

    def phases(self) -> str:
        """Return the seconds before the first request, between it and the last answer, and after that."""
        first, last = self.counted["first"], self.counted["last"]
        return f"{first - self.start:.2f} + {last - first:.2f} + {self.start + self.wall - last:.2f}" if first else ""


def measure_run(command: list[str], folder: Path, url: str) -> Round:
    """Run the command, which must succeed, and return its measures."""
    stats(url, "/reset")
    start, before = time.time(), os.times()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=ALONE)
    wall, after = time.time() - start, os.times()
    assert done.returncode in (0, 1), done.stdout + done.stderr
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return Round(start, wall, cpu, done.stdout, stats(url))


def stats(url: str, path: str = "/stats") -> dict[str, float]:
    with urllib.request.urlopen(url + path) as response:
        return json.load(response)  # type: ignore[no-any-return]


def commands(url: str, n: int, flight: int, folder: Path) -> dict[str, Callable[[], list[str]]]:
    """Return the rows: name -> the command of one round, each with a new store."""
    (folder / "bare_litellm.py").write_text(BARE_LITELLM)
    (folder / "bare_aiohttp.py").write_text(BARE_AIOHTTP)
    (folder / "test_plain.py").write_text(PLAIN.format(n=n))
    base, python = f"{url}/v1", sys.executable
    quiet = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider"]

    def run(*model: str) -> list[str]:
        store = tempfile.mkdtemp(dir=folder)
        return [
            *quiet, "-p", "pytest_taskgraph.plugin.hooks", "test_questions.py", *model,
            f"--taskgraph-concurrency={flight}", f"--taskgraph-store={store}",
        ]  # fmt: skip

    return {
        "bare aiohttp": lambda: [python, "bare_aiohttp.py", "prompts.json", base, str(flight)],
        "lean": lambda: run(f"--model={base}#fake"),
        "bare litellm": lambda: [python, "bare_litellm.py", "prompts.json", base, str(flight)],
        "litellm": lambda: run("--model=openai/fake", "--taskgraph-model-option", f"api_base={base}",
                               "--taskgraph-model-option", "api_key=k"),
        "plain pytest": lambda: [*quiet, "test_plain.py"],
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--flight", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    suite, answers, prompts = questions(options.n)
    options.n = len(prompts)
    ideal = options.n * options.latency / options.flight
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "test_questions.py").write_text(suite)
        (folder / "answers.json").write_text(json.dumps(answers))
        (folder / "prompts.json").write_text(json.dumps(prompts))
        print(f"{len(prompts)} questions, {options.latency} s, {options.flight} in flight, ideal {ideal:.2f} s")
        print(
            f"{'':14}{'wall s':>8}{'x ideal':>9}{'CPU s':>8}{'min-max':>14}{'asked':>7}{'most':>6}"
            "  before first + asking + after last"
        )
        with provider("--latency", str(options.latency), "--answers", str(folder / "answers.json")) as url:
            for name, command in commands(url, options.n, options.flight, folder).items():
                if not options.only or name in options.only.split(","):
                    print(
                        row(name, [measure_run(command(), folder, url) for _ in range(options.rounds)], ideal),
                        flush=True,
                    )


def row(name: str, rounds: list[Round], ideal: float) -> str:
    """Return the row of the median round, with the span of the others."""
    rounds = sorted(rounds, key=lambda measured: measured.wall)
    middle, right = rounds[len(rounds) // 2], re.search(r"(\d+) of (\d+) right", rounds[0].text)
    times = f"{middle.wall / ideal:9.2f}" if ideal else f"{'-':>9}"
    span = f"{rounds[0].wall:.2f}-{rounds[-1].wall:.2f}"
    arrived, most = middle.counted["arrived"], middle.counted["most_in_flight"]
    return (
        f"{name:14}{middle.wall:8.2f}{times}{middle.cpu:8.2f}{span:>14}{arrived:7}{most:6}  {middle.phases():22}"
        f"{right[0] if right else ''}"
    )


if __name__ == "__main__":
    main()
