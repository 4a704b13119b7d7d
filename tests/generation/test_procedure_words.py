"""Words of domains for procedures: every task has a phrase and an actor, and mistakes in files are reported."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.generation import vocabularies
from pytest_taskgraph.generation.vocabularies import domain_names, read_vocabulary, vocabulary
from pytest_taskgraph.generation.vocabularies.procedure_words import ProcedureWords, name_phrase

every_domain = pytest.mark.parametrize("name", domain_names())


def file_text(name: str) -> str:
    return files(vocabularies).joinpath(f"{name}.toml").read_text(encoding="utf-8")


def read_changed(folder: Path, old: str, new: str) -> None:
    """Read the vocabulary of the kitchen with one change."""
    text = file_text("kitchen")
    assert old in text
    path = folder / "own.toml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    read_vocabulary("own", path)


@every_domain
def test_procedure_words_of_domain_phrase_every_task_differently(name: str) -> None:
    words, tasks = vocabulary(name).procedure, [task.name for task in vocabulary(name).tasks]
    assert sorted(words.actions) == sorted(tasks) == sorted(words.actors)
    assert len(set(words.actions.values())) == len(tasks)
    assert list(words.faults(frozenset(tasks))) == []


@every_domain
def test_action_of_domain_is_short_verb_phrase(name: str) -> None:
    for task, phrase in vocabulary(name).procedure.actions.items():
        assert re.fullmatch(r"[a-z]+( [A-Za-z'-]+){1,7}", phrase) or phrase == "draw blood", task


@every_domain
def test_actors_of_domain_are_five_or_more_nouns_without_article(name: str) -> None:
    actors = set(vocabulary(name).procedure.actors.values())
    assert len(actors) >= 5
    assert [actor for actor in actors if not re.fullmatch(r"(?!(?:the|an?) )[a-z]+( [a-z]+){0,3}", actor)] == []


@every_domain
def test_notices_of_domain_are_different_clauses_about_its_tasks(name: str) -> None:
    words, tasks = vocabulary(name).procedure, {task.name for task in vocabulary(name).tasks}
    assert len(words.notices) >= 15
    assert set(words.notices) <= tasks
    assert len(set(words.notices.values())) == len(words.notices)
    assert [clause for clause in words.notices.values() if not re.fullmatch(r"[a-z][\w' -]+[a-z]", clause)] == []


@every_domain
def test_choices_of_domain_are_three_conditions_that_differ_in_their_end(name: str) -> None:
    choices = vocabulary(name).procedure.choices
    assert len(choices) >= 3
    conditions = [condition for choice in choices for condition in choice]
    conditions += [text for condition in vocabulary(name).conditions for text in (condition.holds, condition.fails)]
    assert len(set(conditions)) == len(conditions)
    for choice in choices:
        starts = {condition.split()[:2] == choice[0].split()[:2] for condition in choice}
        assert starts == {True}, choice


def test_action_of_unphrased_task_is_words_of_its_name() -> None:
    assert ProcedureWords().action("FoldNapkins") == "fold napkins"
    assert vocabulary("neutral").procedure == ProcedureWords()


def test_vocabulary_without_procedure_table_is_read(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(file_text("kitchen").partition("\n[procedure]")[0], encoding="utf-8")
    own = read_vocabulary("own", path)
    assert own.procedure == ProcedureWords()
    assert own.tasks == vocabulary("kitchen").tasks


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('BuyWine = "buy wine"', 'BuyBeer = "buy beer"', "names 'BuyBeer', which is none of its tasks"),
        ('BuyWine = "the bottles', 'BuyBeer = "the bottles', "names 'BuyBeer', which is none of its tasks"),
        ('"buy wine"', '" "', "holds ' '; expected a text on one line"),
        ('"buy wine"', '"buy -> wine"', "holds 'buy -> wine'; expected a text on one line without an arrow"),
        ('"buy wine"', "7", "holds 7; expected a text on one line"),
        ('"buy wine"', '"choose the dishes"', "the same phrase for two tasks"),
        ('["the season is spring", ', "[", "expected three different conditions or more"),
        ('[procedure.actors."host"]', '[procedure.actors]\n"host" = "x"\n[procedure.actors.other]', "lacks a part"),
    ],
)
def test_mistake_in_procedure_table_raises_usage_error(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        read_changed(tmp_path, old, new)


@pytest.mark.parametrize(
    ("name", "phrase"),
    [("FoldNapkins", "fold napkins"), ("ReadURLList", "read URL list"), ("snake_case", "snake case")],
)
def test_name_phrase_of_name_is_lower_case_but_for_abbreviations(name: str, phrase: str) -> None:
    assert name_phrase(name) == phrase
