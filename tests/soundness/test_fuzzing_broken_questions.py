"""Deliberately broken patterns, templates, notations and forms: one for each property, each found and shrunk."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import count, pairwise
from pathlib import Path

import pytest

from pytest_taskgraph.benchmarks.settings import Settings
from pytest_taskgraph.catalog import registrations
from pytest_taskgraph.errors import UnparseableError
from pytest_taskgraph.families.understanding.patterns import catalogue
from pytest_taskgraph.families.understanding.patterns.pattern import PATTERNS, Cases, case, pattern
from pytest_taskgraph.families.understanding.understanding_family import Understanding, understanding
from pytest_taskgraph.notations import NOTATIONS
from pytest_taskgraph.notations.plain_json import JSON
from pytest_taskgraph.scoring.forms import form
from pytest_taskgraph.scoring.forms.form import Form
from pytest_taskgraph.soundness.fuzzing import Finding, fuzz
from pytest_taskgraph.trial import Json
from pytest_taskgraph.workflow.graph import successors
from pytest_taskgraph.workflow.model import Workflow

EXAMPLES = 3  # of the 200 in which each is to be found: the rest of a search without findings takes long
SEED = 7
PLAIN = Settings(prompt="direct", given=frozenset({"prompt"}), own={"notation": ("wadl",)})
TURN = count()


@pytest.fixture(autouse=True)
def own_patterns() -> Iterator[None]:
    """Forget the patterns of a test at its end."""
    before = {**catalogue()}
    yield
    PATTERNS.clear()
    PATTERNS.update(before)


class EachQuestion(Understanding):
    """The family without the check of all questions of a pattern together, which takes as long as a search."""

    def group_checks(self, *_: object) -> tuple[()]:
        """Return none."""
        return ()


EACH = EachQuestion()


def fuzz_findings(
    name: str, settings: Settings = PLAIN, examples: int = EXAMPLES, family: Understanding = EACH
) -> dict[str, Finding]:
    """Return what fuzzing a pattern finds, by property."""
    return {finding.property: finding for finding in fuzz(family, name, settings, examples, seed=SEED)}


def prompt_file(folder: Path, text: str) -> Settings:
    """Return settings with a prompt template of one's own."""
    path = folder / "mine.jinja"
    path.write_text("{# answer: whole #}\n" + text, encoding="utf-8")
    return replace(PLAIN, prompt=str(path))


def check_finding(finding: Finding, *words: str) -> None:
    """Check that a finding is as small as workflows are drawn, and says what was found."""
    assert finding.instance.size == 3
    assert finding.instance.drawing
    assert all(word in finding.message for word in words), finding.message
    assert re.fullmatch(rf"--taskgraph-fuzz \d+ --hypothesis-seed={SEED} -k \w+", finding.reproduce)


def test_renders_undefined_name_for_some_workflows_is_found() -> None:
    @pattern("How many tasks has {{ place }}{% if workflow.data %} of {{ nobody }}{% endif %}?", form="number")
    def counted(workflow: Workflow) -> Cases:
        """A template that fails where there is data."""
        yield case(len(workflow.tasks))

    finding = fuzz_findings("counted")["renders"]
    check_finding(finding, "'nobody' is undefined")
    assert any("<data" in line for line in finding.instance.drawing)


def test_template_prompt_without_the_question_is_found(tmp_path: Path) -> None:
    text = "{{ workflow }}\n{% if 'parallel' not in question %}{{ question[:40] }}{% endif %}\n{{ instruction }}\n"
    check_finding(fuzz_findings("next_tasks", prompt_file(tmp_path, text))["template"], "does not hold the question")


def test_names_shown_name_that_the_notation_drops_is_found() -> None:
    @pattern("Which task writes '{{ data }}' in {{ place }}?", form="task", needs=["data"])
    def writer(workflow: Workflow) -> Cases:
        """Names data that no text shows."""
        for link in workflow.data_links:
            if link.source in workflow.task_names:
                yield case(link.source, data=link.target)

    def render(workflow: Workflow) -> str:
        return JSON.render(replace(workflow, data=(), data_links=()))

    with registrations() as registered:
        registered.add("notation", "no-data", replace(JSON, name="no-data", render=render), "conftest.py")
        findings = fuzz_findings("writer", replace(PLAIN, own={"notation": ("no-data",)}))
    check_finding(findings["names-shown"], "does not show the data")
    check_finding(findings["read-back"], "no such case")


def test_one_answer_question_that_names_nothing_is_found() -> None:
    @pattern("Which tasks come directly after the task in {{ place }}?", form="task-set")
    def nameless(workflow: Workflow) -> Cases:
        """Does not say which task it is about."""
        for task in workflow.task_names:
            yield case(successors(workflow, task), task=task)

    check_finding(fuzz_findings("nameless")["one-answer"], "has the answers", "expected one")


def test_phrasings_agree_phrasing_without_the_task_is_found() -> None:
    @pattern(
        "Which tasks come directly after '{{ task }}' in {{ place }}?",
        "To which tasks does the flow lead in {{ place }}?",
        form="task-set",
    )
    def half_named(workflow: Workflow) -> Cases:
        """Says in one of two phrasings which task it is about."""
        for task in workflow.task_names:
            yield case(successors(workflow, task), task=task)

    check_finding(fuzz_findings("half_named")["phrasings-agree"], "phrasing 1 names", "phrasing 2 does not")


def test_read_back_notation_that_drops_a_link_is_found() -> None:
    def render(workflow: Workflow) -> str:
        links = workflow.links if len(workflow.links) < 4 else workflow.links[:-1]
        return JSON.render(replace(workflow, links=links))

    with registrations() as registered:
        registered.add("notation", "lossy", replace(JSON, name="lossy", render=render), "conftest.py")
        finding = fuzz_findings("next_tasks", replace(PLAIN, own={"notation": ("lossy",)}), 20)["read-back"]
    check_finding(finding, "read back gives")


def test_irrelevant_parts_answer_by_what_the_prompt_cuts_off_is_found(tmp_path: Path) -> None:
    settings = prompt_file(tmp_path, "{{ workflow[:90] }}\n{{ question }}\n{{ instruction }}\n")
    finding = fuzz_findings("next_tasks", settings)["irrelevant-parts"]
    check_finding(finding, "the prompt does not show", "changes the answer")


def test_answer_given_away_by_place_of_declaration_is_found() -> None:
    @pattern("Is '{{ task }}' an important task of {{ place }}?", form="yes-no")
    def declared_first(workflow: Workflow) -> Cases:
        """Its answer is yes for the task that is declared first."""
        yield case(True, task=workflow.task_names[0])
        yield case(False, task=workflow.task_names[-1])

    finding = fuzz_findings("declared_first", family=understanding)
    check_finding(finding["answer-not-given-away"], "the rule", "answers right")


def test_answer_given_away_by_the_question_is_found() -> None:
    @pattern("Which task is meant by '{{ task }}' in {{ place }}?", form="task")
    def answered(workflow: Workflow) -> Cases:
        """Says the answer in the question."""
        for task in workflow.task_names:
            yield case(task, task=task)

    check_finding(
        fuzz_findings("answered", family=understanding)["answer-not-given-away"],
        "name of the question",
        "of 80 answers right",
    )


def test_answer_given_away_by_a_hint_without_quotes_is_found() -> None:
    @pattern("Which tasks, say {{ hint }}, follow directly on {{ task }} in {{ place }}?", form="task-set")
    def hinted(workflow: Workflow) -> Cases:
        """Says the answer in words of its own, beside another name."""
        for task in workflow.task_names:
            following = sorted(successors(workflow, task))
            yield case(following, task=task, hint=", ".join(following) or "none")

    check_finding(
        fuzz_findings("hinted", family=understanding)["answer-not-given-away"],
        "the field 'hint' of the question",
        "of 80 answers right",
    )


def test_answer_given_away_by_a_word_names_the_word() -> None:
    @pattern("Does '{{ first }}' come {{ how }} '{{ second }}' in {{ place }}?", form="yes-no")
    def worded_by_answer(workflow: Workflow) -> Cases:
        """Puts the question in other words where the answer is no."""
        for first, second in pairwise(workflow.task_names):
            follows = second in successors(workflow, first)
            yield case(follows, first=first, second=second, how="directly before" if follows else "right ahead of")

    finding = fuzz_findings("worded_by_answer", family=understanding)["answer-not-given-away"]
    assert re.match(r"the rule \"yes (if|unless) the question has the word '\w+'\"", finding.message), finding.message


def test_answer_given_away_by_names_without_quotes_is_found() -> None:
    @pattern("Which of {{ first }} and {{ second }} is meant in {{ place }}?", form="task")
    def second_one(workflow: Workflow) -> Cases:
        """Always means the second."""
        for first, second in pairwise(workflow.task_names):
            yield case(second, first=first, second=second)

    check_finding(
        fuzz_findings("second_one", family=understanding)["answer-not-given-away"], "the last name of the question"
    )


def test_reference_scores_one_answer_not_of_the_form_is_found() -> None:
    @pattern("How many tasks has {{ place }}?", form="number")
    def wordy(workflow: Workflow) -> Cases:
        """Answers in words where there is data."""
        yield case("many" if workflow.data else len(workflow.tasks))

    check_finding(fuzz_findings("wordy")["reference-scores-one"], "expected 1.0")


def test_replies_are_safe_parser_that_fails_is_found() -> None:
    def read(text: str, names: object, parsing: object) -> Json:
        digits = text.strip()
        if not digits:
            raise UnparseableError("no number")
        return int(digits)

    number = form("number")
    own = Form("fragile", number.instruct, read, number.write, number.metric)

    @pattern("How many tasks has {{ place }}?", form="fragile")
    def fragile(workflow: Workflow) -> Cases:
        """Its answers are read by a parser that knows digits only."""
        yield case(len(workflow.tasks))

    with registrations() as registered:
        registered.add("answer form", "fragile", own, "conftest.py")
        finding = fuzz_findings("fragile")["replies-are-safe"]
    check_finding(finding, "ValueError", "expected a score, or none")


def test_prompt_size_prompt_that_repeats_the_workflow_is_found(tmp_path: Path) -> None:
    text = "{% for i in range(2000) %}{{ workflow }}{% endfor %}\n{{ question }}\n{{ instruction }}\n"
    check_finding(
        fuzz_findings("next_tasks", prompt_file(tmp_path, text))["prompt-size"], "tokens; expected at most 32000"
    )


def test_deterministic_answer_by_the_turn_is_found() -> None:
    @pattern("How many tasks has {{ place }}?", form="number")
    def by_turn(workflow: Workflow) -> Cases:
        """Counts up from one listing to the next."""
        yield case(next(TURN))

    check_finding(fuzz_findings("by_turn")["deterministic"], "expected")


def test_fuzz_clean_pattern_of_a_user_finds_nothing() -> None:
    @pattern(
        "Which tasks come directly after '{{ task }}' in {{ place }}?",
        "To which tasks does the control flow lead directly from '{{ task }}' in {{ place }}?",
        form="task-set",
    )
    def clean(workflow: Workflow) -> Cases:
        """Check that the model follows a link forward."""
        for task in workflow.task_names:
            yield case(successors(workflow, task), task=task)

    assert fuzz_findings("clean", Settings(), 8, understanding) == {}


def test_fuzz_same_seed_finds_the_same() -> None:
    @pattern("Which tasks come directly after the task in {{ place }}?", form="task-set")
    def nameless(workflow: Workflow) -> Cases:
        """Does not say which task it is about."""
        for task in workflow.task_names:
            yield case(successors(workflow, task), task=task)

    def describe_findings() -> list[tuple[str, str, tuple[str, ...], str]]:
        findings = fuzz(EACH, "nameless", Settings(), 5, seed=3)
        return [
            (finding.property, finding.message, finding.instance.drawing, finding.instance.question.prompt)
            for finding in findings
        ]

    assert describe_findings() == describe_findings() != []


def test_fuzz_property_that_hides_another_finds_both(tmp_path: Path) -> None:
    settings = prompt_file(tmp_path, "{{ workflow[:30] }} {{ question }}")
    assert {"template", "irrelevant-parts"} <= fuzz_findings("next_tasks", settings).keys()


def test_notations_without_a_needed_feature_are_refused() -> None:
    notation_name = next(name for name, notation in NOTATIONS.items() if "references" in notation.unsupported)
    with pytest.raises(Exception, match="infinite_recursion"):
        fuzz_findings("infinite_recursion", replace(PLAIN, own={"notation": (notation_name,)}))
