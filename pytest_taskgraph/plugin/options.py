"""The table of options; each is set by flag, else environment, else ini, else its default.

Families add options of their own.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, cast

import pytest

from ..benchmarks.option import GENERATED, Option, OptionValue
from ..errors import UnknownNameError, UsageError
from ..families import FAMILIES, OPTION_HELP, declared_options
from .pytest_compat import option_names

if TYPE_CHECKING:
    from ..benchmarks.family import Family
    from ..benchmarks.settings import Settings

ALIAS = "taskgraph_model_alias"
MEASURING_ROLES = ("judge", "embedder")
"""The roles of the models that measure open answers."""
FAMILY_WORDS = "{families}"
"""Placeholder in the help of an option for the words of the families (`Family.option_help`)."""

_RUN_OPTIONS = (
    Option(
        "model", "SPEC[@@NAME]", "model under test: a litellm or registered name, recorded:FILE, "
        "python:MODULE:NAME, simulated:ACCURACY, baseline[:NAME]; NAME: its label. Repeatable",
        "baseline", repeatable=True,
    ),
    Option("model-option", "K=V", "setting passed to the model as it is, such as temperature=0; judge.K=V and "
           "embedder.K=V: to that model instead. Repeatable", repeatable=True, kind="pairs"),
    Option("prompt", "NAME|FILE", "prompt template: {families}, or a Jinja file. Repeatable: each question is "
           "asked with each prompt", "chain-of-thought", repeatable=True),
    Option("dry-run", "", "print the requests and their estimated cost; send nothing", kind="switch"),
    Option("max-calls", "N", "maximum number of requests sent, over all workers; every retry counts", kind="whole",
           least=0),
    Option("max-cost", "USD", "maximum cost in US dollars, over all workers; requests in flight count",
           kind="number"),
    Option("price", "[MODEL=]IN/OUT", "US dollars per million tokens in and out, where the price is not known. "
           "Repeatable", repeatable=True),
    Option("gate", "EXPR", "condition on the whole run, a test case of its own: {families} with certainty. "
           "Repeatable", repeatable=True),
    Option("fail-on", "WHAT[,WHAT]", "what fails the run: answers, gates, regression, inconclusive, missing; or "
           "nothing (default: regression, and gates if a gate is set, else answers if a model is)",
           kind="list"),
    Option("max-errors", "SHARE", "allowed share of missing replies, 0 to 1; above 0 a gate of its own checks it",
           "0", kind="share"),
    Option("save", "NAME", "save the record of this run under a name, for --taskgraph-compare"),
    Option("compare", "NAME|PATH", "run to compare with, question by question: a saved one, the path of a record, "
           "or last (the run before)"),
    Option("margin", "X", "non-inferiority margin of comparisons: the loss that is acceptable, 0 to 1", "0.05",
           kind="share"),
    Option("report", "KIND=PATH", "write a report: json (the record), md, html, csv or tables. Repeatable",
           repeatable=True, kind="pairs"),
)  # fmt: skip
_ASKING_OPTIONS = (
    Option("seed", "N[,N]", "seed of everything that is generated; with several, questions are asked of each", "0",
           kind="whole-list"),
    Option("instances", "N", "number of questions {families}", "4", kind="whole", least=1),
    Option("limit", "N", "ask only the first N questions of each group, of those that -k, -m and node ids leave",
           kind="whole", least=1),
    Option("repeats", "N", "number of times each question is asked, each an item of its own", "1", kind="whole",
           least=1),
    Option("data", "NAME=PATH", "file or folder of a data set, by the name that its benchmark uses, or generated. "
           "Repeatable", repeatable=True, kind="pairs"),
    Option("shots", "K", "number of solved examples before each question, about other {families} (default: as the "
           "prompt template states, else 0)", kind="whole", least=0),
    Option("templates", "DIR", "folder of Jinja files that replace built-in templates of the same name"),
    Option("concurrency", "N", "number of requests in flight over all workers (default: adaptive, from 20 on; from 2 "
           "on to a local server)", kind="whole", least=1),
    Option("rpm", "N", "maximum number of requests per minute", kind="whole", least=1),
    Option("tpm", "N", "maximum number of tokens per minute; estimated from characters until the reply arrives",
           kind="whole", least=1),
    Option("retries", "N", "maximum number of retries of a failed request", "5", kind="whole", least=0),
    Option("timeout", "SECONDS", "time limit of one attempt at a request; a question has six times as long, and at "
           "least 1800", "300", kind="number", least=0.001),
    Option("fuzz", "N", "search the questions of each group for violated properties, with N examples drawn by "
           "Hypothesis; send nothing", kind="whole", least=1),
    Option("shrink", "CALLS", "make the first wrong answer of each group small, with at most CALLS requests more",
           kind="whole", least=1),
)  # fmt: skip
_RECORD_OPTIONS = (
    Option("parsing", "KIND", "answer parsing: lenient, or strict (exactly the format that the prompt asks for)",
           "lenient", choices=("lenient", "strict")),
    Option("pass-threshold", "X", "smallest score that passes, 0 to 1; 0: all questions are graded, none passes or "
           "fails (default: that of the answer form, 0 for open answers)", kind="share"),
    Option("text-metric", "NAME[,NAME]", "metrics of open answers: rouge1, rouge2, rouge_l, rouge1_recall, "
           "bertscore, cosine (of an embedder), judge (an LLM); the first gives the score", "rouge1", kind="list"),
    Option("judge-model", "SPEC", "model that scores open answers, for --taskgraph-text-metric=judge"),
    Option("embedder", "SPEC", "model that embeds texts, for --taskgraph-text-metric=cosine"),
    Option("store", "PATH", "folder where replies are stored (default: .taskgraph in the root folder)"),
    Option("replay", "", "take all replies from the store; send nothing", kind="switch"),
    Option("refresh", "", "send requests again whose replies are stored", kind="switch"),
    Option("junit-properties", "BOOL", "add properties to the test cases of --junitxml", "true",
           choices=("true", "false")),
)  # fmt: skip
OPTION_GROUPS: Mapping[str, tuple[Option, ...]] = MappingProxyType(
    {
        "taskgraph": _RUN_OPTIONS,
        "taskgraph: asking": _ASKING_OPTIONS,
        "taskgraph: reports and records": _RECORD_OPTIONS,
    }
)
"""The options of every run, by the heading of their group in `pytest --help`."""
OPTIONS = {option.name: option for options in OPTION_GROUPS.values() for option in options}


SHARED = {
    "seed": "seed",
    "instances": "instances",
    "prompt": "prompt",
    "shots": "shots",
    "templates": "templates",
    "parsing": "parsing",
    "pass-threshold": "pass_threshold",
    "text-metric": "text_metrics",
}
"""The options that every family reads, and the fields of Settings that hold them."""

_SETTINGS = pytest.StashKey[tuple[tuple[str, ...], "Settings"]]()


def all_options() -> dict[str, Option]:
    """Return the options by name: those of every run first, then those of each family."""
    return OPTIONS | _family_options()


def _family_options() -> dict[str, Option]:
    return {option.name: option for options in declared_options().values() for option in options}


def add_options(parser: pytest.Parser) -> None:
    """Add the options of every run and of each family to `pytest --help`, each also as an ini value."""
    for option in all_options().values():
        _add_option(parser, option)


def add_family_options(parser: pytest.Parser, family: Family) -> None:
    """Add the options of a family that the parser does not have yet.

    If the command line has been parsed already, only environment and ini file can set them.

    Raises:
        UsageError: if the plugin or another family declares an option of the same name differently.
    """
    others = {name: ("pytest-taskgraph", option) for name, option in OPTIONS.items()}
    for name, options in declared_options().items():
        for option in options if name != family.name else ():
            others.setdefault(option.name, (f"family {name!r}", option))
    present = option_names(parser)
    for option in family.options:
        if not isinstance(option, Option):
            raise UsageError(f"family {family.name!r}: {option!r} in its options is no Option")
        option.check()
        owner, declared = others.get(option.name, ("", option))
        if declared != option:
            raise UsageError(
                f"family {family.name!r}: the option {option.flag} is declared otherwise by {owner}; declare the same "
                "Option, or choose another name"
            )
        if option.flag not in present:
            _add_option(parser, option)


def group_of(option: Option) -> str:
    """Return the heading of an option in the help: an option of a single family stands in a group of that family."""
    for heading, options in OPTION_GROUPS.items():
        if option in options:
            return heading
    families = [name for name, options in declared_options().items() if option in options]
    return f"taskgraph: {families[0]}" if len(families) == 1 else "taskgraph: asking"


def _add_option(parser: pytest.Parser, option: Option) -> None:
    group = parser.getgroup(group_of(option))
    arguments: dict[str, Any] = {"metavar": option.metavar, "action": "append" if option.repeatable else "store"}
    if option.kind == "switch":
        arguments = {"action": "store_const", "const": "true"}
    group.addoption(option.flag, dest=option.dest, default=None, help=_argparse_help(option), **arguments)
    kind: Literal["linelist", "string"] = "linelist" if option.repeatable else "string"
    parser.addini(option.dest, f"as {option.flag}", type=kind, default=None)


def help_text(option: Option) -> str:
    """Return the help of an option with the words of the families, without its default."""
    return option.help.replace(FAMILY_WORDS, _words(option)) if FAMILY_WORDS in option.help else option.help


def _argparse_help(option: Option) -> str:
    """Return the help of an option with its default, escaped for argparse."""
    default = f" (default: {option.default})" if option.default else ""
    return f"{help_text(option)}{default}".replace("%", "%%")


def _words(option: Option) -> str:
    families: dict[str, list[str]] = {}  # the names of the families by their words
    for name, words_of_family in OPTION_HELP.items():
        if words := words_of_family.get(option.name):
            families.setdefault(words, []).append(name)
    several = len(families) > 1
    return ", ".join(f"{words} ({', '.join(names)})" if several else words for words, names in families.items())


def _option(name: str) -> Option:
    return OPTIONS[name] if name in OPTIONS else _family_options()[name]


def given(config: pytest.Config, name: str) -> list[str] | None:
    """Return the values of an option that flag, environment or ini set; None if none of them does."""
    return _given(config, _option(name))


def any_given(config: pytest.Config) -> bool:
    """Return True if flag, environment or ini set an option."""
    return any(_given(config, option) is not None for option in all_options().values())


def _given(config: pytest.Config, option: Option) -> list[str] | None:
    flags = config.getoption(option.dest, None)
    if option.name == "model":
        flags = [*(flags or ()), *(config.getoption(ALIAS, None) or ())] or None
    if flags is not None:
        return flags if isinstance(flags, list) else [flags]
    stated = os.environ.get(option.dest.upper(), config.getini(option.dest))
    if isinstance(stated, str):
        stated = stated.splitlines() if option.repeatable else [stated]
    texts = [text.strip() for text in stated or () if text.strip()]
    # An empty model must not become the default baseline: it counts as set, and is refused.
    return texts or ([""] if option.name == "model" and stated is not None else None)


def flagged(config: pytest.Config, name: str) -> bool:
    """Return True if the option is on the command line, or in pytest's own addopts."""
    dests = [_option(name).dest, *([ALIAS] if name == "model" else [])]
    return any(config.getoption(dest, None) is not None for dest in dests)


def spelling(config: pytest.Config, name: str) -> str:
    """Return the option as the user wrote it, with the place unless it is a flag."""
    option = _option(name)
    if flagged(config, name):
        return option.flag
    in_environment = option.dest.upper() in os.environ
    return f"{option.dest.upper()} (environment)" if in_environment else f"{option.dest} (configuration)"


def idle(config: pytest.Config) -> bool:
    """Return True if the session will run no item."""
    return any(map(config.getoption, ("collectonly", "setupplan", "setuponly"))) or switched(config, "dry-run")


def values(config: pytest.Config, name: str) -> list[str]:
    """Return the texts of an option, or its default. Raises pytest.UsageError for an empty or invalid text."""
    try:
        return _option(name).texts(given(config, name))
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None


def value(config: pytest.Config, name: str) -> str:
    """Return the text of an option that takes one text; empty if there is none."""
    return (values(config, name) or [""])[-1]


def read(config: pytest.Config, name: str) -> OptionValue:
    """Return the parsed value of an option. Raises pytest.UsageError for a text that is not of its kind."""
    try:
        return _option(name).read(given(config, name))
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None


def switched(config: pytest.Config, name: str) -> bool:
    """Return True if a switch is on. Raises pytest.UsageError for a value that is neither true nor false."""
    return cast(bool, read(config, name))


def number(config: pytest.Config, name: str) -> float | None:
    """Return the number of an option; None without one. Raises pytest.UsageError for a number out of its range."""
    return cast("float | None", read(config, name))


def whole(config: pytest.Config, name: str) -> int | None:
    """Return the whole number of an option; None without one. Raises pytest.UsageError for one out of its range."""
    return cast("int | None", read(config, name))


def pairs(config: pytest.Config, name: str) -> list[tuple[str, str]]:
    """Return key and value of each KEY=VALUE of an option. Raises pytest.UsageError for a text without key or "="."""
    return list(cast("tuple[tuple[str, str], ...]", read(config, name)))


def model_options(config: pytest.Config, role: str = "") -> dict[str, str]:
    """Return the texts of the model options by key.

    Args:
        config: The configuration.
        role: "judge" or "embedder", whose options are stated as `ROLE.K=V`; empty for the model under test.
    """
    stated = [(*_role_and_key(key), text) for key, text in pairs(config, "model-option")]
    return {key: text for of_role, key, text in stated if of_role == role}


def _role_and_key(key: str) -> tuple[str, str]:
    role, dot, rest = key.partition(".")
    return (role, rest) if dot and role in MEASURING_ROLES else ("", key)


def store_folder(config: pytest.Config) -> Path:
    """Return the folder of the store of replies, which may not exist yet."""
    stated = value(config, "store")
    return Path(config.invocation_params.dir, stated) if stated else config.rootpath / ".taskgraph"


def settings(config: pytest.Config) -> Settings:
    """Return the settings that determine the questions; they are cached until another family adds options.

    Raises:
        pytest.UsageError: for a value that is not of its kind, and for a data set that does not exist.
    """
    names = tuple(all_options())
    if config.stash.get(_SETTINGS, ((), None))[0] != names:
        config.stash[_SETTINGS] = names, _settings(config)
    return config.stash[_SETTINGS][1]


def settings_of_grid(config: pytest.Config) -> tuple[Settings, ...]:
    """Return the settings of the run, once for each seed and prompt template.

    Raises:
        pytest.UsageError: as `settings` does, and for two prompt templates of one name.
    """
    try:
        prompts = distinct_prompts(cast("tuple[str, ...]", read(config, "prompt")), spelling(config, "prompt"))
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None
    return in_grid(settings(config), seeds(config), prompts)


def in_grid(base: Settings, seeds: Iterable[int], prompts: Iterable[str]) -> tuple[Settings, ...]:
    """Return the settings with each seed, and each prompt template for it."""
    return tuple(replace(base, seed=seed, prompt=prompt) for seed, prompt in product(seeds, prompts))


def seeds(config: pytest.Config) -> tuple[int, ...]:
    """Return the seeds of the run without duplicates. Raises pytest.UsageError for a text that is no whole number."""
    return tuple(dict.fromkeys(cast("tuple[int, ...]", read(config, "seed"))))


def is_prompt_file(path: Path) -> bool:
    """Return True if the path is the file of a prompt template, rather than its name."""
    return path.suffix in {".jinja", ".j2"} or path.is_file()


def prompt_name(prompt: str) -> str:
    """Return the name of a prompt template that is stated by name or by file."""
    path = Path(prompt)
    return path.stem if is_prompt_file(path) else prompt


def distinct_prompts(prompts: Iterable[str], spelling: str) -> tuple[str, ...]:
    """Return the prompt templates without duplicates.

    Args:
        prompts: Their names or files.
        spelling: The option as the user wrote it, and where.

    Raises:
        UsageError: for two different templates of one name.
    """
    by_name: dict[str, str] = {}
    for prompt in prompts:
        if by_name.setdefault(prompt_name(prompt), prompt) != prompt:
            same = by_name[prompt_name(prompt)]
            raise UsageError(f"{spelling}: {same} and {prompt} have the same name; rename one of them")
    return tuple(by_name.values())


def _settings(config: pytest.Config) -> Settings:
    from ..benchmarks.settings import Settings

    shared: dict[str, Any] = {field: read(config, name) for name, field in SHARED.items()}
    shared |= {name: shared[name][0] for name in ("prompt", "seed")}
    own = {name: read(config, name) for name in _family_options() if given(config, name) is not None}
    stated = frozenset(name for name in SHARED if given(config, name) is not None)
    return Settings(**shared, data=_data(config), given=stated.union(own), own=own)


def _data(config: pytest.Config) -> dict[str, str]:
    """Return the paths of data sets by name. Raises pytest.UsageError for a missing path, or two paths of one name."""
    paths: dict[str, str] = {}
    for name, stated in pairs(config, "data"):
        path = _data_path(config, name, stated)
        if paths.setdefault(name, path) != path:
            raise pytest.UsageError(f"--taskgraph-data: {name!r} has two paths: {paths[name]} and {path}; state one")
    return paths


def _data_path(config: pytest.Config, name: str, stated: str) -> str:
    if stated == GENERATED and any(name in family.generated_data for family in FAMILIES.values()):
        return GENERATED
    path = Path(config.invocation_params.dir, stated).expanduser()
    if not stated.strip() or not path.exists():
        raise pytest.UsageError(f"--taskgraph-data: {name}={stated}: no such file or folder")
    return str(path)


def check_values(config: pytest.Config) -> None:
    """Check that the stated value of each option is of its kind, also where this run does not use the option.

    Raises:
        pytest.UsageError: for the first value that is not.
    """
    for name in all_options():
        read(config, name)


def check_data(config: pytest.Config) -> None:
    """Check that some family uses each data set that the command line names.

    Data sets of ini file and environment may be used by a family that is registered later, during collection.

    Raises:
        UnknownNameError: for a data set that no family uses.
    """
    names = {name for family in FAMILIES.values() for name in family.data_names}
    for name in settings(config).data if flagged(config, "data") else ():
        if name not in names:
            raise UnknownNameError("data set (--taskgraph-data)", name, names)
