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
from posix_tests import posix_only

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
        rows = [(entry.key, entry.model, entry.request, entry.reply, "run-7f3a", entry.at) for entry in entries]
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


def write_export(path: Path, entries: Iterable[StoredEntry]) -> Path:
    path.write_text("".join(f"{format_line(entry)}\n" for entry in entries), encoding="utf-8")
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


def test_export_is_sorted_by_key_and_name(tmp_path: Path) -> None:
    lines = exported(fill(tmp_path / "s", map(entry, "cab"))).decode().splitlines()
    objects = [json.loads(line) for line in lines]
    assert [member["key"] for member in objects] == sorted(entry(name).key for name in "abc")
    assert lines == [json.dumps(member, sort_keys=True, ensure_ascii=False) for member in objects]
    assert [list(member) for member in objects] == [["at", "key", "model", "reply", "request"]] * 3


def test_export_does_not_depend_on_asking_order(tmp_path: Path) -> None:
    first, other = fill(tmp_path / "1", map(entry, "abc")), fill(tmp_path / "2", map(entry, "bca"))
    assert exported(first) == exported(other)


def test_export_standard_output_holds_lines_alone(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    store = fill(tmp_path / "s", [entry("a", "é")])
    done = bounded_process.run(
        [sys.executable, "-m", "pytest_taskgraph", "replies", "export", "-", "--store", str(store)],
        env={"PYTHONIOENCODING": "ascii", "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert done.returncode == 0
    assert done.stdout.encode() == exported(store)


def test_export_model_option_restricts_models(tmp_path: Path) -> None:
    store = fill(tmp_path / "s", [entry("a"), entry("a", model="openai/large"), entry("a", model="other/small")])
    lines = exported(store, "--model", "openai/*").splitlines()
    assert sorted(json.loads(line)["model"] for line in lines) == ["openai/large", "openai/small"]


def test_export_invisible_characters_are_escaped(tmp_path: Path) -> None:
    stored = entry(HOSTILE, HOSTILE)
    text = exported(fill(tmp_path / "s", [stored])).decode()
    assert text.count("\n") == len(text.splitlines()) == 1
    assert "é 木" in text
    assert text.rstrip("\n").isprintable()
    assert read_line(text.encode(), "f", 1) == stored


def test_export_omits_runs_owners_and_claims(tmp_path: Path) -> None:
    data = exported(fill(tmp_path / "s", map(entry, "abc")))
    assert not [word for word in (b"run-7f3a", b"owner-9c2e", b"host-5d1b", b'c1a1"') if word in data]


def test_import_adds_no_claims_owners_or_ledger(tmp_path: Path) -> None:
    exported(fill(tmp_path / "s", [entry("a")]))
    replies("import", tmp_path / "new", tmp_path / "s.jsonl")
    with closing(open_store(tmp_path / "new")) as connection:
        counts = [connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in TABLES]
        assert connection.execute("SELECT DISTINCT run FROM replies").fetchall() == [("",)]
    assert dict(zip(TABLES, counts, strict=True)) == {"replies": 1, "claims": 0, "owners": 0, "ledger": 0}


TABLES = ("replies", "claims", "owners", "ledger")


def test_export_failure_leaves_older_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = StoredEntry("f" * 64, "m", '{"cut', "{}", AT)
    store, target = fill(tmp_path / "s", [entry("a"), broken]), tmp_path / "out.jsonl"
    target.write_text("older\n")
    assert "the store is damaged" in refused(capsys, "export", target, "--store", store)
    assert target.read_text() == "older\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.jsonl", "s"]


def test_export_onto_store_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = fill(tmp_path / "s", [entry("a")]) / "replies.sqlite"
    assert "is the store itself" in refused(capsys, "export", file, "--store", file)
    assert list(held(tmp_path / "s").values()) == ["Load"]


# --- import


def test_import_stored_reply_stays_and_conflict_is_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = fill(tmp_path / "s", [entry("a", "Load"), entry("b")])
    file = write_export(tmp_path / "in.jsonl", [entry("a", "Mix"), entry("b"), entry("c")])
    replies("import", store, file)
    output = capsys.readouterr().out
    assert output.startswith("1 replies added, 1 already stored, 1 in conflict\n")
    assert entry("a").key in output
    assert held(store)[entry("a").key] == "Load"


def test_import_replace_takes_imported_reply(tmp_path: Path) -> None:
    store = fill(tmp_path / "s", [entry("a", "Load"), entry("b")])
    file = write_export(
        tmp_path / "in.jsonl", sorted([entry("a", "Mix"), entry("b", cost=2.0)], key=lambda one: one.key)
    )
    replies("import", store, file, "--replace")
    assert exported(store) == file.read_bytes()


def test_import_same_answer_at_other_cost_is_no_conflict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = fill(tmp_path / "s", [entry("a", cost=0.25, latency=1.0)])
    before = exported(store)
    file = write_export(tmp_path / "in.jsonl", [entry("a", at="2020-01-01T00:00:00Z", cost=0.5, retries=2)])
    capsys.readouterr()
    replies("import", store, file)
    assert capsys.readouterr().out == "0 replies added, 1 already stored, 0 in conflict\n"
    assert exported(store) == before


def test_import_cut_off_answer_is_conflict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = fill(tmp_path / "s", [entry("a")])
    replies("import", store, write_export(tmp_path / "in.jsonl", [entry("a", finish_reason="length")]))
    assert "1 in conflict" in capsys.readouterr().out


def test_import_conflicting_files_first_wins(tmp_path: Path) -> None:
    first, other = write_export(tmp_path / "1", [entry("a", "Load")]), write_export(tmp_path / "2", [entry("a", "Mix")])
    replies("import", tmp_path / "s", first, other)
    assert set(held(tmp_path / "s").values()) == {"Load"}


def test_import_standard_input_skips_empty_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = f"\ufeff{format_line(entry('a'))}\r\n\n{format_line(entry('b'))}".encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    replies("import", tmp_path / "s", "-")
    assert len(held(tmp_path / "s")) == 2


def test_import_wrong_line_imports_no_entry(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store, good = fill(tmp_path / "s", [entry("a")]), write_export(tmp_path / "1.jsonl", [entry("b")])
    bad = tmp_path / "2.jsonl"
    bad.write_text(format_line(entry("c")) + "\n" + changed(("reply", "cost"), -1) + "\n", encoding="utf-8")
    message = refused(capsys, "import", good, bad, "--store", store)
    assert f"{bad}:2:" in message
    assert len(held(store)) == 1
    refused(capsys, "import", good, bad, "--store", tmp_path / "new")
    assert not (tmp_path / "new").exists()


@posix_only
def test_import_line_without_end_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_taskgraph.source.LONGEST_LINE", 10_000)
    message = refused(capsys, "import", "/dev/zero", "--store", tmp_path / "s")
    assert message == "error: /dev/zero:1:1: found a line of more than 10000 bytes, expected one JSON object a line\n"
    assert not (tmp_path / "s").exists()


WRONG: dict[str, tuple[str, str]] = {
    "no JSON": ("{", "no JSON"),
    "no object": ("[1]", "an object"),
    "a field too few": ('{"key": "a"}', "no field 'at'"),
    "a field too many": (changed(("run",), "r"), "the field 'run', expected no such field"),
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
    "a key that is none": (changed(("key",), "A" * 64), "a SHA-256 in hexadecimal"),
    "the key of another request": (changed(("key",), "a" * 64), entry("Which is first?").key),
    "a request of another model": (changed(("request", "model"), "m"), "the model of the entry"),
    "a request of a kind unknown": (changed(("request", "kind"), "sing"), "'chat', 'embed', 'score'"),
    "a request without its fields": (changed(("request",), {"kind": "chat"}), "no field 'model'"),
    "a request that is a text": (changed(("request",), "x"), "an object"),
    "a repetition 0": (changed(("request", "repetition"), 0), "a number of at least 1"),
    "a truth for a number": (changed(("request", "repetition"), True), "found true, expected a whole number"),
    "messages that are texts": (changed(("request", "messages"), ["hi"]), 'found "hi", expected an object'),
    "a reply that is a text": (changed(("reply",), "Load"), "an object"),
    "a reply without text": (changed(("reply",), {}), "no field 'text'"),
    "a reply with a strange field": (changed(("reply", "pickle"), "x"), "the field 'pickle', expected no such field"),
    "a text that is a number": (changed(("reply", "text"), 1), "a text"),
    "half a token": (changed(("reply", "tokens_in"), 0.5), "found 0.5, expected a whole number"),
    "a score without its tokens": (changed(("reply", "logprobs"), [[-1, None]]), "found null, expected a whole number"),
    "a score above 0": (changed(("reply", "logprobs"), [[1, 2, None]]), "a number of at most 0"),
    "a score of half a token": (
        changed(("reply", "logprobs"), [[-1, 0.5, None]]),
        "found 0.5, expected a whole number",
    ),
    "a score that is greedy by a text": (changed(("reply", "logprobs"), [[-1, 1, "yes"]]), "true or false"),
    "a vector of words": (changed(("reply", "embeddings"), [["a"]]), 'found "a", expected a valid number'),
}


@pytest.mark.parametrize(("line", "expected"), WRONG.values(), ids=WRONG)
def test_read_line_invalid_entry_is_refused(line: str, expected: str) -> None:
    with pytest.raises(ReadError, match=re.escape(expected)) as caught:
        read_line(line.encode(), "in.jsonl", 7)
    assert (caught.value.where, caught.value.line) == ("in.jsonl", 7)


def test_read_line_error_names_column_of_value(tmp_path: Path) -> None:
    line = changed(("reply", "tokens_out"), "many")
    with pytest.raises(ReadError) as caught:
        read_line(line.encode(), "in.jsonl", 1)
    assert line[caught.value.column - 1 :].startswith('"many"')


def test_read_line_not_utf_8_names_column() -> None:
    with pytest.raises(ReadError, match=r"f:3:3: found the byte 0xff, expected UTF-8"):
        read_line(b"{\xc3\xa9\xff", "f", 3)


@pytest.mark.parametrize(
    "secret", [{"api_key": "sk-abcdef123456"}, {"extra_headers": {"Authorization": "Bearer abc123"}}, {"timeout": 9}]
)
def test_read_line_settings_with_key_are_refused(secret: dict[str, Any]) -> None:
    whole = json.loads(format_line(entry("a")))
    whole["request"]["settings"] |= secret
    whole["key"] = digest(whole["request"])
    with pytest.raises(ReadError, match="settings that hold a key") as caught:
        read_line(json.dumps(whole).encode(), "f", 1)
    assert not [value for value in ("sk-abc", "Bearer") if value in str(caught.value)]


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_read_line_any_bytes_give_entry_or_read_error(line: bytes) -> None:
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
def test_read_line_accepts_stored_settings(
    model_settings: dict[str, Any],
) -> None:
    request = request_entry("m", model_settings, Request([{"role": "user", "content": "Which?"}]))
    stored = StoredEntry(digest(request), "m", canonical(request), canonical({"text": "Load"}), AT)
    assert read_line(format_line(stored).encode(), "f", 1) == stored


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
def test_format_line_reads_back(stored: StoredEntry) -> None:
    assert read_line(format_line(stored).encode(), "f", 1) == stored


@settings(max_examples=8, deadline=None)
@given(STOCKS)
def test_export_of_import_has_same_bytes(stock: list[StoredEntry]) -> None:
    with TemporaryDirectory() as name:
        first = exported(fill(Path(name, "1"), stock))
        replies("import", Path(name, "2"), Path(name, "1.jsonl"))
        second = exported(Path(name, "2"))
        replies("import", Path(name, "2"), Path(name, "1.jsonl"))
        assert first == second == exported(Path(name, "2"))


@settings(max_examples=8, deadline=None)
@given(STOCKS, st.data())
def test_merge_without_conflicts_is_commutative(stock: list[StoredEntry], data: st.DataObject) -> None:
    sides = [data.draw(st.lists(st.sampled_from(stock), unique_by=id)) if stock else [] for _ in range(2)]
    with TemporaryDirectory() as name:
        first, other = (write_export(Path(name, str(at)), side) for at, side in enumerate(sides))
        replies("import", Path(name, "a"), first, other)
        replies("import", Path(name, "b"), other, first)
        assert exported(Path(name, "a")) == exported(Path(name, "b"))
        assert len(held(Path(name, "a"))) == len({each.key for side in sides for each in side})


@settings(max_examples=8, deadline=None)
@given(st.lists(ENTRIES, max_size=6), st.lists(ENTRIES, max_size=6))
def test_merge_equals_dictionary_update(stored: list[StoredEntry], imported: list[StoredEntry]) -> None:
    for replace in (False, True):
        expected: dict[str, StoredEntry] = {}
        for stored_entry in [*stored, *imported]:
            if replace or stored_entry.key not in expected:
                expected[stored_entry.key] = stored_entry
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


def test_prune_removes_what_matches_all_filters(tmp_path: Path) -> None:
    old = "2001-01-01T00:00:00Z"
    stays = [entry("a", at=old), entry("b", at="2999-01-01T00:00:00Z", model="x/small")]
    store = fill(tmp_path / "s", [*stays, entry("c", at=old, model="x/small")])
    replies("prune", store, "--older-than", "1", "--model", "x/*")
    assert held(store).keys() == {stored.key for stored in stays}


def test_prune_dry_run_counts_and_removes_no_reply(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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


def test_prune_shrinks_file(tmp_path: Path) -> None:
    store = fill(tmp_path / "s", [entry(f"{n}", "word " * 9000) for n in range(20)])
    size = (store / "replies.sqlite").stat().st_size
    replies("prune", store, "--model", "openai/*")
    assert (store / "replies.sqlite").stat().st_size < size / 5


def test_prune_beside_reading_run_keeps_file_size(
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


def test_prune_without_filter_is_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = fill(tmp_path / "s", [entry("a")])
    assert "give --older-than DAYS, --model GLOB" in refused(capsys, "prune", "--store", store)
    assert len(held(store)) == 1


@pytest.mark.parametrize("days", ["-1", "nan", "inf", "1e12", "many"])
def test_prune_invalid_days_are_usage_error(days: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = fill(tmp_path / "s", [entry("a")])
    assert "--older-than" in refused(capsys, "prune", f"--older-than={days}", "--store", store)


# --- stats


def stats(folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    replies("stats", folder, "--json")
    output: dict[str, Any] = json.loads(capsys.readouterr().out)
    return output


def test_stats_sum_known_and_count_unknown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    costs = [entry(f"{n}", cost=0.1, tokens_in=7, at=f"2026-03-0{n}T10:00:00Z") for n in range(1, 4)]
    store = fill(tmp_path / "s", [*costs, entry("u"), entry("v", model="free")])
    models = stats(store, capsys)
    assert list(models["models"]) == ["free", "openai/small"]
    assert models["models"]["openai/small"] == {
        "replies": 4,
        "tokens_in": {"known": 21, "unknown": 1},
        "tokens_out": {"known": None, "unknown": 4},
        "tokens_reasoning": {"known": None, "unknown": 4},
        "cost": {"known": pytest.approx(0.3), "unknown": 1},
        "first": "2026-03-01T10:00:00Z",
        "last": "2026-03-03T10:00:00Z",
    }
    assert models["bytes"] >= (store / "replies.sqlite").stat().st_size


def test_stats_table_unknown_cost_is_not_zero(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    replies("stats", fill(tmp_path / "s", [entry("a", cost=0.125), entry("b"), entry("c", model="free")]))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{tmp_path / 's' / 'replies.sqlite'}: 3 replies of 2 models, ")
    assert re.search(r"free +1 +unknown +unknown +unknown +2026-03-01 +2026-03-01$", lines[-2])
    assert re.search(r"openai/small +2 .* 0\.1250 \+ 1 unknown", lines[-1])


# --- the store itself


@pytest.mark.parametrize("words", [["export", "-"], ["prune", "--model", "*"], ["stats"]], ids=lambda words: words[0])
def test_replies_missing_store_is_usage_error(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "there is no store" in refused(capsys, *words, "--store", tmp_path / "gone")
    assert list(tmp_path.iterdir()) == []


def test_replies_default_store_is_in_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["replies", "import", str(write_export(tmp_path / "in", [entry("a")]))]) == 0
    assert (tmp_path / ".taskgraph" / "replies.sqlite").is_file()


def test_replies_store_may_be_named_by_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = fill(tmp_path / "s", [entry("a")])
    assert stats(store / "replies.sqlite", capsys) == stats(store, capsys)


def test_replies_file_without_store_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other, damaged = tmp_path / "notes.txt", tmp_path / "s" / "replies.sqlite"
    damaged.parent.mkdir()
    for file in (other, damaged):
        file.write_text("notes")
        refused(capsys, "import", write_export(tmp_path / "in", [entry("a")]), "--store", file)
        assert file.read_text() == "notes"


async def _keep_reply(folder: Path, request: Request, reply: Reply) -> None:
    with closing(Store(folder, "run-1")) as store:
        stored = request_entry("openai/small", {"api_key": "sk-abcdef123456"}, request)
        await store.claim(digest(stored))
        await store.keep(digest(stored), stored, reply)


async def _look_up(folder: Path, request: Request) -> Reply | None:
    with closing(Store(folder, "run-2")) as store:
        return await store.look(digest(request_entry("openai/small", {"api_key": "another"}, request)))


@pytest.mark.parametrize("kind", ["chat", "score", "embed"])
def test_import_replies_are_found_by_other_store(kind: Literal["chat", "score", "embed"], tmp_path: Path) -> None:
    content: dict[str, Any] = (
        {"messages": [{"role": "user", "content": HOSTILE}]} if kind == "chat" else {"texts": ["é"]}
    )
    request = Request(kind=kind, tools=[{"type": "function"}], settings={"temperature": 0.0}, repetition=2, **content)
    figures: dict[str, Any] = {"tool_calls": [{"id": "1"}], "logprobs": [[-0.5, 2, None]], "embeddings": [[0.5]]}
    reply = Reply("Load", 3, 4, 0.5, 0.25, **figures, stored=True)
    asyncio.run(_keep_reply(tmp_path / "here", request, reply))
    assert b"sk-abc" not in exported(tmp_path / "here")
    replies("import", tmp_path / "there", tmp_path / "here.jsonl")
    assert asyncio.run(_look_up(tmp_path / "there", request)) == reply


# --- the page


def block(kind: str) -> str:
    text, *_ = re.findall(rf"^```{kind}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return str(text)


def test_replies_page_example_line_is_valid() -> None:
    line = block("jsonl").rstrip("\n")
    assert format_line(read_line(line.encode(), "docs/how-to/replies.md", 1)) == line


def test_replies_page_commands_run_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    fill(tmp_path / ".taskgraph", [entry("a"), entry("b", model="openai/old")])
    write_export(tmp_path / "colleague.jsonl", [entry("c")])
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
def test_export_full_temporary_folder_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, length: int
) -> None:
    fill(tmp_path / "store", [entry("Which?", "a" * length)])
    monkeypatch.setattr("pytest_taskgraph.commands.replies.TemporaryFile", lambda: io.BufferedRandom(Full()))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert main(["replies", "export", str(tmp_path / "out.jsonl"), "--store", str(tmp_path / "store")]) == 4
    message = capsys.readouterr().err
    assert f"the temporary folder {tmp_path} cannot be used: No space left on device; " in message
    assert "TMPDIR" in message
    assert not (tmp_path / "out.jsonl").exists()


def test_export_missing_temporary_folder_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path / "store", [entry("Which?")])
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    assert main(["replies", "export", "-", "--store", str(tmp_path / "store")]) == 4
    assert f"the temporary folder {tmp_path / 'gone'} cannot be used: " in capsys.readouterr().err
