from __future__ import annotations

from pathlib import Path

import pytest
from described_runs import about_run

from pytest_taskgraph.errors import UnknownNameError, UsageError
from pytest_taskgraph.results.record import build
from pytest_taskgraph.results.record import save as write
from pytest_taskgraph.results.record.saved import LAST, find, find_similar_name, load, records_folder, save, saved_names

RECORD = build([], about_run("0.1.0", models=("m",)))


def test_what_is_saved_is_found_again(tmp_path: Path) -> None:
    path = save(RECORD, tmp_path, "main")
    assert path.parent == records_folder(tmp_path) == tmp_path / "runs"
    assert find(tmp_path, "main") == path
    assert load(tmp_path, "main") == RECORD


def test_saving_again_replaces_and_leaves_nothing_beside(tmp_path: Path) -> None:
    save(RECORD, tmp_path, LAST)
    save({**RECORD, "seed": 7}, tmp_path, LAST)
    assert load(tmp_path, LAST)["seed"] == 7
    assert [path.name for path in records_folder(tmp_path).iterdir()] == ["last.json"]


@pytest.mark.parametrize("name", ["", "a b", "../up", "/tmp/x", ".hidden", "-f", "x" * 101, "käse", "a\n", "run.json"])
def test_a_name_that_a_shell_may_take_for_something_else_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="cannot be saved as"):
        save(RECORD, tmp_path, name)
    assert not records_folder(tmp_path).exists()


def test_an_unknown_name_is_answered_with_the_known_ones(tmp_path: Path) -> None:
    save(RECORD, tmp_path, "main")
    save(RECORD, tmp_path, "release-1.2")
    assert saved_names(tmp_path) == ("main", "release-1.2")
    with pytest.raises(UnknownNameError, match=r"unknown saved run 'mian'; known: main, release-1\.2"):
        load(tmp_path, "mian")
    assert find(tmp_path, "mian") is None


def test_a_path_is_a_path(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    write(path, RECORD)
    assert load(tmp_path / "store", str(path)) == RECORD
    with pytest.raises(UsageError, match="no such record; saved: none"):
        load(tmp_path / "store", str(tmp_path / "gone.json"))


def test_a_store_without_runs_knows_no_names(tmp_path: Path) -> None:
    assert saved_names(tmp_path / "none") == ()


def test_where_there_is_no_store_that_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no store at .*none, so there is no saved run 'main'"):
        load(tmp_path / "none", "main")


def test_a_damaged_record_is_named(tmp_path: Path) -> None:
    records_folder(tmp_path).mkdir()
    (records_folder(tmp_path) / "main.json").write_text('{"schema": 1}')
    with pytest.raises(UsageError, match=r"main\.json: the record is damaged: facts of the run: 'version' is missing"):
        load(tmp_path, "main")


@pytest.mark.parametrize("slip", ["mian", "amin", "man", "maain", "mein", "main-", "Main", "mai"])
def test_a_name_one_slip_away_resembles(slip: str) -> None:
    assert find_similar_name(slip, ["nightly", "main"]) == "main"


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("run-2", "run-1"),
        ("run-12", "run-1"),
        ("login", "logout"),
        ("nami", "main"),
        ("dev", "main"),
        ("A", "B"),
        ("", "m"),
    ],
)
def test_other_names_do_not(name: str, known: str) -> None:
    assert find_similar_name(name, [known]) == find_similar_name(known, [name]) == ""
