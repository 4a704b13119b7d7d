"""The reader of Food.com's recipes: hostile rows, lists of texts, splits, and files that are read as streams."""

from __future__ import annotations

import csv
import io
import json
import tracemalloc
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_taskgraph.benchmarks.data_sets.data_problems import DataProblems, clean_text
from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.families.steps.next_step_samples import StepRecipe
from pytest_taskgraph.families.steps.recipe_sets import RecipeSet, food_com
from pytest_taskgraph.families.steps.recipe_sets.food_com import (
    LARGEST_ROW,
    LONGEST_LIST,
    LONGEST_STEP,
    MOST_STEPS,
    read_food_com,
)
from pytest_taskgraph.families.steps.recipe_sets.recipe_set import RECIPE_SPLITS

HEADER = "name,id,minutes,n_steps,steps,description\n"
BREAD = 'rye bread,7,90,3,"[\'mix the flour\', ""don\'t knead it"", \'bake it\']",dark\n'
SOUP = "leek soup,8,40,2,\"['cut leeks', 'boil them']\",\"thick,\nand green\"\n"
TEA = "mint tea,9,5,1,\"['pour the water']\",\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "RAW_recipes.csv"


def read_text(file: Path, *rows: str) -> RecipeSet:
    """Write the rows below the header, and read them."""
    file.write_bytes((HEADER + "".join(rows)).encode())
    return read_food_com(file)


def all_recipes(recipes: RecipeSet) -> list[StepRecipe]:
    """Return the recipes of all splits, in the order of their ids."""
    return sorted((*recipes.train, *recipes.dev, *recipes.test), key=lambda recipe: int(recipe.id))


def titles(recipes: RecipeSet) -> list[str]:
    return [recipe.title for recipe in all_recipes(recipes)]


def read_rows(content: bytes, problems: DataProblems) -> list[tuple[int, dict[str, str]]]:
    return [*food_com._rows(io.StringIO(content.decode("utf-8", "replace"), newline=""), "x", problems)]


# Rows.


def test_row_as_published_gives_recipe_with_its_steps(file: Path) -> None:
    recipes = read_text(file, BREAD, SOUP, TEA)

    assert recipes.train == (
        StepRecipe("7", "rye bread", ("mix the flour", "don't knead it", "bake it"), "train"),
        StepRecipe("8", "leek soup", ("cut leeks", "boil them"), "train"),
        StepRecipe("9", "mint tea", ("pour the water",), "train"),
    )
    assert (recipes.source, recipes.dev, recipes.test, recipes.problems) == ("food.com", (), (), ())


def test_file_with_bom_windows_ends_and_empty_lines_reads_as_without(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbf" + (HEADER + BREAD + "\n" + SOUP + "\n\n").replace("\n", "\r\n").encode())

    assert titles(read_food_com(file)) == ["rye bread", "leek soup"]


def test_columns_in_another_order_and_without_the_others_are_read(file: Path) -> None:
    file.write_text("steps,id,name\n\"['stir it']\",3,mush\n", encoding="utf-8")

    assert all_recipes(read_food_com(file))[0].steps == ("stir it",)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("x,1\n", "line 3: 2 fields, expected 6; the row is left out"),
        ("x,1,2,3,4,5,6,7\n", "line 3: 8 fields, expected 6; the row is left out"),
        ('x,1,2,3,"[]"oops,d\n', "line 3: ',' expected after '\"'; the row is left out"),
        (
            "x,1,2,3,__import__('os'),d\n",
            "line 3: steps: found \"__import__('os')\", expected a list of texts such as ['mix', 'bake']; the row is",
        ),
        ("x,1,2,3,\"['a'] + ['b']\",d\n", "line 3: steps: found \"['a'] + ['b']\", expected a list of texts"),
        ("x,1,2,1,\"[__import__('os').system('ls')]\",d\n", "line 3: steps: found \"[__import__('os').system('ls')]\""),
        ("x,1,2,0,[],d\n", "line 3: there are no steps; the row is left out"),
        ("x,1,2,1,\"['']\",d\n", "line 3: there are no steps; the row is left out"),
        ("x,,2,1,['a'],d\n", "line 3: the id is '', expected letters, digits and hyphens; the row is left out"),
        ("x,../1,2,1,['a'],d\n", "line 3: the id is '../1', expected letters, digits and hyphens"),
        (",1,2,1,['a'],d\n", "line 3: the name is empty; the row is left out"),
        (f"x,1,2,1,['{'a' * (LONGEST_STEP + 1)}'],d\n", "line 3: a text of more than 5000 characters"),
        (f"x,1,2,1,{'y' * 140_000},d\n", "line 3: field larger than field limit (131072); the row is left out"),
        ("x,7,2,1,['a'],d\n", "line 3: the id 7 again; the first is kept"),
        (f"{'x' * (LARGEST_ROW - 1)}\n", "line 3: the row has more than 500000 characters; is a quotation mark"),
    ],
)
def test_broken_row_is_reported_and_the_rest_read(file: Path, row: str, message: str) -> None:
    recipes = read_text(file, BREAD, row, SOUP, TEA)

    assert titles(recipes) == ["rye bread", "leek soup", "mint tea"]
    assert len(recipes.problems) == 1
    assert recipes.problems[0].startswith(f"RAW_recipes.csv, {message}")


def test_quotation_mark_never_closed_loses_the_rows_up_to_the_next(file: Path) -> None:
    plain = "".join(f"mush {number},{number},2,1,['stir it'],\n" for number in range(20, 24))

    recipes = read_text(file, TEA, "x,1,2,1,\"['a'],d\n", plain, BREAD, SOUP)

    assert titles(recipes) == ["leek soup", "mint tea"]
    assert recipes.problems == ("RAW_recipes.csv, line 3: ',' expected after '\"'; the row is left out",)


def test_quotation_mark_open_to_the_end_is_reported(file: Path) -> None:
    recipes = read_text(file, TEA, "x,1,2,1,\"['a'],d\n", "mush,20,2,1,['stir it'],\n")

    assert titles(recipes) == ["mint tea"]
    assert recipes.problems == ("RAW_recipes.csv, line 3: unexpected end of data; the row is left out",)


def test_row_too_large_is_given_up_and_the_rest_read(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(food_com, "LARGEST_ROW", 400)
    plain = "".join(f"mush {number},{number},2,1,['stir it'],\n" for number in range(20, 60))

    recipes = read_text(file, "x,1,2,1,\"['a'],d\n", plain)

    assert titles(recipes)[-1] == "mush 59"
    assert len(titles(recipes)) > 20
    assert recipes.problems == (
        "RAW_recipes.csv, line 2: the row has more than 400 characters; is a quotation mark unclosed?; "
        "the row is left out",
    )


def test_file_of_unclosed_marks_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(food_com, "LARGEST_ROW", 600)
    problems = DataProblems()

    assert read_rows(b"name,id,steps\n" + b'x","\n' * 5_000, problems) == []
    assert problems.lines[0].startswith("x, line 2: the row has more than 600 characters")


def test_bytes_that_are_no_utf_8_are_replaced_and_counted(file: Path) -> None:
    file.write_bytes(HEADER.encode() + b"saut\xe9,1,2,1,\"['fry it']\",d\n" + TEA.encode())

    recipes = read_food_com(file)

    assert titles(recipes) == ["saut\ufffd", "mint tea"]
    assert recipes.problems == ("RAW_recipes.csv: 1 lines are not UTF-8; such bytes are read as \ufffd",)


def test_controls_in_fields_do_not_get_through(file: Path) -> None:
    recipes = read_text(file, "mush\x1b[2J,1,2,1,\"['stir\\x1b it\x00', 'eat\\ud800it']\",d\n", "\x1b[2J,b\n")

    assert (titles(recipes), all_recipes(recipes)[0].steps) == (["mush [2J"], ("stir it", "eat it"))
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

    for number, fields in read_rows(content, problems):
        assert number > 1
        assert fields.keys() == {"name", "id", "steps"}


cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=12)


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=5))
def test_rows_that_python_writes_read_back(rows: list[tuple[str, str]]) -> None:
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows([("name", "id", "steps"), *((*row, "") for row in rows)])
    problems = DataProblems()

    rows_read = read_rows(file.getvalue().encode(), problems)

    assert [(fields["name"], fields["id"]) for _, fields in rows_read] == rows
    assert problems.lines == []


# Lists of texts.


@given(st.lists(st.text(max_size=20), max_size=6))
def test_list_that_python_or_json_writes_reads_back(texts: list[str]) -> None:
    expected = [clean_text(text) for text in texts]
    assert food_com._read_steps(repr(texts)) == food_com._read_steps(ascii(texts)) == expected
    printable = [clean_text(text) for text in texts]
    assert food_com._read_steps(json.dumps(printable, ensure_ascii=False)) == expected


def test_list_with_line_ends_and_controls_reads_as_spaces() -> None:
    assert food_com._read_steps(" ['stir\nit\0', \r\n'eat']\n") == ["stir it", "eat"]


def test_list_with_a_backslash_that_begins_no_escape_keeps_it() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert food_com._read_steps(r"['\d mix', 'it\'s']") == [r"\d mix", "it's"]


pieces = st.sampled_from([*"[](){}'\",\\n071a -*:=\0", "['", "', '", "'] ", "lambda:", "not ", "b'", "f'", "\ud800"])


@given(st.lists(pieces, max_size=12).map("".join))
def test_list_of_any_text_is_read_or_refused(source: str) -> None:
    steps = food_com._read_steps(source)
    assert isinstance(steps, str) or all(isinstance(step, str) for step in steps)


DEEP = LONGEST_LIST - 10


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "found ''"),
        ("'a'", "found"),
        ("['a'", "found"),
        ("['a', b]", "found"),
        ("[1]", "found '[1]', expected a list of texts such as ['mix', 'bake']"),
        ("('a',)", "found"),
        ("{'a'}", "found"),
        ("{[]: 1}", "found"),  # a TypeError of Python
        ("[f'{1}']", "found"),
        ("[b'a']", "found"),
        ("[['a']]", "found"),
        ("[" * LONGEST_LIST, "found"),
        ("[" + "-" * DEEP + "1]", "found"),
        ("[" + "1+" * (DEEP // 2) + "1]", "found"),
        ("[" + "not " * (DEEP // 4) + "1]", "found"),
        ("[a" + ".a" * (DEEP // 2) + "]", "found"),
        ("[" + "lambda:" * (DEEP // 7) + "1]", "found"),
        ("[" + "9" * DEEP + "]", "found"),
        (f"['{'a' * LONGEST_LIST}']", "found 100004 characters, expected at most 100000"),
        (repr(["a"] * (MOST_STEPS + 1)), "found 1001 steps, expected at most 1000"),
    ],
)
def test_list_that_is_none_is_refused_with_what_was_found(source: str, message: str) -> None:
    steps = food_com._read_steps(source)
    assert isinstance(steps, str)
    assert steps.startswith(message)
    assert len(steps) < 120


# Splits and sizes.


def many(file: Path, ids: Sequence[int]) -> Path:
    file.write_text(
        HEADER + "".join(f"mush {recipe_id},{recipe_id},2,1,['stir it'],\n" for recipe_id in ids), encoding="utf-8"
    )
    return file


def test_splits_have_their_shares_and_follow_the_ids_alone(file: Path) -> None:
    whole = read_food_com(many(file, range(2_000)))
    half = read_food_com(many(file, range(1_999, 999, -1)))
    splits = {recipe.id: recipe.split for recipe in (*whole.train, *whole.dev, *whole.test)}

    assert len(splits) == 2_000
    assert 60 < len(whole.dev) < 140
    assert 60 < len(whole.test) < 140
    assert all(splits[recipe.id] == recipe.split for recipe in (*half.train, *half.dev, *half.test))
    assert [recipe.id for recipe in whole.split("dev")][:3] == ["3", "4", "27"]


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


class MadeWhenRead(io.RawIOBase):
    """A file whose bytes are made when they are read."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - a writable buffer
        chunk = next(self._chunks, b"")
        buffer[: len(chunk)] = chunk
        return len(chunk)


def measure_peak(chunks: Iterator[bytes]) -> tuple[int, int]:
    """Return the number of rows that are read from the chunks, and the peak of the memory in bytes."""
    text = io.TextIOWrapper(io.BufferedReader(MadeWhenRead(chunks)), "utf-8-sig", "replace", newline="")
    tracemalloc.start()
    try:
        return sum(1 for _ in food_com._rows(text, "x", DataProblems())), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_rows_of_a_large_file_are_streamed_in_little_memory() -> None:
    row = b"x" * 5_000
    rows = (b"name,id,steps\n" if at == 0 else b"%d,%s,\n" % (at, row) for at in range(10_001))  # 50 MB
    count, peak = measure_peak(rows)
    assert count == 10_000
    assert peak < 5_000_000


@pytest.mark.parametrize("piece", [b"x" * 5_000, b'"\n,"' * 1_000, b'x","\n' * 1_000])
def test_rows_without_an_end_are_given_up_in_little_memory(piece: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(food_com, "LARGEST_ROW", 5_000)
    count, peak = measure_peak(b"name,id,steps\n" if at == 0 else piece for at in range(60))
    assert count == 0
    assert peak < 500_000


def test_file_larger_than_the_limit_is_read_up_to_it(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(food_com, "LARGEST_CSV", 5_000)
    many(file, range(1_000))

    recipes = read_food_com(file)

    assert 100 < len(titles(recipes)) < 300
    assert recipes.problems == ("RAW_recipes.csv: only its first 5000 characters are read",)


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

    recipes = read_food_com(path)

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

    recipes = read_food_com(tmp_path / "a.zip")

    assert 1_000 < len(titles(recipes)) < 20_000
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

    assert read_food_com(file) is before
    assert len(titles(read_text(file, BREAD, SOUP))) == 2
