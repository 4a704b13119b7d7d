"""What every notation offers: a name, what it can say, a writer and a reader."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from ..errors import UnsupportedFeatureError
from ..workflow.features import FEATURES, features
from ..workflow.model import Workflow


@dataclass(frozen=True, slots=True)
class Interpretation:
    """What a text says, and by which rules it was read.

    Args:
        workflows: in the order of the text, each without `others`.
        guide: the sentences that tell a model how the text is to be read: the rules that were applied.
        shown: the text as it is presented to a model.
        unnamed: the text holds one workflow, and does not name it.
        spellings: for each workflow by name: further ways to write the names of its tasks and data, to the name.
    """

    workflows: tuple[Workflow, ...]
    guide: tuple[str, ...]
    shown: str
    unnamed: bool = False
    spellings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Notation:
    """A way to write workflows down, and to read them back.

    `render` turns a workflow and those it refers to into one text; `parse` gives the workflows that a text holds, in
    the order of the text, each without `others`; its second argument names the text in errors. `heading` makes the
    line that tells a file's path where several files are shown as one text; `parse` passes such lines over.
    """

    name: str
    title: str  # as a person calls it
    phrase: str  # what follows "written" in a prompt, such as "as JSON" or "in plain English"
    suffixes: tuple[str, ...]  # of its files
    says: frozenset[str]  # features it can write and read back; it loses the rest
    guide: str  # a few sentences on how to read it, for prompts
    render: Callable[[Workflow], str]
    parse: Callable[[str, str], tuple[Workflow, ...]]
    heading: Callable[[str], str]
    interpreter: Callable[[str, str], Interpretation] | None = None  # where its rules depend on the text
    stands_in: Callable[[str], bool] = lambda text: False  # whether a Markdown text holds it in code fences

    @property
    def loses(self) -> frozenset[str]:
        """The features it has no words for."""
        return FEATURES - self.says

    def write(self, workflow: Workflow) -> str:
        """Write the workflow and `others`. Raises UnsupportedFeatureError for a feature that the notation loses."""
        if unsaid := features(workflow, self.loses):
            raise UnsupportedFeatureError(self.name, unsaid)
        return self.render(workflow)

    def read(self, text: str, where: str = "") -> Workflow:
        """The first workflow of the text, with the rest of them as `others`. Raises ReadError."""
        return together(self.parse(text, where))

    def interpret(self, text: str, where: str = "") -> Interpretation:
        """Return what the text says and how it was read. Raises ReadError."""
        if self.interpreter is not None:
            return self.interpreter(text, where)
        return Interpretation(self.parse(text, where), (self.guide,), text)

    def read_files(self, files: Mapping[str, str]) -> Workflow:
        """One project out of several files, path to text. Raises ReadError with the path of the file."""
        return together([one for path, text in files.items() for one in self.parse(text, path)])


def together(workflows: tuple[Workflow, ...] | list[Workflow]) -> Workflow:
    """The first of the workflows with the rest as its `others`."""
    return replace(workflows[0], others=tuple(workflows[1:]))
