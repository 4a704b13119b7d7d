"""Search for violated properties among the questions of a group, with Hypothesis, which shrinks the examples."""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import hypothesis
from hypothesis import HealthCheck, Phase
from hypothesis import strategies as st
from hypothesis.database import ExampleDatabase
from hypothesis.errors import Flaky, Unsatisfiable

from ..benchmarks.instances import RENDERS, GroupCheck, Instance
from ..errors import NoCaseError
from .properties import MOST_TOKENS, Alteration, PropertyViolationError, check_instance

if TYPE_CHECKING:
    from ..benchmarks.family import Family
    from ..benchmarks.settings import Settings

_ALTERED_TEXTS: Final = (
    "",
    " ",
    "\n",
    ", ",
    "no",
    "yes",
    "'",
    "`",
    "```",
    "Final answer:",
    "{",
    "[[",
    "\\",
    "1e999",
    "\x00",
    "—",
)
_DETERMINISTIC: Final = "deterministic"


@dataclass(frozen=True, slots=True)
class Finding:
    """A property that does not hold, with the smallest instance found that shows it.

    Args:
        property: The name of the property.
        message: The actual and the expected result, in one line.
        instance: The instance.
        reproduce: The options that repeat the search, in one line.
        seed: The seed of the search.
    """

    property: str
    message: str
    instance: Instance
    reproduce: str
    seed: int


class FuzzingInterrupted(KeyboardInterrupt):
    """Ctrl-C during the search; `findings` holds the findings so far, as small as they were then."""

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__()
        self.findings = findings


class SearchDatabase(ExampleDatabase):
    """Hypothesis's example database with separate keys for each search of the same test function.

    Args:
        inner: The example database.
        search: The name of the search. Hypothesis deletes examples that no longer fail, so two searches for different
            properties must not share keys.
    """

    def __init__(self, inner: ExampleDatabase, search: str) -> None:
        super().__init__()
        self._inner, self._search = inner, search.encode()

    def save(self, key: bytes, value: bytes) -> None:
        """Save a value under the key."""
        self._inner.save(self._own_key(key), value)

    def fetch(self, key: bytes) -> Iterable[bytes]:
        """Return the values under the key."""
        return self._inner.fetch(self._own_key(key))

    def delete(self, key: bytes, value: bytes) -> None:
        """Delete a value under the key."""
        self._inner.delete(self._own_key(key), value)

    def _own_key(self, key: bytes) -> bytes:
        return b"|".join((key, b"taskgraph", self._search))


def fuzz(
    family: Family,
    group: str,
    settings: Settings,
    examples: int,
    options: Mapping[str, Any] = MappingProxyType({}),
    *,
    seed: int | None = None,
    most_tokens: int = MOST_TOKENS,
) -> list[Finding]:
    """Search for questions of a group that violate a property, without a model; return each property once.

    Hypothesis's profile applies: its example database, phases and verbosity. A violated property hides others, so the
    search is repeated without it until no violation is found.

    Args:
        family: The family.
        group: The group of questions.
        settings: The settings of the run.
        examples: The number of questions that are drawn in each search.
        options: The keyword arguments of the suite.
        seed: The seed of the search, to repeat it; the database is then not used. The default is that of
            `--hypothesis-seed`, else 0 with a profile that derandomizes, else that of the last search of the group
            that found a violation, else a new seed.
        most_tokens: The limit of tokens of a prompt.

    Raises:
        NoCaseError: if no drawn example allows a question.
        FuzzingInterrupted: on Ctrl-C.
    """
    strategy = family.instances(group, settings, options)
    checks = family.group_checks(group, settings, options, examples)
    return _Search(_Group(family.name, group, strategy, checks), examples, seed, most_tokens).findings()


class _DrawnCase:
    """An instance and alterations of replies to it, with a short repr for the output of Hypothesis."""

    def __init__(self, instance: Instance, replies: list[Alteration]) -> None:
        self.instance, self.replies = instance, replies

    def __repr__(self) -> str:
        return f"<{self.instance.question.id}>"


class _Group(NamedTuple):
    """A group of questions to search."""

    family: str
    name: str
    instances: st.SearchStrategy[Instance]
    checks: Sequence[GroupCheck]


class _Search:
    """The search of one group."""

    def __init__(self, group: _Group, examples: int, seed: int | None, most_tokens: int) -> None:
        self._group, self._examples, self._most_tokens = group, examples, most_tokens
        stated = getattr(hypothesis.core, "global_force_seed", None) if seed is None else seed
        self._seed_is_stated = stated is not None
        self._seed = self._choose_seed() if stated is None else int(stated)
        # The smallest violation of each property, including those that Hypothesis does not report.
        self._smallest: dict[str, PropertyViolationError] = {}

    def findings(self) -> list[Finding]:
        """Search until no further violation is found, and return the findings."""
        violations: dict[str, PropertyViolationError] = {}
        try:
            while new := self._violations(frozenset(violations)):
                violations |= {violation.property: violation for violation in new}
            if RENDERS not in violations:
                violations |= {
                    violation.property: violation
                    for violation in self._group_violations()
                    if violation.property not in violations
                }
        except KeyboardInterrupt:
            raise FuzzingInterrupted(
                [self._finding(violation) for violation in (self._smallest | violations).values()]
            ) from None
        self._store_seed(bool(violations))
        return [self._finding(violation) for violation in violations.values()]

    def _choose_seed(self) -> int:
        """Return the seed of the last search that found a violation; a new seed if there is none.

        The examples in the database were found with that seed, and another seed may miss them. If the profile
        derandomizes, as the profile for CI does, its derived seed cannot be stated in a command; the seed is then 0.
        """
        if _profile().derandomize:
            return 0
        database = _profile().database
        stored_seeds = sorted(database.fetch(self._seed_key)) if database is not None else []
        return int(stored_seeds[0]) if stored_seeds and stored_seeds[0].isdigit() else secrets.randbits(32)

    def _store_seed(self, violated: bool) -> None:
        database = None if self._seed_is_stated else _profile().database
        if database is not None:
            for stored_seed in sorted(database.fetch(self._seed_key)):
                database.delete(self._seed_key, stored_seed)
            if violated:
                database.save(self._seed_key, str(self._seed).encode())

    @property
    def _seed_key(self) -> bytes:
        return f"taskgraph seed|{self._group.family}|{self._group.name}|{self._examples}".encode()

    def _finding(self, violation: PropertyViolationError) -> Finding:
        name = shlex.quote(self._group.name)
        line = f"--taskgraph-fuzz {self._examples} --hypothesis-seed={self._seed} -k {name}"
        return Finding(violation.property, violation.message, violation.instance, line, self._seed)

    def _violations(self, excluded_properties: frozenset[str]) -> list[PropertyViolationError]:
        """Return the violated properties that a single search finds, each with its shrunk instance."""
        replies = st.lists(_alterations(), min_size=1, max_size=3)
        cases = st.builds(_DrawnCase, self._group.instances, replies)

        @hypothesis.given(cases)
        def search(drawn_case: _DrawnCase) -> None:
            try:
                check_instance(drawn_case.instance, drawn_case.replies, self._most_tokens, excluded_properties)
            except PropertyViolationError as violation:
                self._record_violation(violation)
                raise

        search = hypothesis.seed(self._seed)(search)
        # Applied after the seed, because the seed turns the example database off.
        search = hypothesis.settings(**self._hypothesis_settings(excluded_properties))(search)
        try:
            with _disable_module_constants():
                search()
        except Unsatisfiable:
            if excluded_properties:
                return []  # an earlier search of the group did find questions
            raise NoCaseError(self._no_case_message) from None
        except _skip_exceptions():
            if excluded_properties:
                return []  # the profile lacks the phase "generate", and the database has no example of this search
            raise
        except (PropertyViolationError, BaseExceptionGroup, Flaky) as error:
            return sorted(self._reported(error, excluded_properties), key=lambda violation: violation.property)
        return []

    @property
    def _no_case_message(self) -> str:
        group = self._group
        return f"{group.family}: nothing can be asked for {group.name!r} in {self._examples} drawn examples"

    def _record_violation(self, violation: PropertyViolationError) -> None:
        smallest = self._smallest.get(violation.property)
        if smallest is None or violation.instance.size <= smallest.instance.size:
            self._smallest[violation.property] = violation

    def _reported(self, error: BaseException, excluded_properties: frozenset[str]) -> Iterator[PropertyViolationError]:
        """Yield the violations that Hypothesis reports; one that does not recur violates `deterministic`."""
        if isinstance(error, PropertyViolationError):
            yield error
        elif isinstance(error, Flaky):
            earlier_violations = [
                violation for name, violation in sorted(self._smallest.items()) if name not in excluded_properties
            ]
            if _DETERMINISTIC not in excluded_properties and earlier_violations:
                message = f"found only in one of two runs: {earlier_violations[0]}; expected the same question in both"
                yield PropertyViolationError(_DETERMINISTIC, message, earlier_violations[0].instance)
        elif isinstance(error, BaseExceptionGroup):
            for nested_error in error.exceptions:
                yield from self._reported(nested_error, excluded_properties)
        else:
            raise error

    def _group_violations(self) -> Iterator[PropertyViolationError]:
        """Yield the violated properties of the group as a whole."""
        for check in self._group.checks:
            if (result := check.run()) is not None:
                yield PropertyViolationError(check.property, result.message, result.instance)

    def _hypothesis_settings(self, excluded_properties: frozenset[str]) -> dict[str, Any]:
        """Return the settings of the search: some are fixed, the others are those of the profile."""
        profile = _profile()
        search = "|".join((self._group.family, self._group.name, *sorted(excluded_properties)))
        database = (
            None if self._seed_is_stated or profile.database is None else SearchDatabase(profile.database, search)
        )
        return {
            "max_examples": self._examples,
            "deadline": None,
            "phases": [phase for phase in profile.phases if phase is not Phase.explain],
            "suppress_health_check": list(HealthCheck),
            "report_multiple_bugs": True,
            "print_blob": False,
            "database": database,
        }


def _profile() -> hypothesis.settings:
    """Return the settings of the profile that is loaded."""
    return hypothesis.settings.default or hypothesis.settings()


@contextmanager
def _disable_module_constants() -> Iterator[None]:
    """Prevent Hypothesis, inside the context, from drawing constants in the source of imported modules.

    They depend on the imported modules, but a seed must give the same result in a run of one item, of many, and on a
    worker. Versions of Hypothesis without such constants, or that store them elsewhere, are left unchanged.
    """
    providers = _providers()
    get_constants = getattr(providers, "_get_local_constants", None)
    constants_class, cache = getattr(providers, "Constants", None), getattr(providers, "CONSTANTS_CACHE", None)
    clear_cache = getattr(getattr(cache, "cache", None), "clear", None)
    if providers is None or get_constants is None or constants_class is None or clear_cache is None:
        yield
        return
    no_constants = constants_class()
    clear_cache()
    vars(providers)["_get_local_constants"] = lambda: no_constants
    try:
        yield
    finally:
        vars(providers)["_get_local_constants"] = get_constants
        clear_cache()


def _providers() -> ModuleType | None:
    """Return the module of Hypothesis that draws constants; None for versions without it."""
    try:
        return import_module("hypothesis.internal.conjecture.providers")
    except ImportError:
        return None


def _skip_exceptions() -> tuple[type[BaseException], ...]:
    """Return the exceptions that Hypothesis raises if the phases of the profile leave nothing to run."""
    exceptions: tuple[type[BaseException], ...] = hypothesis.core.skip_exceptions_to_reraise()  # type: ignore[no-untyped-call]
    return exceptions


def _alterations() -> st.SearchStrategy[Alteration]:
    """Return a strategy for alterations of replies: parts removed, and texts inserted that are hard to parse."""
    places = st.integers(0, 1000)
    texts = st.sampled_from(_ALTERED_TEXTS) | st.text(max_size=60)
    return st.builds(Alteration, places, places, texts)
