"""Hooks of `--taskgraph-prompt-snapshots`: items render their prompts, and no model is asked."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from ...errors import TaskgraphError, UsageError
from ...soundness.prompt_snapshots import (
    DamagedSnapshotError,
    count_changed_lines,
    difference,
    read_sections,
    section_title,
)
from ...trial import digest_of
from .. import options
from ..pytest_compat import params
from ..suites import asks, require_questions
from ..verdicts.declared_questions import selections
from ..verdicts.gathering import COLLECTION_ERRORS
from .rendered_prompts import RenderedPrompt, RenderedPrompts, Status, UnusedSnapshots

if TYPE_CHECKING:
    from ...results.case import RunCase
    from ..suite_settings import SuiteSettings
    from ..suites import CollectedQuestion

PLUGIN: Final = "taskgraph-snapshots"
OPTION: Final = "prompt-snapshots"
UPDATE_COMMAND: Final = "--taskgraph-prompt-snapshots=update"
MANY: Final = 1000
"""The number of prompts above which the summary advises to have fewer."""
_ATTRIBUTE: Final = "taskgraph_prompt"  # the attribute of a report that holds the prompt, packed
_OUTPUT_KEY: Final = "taskgraph_snapshots"  # in the output of a worker
_RENDERED: Final = pytest.StashKey[RenderedPrompt]()
_SHOWN_IDS: Final = 3
_DECIDING: Final = (*options.SHARED, "data", "profile")
_COUNTED: Final[Mapping[Status, str]] = {
    "same": "unchanged",
    "changed": "changed",
    "missing": "without a snapshot",
    "damaged": "in damaged files",
}


class PromptMismatchError(Exception):
    """Prompt that differs from its snapshot.

    Args:
        reason: The difference in one line.
        lines: Further lines, such as the difference as a diff.
    """

    def __init__(self, reason: str, lines: Sequence[str] = ()) -> None:
        super().__init__(reason)
        self.reason, self.lines = reason, [reason, *lines]


class SnapshotHooks:
    """Hooks of a session with the option, registered in each of its processes."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._updates = options.value(config, OPTION) == "update"
        self._prompts = RenderedPrompts(config.rootpath)
        self._sections: dict[Path, dict[str, str] | DamagedSnapshotError] = {}
        self._summary: list[str] = []

    def check(self) -> None:
        """Check that the options are compatible. Raises UsageError."""
        if options.switched(self._config, "dry-run"):
            raise UsageError("--taskgraph-prompt-snapshots and --taskgraph-dry-run: run one after the other")

    def declare(self, function: str, collected: Sequence[CollectedQuestion], suite: SuiteSettings) -> None:
        """Note the questions of a suite."""
        references = [question.reference for question in collected]
        self._prompts.declared[function] = {reference.id: reference.group for reference in references}

    def pytest_report_header(self) -> list[str]:
        """Return a line that says that no model is asked, and which options of the command line have no effect."""
        unused = [name for name in options.OPTIONS if name not in (*_DECIDING, OPTION, "dry-run")]
        flags = [options.OPTIONS[name].flag for name in unused if options.flagged(self._config, name)]
        without = f"; not used: {', '.join(flags)}" if flags else ""
        kind = "updated" if self._updates else "checked"
        return [f"taskgraph: prompt snapshots are {kind}; no model is asked{without}"]

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Note the test files that were collected."""
        report = yield
        if isinstance(collector, pytest.Module) and report.passed:
            self._prompts.modules.add(collector.nodeid)
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: Sequence[pytest.Item]) -> None:
        """Note the functions with suites, before items are deselected."""
        self._prompts.functions.update(map(_function_of, filter(_is_of_suite, items)))
        require_questions(items, worker=self._is_worker)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Keep pytest from setting up fixtures, which prompts do not depend on."""
        if self._renders(item):
            item.fixturenames = []  # type: ignore[attr-defined]

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        """Render the prompt of an item, instead of calling its function."""
        if not self._renders(pyfuncitem):
            return None
        mismatch = self._render(pyfuncitem)
        if mismatch is not None and not self._updates:
            raise mismatch
        return True

    @pytest.hookimpl(wrapper=True, tryfirst=True)  # around pytest's own hook, which turns xfail into outcomes
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Attach the prompt to the report. A mark `xfail` expects wrong answers, but no changed prompt."""
        report = yield
        if call.when != "call" or not self._renders(item):
            return report
        if item.get_closest_marker("xfail") is not None:
            report = pytest.TestReport.from_item_and_call(item, call)
        if (prompt := item.stash.get(_RENDERED, None)) is not None:
            setattr(report, _ATTRIBUTE, prompt.pack())
        if call.excinfo is not None and isinstance(call.excinfo.value, PromptMismatchError):
            from ...reports.escape import disarm_lines, one_line
            from ..verdicts.outcomes import REASON

            report.longrepr = "\n".join(map(disarm_lines, call.excinfo.value.lines))
            setattr(report, REASON, one_line(call.excinfo.value.reason))
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Move the prompt from the report to the rendered prompts, in the process that gathers results."""
        if not self._is_worker and hasattr(report, _ATTRIBUTE):
            self._prompts.add(RenderedPrompt.unpack(getattr(report, _ATTRIBUTE)))
            delattr(report, _ATTRIBUTE)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:  # noqa: ANN401 - of xdist
        """Add the declarations of a worker on the controller; a worker that crashed has sent none."""
        if packed := (getattr(node, "workeroutput", None) or {}).get(_OUTPUT_KEY):
            self._prompts.unpack(packed)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, object, object]:
        """Send the declarations to the controller, on a worker."""
        if self._is_worker:
            vars(session.config)["workeroutput"][_OUTPUT_KEY] = self._prompts.pack()
        return (yield)

    @pytest.hookimpl(wrapper=True, trylast=True)  # within pytest's own hook, which ends the line of progress
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Write or compare the rendered prompts after the loop; after a complete loop also find unused snapshots."""
        if self._is_worker or options.idle(session.config):
            return (yield)
        try:
            result = yield
        except BaseException:
            self._conclude(session, unused=None)
            raise
        from ..verdicts.cases import issue

        errors = ["errors of collection"] if session.config.stash.get(COLLECTION_ERRORS, []) else []
        narrowing = [*selections(session), *self._deciding_flags(), *errors]
        unused = None if narrowing else list(self._prompts.unused(self._collected_folders()))
        cases = self._conclude(session, unused)
        if narrowing and not self._is_idle:
            self._summary.append(f"unused snapshots were not looked for: {', '.join(narrowing)} left out prompts")
        issue(session, cases)
        return result

    @pytest.hookimpl(tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the numbers of snapshots by their status."""
        for line in self._summary:
            terminalreporter.write_line(f"taskgraph: {line}")

    @property
    def _is_worker(self) -> bool:
        return hasattr(self._config, "workerinput")

    @property
    def _is_idle(self) -> bool:
        return not (self._prompts.functions or self._prompts.rendered)

    def _renders(self, item: pytest.Item) -> bool:
        return asks(item) and _function_of(item) in self._prompts.declared

    def _render(self, item: pytest.Function) -> PromptMismatchError | None:
        """Render the prompt of an item, and return how it differs from its snapshot."""
        from ...soundness.sent_text import sent_text
        from ..first_requests import build_question, first_requests

        collected: CollectedQuestion = params(item)["taskgraph_reference"]
        try:
            text = sent_text(first_requests(collected, build_question(collected))[1])
        except TaskgraphError as error:
            raise PromptMismatchError(f"the prompt cannot be built: {error}") from None
        reference, function = collected.reference, _function_of(item)
        status, mismatch = self._compare(text, self._prompts.path(function, reference.group), reference.id)
        section = text if self._updates and status != "same" else ""
        prompt = RenderedPrompt(function, reference.id, reference.group, status, digest_of(text), section)
        item.stash[_RENDERED] = prompt
        return mismatch

    def _compare(self, text: str, path: Path, question: str) -> tuple[Status, PromptMismatchError | None]:
        """Return the status of a prompt against its snapshot, and the error to raise if they differ."""
        sections, name = self._sections_of(path), self._prompts.relative_path(path)
        if isinstance(sections, DamagedSnapshotError):
            message = f"{name.removesuffix(path.name)}{sections}; restore it, or write it with {UPDATE_COMMAND}"
            return "damaged", PromptMismatchError(message)
        before = sections.get(section_title(question))
        if before is None:
            return "missing", PromptMismatchError(f"no snapshot in {name}; write it with {UPDATE_COMMAND}")
        if before == text:
            return "same", None
        if self._updates:
            return "changed", None
        diff = difference(before, text)
        added, removed = count_changed_lines(diff)
        reason = f"the prompt has changed: +{added} -{removed} lines against {name}"
        return "changed", PromptMismatchError(reason, [*diff, f"to accept the change: {UPDATE_COMMAND}"])

    def _sections_of(self, path: Path) -> dict[str, str] | DamagedSnapshotError:
        if path not in self._sections:
            try:
                self._sections[path] = read_sections(path)
            except DamagedSnapshotError as error:
                self._sections[path] = error
        return self._sections[path]

    def _conclude(self, session: pytest.Session, unused: Sequence[UnusedSnapshots] | None) -> list[RunCase]:
        """Write or count the snapshots, and return the cases that fail beside items.

        Args:
            session: The session.
            unused: The unused snapshots; None if the session did not look for them.
        """
        from ...results.case import RunCase

        mistakes = {
            self._prompts.relative_path(self._prompts.path(prompt.function, prompt.group)): (
                f"{prompt.question} has different prompts in one run; build it from the seed alone"
            )
            for prompt in self._prompts.unsteady
        }
        if self._updates:
            mistakes |= self._update(unused or ())
        else:
            self._count(unused)
            mistakes |= dict(self._unused_in_words(unused or ()))
        total = sum(map(len, self._prompts.rendered.values()))
        if self._updates and total > MANY:
            self._summary.append(
                f"{total:,} prompts are hard to review; have fewer, such as with the ini value taskgraph_instances = 1"
            )
        return [RunCase(f"prompt-snapshots::{where}", "failed", why) for where, why in sorted(mistakes.items())]

    def _update(self, unused: Sequence[UnusedSnapshots]) -> dict[str, str]:
        """Write and remove snapshots, and return the errors by file."""
        from .snapshot_update import update

        result = update(self._prompts, unused)
        counts = f"{result.written:,} written, {result.unchanged:,} unchanged, {result.removed:,} removed"
        self._summary.append(f"prompt snapshots: {counts}")
        return result.mistakes

    def _count(self, unused: Sequence[UnusedSnapshots] | None) -> None:
        statuses = [prompt.status for prompts in self._prompts.rendered.values() for prompt in prompts.values()]
        counts = {words: statuses.count(status) for status, words in _COUNTED.items()}
        counts["unused"] = sum(max(1, len(snapshots.titles)) for snapshots in unused or ())
        parts = [f"{count:,} {name}" for name, count in counts.items() if count or name == "unchanged"]
        differing = sum(counts.values()) > counts["unchanged"]
        self._summary.append(
            f"prompt snapshots: {', '.join(parts)}{f'; write them with {UPDATE_COMMAND}' if differing else ''}"
        )

    def _unused_in_words(self, unused: Sequence[UnusedSnapshots]) -> Iterator[tuple[str, str]]:
        """Yield the folders of functions with unused snapshots, each with a message."""
        by_folder: dict[Path, list[str]] = {}
        for snapshots in unused:
            by_folder.setdefault(snapshots.path.parent, []).extend(snapshots.titles or [snapshots.path.name])
        for folder, titles in by_folder.items():
            names = ", ".join(titles[:_SHOWN_IDS]) + (", …" if len(titles) > _SHOWN_IDS else "")
            count = "1 snapshot is" if len(titles) == 1 else f"{len(titles):,} snapshots are"
            reason = f"{count} unused: {names}; remove them with {UPDATE_COMMAND}"
            yield self._prompts.relative_path(folder), reason

    def _deciding_flags(self) -> Iterator[str]:
        """Yield the flags of the command line, not of a file, that determine the questions."""
        present = options.all_options()
        of_families = [name for name in present if name not in options.OPTIONS]
        stated = [str(word).partition("=")[0] for word in self._config.invocation_params.args]
        yield from (present[name].flag for name in (*_DECIDING, *of_families) if present[name].flag in stated)

    def _collected_folders(self) -> list[Path]:
        """Return the folders that were collected completely."""
        start = Path(self._config.invocation_params.dir)
        return [path for argument in self._config.args if (path := (start / str(argument)).absolute()).is_dir()]


def _is_of_suite(item: pytest.Item) -> bool:
    return item.get_closest_marker("taskgraph") is not None


def _function_of(item: pytest.Item) -> str:
    """Return the node id of the function of an item: the node id without its parameters."""
    return item.nodeid.removesuffix(item.name) + str(getattr(item, "originalname", item.name))
