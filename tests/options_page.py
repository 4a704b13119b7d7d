"""The tables of docs/reference/options.md: `python tests/options_page.py` writes them from the table of options."""

from __future__ import annotations

import re
from pathlib import Path

from pytest_taskgraph.plugin.options import all_options, group_of, help_text

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "options.md"
TABLES = re.compile(r"(?<=<!-- tables -->\n).*(?=<!-- end of tables -->)", re.DOTALL)


def tables() -> str:
    """Return the tables of the page, one for each group of options."""
    groups: dict[str, list[str]] = {}
    for option in all_options().values():
        metavar = f" {option.metavar}" if option.metavar else ""
        default = f"`{option.default}`" if option.default else ""
        row = f"| `{option.name}{metavar.replace('|', ' or ')}` | {help_text(option)} | {default} |"
        groups.setdefault(group_of(option), []).append(row)
    head = ("| option | meaning | default |", "|---|---|---|")
    return "".join("\n".join(["", f"### {group}", "", *head, *rows, ""]) for group, rows in groups.items()) + "\n"


if __name__ == "__main__":
    PAGE.write_text(TABLES.sub(lambda _: tables(), PAGE.read_text(encoding="utf-8")), encoding="utf-8")
