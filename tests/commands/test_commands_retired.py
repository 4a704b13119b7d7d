"""Old names of commands and their options: one error that names the new one."""

from __future__ import annotations

import pytest

from pytest_taskgraph.__main__ import USAGE_ERROR, main
from pytest_taskgraph.commands import all_commands
from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.retired import COMMAND_OPTIONS, COMMANDS, check_command


@pytest.mark.parametrize("old", COMMANDS)
def test_retired_command_names_new_one(old: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([old, "any.jsonl"]) == USAGE_ERROR
    assert capsys.readouterr().err == f"error: {old}: renamed to {COMMANDS[old]}\n"
    assert COMMANDS[old].split()[0] in all_commands()
    assert old not in all_commands()


@pytest.mark.parametrize(("command", "flag"), COMMAND_OPTIONS, ids=" ".join)
@pytest.mark.parametrize("value", ["", "=any"], ids=["bare", "equals"])
def test_retired_option_of_command_names_new_one(
    command: str, flag: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, f"{flag}{value}"]) == USAGE_ERROR
    assert capsys.readouterr().err == f"error: {command} {flag}: renamed to {COMMAND_OPTIONS[command, flag]}\n"


def test_command_of_family_may_have_retired_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(COMMANDS, "ancient", "recent")
    check_command(["ancient"], {"ancient"})
    with pytest.raises(UsageError, match="ancient: renamed to recent"):
        check_command(["ancient"], {"recent"})
