"""docs/reference/commands.md lists every command."""

from __future__ import annotations

import re
from pathlib import Path

from pytest_taskgraph.commands import all_commands

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")


def test_commands_page_lists_every_command() -> None:
    assert re.findall(r"^\| `(\w+)", PAGE, re.MULTILINE) == list(all_commands())
