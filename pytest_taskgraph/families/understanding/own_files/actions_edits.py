"""Candidate edits of a GitHub Actions workflow: one entry of `needs` or one condition, in the user's own text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, product
from random import Random
from typing import Final

from ....notations import Notation
from ....workflow.model import Workflow

MOST_JOBS: Final = 20  # between which needs are added; more are sampled
ADDED_CONDITION: Final = "github.event_name == 'workflow_dispatch'"  # where the text has no condition to repeat
_FLOW = re.compile(r"^[ ]*needs:[ ]*\[([^\]\n]*)\][^\n]*\n?", re.MULTILINE)
_WORD = re.compile(r"^[ ]*needs:[ ]*(?P<word>[\w-]+|'[\w-]+'|\"[\w-]+\")[ ]*(?:#[^\n]*)?(?:\n|\Z)", re.MULTILINE)
_BLOCK = re.compile(r"^[ ]*needs:[ ]*(?:#[^\n]*)?\n(?P<items>(?:[ ]*- [^\n]*(?:\n|\Z))+)", re.MULTILINE)
_ITEM = re.compile(r"(?P<indent>[ ]*)- [^\n]*(?:\n|\Z)")
_IF = re.compile(r"^[ ]*if:[ ]*(?P<condition>[^\s>|#][^\n]*)(?:\n|\Z)", re.MULTILINE)
_EQUALITY = re.compile(r"[=!]=")
# what a job has not, or not in the same sense
_UNFIT = re.compile(
    r"\b(?:always|success|failure|cancelled|hashFiles|matrix|strategy|steps|jobs?|runner|env|secrets|needs)\b"
)

Candidate = tuple[int, int, str]


def remove_need(notation: Notation, text: str, project: Workflow) -> Iterator[Candidate]:
    """Yield candidates without one entry of a list of needs, or without the only one; none that the text reads."""
    read = {*re.findall(r"\bneeds(?:\.|\[')([\w-]+)", text)}
    for begin, end, rest in _without_need(text):
        if read.isdisjoint({*re.findall(r"[\w-]+", text[begin:end])} - {*re.findall(r"[\w-]+", rest)}):
            yield begin, end, rest


def _without_need(text: str) -> Iterator[Candidate]:
    for match in _FLOW.finditer(text):
        entries = match[1].split(",")
        for i in range(len(entries)):
            rest = ",".join([*entries[:i], *entries[i + 1 :]]).strip()
            yield (match.start(1), match.end(1), rest) if rest else (match.start(), match.end(), "")
    yield from ((match.start(), match.end(), "") for match in _WORD.finditer(text))
    for match in _BLOCK.finditer(text):
        items = [*_ITEM.finditer(text, match.start("items"), match.end("items"))]
        yield from ((item.start(), item.end(), "") for item in (items if len(items) > 1 else [match]))


def add_need(notation: Notation, text: str, project: Workflow) -> Iterator[Candidate]:
    """Yield candidates in which a job needs one more job."""
    for workflow in (project, *project.others):
        jobs = workflow.task_names
        chosen = Random(len(jobs)).sample(jobs, MOST_JOBS) if len(jobs) > MOST_JOBS else jobs
        linked = {(link.source, link.target) for link in workflow.links}
        for job, need in product(chosen, chosen):
            if job != need and (need, job) not in linked:
                for key in _job_key(text, job):
                    yield from _added_need(text, key, need)


def _added_need(text: str, key: re.Match[str], need: str) -> Iterator[Candidate]:
    end = next(re.compile(rf"^(?!{key['outer']} )[ ]*[^\s#]|\Z", re.MULTILINE).finditer(text, key.end())).start()
    flow, word, block = (pattern.search(text, key.end(), end) for pattern in (_FLOW, _WORD, _BLOCK))
    if flow is not None:
        yield flow.end(1), flow.end(1), f", {need}" if flow[1].strip() else need
    elif word is not None:
        yield word.start("word"), word.end("word"), f"[{word['word']}, {need}]"
    elif block is not None:
        *_, last = _ITEM.finditer(text, block.start("items"), block.end("items"))
        yield last.start(), last.start(), f"{last['indent']}- {need}\n"
    else:
        yield key.end(), key.end(), f"{key['inner']}needs: {need}\n"


def _job_key(text: str, job: str) -> Iterator[re.Match[str]]:
    """Yield the line with the key of a job, if it is found, with the indent of what stands in it as `inner`."""
    pattern = rf"^(?P<outer>[ ]+){re.escape(job)}:[ ]*\n(?=(?P<inner>(?P=outer)[ ]+)\S)"
    yield from islice(re.finditer(pattern, text, re.MULTILINE), 1)


def remove_condition(notation: Notation, text: str, project: Workflow) -> Iterator[Candidate]:
    """Yield candidates without one line `if`."""
    yield from ((match.start(), match.end(), "") for match in _IF.finditer(text))


def add_condition(notation: Notation, text: str, project: Workflow) -> Iterator[Candidate]:
    """Yield candidates in which a job has a condition more: one of the text, else ADDED_CONDITION."""
    found = {match["condition"].strip() for match in _IF.finditer(text)}
    conditions = sorted(each for each in found if not _UNFIT.search(each)) or [ADDED_CONDITION]
    for i, job in enumerate(job for workflow in (project, *project.others) for job in workflow.task_names):
        for key in _job_key(text, job):
            yield key.end(), key.end(), f"{key['inner']}if: {conditions[i % len(conditions)]}\n"


def negate_comparison(notation: Notation, text: str, project: Workflow) -> Iterator[Candidate]:
    """Yield candidates with == in place of !=, or the reverse, in one line `if`."""
    for match in _IF.finditer(text):
        for sign in _EQUALITY.finditer(text, match.start("condition"), match.end("condition")):
            yield sign.start(), sign.end(), "!=" if sign[0] == "==" else "=="


ACTIONS_WAYS: Final = (remove_need, add_need, remove_condition, add_condition, negate_comparison)
