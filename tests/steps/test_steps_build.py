"""`steps build`: files that our reader reads back to the same samples, and what the command prints and refuses."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest
from food_com_file import write_recipes, write_soups
from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_taskgraph.benchmarks.settings import Settings
from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.families.steps import steps_command
from pytest_taskgraph.families.steps.construction import ConstructionRule, build_choices, build_classification
from pytest_taskgraph.families.steps.next_step_samples import ChoiceSample, NextStepSample, StepRecipe
from pytest_taskgraph.families.steps.recipe_sets.food_com import read_food_com
from pytest_taskgraph.families.steps.recipe_sets.published_files import (
    choice_lines,
    classification_lines,
    read_published_samples,
    separable_steps,
)
from pytest_taskgraph.families.steps.recipe_sets.recipe_set import read_embedded_recipes
from pytest_taskgraph.families.steps.sample_sets import asked_samples
from pytest_taskgraph.families.steps.steps_command import arguments, run
from pytest_taskgraph.families.steps.steps_settings import StepsSettings

NAMES = [f"{kind}/{split}.txt" for split in ("train", "dev", "test") for kind in ("next_step", "multi-choice")]


def build(*words: str | int | Path) -> int:
    parser = argparse.ArgumentParser()
    arguments(parser)
    return run(parser.parse_args(["build", *map(str, words)]))


def contents(folder: Path) -> dict[str, str]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes().decode() for path in files}


def candidate_of(sample: NextStepSample) -> tuple[object, ...]:
    return sample.prefix, sample.candidate, sample.label, sample.position


def options_of(choice: ChoiceSample) -> tuple[object, ...]:
    return choice.prefix, choice.right, choice.wrong, choice.position


# What is written.


def test_build_of_the_embedded_recipes_reads_back_to_their_samples(tmp_path: Path) -> None:
    assert build("--out", tmp_path) == 0
    recipe_set, recipes = read_published_samples(tmp_path), read_embedded_recipes().test

    assert sorted(contents(tmp_path)) == sorted(NAMES)
    assert [*map(candidate_of, recipe_set.classification)] == [*map(candidate_of, build_classification(recipes))]
    assert [*map(options_of, recipe_set.choices)] == [*map(options_of, build_choices(recipes))]
    assert [line.rpartition(": ")[2] for line in recipe_set.problems] == [
        *["it is of the validation split; it is left out", "it is of the train split; it is left out"] * 2
    ]


@pytest.mark.parametrize("split", ["train", "dev"])
def test_build_file_of_another_split_reads_back_by_itself(tmp_path: Path, split: str) -> None:
    build("--out", tmp_path)
    published = read_published_samples(tmp_path / "next_step" / f"{split}.txt")
    recipes = read_embedded_recipes().split(split)  # type: ignore[arg-type]

    assert [*map(candidate_of, published.classification)] == [*map(candidate_of, build_classification(recipes))]


def test_build_lines_are_as_published(tmp_path: Path) -> None:
    recipes = ((f"tea {at}", at, ["Boil it", "Pour it", "Stir it.", "Drink it"]) for at in range(200))
    build("--recipes", write_recipes(tmp_path / "x.csv", recipes), "--out", tmp_path / "out", "--test", 1)
    files = contents(tmp_path / "out")

    assert files["next_step/test.txt"].splitlines() == [
        *("Boil it\tPour it\tYes", "Boil it\tStir it.\tNo", "Boil it\tDrink it\tNo"),
        *("Boil it . Pour it\tStir it.\tYes", "Boil it . Pour it\tDrink it\tNo"),
    ]
    first, second = files["multi-choice/test.txt"].splitlines()
    assert first in ("Boil it . \tPour it\tStir it.", "Boil it . \tPour it\tDrink it")
    assert second == "Boil it . Pour it . \tStir it.\tDrink it"


def test_build_prints_the_numbers_of_each_split(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipes = ((f"tea {at}", at, [f"do {step}" for step in range(5 if at % 2 else 11)]) for at in range(200))
    path = write_recipes(tmp_path / "x.csv", recipes)
    build("--recipes", path, "--out", tmp_path / "out", "--train", 3, "--test", 0)
    out, err = capsys.readouterr()
    recipe_set = read_food_com(Path(path))
    train, dev, test = recipe_set.train, recipe_set.dev, recipe_set.test
    short = [sum(len(recipe.steps) == 5 for recipe in recipes) for recipes in (train, dev, test)]

    lines = out.splitlines()
    assert lines[:-1] == [
        f"train: recipes: {short[0]} of {len(train)} used; 0 too short, {len(train) - short[0]} too long",
        "train: recipes written: 3",
        "train: samples: 9 Yes, 18 No; 9 choices",
        f"dev: recipes: {short[1]} of {len(dev)} used; 0 too short, {len(dev) - short[1]} too long",
        f"dev: recipes written: {short[1]}",
        f"dev: samples: {3 * short[1]} Yes, {6 * short[1]} No; {3 * short[1]} choices",
        f"test: recipes: {short[2]} of {len(test)} used; 0 too short, {len(test) - short[2]} too long",
        "test: recipes written: 0",
        "test: samples: none",
    ]
    assert lines[-1] == "files written: " + ", ".join(str(tmp_path / "out" / name) for name in NAMES)
    assert err.splitlines() == [
        f"warning: {tmp_path}/out/{kind}/test.txt: the file is empty, as no question is built for it"
        for kind in ("next_step", "multi-choice")
    ]


def test_build_of_stated_rule_follows_it(tmp_path: Path) -> None:
    path = write_recipes(
        tmp_path / "x.csv",
        ((f"tea {at}", at, ["stir", *(f"do {step} of {at}" for step in range(at % 20))]) for at in range(400)),
    )
    words = ["--first", 3, "--last", -2, "--negatives", "one", "--shortest", 5, "--longest", 0, "--seed", 7]
    build("--recipes", path, "--out", tmp_path / "out", "--one-word", "drop", *map(str, words))
    rule = ConstructionRule(3, -2, "one", 5, None, "drop")
    recipes, published = read_food_com(Path(path)).test, read_published_samples(tmp_path / "out")

    assert [*map(candidate_of, published.classification)] == [
        *map(candidate_of, build_classification(recipes, rule, 7))
    ]
    assert [*map(options_of, published.choices)] == [*map(options_of, build_choices(recipes, rule, 7))]
    assert max(len(choice.prefix) for choice in published.choices) > 10


def test_build_again_writes_the_same_and_another_seed_does_not(tmp_path: Path) -> None:
    for name, seed in {"a": 1, "b": 1, "c": 2}.items():
        build("--out", tmp_path / name, "--test", "9", "--seed", str(seed))
    first, again, other = (contents(tmp_path / name) for name in "abc")

    assert first == again
    assert first["next_step/test.txt"] != other["next_step/test.txt"]
    assert first["multi-choice/dev.txt"] != other["multi-choice/dev.txt"]


def test_build_folder_is_asked_about_as_published_questions(tmp_path: Path) -> None:
    build("--out", tmp_path, "--test", "5")
    samples = asked_samples(StepsSettings.of(Settings(data={"steps": str(tmp_path)})), 1000)

    assert len({sample.recipe for sample in samples.classification}) == 5
    assert len({choice.recipe for choice in samples.choices}) == 5


# Round trip of any texts.

ODD = st.sampled_from(["\t", "\n", "\r", " . ", ".", " ", "\ufeff", "\x00", "\ud800", "\u2028", "\x1e", '"', "\\", "|"])
steps = st.lists(st.one_of(ODD, st.text(max_size=3), st.sampled_from("abc")), max_size=6).map("".join)


@given(st.lists(st.lists(steps, min_size=2, max_size=9), min_size=1, max_size=4), st.booleans(), st.integers(0, 9))
def test_written_lines_of_any_texts_read_back_to_the_samples(
    tmp_path_factory: pytest.TempPathFactory, texts: list[list[str]], all_later: bool, seed: int
) -> None:
    recipes = [separable_steps(StepRecipe(str(at), "", tuple(steps)))[0] for at, steps in enumerate(texts)]
    rule = ConstructionRule(negatives="all" if all_later else "one", shortest=3, longest=None)
    samples, choices = [*build_classification(recipes, rule, seed)], [*build_choices(recipes, rule, seed)]
    assume(choices)
    folder = tmp_path_factory.mktemp("steps")
    for name, lines in {"next_step": classification_lines(samples), "multi-choice": choice_lines(choices)}.items():
        (folder / f"{name}.txt").write_bytes("".join(lines).encode())

    published = read_published_samples(folder)

    assert published.problems == ()
    assert [*map(candidate_of, published.classification)] == [*map(candidate_of, samples)]
    assert [*map(options_of, published.choices)] == [*map(options_of, choices)]


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ("Boil it", "Boil it"),
        ("Boil it.", "Boil it."),
        ("Add 2.5 cups . Stir", "Add 2.5 cups. Stir"),
        ("Boil it .", "Boil it."),
        ("Boil it. . .", "Boil it."),
        (". Boil\tit\r\nnow", "Boil it now"),
        ("\ufeffBoil it ...", "Boil it ..."),
        (" . ", ""),
    ],
)
def test_separable_steps_hold_no_separator(step: str, expected: str) -> None:
    assert separable_steps(StepRecipe("a", "", ("x", step))) == (StepRecipe("a", "", ("x", expected)), step != expected)


def test_build_reports_steps_that_hold_separators(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    steps = ["Boil it . Wait", "Pour it", "Stir it .", "Drink it"]
    path = write_recipes(tmp_path / "x.csv", [*((f"tea {at}", at, steps) for at in range(90)), ("none", 900, [])])
    build("--recipes", path, "--out", tmp_path / "out")
    err = capsys.readouterr().err.splitlines()

    assert err[0].startswith("warning: x.csv, line 92: ")
    assert err[1].startswith("warning: steps that hold a tab, a line end or a full stop between spaces: 180; ")
    assert {choice.prefix[0] for choice in read_published_samples(tmp_path / "out").choices} == {"Boil it. Wait"}


# What is refused, or warned of.


@pytest.mark.parametrize("name", NAMES)
def test_build_replaces_files_by_force_alone(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir()
    (tmp_path / name).write_text("mine", encoding="utf-8")

    with pytest.raises(UsageError, match=rf"^--out=.*{name} exists already; state another folder, or --force"):
        build("--out", tmp_path)
    assert contents(tmp_path) == {name: "mine"}
    build("--out", tmp_path, "--force")
    assert "mine" not in contents(tmp_path)[name]
    assert sorted(contents(tmp_path)) == sorted(NAMES)


def test_build_into_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match=r"the file of questions cannot be written to .*out"):
        build("--out", tmp_path / "out")


def test_build_of_recipes_that_are_missing_names_the_option(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^--recipes=.*none\.csv: no such file or folder; expected Food\.com's"):
        build("--recipes", tmp_path / "none.csv", "--out", tmp_path / "out")


def test_build_without_any_question_writes_nothing(tmp_path: Path) -> None:
    path = write_soups(tmp_path / "x.csv", 20)
    with pytest.raises(UsageError, match=r"the rule gives no question from any of the recipes; state other numbers"):
        build("--recipes", path, "--out", tmp_path / "out", "--shortest", "9")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--first", "1"], "^--first: found 1, expected at least 2"),
        (["--last", "0"], "^--last: found 0, expected at least 2"),
        (["--longest", "3"], "^--shortest, --longest: found 4 and 3, expected"),
    ],
)
def test_build_of_a_rule_that_is_none_is_refused(tmp_path: Path, words: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        build("--out", tmp_path / "out", *words)


@pytest.mark.parametrize("amount", ["-1", "some", "²"])
def test_build_of_an_amount_that_is_none_is_refused(
    tmp_path: Path, amount: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        build("--out", tmp_path / "out", f"--test={amount}")
    assert f"{amount!r}; expected a whole number of at least 0" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "most"), [("MOST_LINES", 300), ("LARGEST_FILE", 100_000)])
def test_build_warns_of_a_test_file_that_no_run_reads_as_a_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str, most: int
) -> None:
    monkeypatch.setattr(steps_command, name, most)
    build("--out", tmp_path)
    (line,) = capsys.readouterr().err.splitlines()
    lines = len((tmp_path / "next_step/test.txt").read_bytes().splitlines())

    assert line.startswith(f"warning: {tmp_path}/next_step/test.txt: {lines} lines, ")
    assert line.endswith("state fewer recipes by --test=N")
