from __future__ import annotations

from pathlib import Path

import pytest
from described_runs import about_run

from pytest_taskgraph.errors import UnknownNameError, UsageError
from pytest_taskgraph.results.record import build
from pytest_taskgraph.results.record import save as write
from pytest_taskgraph.results.record.saved import LAST, find, find_similar_name, load, records_folder, save, saved_names

RECORD = build([], about_run("0.1.0", models=("m",)))


def test_save_record_is_loaded_by_name(tmp_path: Path) -> None:
    path = save(RECORD, tmp_path, "main")
    assert path.parent == records_folder(tmp_path) == tmp_path / "runs"
    assert find(tmp_path, "main") == path
    assert load(tmp_path, "main") == RECORD


def test_save_same_name_replaces_record(tmp_path: Path) -> None:
    save(RECORD, tmp_path, LAST)
    save({**RECORD, "seed": 7}, tmp_path, LAST)
    assert load(tmp_path, LAST)["seed"] == 7
    assert [path.name for path in records_folder(tmp_path).iterdir()] == ["last.json"]


@pytest.mark.parametrize("name", ["", "a b", "../up", "/tmp/x", ".hidden", "-f", "x" * 101, "käse", "a\n", "run.json"])
def test_check_name_unsafe_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="cannot be saved as"):
        save(RECORD, tmp_path, name)
    assert not records_folder(tmp_path).exists()


def test_load_unknown_name_lists_saved_names(tmp_path: Path) -> None:
    save(RECORD, tmp_path, "main")
    save(RECORD, tmp_path, "release-1.2")
    assert saved_names(tmp_path) == ("main", "release-1.2")
    with pytest.raises(UnknownNameError, match=r"unknown saved run 'mian'; known: main, release-1\.2"):
        load(tmp_path, "mian")
    assert find(tmp_path, "mian") is None


def test_find_path_is_not_a_name(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    write(path, RECORD)
    assert load(tmp_path / "store", str(path)) == RECORD
    with pytest.raises(UsageError, match="no such record; saved: none"):
        load(tmp_path / "store", str(tmp_path / "gone.json"))


def test_saved_names_of_empty_store_is_empty(tmp_path: Path) -> None:
    assert saved_names(tmp_path / "none") == ()


def test_load_without_store_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no store at .*none, so there is no saved run 'main'"):
        load(tmp_path / "none", "main")


def test_load_damaged_saved_record_is_named(tmp_path: Path) -> None:
    records_folder(tmp_path).mkdir()
    (records_folder(tmp_path) / "main.json").write_text('{"schema": 1}')
    with pytest.raises(UsageError, match=r"main\.json: the record is damaged: facts of the run: 'version' is missing"):
        load(tmp_path, "main")


@pytest.mark.parametrize("slip", ["mian", "amin", "man", "maain", "mein", "main-", "Main", "mai"])
def test_find_similar_name_typing_error_matches(slip: str) -> None:
    assert find_similar_name(slip, ["nightly", "main"]) == "main"


@pytest.mark.parametrize(
    ("name", "known_name"),
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
def test_find_similar_name_other_name_does_not(name: str, known_name: str) -> None:
    assert find_similar_name(name, [known_name]) == find_similar_name(known_name, [name]) == ""
