"""Keep what users see of the shipped suites, and compare two such folders, to show that a change changed nothing else.

    python perf/golden_records.py write FOLDER [--checkout PATH] [--only WORD]
    python perf/golden_records.py compare FOLDER OTHER [--lines 3]

`write` runs suites/ of a checkout (this one, unless another is named), each run a process of its own in an empty
project. Two folders that were written at one commit are equal byte by byte: times, dates, versions, paths and facts of
the machine are replaced by placeholders. `compare` prints a line for each kind of output and the first differing lines
of each file, of a record all differing keys; its exit code is 1 if there is a difference. A run that one folder lacks
is one.

A folder holds a folder for each run, named by its suite, model, width and verbosity:

    terminal.txt     the exit code, standard output and standard error
    questions.jsonl  of each question: id, model, digest of the prompt, reference answer, outcome and score
    record.json, report.md, report.csv, tables.csv, report.html, junit.xml
                     the reports; runs that differ in width or verbosity alone have none

The runs: each family by `baseline` and by `simulated:0.8`, in the terminal with -q, -v and neither, at 80 and 120
columns; understanding with two prompt templates and three notations; all families by the replies that the simulated
models gave (`recorded:`), in one process and with two workers of pytest-xdist.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
FAMILIES = ("understanding", "tasklama", "steps", "paged")
MODELS = {"baseline": "baseline", "simulated": "simulated:0.8"}
REPLIES = "replies.jsonl"
REPORTS = {
    "json": "record.json", "md": "report.md", "csv": "report.csv", "tables": "tables.csv", "html": "report.html",
}  # fmt: skip
JUNIT = "junit.xml"
KINDS = {
    "terminal.txt": "terminal", "report.md": "markdown", "report.csv": "csv", "tables.csv": "tables",
    "report.html": "html", JUNIT: "junit", "record.json": "record",
}  # fmt: skip
QUESTIONS = "questions.jsonl"
FACTS = {"ids": (), "prompts": ("prompt",), "references": ("reference",), "scores": ("outcome", "score")}
UNKNOWN = "<removed>"

# What differs between runs of one commit, in texts: pattern -> replacement.
VOLATILE = {
    r"^platform .*": "platform <removed>",
    r"^plugins: .*\n": "",
    r"\bin \d+\.\d+s\b(?: \(\d+:\d\d:\d\d\))?": "in <time>",
    r"^=+ (.*in <time>.*?) =+$": r"= \1 =",
    r"^-+ (generated xml file: .*?) -+$": r"- \1 -",
    r"\btaskgraph \d+\.\d+\.\d+\S*?(?=:)": "taskgraph <version>",
    r"^- (date|duration|git commit|pytest-taskgraph-bench|Python|pytest|litellm|platform): .*": r"- \1: <removed>",
    r"<dt>(date|duration|git commit|pytest-taskgraph-bench|Python|pytest|litellm|platform)</dt><dd>.*?</dd>": (
        r"<dt>\1</dt><dd><removed></dd>"
    ),
}
PROGRESS = re.compile(r"^(?:[.FEsx]+ *(?:\[ *\d+%\])?|bringing up nodes\.*|.*\bworkers\b.*)\n", re.MULTILINE)
MACHINE = {"started", "seconds", "commit", "dirty", "versions", "platform"}  # keys of the provenance in a record
PROPERTIES = re.compile(r"taskgraph\.(?:started|seconds|git_\w+|version(?:\.[\w-]+)?|platform)")


@dataclass(frozen=True)
class GoldenRun:
    """A run of pytest whose outputs are kept."""

    name: str
    arguments: tuple[str, ...]
    width: int = 80
    reports: bool = False
    replays: bool = False  # takes the replies that the simulated models of all families gave

    @property
    def parallel(self) -> bool:
        """Return True if the run has workers, so that the order of progress and of test cases differs."""
        return "xdist" in self.arguments


def golden_runs() -> Iterator[GoldenRun]:
    """Yield the runs; one that replays replies comes after those that gave them."""
    for family in FAMILIES:
        for name, model in MODELS.items():
            asked = (f"suites/{family}", f"--model={model}")
            yield GoldenRun(f"{family}-{name}-80", asked, reports=True)
            for width in (80, 120):
                for verbosity in ("-q", "-v"):
                    yield GoldenRun(f"{family}-{name}-{width}{verbosity}", (*asked, verbosity), width)
    prompts = ("--taskgraph-prompt=chain-of-thought", "--taskgraph-prompt=direct")
    notations = ("--taskgraph-notation=wadl,mermaid,prose", "--taskgraph-instances=1")
    varied = ("suites/understanding", "--model=simulated:0.8", *prompts, *notations)
    yield GoldenRun("understanding-prompts-notations", varied, reports=True)
    recorded = ("suites", f"--model=recorded:{REPLIES}")
    yield GoldenRun("all-recorded", recorded, reports=True, replays=True)
    workers = ("-p", "xdist", "-n", "2", "--tb=no", "-rN")
    yield GoldenRun("all-recorded-workers", (*recorded, *workers), reports=True, replays=True)


def write(folder: Path, checkout: Path, only: str) -> None:
    """Write the outputs of the run named `only`, else of runs whose names hold it, and of the runs that they replay."""
    runs = list(golden_runs())
    chosen = [run for run in runs if run.name == only] or [run for run in runs if only in run.name]
    if not chosen:
        sys.exit(f"--only: no run has {only!r} in its name; runs: {', '.join(run.name for run in runs)}")
    if any(run.replays for run in chosen):
        chosen = [run for run in runs if run in chosen or run.name in _simulated()]
    for run in chosen:
        with tempfile.TemporaryDirectory() as temporary:
            project = Path(temporary).resolve()
            shutil.copytree(checkout / "suites", project / "suites", ignore=shutil.ignore_patterns("__pycache__"))
            (project / "pytest.ini").write_text("[pytest]\n")
            if run.replays:
                records = [folder / name / REPORTS["json"] for name in _simulated()]
                (project / REPLIES).write_text("".join(map(reply_lines, records)), encoding="utf-8")
            code = keep_outputs(run, project, checkout, folder / run.name)
        print(f"{run.name}: exit code {code}", flush=True)


def _simulated() -> list[str]:
    return [f"{family}-simulated-80" for family in FAMILIES]


def reply_lines(path: Path) -> str:
    """Return the replies of a record as the lines of a file for `recorded:`."""
    record = json.loads(path.read_text(encoding="utf-8"))
    rows = (
        {"prompt": prompt_text(record, trial), "reply": trial["reply"]["text"]}
        for trial in record["trials"]
        if trial["reply"]
    )
    return "".join(json.dumps(row) + "\n" for row in rows)


def prompt_text(record: Mapping[str, Any], trial: Mapping[str, Any]) -> str:
    return "".join(record["texts"][digest] for digest in trial["question"]["prompt"])


def keep_outputs(run: GoldenRun, project: Path, checkout: Path, folder: Path) -> int:
    """Run pytest in the project, write its outputs without what is volatile, and return its exit code."""
    reports = [f"--taskgraph-report={kind}={name}" for kind, name in REPORTS.items()]
    command = [
        *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "pytest_taskgraph.plugin.hooks"),
        *run.arguments,
        *([*reports, f"--junitxml={JUNIT}"] if run.reports else []),
    ]
    inherited = {name: os.environ[name] for name in ("PATH", "TMPDIR", "PYTHONHASHSEED") if name in os.environ}
    environment = inherited | {
        "COLUMNS": str(run.width), "HOME": str(project), "LANG": "C.UTF-8", "PYTHONPATH": str(checkout),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "TERM": "dumb", "TZ": "UTC",
    }  # fmt: skip
    ran = subprocess.run(
        command, cwd=project, env=environment, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8"
    )
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    output = PROGRESS.sub("", ran.stdout) if run.parallel else ran.stdout
    texts = {"terminal.txt": f"exit code {ran.returncode}\n{output}--- standard error\n{ran.stderr}"}
    written = [path for name in (*REPORTS.values(), JUNIT) if (path := project / name).exists()]
    texts |= {path.name: path.read_text(encoding="utf-8") for path in written}
    for name, text in texts.items():
        (folder / name).write_text(normalised(name, text, project, checkout), encoding="utf-8")
    if (folder / REPORTS["json"]).exists():
        record = json.loads((folder / REPORTS["json"]).read_text(encoding="utf-8"))
        lines = (json.dumps(facts, sort_keys=True, ensure_ascii=False) + "\n" for facts in question_facts(record))
        (folder / QUESTIONS).write_text("".join(lines), encoding="utf-8")
    return ran.returncode


def normalised(name: str, text: str, project: Path, checkout: Path) -> str:
    """Return an output without times, dates, versions, paths and facts of the machine."""
    if name == REPORTS["json"]:
        text = json.dumps(without_machine(json.loads(text)), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    elif name == JUNIT:
        text = normalised_junit(text)
    for path, placeholder in ((project, "<project>"), (checkout, "<checkout>")):
        text = text.replace(str(path), placeholder)
    for pattern, replacement in VOLATILE.items() if name != REPORTS["json"] else ():
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    return text


def without_machine(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record without version, latencies, and the circumstances that time or machine decide."""
    provenance = record["provenance"] | dict.fromkeys(MACHINE, UNKNOWN)
    return {key: _without_latency(value) for key, value in record.items()} | {
        "version": UNKNOWN, "provenance": provenance,
    }  # fmt: skip


def _without_latency(value: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, dict):
        return {key: _without_latency(inner) if key != "latency" else UNKNOWN for key, inner in value.items()}
    return [_without_latency(inner) for inner in value] if isinstance(value, list) else value


def normalised_junit(text: str) -> str:
    """Return JUnit XML with its test cases by name and without times, dates, host, versions and platform."""
    root = ElementTree.fromstring(text)
    for element in root.iter():
        for name in {"time", "timestamp", "hostname"} & element.attrib.keys():
            element.set(name, UNKNOWN)
        if element.tag == "property" and PROPERTIES.fullmatch(element.get("name", "")):
            element.set("value", UNKNOWN)
    for suite in root.iter("testsuite"):
        cases = sorted(suite.findall("testcase"), key=lambda case: (case.get("classname", ""), case.get("name", "")))
        suite[:] = [child for child in suite if child.tag != "testcase"] + cases
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def question_facts(record: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what is compared of each question of a record."""
    for trial in record["trials"]:
        question = trial["question"]
        sent = question.get("system", "") + prompt_text(record, trial)
        yield {
            "id": question["id"],
            "model": trial["model"],
            "prompt": sha256(sent.encode("utf-8", "surrogatepass")).hexdigest(),
            "reference": question["reference"],
            "outcome": trial["outcome"],
            "score": trial["score"] and trial["score"]["value"],
        }


@dataclass(frozen=True)
class Comparison:
    """What differs in one kind of output."""

    number: int  # of what was compared: questions or files
    places: tuple[str, ...]  # a text for each difference: its place, then lines of both sides


def compare_folders(old: Path, new: Path, lines: int) -> dict[str, Comparison]:
    """Return the differences of two written folders, by kind of output."""
    runs = sorted({path.name for folder in (old, new) for path in folder.iterdir() if path.is_dir()})
    if not runs:
        sys.exit(f"{old} and {new}: no runs; write them with `write FOLDER`")
    compared = compare_questions({run: (_questions(old / run), _questions(new / run)) for run in runs})
    for name, kind in KINDS.items():
        places, number = [], 0
        for run in runs:
            paths = [folder / run / name for folder in (old, new)]
            texts = [path.read_text(encoding="utf-8") if path.exists() else None for path in paths]
            number += texts != [None, None]
            if texts[0] != texts[1]:
                difference = record_difference if kind == "record" else first_difference
                places.append(f"{run}/{name}{difference(texts[0], texts[1], lines)}")
        compared[kind] = Comparison(number, tuple(places))
    return compared


def _questions(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    path = folder / QUESTIONS
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []
    return {(row["id"], row["model"]): row for row in rows}


def compare_questions(
    runs: Mapping[str, tuple[Mapping[tuple[str, str], Any], Mapping[tuple[str, str], Any]]],
) -> dict[str, Comparison]:
    """Return the differences of questions, by fact; facts are compared of the questions that both sides have."""
    places: dict[str, list[str]] = {fact: [] for fact in FACTS}
    both = every = 0
    for run, (old, new) in runs.items():
        shared = [key for key in old if key in new]
        both, every = both + len(shared), every + len(old.keys() | new.keys())
        for side, keys in (("first", old.keys() - new.keys()), ("second", new.keys() - old.keys())):
            places["ids"] += [f"{run}: {key[0]} only in the {side} folder" for key in sorted(keys)]
        for fact, fields in FACTS.items():
            for key in shared:
                before, after = ([row[field] for field in fields] for row in (old[key], new[key]))
                if before != after:
                    places[fact].append(f"{run}: {key[0]}\n  - {_short(before)}\n  + {_short(after)}")
    return {fact: Comparison(every if fact == "ids" else both, tuple(found)) for fact, found in places.items()}


def _short(values: Sequence[Any]) -> str:
    return " ".join(json.dumps(value, ensure_ascii=False) for value in values)[:160]


def first_difference(old: str | None, new: str | None, lines: int) -> str:
    """Return the number of the first differing line, and lines of both texts from there on."""
    if old is None or new is None:
        return f": only in the {'second' if old is None else 'first'} folder"
    sides = [text.splitlines() for text in (old, new)]
    at = next((at for at, (a, b) in enumerate(zip_longest(*sides)) if a != b), 0)
    signed = zip("-+", sides, strict=True)
    shown = [f"\n  {sign} {line[:160]}" for sign, side in signed for line in side[at : at + lines]]
    return f":{at + 1}{''.join(shown)}"


def record_difference(old: str | None, new: str | None, lines: int) -> str:
    """Return the keys at which two records differ, each with the number of places in lists and the first of them."""
    if old is None or new is None:
        return first_difference(old, new, lines)
    before, after = (dict(_leaves(json.loads(text), "")) for text in (old, new))
    by_key: dict[str, list[str]] = {}
    for path in [*before, *(path for path in after if path not in before)]:
        if before.get(path, UNKNOWN) != after.get(path, UNKNOWN) or (path in before) != (path in after):
            by_key.setdefault(re.sub(r"\[.*?\]", "[]", path), []).append(path)
    shown = [
        f"\n  {key}: {len(paths)} places, the first {paths[0]}"
        f"\n  - {_short([before[paths[0]]] if paths[0] in before else [])}"
        f"\n  + {_short([after[paths[0]]] if paths[0] in after else [])}"
        for key, paths in by_key.items()
    ]
    return f": {len(by_key)} keys{''.join(shown)}"


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - any JSON
    """Yield the values that are no filled object or list, with their paths; the place of a trial is its id."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}")
    elif isinstance(value, list) and value:
        for place, inner in enumerate(value):
            trial = isinstance(inner, dict) and isinstance(inner.get("question"), dict)
            key = f"{inner['question']['id']} {inner['model']}".replace("]", ")") if trial else place
            yield from _leaves(inner, f"{path}[{key}]")
    else:
        yield path, value


def report(compared: Mapping[str, Comparison]) -> Iterator[str]:
    """Yield a line for each kind, then each difference."""
    for kind, comparison in compared.items():
        found, unit = len(comparison.places), "questions" if kind in FACTS else "files"
        verdict = f"{found} of {comparison.number} {unit} differ" if found else f"{comparison.number} {unit} equal"
        yield f"{kind:<11} {verdict}"
    for kind, comparison in compared.items():
        for place in comparison.places:
            yield f"{kind}: {place}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    writing = commands.add_parser("write", help="run the suites and keep their outputs")
    writing.add_argument("folder", type=Path)
    writing.add_argument("--checkout", type=Path, default=ROOT, help="folder with pytest_taskgraph/ and suites/")
    writing.add_argument("--only", default="", metavar="WORD", help="run of this name, else runs whose names hold it")
    comparing = commands.add_parser("compare", help="print the differences of two folders")
    comparing.add_argument("folder", type=Path)
    comparing.add_argument("other", type=Path)
    comparing.add_argument("--lines", type=int, default=3, help="number of lines shown of each side")
    options = parser.parse_args()
    if options.command == "write":
        write(options.folder, options.checkout.resolve(), options.only)
        return
    compared = compare_folders(options.folder, options.other, options.lines)
    print("\n".join(report(compared)))
    sys.exit(any(comparison.places for comparison in compared.values()))


if __name__ == "__main__":
    main()
