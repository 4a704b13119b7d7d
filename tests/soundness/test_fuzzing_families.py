"""Fuzzing of any family, without a model; what Hypothesis's settings and Ctrl-C come to."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import bounded_process
import hypothesis
import pytest
from hypothesis import strategies as st
from hypothesis.database import InMemoryExampleDatabase

from pytest_taskgraph.benchmarks.family import Family, QuestionReference
from pytest_taskgraph.benchmarks.instances import Check, GroupCheck, GroupViolation, Instance
from pytest_taskgraph.benchmarks.settings import Settings
from pytest_taskgraph.diagram import Diagram, DiagramNode
from pytest_taskgraph.errors import NoCaseError
from pytest_taskgraph.soundness.fuzzing import FuzzingInterrupted, SearchDatabase, fuzz
from pytest_taskgraph.soundness.properties import (
    PROPERTIES,
    Alteration,
    PropertyViolationError,
    check_instance,
    ideal_reply,
)
from pytest_taskgraph.trial import Question

QUESTION_TEXT = "What is 1 + 1?"
QUESTION = Question("sum-1", "sums", "sum", "", QUESTION_TEXT, QUESTION_TEXT, "number", 2, "correctness", place="whole")
MODEL_IS_NEVER_ASKED = """
import sys
from pytest_taskgraph.benchmarks.settings import Settings
from pytest_taskgraph.families.understanding.understanding_family import understanding
from pytest_taskgraph.soundness.fuzzing import fuzz
print(fuzz(understanding, "next_tasks", Settings(), 5, seed=1))
print(sorted(name for name in sys.modules if name.startswith("pytest_taskgraph.models") or name == "asyncio"))
"""


FINDINGS = """
from pytest_taskgraph.benchmarks.settings import Settings
from pytest_taskgraph.families.understanding.understanding_family import understanding
from pytest_taskgraph.soundness.fuzzing import fuzz
from pytest_taskgraph.catalog import registrations
with registrations() as made:
    made.add("prompt", "mine", "{# answer: whole #}\\n{{ workflow[:90] }} {{ question }}", "conftest.py")
    for finding in fuzz(understanding, "next_tasks", Settings(prompt="mine", given=frozenset({"prompt"})), 10, seed=1):
        print(finding.property, finding.message, finding.instance.question.prompt, finding.instance.drawing)
"""


class Sums(Family):
    """Sums of small numbers, of which a subclass may get some wrong."""

    name = "sums"

    def references(self, settings: Settings, options: Mapping[str, Any]) -> Sequence[QuestionReference]:
        return [QuestionReference(f"{group}-{n}", group, {"n": n}) for group in ("sum", "product") for n in range(20)]

    def question(self, reference: QuestionReference, settings: Settings) -> Question:
        n = reference.payload["n"]
        text = f"What is {n} {'+' if reference.group == 'sum' else '*'} {settings.seed}?"
        right = n + settings.seed if reference.group == "sum" else n * settings.seed
        return replace(QUESTION, id=reference.id, group=reference.group, text=text, prompt=text, reference=right)

    def diagram(self, reference: QuestionReference, settings: Settings) -> Diagram:
        return Diagram(reference.id, [DiagramNode(reference.id, "n")])


class Mistaken(Sums):
    def question(self, reference: QuestionReference, settings: Settings) -> Question:
        question = super().question(reference, settings)
        if reference.payload["n"] == 13:
            raise ValueError("unlucky")
        return replace(question, reference="eleven") if reference.payload["n"] > 10 else question


class Moody(Sums):
    times = 0

    def question(self, reference: QuestionReference, settings: Settings) -> Question:
        self.times += 1
        return replace(super().question(reference, settings), prompt=f"{self.times}")


class Interrupted(Mistaken):
    """The user presses Ctrl-C once something is found."""

    questions_built = 0

    def question(self, reference: QuestionReference, settings: Settings) -> Question:
        question = super().question(reference, settings)
        self.questions_built += question.reference == "eleven"
        if self.questions_built > 3:
            raise KeyboardInterrupt
        return question


class Pooled(Sums):
    def group_checks(
        self, group: str, settings: Settings, options: Mapping[str, Any], examples: int
    ) -> Sequence[GroupCheck]:
        return [GroupCheck("varied", lambda: GroupViolation(f"{examples} alike", Instance(QUESTION)))]


class Checked(Sums):
    def instances(self, group: str, settings: Settings, options: Mapping[str, Any]) -> st.SearchStrategy[Instance]:
        def build(n: int) -> Instance:
            return Instance(QUESTION, size=n, checks=(Check("small", lambda: f"found {n}" if n > 7 else ""),))

        return st.builds(build, st.integers(0, 1000))


class Suited(Sums):
    """Has a group of questions only for suites that ask for it."""

    def references(self, settings: Settings, options: Mapping[str, Any]) -> Sequence[QuestionReference]:
        return [reference for reference in super().references(settings, options) if reference.group == options["group"]]


class Empty(Sums):
    def references(self, settings: Settings, options: Mapping[str, Any]) -> Sequence[QuestionReference]:
        raise NoCaseError("nothing")


@pytest.fixture
def database() -> Iterator[InMemoryExampleDatabase]:
    """A profile with an example database of its own."""
    profile = hypothesis.settings.get_current_profile_name()
    example_database = InMemoryExampleDatabase()
    hypothesis.settings.register_profile("fuzz-tests", database=example_database, derandomize=False)
    hypothesis.settings.load_profile("fuzz-tests")
    yield example_database
    hypothesis.settings.load_profile(profile)


def test_fuzz_sound_family_finds_nothing() -> None:
    assert Sums().fuzz_groups(Settings(), {}) == ["sum", "product"]
    assert fuzz(Sums(), "product", Settings(), 50, seed=1) == []


def test_fuzz_group_of_a_suite_is_drawn_by_its_options() -> None:
    options = {"group": "product"}
    assert Suited().fuzz_groups(Settings(), options) == ["product"]
    assert fuzz(Suited(), "product", Settings(), 10, options, seed=1) == []
    with pytest.raises(NoCaseError):
        fuzz(Suited(), "sum", Settings(), 10, options, seed=1)


def test_fuzz_family_that_raises_and_answers_wrong_finds_both() -> None:
    findings = {finding.property: finding for finding in fuzz(Mistaken(), "sum", Settings(), 200, seed=1)}
    assert findings.keys() == {"renders", "reference-scores-one"}
    assert "ValueError: unlucky" in findings["renders"].message
    assert findings["reference-scores-one"].instance.question.id == "sum-11"
    assert findings["reference-scores-one"].instance.drawing[0] == "sum-11"


def test_fuzz_question_that_changes_finds_it_not_deterministic() -> None:
    assert [finding.property for finding in fuzz(Moody(), "sum", Settings(), 20, seed=1)] == ["deterministic"]


def test_fuzz_property_of_the_family_shrinks_its_instance() -> None:
    (finding,) = fuzz(Checked(), "sum", Settings(), 50, seed=1)
    assert (finding.property, finding.message, finding.instance.size) == ("small", "found 8", 8)


def test_fuzz_property_of_the_group_is_found() -> None:
    (finding,) = fuzz(Pooled(), "sum", Settings(), 5, seed=1)
    assert (finding.property, finding.message) == ("varied", "5 alike")
    assert finding.reproduce == "--taskgraph-fuzz 5 --hypothesis-seed=1 -k sum"


def test_fuzz_family_without_questions_is_refused() -> None:
    with pytest.raises(NoCaseError, match="sums: nothing can be asked for 'sum'"):
        fuzz(Empty(), "sum", Settings(), 5, seed=1)


def test_fuzz_interrupted_keeps_what_was_found() -> None:
    with pytest.raises(FuzzingInterrupted) as caught:
        fuzz(Interrupted(), "sum", Settings(), 500, seed=1)
    assert "reference-scores-one" in [finding.property for finding in caught.value.findings]


def test_fuzz_without_seed_keeps_examples_of_each_group(database: InMemoryExampleDatabase) -> None:
    fuzz(Checked(), "sum", Settings(), 50)
    keys = set(database.data)
    assert any(key.endswith(b"|taskgraph|sums|sum") for key in keys)
    fuzz(Checked(), "product", Settings(), 50)
    assert keys < set(database.data)
    assert any(key.endswith(b"|taskgraph|sums|product") for key in database.data)


def test_fuzz_profile_that_derandomizes_states_reproducing_seed() -> None:
    profile = hypothesis.settings.get_current_profile_name()
    hypothesis.settings.register_profile("fuzz-tests", database=None, derandomize=True)
    hypothesis.settings.load_profile("fuzz-tests")
    try:
        (finding,) = fuzz(Checked(), "sum", Settings(), 50)
    finally:
        hypothesis.settings.load_profile(profile)
    assert finding.reproduce == f"--taskgraph-fuzz 50 --hypothesis-seed={finding.seed} -k sum"
    (again,) = fuzz(Checked(), "sum", Settings(), 50, seed=finding.seed)
    assert (again.message, again.instance.size) == (finding.message, finding.instance.size)


def test_fuzz_example_of_the_database_states_the_seed_that_found_it(database: InMemoryExampleDatabase) -> None:
    (first,) = fuzz(Checked(), "sum", Settings(), 50)
    (second,) = fuzz(Checked(), "sum", Settings(), 50)
    assert second.reproduce == first.reproduce
    assert fuzz(Sums(), "sum", Settings(), 50) == []
    (third,) = fuzz(Checked(), "sum", Settings(), 50)
    assert third.seed != first.seed


def test_fuzz_with_seed_leaves_the_database_alone(database: InMemoryExampleDatabase) -> None:
    fuzz(Checked(), "sum", Settings(), 50, seed=1)
    assert not database.data


def test_search_database_values_are_those_of_its_search() -> None:
    inner = InMemoryExampleDatabase()
    ours, theirs = SearchDatabase(inner, "sum"), SearchDatabase(inner, "product")
    ours.save(b"key", b"value")
    assert (list(ours.fetch(b"key")), list(theirs.fetch(b"key"))) == ([b"value"], [])
    ours.delete(b"key", b"value")
    assert list(ours.fetch(b"key")) == []


def test_fuzz_in_a_process_of_its_own_loads_no_model() -> None:
    done = bounded_process.run([sys.executable, "-c", MODEL_IS_NEVER_ASKED])
    assert done.stdout.split("\n")[0] == "[]", done.stderr
    assert "pytest_taskgraph.models" not in done.stdout


@pytest.mark.exhaustive
def test_fuzz_same_seed_under_another_hash_seed_finds_the_same() -> None:
    def printed(seed: str) -> str:
        return bounded_process.run([sys.executable, "-c", FINDINGS], env={**os.environ, "PYTHONHASHSEED": seed}).stdout

    first = printed("1")
    assert "irrelevant-parts" in first
    assert printed("2") == first


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        ({"text": " "}, "renders"),
        ({"prompt": ""}, "renders"),
        ({"reference": "two"}, "reference-scores-one"),
        ({"metric": "no-such-metric"}, "reference-scores-one"),
        ({"prompt": "1" * 500}, "prompt-size"),
    ],
)
def test_check_instance_broken_question_violates_its_property(change: dict[str, Any], broken: str) -> None:
    instance = Instance(replace(QUESTION, **change))
    with pytest.raises(PropertyViolationError) as caught:
        check_instance(instance, [Alteration(0, 500, "x")], 100)
    assert caught.value.property == broken
    assert broken in PROPERTIES


def test_check_instance_sound_question_passes() -> None:
    check_instance(Instance(QUESTION), [Alteration(0, 1000, ""), Alteration(1000, 1000, "—")], 100)


def test_check_instance_check_that_raises_is_a_violation() -> None:
    def fail() -> str:
        return str(1 // 0)

    with pytest.raises(PropertyViolationError, match="own: raised ZeroDivisionError"):
        check_instance(Instance(QUESTION, checks=(Check("own", fail),)), [], 100)


def test_alteration_of_a_reply_replaces_a_stretch() -> None:
    assert Alteration(750, 250, "-").apply("abcd") == "a-d"
    assert ideal_reply(replace(QUESTION, place="marker")).endswith("Final answer: 2")


class Numbers(Sums):
    """Draws large numbers, and remembers them."""

    def __init__(self) -> None:
        self.numbers: list[int] = []

    def instances(self, group: str, settings: Settings, options: Mapping[str, Any]) -> st.SearchStrategy[Instance]:
        def instance(number: int) -> Instance:
            self.numbers.append(number)
            return Instance(QUESTION)

        return st.integers(0, 10**6).map(instance)


def test_fuzz_seed_draws_the_same_whatever_else_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def draw_numbers() -> list[int]:
        numbers = Numbers()
        fuzz(numbers, "sum", Settings(), 100, seed=1)
        return numbers.numbers

    before = draw_numbers()
    (tmp_path / "full_of_numbers.py").write_text(f"NUMBERS = {list(range(1000, 4500, 7))}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    import_module("full_of_numbers")
    assert draw_numbers() == before
    assert len(set(before)) > 20
