"""Scores of the baselines of STEPS on the embedded recipes, and the cost of training the n-gram model.

    python perf/step_baselines.py               about 5 seconds: all questions about the embedded test recipes
    python perf/step_baselines.py 20000 180000  instead, trains on these numbers of synthetic recipes; half a minute

The scores are those of the rule of the paper: the multiple choice by the perplexity of whole queries, with a Wilson
interval (questions about one recipe are dependent, so the true interval is wider), and the classification by the prompt
`paper`. The texts of synthetic recipes come from a chain in which n-grams recur; they are more
diverse than recipes.
"""

from __future__ import annotations

import asyncio
import resource
import sys
import time
from collections.abc import Sequence
from math import sqrt
from random import Random

from pytest_taskgraph.asking import Model
from pytest_taskgraph.errors import NotAskedError
from pytest_taskgraph.families.steps.construction import PAPER_RULE, build_choices, build_classification
from pytest_taskgraph.families.steps.next_step_samples import StepRecipe
from pytest_taskgraph.families.steps.prompts import PROMPTS
from pytest_taskgraph.families.steps.recipe_sets import RecipeSet, load
from pytest_taskgraph.families.steps.recipe_sets.recipe_set import read_embedded_recipes
from pytest_taskgraph.families.steps.step_baselines import BASELINES
from pytest_taskgraph.families.steps.step_baselines.ngram_baseline import train_model
from pytest_taskgraph.families.steps.steps_settings import StepsSettings
from pytest_taskgraph.results.statistics.intervals import wilson
from pytest_taskgraph.trial import Reply, Request

SETTINGS = StepsSettings()
STEPS, WORDS, VOCABULARY = 10, 9, 5_000  # of each synthetic recipe; with the full stops, 100 tokens
LETTERS = str.maketrans("0123456789", "abcdefghij")  # a word is one token


def reply_of(model: Model, request: Request) -> Reply | None:
    try:
        return asyncio.run(model.answer(request))
    except NotAskedError:
        return None


def chat(prompt: str) -> Request:
    return Request(messages=[{"role": "user", "content": prompt}])


def perplexity_row(model: Model) -> str:
    right = ties = count = 0
    for sample in build_choices(load(SETTINGS).test, PAPER_RULE, SETTINGS.seed):
        queries = [" . ".join([*sample.prefix, option]) for option in (sample.right, sample.wrong)]
        reply = reply_of(model, Request(kind="score", texts=queries))
        if reply is None:
            return "perplexity: not asked"
        own, other = ((-score.logprob / score.tokens) for score in reply.scores if score.logprob is not None)
        count, right, ties = count + 1, right + (own < other), ties + (own == other)
    return f"perplexity: {share(right, count)}, {ties} ties"


def letter_row(model: Model) -> str:
    right = ties = count = 0
    for sample in build_choices(load(SETTINGS).test, PAPER_RULE, SETTINGS.seed):
        texts, place = sample.shuffled(SETTINGS.seed)
        options = [{"letter": letter, "text": text} for letter, text in zip("AB", texts, strict=True)]
        prompt = PROMPTS.render("letter", {"previous": [*sample.prefix], "options": options}, SETTINGS)
        reply = reply_of(model, chat(prompt))
        assert reply is not None
        count, right, ties = count + 1, right + (reply.text == "AB"[place]), ties + (reply.text == "tie")
    return f"letter: {share(right, count)}, {ties} ties"


def classification_row(model: Model) -> str:
    correct: dict[bool, list[bool]] = {True: [], False: []}
    for sample in build_classification(load(SETTINGS).test, PAPER_RULE, SETTINGS.seed):
        fields = {"previous": [*sample.prefix], "candidate": sample.candidate, "examples": []}
        reply = reply_of(model, chat(PROMPTS.render("paper", fields, SETTINGS)))
        assert reply is not None
        correct[sample.label].append(reply.text == ("Yes" if sample.label else "No"))
    sensitivity, specificity = (sum(rows) / len(rows) for rows in correct.values())
    g_mean = sqrt(sensitivity * specificity)
    numbers = f"{len(correct[True])} Yes, {len(correct[False])} No"
    return (
        f"classification: sensitivity {sensitivity:.3f}, specificity {specificity:.3f}, G-mean {g_mean:.3f}; {numbers}"
    )


def share(right: int, count: int) -> str:
    low, high = wilson(right, count)
    return f"{right} of {count} = {right / count:.3f} [{low:.3f}, {high:.3f}]"


def synthetic(count: int) -> RecipeSet:
    """Return recipes in which half of the words follow from the previous word; the others are drawn by frequency."""
    rng, weights = Random("steps"), [1 / rank for rank in range(1, VOCABULARY + 1)]
    recipes, number = [], 0
    for at in range(count):
        words = []
        for frequent in rng.choices(range(VOCABULARY), weights, k=STEPS * WORDS):
            number = (7 * number + rng.randrange(5)) % VOCABULARY if rng.random() < 0.5 else frequent
            words.append(f"{number:04}".translate(LETTERS))
        texts = tuple(" ".join(words[start : start + WORDS]) for start in range(0, len(words), WORDS))
        recipes.append(StepRecipe(f"r{at}", f"Recipe {at}", texts))
    held_out = max(count // 20, 1)
    return RecipeSet.of("food.com", {"train": recipes[held_out:], "dev": recipes[:held_out]})


def peak() -> float:
    """Return the peak memory of the process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def measure_training(count: int) -> str:
    recipes, before, start = synthetic(count), peak(), time.process_time()
    train_model(recipes, PAPER_RULE, read_embedded_recipes())
    seconds = time.process_time() - start
    return f"{count} recipes: {seconds:.1f} s, peak {peak():.0f} MB, of which {before:.0f} MB before"


def main(counts: Sequence[str]) -> None:
    for count in counts:
        print(measure_training(int(count)), flush=True)
    for name in () if counts else BASELINES:
        model = BASELINES[name](SETTINGS)
        for row in (perplexity_row, letter_row, classification_row):
            print(f"{name:8} {row(model)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
