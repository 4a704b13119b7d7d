"""What an xdist controller tells its workers, and what it makes of one that died. Nothing here is private to xdist."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from .options import store_folder
from .worker import APART, NUMBER, STORE

if TYPE_CHECKING:
    from .output.dry_run import Outline
    from .session import RunSession

END = "taskgraph_end"  # told to workers: the channel on which they hear that the user broke the run off
OUTLINE = "taskgraph_outline"  # told to one worker: the channel on which it says what is going to be asked


class Controller:
    """The hooks of xdist: registered on a controller, never on a worker."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._outlines: list[Outline] = []  # the first is told
        self._told = False
        self._ends: list[Any] = []  # channels to the workers

    def pytest_configure_node(self, node: Any) -> None:  # noqa: ANN401 - of xdist
        """For each worker, before it starts."""
        from .output.reporting import BASELINE
        from .verdicts.declared_questions import NARROWED, named_files
        from .verdicts.gathering import run_so_far

        tell_worker(node)
        node.workerinput[NARROWED] = named_files(node.config)
        if (run := run_so_far(node.config)) is not None:
            node.workerinput[BASELINE] = run.reporting.baseline_sets
        node.workerinput[END] = node.gateway.newchannel()
        self._ends.append(node.workerinput[END])
        if node.workerinput[NUMBER] == 0 and not self._outlines and self._tells(node.workerinput[APART]):
            node.workerinput[OUTLINE] = channel = node.gateway.newchannel()
            channel.setcallback(self._outlines.append)  # in a thread of execnet

    def pytest_keyboard_interrupt(self) -> None:
        """Ctrl-C, of which workers need not hear: not where it was sent to this process alone, nor on other machines.

        Left to xdist, they would let what is in flight arrive, and run on until they are killed.
        """
        for channel in self._ends:
            with suppress(OSError):  # of a worker that is gone
                channel.send(None)

    def _tells(self, apart: bool) -> bool:
        """Not, where machines that share no store run all items each: what one of them asks is not the whole."""
        return self._config.get_verbosity() >= 0 and not (apart and self._config.getoption("dist") == "each")

    def pytest_xdist_node_collection_finished(self) -> None:
        """For each worker; no item is handed out before all have collected. What is going to be asked is told once."""
        if self._told or not self._outlines:
            return
        self._told = True
        from .output.dry_run import announced
        from .output.terminal_lines import start_line
        from .session import run_of

        lines = announced(run_of(self._config), *self._outlines[0])
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            start_line(reporter)
            for line in lines:
                reporter.write_line(line)

    def pytest_testnodedown(self, node: Any) -> None:  # noqa: ANN401 - of xdist
        """For each worker at its end; one that died has told nothing."""
        from .asking import shrinker
        from .output import usage
        from .session import run_of
        from .verdicts import declared_questions
        from .verdicts.gathering import run_so_far

        told = getattr(node, "workeroutput", None) or {}
        if told.get(declared_questions.TRAVELS):
            run_of(node.config).population.unpack(told[declared_questions.TRAVELS])
        if (run := run_so_far(node.config)) is not None:
            run.usage.unpack(told.get(usage.TRAVELS))
            run.shrinker.unpack(told.get(shrinker.TRAVELS))


def tell_outline(run: RunSession, items: Sequence[pytest.Item]) -> None:
    """Nothing; on the worker that is to say so, the controller gets to know what the items ask.

    To be called before xdist tells that the worker has collected: messages of a worker arrive in their order.
    """
    from .output.dry_run import outline

    channel = run.config.workerinput.get(OUTLINE)  # type: ignore[attr-defined]
    if channel is not None:
        found = outline(run, items)
        if found[0]:
            channel.send(found)


def obey(run: RunSession, session: pytest.Session) -> None:
    """Nothing; on a worker, all asking ends as soon as the user breaks the run off, and with it the run."""

    def end(_: object) -> None:  # in a thread of execnet
        session.shouldstop = "the run was broken off"
        run.loop.stop()

    channel = run.config.workerinput.get(END)  # type: ignore[attr-defined]
    if channel is not None:
        channel.setcallback(end)


def tell_worker(node: Any) -> None:  # noqa: ANN401 - xdist's WorkerController
    """Nothing; the worker will know which it is, where the store is, and whether other machines take part.

    These share no store, so that each worker gets its share of every budget, and asks ahead only what it was sent.
    """
    own = node.gateway.spec
    specs = getattr(getattr(node, "nodemanager", None), "specs", None) or [own]
    node.workerinput[APART] = not all(map(_here, specs))
    node.workerinput[NUMBER] = next((number for number, spec in enumerate(specs) if spec is own), 0)
    if _here(own):
        node.workerinput[STORE] = str(store_folder(node.config))


def keep_queues_short(config: pytest.Config) -> None:
    """Nothing; where the first failure may end the run, workers are sent few items at a time, unless the user says."""
    if getattr(config.option, "maxschedchunk", 0) is None:
        config.option.maxschedchunk = 1


def _here(spec: Any) -> bool:  # noqa: ANN401 - execnet's XSpec
    """Whether the worker runs on this machine: not where a proxy on another one starts it."""
    return bool(getattr(spec, "popen", False)) and not getattr(spec, "via", None)
