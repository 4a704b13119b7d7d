"""A workflow file of GitHub Actions as written: its jobs, their `needs`, conditions and steps."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import PurePath
from typing import Final

from ...positioned_json import Node
from ...positioned_yaml import documents
from ...source import Source

HEADING: Final = "# file: "
GUIDE: Final = (
    "The workflow is a GitHub Actions workflow. Its tasks are the jobs, named by their keys under 'jobs'; a job runs "
    "after all jobs that its 'needs' lists, and a job without 'needs' runs first. Jobs are linked by 'needs' alone: a "
    "link leads from each job listed to the job that lists it, and it has a condition if that job has an 'if'."
)
_HEADING = re.compile(r"^# file: (.+\.ya?ml)(?:, [^\n]*)?$", re.MULTILINE)  # words about a change may stand behind it
_FIRST_KEY = re.compile(r"^(?!---|%)([ ]*)[^\s#]", re.MULTILINE)  # the top level of a file may be indented
_KEYS = re.compile(r"^( *)(?:(on|jobs|runs)|'(on|jobs|runs)'|\"(on|jobs|runs)\")[ \t]*:", re.MULTILINE)
_LOCAL = re.compile(r"\./\.github/workflows/([^/@\s]+\.ya?ml)\Z")
_CALL = re.compile(r"[ \t]uses[ \t]*:[ \t]*['\"]?(\./\.github/workflows/[^/@\s'\"]+\.ya?ml)")


@dataclass(frozen=True, slots=True)
class Step:
    """A step: what may name it, in the order of preference, its id, its condition, and the offsets of its keys."""

    labels: tuple[str, ...]
    id: str
    condition: str | None
    keys: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Job:
    """A job; `calls` is the workflow that it uses, `local` the name of its file if it lies beside this one."""

    key: str
    title: str
    needs: tuple[str, ...]
    condition: str | None
    calls: str
    local: str
    steps: tuple[Step, ...]
    keys: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class WorkflowFile:
    """A workflow as written; `path` is that of its heading, and `notes` the places of constructs that are left out."""

    source: Source
    path: str
    name: str
    jobs: tuple[Job, ...]
    notes: Mapping[str, list[int]] = field(default_factory=dict)

    def place(self, offset: int) -> str:
        """Return file and line of an offset; lines are counted from the heading, if there is one."""
        line = self.source.text[:offset].lstrip("\n" if self.path else "").count("\n") + (not self.path)
        return f"{self.path or self.source.where or 'line'}{':' if self.path or self.source.where else ' '}{line}"


def recognises(text: str) -> bool:
    """Return True if the text has the keys `on` and `jobs` of a workflow, or `runs` of an action."""
    first = _FIRST_KEY.search(text)
    if first is None:
        return False
    keys = {key[2] or key[3] or key[4] for key in _KEYS.finditer(text) if key[1] == first[1]}
    return keys >= {"on", "jobs"} or ("runs" in keys and "using" in text)


def references(text: str) -> tuple[str, ...]:
    """Return the paths of the workflow files in the same repository that jobs call, as written."""
    return tuple(dict.fromkeys(_CALL.findall(text)))


def read_files(text: str, where: str = "") -> list[WorkflowFile]:
    """Return the workflow files in a text, which have lines with their paths before them if they are several.

    Raises:
        ReadError: if one is not valid.
    """
    files = [_read_file(source, path) for source, path in _parts(text, where)]
    if not files:
        Source(text, where).fail(0, "no workflow", "a workflow with the keys 'on' and 'jobs'")
    return files


def _parts(text: str, where: str) -> Iterator[tuple[Source, str]]:
    """Yield the text of each file, with as many empty lines before it as it has lines before it, and its path.

    A line that looks like a heading counts as one only between workflows: it may be a comment of the user's.
    """
    headings = [*_HEADING.finditer(text)]
    ends = [0, *(match.start() for match in headings), len(text)]
    pieces = [text[begin:end] for begin, end in pairwise(ends)]
    paths = ["", *(match[1] for match in headings)]
    begin, path = 0, ""
    for i, piece in enumerate(pieces):
        done = text[begin : ends[i]]
        if i and (not done.strip("\n") or _is_heading(done) or (recognises(done) and recognises(piece))):
            if recognises(done):
                yield Source("\n" * text.count("\n", 0, begin) + done, where), path
            begin, path = ends[i], paths[i]
    if text[begin:].strip():
        yield Source("\n" * text.count("\n", 0, begin) + text[begin:], where), path


def _is_heading(piece: str) -> bool:
    return piece.startswith(HEADING) and not piece.partition("\n")[2].strip()


def _read_file(source: Source, path: str) -> WorkflowFile:
    found = documents(source)
    root = found[0] if found else Node(None, 0, {})
    members = root.value
    if len(found) > 1:
        source.fail(found[1].start, "a second YAML document", "one workflow a file")
    if not isinstance(members, dict):
        source.fail(root.start, root.plain, "a mapping with the keys 'on' and 'jobs'")
    if "jobs" not in members:
        kind = "the key 'runs' of an action, whose steps run inside a job" if "runs" in members else "no key 'jobs'"
        source.fail(root.keys.get("runs", root.start), kind, "a workflow with the keys 'on' and 'jobs'")
    jobs = members["jobs"]
    if not isinstance(jobs.value, dict) or not jobs.value:
        source.fail(jobs.start, jobs.plain, "a mapping with at least one job")
    name = members.get("name")
    reader = _Reader(source)
    read = tuple(reader.job(key, node) for key, node in jobs.value.items())
    reader.check_needs(read, jobs)
    if "concurrency" in members:
        reader.note("concurrency", root.keys["concurrency"])
    return WorkflowFile(source, path, _text(name), read, reader.notes)


def _text(node: Node | None) -> str:
    """Return a scalar as one line, "" for anything else."""
    return " ".join(node.value.split()) if node is not None and isinstance(node.value, str) else ""


class _Reader:
    """The reader of the jobs of one file."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.notes: dict[str, list[int]] = {}

    def note(self, construct: str, offset: int) -> None:
        """Note a construct that is left out, and its place."""
        self.notes.setdefault(construct, []).append(offset)

    def job(self, key: str, node: Node) -> Job:
        """Return a job.

        Raises:
            ReadError: if it is none.
        """
        members = node.value
        if not isinstance(members, dict):
            self.source.fail(node.start, node.plain, f"a mapping for the job {key!r}")
        for construct in ("concurrency", "continue-on-error", "environment"):
            if construct in members:
                self.note(construct, node.keys[construct])
        strategy = members.get("strategy")
        if strategy is not None and isinstance(strategy.value, dict) and "matrix" in strategy.value:
            self.note("matrix", strategy.keys["matrix"])
        calls = _text(members.get("uses"))
        local = _LOCAL.match(calls)
        return Job(
            key,
            _text(members.get("name")),
            self._needs(members.get("needs")),
            self._condition(members, node),
            calls,
            local[1] if local else "",
            self._steps(members["steps"]) if "steps" in members else (),
            node.keys,
        )

    def _needs(self, node: Node | None) -> tuple[str, ...]:
        if node is None or node.value is None:
            return ()
        nodes = node.value if isinstance(node.value, list) else [node]
        for each in nodes:
            if not isinstance(each.value, str):
                self.source.fail(each.start, each.plain, "the name of a job, or a list of them, behind 'needs'")
        return tuple(dict.fromkeys(str(each.value) for each in nodes))

    def _condition(self, members: Mapping[str, Node], node: Node) -> str | None:
        condition = members.get("if")
        if condition is None or condition.value is None:
            return None
        if not isinstance(condition.value, str):
            self.source.fail(condition.start, condition.plain, "a condition behind 'if'")
        return condition.value

    def _steps(self, node: Node) -> tuple[Step, ...]:
        if node.value is None:
            return ()
        if not isinstance(node.value, list):
            self.source.fail(node.start, node.plain, "a list of steps")
        return tuple(self._step(each) for each in node.value)

    def _step(self, node: Node) -> Step:
        members = node.value
        if not isinstance(members, dict):
            self.source.fail(node.start, node.plain, "a mapping with 'run' or 'uses' for each step")
        if "continue-on-error" in members:
            self.note("continue-on-error", node.keys["continue-on-error"])
        run = members.get("run")
        lines = run.value.splitlines() if run is not None and isinstance(run.value, str) else []
        labels = (_text(members.get("name")), *map(str.strip, lines), _text(members.get("uses")))
        identifier = _text(members.get("id"))
        return Step(tuple(filter(None, labels)), identifier, self._condition(members, node), node.keys)

    def check_needs(self, jobs: tuple[Job, ...], node: Node) -> None:
        """Check that each need is another job, and that no jobs need each other in a circle.

        Raises:
            ReadError: at a need that is not.
        """
        keys = {job.key for job in jobs}
        assert isinstance(node.value, dict)
        for job in jobs:
            place = node.value[job.key].value
            assert isinstance(place, dict)
            for need in job.needs:
                if need not in keys:
                    known = ", ".join(sorted(keys))
                    self.source.fail(
                        place["needs"].start, f"the need {need!r} of the job {job.key!r}", f"a job of the file: {known}"
                    )
        if circle := _circle(jobs):
            last = node.value[circle[0]].value
            assert isinstance(last, dict)
            path = " -> ".join((*circle, circle[0]))
            self.source.fail(last["needs"].start, f"jobs that need each other: {path}", "needs without a circle")


def _circle(jobs: tuple[Job, ...]) -> list[str]:
    """Return the jobs along a circle of needs, each before one that it needs; empty if there is none."""
    from graphlib import CycleError, TopologicalSorter

    try:
        TopologicalSorter({job.key: job.needs for job in jobs}).prepare()
    except CycleError as error:
        return list(error.args[1][:0:-1])
    return []


def file_of(path: str) -> str:
    """Return the name of a file without its folder."""
    return PurePath(path).name
