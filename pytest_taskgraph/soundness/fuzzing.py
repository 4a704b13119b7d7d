"""Search the questions of a group for violated properties with Hypothesis, which shrinks what it finds."""

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
from .properties import MOST_TOKENS, Alteration, Violation, check_instance

if TYPE_CHECKING:
    from ..benchmarks.family import Family
    from ..benchmarks.settings import Settings

_ALTERED: Final = (
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
        message: What was found and what was expected, in one line.
        instance: The instance.
        reproduce: The options that find it again, in one line.
        seed: The seed of the search.
    """

    property: str
    message: str
    instance: Instance
    reproduce: str
    seed: int


class FuzzingInterrupted(KeyboardInterrupt):
    """Ctrl-C during the search. `findings` holds what was found so far, as small as it was then."""

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__()
        self.findings = findings


class SearchDatabase(ExampleDatabase):
    """Hypothesis's example database with keys of a search's own: one test function does all searches.

    Args:
        inner: The example database.
        search: What tells the search from others. Hypothesis deletes examples that no longer fail, so two searches
            that look for different properties must not share keys.
    """

    def __init__(self, inner: ExampleDatabase, search: str) -> None:
        super().__init__()
        self._inner, self._search = inner, search.encode()

    def save(self, key: bytes, value: bytes) -> None:
        """Save a value under the key."""
        self._inner.save(self._own(key), value)

    def fetch(self, key: bytes) -> Iterable[bytes]:
        """Return the values under the key."""
        return self._inner.fetch(self._own(key))

    def delete(self, key: bytes, value: bytes) -> None:
        """Delete a value under the key."""
        self._inner.delete(self._own(key), value)

    def _own(self, key: bytes) -> bytes:
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
    """Return the properties that do not hold for questions of a group, each once; no model is asked.

    Hypothesis's profile applies: its example database, phases and verbosity. A property that was found to be violated
    hides others, so the search is repeated without it until nothing is found.

    Args:
        family: The family.
        group: The group of questions.
        settings: The settings of the run.
        examples: The number of questions that are drawn in each search.
        options: The keyword arguments of the suite.
        seed: The seed of the search, for the same findings once more; then the database is not used. By default the
            one of `--hypothesis-seed`, else 0 with a profile that derandomizes, else that of the last search of the
            group that found something, else a new one.
        most_tokens: The limit of tokens of a prompt.

    Raises:
        NoCaseError: if nothing can be asked in any of the questions drawn.
        FuzzingInterrupted: on Ctrl-C.
    """
    strategy = family.instances(group, settings, options)
    checks = family.group_checks(group, settings, options, examples)
    return _Search(_Group(family.name, group, strategy, checks), examples, seed, most_tokens).findings()


class _Drawn:
    """An instance and replies to it. Hypothesis writes out what a test was called with, so this has a short repr."""

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
        self._stated = stated is not None
        self._seed = self._kept_seed() if stated is None else int(stated)
        self._seen: dict[str, Violation] = {}  # the smallest of each property, whatever Hypothesis comes to report

    def findings(self) -> list[Finding]:
        """Search until nothing new is found."""
        found: dict[str, Violation] = {}
        try:
            while new := self._violations(frozenset(found)):
                found |= {one.property: one for one in new}
            if RENDERS not in found:
                found |= {one.property: one for one in self._of_the_group() if one.property not in found}
        except KeyboardInterrupt:
            raise FuzzingInterrupted([self._finding(one) for one in (self._seen | found).values()]) from None
        self._keep_seed(bool(found))
        return [self._finding(one) for one in found.values()]

    def _kept_seed(self) -> int:
        """Return the seed of the last search that found something; a new one where none did.

        What the example database holds was found with that seed, and another need not find it. A seed that a profile
        derives, as that for CI does, cannot be stated for another profile: 0 takes its place.
        """
        if _profile().derandomize:
            return 0
        database = _profile().database
        kept = sorted(database.fetch(self._seed_key)) if database is not None else []
        return int(kept[0]) if kept and kept[0].isdigit() else secrets.randbits(32)

    def _keep_seed(self, found: bool) -> None:
        database = None if self._stated else _profile().database
        if database is not None:
            for kept in sorted(database.fetch(self._seed_key)):
                database.delete(self._seed_key, kept)
            if found:
                database.save(self._seed_key, str(self._seed).encode())

    @property
    def _seed_key(self) -> bytes:
        return f"taskgraph seed|{self._group.family}|{self._group.name}|{self._examples}".encode()

    def _finding(self, violation: Violation) -> Finding:
        name = shlex.quote(self._group.name)
        line = f"--taskgraph-fuzz {self._examples} --hypothesis-seed={self._seed} -k {name}"
        return Finding(violation.property, violation.message, violation.instance, line, self._seed)

    def _violations(self, passed_over: frozenset[str]) -> list[Violation]:
        """Return the violated properties that one search finds, each with its shrunk instance."""
        replies = st.lists(_alterations(), min_size=1, max_size=3)
        drawn = st.builds(_Drawn, self._group.instances, replies)

        @hypothesis.given(drawn)
        def search(drawn: _Drawn) -> None:
            try:
                check_instance(drawn.instance, drawn.replies, self._most_tokens, passed_over)
            except Violation as violation:
                self._note(violation)
                raise

        search = hypothesis.seed(self._seed)(search)
        # Behind the seed, which would turn the example database off.
        search = hypothesis.settings(**self._hypothesis_settings(passed_over))(search)
        try:
            with _without_constants_of_modules():
                search()
        except Unsatisfiable:
            if passed_over:
                return []  # something was asked in a search before this
            raise NoCaseError(self._nothing) from None
        except _skips():
            if passed_over:
                return []  # a profile without the phase "generate", and no example of this search in the database
            raise
        except (Violation, BaseExceptionGroup, Flaky) as error:
            return sorted(self._reported(error, passed_over), key=lambda one: one.property)
        return []

    @property
    def _nothing(self) -> str:
        group = self._group
        return f"{group.family}: nothing can be asked for {group.name!r} in {self._examples} drawn examples"

    def _note(self, violation: Violation) -> None:
        known = self._seen.get(violation.property)
        if known is None or violation.instance.size <= known.instance.size:
            self._seen[violation.property] = violation

    def _reported(self, error: BaseException, passed_over: frozenset[str]) -> Iterator[Violation]:
        """Yield the violations that Hypothesis reports; what came and went is one of the property `deterministic`."""
        if isinstance(error, Violation):
            yield error
        elif isinstance(error, Flaky):
            seen = [one for name, one in sorted(self._seen.items()) if name not in passed_over]
            if _DETERMINISTIC not in passed_over and seen:
                told = f"found only in one of two runs: {seen[0]}; expected the same question in both"
                yield Violation(_DETERMINISTIC, told, seen[0].instance)
        elif isinstance(error, BaseExceptionGroup):
            for one in error.exceptions:
                yield from self._reported(one, passed_over)
        else:
            raise error

    def _of_the_group(self) -> Iterator[Violation]:
        """Yield the violated properties of the group as a whole."""
        for check in self._group.checks:
            if (found := check.run()) is not None:
                yield Violation(check.property, found.message, found.instance)

    def _hypothesis_settings(self, passed_over: frozenset[str]) -> dict[str, Any]:
        """Return what holds for the search whatever the profile says; all else is the profile's."""
        profile = _profile()
        search = "|".join((self._group.family, self._group.name, *sorted(passed_over)))
        database = None if self._stated or profile.database is None else SearchDatabase(profile.database, search)
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
def _without_constants_of_modules() -> Iterator[None]:
    """Keep Hypothesis, within it, from drawing constants that it finds in the source of imported modules.

    They depend on what else was imported: a seed is to find the same in a run of one item, of many, and on a worker.
    Where Hypothesis has none, or keeps them otherwise, there is nothing to keep it from.
    """
    providers = _providers()
    found = getattr(providers, "_get_local_constants", None)
    known, cache = getattr(providers, "Constants", None), getattr(providers, "CONSTANTS_CACHE", None)
    forget = getattr(getattr(cache, "cache", None), "clear", None)
    if providers is None or found is None or known is None or forget is None:
        yield
        return
    none = known()
    forget()
    vars(providers)["_get_local_constants"] = lambda: none
    try:
        yield
    finally:
        vars(providers)["_get_local_constants"] = found
        forget()


def _providers() -> ModuleType | None:
    """Return the module of Hypothesis that draws constants; None of versions that have none."""
    try:
        return import_module("hypothesis.internal.conjecture.providers")
    except ImportError:
        return None


def _skips() -> tuple[type[BaseException], ...]:
    """Return what Hypothesis raises where the phases of the profile leave nothing to run."""
    found: tuple[type[BaseException], ...] = hypothesis.core.skip_exceptions_to_reraise()  # type: ignore[no-untyped-call]
    return found


def _alterations() -> st.SearchStrategy[Alteration]:
    """Draw alterations of replies: parts cut out, and texts put in that parsers stumble over."""
    places = st.integers(0, 1000)
    texts = st.sampled_from(_ALTERED) | st.text(max_size=60)
    return st.builds(Alteration, places, places, texts)
