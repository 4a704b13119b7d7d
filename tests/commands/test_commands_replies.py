from __future__ import annotations

import asyncio
import io
import json
import re
import shlex
import sys
from collections.abc import Iterable
from contextlib import closing
from datetime import UTC, datetime
from errno import ENOSPC
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import bounded_process
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_taskgraph.__main__ import main
from pytest_taskgraph.commands.replies.lines import StoredEntry, format_line, read_line
from pytest_taskgraph.commands.replies.rows import merge, open_replies
from pytest_taskgraph.errors import ReadError
from pytest_taskgraph.models.request_key import canonical, digest, request_entry
from pytest_taskgraph.models.store import Store
from pytest_taskgraph.models.store.reply_rows import reply_to_text
from pytest_taskgraph.models.store.schema import open_store
from pytest_taskgraph.trial import Reply, Request

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "replies.md"
AT = "2026-03-01T10:00:00Z"
HOSTILE = "a\u2028b\x85c\x1b[31m\u202edoc\x00\x7f é 木\r\n\ttail\ud800"


def entry(
    prompt: str,
    answer: str = "Load",
    model: str = "openai/small",
    at: str = AT,
    **figures: Any,  # noqa: ANN401 - what a field of a reply may hold
) -> StoredEntry:
    """What the store holds of one request; figures are fields of the reply."""
    request = request_entry(model, {"temperature": 0.5}, Request([{"role": "user", "content": prompt}]))
    return StoredEntry(digest(request), model, canonical(request), reply_to_text(Reply(answer, **figures)), at)


def fill(folder: Path, entries: Iterable[StoredEntry]) -> Path:
    """A store that holds the entries, as runs leave it: with claims, owners and a ledger."""
    with closing(open_store(folder)) as connection:
        rows = [(one.key, one.model, one.request, one.reply, "run-7f3a", one.at) for one in entries]
        connection.executemany("INSERT INTO replies(key, model, request, reply, run, at) VALUES (?,?,?,?,?,?)", rows)
        connection.execute("INSERT INTO claims VALUES ('c1a1', 'owner-9c2e')")
        connection.execute("INSERT INTO owners VALUES ('owner-9c2e', 'host-5d1b', 1, 0.0)")
        connection.execute("INSERT INTO ledger VALUES ('run-7f3a', 3, 0.5)")
    return folder


def replies(step: str, folder: Path, *words: str | Path) -> None:
    assert main(["replies", step, *map(str, words), "--store", str(folder)]) == 0


def refused(capsys: pytest.CaptureFixture[str], *words: str | Path) -> str:
    assert main(["replies", *map(str, words)]) == 4
    return capsys.readouterr().err


def exported(folder: Path, *words: str) -> bytes:
    target = folder.parent / f"{folder.name}.jsonl"
    replies("export", folder, target, *words)
    return target.read_bytes()


def written(path: Path, entries: Iterable[StoredEntry]) -> Path:
    path.write_text("".join(f"{format_line(one)}\n" for one in entries), encoding="utf-8")
    return path


def held(folder: Path) -> dict[str, str]:
    """The texts of the store's replies by key."""
    lines = map(json.loads, exported(folder).splitlines())
    return {line["key"]: line["reply"]["text"] for line in lines}


def changed(path: tuple[str, ...], value: object) -> str:
    """A sound line but for the value at the path."""
    whole = json.loads(format_line(entry("Which is first?")))
    inner = whole
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value
    return json.dumps(whole, sort_keys=True)


# --- export


def test_an_export_is_sorted_by_key_and_so_are_the_names_in_each_line(tmp_path: Path) -> None:
    lines = exported(fill(tmp_path / "s", map(entry, "cab"))).decode().splitlines()
    found = [json.loads(line) for line in lines]
    assert [one["key"] for one in found] == sorted(entry(name).key for name in "abc")
    assert lines == [json.dumps(one, sort_keys=True, ensure_ascii=False) for one in found]
    assert [list(one) for one in found] == [["at", "key", "model", "reply", "request"]] * 3


def test_the_order_of_asking_does_not_show_in_an_export(tmp_path: Path) -> None:
    one, other = fill(tmp_path / "1", map(entry, "abc")), fill(tmp_path / "2", map(entry, "bca"))
    assert exported(one) == exported(other)


def test_an_export_goes_to_the_standard_output_and_nothing_else_does(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    store = fill(tmp_path / "s", [entry("a", "é")])
    done = bounded_process.run(
        [sys.executable, "-m", "pytest_taskgraph", "replies", "export", "-", "--store", str(store)],
        env={"PYTHONIOENCODING": "ascii", "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert done.returncode == 0
    assert done.stdout.encode() == exported(store)


def test_a_pattern_restricts_an_export_to_models(tmp_path: Path) -> None:
    store = fill(tmp_path / "s", [entry("a"), entry("a", model="openai/large"), entry("a", model="other/small")])
    lines = exported(store, "--model", "openai/*").splitlines()
    assert sorted(json.loads(line)["model"] for line in lines) == ["openai/large", "openai/small"]


def test_what_does_not_show_is_an_escape_in_an_export_and_comes_back(tmp_path: Path) -> None:
    one = entry(HOSTILE, HOSTILE)
    text = exported(fill(tmp_path / "s", [one])).decode()
    assert text.count("\n") == len(text.splitlines()) == 1
    assert "é 木" in text
    assert text.rstrip("\n").isprintable()
    assert read_line(text.encode(), "f", 1) == one


def test_nothing_of_runs_owners_and_claims_is_exported(tmp_path: Path) -> None:
    data = exported(fill(tmp_path / "s", map(entry, "abc")))
    assert not [word for word in (b"run-7f3a", b"owner-9c2e", b"host-5d1b", b'c1a1"') if word in data]


def test_an_import_brings_no_claims_owners_or_ledger(tmp_path: Path) -> None:
    exported(fill(tmp_path / "s", [entry("a")]))
    replies("import", tmp_path / "new", tmp_path / "s.jsonl")
    with closing(open_store(tmp_path / "new")) as connection:
        counts = [connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in TABLES]
        assert connection.execute("SELECT DISTINCT run FROM replies").fetchall() == [("",)]
    assert dict(zip(TABLES, counts, strict=True)) == {"replies": 1, "claims": 0, "owners": 0, "ledger": 0}


TABLES = ("replies", "claims", "owners", "ledger")


def test_an_export_that_fails_leaves_the_older_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = StoredEntry("f" * 64, "m", '{"cut', "{}", AT)
    store, target = fill(tmp_path / "s", [entry("a"), broken]), tmp_path / "out.jsonl"
    target.write_text("older\n")
    assert "the store is damaged" in refused(capsys, "export", target, "--store", store)
    assert target.read_text() == "older\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.jsonl", "s"]


def test_the_store_is_not_replaced_by_its_export(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = fill(tmp_path / "s", [entry("a")]) / "replies.sqlite"
    assert "is the store itself" in refused(capsys, "export", file, "--store", file)
    assert list(held(tmp_path / "s").values()) == ["Load"]


# --- import


def test_a_reply_that_is_there_stays_and_the_conflict_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = fill(tmp_path / "s", [entry("a", "Load"), entry("b")])
    file = written(tmp_path / "in.jsonl", [entry("a", "Mix"), entry("b"), entry("c")])
    replies("import", store, file)
    told = capsys.readouterr().out
    assert told.startswith("1 replies added, 1 already stored, 1 in conflict\n")
    assert entry("a").key in told
    assert held(store)[entry("a").key] == "Load"


def test_replace_takes_the_imported_reply(tmp_path: Path) -> None:
    store = fill(tmp_path / "s", [entry("a", "Load"), entry("b")])
    file = written(tmp_path / "in.jsonl", sorted([entry("a", "Mix"), entry("b", cost=2.0)], key=lambda one: one.key))
    replies("import", store, file, "--replace")
    assert exported(store) == file.read_bytes()


def test_the_same_answer_at_another_cost_and_time_is_no_conflict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = fill(tmp_path / "s", [entry("a", cost=0.25, latency=1.0)])
    before = exported(store)
    file = written(tmp_path / "in.jsonl", [entry("a", at="2020-01-01T00:00:00Z", cost=0.5, retries=2)])
    capsys.readouterr()
    replies("import", store, file)
    assert capsys.readouterr().out == "0 replies added, 1 already stored, 0 in conflict\n"
    assert exported(store) == before


def test_a_cut_off_answer_is_in_conflict_with_a_whole_one_of_the_same_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = fill(tmp_path / "s", [entry("a")])
    replies("import", store, written(tmp_path / "in.jsonl", [entry("a", finish_reason="length")]))
    assert "1 in conflict" in capsys.readouterr().out


def test_of_two_files_in_conflict_the_first_wins(tmp_path: Path) -> None:
    one, other = written(tmp_path / "1", [entry("a", "Load")]), written(tmp_path / "2", [entry("a", "Mix")])
    replies("import", tmp_path / "s", one, other)
    assert set(held(tmp_path / "s").values()) == {"Load"}


def test_an_import_reads_the_standard_input_and_passes_over_empty_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = f"\ufeff{format_line(entry('a'))}\r\n\n{format_line(entry('b'))}".encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    replies("import", tmp_path / "s", "-")
    assert len(held(tmp_path / "s")) == 2


def test_a_wrong_line_anywhere_and_nothing_is_imported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store, good = fill(tmp_path / "s", [entry("a")]), written(tmp_path / "1.jsonl", [entry("b")])
    bad = tmp_path / "2.jsonl"
    bad.write_text(format_line(entry("c")) + "\n" + changed(("reply", "cost"), -1) + "\n", encoding="utf-8")
    told = refused(capsys, "import", good, bad, "--store", store)
    assert f"{bad}:2:" in told
    assert len(held(store)) == 1
    refused(capsys, "import", good, bad, "--store", tmp_path / "new")
    assert not (tmp_path / "new").exists()


WRONG: dict[str, tuple[str, str]] = {
    "no JSON": ("{", "no JSON"),
    "no object": ("[1]", "an object"),
    "a field too few": ('{"key": "a"}', "the fields at, key, model, reply, request"),
    "a field too many": (changed(("run",), "r"), "the fields at"),
    "a key given twice": ('{"at": 1, "at": 2}', "twice"),
    "a number that is not finite": (changed(("reply", "cost"), float("inf")), "not finite"),
    "a number too large": (changed(("reply", "cost"), 0).replace('"cost": 0', '"cost": 1e999'), "not finite"),
    "a number of thousands of digits": (
        changed(("reply", "cost"), 0).replace('"cost": 0', f'"cost": {"9" * 9999}'),
        "no usable JSON",
    ),
    "lists in lists without end": ("[" * 99_999, "no usable JSON"),
    "a day that is none": (changed(("at",), "2026-02-31T10:00:00Z"), "a time in UTC"),
    "a time of elsewhere": (changed(("at",), "2026-02-21T10:00:00+05:00"), "a time in UTC"),
    "a key that is none": (changed(("key",), "A" * 64), "64 hexadecimal digits"),
    "the key of another request": (changed(("key",), "a" * 64), entry("Which is first?").key),
    "a request of another model": (changed(("request", "model"), "m"), "the model of the entry"),
    "a request of a kind unknown": (changed(("request", "kind"), "sing"), "the fields"),
    "a request without repetition": (changed(("request",), {"kind": "chat"}), "repetition"),
    "a repetition 0": (changed(("request", "repetition"), 0), "a whole number from 1"),
    "a truth for a number": (changed(("request", "repetition"), True), "a whole number from 1"),
    "messages that are texts": (changed(("request", "messages"), ["hi"]), "a list of objects"),
    "a reply that is a text": (changed(("reply",), "Load"), "an object"),
    "a reply without text": (changed(("reply",), {}), "a reply with its text"),
    "a reply with a strange field": (changed(("reply", "pickle"), "x"), "only text, tokens_in"),
    "a text that is a number": (changed(("reply", "text"), 1), "a text"),
    "half a token": (changed(("reply", "tokens_in"), 0.5), "a whole number from 0"),
    "a score without its tokens": (changed(("reply", "logprobs"), [[-1, None]]), "[log-probability, tokens,"),
    "a score above 0": (changed(("reply", "logprobs"), [[1, 2, None]]), "[log-probability, tokens,"),
    "a score of half a token": (changed(("reply", "logprobs"), [[-1, 0.5, None]]), "[log-probability, tokens,"),
    "a score that is greedy by a text": (changed(("reply", "logprobs"), [[-1, 1, "yes"]]), "[log-probability, tokens,"),
    "a vector of words": (changed(("reply", "embeddings"), [["a"]]), "a list of lists of numbers"),
}


@pytest.mark.parametrize(("line", "expected"), WRONG.values(), ids=WRONG)
def test_a_line_that_no_store_would_write_is_refused(line: str, expected: str) -> None:
    with pytest.raises(ReadError, match=re.escape(expected)) as caught:
        read_line(line.encode(), "in.jsonl", 7)
    assert (caught.value.where, caught.value.line) == ("in.jsonl", 7)


def test_the_column_is_that_of_the_value(tmp_path: Path) -> None:
    line = changed(("reply", "tokens_out"), "many")
    with pytest.raises(ReadError) as caught:
        read_line(line.encode(), "in.jsonl", 1)
    assert line[caught.value.column - 1 :].startswith('"many"')


def test_a_line_that_is_not_utf_8_is_refused_with_the_column() -> None:
    with pytest.raises(ReadError, match=r"f:3:3: found the byte 0xff, expected UTF-8"):
        read_line(b"{\xc3\xa9\xff", "f", 3)


@pytest.mark.parametrize(
    "secret", [{"api_key": "sk-abcdef123456"}, {"extra_headers": {"Authorization": "Bearer abc123"}}, {"timeout": 9}]
)
def test_settings_with_a_key_are_refused_though_the_digest_fits(secret: dict[str, Any]) -> None:
    whole = json.loads(format_line(entry("a")))
    whole["request"]["settings"] |= secret
    whole["key"] = digest(whole["request"])
    with pytest.raises(ReadError, match="settings that hold a key") as caught:
        read_line(json.dumps(whole).encode(), "f", 1)
    assert not [value for value in ("sk-abc", "Bearer") if value in str(caught.value)]


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_line_is_an_entry_or_a_read_error(line: bytes) -> None:
    with pytest.raises(ReadError):
        read_line(line, "f", 1)


SETTINGS = st.dictionaries(
    st.sampled_from(["temperature", "api_key", "api_base", "extra_headers", "response_format", "timeout", "stop"]),
    st.recursive(
        st.sampled_from(
            [0.5, 1.0, True, None, "Bearer abcd1234", "http://me:pass@host/v1?key=abc&a=b", "sk-abcdef123"]
        ),
        lambda inner: st.dictionaries(st.sampled_from(["token", "key", "x"]), inner) | st.lists(inner),
        max_leaves=5,
    ),
)


@given(SETTINGS)
def test_whatever_the_settings_were_what_the_store_keeps_of_them_can_be_imported(told: dict[str, Any]) -> None:
    request = request_entry("m", told, Request([{"role": "user", "content": "Which?"}]))
    one = StoredEntry(digest(request), "m", canonical(request), canonical({"text": "Load"}), AT)
    assert read_line(format_line(one).encode(), "f", 1) == one


# --- laws

TEXTS = st.text(max_size=12) | st.just(HOSTILE)
ENTRIES = st.builds(
    entry,
    prompt=st.sampled_from(["p", "q", "r", HOSTILE]) | st.text(st.characters(exclude_categories=["Cs"]), max_size=9),
    answer=TEXTS,
    model=st.sampled_from(["openai/a", "b", "http://host/v1#ü"]),
    at=st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1)).map(lambda at: f"{at:%Y-%m-%dT%H:%M:%SZ}"),
    cost=st.none() | st.floats(0, 1e6),
    logprobs=st.lists(
        st.tuples(st.none() | st.floats(-9, 0), st.integers(0, 9), st.none() | st.booleans()).map(list), max_size=2
    ),
)
STOCKS = st.lists(ENTRIES, max_size=6, unique_by=lambda one: one.key)


@given(ENTRIES)
def test_an_entry_comes_back_from_its_line(one: StoredEntry) -> None:
    assert read_line(format_line(one).encode(), "f", 1) == one


@settings(max_examples=15, deadline=None)
@given(STOCKS)
def test_an_export_imported_exports_the_same_bytes(stock: list[StoredEntry]) -> None:
    with TemporaryDirectory() as name:
        first = exported(fill(Path(name, "1"), stock))
        replies("import", Path(name, "2"), Path(name, "1.jsonl"))
        second = exported(Path(name, "2"))
        replies("import", Path(name, "2"), Path(name, "1.jsonl"))
        assert first == second == exported(Path(name, "2"))


@settings(max_examples=15, deadline=None)
@given(STOCKS, st.data())
def test_without_conflicts_the_order_of_merging_does_not_matter(stock: list[StoredEntry], data: st.DataObject) -> None:
    sides = [data.draw(st.lists(st.sampled_from(stock), unique_by=id)) if stock else [] for _ in range(2)]
    with TemporaryDirectory() as name:
        one, other = (written(Path(name, str(at)), side) for at, side in enumerate(sides))
        replies("import", Path(name, "a"), one, other)
        replies("import", Path(name, "b"), other, one)
        assert exported(Path(name, "a")) == exported(Path(name, "b"))
        assert len(held(Path(name, "a"))) == len({each.key for side in sides for each in side})


@settings(max_examples=15, deadline=None)
@given(st.lists(ENTRIES, max_size=6), st.lists(ENTRIES, max_size=6))
def test_a_merge_is_that_of_a_dictionary(stored: list[StoredEntry], imported: list[StoredEntry]) -> None:
    for replace in (False, True):
        expected: dict[str, StoredEntry] = {}
        for one in [*stored, *imported]:
            if replace or one.key not in expected:
                expected[one.key] = one
        with TemporaryDirectory() as name, open_replies(Path(name), create=True) as connection:
            counts = merge(connection, [*stored, *imported], replace)
            rows = connection.execute("SELECT key, model, request, reply, at FROM replies").fetchall()
        assert {row[0]: StoredEntry(*row) for row in rows} == expected
        assert counts.added + counts.unchanged + len(counts.conflicts) == len(stored) + len(imported)
        assert counts.added == len(expected)


# --- prune


def test_prune_removes_what_is_older(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    store = fill(tmp_path / "s", [entry("a", at="2001-01-01T00:00:00+00:00"), entry("b", at=now)])
    replies("prune", store, "--older-than", "1.5")
    assert capsys.readouterr().out.startswith("1 replies removed\n")
    assert list(held(store)) == [entry("b").key]


def test_prune_removes_only_what_fits_all_that_is_given(tmp_path: Path) -> None:
    old = "2001-01-01T00:00:00Z"
    stays = [entry("a", at=old), entry("b", at="2999-01-01T00:00:00Z", model="x/small")]
    store = fill(tmp_path / "s", [*stays, entry("c", at=old, model="x/small")])
    replies("prune", store, "--older-than", "1", "--model", "x/*")
    assert held(store).keys() == {one.key for one in stays}


def test_a_dry_prune_tells_the_same_and_removes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = fill(tmp_path / "s", [entry("a"), entry("b", model="x")])
    before = exported(store)
    capsys.readouterr()
    replies("prune", store, "--model", "x", "--dry-run")
    dry = capsys.readouterr().out
    assert exported(store) == before
    capsys.readouterr()
    replies("prune", store, "--model", "x")
    assert dry.replace("would be removed", "removed") == capsys.readouterr().out
    assert list(held(store)) == [entry("a").key]


def test_a_pruned_file_is_smaller(tmp_path: Path) -> None:
    store = fill(tmp_path / "s", [entry(f"{n}", "word " * 9000) for n in range(20)])
    size = (store / "replies.sqlite").stat().st_size
    replies("prune", store, "--model", "openai/*")
    assert (store / "replies.sqlite").stat().st_size < size / 5


def test_a_prune_beside_a_run_that_reads_removes_and_says_that_the_file_keeps_its_size(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_taskgraph.commands.replies.rows.SHORTLY", 1)
    store = fill(tmp_path / "s", map(entry, "ab"))
    with closing(open_store(store)) as run:
        run.execute("BEGIN")
        run.execute("SELECT * FROM replies").fetchone()
        replies("prune", store, "--model", "*")
        assert "the file keeps its size" in capsys.readouterr().out
    assert held(store) == {}


def test_prune_needs_to_be_told_what_to_remove(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = fill(tmp_path / "s", [entry("a")])
    assert "give --older-than DAYS, --model GLOB" in refused(capsys, "prune", "--store", store)
    assert len(held(store)) == 1


@pytest.mark.parametrize("days", ["-1", "nan", "inf", "1e12", "many"])
def test_a_number_of_days_that_is_none_is_a_usage_error(
    days: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = fill(tmp_path / "s", [entry("a")])
    assert "--older-than" in refused(capsys, "prune", f"--older-than={days}", "--store", store)


# --- stats


def stats(folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    replies("stats", folder, "--json")
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_stats_sum_what_is_known_and_count_what_is_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    costs = [entry(f"{n}", cost=0.1, tokens_in=7, at=f"2026-03-0{n}T10:00:00Z") for n in range(1, 4)]
    store = fill(tmp_path / "s", [*costs, entry("u"), entry("v", model="free")])
    found = stats(store, capsys)
    assert list(found["models"]) == ["free", "openai/small"]
    assert found["models"]["openai/small"] == {
        "replies": 4,
        "tokens_in": {"known": 21, "unknown": 1},
        "tokens_out": {"known": None, "unknown": 4},
        "cost": {"known": pytest.approx(0.3), "unknown": 1},
        "first": "2026-03-01T10:00:00Z",
        "last": "2026-03-03T10:00:00Z",
    }
    assert found["bytes"] >= (store / "replies.sqlite").stat().st_size


def test_the_table_of_stats_never_shows_an_unknown_cost_as_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replies("stats", fill(tmp_path / "s", [entry("a", cost=0.125), entry("b"), entry("c", model="free")]))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{tmp_path / 's' / 'replies.sqlite'}: 3 replies of 2 models, ")
    assert re.search(r"free +1 +unknown +unknown +unknown +2026-03-01 +2026-03-01", lines[-2])
    assert re.search(r"openai/small +2 .* 0\.1250 \+ 1 unknown", lines[-1])


# --- the store itself


@pytest.mark.parametrize("words", [["export", "-"], ["prune", "--model", "*"], ["stats"]], ids=lambda words: words[0])
def test_a_missing_store_is_a_usage_error_and_is_not_made(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "there is no store" in refused(capsys, *words, "--store", tmp_path / "gone")
    assert list(tmp_path.iterdir()) == []


def test_the_store_stands_in_the_current_folder_unless_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["replies", "import", str(written(tmp_path / "in", [entry("a")]))]) == 0
    assert (tmp_path / ".taskgraph" / "replies.sqlite").is_file()


def test_the_store_may_be_named_by_its_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = fill(tmp_path / "s", [entry("a")])
    assert stats(store / "replies.sqlite", capsys) == stats(store, capsys)


def test_a_file_that_is_no_store_is_refused_and_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other, damaged = tmp_path / "notes.txt", tmp_path / "s" / "replies.sqlite"
    damaged.parent.mkdir()
    for file in (other, damaged):
        file.write_text("notes")
        refused(capsys, "import", written(tmp_path / "in", [entry("a")]), "--store", file)
        assert file.read_text() == "notes"


async def _kept(folder: Path, request: Request, reply: Reply) -> None:
    with closing(Store(folder, "run-1")) as store:
        kept = request_entry("openai/small", {"api_key": "sk-abcdef123456"}, request)
        await store.claim(digest(kept))
        await store.keep(digest(kept), kept, reply)


async def _found(folder: Path, request: Request) -> Reply | None:
    with closing(Store(folder, "run-2")) as store:
        return await store.look(digest(request_entry("openai/small", {"api_key": "another"}, request)))


@pytest.mark.parametrize("kind", ["chat", "score", "embed"])
def test_what_one_machine_kept_another_finds_after_an_import(
    kind: Literal["chat", "score", "embed"], tmp_path: Path
) -> None:
    said: dict[str, Any] = {"messages": [{"role": "user", "content": HOSTILE}]} if kind == "chat" else {"texts": ["é"]}
    request = Request(kind=kind, tools=[{"type": "function"}], settings={"temperature": 0.0}, repetition=2, **said)
    figures: dict[str, Any] = {"tool_calls": [{"id": "1"}], "logprobs": [[-0.5, 2, None]], "embeddings": [[0.5]]}
    reply = Reply("Load", 3, 4, 0.5, 0.25, **figures, stored=True)
    asyncio.run(_kept(tmp_path / "here", request, reply))
    assert b"sk-abc" not in exported(tmp_path / "here")
    replies("import", tmp_path / "there", tmp_path / "here.jsonl")
    assert asyncio.run(_found(tmp_path / "there", request)) == reply


# --- the page


def block(kind: str) -> str:
    (text,) = re.findall(rf"^```{kind}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return str(text)


def test_the_line_on_the_page_is_one_that_the_store_takes() -> None:
    line = block("jsonl").rstrip("\n")
    assert format_line(read_line(line.encode(), "docs/how-to/replies.md", 1)) == line


def test_the_commands_on_the_page_run_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    fill(tmp_path / ".taskgraph", [entry("a"), entry("b", model="openai/old")])
    written(tmp_path / "colleague.jsonl", [entry("c")])
    for line in block("sh").splitlines():
        words = shlex.split(line, comments=True)
        assert words[:3] == ["python", "-m", "pytest_taskgraph"]
        assert main(words[3:]) == 0
    assert held(tmp_path / ".taskgraph").keys() == {entry("a").key, entry("c").key}


class Full(io.RawIOBase):
    """A file on a disk that is full; what is written waits in the buffer before it until that is."""

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        return 0

    def truncate(self, size: int | None = None) -> int:
        return 0

    def write(self, data: object) -> int:
        raise OSError(ENOSPC, "No space left on device")


@pytest.mark.parametrize("length", [3, 100_000], ids=["short", "long"])
def test_a_temporary_folder_that_is_full_is_named_and_the_store_is_not_blamed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, length: int
) -> None:
    fill(tmp_path / "store", [entry("Which?", "a" * length)])
    monkeypatch.setattr("pytest_taskgraph.commands.replies.TemporaryFile", lambda: io.BufferedRandom(Full()))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert main(["replies", "export", str(tmp_path / "out.jsonl"), "--store", str(tmp_path / "store")]) == 4
    told = capsys.readouterr().err
    assert f"the temporary folder {tmp_path} cannot be used: No space left on device; " in told
    assert "TMPDIR" in told
    assert not (tmp_path / "out.jsonl").exists()


def test_a_temporary_folder_that_is_missing_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path / "store", [entry("Which?")])
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    assert main(["replies", "export", "-", "--store", str(tmp_path / "store")]) == 4
    assert f"the temporary folder {tmp_path / 'gone'} cannot be used: " in capsys.readouterr().err
