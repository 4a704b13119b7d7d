"""Snapshots of prompts: files under version control, in which a change of a template shows as a change of prompts.

The prompts of the test function `test_f` in `suites/test_m.py` are in `suites/__prompts__/test_m/test_f/GROUP.md`,
one file for each group, with a section for each question, by its id. The folder is not named `__snapshots__` because
other plugins remove unknown files there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import unified_diff
from pathlib import Path
from typing import Final

from ..errors import UsageError
from ..trial import digest_of
from .sent_text import closing_fence, escape_hidden

FOLDER: Final = "__prompts__"
SUFFIX: Final = ".md"
MARK: Final = "<!-- Written by pytest --taskgraph-prompt-snapshots=update; do not edit. -->"
COMPARED_LINES: Final = 1000
"""Lines of two prompts that are compared, from the first one that differs."""
SHOWN_LINES: Final = 200
SHOWN_CHARACTERS: Final = 2000
_PLAIN: Final = re.compile(r"[a-z0-9_][a-z0-9_.-]{0,79}")
_RESERVED: Final = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?")  # names of devices on Windows


class DamagedSnapshotError(UsageError):
    """A file of snapshots was changed by hand or is damaged."""


@dataclass(slots=True)
class SnapshotFile:
    """The prompts of one group of questions of a test function.

    Args:
        function: The name of the test function, with that of its class.
        group: The group of questions.
        sections: By title (`section_title` of the question's id), the requests, as `sent_text` writes them.
    """

    function: str
    group: str
    sections: dict[str, str] = field(default_factory=dict)

    def text(self) -> str:
        """Return the file's text: the sections in the order of their titles."""
        head = f"{MARK}\n\n# {section_title(self.group)}\n\nPrompts of `{self.function}`.\n"
        return "\n".join([head, *(_section(*pair) for pair in sorted(self.sections.items()))])

    def write(self, path: Path) -> None:
        """Write the file, at once and as a whole.

        Raises:
            UsageError: if it cannot be written.
        """
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            unfinished = path.with_name(f".{path.name}.{os.getpid()}")
            unfinished.write_text(self.text(), encoding="utf-8", newline="\n")
            unfinished.replace(path)
        except OSError as error:
            raise UsageError(f"{path.name}: cannot be written: {error.strerror or error}") from None


def read_sections(path: Path) -> dict[str, str]:
    """Return the sections of a file by their titles, as `section_title` returns them; none if there is no file.

    Raises:
        DamagedSnapshotError: if the file was changed by hand, or cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        reason = (error.strerror or str(error)) if isinstance(error, OSError) else "it is not in UTF-8"
        raise DamagedSnapshotError(f"{path.name}: cannot be read: {reason}") from None
    return parse_sections(text, path.name)


def parse_sections(text: str, name: str) -> dict[str, str]:
    """Return the sections of the text of a file by their titles; text before the first section is ignored.

    Args:
        text: The text, with line feeds.
        name: The name of the file in messages.

    Raises:
        DamagedSnapshotError: if the text differs from the written one; the message names the line.
    """
    lines = text.split("\n")
    starts = list(_starts(lines))
    sections: dict[str, str] = {}
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        sections.setdefault(lines[start].removeprefix("## "), "\n".join(lines[start + 2 : end]))
    sections = {title: body.rstrip("\n") + "\n" for title, body in sections.items()}
    as_written = "\n".join(_section(*pair) for pair in sorted(sections.items())).split("\n")
    as_read = lines[starts[0] :] if starts else [""]
    if as_read != as_written:
        line_pairs = zip([*as_read, ""], [*as_written, ""], strict=False)
        index = next(
            (index for index, (read_line, written_line) in enumerate(line_pairs) if read_line != written_line),
            min(len(as_read), len(as_written)),
        )
        number = index + 1 + (starts[0] if starts else 0)
        raise DamagedSnapshotError(f"{name}: line {number} is not as it was written")
    return sections


def section_title(name: str) -> str:
    """Return the title under which a question of that id, or a group of that name, stands."""
    return escape_hidden(name).replace("\n", r"\n")


def is_snapshot(path: Path) -> bool:
    """Return True if a file was written here: it begins with the mark."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return path.suffix == SUFFIX and file.readline(len(MARK) + 2).rstrip("\n") == MARK
    except OSError:
        return False


def snapshot_folder(test_file: Path, function: str = "") -> Path:
    """Return the folder with the snapshots of a test file, or with those of one of its functions.

    Args:
        test_file: The path of the test file.
        function: The function as node ids name it, with its class: `TestX::test_f`.
    """
    folder = test_file.parent / FOLDER / test_file.stem
    return folder / file_name(dotted_name(function)) if function else folder


def dotted_name(function: str) -> str:
    """Return the name of a function, as node ids have it, with dots."""
    return function.replace("::", ".")


def file_name(name: str) -> str:
    """Return a name for a file or folder: the name itself, if every file system accepts and distinguishes it.

    Else the name in lower case, with a part of its digest.
    """
    if _PLAIN.fullmatch(name) and not _RESERVED.fullmatch(name) and not name.endswith("."):
        return name
    plain = re.sub(r"[^a-z0-9_]+", "-", name.lower())[:60].strip("-")
    return f"{plain}-{digest_of(name)[:8]}".removeprefix("-")


def difference(before: str, after: str) -> list[str]:
    """Return the lines of a unified diff of two sections, shortened if it is very long."""
    old, new = before.splitlines(), after.splitlines()
    first_difference = next(
        (at for at, (old_line, new_line) in enumerate(zip(old, new, strict=False)) if old_line != new_line), None
    )
    first = max(0, (min(len(old), len(new)) if first_difference is None else first_difference) - 3)
    window = slice(first, first + COMPARED_LINES)
    lines = [_cut(line) for line in unified_diff(old[window], new[window], lineterm="")][2:]
    lines = [_moved(line, first) if line.startswith("@@") else line for line in lines]
    omitted = max(0, len(lines) - SHOWN_LINES)
    if omitted or max(len(old), len(new)) > first + COMPARED_LINES:
        lines[SHOWN_LINES:] = [f"… {omitted:,} more lines" if omitted else "… not compared any further"]
    return ["--- snapshot", "+++ prompt", *lines]


def count_changed_lines(difference_lines: Sequence[str]) -> tuple[int, int]:
    """Return the numbers of added and removed lines in the result of `difference`.

    Args:
        difference_lines: The result of `difference`.
    """
    lines = difference_lines[2:]
    return sum(line.startswith("+") for line in lines), sum(line.startswith("-") for line in lines)


def _starts(lines: Sequence[str]) -> Iterator[int]:
    """Yield the numbers of the lines that are titles of sections: outside of any block."""
    closing = ""
    for number, line in enumerate(lines):
        if closing:
            closing = "" if line == closing else closing
        elif line.startswith("## "):
            yield number
        else:
            closing = closing_fence(line)


def _section(title: str, body: str) -> str:
    return f"## {title}\n\n{body}"


def _cut(line: str) -> str:
    left = len(line) - SHOWN_CHARACTERS
    return line if left <= 0 else f"{line[:SHOWN_CHARACTERS]}… {left:,} more characters"


def _moved(hunk: str, by: int) -> str:
    """Return the head of a hunk, whose lines are counted from the beginning of the section."""
    return re.sub(r"(?<=[-+])\d+", lambda number: str(int(number[0]) + by), hunk) if by else hunk
