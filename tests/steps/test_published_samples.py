"""The reader of the published files: what is odd about them, broken lines, folders and archives."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.benchmarks.data_sets.data_problems import DataProblems
from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.families.steps.construction import ConstructionRule, build_choices, build_classification
from pytest_taskgraph.families.steps.next_step_samples import ChoiceSample, NextStepSample, StepRecipe
from pytest_taskgraph.families.steps.recipe_sets.published_files import (
    LONGEST_STEP,
    MOST_STEPS,
    PublishedSamples,
    kind_of_name,
    read_published_samples,
    read_sample_lines,
)

TEA = [
    "Boil the water . \tWarm the pot\tPour the tea",
    "Boil the water . Warm the pot . \tAdd the leaves\tPour the tea",
]
RICE = ["Wash the rice . \tSoak it\tDrain it", "Wash the rice . Soak it . \tHeat the oil\tDrain it"]
EGGS = [
    "Heat the pan . Melt the butter\tBreak the eggs\tYes",
    "Heat the pan . Melt the butter\tServe at once\tNo",
    "Heat the pan . Melt the butter . Break the eggs\tSalt them\tYes",
    "Heat the pan . Melt the butter . Break the eggs\tServe at once\tNo",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "steps").mkdir()
    return tmp_path / "steps"


def read_file(folder: Path, lines: list[str], name: str = "multi_choice.txt") -> PublishedSamples:
    (folder / name).write_bytes("\n".join(lines).encode("utf-8", "surrogatepass"))
    return read_published_samples(folder / name)


def groups(samples: PublishedSamples) -> list[str]:
    return [sample.recipe.rpartition("-")[2] for sample in samples.choices or samples.classification]


# What a line says.


def test_choice_line_gives_prefix_and_options(folder: Path) -> None:
    samples = read_file(folder, TEA)

    assert samples.choices == (
        ChoiceSample(("Boil the water",), "Warm the pot", "Pour the tea", "multi-choice-1", 2),
        ChoiceSample(("Boil the water", "Warm the pot"), "Add the leaves", "Pour the tea", "multi-choice-1", 3),
    )
    assert (samples.classification, samples.problems) == ((), ())


def test_classification_line_gives_prefix_candidate_and_label(folder: Path) -> None:
    samples = read_file(folder, EGGS[:2], "next_step.txt")

    before = ("Heat the pan", "Melt the butter")
    assert samples.classification == (
        NextStepSample(before, "Break the eggs", True, "next-step-1", 3),
        NextStepSample(before, "Serve at once", False, "next-step-1", 3),
    )
    assert (samples.choices, samples.problems) == ((), ())


def test_counts_of_the_files_are_a_line_each(folder: Path) -> None:
    (folder / "next_step.txt").write_text("\n".join(EGGS), encoding="utf-8")
    (folder / "multi_choice.txt").write_text("\n".join([*TEA, "", "broken", *RICE]) + "\n", encoding="utf-8")

    assert [count.line() for count in read_published_samples(folder).counts] == [
        "multi_choice.txt: 5 lines, 1 broken; 4 choices; 2 recipes; at most 2 previous steps; 0 recipes begin with "
        "more than 1; 4 lines with an end mark; 0 with glued steps",
        "next_step.txt: 4 lines, 0 broken; 2 Yes, 2 No; 1 recipes; at most 3 previous steps; 0 recipes begin with "
        "more than 2; 0 lines with an end mark; 0 with glued steps",
    ]


# What is odd about the published files.


def test_file_that_begins_in_the_middle_of_a_recipe_is_read_and_counted(folder: Path) -> None:
    samples = read_file(folder, [*EGGS[2:], "Wash it . Cut it\tFry it\tYes"], "next_step.txt")

    assert groups(samples) == ["1", "1", "2"]
    assert samples.classification[0].position == 4
    assert samples.counts[0].late == 1


def test_glued_steps_are_kept_as_they_stand_and_counted(folder: Path) -> None:
    glued = "Heat it\\', \"don\\'t stir\", \\'serve"
    samples = read_file(folder, [f"Wash it . \t{glued}\tEat it", f"Wash it . {glued} . \tCut it\tEat it", *RICE])

    assert samples.choices[0].right == glued
    assert samples.choices[1].prefix == ("Wash it", glued)
    assert (groups(samples), samples.counts[0].glued) == (["1", "1", "2", "2"], 2)


def test_right_option_is_always_the_second_column_until_shuffled(folder: Path) -> None:
    samples = read_file(folder, TEA + RICE)

    assert [sample.right for sample in samples.choices] == ["Warm the pot", "Add the leaves", "Soak it", "Heat the oil"]
    assert {sample.shuffled(seed)[1] for sample in samples.choices for seed in range(20)} == {0, 1}


@pytest.mark.parametrize("end", ["", " .", " . ", "  .  "])
@pytest.mark.parametrize(("name", "columns"), [("multi_choice", "Fry it\tEat it"), ("next_step", "Fry it\tNo")])
def test_prefix_with_and_without_end_mark_is_the_same(folder: Path, end: str, name: str, columns: str) -> None:
    samples = read_file(folder, [f"Wash it . Cut it{end}\t{columns}"], f"{name}.txt")

    prefixes = [*(sample.prefix for sample in samples.choices), *(sample.prefix for sample in samples.classification)]
    assert prefixes == [("Wash it", "Cut it")]
    assert samples.counts[0].ended == bool(end)


def test_full_stop_without_blanks_ends_no_step(folder: Path) -> None:
    samples = read_file(folder, ["Add 2.5 cups. Stir . Bake it. . \tCool it\tEat it"])

    assert samples.choices[0].prefix == ("Add 2.5 cups. Stir", "Bake it.")


def test_recipe_of_more_than_ten_steps_is_read(folder: Path) -> None:
    prefix = " . ".join(f"do part {number}" for number in range(1, 26))

    assert read_file(folder, [f"{prefix}\tdo part 26\tYes"], "next_step.txt").classification[0].position == 26


# Which lines are of one recipe.


def test_recipes_that_begin_alike_stay_apart_by_their_right_steps(folder: Path) -> None:
    lines = ["Heat the oven . \tMix it\tBake it", "Heat the oven . \tCut the apples\tBake them"]

    assert groups(read_file(folder, [*lines, "Heat the oven . Cut the apples . \tCore them\tBake them"])) == [
        *("1", "2", "2")
    ]


def test_prefix_that_goes_on_otherwise_begins_a_recipe(folder: Path) -> None:
    assert groups(read_file(folder, [TEA[0], "Boil the water . Add the rice . \tStir it\tEat it"])) == ["1", "2"]


def test_prefix_that_goes_on_within_a_step_begins_a_recipe(folder: Path) -> None:
    lines = ["Boil water\tAdd salt\tYes", "Boil water . Add salt and oil\tStir it\tYes"]

    assert groups(read_file(folder, lines, "next_step.txt")) == ["1", "2"]


def test_recipe_with_a_missing_line_is_still_one(folder: Path) -> None:
    later = "Boil the water . Warm the pot . Add the leaves . Wait a while . \tPour the tea\tDrink it"

    assert groups(read_file(folder, [TEA[0], "broken", later])) == ["1", "1"]


def test_negative_before_its_positive_is_of_the_same_recipe(folder: Path) -> None:
    lines = [EGGS[1], EGGS[0], EGGS[3], EGGS[2]]

    assert groups(read_file(folder, lines, "next_step.txt")) == ["1", "1", "1", "1"]


words = st.text("abcdefgh", min_size=2, max_size=4)


@given(
    recipes=st.lists(st.lists(words, min_size=5, max_size=8, unique=True), min_size=1, max_size=4),
    seed=st.integers(0, 99),
)
def test_file_built_by_the_rules_that_imitate_it_reads_as_built(
    tmp_path_factory: pytest.TempPathFactory, recipes: list[list[str]], seed: int
) -> None:
    # A recipe's own number at its first step keeps two from going on like each other.
    built_recipes = [StepRecipe(str(at), "", (f"{at} begin", *steps[1:])) for at, steps in enumerate(recipes, 1)]
    choices = list(build_choices(built_recipes, ConstructionRule(last=-2, longest=8), seed))
    rule = ConstructionRule(first=3, last=-2, negatives="one", longest=None)
    built_samples = list(build_classification(built_recipes, rule, seed))
    folder = tmp_path_factory.mktemp("steps")
    (folder / "multi_choice.txt").write_text(
        "".join(f"{' . '.join(sample.prefix)} . \t{sample.right}\t{sample.wrong}\n" for sample in choices),
        encoding="utf-8",
    )
    (folder / "next_step.txt").write_text(
        "".join(
            f"{' . '.join(sample.prefix)}\t{sample.candidate}\t{'Yes' if sample.label else 'No'}\n"
            for sample in built_samples
        ),
        encoding="utf-8",
    )

    samples = read_published_samples(folder)

    assert [
        (sample.prefix, sample.right, sample.wrong, sample.position, sample.recipe) for sample in samples.choices
    ] == [
        (sample.prefix, sample.right, sample.wrong, sample.position, f"multi-choice-{sample.recipe}")
        for sample in choices
    ]
    assert [(sample.prefix, sample.candidate, sample.label, sample.recipe) for sample in samples.classification] == [
        (sample.prefix, sample.candidate, sample.label, f"next-step-{sample.recipe}") for sample in built_samples
    ]


# Broken lines.


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("Wash it . Cut it", "found 1 columns separated by tabs, expected 3"),
        ("Wash it\tCut it", "found 2 columns separated by tabs, expected 3"),
        ("Wash it\tCut it\tFry it\tEat it", "found 4 columns separated by tabs, expected 3"),
        ("a\t" * 99, "found more than 4 columns separated by tabs, expected 3"),
        ("\tCut it\tFry it", "the previous steps column is empty"),
        (" . \tCut it\tFry it", "the previous steps column is empty"),
        ("Wash it . \t \tFry it", "the step column is empty"),
        ("Wash it . \tCut it\t", "the second option is empty"),
        ("Wash it . \tCut it\tCut  it", "the two options are the same"),
        ("Wash it . \tCut it\tno", "found the label 'no' of a classification, expected the second option"),
        (f"Wash it . \tCut it\t{'x' * (LONGEST_STEP + 1)}", "a step of more than 10000 characters"),
        (" . ".join(["a"] * (MOST_STEPS + 2)) + "\tCut it\tFry it", "more than 1000 previous steps"),
    ],
)
def test_broken_choice_line_is_reported_and_the_rest_read(folder: Path, line: str, message: str) -> None:
    samples = read_file(folder, [TEA[0], line, RICE[0]])

    assert [sample.right for sample in samples.choices] == ["Warm the pot", "Soak it"]
    assert samples.problems == (f"multi_choice.txt, line 2: {message}; the line is left out",)
    assert samples.counts[0].broken == 1


def test_label_that_is_none_is_reported_and_the_rest_read(folder: Path) -> None:
    samples = read_file(folder, [EGGS[0], "Wash it\tCut it\tMaybe", EGGS[1]], "next_step.txt")

    assert [sample.label for sample in samples.classification] == [True, False]
    assert samples.problems == (
        "next_step.txt, line 2: found the label 'Maybe', expected Yes or No; the line is left out",
    )


def test_line_in_another_encoding_is_reported_and_the_rest_read(folder: Path) -> None:
    content = TEA[0].encode() + b"\nSaut\xe9 it\tCut it\tFry it\r\n" + RICE[0].encode() + b"\r\n"
    (folder / "multi_choice.txt").write_bytes(b"\xef\xbb\xbf" + content)

    samples = read_published_samples(folder)

    assert [sample.prefix for sample in samples.choices] == [("Boil the water",), ("Wash the rice",)]
    assert [sample.wrong for sample in samples.choices] == ["Pour the tea", "Drain it"]
    assert samples.problems == ("multi_choice.txt, line 2: byte 5 of the line is not UTF-8; the line is left out",)


@given(st.binary(max_size=300), st.sampled_from(["classification", "choice"]))
def test_lines_of_any_bytes_are_read_or_counted(content: bytes, kind: str) -> None:
    problems = DataProblems()

    lines, broken = read_sample_lines(content, "x", "choice" if kind == "choice" else "classification", problems)

    assert len(lines) + broken == sum(bool(line.strip()) for line in content.removeprefix(b"\xef\xbb\xbf").split(b"\n"))
    assert all(line.prefix and all(line.prefix) and line.candidate for line in lines)
    assert bool(broken) == bool(problems.lines)


def test_control_characters_do_not_get_through(folder: Path) -> None:
    samples = read_file(folder, ["Wash \x1b[31mit . \tCut\x00it\tFry it", "\x1b[31m\ta"])

    assert samples.choices[0].prefix == ("Wash [31mit",)
    assert samples.choices[0].right == "Cut it"
    assert "\x1b" not in "".join(samples.problems)


# Files, folders and archives.


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("next_step/test.txt", "classification"),
        ("multi-choice/test.txt", "choice"),
        ("next_step_first300.txt", "classification"),
        ("multi_choice_first300.txt", "choice"),
        ("STEPS-main/next-step/test.txt", "classification"),
        ("multi-choice/next_step.txt", "classification"),
        ("test.txt", None),
    ],
)
def test_kind_of_file_names_follows_file_then_folders(name: str, kind: str | None) -> None:
    assert kind_of_name(name) == kind


@pytest.mark.parametrize("packed", [False, True])
def test_folder_as_published_gives_both_kinds_of_its_test_files(folder: Path, packed: bool) -> None:
    for name, lines in {
        "next_step/test.txt": EGGS,
        "multi-choice/test.txt": TEA,
        "multi-choice/train.txt": RICE,
        "requirements.txt": ["torch"],
        "README.md": ["STEPS"],
    }.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("\n".join(lines), encoding="utf-8")
    path = folder
    if packed:
        path = folder.with_name("steps.zip")
        with zipfile.ZipFile(path, "w") as archive:
            for file in sorted(folder.rglob("*.*")):
                archive.write(file, f"STEPS-main/{file.relative_to(folder).as_posix()}")

    samples = read_published_samples(path)

    assert (len(samples.classification), len(samples.choices)) == (4, 2)
    assert [line.removeprefix("STEPS-main/") for line in samples.problems] == [
        "multi-choice/train.txt: it is of the train split; it is left out",
        "requirements.txt: neither its name nor its first lines say what it holds; the file is left out",
    ]


@pytest.mark.parametrize(("lines", "kind"), [(TEA, "choice"), (EGGS, "classification")])
def test_file_of_another_name_is_known_by_its_lines(folder: Path, lines: list[str], kind: str) -> None:
    assert read_file(folder, ["broken", *lines], "mine.txt").counts[0].kind == kind


def test_recipes_of_two_files_of_a_kind_have_different_ids(folder: Path) -> None:
    for name, lines in {"a_multi_choice.txt": TEA, "b_multi_choice.txt": RICE}.items():
        (folder / name).write_text("\n".join(lines), encoding="utf-8")

    assert groups(read_published_samples(folder)) == ["1", "1", "2", "2"]


def test_file_that_changed_is_read_again(folder: Path) -> None:
    before = read_file(folder, TEA)

    assert read_published_samples(folder / "multi_choice.txt") is before
    assert len(read_file(folder, TEA + RICE).choices) == 4


def test_data_without_a_question_are_refused(folder: Path) -> None:
    (folder / "next_step.txt").write_text("nothing\n", encoding="utf-8")

    with pytest.raises(UsageError, match=r"steps=.*: no question that can be used; found next_step\.txt; .*expected 3"):
        read_published_samples(folder)


def test_path_that_does_not_exist_is_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"--taskgraph-data=steps=.*: no such file or folder; expected the folder"):
        read_published_samples(folder / "none")
