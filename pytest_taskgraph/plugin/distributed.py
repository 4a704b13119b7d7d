"""Hooks of an xdist controller and its workers. Only public interfaces of xdist are used."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from .options import store_folder
from .worker import NUMBER, REMOTE_WORKERS, STORE

if TYPE_CHECKING:
    from .output.dry_run import Outline
    from .session import RunSession

END = "taskgraph_end"  # input of workers: the channel on which the controller reports an interruption by the user
OUTLINE = "taskgraph_outline"  # input of one worker: the channel on which it sends the outline of the run


class Controller:
    """Hooks of xdist, registered on a controller, never on a worker."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._outlines: list[Outline] = []  # the first is announcement
        self._announced = False
        self._end_channels: list[Any] = []  # one to each worker

    def pytest_configure_node(self, node: Any) -> None:  # noqa: ANN401 - of xdist
        """Complete the input of a worker before it starts."""
        from .output.reporting import BASELINE
        from .verdicts.declared_questions import NARROWED, named_files
        from .verdicts.gathering import existing_run

        configure_worker(node)
        node.workerinput[NARROWED] = named_files(node.config)
        if (run := existing_run(node.config)) is not None:
            node.workerinput[BASELINE] = run.reporting.baseline_sets
        node.workerinput[END] = node.gateway.newchannel()
        self._end_channels.append(node.workerinput[END])
        if node.workerinput[NUMBER] == 0 and not self._outlines and self._announces(node.workerinput[REMOTE_WORKERS]):
            node.workerinput[OUTLINE] = channel = node.gateway.newchannel()
            channel.setcallback(self._outlines.append)  # in a thread of execnet

    def pytest_keyboard_interrupt(self) -> None:
        """Stop the workers after Ctrl-C, which may reach this process alone, and never reaches other machines.

        Without this message they wait for the requests in flight, and continue until xdist kills them.
        """
        for channel in self._end_channels:
            with suppress(OSError):  # of a worker that has ended
                channel.send(None)

    def _announces(self, remote_workers: bool) -> bool:
        """Return True if the outline of one worker describes the run.

        It does not if machines without a common store run all items each.
        """
        return self._config.get_verbosity() >= 0 and not (remote_workers and self._config.getoption("dist") == "each")

    def pytest_xdist_node_collection_finished(self) -> None:
        """Print once what the run is going to ask; xdist distributes no item before all workers have collected."""
        if self._announced or not self._outlines:
            return
        self._announced = True
        from .output.dry_run import announcement
        from .output.terminal_lines import start_line
        from .session import run_of

        lines = announcement(run_of(self._config), *self._outlines[0])
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            start_line(reporter)
            for line in lines:
                reporter.write_line(line)

    def pytest_testnodedown(self, node: Any) -> None:  # noqa: ANN401 - of xdist
        """Add the results of a worker that has ended; a worker that crashed has sent none."""
        from .asking import shrinker
        from .output import usage_total
        from .session import run_of
        from .verdicts import declared_questions
        from .verdicts.gathering import existing_run

        output = getattr(node, "workeroutput", None) or {}
        if output.get(declared_questions.OUTPUT_KEY):
            run_of(node.config).population.unpack(output[declared_questions.OUTPUT_KEY])
        if (run := existing_run(node.config)) is not None:
            run.usage.unpack(output.get(usage_total.OUTPUT_KEY))
            run.shrinker.unpack(output.get(shrinker.OUTPUT_KEY))


def send_outline(run: RunSession, items: Sequence[pytest.Item]) -> None:
    """Send the outline of the items to the controller, if this worker was asked for it.

    To be called before xdist reports that the worker has collected: messages of a worker arrive in their order.
    """
    from .output.dry_run import outline

    channel = run.config.workerinput.get(OUTLINE)  # type: ignore[attr-defined]
    if channel is not None:
        planned = outline(run, items)
        if planned[0]:
            channel.send(planned)


def stop_with_controller(run: RunSession, session: pytest.Session) -> None:
    """On a worker, end all requests and the run as soon as the user interrupts the controller."""

    def end(_: object) -> None:  # in a thread of execnet
        session.shouldstop = "the run was interrupted"
        run.loop.stop()

    channel = run.config.workerinput.get(END)  # type: ignore[attr-defined]
    if channel is not None:
        channel.setcallback(end)


def configure_worker(node: Any) -> None:  # noqa: ANN401 - xdist's WorkerController
    """Add to the input of a worker its number, the folder of the store, and whether other machines take part.

    Other machines do not share the store: then each worker gets its share of every budget, and prefetches only the
    items that it was sent.
    """
    own = node.gateway.spec
    specs = getattr(getattr(node, "nodemanager", None), "specs", None) or [own]
    node.workerinput[REMOTE_WORKERS] = not all(map(_is_local, specs))
    node.workerinput[NUMBER] = next((number for number, spec in enumerate(specs) if spec is own), 0)
    if _is_local(own):
        node.workerinput[STORE] = str(store_folder(node.config))


def limit_worker_queues(config: pytest.Config) -> None:
    """Send workers few items at a time, unless the user sets --maxschedchunk; for runs that may end at a failure."""
    if getattr(config.option, "maxschedchunk", 0) is None:
        config.option.maxschedchunk = 1


def _is_local(spec: Any) -> bool:  # noqa: ANN401 - execnet's XSpec
    """Return True if the worker runs on this machine, rather than behind a proxy on another machine."""
    return bool(getattr(spec, "popen", False)) and not getattr(spec, "via", None)
