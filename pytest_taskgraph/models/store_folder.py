"""The folder of the store, which git ignores: it holds the replies, the kept questions and the saved runs."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

FILE = "replies.sqlite"
_QUESTIONS = "questions.sqlite"  # which the plugin keeps beside the replies
_OWN = (
    ".gitignore",
    "runs",
    _QUESTIONS,
    f"{_QUESTIONS}-journal",
    FILE,
    *(f"{FILE}-{end}" for end in ("wal", "shm", "journal")),
)


def prepare_folder(folder: Path) -> None:
    """Create the folder; it ignores itself in git unless it holds other files. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / ".gitignore").exists() and all(entry.name in _OWN for entry in folder.iterdir()):
        with suppress(FileExistsError), open(folder / ".gitignore", "x", encoding="utf-8") as file:
            file.write("*\n")
