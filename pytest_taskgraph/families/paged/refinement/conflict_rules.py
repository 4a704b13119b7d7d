"""Whether two conditions conflict, so that at most one of them can hold: by exact logic, or by a rule for prose.

Du et al. (2024), section 4.3, ask a model of natural language inference (entailment_conflicts). Any object with
`find_conflict` may take the place of the lexical rule.

Conflicts of conditions as a model of natural language inference sees them (Du et al. 2024, section 4.3).

The paper asks a model for "conflict" or "no conflict", and does not state which of two conditions is the premise. That
two conditions contradict each other holds both ways or not at all, and branches have no order. So both directions are
asked, and one contradiction is a conflict: branches that change places get the same verdict.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final, Literal, Protocol

from ....errors import UsageError
from ....workflow.guards.solver import exclusive
from ....workflow.guards.syntax import Guard, Otherwise, comparisons, parse_guard
from ..documents.document_phrases import is_otherwise
from ..entailment_models.entailment_scores import EntailmentModel, judge_texts
from ..entailment_models.entailment_weights import check_nli_extra, find_entailment_weights, load_entailment_model
from ..extraction_rules.clashing_conditions import are_opposites, exclude_each_other
from ..extraction_rules.verb_lexicon import word_set
from ..paged_options import NLI

LONGEST_CONDITION: Final = 300  # characters that are read
_NUMBER: Final = r"[$€£]? ?(?P<{}>\d{{1,15}}(?:,\d{{3}}){{0,4}}(?:\.\d{{1,9}})?)\b"
_MORE: Final = (
    r"more than|greater than|higher than|larger than|longer than|older than|bigger than|"
    r"above|over|beyond|exceeds|exceed|exceeding|>(?!=)"
)
_LESS: Final = (
    r"less than|fewer than|lower than|smaller than|shorter than|younger than|below|under|falls short of|<(?!=)"
)
_LEAST: Final = r"at least|a minimum of|no less than|not less than|no fewer than|>=|≥"
_MOST: Final = r"at most|up to|a maximum of|no more than|not more than|does not exceed|<=|≤"
_EXACT: Final = r"exactly|equal to|equals|={1,2}"
_BETWEEN: Final = re.compile(
    rf"\b(?:between|from) {_NUMBER.format('low')} (?:and|to) {_NUMBER.format('high')}", re.IGNORECASE
)
_BEHIND: Final = re.compile(
    rf"{_NUMBER.format('low')}(?P<unit>(?: [^\W\d_]{{1,20}}){{0,2}})"
    r" or (?P<side>more|above|over|less|fewer|below|under)\b",
    re.IGNORECASE,
)
_COMPARED: Final = re.compile(
    rf"(?<!\w)(?:(?P<least>{_LEAST})|(?P<most>{_MOST})|(?P<more>{_MORE})|(?P<less>{_LESS})|(?P<exact>{_EXACT}))"
    rf" ?{_NUMBER.format('low')}",
    re.IGNORECASE,
)
ConflictVerdict = Literal["conflict", "no conflict", "unknown"]
MOST_COMPARISONS: Final = 5
"""The comparisons of a formal condition; the work of comparing two conditions grows exponentially with them."""
MOST_WORDS: Final = 12  # words of a condition that are looked up for opposites
_CUE: Final = re.compile(r"(?:only )?(?:if|when|whenever|in case|in the case that|provided that)\s+", re.IGNORECASE)
_OTHER_CASES: Final = re.compile(
    r"(?:if not|if no|or else|not|no|in (?:all|any) other cases?|in the other case|(?:in )?all other cases|by default|"
    r"default|neither|none of (?:these|them|the above))",
    re.IGNORECASE,
)
_EXISTENCE: Final = re.compile(r"there (?:is|are|was|were)\b", re.IGNORECASE)  # of different things, so no subject
_WORD: Final = re.compile(r"[^\W\d_]+")
_FILLERS: Final = word_set(
    "the a an is are was were be been being do does did has have had will would can could may might must should shall "
    "not no any some there it its this that they their he she you we i of for in on at to from with by and or as than "
    "customer user person"
)
_ADDITIVE: Final = word_set(
    "need needs needed want wants wanted require requires required like likes liked wish wishes desire desired include "
    "includes included enjoy enjoys request requests requested ask asks order orders ordered prefer"
)
MOST_PAIRS: Final = 100
"""Pairs of conditions of one question that the model judges; about others nothing is known."""
_MOST_KEPT: Final = 10_000  # verdicts
_EXAMPLE: Final = ("need dishes", "need drinks")  # of the paper


@dataclass(frozen=True, slots=True)
class NumberRange:
    """The numbers for which a condition holds.

    Args:
        low: The lower end; None if there is none.
        high: The upper end; None if there is none.
        with_low: Whether the lower end is one of the numbers.
        with_high: Whether the upper end is.
        about: The rest of the condition, without the comparison: what the number counts.
    """

    low: Fraction | None
    high: Fraction | None
    with_low: bool
    with_high: bool
    about: str

    def overlaps(self, other: NumberRange) -> bool:
        """Return True if some number is in both ranges; not every number need be a whole one."""
        return not _is_below(self, other) and not _is_below(other, self)


def read_number_range(condition: str) -> NumberRange | None:
    """Return the range that a condition states; None for no range, and for more numbers than the range names."""
    text = " ".join(condition[:LONGEST_CONDITION].split())
    for pattern in (_BETWEEN, _COMPARED, _BEHIND):
        if (match := pattern.search(text)) is not None:
            unit = match["unit"] if pattern is _BEHIND else ""
            about = f"{text[: match.start()]} {unit} {text[match.end() :]}"
            return None if re.search(r"\d", about) else _range(match, about)
    return None


def _range(match: re.Match[str], about: str) -> NumberRange:
    groups = match.groupdict()
    low = _number(groups["low"])
    if groups.get("high"):
        ends = sorted((low, _number(groups["high"])))
        return NumberRange(ends[0], ends[1], True, True, about)
    side = (groups.get("side") or "").lower()
    if groups.get("exact"):
        return NumberRange(low, low, True, True, about)
    if groups.get("least") or side in ("more", "above", "over"):
        return NumberRange(low, None, True, False, about)
    if groups.get("more"):
        return NumberRange(low, None, False, False, about)
    return NumberRange(None, low, False, bool(groups.get("most") or side), about)


def _number(text: str) -> Fraction:
    return Fraction(text.replace(",", ""))


def _is_below(lower: NumberRange, upper: NumberRange) -> bool:
    """Return True if every number of one range is smaller than every number of the other."""
    if lower.high is None or upper.low is None:
        return False
    return lower.high < upper.low or (lower.high == upper.low and not (lower.with_high and upper.with_low))


class ConflictRule(Protocol):
    """Decides whether two conditions in prose conflict."""

    def find_conflict(self, first: str, second: str) -> ConflictVerdict:
        """Return "conflict" if at most one of the conditions can hold, "no conflict" if both can, else "unknown"."""
        ...


class LexicalConflictRule:
    """Decides by words: denials, opposites, different values of one subject, and ranges of numbers.

    Conditions of different words, or that say what is needed besides, do not conflict. All others are unknown.
    """

    def find_conflict(self, first: str, second: str) -> ConflictVerdict:
        """Return whether the words of two conditions conflict."""
        bare, other_bare = bare_condition(first), bare_condition(second)
        if (plain := find_plain_conflict(bare, other_bare)) is not None:
            return plain
        exclude = are_opposites if _EXISTENCE.match(bare) and _EXISTENCE.match(other_bare) else exclude_each_other
        if exclude(bare, other_bare):
            return "conflict"
        return "no conflict" if _are_unrelated(bare, other_bare) else "unknown"


def find_guard_conflict(first: str, second: str) -> ConflictVerdict | None:
    """Return whether two formal guards conflict, decided exactly; None if one of them is prose."""
    guards = [parse_guard(condition) for condition in (first, second)]
    if any(guard is None for guard in guards):
        return None
    if any(_is_large(guard) for guard in guards if guard is not None):
        return "unknown"
    apart = exclusive((first, second), ())
    return "unknown" if apart is None else "conflict" if apart else "no conflict"


def find_plain_conflict(first: str, second: str) -> ConflictVerdict | None:
    """Return whether two conditions conflict, if that needs no reading of words; None if it does.

    A condition does not conflict with itself, and does with "otherwise". Ranges of numbers are compared exactly.

    Args:
        first: A condition, as `bare_condition` returns it.
        second: Another one.
    """
    if first.casefold() == second.casefold():
        return "no conflict"
    if means_other_cases(first) or means_other_cases(second):
        return "conflict"
    overlap = _ranges_overlap(first, second)
    return None if overlap is None else "no conflict" if overlap else "conflict"


def means_other_cases(condition: str) -> bool:
    """Return True if a condition means all cases but those beside it: "otherwise", "if not", or no words at all."""
    bare = condition.strip(" .,;:")
    return is_otherwise(bare) or bool(_OTHER_CASES.fullmatch(bare))


def _is_large(guard: Guard) -> bool:
    return not isinstance(guard, Otherwise) and len([*comparisons(guard)]) > MOST_COMPARISONS


def bare_condition(condition: str) -> str:
    """Return a condition without "if" or "when" before it, unless nothing but "not" stands behind that."""
    text = " ".join(condition[:LONGEST_CONDITION].split()).strip(" .,;:")
    return text if means_other_cases(text) else _CUE.sub("", text, count=1)


def _ranges_overlap(first: str, second: str) -> bool | None:
    """Return whether numbers of both ranges can be one; None if they are not ranges of the same."""
    limits, other_limits = read_number_range(first), read_number_range(second)
    if limits is None or other_limits is None:
        return None
    about, about_other = set(_content(limits.about)), set(_content(other_limits.about))
    return limits.overlaps(other_limits) if about <= about_other or about_other <= about else None


def _are_unrelated(first: str, second: str) -> bool:
    """Return True if no word is in both, or all that is in both says that something is needed, and none are opposites.

    Different words that are opposites, as in "credit is granted" and "the application is rejected", may be about one
    thing.
    """
    words, other_words = _content(first), _content(second)
    shared = set(words) & set(other_words) - _ADDITIVE
    if not words or not other_words or shared:
        return False
    return not any(are_opposites(word, against) for word in words[:MOST_WORDS] for against in other_words[:MOST_WORDS])


def _content(text: str) -> tuple[str, ...]:
    """Return the words of a text that carry meaning, each once, in lower case."""
    return tuple(dict.fromkeys(word for word in _WORD.findall(text.lower()) if word not in _FILLERS))


class ContradictionJudge:
    """A model of natural language inference that judges each pair of texts once.

    Args:
        model: The model.

    Raises:
        UsageError: if the model does not give probabilities for two short texts.
    """

    def __init__(self, model: EntailmentModel) -> None:
        self._model = model
        self._contradicts(*_EXAMPLE)
        self.judge_pair = lru_cache(maxsize=_MOST_KEPT)(self._judge_pair)

    def _judge_pair(self, first: str, second: str) -> ConflictVerdict:
        """Return "conflict" if one of two texts contradicts the other; "unknown" if the model cannot take them."""
        try:
            conflict = self._contradicts(first, second) or self._contradicts(second, first)
        except UsageError:  # of the texts, which are a model's: they may have more tokens than this model takes
            return "unknown"
        return "conflict" if conflict else "no conflict"

    def _contradicts(self, premise: str, hypothesis: str) -> bool:
        """Return True if contradiction is the most probable of the three labels."""
        (scores,) = judge_texts(self._model, premise, [hypothesis])
        return scores.contradiction > max(scores.entailment, scores.neutral)


class EntailmentConflictRule:
    """Decides by a model, except where two conditions state ranges of numbers, are one, or one means all other cases.

    It is made for one question, and judges a bounded number of pairs.

    Args:
        judge: The model.
    """

    def __init__(self, judge: ContradictionJudge) -> None:
        self._judge = judge
        self._pairs: set[tuple[str, str]] = set()

    def find_conflict(self, first: str, second: str) -> ConflictVerdict:
        """Return whether one of two conditions contradicts the other."""
        bare, other_bare = bare_condition(first), bare_condition(second)
        if (plain := find_plain_conflict(bare, other_bare)) is not None:
            return plain
        pair = (min(bare, other_bare), max(bare, other_bare))
        if pair not in self._pairs and len(self._pairs) >= MOST_PAIRS:
            return "unknown"
        self._pairs.add(pair)
        return self._judge.judge_pair(*pair)


def check_entailment_rule(name: str) -> None:
    """Check that the extra is installed, and that a model of natural language inference is there; it is not loaded.

    Args:
        name: The path of a folder, or a name that the local cache holds.

    Raises:
        UsageError: if not.
    """
    try:
        check_nli_extra()
    except UsageError as error:
        raise UsageError(f"{NLI.flag}: {error}") from None
    try:
        find_entailment_weights(name)
    except UsageError as error:
        raise UsageError(f"{NLI.flag}: {error}") from None


def entailment_rule(name: str) -> EntailmentConflictRule:
    """Return the rule of a model, which is loaded once.

    Args:
        name: The path of a folder, or a name that the local cache holds.

    Raises:
        UsageError: if the model cannot be loaded, or gives no probabilities.
    """
    return EntailmentConflictRule(_loaded_judge(name))


@lru_cache(maxsize=2)
def _loaded_judge(name: str) -> ContradictionJudge:
    try:
        return ContradictionJudge(load_entailment_model(name))
    except UsageError as error:
        raise UsageError(f"{NLI.flag}: {error}") from None
