"""The interface of a notation: its name, the features that it supports, a writer and a reader."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from ..errors import UnsupportedFeatureError, UsageError
from ..workflow.features import FEATURES, features
from ..workflow.model import Workflow

WAYS_OUT: Final = (
    "All ways out of a task that have no condition, or whose condition holds, are taken; a task at which these ways "
    "meet again without a join is executed once, after all of them."
)
"""What every guide says of branches without a gateway (`workflow/semantics/execution.py`); in BPMN it runs twice."""

IMPLIED: Final = "implied: "
"""How the names of gateways begin that the text does not hold, which a reader adds; they are not counted."""

EXCEPTIONAL_LINKS: Final = (
    "An exceptional link is taken if the task before it fails, in place of all other ways out of that task. Questions "
    "about runs and about the order of tasks are about runs in which no task fails."
)
"""What every guide to a text with exceptional links says of them."""

DURATIONS: Final = (
    "A task takes as long as its duration says, a day being 24 hours. It starts when all that it waits for in the "
    "control flow has ended, and tasks that do not wait for each other run at the same time. START, END, gateways and "
    "links take no time; a composite task lasts as long as its inside, and a repeated task takes its duration each "
    "time."
)
"""What every guide to a text with durations says of them."""


@dataclass(frozen=True, slots=True)
class Interpretation:
    """The workflows that a text holds, and the rules by which it was read.

    Args:
        workflows: The workflows in the order of the text, each without `others`.
        guide: The sentences that explain to a model how to read the text: the rules that were applied.
        presented: The text as it is presented to a model.
        unnamed: True if the text holds one workflow and does not name it.
        spellings: For each workflow, by name: other ways to write the names of its tasks and data, mapped to the name.
        left_out: What stands in the text and is no part of the workflows, a line each that names the construct, its
            place and the reason.
        doubtful: A second reading of the same workflows, under the same names, for what the text leaves open: a case is
            asked only if it has the same answer in both. Empty if there is none.
    """

    workflows: tuple[Workflow, ...]
    guide: tuple[str, ...]
    presented: str
    unnamed: bool = False
    spellings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    doubtful: tuple[Workflow, ...] = ()


def decode_utf8(data: bytes) -> str:
    """Return the text of a file in UTF-8, without a byte-order mark.

    Raises:
        UnicodeDecodeError: if the bytes are not UTF-8.
    """
    return data.decode("utf-8-sig")


@dataclass(frozen=True, slots=True)
class Notation:
    """A way to write workflows as text and to read them back.

    `render` turns a workflow and its `others` into one text. `parse` returns the workflows of a text in the order of
    the text, each without `others`; its second argument names the text in errors. `heading` returns the line with a
    file's path where several files are presented as one text; `parse` skips such lines. `recognises` tells apart the
    notations of one suffix. Each file is a project, with the files of its folder that it refers to, unless `is_joined`:
    then the files of a folder are one project.
    """

    name: str
    title: str  # for people
    phrase: str  # what follows "written" in a prompt, such as "as JSON" or "in plain English"
    suffixes: tuple[str, ...]  # of its files
    says: frozenset[str]  # the features that it can write and read back
    guide: str  # a few sentences on how to read it, for prompts
    render: Callable[[Workflow], str]  # `only_read(name)` if workflows are not written in it
    parse: Callable[[str, str], tuple[Workflow, ...]]
    heading: Callable[[str], str]
    interpreter: Callable[[str, str], Interpretation] | None = None  # where its rules depend on the text
    chooser: Callable[[str, str, str], Interpretation] | None = None  # reads one workflow of a text alone, by its name
    shown_as: str = ""  # how the text that is shown differs from the file, in words
    exceptional_guide: str = ""  # a sentence on how an exceptional link is written, for texts that have one
    duration_guide: str = ""  # a sentence on how a duration is written, for texts that have one
    recognises: Callable[[str], bool] = lambda text: True  # True if the text of a file with such a suffix is of it
    recognised_by: str = ""  # what `recognises` looks for, in words, such as "a key `jobs`"; empty: the suffix suffices
    decode: Callable[[bytes], str] = decode_utf8  # the text of a file; the same for all notations of a suffix
    is_fenced_in: Callable[[str], bool] = lambda text: False  # True if a Markdown text holds it in code fences
    is_joined: bool = False  # True if workflows refer to each other by name, in whichever files they are
    references: Callable[[str], tuple[str, ...]] = lambda text: ()  # the files that a text refers to, as written

    @property
    def unsupported(self) -> frozenset[str]:
        """Return the features that the notation cannot express."""
        return FEATURES - self.says

    def guide_to(self, features: Collection[str]) -> str:
        """Return the guide to texts with these features."""
        exceptional = [self.exceptional_guide, EXCEPTIONAL_LINKS] if "exceptional" in features else []
        timed = [self.duration_guide, DURATIONS] if "durations" in features else []
        return " ".join([self.guide, *exceptional, *timed])

    def write(self, workflow: Workflow) -> str:
        """Return the text of the workflow and of its `others`.

        Raises:
            UnsupportedFeatureError: if the workflow has a feature that the notation does not support.
            UsageError: if the notation is only read.
        """
        if missing_features := features(workflow, self.unsupported):
            raise UnsupportedFeatureError(self.name, missing_features)
        return self.render(workflow)

    def read(self, text: str, where: str = "") -> Workflow:
        """Return the first workflow of the text, with the others as its `others`.

        Raises:
            ReadError: if the text is not of this notation.
        """
        return combine_workflows(self.parse(text, where))

    def interpret(self, text: str, where: str = "") -> Interpretation:
        """Return the workflows of the text and the rules by which it was read.

        Raises:
            ReadError: if the text is not of this notation.
        """
        if self.interpreter is not None:
            return self.interpreter(text, where)
        return Interpretation(self.parse(text, where), (self.guide,), text)

    def read_files(self, files: Mapping[str, str]) -> Workflow:
        """Return one project read from several files, given as path and text.

        Raises:
            ReadError: with the path of the file that is not of this notation.
        """
        return combine_workflows([workflow for path, text in files.items() for workflow in self.parse(text, path)])


def combine_workflows(workflows: tuple[Workflow, ...] | list[Workflow]) -> Workflow:
    """Return the first of the workflows with the rest as its `others`."""
    return replace(workflows[0], others=tuple(workflows[1:]))


def only_read(name: str) -> Callable[[Workflow], str]:
    """Return the writer of a notation that is only read: it raises a UsageError."""

    def refuse(workflow: Workflow) -> str:
        raise UsageError(f"{workflow.name}: {name} is only read, never written; choose another notation")

    return refuse
