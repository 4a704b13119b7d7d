r"""The published test files of STEPS (Wang et al. 2023) as they are: `--taskgraph-data=steps=PATH`.

The path is a folder, a zip archive, or a single file. Files of the classification have `next_step` or `cls` in their
names or the names of their folders, those of the multiple choice `multi_choice`; of others the lines decide. Files
whose names say that they are for training or validation are left out: the published files are those of the test.

A line has three columns, separated by tabs, and its steps are joined by " . ":

    previous steps <TAB> candidate <TAB> Yes or No                   classification
    previous steps . <TAB> the next step <TAB> a later step          multiple choice

These files do not follow the rule of the paper, and are read nonetheless:

- They begin in the middle of a recipe, and may end in one.
- The right option is always the second column. Whoever asks must shuffle them (`ChoiceSample.shuffled`).
- The previous steps end in " . " in the multiple choice, and have no end mark in the classification.
- Some steps are several ones glued together by `\', "`, as a list of texts was badly split. They are kept as they
  stand, for nobody can say where the published questions meant them to end, and counted.
- The classification asks about each next step with one Yes and one No, and first about the third step; the multiple
  choice first about the second. Neither asks about the last two steps, so the whole recipe is in no file.

Nothing says where a recipe ends. Lines that follow each other belong to one recipe if the previous steps of the second
are those of the first, or those with the right answer behind them and perhaps more. Statistics need that: the samples
of one recipe are no independent observations.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Final, Literal

from ....benchmarks.data_sets.data_files import (
    DataFile,
    DataFormat,
    contents,
    data_files,
    keep_until_changed,
    nothing_usable,
)
from ....benchmarks.data_sets.data_problems import DataProblems, clean_text, excerpt
from ....benchmarks.data_sets.json_lines import decode_line, numbered_lines
from ....benchmarks.data_sets.splits import split_of
from ..next_step_samples import STEP_JOINT, ChoiceSample, NextStepSample, StepRecipe, join_steps

SampleKind = Literal["classification", "choice"]

FORMAT: Final = DataFormat(
    "steps",
    (".txt", ".tsv"),
    "question",
    "expected the folder of the published STEPS files, next_step/test.txt and multi-choice/test.txt, or one of them: "
    "three columns, separated by tabs",
)
FIRST_PREFIX: Final[Mapping[SampleKind, int]] = {"classification": 2, "choice": 1}
"""The number of steps before the first question about a recipe."""
MOST_STEPS: Final = 1_000  # before a question
LONGEST_STEP: Final = 10_000  # characters
_LABELS: Final = {"yes": True, "no": False}
_GLUE: Final = re.compile(r"""\\?['"]\s*,\s*\\?['"]""")
"""What stands between two texts of a list in the spelling of Python, where it was not split: `\\', "`."""
CLASSIFICATION_FOLDER: Final = "next_step"
CHOICE_FOLDER: Final = "multi-choice"
_BYTE_ORDER_MARK: Final = "\ufeff"


@dataclass(frozen=True, slots=True)
class SampleLine:
    """A line of a published file.

    Args:
        before: The previous steps as they stand, without the end mark.
        prefix: The previous steps one by one.
        candidate: The step of the second column: in the multiple choice, the next step.
        label: True if it is the next step.
        wrong: The step of the third column; empty in the classification.
        ended: True if the previous steps have an end mark.
        glued: True if a step of the line is several ones, badly split.
    """

    before: str
    prefix: tuple[str, ...]
    candidate: str
    label: bool
    wrong: str
    ended: bool
    glued: bool

    @property
    def right(self) -> str | None:
        """The next step; None if the line does not say it."""
        return self.candidate if self.label else None


def kind_of_name(name: str) -> SampleKind | None:
    """Return what a file holds by its name or else the innermost of its folders that states it."""
    for part in reversed(PurePosixPath(name).parts):
        words = "".join(re.findall(r"[a-z]+", part.lower()))
        if "nextstep" in words or words.startswith("cls"):
            return "classification"
        if "multichoice" in words or "multiplechoice" in words:
            return "choice"
    return None


def kind_of_content(content: bytes) -> SampleKind | None:
    """Return what a file holds by its first line of three columns."""
    for line in content[:1_000_000].splitlines()[:100]:
        columns = line.strip(b"\r\n").split(b"\t")
        if len(columns) == 3:
            return "classification" if columns[2].strip().lower() in (b"yes", b"no") else "choice"
    return None


def read_sample_lines(
    content: bytes, file: str, kind: SampleKind, problems: DataProblems
) -> tuple[list[SampleLine], int]:
    """Return the lines of a file that can be used, and the number of the others.

    Args:
        content: The bytes of the file.
        file: Its name in problems.
        kind: What it holds.
        problems: Lines that cannot be used are added here, with the number of the line.
    """
    lines_read: list[SampleLine] = []
    broken = 0
    for place, raw in numbered_lines(content, file, problems):
        if not raw.strip():
            continue

        def note(kind: str, what: str, place: str = place) -> None:
            problems.add(kind, f"{place}: {what}")

        text = decode_line(raw.removesuffix(b"\r"), note)
        line = None if text is None else _sample_line(text, kind)
        if isinstance(line, SampleLine):
            lines_read.append(line)
            continue
        broken += 1
        if isinstance(line, str):
            note("broken lines", f"{line}; the line is left out")
    return lines_read, broken


def _sample_line(text: str, kind: SampleKind) -> SampleLine | str:
    """Return what a line holds, or why it cannot be used."""
    columns = [clean_text(column) for column in text.split("\t", 4)]
    if len(columns) != 3:
        number = "more than 4" if len(columns) > 4 else str(len(columns))
        return f"found {number} columns separated by tabs, expected 3"
    ended = f" {columns[0]}".endswith(" .")
    before = columns[0].removesuffix(".").rstrip() if ended else columns[0]
    prefix = tuple(before.split(STEP_JOINT, MOST_STEPS)) if before else ()
    empty = [name for name, column in zip(("previous steps", "step"), (before, columns[1]), strict=True) if not column]
    if empty or not all(prefix):
        return f"the {empty[0]} column is empty" if empty else "one of the previous steps is empty"
    if len(prefix) > MOST_STEPS:
        return f"more than {MOST_STEPS} previous steps"
    if max(map(len, (*prefix, *columns[1:]))) > LONGEST_STEP:
        return f"a step of more than {LONGEST_STEP} characters"
    glued = any(_GLUE.search(column) for column in columns)
    candidate, wrong = columns[1:]
    label = True
    if kind == "classification":
        if wrong.lower() not in _LABELS:
            return f"found the label {excerpt(wrong, 20)!r}, expected Yes or No"
        label, wrong = _LABELS[wrong.lower()], ""
    elif not wrong:
        return "the second option is empty"
    elif wrong.lower() in _LABELS:
        return f"found the label {wrong!r} of a classification, expected the second option"
    elif candidate == wrong:
        return "the two options are the same"
    return SampleLine(before, prefix, candidate, label, wrong, ended, glued)


@dataclass(frozen=True, slots=True)
class PublishedCounts:
    """What a file of questions holds.

    Args:
        file: Its name.
        kind: Whether its lines are of the classification or the multiple choice.
        lines: Its lines that are not empty.
        broken: Those that cannot be used.
        recipes: The recipes that the others are about.
        yes: The samples labelled Yes.
        no: The samples labelled No.
        choices: The samples of the multiple choice.
        longest: The steps before the question that has most.
        late: Recipes whose first question has more steps before it than usual: the file begins in the middle of them,
            or lines are missing.
        ended: Lines whose previous steps have an end mark.
        glued: Lines with a step that is several ones, badly split.
    """

    file: str
    kind: SampleKind
    lines: int
    broken: int
    recipes: int
    yes: int
    no: int
    choices: int
    longest: int
    late: int
    ended: int
    glued: int

    def line(self) -> str:
        """Return the numbers as a line for the user."""
        samples = f"{self.choices} choices" if self.kind == "choice" else f"{self.yes} Yes, {self.no} No"
        first = FIRST_PREFIX[self.kind]
        return (
            f"{excerpt(self.file)}: {self.lines} lines, {self.broken} broken; {samples}; {self.recipes} recipes; "
            f"at most {self.longest} previous steps; {self.late} recipes begin with more than {first}; {self.ended} "
            f"lines with an end mark; {self.glued} with glued steps"
        )


@dataclass(frozen=True, slots=True)
class PublishedSamples:
    """The published questions.

    Args:
        classification: The samples of the classification, in the order of their lines.
        choices: The samples of the multiple choice, likewise.
        counts: What each file holds.
        problems: A line each on problems of the data, for the user.
    """

    classification: tuple[NextStepSample, ...]
    choices: tuple[ChoiceSample, ...]
    counts: tuple[PublishedCounts, ...]
    problems: tuple[str, ...]

    def __hash__(self) -> int:
        """Return a hash that is cheap for many questions, so that what is made of them can be kept by it."""
        return hash((len(self.classification), len(self.choices), self.counts))


@keep_until_changed(FORMAT)
def read_published_samples(path: Path) -> PublishedSamples:
    """Return the questions at the path; they are read again only if a file was changed.

    Raises:
        UsageError: if nothing is there, or no question of it can be used.
    """
    problems = DataProblems()
    classification: list[NextStepSample] = []
    choices: list[ChoiceSample] = []
    counts: list[PublishedCounts] = []
    with data_files(path, FORMAT) as files:
        single = path.is_file() and len(files) == 1
        for file, content in contents(files if single else _test_files(files, problems), problems):
            kind = kind_of_name(file.name) or kind_of_content(content)
            if kind is None:
                reason = "neither its name nor its first lines say what it holds"
                problems.add("files that are none of STEPS", f"{excerpt(file.name)}: {reason}; the file is left out")
                continue
            lines, broken = read_sample_lines(content, file.name, kind, problems)
            groups = _by_recipe(lines)
            start = sum(count.recipes for count in counts if count.kind == kind) + 1
            for number, group in enumerate(groups, start):
                if kind == "classification":
                    classification += [_next_step(line, f"next-step-{number}") for line in group]
                else:
                    choices += [_choice(line, f"multi-choice-{number}") for line in group]
            counts.append(_counts(file.name, kind, groups, broken))
        if not classification and not choices:
            raise nothing_usable(path, FORMAT, files, problems)
    return PublishedSamples(tuple(classification), tuple(choices), tuple(counts), tuple(problems.lines))


def _test_files(files: list[DataFile], problems: DataProblems) -> list[DataFile]:
    """Return the files that may hold questions of the test."""
    test_files = []
    for file in files:
        split = split_of(file.name)
        if split in ("train", "validation"):
            problems.add("files of other splits", f"{excerpt(file.name)}: it is of the {split} split; it is left out")
        else:
            test_files.append(file)
    return test_files


def _by_recipe(lines: list[SampleLine]) -> list[list[SampleLine]]:
    """Return the lines of each recipe together, in their order."""
    groups: list[list[SampleLine]] = []
    right: str | None = None  # the next step of the last line's place, once a line has said it
    for line in lines:
        last = groups[-1][-1] if groups else None
        if last is not None and _continues(last, right, line):
            groups[-1].append(line)
            right = line.right or (right if line.before == last.before else None)
        else:
            groups.append([line])
            right = line.right
    return groups


def _continues(last: SampleLine, right: str | None, line: SampleLine) -> bool:
    """Return True if a line is about the recipe of the line before it.

    Args:
        last: The line before it.
        right: The next step at that line's place, if it is known.
        line: The line.
    """
    if line.before == last.before:
        return right is None or line.right is None or right == line.right
    expected_start = last.before if right is None else f"{last.before} . {right}"
    return f"{line.before} . ".startswith(f"{expected_start} . ")


def _next_step(line: SampleLine, recipe: str) -> NextStepSample:
    return NextStepSample(line.prefix, line.candidate, line.label, recipe, len(line.prefix) + 1)


def _choice(line: SampleLine, recipe: str) -> ChoiceSample:
    return ChoiceSample(line.prefix, line.candidate, line.wrong, recipe, len(line.prefix) + 1)


def _counts(file: str, kind: SampleKind, groups: list[list[SampleLine]], broken: int) -> PublishedCounts:
    lines = [line for group in groups for line in group]
    yes = sum(line.label for line in lines) if kind == "classification" else 0
    return PublishedCounts(
        file,
        kind,
        len(lines) + broken,
        broken,
        len(groups),
        yes,
        len(lines) - yes if kind == "classification" else 0,
        len(lines) if kind == "choice" else 0,
        max((len(line.prefix) for line in lines), default=0),
        sum(len(group[0].prefix) > FIRST_PREFIX[kind] for group in groups),
        sum(line.ended for line in lines),
        sum(line.glued for line in lines),
    )


def separable_steps(recipe: StepRecipe) -> tuple[StepRecipe, int]:
    """Return a recipe whose steps can be separated in a line, and the number of steps that had to be changed.

    Columns are separated by tabs, samples by line ends and steps by a full stop between spaces. A tab or a line end
    within a step becomes a space. A full stop between spaces is joined to the word before it.
    """
    steps = tuple(map(_separable_step, recipe.steps))
    changed = sum(ours != theirs for ours, theirs in zip(steps, recipe.steps, strict=True))
    if not changed:
        return recipe, 0  # a copy would hold all texts in memory twice
    return replace(recipe, steps=steps), changed


def _separable_step(step: str) -> str:
    words: list[str] = []
    for word in clean_text(step.replace(_BYTE_ORDER_MARK, " ")).split():
        if word != ".":
            words.append(word)
        elif words and not words[-1].endswith("."):
            words[-1] += "."
    return " ".join(words)


def classification_lines(samples: Iterable[NextStepSample]) -> Iterator[str]:
    """Yield a line for each sample: previous steps, candidate, and Yes or No. The steps must be separable."""
    for sample in samples:
        yield f"{join_steps(sample.prefix)}\t{sample.candidate}\t{'Yes' if sample.label else 'No'}\n"


def choice_lines(samples: Iterable[ChoiceSample]) -> Iterator[str]:
    """Yield a line for each sample: previous steps with an end mark, the next step, a later one."""
    for sample in samples:
        yield f"{join_steps(sample.prefix)}{STEP_JOINT}\t{sample.right}\t{sample.wrong}\n"
