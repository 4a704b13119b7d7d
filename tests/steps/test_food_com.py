"""The reader of Food.com's recipes: hostile rows, lists of texts, splits, and files that are read as streams."""

from __future__ import annotations

import ast
import csv
import io
import json
import tracemalloc
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_taskgraph.benchmarks.data_sets.data_problems import DataProblems
from pytest_taskgraph.benchmarks.steps.recipe_sets import RecipeSet, food_com, recipe_rows
from pytest_taskgraph.benchmarks.steps.recipe_sets.food_com import LONGEST_STEP, SplitShares, read_food_com
from pytest_taskgraph.benchmarks.steps.recipe_sets.python_lists import (
    LONGEST_LIST,
    MOST_TEXTS,
    PythonListError,
    read_text_list,
)
from pytest_taskgraph.benchmarks.steps.recipe_sets.recipe_rows import LARGEST_ROW, read_rows
from pytest_taskgraph.benchmarks.steps.recipe_sets.recipe_set import RECIPE_SPLITS
from pytest_taskgraph.errors import UsageError

HEADER = "name,id,minutes,n_steps,steps,description\n"
BREAD = 'rye bread,7,90,3,"[\'mix the flour\', ""don\'t knead it"", \'bake it\']",dark\n'
SOUP = "leek soup,8,40,2,\"['cut leeks', 'boil them']\",\"thick,\nand green\"\n"
TEA = "mint tea,9,5,1,\"['pour the water']\",\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "RAW_recipes.csv"


def read_text(file: Path, *rows: str) -> RecipeSet:
    """Write the rows below the header, and read them; everything is in the test split."""
    file.write_bytes((HEADER + "".join(rows)).encode())
    return read_food_com(file, shares=SplitShares(0, 1))


def titles(recipes: RecipeSet) -> list[str]:
    return [recipe.title for recipe in recipes.test]


# Rows.


def test_row_as_published_gives_recipe_with_its_steps(file: Path) -> None:
    recipes = read_text(file, BREAD, SOUP, TEA)

    assert recipes.test[0].steps == ("mix the flour", "don't knead it", "bake it")
    assert [(recipe.id, recipe.title, recipe.split) for recipe in recipes.test] == [
        ("7", "rye bread", "test"),
        ("8", "leek soup", "test"),
        ("9", "mint tea", "test"),
    ]
    assert (recipes.source, recipes.train, recipes.dev, recipes.problems) == ("food.com", (), (), ())


def test_file_with_bom_windows_ends_and_empty_lines_reads_as_without(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbf" + (HEADER + BREAD + "\n" + SOUP + "\n\n").replace("\n", "\r\n").encode())

    assert [recipe.title for recipe in read_food_com(file, shares=SplitShares(0, 1)).test] == ["rye bread", "leek soup"]


def test_columns_in_another_order_and_without_the_others_are_read(file: Path) -> None:
    file.write_text("steps,id,name\n\"['stir it']\",3,mush\n", encoding="utf-8")

    assert read_food_com(file, shares=SplitShares(0, 1)).test[0].steps == ("stir it",)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("x,1\n", "line 3: 2 fields, expected 6; the row is left out"),
        ("x,1,2,3,4,5,6,7\n", "line 3: 8 fields, expected 6; the row is left out"),
        ('x,1,2,3,"[]"oops,d\n', "line 3: ',' expected after '\"'; the row is left out"),
        ("x,1,2,3,__import__('os'),d\n", "line 3: steps: character 1: expected '['; the row is left out"),
        ("x,1,2,3,\"['a'] + ['b']\",d\n", "line 3: steps: character 5: expected a text in quotes, ',' or the ']'"),
        ("x,1,2,1,\"[__import__('os').system('ls')]\",d\n", "line 3: steps: character 2: expected a text"),
        ("x,1,2,0,[],d\n", "line 3: there are no steps; the row is left out"),
        ("x,1,2,1,\"['']\",d\n", "line 3: there are no steps; the row is left out"),
        ("x,,2,1,['a'],d\n", "line 3: the id is '', expected letters, digits and hyphens; the row is left out"),
        ("x,../1,2,1,['a'],d\n", "line 3: the id is '../1', expected letters, digits and hyphens"),
        (",1,2,1,['a'],d\n", "line 3: the name is empty; the row is left out"),
        (f"x,1,2,1,['{'a' * (LONGEST_STEP + 1)}'],d\n", "line 3: a text of more than 5000 characters"),
        (f"x,1,2,1,{'y' * 140_000},d\n", "line 3: field larger than field limit (131072); the row is left out"),
        ("x,7,2,1,['a'],d\n", "line 3: the id 7 again; the first is kept"),
        (f"{'x' * (LARGEST_ROW + 1)}\n", "line 3: more than 500000 bytes; left out"),
        ("x,1,2,1,\"['never closed,d\n", "line 3: ',' expected after '\"'; the row is left out"),
    ],
)
def test_broken_row_is_reported_and_the_rest_read(file: Path, row: str, message: str) -> None:
    recipes = read_text(file, BREAD, row, SOUP, TEA)

    assert titles(recipes) == ["rye bread", "leek soup", "mint tea"]
    assert len(recipes.problems) == 1
    assert recipes.problems[0].startswith(f"RAW_recipes.csv, {message}")


def test_quotation_mark_open_to_the_end_loses_its_row_only(file: Path) -> None:
    plain = "".join(f"mush {number},{number},2,1,['stir it'],\n" for number in range(20, 40))

    recipes = read_text(file, BREAD, "x,1,2,1,\"['a'],d\n", plain)

    assert len(recipes.test) == 21
    assert recipes.problems == ("RAW_recipes.csv, line 3: unexpected end of data; the row is left out",)


def test_row_too_large_is_given_up_and_its_lines_read_again(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe_rows, "LARGEST_ROW", 400)
    plain = "".join(f"mush {number},{number},2,1,['stir it'],\n" for number in range(20, 60))

    recipes = read_text(file, "x,1,2,1,\"['a'],d\n", plain)

    assert len(recipes.test) == 40
    assert recipes.problems == (
        "RAW_recipes.csv, line 2: the row has more than 400 characters; is a quotation mark unclosed?; "
        "the row is left out",
    )


def test_file_of_unclosed_marks_is_read_in_bounded_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe_rows, "LARGEST_ROW", 600)
    monkeypatch.setattr(recipe_rows, "MOST_RESUMED", 10)
    handed_out = 0
    following = recipe_rows._RowLines.__next__

    def counted(self: recipe_rows._RowLines) -> str:
        nonlocal handed_out
        handed_out += 1
        return following(self)

    monkeypatch.setattr(recipe_rows._RowLines, "__next__", counted)
    problems = DataProblems()

    rows = list(read_rows(io.BytesIO(b"name,id,steps\n" + b'x","\n' * 5_000), "x", ("name",), 10**9, problems))

    assert rows == []
    assert handed_out < 5_000 + 10 * 121 + 10
    assert problems.lines[0].startswith("x, line 2: the row has more than 600 characters")


def test_bytes_that_are_no_utf_8_are_replaced_and_counted(file: Path) -> None:
    file.write_bytes(HEADER.encode() + b"saut\xe9,1,2,1,\"['fry it']\",d\n" + TEA.encode())

    recipes = read_food_com(file, shares=SplitShares(0, 1))

    assert titles(recipes) == ["saut\ufffd", "mint tea"]
    assert recipes.problems == ("RAW_recipes.csv: 1 lines are not UTF-8; such bytes are read as \ufffd",)


def test_controls_in_fields_do_not_get_through(file: Path) -> None:
    recipes = read_text(file, "mush\x1b[2J,1,2,1,\"['stir\\x1b it\x00', 'eat\\ud800it']\",d\n", "\x1b[2J,b\n")

    assert (titles(recipes), recipes.test[0].steps) == (["mush [2J"], ("stir it", "eat it"))
    assert "\x1b" not in "".join(recipes.problems)


def test_other_number_of_steps_is_reported_and_the_row_kept(file: Path) -> None:
    recipes = read_text(file, TEA.replace(",1,", ",4,"))

    assert titles(recipes) == ["mint tea"]
    assert recipes.problems == ("RAW_recipes.csv, line 2: n_steps is '4', and there are 1 steps; the row is kept",)


@given(st.lists(st.text(max_size=30), max_size=6), st.binary(max_size=200))
@example(['x","'] * 3, b'"')
def test_rows_of_any_bytes_are_read_or_reported(texts: list[str], junk: bytes) -> None:
    problems = DataProblems()
    content = b"name,id,steps\n" + "\n".join(texts).encode("utf-8", "replace") + junk

    for number, fields in read_rows(io.BytesIO(content), "x", ("name", "id"), 10**6, problems):
        assert number > 1
        assert fields.keys() == {"name", "id", "steps"}


cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=12)


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=5))
def test_rows_that_python_writes_read_back(rows: list[tuple[str, str]]) -> None:
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows([("a", "b"), *rows])
    problems = DataProblems()

    rows_read = read_rows(io.BytesIO(file.getvalue().encode()), "x", ("a", "b"), 10**6, problems)

    assert [(fields["a"], fields["b"]) for _, fields in rows_read] == rows
    assert problems.lines == []


# Lists of texts.


@given(st.lists(st.text(max_size=20), max_size=6))
def test_list_that_python_writes_reads_back(texts: list[str]) -> None:
    assert read_text_list(repr(texts)) == texts


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), max_size=6))
def test_list_that_ascii_and_json_write_reads_back(texts: list[str]) -> None:
    assert read_text_list(ascii(texts)) == texts
    assert read_text_list(json.dumps(texts, ensure_ascii=False)) == texts


pieces = st.sampled_from([*"[]'\",\\n071a ", "['", "', '", "', \"", '"]', "']"])


@given(st.lists(pieces, max_size=12).map("".join))
def test_list_of_any_text_is_as_python_reads_it_or_refused(source: str) -> None:
    try:
        texts = read_text_list(source)
    except PythonListError:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of escapes that are none, which both keep as they stand
        assert ast.literal_eval(source.strip()) == texts


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "character 1: expected '\\['"),
        ("'a'", "character 1: expected '\\['"),
        ("[", "character 1: expected ']'"),
        ("['a'", "character 4: expected ']'"),
        ("['a' 'b']", "character 6: expected a text in quotes, ',' or"),
        ("['a', b]", "character 6: expected a text"),
        ("[,]", "character 2: expected a text"),
        ("[f'{1}']", "character 2: expected a text"),
        ("['a\\']", "character 2: expected a text"),
        ("[['a']]", "character 2: expected a text"),
        ("['a\nb']", "character 2: expected a text"),
        ("[" * LONGEST_LIST, "expected ']' at the end"),
        (f"['{'a' * LONGEST_LIST}']", "100004 characters, expected at most 100000"),
        (repr(["a"] * (MOST_TEXTS + 1)), "more than 1000 texts"),
        ("[" + "'\\" * 40_000 + "]", "expected a text"),
    ],
)
def test_list_that_is_none_is_refused_with_its_place(source: str, message: str) -> None:
    with pytest.raises(PythonListError, match=message):
        read_text_list(source)


# Splits and sizes.


def many(file: Path, ids: Sequence[int]) -> Path:
    file.write_text(
        HEADER + "".join(f"mush {recipe_id},{recipe_id},2,1,['stir it'],\n" for recipe_id in ids), encoding="utf-8"
    )
    return file


def test_splits_have_their_shares_and_follow_the_ids_alone(file: Path) -> None:
    whole = read_food_com(many(file, range(2_000)), seed=3)
    half = read_food_com(many(file, range(1_999, 999, -1)), seed=3)
    splits = {recipe.id: recipe.split for recipe in (*whole.train, *whole.dev, *whole.test)}

    assert len(splits) == 2_000
    assert 60 < len(whole.dev) < 140
    assert 60 < len(whole.test) < 140
    assert all(splits[recipe.id] == recipe.split for recipe in (*half.train, *half.dev, *half.test))
    assert [recipe.id for recipe in whole.split("dev")][:3] == ["48", "51", "57"]


def test_splits_of_another_seed_are_others(file: Path) -> None:
    many(file, range(500))

    assert {recipe.id for recipe in read_food_com(file, seed=1).test} != {
        recipe.id for recipe in read_food_com(file, seed=2).test
    }


def test_most_keeps_so_many_of_each_split_in_the_order_of_the_file(file: Path) -> None:
    many(file, range(500))

    whole, some, few = (read_food_com(file, most=most) for most in (None, 8, 3))
    assert whole.problems == ()
    assert some.problems == tuple(
        f"RAW_recipes.csv: only 8 of {len(whole.split(split))} recipes of the {split} split are kept"
        for split in RECIPE_SPLITS
    )

    assert [len(some.split(split)) for split in ("train", "dev", "test")] == [8, 8, 8]
    for split in ("train", "dev", "test"):
        all_ids, some_ids, few_ids = (
            [recipe.id for recipe in recipe_set.split(split)] for recipe_set in (whole, some, few)
        )
        assert set(few_ids) < set(some_ids) < set(all_ids)
        assert some_ids == [recipe_id for recipe_id in all_ids if recipe_id in set(some_ids)]


@pytest.mark.parametrize("shares", [(-0.1, 0.5), (0.6, 0.5), (float("nan"), 0.1)])
def test_shares_that_are_none_are_refused(shares: tuple[float, float]) -> None:
    with pytest.raises(UsageError, match="shares: found dev"):
        SplitShares(*shares)


class Rows:
    """A file whose lines are made when they are read."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        self._lines = lines

    def readline(self, size: int) -> bytes:
        return next(self._lines, b"")


def test_rows_of_a_large_file_are_streamed_in_little_memory() -> None:
    row = b"x" * 10_000
    rows = (b"name,id\n" if at == 0 else b"%d,%s\n" % (at, row) for at in range(5_001))  # 50 MB
    file = cast(IO[bytes], Rows(rows))
    tracemalloc.start()
    try:
        count = sum(1 for _ in read_rows(file, "x", ("name", "id"), 10**9, DataProblems()))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert count == 5_000
    assert peak < 5_000_000


def test_file_larger_than_the_limit_is_read_up_to_it(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(food_com, "LARGEST_CSV", 5_000)
    many(file, range(1_000))

    recipes = read_food_com(file, shares=SplitShares(0, 1))

    assert 100 < len(recipes.test) < 300
    assert recipes.problems == ("RAW_recipes.csv: only its first 5000 bytes are read",)


# Folders and archives.


@pytest.mark.parametrize("packed", [False, True])
def test_folder_as_published_gives_the_file_of_recipes(file: Path, packed: bool) -> None:
    read_text(file, BREAD, SOUP)
    (file.parent / "RAW_interactions.csv").write_text("user_id,recipe_id\n1,7\n", encoding="utf-8")
    (file.parent / "PP_recipes.csv").write_text("id,i\n7,1\n", encoding="utf-8")
    path = file.parent
    if packed:
        path = path / "archive.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for source in sorted(file.parent.glob("*.csv")):
                archive.write(source, source.name)

    recipes = read_food_com(path, shares=SplitShares(0, 1))

    assert titles(recipes) == ["rye bread", "leek soup"]
    assert recipes.problems == ("PP_recipes.csv: the first row lacks name, steps; left out",)


def test_archive_that_is_damaged_gives_what_comes_before(tmp_path: Path) -> None:
    rows = "".join(
        f"mush {recipe_id},{recipe_id},2,1,['stir it {recipe_id * 7919 % 10007}'],\n" for recipe_id in range(20_000)
    )
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("RAW_recipes.csv", HEADER + rows)
    content = bytearray((tmp_path / "a.zip").read_bytes())
    content[len(content) // 2 : len(content) // 2 + 50] = bytes(50)
    (tmp_path / "a.zip").write_bytes(content)

    recipes = read_food_com(tmp_path / "a.zip", shares=SplitShares(0, 1))

    assert 1_000 < len(recipes.test) < 20_000
    assert any("RAW_recipes.csv: it is damaged or may not be read (" in line for line in recipes.problems)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "found RAW_recipes.csv; expected Food"),
        ("id,steps\n1,['a']\n", "the first row lacks name; left out"),
        (HEADER, "found RAW_recipes.csv; expected Food"),
        (HEADER + "x,1\n", "line 2: 2 fields, expected 6"),
    ],
)
def test_file_without_a_recipe_is_refused(file: Path, content: str, message: str) -> None:
    file.write_text(content, encoding="utf-8")

    with pytest.raises(UsageError, match=f"--taskgraph-data=steps-recipes=.*: no recipe that can be used; .*{message}"):
        read_food_com(file)


def test_file_that_did_not_change_is_read_once(file: Path) -> None:
    before = read_text(file, BREAD)

    assert read_food_com(file, shares=SplitShares(0, 1)) is before
    assert len(read_text(file, BREAD, SOUP).test) == 2
